// From the vocabularies of images to the profile: that of the mean loss on the coalitions that every image
// has, and one per image.
#pragma once

#include <string>
#include <vector>

#include "audit/image_record.h"
#include "core/parallel.h"
#include "hifi/profile.h"
#include "vocabulary/run_plan.h"

namespace hifi {

// Of the mean loss over images alone. REQUIRES: records in the order of the list
Profile mean_profile(const RunPlan& plan, const std::vector<ImageRecord>& records, const std::string& pairs,
                     Workers& workers);

// The same and the images'. `pairs` as in parse_pairs. Pairs of an image that were never tested are left out.
Profile image_profile(const RunPlan& plan, const std::vector<ImageRecord>& records, const std::string& pairs,
                      Workers& workers);

// A summary over images: JSON for the profile, and lines for people.
struct ImageSummary {
  std::string json;
  std::string text;
};
ImageSummary summarise(const RunPlan& plan, const std::vector<ImageRecord>& records);

}  // namespace hifi
