#include "stress.h"

#include <fmt/format.h>

#include "audit/profile.h"

namespace hifi::app {

StressTest::StressTest(const ExplainRequest& request, Workers& workers)
    : workers_(workers),
      exact_(request.exact),
      named_(!request.stress.empty()),
      background_(request.background) {
  for (const std::string& background : request.stress) {
    if (background == request.background) continue;
    ExplainRequest other = request;
    other.background = background;
    // The product of the marginals cannot be enumerated: it is sampled with the usual budget.
    if (background == "marginals") other.exact = false;
    others_.push_back({background, std::make_unique<Audit>(other, Shard{}, workers)});
  }
}

std::string StressTest::note() const {
  for (const Other& other : others_) {
    const RunPlan& plan = other.audit->plan();
    if (exact_ && !plan.exact) {
      return fmt::format(
          "note        --exact does not hold for the background {}: its rows are a sample of a product that "
          "cannot "
          "be enumerated, {} draws per coalition are taken",
          other.background, plan.draws);
    }
  }
  return "";
}

Appendix StressTest::run(BackgroundProfile own, const Output& output) {
  if (!named_) return {};
  std::vector<BackgroundProfile> profiles = {std::move(own)};
  for (Other& other : others_) {
    output.say(fmt::format("background  {}", other.background));
    const RunResult result = other.audit->run(nullptr, output.progress());
    profiles.push_back({other.background, other.audit->off_distribution(),
                        make_profile(other.audit->plan(), result, output.pairs, workers_)});
  }
  return {.text = stress_text(profiles), .fields = {{"stress", stress_json(profiles)}}};
}

std::function<Appendix(const Profile&)> StressTest::appendix(const Audit& audit, const Output& output) {
  return [&](const Profile& profile) {
    // How far rows are from the data is work, too.
    const auto distance = named_ ? audit.off_distribution() : std::nullopt;
    return run({background_, distance, profile}, output);
  };
}

}  // namespace hifi::app
