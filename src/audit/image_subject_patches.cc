#include <fmt/format.h>

#include <algorithm>

#include "audit/image_subject_parts.h"
#include "hifi/error.h"

namespace hifi {

namespace {

std::vector<std::pair<bool, bool>> shifts_of(std::size_t offsets) {
  if (offsets == 1) return {{false, false}};
  if (offsets == 2) return {{false, false}, {true, true}};
  return {{false, false}, {false, true}, {true, false}, {true, true}};
}

double usable_feather(const Patches& patches, double wanted) {
  if (!patches.is_grid()) return wanted;
  const double side =
      std::min(static_cast<double>(patches.height) / static_cast<double>(patches.rows.size() - 1),
               static_cast<double>(patches.width) / static_cast<double>(patches.columns.size() - 1));
  return std::min(wanted, side / 4);  // a patch keeps a middle that is its own
}

}  // namespace

// One grid has all coalitions, or the paper's; offsets are for sampled maps. A shifted grid has a patch more
// in each direction.
std::size_t usual_offsets(const ImageRequest& request) {
  if (request.exact || request.policy != "auto" || !request.segments.empty()) return 1;
  const Grid grid = Grid::parse(request.grid);
  return (grid.rows + 1) * (grid.columns + 1) > kMaxPatches ? 1 : 2;
}

void make_patches(ImageSubject& s, const std::vector<Look>& looks, std::size_t offsets) {
  s.feather = s.request.feather;
  if (!s.request.segments.empty()) {
    for (const Look& look : looks) s.labels.insert(s.labels.end(), look.labels.begin(), look.labels.end());
    std::sort(s.labels.begin(), s.labels.end());
    s.labels.erase(std::unique(s.labels.begin(), s.labels.end()), s.labels.end());
    if (s.labels.size() > kMaxPatches) {
      throw input_error(
          fmt::format("{}: {} labels are more than {}", s.request.segments, s.labels.size(), kMaxPatches));
    }
    for (const std::uint32_t label : s.labels) s.players.push_back(fmt::format("s{}", label));
    return;
  }
  s.grid = Grid::parse(s.request.grid);
  for (const auto& [down, across] : shifts_of(offsets)) {
    PatchSet set{.patches = grid_patches(s.grid, s.recipe.height, s.recipe.width, down, across)};
    if (s.grids.empty()) s.feather = usable_feather(set.patches, s.request.feather);
    set.mask = std::make_unique<PatchMask>(set.patches, s.feather);
    s.bytes += set.mask->bytes();
    s.grids.push_back(std::move(set));
  }
  s.players = s.grids[0].patches.names;
}

}  // namespace hifi
