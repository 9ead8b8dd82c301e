#include "audit/band_profile.h"

#include <fmt/format.h>

#include "decomposition/bands.h"
#include "hifi/error.h"

namespace hifi {

void check_band(const RunPlan& plan) {
  const auto band = parse_band(plan.interval);
  if (!band) return;
  if (needs_bounded_loss(*band) && !plan.loss_range) {
    throw input_error(fmt::format("--interval {}: {} loss has no bound", plan.interval, plan.loss),
                      "use population or montecarlo intervals, or --loss brier or zero-one");
  }
  if (plan.policy != "exhaustive") {
    throw input_error(
        fmt::format("--interval {}: needs all coalitions, this run evaluates some of them", plan.interval),
        "raise --budget, merge players with --groups, or use --interval montecarlo");
  }
  if (plan.draws < 2) throw input_error(fmt::format("--interval {}: needs 2 draws or more", plan.interval));
}

bool apply_band(const RunPlan& plan, const Lattice& lattice, const std::vector<double>& losses,
                ScanResult& scan, Profile& profile, Workers& workers) {
  const auto band = parse_band(plan.interval);
  if (!band) return false;
  const std::vector<double> variances = lattice.variances();
  put_bands(scan,
            {.players = plan.players.size(),
             .losses = losses,
             .variances = variances,
             .draws = static_cast<double>(plan.draws),
             .alpha = plan.alpha(),
             .loss_range = plan.loss_range},
            *band, workers);
  std::string message =
      fmt::format("{} intervals take the {} losses of a coalition as independent", plan.interval, plan.draws);
  if (plan.population != Population::draws)
    message += "; here rows repeat, so they can be too short for the population";
  if (*band == Band::paper) message += "; they hold for one coalition at a time, not for extremes over all";
  profile.warnings.push_back({"independence_assumed", message});
  return true;
}

}  // namespace hifi
