#include "audit/precision_plan.h"

#include <cmath>

#include "audit/profile.h"
#include "stats/concentration.h"

namespace hifi {

namespace {

constexpr std::uint64_t kPilotDraws = 64;  // the fewest that have Monte Carlo intervals
constexpr std::uint64_t kPilotEvaluations = 4'000'000;
constexpr double kPilotSeconds = 10;

}  // namespace

double theorem4_draws(double loss_range, std::size_t players, double width, double alpha) {
  return hoeffding_draws(loss_range, width / 8, std::ldexp(alpha, -static_cast<int>(players)));
}

PrecisionPlan plan_precision(const Audit& audit, const ExplainRequest& request, Workers& workers) {
  const RunPlan& plan = audit.plan();
  const Precision& wanted = *audit.precision();
  PrecisionPlan result{.width = wanted.width};
  const std::size_t n = plan.players.size();
  const bool enumerates = plan.policy == "exhaustive" && plan.shards == 1;
  const double evaluations = std::ldexp(static_cast<double>(kPilotDraws), static_cast<int>(n));
  const double seconds = audit.forecast().seconds * evaluations /
                         std::max(1.0, static_cast<double>(audit.forecast().evaluations));
  if (enumerates && evaluations <= kPilotEvaluations && seconds <= kPilotSeconds) {
    ExplainRequest pilot = request;
    pilot.precision.clear();
    pilot.exact = false;
    pilot.policy = "exhaustive";
    pilot.budget = static_cast<std::uint64_t>(evaluations);
    Audit run(pilot, {}, workers);
    const Profile profile = make_profile(run.plan(), run.run(nullptr, {}), "none", workers);
    result.pilot_draws = run.plan().draws;
    if (wanted.relative) result.width *= std::abs(profile.full_gain);
    if (std::isfinite(profile.widest_interval)) result.pilot_width = profile.widest_interval;
    // Errors shrink with the root of the draws.
    if (result.pilot_width && result.width > 0) {
      result.expected_draws = std::ceil(static_cast<double>(result.pilot_draws) *
                                        std::pow(*result.pilot_width / result.width, 2));
    }
  }
  const bool absolute = !wanted.relative || result.pilot_draws > 0;
  if (plan.loss_range && absolute && result.width > 0)
    result.hoeffding_draws = theorem4_draws(*plan.loss_range, n, result.width, 1 - plan.confidence);
  return result;
}

}  // namespace hifi
