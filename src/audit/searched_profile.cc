// The profile of a searched run: `plugin`, contexts and quantiles come from the search, `value` and intervals
// from the cells that were measured again.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "audit/profile_parts.h"
#include "decomposition/cell_inference.h"
#include "decomposition/noise.h"

namespace hifi {

namespace {

constexpr std::size_t kAllPairsListed = 10'000;  // beyond, pairs that were never seen are left out
constexpr std::size_t kNamesShown = 10;

using Number = Quantity FeatureProfile::*;
constexpr Number kNumbers[] = {&FeatureProfile::U,  &FeatureProfile::R,    &FeatureProfile::S,
                               &FeatureProfile::pi, &FeatureProfile::Lmax, &FeatureProfile::last};

// What was measured again, with the plug-in of the search; what was not is as the search saw it.
void join(Quantity& q, const Quantity& searched) {
  if (!q.value) q = searched;
  q.plugin = searched.plugin ? searched.plugin : q.plugin;
}

void join(FeatureProfile& f, const FeatureProfile& searched) {
  for (const Number number : kNumbers) join(f.*number, searched.*number);
  f.contexts_seen = std::max(f.contexts_seen, searched.contexts_seen);
  f.gain = searched.gain ? searched.gain : f.gain;
}

// Pairs as the search saw them, those measured again with their intervals.
std::vector<PairProfile> join_pairs(std::vector<PairProfile> searched,
                                    const std::vector<PairProfile>& measured) {
  std::size_t at = 0;
  for (PairProfile& p : searched) {
    const auto key = std::pair(p.first, p.second);
    while (at < measured.size() && std::pair(measured[at].first, measured[at].second) < key) ++at;
    if (at == measured.size() || std::pair(measured[at].first, measured[at].second) != key) continue;
    const PairProfile seen = p;
    p.S = measured[at].S;
    p.R = measured[at].R;
    join(p.S, seen.S);
    join(p.R, seen.R);
    p.contexts_seen = std::max(seen.contexts_seen, measured[at].contexts_seen);
  }
  return searched;
}

void add_notes(Profile& profile, const SearchResult& found) {
  for (std::size_t i = 0; i < profile.features.size(); ++i) {
    FeatureProfile& f = profile.features[i];
    const SearchedPlayer& player = found.players[i];
    SearchNote note{.quiet_tests = player.quiet_tests};
    if (player.block != kNoBlock) {
      const SearchedBlock& block = found.blocks[player.block];
      note.block = block.players;
      note.block_enumerated = block.enumerated_out && block.enumerated_in;
    }
    f.search = std::move(note);
    f.basis = "searched";
  }
}

// A player that never moved the loss by more than the search can see.
void judge_quiet(Profile& profile, const SearchResult& found, const VerdictOptions& verdict) {
  std::vector<std::string> names;
  std::size_t fewest = SIZE_MAX;
  for (std::size_t i = 0; i < profile.features.size(); ++i) {
    if (found.players[i].active) continue;
    FeatureProfile& f = profile.features[i];
    // Unless it moved the loss when it was measured again.
    const auto quiet = [&](const Quantity& q) { return std::abs(q.value.value_or(0)) <= verdict.threshold; };
    const bool visible = found.tolerance <= 1.5 * verdict.threshold;  // the search could have seen it
    if (verdict.flat || (visible && quiet(f.U) && quiet(f.Lmax))) f.verdict = "negligible";
    names.push_back(profile.players[i]);
    fewest = std::min(fewest, found.players[i].quiet_tests);
  }
  if (names.empty()) return;
  const std::size_t hidden = names.size() - std::min(names.size(), kNamesShown);
  names.resize(names.size() - hidden);
  profile.warnings.push_back(
      {"no_effect_seen",
       fmt::format("no effect above {:.2g} in {} or more group tests: {}{}", found.tolerance, fewest,
                   fmt::join(names, ", "), hidden > 0 ? fmt::format(" and {} others", hidden) : "")});
}

void warn_about_search(Profile& profile, const RunPlan& plan, const SearchResult& found) {
  profile.warnings.push_back(
      {"partial_coverage",
       fmt::format("{} of 2^{} coalitions were searched: U is an upper bound, Lmax, S and R are lower bounds",
                   found.coalitions.size(), plan.players.size())});
  if (found.budget_short) {
    profile.warnings.push_back(
        {"budget_short",
         fmt::format("every player seems to matter, and {} coalitions are fewer than 5 for each: raise "
                     "--budget or merge players",
                     found.coalitions.size())});
  }
}

}  // namespace

void drop_unseen_pairs(Profile& profile) {
  if (profile.pairs.size() > kAllPairsListed)
    std::erase_if(profile.pairs, [](const PairProfile& p) { return p.contexts_seen == 0; });
}

void open_far_ends(Profile& profile) {
  for (FeatureProfile& f : profile.features) {
    f.U.low.reset();
    for (Quantity* q : {&f.Lmax, &f.R, &f.S}) q->high.reset();
  }
  for (PairProfile& p : profile.pairs) {
    p.S.high.reset();
    p.R.high.reset();
  }
}

Profile searched_profile(const RunPlan& plan, const SearchedRun& run, const ScanOptions& options,
                         Workers& workers) {
  Profile profile = start_profile(plan);
  const VerdictOptions verdict = measure(profile, run.found.losses);
  const std::size_t n = plan.players.size();
  const SeenLattice seen(n, run.coalitions, workers);
  const std::vector<double> means = run.cells.means();
  ScanResult scan = scan_sparse(seen, means, options, workers);
  const Noise rows = population_noise(run.cells, means, plan);
  // Rows that only report are a sample of the given rows: their noise is Monte Carlo noise.
  const Noise draws = plan.search.split ? rows : montecarlo_noise(run.cells, means, plan);
  const bool population = plan.interval == "population";
  const SharedDraws interval(means, population ? rows : draws);
  const SharedDraws sampling(means, draws);
  infer_cells(scan, seen, interval, sampling, inference_options(plan), workers);
  if (interval.kind() == Noise::Kind::absent) warn_without_interval(profile, plan);

  if (plan.search.split) {
    const SeenLattice searched(n, run.found.coalitions, workers);
    ScanResult first = scan_sparse(searched, run.found.losses, options, workers);
    for (std::size_t i = 0; i < n; ++i) join(scan.features[i], first.features[i]);
    scan.pairs = join_pairs(std::move(first.pairs), scan.pairs);
  }
  profile.features = std::move(scan.features);
  profile.pairs = std::move(scan.pairs);
  drop_unseen_pairs(profile);
  add_notes(profile, run.found);
  judge(profile.features, profile.pairs, verdict);
  judge_quiet(profile, run.found, verdict);
  profile.widest_interval = widest_interval(profile.features);
  profile.full_gain = run.found.losses[0] - run.found.losses[1];  // {} and all are asked first
  open_far_ends(profile);
  resolve(profile.features, profile.pairs, verdict.threshold);
  warn_about_search(profile, plan, run.found);
  return profile;
}

void add_searched_instances(Profile& profile, const RunPlan& plan, std::span<const Coalition> coalitions,
                            const std::vector<InstanceCells>& instances, const ScanOptions& options,
                            Workers& workers) {
  constexpr std::uint64_t kFewRows = 20;
  RunPlan one = instance_plan(plan);
  if (one.draws < kFewRows) one.interval = "montecarlo";
  const bool population = one.interval == "population";
  if (instances.empty()) return;
  const SeenLattice seen(plan.players.size(), coalitions.first(instances.front().cells.size()), workers);
  const VerdictOptions verdict{.threshold = *profile.coverage.threshold,
                               .loss_scale = *profile.coverage.threshold / kThresholdShare};
  for (const InstanceCells& instance : instances) {
    Lattice cells = instance.cells;
    if (one.round_blocks > 0) cells.sums.round = cells.instance;
    const std::vector<double> means = cells.means();
    const Noise rows = population_noise(cells, means, one);
    const Noise draws = montecarlo_noise(cells, means, one);
    ScanResult scan = scan_sparse(seen, means, options, workers);
    infer_cells(scan, seen, SharedDraws(means, population ? rows : draws), SharedDraws(means, draws),
                inference_options(one), workers);
    judge(scan.features, scan.pairs, verdict);
    Profile alone{.features = std::move(scan.features), .pairs = std::move(scan.pairs)};
    for (FeatureProfile& f : alone.features) f.basis = "searched";
    open_far_ends(alone);
    resolve(alone.features, alone.pairs, verdict.threshold);
    drop_unseen_pairs(alone);
    profile.instances.push_back(
        {.row = instance.row, .features = std::move(alone.features), .pairs = std::move(alone.pairs)});
  }
}

}  // namespace hifi
