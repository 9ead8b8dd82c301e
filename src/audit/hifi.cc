#include "hifi/hifi.h"

#include <fmt/format.h>

#include <cmath>

#include "audit/indices.h"
#include "audit/profile.h"
#include "report/profile_json.h"

namespace hifi {

namespace {

LossTable checked_table(const std::vector<std::string>& players, std::span<const double> losses) {
  const std::size_t n = players.size();
  if (n == 0 || n > 24 || losses.size() != std::size_t{1} << n) {
    throw input_error(
        fmt::format("{} losses are not the 2^{} coalitions of 1 to 24 players", losses.size(), n));
  }
  LossTable table{.players = players, .losses = {losses.begin(), losses.end()}};
  for (std::size_t mask = 0; mask < losses.size(); ++mask) {
    table.coalitions.push_back(Coalition::from_mask(n, mask));
    if (!(std::abs(losses[mask]) < HUGE_VAL)) {
      throw input_error(
          fmt::format("the loss of coalition {} is {}", table.coalitions.back().to_string(), losses[mask]));
    }
  }
  return table;
}

}  // namespace

Profile decompose(const std::vector<std::string>& players, std::span<const double> losses) {
  Workers workers;
  return make_profile(checked_table(players, losses), "all", workers);
}

Indices indices(const std::vector<std::string>& players, std::span<const double> losses,
                const std::vector<std::string>& names, std::size_t order) {
  IndicesRequest request{.order = order};
  for (const std::string& name : names) request.kinds.push_back(parse_index(name));
  if (order == 0) throw input_error("indices have an order of at least 1");
  Workers workers;
  return make_indices(checked_table(players, losses), "the table", request, workers);
}

std::string to_json(const Profile& profile) { return profile_json(profile); }

}  // namespace hifi
