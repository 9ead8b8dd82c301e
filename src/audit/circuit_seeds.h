// How much of a circuit's profile is the choice of its prompts? The audit again with other seeds, each of
// which makes prompts of its own, and intervals over them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "audit/request.h"
#include "core/parallel.h"
#include "hifi/profile.h"

namespace hifi {

// A quantity over seeds. Without value if a seed lacks it.
struct OverSeeds {
  std::vector<double> values;  // one per seed
  std::optional<double> mean;
  double deviation = 0;  // standard deviation
  double low = 0;        // Student's interval of the mean
  double high = 0;
};

struct SeedSpread {
  struct Row {
    std::vector<std::string> names;     // a head, or two roles
    std::vector<OverSeeds> quantities;  // U, R, S, Lmax of a head; S, R of roles
  };
  std::vector<std::uint64_t> seeds;
  double confidence = 0;
  std::vector<Row> heads;
  std::vector<Row> roles;
};

// Audits with the seeds that follow the request's. `tell` hears of each before it starts.
SeedSpread run_other_seeds(const ExplainRequest& request, const Profile& first, std::size_t seeds,
                           Workers& workers, const std::function<void(std::uint64_t)>& tell);

std::string seed_spread_json(const SeedSpread& spread);
std::string seed_spread_text(const SeedSpread& spread);

}  // namespace hifi
