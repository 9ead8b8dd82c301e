#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "audit/image_subject_parts.h"
#include "core/hash.h"
#include "core/version.h"

namespace hifi {

using Json = nlohmann::ordered_json;

void describe(ImageSubject& s, const std::vector<Look>& looks, const std::string& fill_hash) {
  std::string data;
  for (const Look& look : looks) data += look.hash;
  for (const ListedImage& image : s.list.images) data += image.label;
  const NetworkInfo& info = s.model.network->info();
  const std::string fill = s.fills->description(s.recipe.height, s.recipe.width);
  const Json provenance = {
      {"seed", s.request.seed},
      {"version", version()},
      {"model",
       {{"path", s.request.model},
        {"format", s.model.format},
        {"objective", ""},
        {"hash", s.model.hash},
        {"library", info.library},
        {"precision", info.precision},
        {"batch", info.rows},
        {"outputs", s.outputs}}},
      {"data",
       {{"path", s.request.images},
        {"rows", s.images()},
        {"hash", hex_hash(data)},
        {"target", s.request.labels.empty() ? Json(nullptr) : Json("label")}}},
      {"background",
       {{"kind", s.request.fill}, {"description", fill}, {"rows", s.fill_draws}, {"hash", fill_hash}}},
      {"recipe", Json::parse(s.recipe.to_json())},
      {"patches",
       {{"kind", s.labels.empty() ? "grid" : "segments"},
        {"grid", s.labels.empty() ? Json(s.request.grid) : Json(nullptr)},
        {"offsets", s.offsets()},
        {"feather", s.feather}}}};
  s.provenance = provenance.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (!s.list.missing.empty()) {
    s.warnings.push_back(
        {"missing_images",
         fmt::format("{} image{} of the labels {} not there and skipped: {}", s.list.missing.size(),
                     s.list.missing.size() == 1 ? "" : "s", s.list.missing.size() == 1 ? "is" : "are",
                     fmt::join(s.list.missing, ", "))});
  }
  if (s.list.unlabelled > 0)
    s.notes.push_back(
        fmt::format("{} without a label {} ignored",
                    s.list.unlabelled == 1 ? "1 image" : fmt::format("{} images", s.list.unlabelled),
                    s.list.unlabelled == 1 ? "is" : "are"));
  for (const std::string& note : info.notes) s.notes.push_back(note);
  for (const PatchPlan& plan : s.plans) {
    if (plan.kind == PatchPlan::Kind::search) {
      s.notes.push_back(
          fmt::format("both ends of all patches would cost more than half of the budget: the coalitions of "
                      "each image are searched"));
      break;
    }
  }
  if (s.labels.empty() && s.feather < s.request.feather)
    s.notes.push_back(
        fmt::format("the patches are small: their edges are softened by {:.2g} pixels only", s.feather));
}

}  // namespace hifi
