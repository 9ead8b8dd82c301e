#include "audit/profile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <span>
#include <utility>

#include "audit/band_profile.h"
#include "audit/profile_parts.h"
#include "decomposition/noise.h"
#include "decomposition/verdict.h"
#include "hifi/error.h"
#include "vocabulary/lattice_store.h"

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

VerdictOptions measure(Profile& profile, std::span<const double> losses) {
  const auto [least, most] = std::minmax_element(losses.begin(), losses.end());
  const double scale = std::max(std::abs(*least), std::abs(*most));
  profile.coverage.coalitions = losses.size();
  profile.coverage.threshold = kThresholdShare * (*most - *least);
  return {
      .threshold = *profile.coverage.threshold, .loss_scale = scale, .flat = *most - *least <= 1e-9 * scale};
}

Profile start_profile(const RunPlan& plan) {
  Profile profile{
      .players = plan.players, .loss = plan.loss, .measure = plan.measure, .expected = plan.expected};
  profile.coverage = {.exhaustive = plan.policy == "exhaustive",
                      .draws = plan.draws,
                      .exact = plan.exact,
                      .interval = plan.interval,
                      .confidence = plan.confidence};
  profile.warnings = plan.warnings;
  profile.provenance = plan.provenance;
  return profile;
}

InferenceOptions inference_options(const RunPlan& plan) {
  return {.alpha = plan.alpha(),
          .population = plan.interval == "population",
          .loss_range = plan.loss_range,
          .zero_one = plan.loss == "zero-one"};
}

double widest_interval(std::span<const FeatureProfile> features) {
  double widest = 0;
  for (const FeatureProfile& f : features) {
    for (const Quantity* q : {&f.U, &f.R, &f.S, &f.Lmax})
      widest = std::max(widest, q->low && q->high ? *q->high - *q->low : HUGE_VAL);
  }
  return widest;
}

void warn_without_interval(Profile& profile, const RunPlan& plan) {
  profile.warnings.push_back({"no_interval", fmt::format("{} draws of {} rows are too few for {} intervals",
                                                         plan.draws, plan.instances, plan.interval)});
}

namespace {

constexpr double kTableTieTolerance = 1e-9;

void warn_about(Profile& profile, const std::vector<std::uint32_t>& idle, double units) {
  if (!idle.empty() && units > 0) {
    std::vector<std::string> names;
    for (const std::uint32_t i : idle) names.push_back(profile.players[i]);
    profile.warnings.push_back(
        {"no_effect_seen", fmt::format("{} changed no loss in any evaluation: at 95 % confidence at most "
                                       "{:.2g} % of the rows could show an effect",
                                       fmt::join(names, ", "), std::min(100.0, 300.0 / units))});
  }
  const auto open = [](const Quantity& q) { return q.value && (q.low.has_value() != q.high.has_value()); };
  std::vector<std::string> names;
  for (std::size_t i = 0; i < profile.features.size(); ++i) {
    const FeatureProfile& f = profile.features[i];
    if (open(f.U) || open(f.R) || open(f.S) || open(f.Lmax)) names.push_back(profile.players[i]);
  }
  if (names.empty() || !profile.coverage.exhaustive) return;
  profile.warnings.push_back(
      {"zero_variance", fmt::format("{}: in some context no draw differed, and the loss has no bound to say "
                                    "what that could hide; the interval is open there",
                                    fmt::join(names, ", "))});
}

Profile lattice_profile(const RunPlan& plan, const Lattice& lattice, const ScanOptions& options,
                        Workers& workers) {
  const std::vector<double> losses = lattice.means();
  Profile profile = start_profile(plan);
  const VerdictOptions verdict = measure(profile, losses);
  ScanResult scan = scan_dense(plan.players.size(), losses, options, workers);

  const bool population = plan.interval == "population";
  const Noise rows = population ? population_noise(lattice, losses, plan) : Noise{};
  const Noise draws = montecarlo_noise(lattice, losses, plan);
  const auto idle = infer(scan, {plan.players.size(), losses, rows, draws}, inference_options(plan), workers);
  const bool band = apply_band(plan, lattice, losses, scan, profile, workers);
  if (!band && (population ? rows : draws).kind == Noise::Kind::absent) warn_without_interval(profile, plan);
  judge(scan.features, scan.pairs, verdict);
  profile.features = std::move(scan.features);
  profile.pairs = std::move(scan.pairs);
  warn_about(profile, idle, (population ? rows : draws).units);
  profile.widest_interval = widest_interval(profile.features);
  profile.full_gain = losses.front() - losses.back();
  return profile;
}

// The instances are fixed, their background rows are the sample; verdicts use the threshold of all.
void add_instances(Profile& profile, const RunPlan& plan, const std::vector<InstanceCells>& instances,
                   const ScanOptions& options, Workers& workers) {
  constexpr std::uint64_t kFewRows = 20;
  RunPlan one = instance_plan(plan);
  if (one.draws < kFewRows || plan.background_blocks < 2) one.interval = "montecarlo";
  for (const InstanceCells& instance : instances) {
    Lattice cells = instance.cells;
    if (one.round_blocks > 0) cells.sums.round = cells.instance;
    Profile alone = lattice_profile(one, cells, options, workers);
    judge(alone.features, alone.pairs,
          {.threshold = *profile.coverage.threshold,
           .loss_scale = *profile.coverage.threshold / kThresholdShare});
    profile.instances.push_back(
        {.row = instance.row, .features = std::move(alone.features), .pairs = std::move(alone.pairs)});
  }
  std::sort(profile.instances.begin(), profile.instances.end(),
            [](const InstanceProfile& a, const InstanceProfile& b) { return a.row < b.row; });
}

// A complete table, in the order of the masks. Without k and var its numbers are taken as exact.
ScanResult scan_table(const LossTable& table, const ScanOptions& options, Profile& profile,
                      Workers& workers) {
  const std::size_t n = table.players.size();
  const auto by_mask = [&](const std::vector<double>& values) {
    std::vector<double> sorted(values.size());
    for (std::size_t k = 0; k < values.size(); ++k) sorted[table.coalitions[k].mask()] = values[k];
    return sorted;
  };
  const std::vector<double> losses = by_mask(table.losses);
  ScanResult scan = scan_dense(n, losses, options, workers);
  if (!table.has_noise()) return scan;
  const Noise cells = cell_noise(by_mask(table.draws), by_mask(table.variances));
  profile.coverage.interval = "montecarlo";
  infer(scan, {n, losses, Noise{}, cells}, {.alpha = 1 - profile.coverage.confidence, .population = false},
        workers);
  return scan;
}

}  // namespace

RunResult read_result(RunFile& file, const RunPlan& plan) {
  if (plan.policy == "search") {
    RunResult result{.searched = read_searched(file, plan)};
    if (plan.per_instance) result.instances = read_amortised(file, plan);
    return result;
  }
  if (plan.policy == "paper") return {.paper = read_paper(file, plan)};
  if (plan.per_instance) {
    PerInstance run = read_per_instance(file, plan);
    return {.lattice = std::move(run.lattice), .instances = std::move(run.instances)};
  }
  return {.lattice = read_lattice(file, plan)};
}

Profile make_profile(const RunPlan& plan, const RunResult& result, const std::string& pairs,
                     Workers& workers) {
  const ScanOptions options{.tie_tolerance = plan.tie_tolerance, .pairs = parse_pairs(pairs, plan.players)};
  if (result.searched) {
    Profile profile = searched_profile(plan, *result.searched, options, workers);
    if (plan.per_instance)
      add_searched_instances(profile, plan, result.searched->coalitions, result.instances, options, workers);
    return profile;
  }
  if (result.paper) return paper_profile(plan, *result.paper, options, workers);
  Profile profile = lattice_profile(plan, result.lattice, options, workers);
  if (plan.per_instance) add_instances(profile, plan, result.instances, options, workers);
  return profile;
}

Profile make_profile(const LossTable& table, const std::string& pairs, Workers& workers) {
  const std::size_t n = table.players.size();
  const ScanOptions options{.tie_tolerance = kTableTieTolerance, .pairs = parse_pairs(pairs, table.players)};
  Profile profile{.players = table.players};
  profile.coverage.exhaustive = table.complete();
  VerdictOptions verdict = measure(profile, table.losses);
  verdict.values_are_exact = !table.has_noise();
  ScanResult scan;
  if (table.complete()) {
    scan = scan_table(table, options, profile, workers);
  } else {
    LossMap losses;
    for (std::size_t k = 0; k < table.losses.size(); ++k)
      losses.emplace(table.coalitions[k], table.losses[k]);
    scan = scan_sparse(n, losses, options, workers);
    profile.warnings.push_back(
        {"partial_coverage", fmt::format("{} of 2^{} coalitions are in the table: U is an upper bound, Lmax, "
                                         "S and R of pairs are lower bounds",
                                         table.losses.size(), n)});
  }
  judge(scan.features, scan.pairs, verdict);
  profile.features = std::move(scan.features);
  profile.pairs = std::move(scan.pairs);
  return profile;
}

}  // namespace hifi
