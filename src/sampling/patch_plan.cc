#include "sampling/patch_plan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "core/random.h"
#include "sampling/paper_policy.h"

namespace hifi {

namespace {

using Places = std::unordered_map<Coalition, std::size_t, CoalitionHash>;

Places places_of(std::span<const Coalition> coalitions) {
  Places places;
  for (std::size_t k = 0; k < coalitions.size(); ++k) places.emplace(coalitions[k], k);
  return places;
}

void add_all(PatchPlan& plan, std::size_t players) {
  plan.kind = PatchPlan::Kind::all;
  const std::uint64_t last = (std::uint64_t{1} << players) - 1;
  for (std::uint64_t mask = 1; mask < last; ++mask)
    plan.coalitions.push_back(Coalition::from_mask(players, mask));
}

void add_ends(PatchPlan& plan, std::size_t players) {
  for (std::size_t i = 0; i < players; ++i) plan.coalitions.push_back(Coalition(players).with(i));
  for (std::size_t i = 0; i < players; ++i) plan.coalitions.push_back(Coalition::full(players).without(i));
}

// Prefixes of one patch and of all but one are among the ends.
void add_chain(PatchPlan& plan, std::size_t players, std::vector<std::uint32_t> order) {
  Coalition prefix(players);
  for (std::size_t k = 0; k + 2 < players; ++k) {
    prefix.insert(order[k]);
    if (k > 0) plan.coalitions.push_back(prefix);
  }
  plan.chains.push_back(std::move(order));
}

void add_diamonds(PatchPlan& plan, std::size_t players, std::size_t most, std::uint64_t seed) {
  plan.kind = PatchPlan::Kind::paper;
  const PaperRun run =
      run_paper_policy({.players = players, .seed = seed}, most,
                       [](std::span<const Coalition> wanted) { return std::vector<double>(wanted.size()); });
  for (const Coalition& c : run.coalitions) {
    if (c != plan.coalitions[0] && c != plan.coalitions[1]) plan.coalitions.push_back(c);
  }
}

std::vector<double> shapley(std::size_t players, const Places& places, std::span<const double> losses) {
  // Weight of a context of size s: s! (n - 1 - s)! / n!
  std::vector<double> weight(players);
  for (std::size_t s = 0; s < players; ++s) {
    weight[s] =
        std::exp(std::lgamma(static_cast<double>(s) + 1) + std::lgamma(static_cast<double>(players - s)) -
                 std::lgamma(static_cast<double>(players) + 1));
  }
  std::vector<double> gains(players);
  for (std::uint64_t mask = 0; mask < std::uint64_t{1} << players; ++mask) {
    const Coalition c = Coalition::from_mask(players, mask);
    const double loss = losses[places.at(c)];
    const std::size_t size = c.count();
    for (std::size_t i = 0; i < players; ++i)
      gains[i] += c.contains(i) ? -weight[size - 1] * loss : weight[size] * loss;
  }
  return gains;
}

std::vector<double> over_contexts(std::size_t players, const Places& places,
                                  std::span<const Coalition> coalitions, std::span<const double> losses) {
  std::vector<double> sum(players);
  std::vector<double> seen(players);
  for (std::size_t k = 0; k < coalitions.size(); ++k) {
    for (std::size_t i = 0; i < players; ++i) {
      if (coalitions[k].contains(i)) continue;
      const auto above = places.find(coalitions[k].with(i));
      if (above == places.end()) continue;
      sum[i] += losses[k] - losses[above->second];
      ++seen[i];
    }
  }
  for (std::size_t i = 0; i < players; ++i) sum[i] /= seen[i];  // none: 0 / 0
  return sum;
}

}  // namespace

bool is_search(std::size_t players, std::uint64_t most) {
  const bool all = players < 40 && std::uint64_t{1} << players <= most;
  return !all && 2 * players + 2 > most / 2;
}

PatchPlan plan_patches(std::size_t players, std::size_t most, std::size_t apart, std::uint64_t seed,
                       std::size_t grid, PatchPolicy policy) {
  PatchPlan plan{.coalitions = {Coalition(players), Coalition::full(players)}};
  if (policy == PatchPolicy::paper) {
    const std::uint64_t own = RandomStream(seed, Purpose::image_chains, grid << 32).next_u64();
    add_diamonds(plan, players, most - apart, own);
    return plan;
  }
  if (players < 40 && std::uint64_t{1} << players <= most) {
    add_all(plan, players);
    return plan;
  }
  if (is_search(players, most)) {
    plan.kind = PatchPlan::Kind::search;
    plan.search = most - apart;
    return plan;
  }
  add_ends(plan, players);
  const std::size_t ends = 2 * players + 2;
  const std::size_t rest = most - std::min(most, ends + apart);
  std::size_t count = rest / (players - 3);
  if (count > 1) count -= count % 2;
  for (std::size_t k = 0; k < count; ++k) {
    std::vector<std::uint32_t> order =
        RandomStream(seed, Purpose::image_chains, grid << 32 | k / 2).permutation(players);
    if (k % 2 == 1) std::reverse(order.begin(), order.end());
    add_chain(plan, players, std::move(order));
  }
  // Two chains may share a prefix.
  std::vector<Coalition> distinct;
  Places seen;
  for (Coalition& c : plan.coalitions) {
    if (seen.emplace(c, 0).second) distinct.push_back(std::move(c));
  }
  plan.coalitions = std::move(distinct);
  return plan;
}

std::vector<double> mean_gains(std::size_t players, const PatchPlan& plan,
                               std::span<const Coalition> coalitions, std::span<const double> losses) {
  const Places places = places_of(coalitions);
  if (plan.kind == PatchPlan::Kind::all) return shapley(players, places, losses);
  if (plan.chains.empty()) return over_contexts(players, places, coalitions, losses);
  std::vector<double> gains(players);
  for (const std::vector<std::uint32_t>& order : plan.chains) {
    Coalition c(players);
    double before = losses[places.at(c)];
    for (const std::uint32_t i : order) {
      c.insert(i);
      const double after = losses[places.at(c)];
      gains[i] += (before - after) / static_cast<double>(plan.chains.size());
      before = after;
    }
  }
  return gains;
}

}  // namespace hifi
