#include "audit/patch_values.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

#include "decomposition/scan.h"
#include "hifi/error.h"

namespace hifi {

namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

struct Ends {
  std::vector<double> pi;
  std::vector<double> last;
};

Ends ends_of(std::size_t players, std::span<const Coalition> coalitions, std::span<const double> losses) {
  Ends ends{std::vector(players, kNothing), std::vector(players, kNothing)};
  for (std::size_t k = 0; k < coalitions.size(); ++k) {
    const std::size_t size = coalitions[k].count();
    if (size == 1) ends.pi[coalitions[k].members()[0]] = losses[0] - losses[k];
    if (size + 1 != players) continue;
    for (std::size_t i = 0; i < players; ++i) {
      if (!coalitions[k].contains(i)) ends.last[i] = losses[k] - losses[1];
    }
  }
  return ends;
}

// Of the numbers that are there; a patch of which nothing was seen had no effect that a search could see.
double mean_of(std::initializer_list<double> numbers) {
  double sum = 0;
  double count = 0;
  for (const double x : numbers) {
    if (std::isnan(x)) continue;
    sum += x;
    ++count;
  }
  return count == 0 ? 0 : sum / count;
}

// Where `at` lies between centres: the one below and the share of the one above.
struct Between {
  std::size_t below;
  std::size_t above;
  double share;
};

std::vector<Between> between_centres(const std::vector<std::size_t>& begins, std::size_t pixels) {
  std::vector<double> centre;
  for (std::size_t k = 0; k + 1 < begins.size(); ++k)
    centre.push_back(.5 * static_cast<double>(begins[k] + begins[k + 1]));
  std::vector<Between> result;
  for (std::size_t p = 0; p < pixels; ++p) {
    const double at = static_cast<double>(p) + .5;
    const auto above =
        static_cast<std::size_t>(std::upper_bound(centre.begin(), centre.end(), at) - centre.begin());
    if (above == 0 || above == centre.size()) {
      const std::size_t edge = above == 0 ? 0 : centre.size() - 1;
      result.push_back({edge, edge, 0});
    } else {
      result.push_back({above - 1, above, (at - centre[above - 1]) / (centre[above] - centre[above - 1])});
    }
  }
  return result;
}

}  // namespace

bool is_map_name(const std::string& name) {
  return std::find(std::begin(kMapNames), std::end(kMapNames), name) != std::end(kMapNames);
}

const std::vector<double>& PatchValues::map(const std::string& name) const {
  const auto* found = std::find(std::begin(kMapNames), std::end(kMapNames), name);
  if (found == std::end(kMapNames)) throw Error(ErrorCode::usage, "there is no map " + name);
  return maps[static_cast<std::size_t>(found - std::begin(kMapNames))];
}

PatchValues patch_values(std::size_t players, const PatchPlan& plan, const PatchVocabulary& v,
                         Workers& workers) {
  const Ends loss = ends_of(players, v.coalitions, v.losses);
  const Ends logit = ends_of(players, v.coalitions, v.logits);
  const std::vector<double> mean = mean_gains(players, plan, v.coalitions, v.losses);
  const std::vector<double> mean_logit = mean_gains(players, plan, v.coalitions, v.logits);
  const SeenLattice seen(players, v.coalitions, workers);
  const ScanResult scan =
      scan_sparse(seen, v.losses, {.pairs = {.kind = PairSelection::Kind::none}}, workers);
  std::vector<double> p, highest, lowest, synergy, redundancy;
  for (std::size_t i = 0; i < players; ++i) {
    p.push_back(mean_of({logit.pi[i], logit.last[i], mean_logit[i]}));
    const FeatureProfile& f = scan.features[i];
    highest.push_back(f.Lmax.value.value_or(kNothing));
    lowest.push_back(f.U.value.value_or(kNothing));
    synergy.push_back(f.S.value.value_or(kNothing));
    redundancy.push_back(f.R.value.value_or(kNothing));
  }
  return {.maps = {p, loss.pi, loss.last, mean, highest, lowest, synergy, redundancy}};
}

std::vector<float> paint(const Patches& patches, std::span<const double> values) {
  const auto value = [&](std::size_t player) { return std::isnan(values[player]) ? 0 : values[player]; };
  std::vector<float> map;
  map.reserve(patches.owner.size());
  if (!patches.is_grid()) {
    for (const std::uint32_t owner : patches.owner)
      map.push_back(owner == kNoPatch ? 0 : static_cast<float>(value(owner)));
    return map;
  }
  const auto down = between_centres(patches.rows, patches.height);
  const auto across = between_centres(patches.columns, patches.width);
  const std::size_t columns = patches.columns.size() - 1;
  for (const Between& y : down) {
    for (const Between& x : across) {
      const double above =
          (1 - x.share) * value(y.below * columns + x.below) + x.share * value(y.below * columns + x.above);
      const double below =
          (1 - x.share) * value(y.above * columns + x.below) + x.share * value(y.above * columns + x.above);
      map.push_back(static_cast<float>((1 - y.share) * above + y.share * below));
    }
  }
  return map;
}

std::vector<std::uint32_t> strongest(std::span<const double> values, std::size_t most) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < values.size(); ++i) {
    if (!std::isnan(values[i])) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return values[a] > values[b]; });
  order.resize(std::min(order.size(), most));
  return order;
}

std::vector<Region> find_regions(std::span<const double> values,
                                 const std::vector<std::vector<std::uint32_t>>& neighbours,
                                 std::size_t most) {
  std::vector<bool> used(values.size());
  std::vector<Region> regions;
  for (const std::uint32_t seed : strongest(values, values.size())) {
    if (regions.size() == most) break;
    if (used[seed]) continue;
    Region region{.seed = seed, .players = {seed}};
    used[seed] = true;
    for (const std::uint32_t next : neighbours[seed]) {
      if (!used[next]) region.players.push_back(next);
      used[next] = true;
    }
    std::sort(region.players.begin(), region.players.end());
    regions.push_back(std::move(region));
  }
  return regions;
}

}  // namespace hifi
