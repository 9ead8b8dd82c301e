#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "audit/image_subject_parts.h"
#include "hifi/error.h"
#include "sampling/budget.h"
#include "sampling/speed.h"

namespace hifi {

namespace {

PatchPolicy policy_of(const ImageRequest& request) {
  return request.exact || request.policy == "exhaustive" ? PatchPolicy::exhaustive
         : request.policy == "paper"                     ? PatchPolicy::paper
                                                         : PatchPolicy::automatic;
}

std::size_t players_of(const ImageSubject& s, std::size_t grid) {
  return s.grids.empty() ? s.players.size() : s.grids[grid].patches.players();
}

std::size_t most_players(const ImageSubject& s, std::size_t offsets) {
  std::size_t most = 0;
  for (std::size_t g = 0; g < offsets; ++g) most = std::max(most, players_of(s, g));
  return most;
}

constexpr std::uint64_t kPairBytes = 1600;  // of the profile: measured at 784 patches

// Coalitions that a grid may have.
std::uint64_t coalitions_of_grid(const ImageSubject& s, std::size_t offsets) {
  if (s.request.exact) return std::uint64_t{1} << s.players.size();
  return s.budget / s.fill_draws / offsets;
}

// What is held of so many coalitions of every image: the cells of all, and tables of the one in work.
std::uint64_t cell_bytes(const ImageSubject& s, std::uint64_t coalitions) {
  const std::uint64_t name = sizeof(Coalition) + s.players.size() / 8;
  const std::uint64_t kept = name + 16 * s.fill_draws;
  const std::uint64_t outputs = s.model.network->info().output.size();
  const std::uint64_t work = 6 * name + 200 + (32 + 8 * outputs) * s.fill_draws;
  const std::uint64_t analysis = 500 + 4 * s.players.size();  // sums by block, influences, neighbours
  return coalitions * (kept * s.own_images() + work + analysis);
}

[[noreturn]] void too_many_players(const ImageSubject& s, std::size_t n) {
  const double coalitions = std::ldexp(1.0, static_cast<int>(n));
  throw input_error(
      fmt::format("{} {} are too many for {}: 2^{} coalitions x {} are {:.3g} model calls for each image and "
                  "{:.3g} GB of memory; the limit is {} players",
                  n, s.labels.empty() ? "patches" : "segments",
                  s.request.exact ? "--exact" : "--policy exhaustive", n,
                  s.fill_draws == 1 ? "1 fill" : fmt::format("{} fills", s.fill_draws),
                  coalitions * static_cast<double>(s.fill_draws),
                  coalitions * static_cast<double>(cell_bytes(s, 1)) / 1e9, kMaxExactPlayers),
      "take a smaller --grid, or --budget");
}

// Throws Error(input) for a budget that its policy, or any statement, cannot do with.
void check_budget(const ImageSubject& s, std::size_t offsets) {
  const std::size_t n = most_players(s, offsets);
  const PatchPolicy policy = policy_of(s.request);
  const std::string budget =
      !s.request.time.empty()
          ? fmt::format("--time {}: the {} model calls that fit are", s.request.time, s.budget)
      : s.request.budget ? fmt::format("--budget {}: is", s.budget)
                         : fmt::format("the default --budget {} is", s.budget);
  const auto refuse = [&](const std::string& why, std::uint64_t coalitions) {
    throw input_error(fmt::format("{} too small for {}, the smallest is {} model calls per image", budget,
                                  why, coalitions * s.fill_draws * offsets),
                      s.request.time.empty() ? "" : "take more time, fewer images or a smaller --grid");
  };
  if (policy == PatchPolicy::exhaustive && n > kMaxExactPlayers) too_many_players(s, n);
  const std::uint64_t all = n <= kMaxExactPlayers ? std::uint64_t{1} << n : UINT64_MAX;
  const std::uint64_t share = coalitions_of_grid(s, offsets);
  if (policy == PatchPolicy::exhaustive) {
    if (share < all) refuse(fmt::format("all 2^{} coalitions", n), all);
    return;
  }
  if (policy == PatchPolicy::paper) {
    if (n < 2) throw input_error("--policy paper: diamonds need two patches");
    const std::uint64_t ends = 2 * n + 2 + kChosenLater;
    if (share < ends) refuse(fmt::format("--policy paper, which starts with {} coalitions", 2 * n + 2), ends);
    return;
  }
  const std::uint64_t least = std::min<std::uint64_t>(all, kLeastCoalitions + kChosenLater);
  if (share < least) refuse("any statement", least);
}

}  // namespace

void choose_budget(ImageSubject& s, const std::optional<std::uint64_t>& settled) {
  const std::uint64_t usual = kDefaultImageBudget * s.fill_draws;
  if (settled || s.request.time.empty()) {
    s.budget = settled ? *settled : s.request.budget.value_or(usual);
    return;
  }
  // The rest of the time is for reading images, the probe, the analysis and surprises.
  constexpr double kSpent = .85;
  const double seconds = parse_time(s.request.time);
  const double each = kSpent * seconds * s.calls_per_second / static_cast<double>(s.images());
  // What --max-memory cannot hold is no use to anyone.
  const std::uint64_t left = s.request.max_memory - std::min(s.request.max_memory, s.bytes);
  const double held = static_cast<double>(left) / static_cast<double>(cell_bytes(s, 1)) *
                      static_cast<double>(s.fill_draws) * .9;
  s.budget = std::min(s.request.budget.value_or(UINT64_MAX),
                      static_cast<std::uint64_t>(std::min({each, held, 9e18})));
  s.notes.push_back(fmt::format("--time {}: {} model calls for each image, by a probe of {:.3g} a second",
                                s.request.time, s.budget, s.calls_per_second));
}

std::size_t affordable_offsets(ImageSubject& s, std::size_t offsets) {
  if (offsets == 1) return 1;
  const std::uint64_t share = coalitions_of_grid(s, offsets);
  for (std::size_t g = 0; g < offsets; ++g) {
    if (!is_search(players_of(s, g), share)) continue;
    for (std::size_t k = 1; k < offsets; ++k) s.bytes -= s.grids[k].mask->bytes();
    s.grids.resize(1);
    s.notes.push_back(fmt::format(
        "{} model calls are too few for {} grids, shifted by half a patch: there is one", s.budget, offsets));
    return 1;
  }
  return offsets;
}

void make_plans(ImageSubject& s, std::size_t offsets) {
  const std::size_t n = s.players.size();
  check_budget(s, offsets);
  const std::uint64_t share = coalitions_of_grid(s, offsets);
  const std::uint64_t most =
      offsets * std::min(share, n < 63 ? std::uint64_t{1} << n : UINT64_MAX);  // at least what is asked
  const std::uint64_t pairs = n * (n - 1) / 2;
  s.bytes += cell_bytes(s, most) + pairs * kPairBytes;
  if (s.bytes > s.request.max_memory) {
    throw input_error(
        fmt::format("{} images x {} model calls need {} of memory, more than --max-memory {}", s.own_images(),
                    most * s.fill_draws, human_bytes(s.bytes), human_bytes(s.request.max_memory)),
        "raise --max-memory, take fewer images at a time, a smaller --budget or --grid");
  }
  for (std::size_t g = 0; g < offsets; ++g) {
    s.plans.push_back(plan_patches(players_of(s, g), share, g == 0 ? kChosenLater : 0, s.request.seed, g,
                                   policy_of(s.request)));
  }
  if (!s.request.precision.empty() && s.plans[0].kind == PatchPlan::Kind::search) {
    throw input_error("--precision: the coalitions of each image are searched, too few are common to all",
                      "raise --budget, or take a coarser --grid");
  }
}

}  // namespace hifi
