// From the vocabularies of images to the profile: that of the mean loss on the coalitions that every image
// has, and one per image.
#pragma once

#include <string>
#include <vector>

#include "audit/image_run.h"
#include "core/parallel.h"
#include "hifi/profile.h"
#include "vocabulary/run_plan.h"

namespace hifi {

// `pairs` as in parse_pairs. Pairs of an image that were never tested are left out.
Profile image_profile(const RunPlan& plan, const std::vector<ImageRecord>& records, const std::string& pairs,
                      Workers& workers);

// A summary over images: JSON for the profile, and lines for people.
struct ImageSummary {
  std::string json;
  std::string text;
};
ImageSummary summarise(const RunPlan& plan, const std::vector<ImageRecord>& records);

}  // namespace hifi
