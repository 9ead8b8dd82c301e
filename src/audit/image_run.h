// The run of an audit of images: image by image, each kept in the run file when it is finished.
#pragma once

#include <vector>

#include "audit/image_record.h"
#include "audit/image_subject.h"
#include "core/progress.h"
#include "vocabulary/run_file.h"
#include "vocabulary/run_plan.h"

namespace hifi {

// All that defines the run and its analysis.
RunPlan image_plan(const ImageSubject& subject);

// Runs to the end; with a file, from the first image that it lacks. Throws Error(interrupted), Error(model):
// what was finished is in the file then.
std::vector<ImageRecord> run_images(const ImageSubject& subject, RunFile* file, Workers& workers,
                                    const Progress::Listener& listener);

// A finished run; the first grid of every image alone.
std::vector<ImageRecord> read_images(const RunFile& file, const RunPlan& plan);

}  // namespace hifi
