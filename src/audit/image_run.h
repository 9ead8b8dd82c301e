// The run of an audit of images: image by image, each kept in the run file when it is finished.
#pragma once

#include <vector>

#include "audit/image_record.h"
#include "audit/image_subject.h"
#include "core/progress.h"
#include "vocabulary/run_file.h"
#include "vocabulary/run_plan.h"

namespace hifi {

// All that defines the run and its analysis. `look` as in RunPlan: look k of a run with a precision has
// 32, 64, .. images.
RunPlan image_plan(const ImageSubject& subject, std::size_t look = 0);

// The images of a run, in the order in which they are audited. They are taken by a seeded order where not
// all may be, because files are often sorted; a shard has a stretch of the list.
std::vector<std::size_t> audited_images(const RunPlan& plan);

// Runs to the end; with a file, from the first image that it lacks. A run with a precision goes on to the
// next look until it is met or all images are audited, and changes the plan (also in the file). Throws
// Error(interrupted), Error(model): what was finished is in the file then. Records are in the order of the
// list.
std::vector<ImageRecord> run_images(const ImageSubject& subject, RunPlan& plan, RunFile* file,
                                    Workers& workers, const Progress::Listener& listener);

// A finished run; the first grid of every image alone.
std::vector<ImageRecord> read_images(const RunFile& file, const RunPlan& plan);

}  // namespace hifi
