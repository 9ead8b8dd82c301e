// The profile of a run of the paper's policy.
#include <fmt/format.h>

#include <algorithm>

#include "audit/profile_parts.h"
#include "decomposition/ranged_draws.h"

namespace hifi {

namespace {

// True if every context of every player was seen on draws that can be compared.
bool saw_everything(const Profile& profile) {
  const std::size_t n = profile.players.size();
  return n < 30 &&
         std::all_of(profile.features.begin(), profile.features.end(),
                     [&](const FeatureProfile& f) { return f.contexts_seen == std::uint64_t{1} << (n - 1); });
}

// The plug-in of a pair is over the diamonds that were drawn apart, too.
void add_side_plugins(ScanResult& scan, const RangedDraws& numbers) {
  const auto raise = [](Quantity& q, double d, const Coalition& context) {
    if (d <= *q.plugin) return;
    q.value = q.plugin = d;
    q.context = context.members();
  };
  for (PairProfile& p : scan.pairs) {
    const auto side = numbers.side_diamonds().find({p.first, p.second});
    if (side == numbers.side_diamonds().end() || !p.S.plugin) continue;
    for (const Corners& corners : side->second) {
      const double d = numbers.number(corners)->value;
      raise(p.S, d, numbers.side_context(corners));
      raise(p.R, -d, numbers.side_context(corners));
    }
  }
}

}  // namespace

Profile paper_profile(const RunPlan& plan, const PaperResult& run, const ScanOptions& options,
                      Workers& workers) {
  Profile profile = start_profile(plan);
  const RangedDraws numbers(run.visits, plan);
  const VerdictOptions verdict = measure(profile, numbers.means());
  if (!plan.exact) profile.coverage.draws = numbers.fewest_draws();
  const SeenLattice seen(plan.players.size(), numbers.coalitions(), workers);
  ScanResult scan = scan_sparse(seen, numbers, options, workers);
  add_side_plugins(scan, numbers);
  infer_cells(scan, seen, numbers, numbers, inference_options(plan), workers, numbers.side_diamonds());
  if (numbers.kind() == Noise::Kind::absent) warn_without_interval(profile, plan);
  profile.features = std::move(scan.features);
  profile.pairs = std::move(scan.pairs);
  drop_unseen_pairs(profile);
  profile.coverage.exhaustive = saw_everything(profile);
  judge(profile.features, profile.pairs, verdict);
  profile.widest_interval = widest_interval(profile.features);
  profile.full_gain = numbers.means()[0] - numbers.means()[1];  // {} and all are visited first
  if (!profile.coverage.exhaustive) {
    for (FeatureProfile& f : profile.features) f.basis = "searched";
    open_far_ends(profile);
    resolve(profile.features, profile.pairs, verdict.threshold);
    profile.warnings.push_back(
        {"partial_coverage",
         fmt::format(
             "{} of 2^{} coalitions were visited: U is an upper bound, Lmax, S and R are lower bounds",
             numbers.coalitions().size(), plan.players.size())});
  }
  for (const auto& [first, second] : run.fallbacks) {
    profile.warnings.push_back(
        {"a3_fallback",
         fmt::format("assumption A3 does not hold for {} and {}: coupled draws made their difference "
                     "noisier, so its later diamonds were drawn apart",
                     plan.players[first], plan.players[second])});
  }
  return profile;
}

}  // namespace hifi
