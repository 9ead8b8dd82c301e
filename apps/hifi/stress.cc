#include "stress.h"

#include <fmt/format.h>

#include "audit/profile.h"

namespace hifi::app {

StressTest::StressTest(const ExplainRequest& request, const std::vector<std::string>& backgrounds,
                       Workers& workers)
    : workers_(workers) {
  for (const std::string& background : backgrounds) {
    if (background == request.background) continue;
    ExplainRequest other = request;
    other.background = background;
    // The product of the marginals cannot be enumerated: it is sampled with the usual budget.
    if (background == "marginals") other.exact = false;
    others_.push_back({background, std::make_unique<Audit>(other, Shard{}, workers)});
  }
}

Appendix StressTest::run(BackgroundProfile own, const Output& output) {
  std::vector<BackgroundProfile> profiles = {std::move(own)};
  for (Other& other : others_) {
    output.say(fmt::format("background  {}", other.background));
    const RunResult result = other.audit->run(nullptr, output.progress());
    profiles.push_back({other.background, other.audit->off_distribution(),
                        make_profile(other.audit->plan(), result, output.pairs, workers_)});
  }
  return {.text = stress_text(profiles), .json_key = "stress", .json = stress_json(profiles)};
}

}  // namespace hifi::app
