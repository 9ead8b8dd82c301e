#include "audit/profile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <span>
#include <utility>

#include "hifi/error.h"

namespace hifi {

PairSelection parse_pairs(const std::string& text, const std::vector<std::string>& players) {
  using Kind = PairSelection::Kind;
  if (text == "all") return {.kind = Kind::all};
  if (text == "none") return {.kind = Kind::none};
  if (text.starts_with("top:")) {
    std::size_t count = 0;
    const auto [end, error] = std::from_chars(text.data() + 4, text.data() + text.size(), count);
    if (error == std::errc() && end == text.data() + text.size()) return {.kind = Kind::top, .top = count};
  }
  if (text.starts_with("with:")) {
    const auto found = std::find(players.begin(), players.end(), text.substr(5));
    if (found == players.end()) {
      throw input_error(fmt::format("--pairs {}: there is no such player", text),
                        fmt::format("the players are {}", fmt::join(players, ", ")));
    }
    return {.kind = Kind::with, .with = static_cast<std::uint32_t>(found - players.begin())};
  }
  throw Error(ErrorCode::usage, fmt::format("--pairs {}: must be all, none, top:K or with:NAME", text));
}

namespace {

constexpr double kTableTieTolerance = 1e-9;
constexpr double kThresholdShare = 0.01;  // of the range of losses: what is smaller is not worth a word

void take_scan(Profile& profile, ScanResult scan, std::span<const double> losses) {
  const auto [least, most] = std::minmax_element(losses.begin(), losses.end());
  profile.coverage.coalitions = losses.size();
  profile.coverage.threshold = kThresholdShare * (*most - *least);
  profile.features = std::move(scan.features);
  profile.pairs = std::move(scan.pairs);
}

}  // namespace

Profile make_profile(const RunPlan& plan, const Lattice& lattice, const std::string& pairs,
                     Workers& workers) {
  const std::vector<double> losses = lattice.means();
  const ScanOptions options{.tie_tolerance = plan.tie_tolerance, .pairs = parse_pairs(pairs, plan.players)};
  Profile profile{
      .players = plan.players, .loss = plan.loss, .measure = plan.measure, .expected = plan.expected};
  profile.coverage = {.exhaustive = true,
                      .draws = plan.draws,
                      .exact = plan.exact,
                      .interval = plan.interval,
                      .confidence = plan.confidence};
  take_scan(profile, scan_dense(plan.players.size(), losses, options, workers), losses);
  profile.warnings = plan.warnings;
  profile.provenance = plan.provenance;
  return profile;
}

Profile make_profile(const LossTable& table, const std::string& pairs, Workers& workers) {
  const std::size_t n = table.players.size();
  const ScanOptions options{.tie_tolerance = kTableTieTolerance, .pairs = parse_pairs(pairs, table.players)};
  Profile profile{.players = table.players};
  profile.coverage.exhaustive = table.complete();
  if (table.complete()) {
    std::vector<double> losses(table.losses.size());
    for (std::size_t k = 0; k < losses.size(); ++k) losses[table.coalitions[k].mask()] = table.losses[k];
    take_scan(profile, scan_dense(n, losses, options, workers), losses);
  } else {
    LossMap losses;
    for (std::size_t k = 0; k < table.losses.size(); ++k)
      losses.emplace(table.coalitions[k], table.losses[k]);
    take_scan(profile, scan_sparse(n, losses, options, workers), table.losses);
    profile.warnings.push_back(
        {"partial_coverage", fmt::format("{} of 2^{} coalitions are in the table: U is an upper bound, Lmax, "
                                         "S and R of pairs are lower bounds",
                                         table.losses.size(), n)});
  }
  return profile;
}

}  // namespace hifi
