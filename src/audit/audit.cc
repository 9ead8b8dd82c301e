#include "audit/audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include "audit/band_profile.h"
#include "audit/profile.h"
#include "core/random.h"
#include "core/version.h"
#include "hifi/error.h"
#include "sampling/exhaustive.h"
#include "sampling/speed.h"

namespace hifi {

namespace {

// What counts as one observation of the population.
Population population_of(const Subject& subject, bool all_distinct, bool all_pairs) {
  if (subject.background_fixed) return Population::instances;
  if (subject.background_is_data) return Population::rows;
  return all_distinct && !all_pairs ? Population::draws : Population::both;
}

}  // namespace

Precision Precision::parse(const std::string& text) {
  Precision precision{.relative = text.ends_with('%')};
  const char* end = text.data() + text.size() - (precision.relative ? 1 : 0);
  const auto [rest, error] = std::from_chars(text.data(), end, precision.width);
  if (error != std::errc() || rest != end || !(precision.width > 0) || !std::isfinite(precision.width)) {
    throw Error(ErrorCode::usage,
                fmt::format("--precision {}: must be a positive number, or a share like 2%", text));
  }
  if (precision.relative) precision.width /= 100;
  return precision;
}

bool Precision::is_met(const Profile& profile) const {
  return profile.widest_interval < width * (relative ? std::abs(profile.full_gain) : 1);
}

Audit::Audit(const ExplainRequest& request, Shard shard, Workers& workers, const Resumed& resumed)
    : Audit(request, open_subject(request, workers), shard, workers, resumed) {}

Audit::Audit(const ExplainRequest& request, AuditInputs inputs, Shard shard, Workers& workers)
    : Audit(request, table_subject(request, std::move(inputs)), shard, workers, {}) {}

Audit::Audit(const ExplainRequest& request, Subject subject, Shard shard, Workers& workers,
             const Resumed& resumed)
    : workers_(workers), subject_(std::move(subject)) {
  describe(request);
  plan_.shard = shard.index;
  plan_.shards = shard.count;
  const DrawOptions draws{.instances = subject_.instances,
                          .background_rows = subject_.background_rows,
                          .background_is_data = subject_.background_is_data,
                          .seed = request.seed,
                          .clusters = subject_.clusters};
  if (!request.precision.empty()) precision_ = Precision::parse(request.precision);
  plan_.evaluations = resumed.evaluations ? *resumed.evaluations : evaluations(request, draws);
  const Budget budget{.players = subject_.players.size(),
                      .instances = subject_.instances,
                      .background_rows = subject_.background_rows,
                      .exact = request.exact,
                      .exhaustive = request.policy == "exhaustive",
                      .per_instance = request.per_instance,
                      .evaluations = plan_.evaluations,
                      .max_memory = request.max_memory,
                      .table_bytes = subject_.bytes,
                      .engine_bytes = std::max(subject_.engine_bytes, subject_.lattice_bytes)};
  if (request.policy == "paper") {
    plan_paper(budget, draws);
  } else if (enumerates(budget) || (request.per_instance && !request.amortise)) {
    plan_lattice(budget, draws, precision_ ? std::max<std::size_t>(1, resumed.look) : 0);
  } else {
    plan_search(budget, draws);
  }
  check_band(plan_);
  if (subject_.use_room) {
    forecast_.memory_bytes +=
        subject_.use_room(request.max_memory - forecast_.memory_bytes, workers_.threads());
  }
  if (subject_.engine_bytes != 0 && plan_.policy == "exhaustive") {
    // A forecast is not worth more than a small part of the run.
    const ProbeLimit probe{.seconds = .1, .evaluations = forecast_.evaluations / 16};
    forecast_.seconds = static_cast<double>(forecast_.evaluations) /
                        evaluations_per_second(*subject_.game, draws, true, probe, workers_);
    return;
  }
  constexpr double kOverhead = 50e-9;  // building, hashing and summing a row
  forecast_.seconds = static_cast<double>(forecast_.evaluations) * (subject_.seconds_per_row + kOverhead) /
                      static_cast<double>(workers_.threads());
}

// Whole lattices are cheap where the engine knows them; everything else goes row by row.
std::uint64_t Audit::default_budget(const ExplainRequest& request) const {
  const Budget lattice{.players = subject_.players.size(),
                       .instances = subject_.instances,
                       .background_rows = subject_.background_rows,
                       .per_instance = request.per_instance,
                       .evaluations = kWholeLatticeBudget};
  const bool whole = subject_.engine_bytes != 0 && request.policy != "paper" && enumerates(lattice);
  return whole ? kWholeLatticeBudget : kDefaultBudget;
}

std::uint64_t Audit::evaluations(const ExplainRequest& request, const DrawOptions& draws) {
  if (request.time.empty()) return request.budget.value_or(default_budget(request));
  const double seconds = parse_time(request.time);
  constexpr double kProbe = .05;  // of the time
  constexpr double kSpent = .85;  // on evaluations; the rest is for the probe, the analysis and surprises
  const double rate = evaluations_per_second(*subject_.game, draws, subject_.engine_bytes != 0,
                                             {.seconds = std::min(1.0, kProbe * seconds)}, workers_);
  const double affordable = std::min(9e18, kSpent * seconds * rate);
  return std::min(request.budget.value_or(UINT64_MAX), static_cast<std::uint64_t>(affordable));
}

void Audit::describe(const ExplainRequest& request) {
  plan_.version = version();
  plan_.players = subject_.players;
  plan_.loss = subject_.loss;
  plan_.measure = subject_.measure;
  plan_.expected = subject_.expected;
  plan_.options = request.to_json();
  plan_.seed = request.seed;
  plan_.rows = plan_.instances = subject_.instances;
  plan_.pairs =
      subject_.background_product ? 0 : std::uint64_t{subject_.instances} * subject_.background_rows;
  plan_.batch_rows = subject_.batch_rows;
  plan_.tie_tolerance = subject_.tie_tolerance;
  plan_.loss_range = subject_.loss_range;
  plan_.interval = !request.interval.empty()  ? request.interval
                   : subject_.instances >= 20 ? "population"
                                              : "montecarlo";
  plan_.confidence = request.confidence;
  plan_.warnings = subject_.warnings;
  plan_.provenance = subject_.provenance;
}

void Audit::take_blocks(DrawPlan::Weights weights) {
  plan_.instance_weights = std::move(weights.instance);
  plan_.background_weights = std::move(weights.background);
  plan_.round_weights = std::move(weights.round);
  plan_.instance_blocks = plan_.instance_weights.size();
  plan_.background_blocks = plan_.background_weights.size();
  plan_.round_blocks = plan_.round_weights.size();
}

void Audit::take_draws(const DrawOptions& draws) {
  draw_options_ = draws;
  draws_ = std::make_unique<DrawPlan>(draws);
  plan_.draws = draws.draws;
  plan_.exact = draws_->exact() && !subject_.background_product;
  take_blocks(draws_->weights());
  plan_.population = population_of(subject_, draws_->all_distinct(), draws_->exact());
}

// Draws after a look: 32, 64, .. as far as the budget goes, or all pairs; 0: there is no such look.
std::uint64_t Audit::look_draws(std::size_t look) const {
  constexpr std::uint64_t kFirstLook = 32;
  const std::uint64_t pairs = std::uint64_t{subject_.instances} * subject_.background_rows;
  const std::uint64_t draws = std::min(pairs, kFirstLook << (look - 1));
  if (draws > most_draws_ || (look > 1 && draws == look_draws(look - 1))) return 0;
  return draws;
}

void Audit::plan_lattice(const Budget& budget, DrawOptions draws, std::size_t look) {
  const DrawChoice choice = choose_draws(budget);
  plan_.policy = "exhaustive";
  plan_.per_instance = budget.per_instance;
  plan_.look = look;
  most_draws_ = choice.draws;
  draws.draws = choice.draws;
  draws.blocks = choice.blocks;
  if (look > 0) {
    draws.draws = look_draws(look);
    draws.first = look > 1 ? look_draws(look - 1) : 0;
    draws.grows = true;
  }
  take_draws(draws);
  if (plan_.shards > plan_.instance_blocks) {
    throw input_error(fmt::format("--shard {}/{}: the run has {} instance blocks, so at most as many shards",
                                  plan_.shard, plan_.shards, plan_.instance_blocks));
  }
  const std::uint64_t coalitions = std::uint64_t{1} << budget.players;
  forecast_ = {.memory_bytes = choice.memory_bytes,
               .run_file_bytes = plan_.shards == 1 ? choice.run_file_bytes : 0};
  if (look > 0) forecast_.evaluations = most_draws_ * coalitions;
  for (std::size_t b = plan_.begin_block(); look == 0 && b < plan_.end_block(); ++b) {
    forecast_.evaluations += draws_->block_draws(b) * coalitions;
    if (plan_.shards > 1) {
      forecast_.run_file_bytes += 8 * coalitions * (plan_.background_blocks + plan_.round_blocks + 1);
    }
  }
}

// Makes room for twice the draws. False: the budget is spent.
bool Audit::next_look(LatticeState& state) {
  DrawOptions draws = draw_options_;
  draws.first = draws.draws;
  draws.draws = look_draws(plan_.look + 1);
  if (draws.draws == 0) return false;
  ++plan_.look;
  take_draws(draws);
  if (plan_.round_blocks == 0) {
    state.lattice.sums.round.clear();
    state.tile.round.clear();
  } else {
    state.lattice.fold_rounds();
  }
  state.lattice.draws = plan_.draws;
  state.block = 0;
  state.draws_done = 0;
  return true;
}

void Audit::plan_search(const Budget& budget, DrawOptions draws) {
  const auto parts = split_rows(draws, subject_.background_fixed);
  const SearchPairs pairs{.search = parts[0].pairs(), .report = parts[1].pairs(), .split = is_split(parts)};
  Budget share = budget;
  if (budget.per_instance) share.evaluations /= 2;
  SearchChoice choice = choose_search(share, pairs);
  plan_.policy = "search";
  plan_.per_instance = budget.per_instance;
  if (budget.per_instance) {
    instance_draws_ = draws;
    instance_draws_.background_is_data = false;
    instance_draws_.draws = choose_amortised(budget, choice);
    const CellDraws first = instance_draws(0);
    choice.search.instance_exact = first.all_pairs && !subject_.background_product;
    choice.search.instance_weights = first.round_blocks > 0 ? first.weights.round : first.weights.background;
    plan_.warnings.push_back({"amortised",
                              "the contexts of single instances are those selected for their mean: an "
                              "extreme of one may lie elsewhere, so "
                              "its U may be lower and its Lmax, S and R higher than written"});
  }
  plan_.search = choice.search;
  plan_.draws = choice.draws;
  draws.draws = choice.search.draws;
  cell_draws_[0] = make_cell_draws(draws, parts[0]);
  draws.draws = choice.draws;
  cell_draws_[1] = make_cell_draws(draws, parts[1]);
  const CellDraws& report = cell_draws_[1];
  plan_.search.sigma = subject_.game->coalition_noise() / std::sqrt(static_cast<double>(choice.search.draws));
  plan_.exact = report.all_pairs && !pairs.split && !subject_.background_product;
  plan_.instances = parts[1].instances.size();
  take_blocks(report.weights);
  plan_.population = population_of(subject_, report.all_distinct, report.all_pairs);
  if (plan_.shards > 1 && !pairs.split) {
    throw input_error("--shard: so few rows are searched and reported at once, which cannot be divided");
  }
  forecast_ = {.evaluations = (plan_.per_instance ? budget.evaluations / 2 : 0) +
                              plan_.search.coalitions * plan_.search.draws +
                              plan_.search.reported * plan_.draws / plan_.shards,
               .memory_bytes = choice.memory_bytes,
               .run_file_bytes = choice.run_file_bytes};
}

void Audit::plan_paper(const Budget& budget, DrawOptions draws) {
  plan_.policy = "paper";
  plan_.paper = choose_paper(budget);
  if (precision_ && !precision_->relative) plan_.paper.width = precision_->width;
  plan_.draws = draws.draws = plan_.paper.range_draws;
  draws_ = std::make_unique<DrawPlan>(draws);
  take_blocks({.instance = {plan_.draws}, .background = {plan_.draws}, .round = {}});
  plan_.exact = plan_.paper.range_draws == plan_.pairs;
  plan_.population = Population::draws;
  if (plan_.interval == "population") {
    plan_.interval = "montecarlo";
    subject_.notes.push_back("the paper's policy has Monte Carlo intervals only");
  }
  forecast_ = {.evaluations = plan_.paper.evaluations,
               .memory_bytes = paper_bytes(budget, plan_.paper),
               .run_file_bytes = plan_.paper.evaluations / plan_.paper.range_draws *
                                 (100 + 8 * plan_.paper.slices + budget.players)};
}

CellDraws Audit::instance_draws(std::uint32_t row) const {
  RowPart part{.instances = {row}, .background = std::vector<std::uint32_t>(subject_.background_rows)};
  std::iota(part.background.begin(), part.background.end(), 0);
  DrawOptions options = instance_draws_;
  options.clusters.clear();
  // Another order of the background for each: a subset of it should not be the same for all.
  options.seed = RandomStream(options.seed, Purpose::offsets, row).next_u64();
  return make_cell_draws(options, part);
}

RunResult Audit::run(RunFile* file, Progress::Listener listener) {
  if (plan_.policy == "exhaustive" && plan_.per_instance) {
    Progress progress(forecast_.evaluations, 0, std::move(listener));
    PerInstance run = run_per_instance(*subject_.game, *draws_, plan_, file, workers_, progress);
    return {.lattice = std::move(run.lattice), .instances = std::move(run.instances)};
  }
  if (plan_.policy == "exhaustive") return run_lattice(file, std::move(listener));
  Progress progress(forecast_.evaluations, 0, std::move(listener));
  if (plan_.policy == "paper") {
    return {.paper = run_paper(*subject_.game, *draws_, plan_, file, workers_, progress)};
  }
  RunResult result{.searched = run_searched(*subject_.game, cell_draws_, plan_, file, workers_, progress)};
  if (plan_.per_instance) {
    result.instances = run_amortised(
        *subject_.game, result.searched->coalitions, [&](std::uint32_t row) { return instance_draws(row); },
        plan_, file, workers_, progress);
    if (file != nullptr) file->commit([&] { file->put_text("position", kDone); });
  }
  return result;
}

void Audit::rest() {
  if (subject_.use_room) subject_.use_room(0, 1);
}

RunResult Audit::run_lattice(RunFile* file, Progress::Listener listener) {
  std::optional<LatticeStore> store;
  if (file != nullptr) store.emplace(*file, plan_);
  LatticeState state = store ? store->load() : LatticeState::start(plan_);
  if (state.block < plan_.end_block() && state.draws_done > draws_->block_draws(state.block)) {
    throw input_error(fmt::format("{}: the position in the run file is out of range", file->path()));
  }
  std::uint64_t done = draw_options_.first + state.draws_done;
  for (std::size_t b = plan_.begin_block(); b < state.block; ++b) done += draws_->block_draws(b);
  Progress progress(forecast_.evaluations, done << plan_.players.size(), std::move(listener));
  for (;;) {
    run_exhaustive(*subject_.game, *draws_, plan_, state, store ? &*store : nullptr, workers_, progress);
    if (plan_.look == 0) break;
    RunResult seen{.lattice = std::move(state.lattice)};
    const bool enough = precision_->is_met(make_profile(plan_, seen, "none", workers_));
    state.lattice = std::move(seen.lattice);
    if (enough || !next_look(state)) break;
    if (store) store->start_look(state);
  }
  if (store && plan_.look > 0) store->finish_looks();
  return {.lattice = std::move(state.lattice)};
}

}  // namespace hifi
