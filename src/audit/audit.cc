#include "audit/audit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_map>

#include "audit/check.h"
#include "core/hash.h"
#include "core/version.h"
#include "hifi/error.h"
#include "sampling/budget.h"
#include "sampling/exhaustive.h"

namespace hifi {

namespace {

// Texts of the background that the data does not have, so that one code book serves both.
void unite_dictionaries(Table& data, const Table& background) {
  for (Column& column : data.columns) {
    const Column* other = background.find(column.name);
    if (other == nullptr || column.type != ColumnType::text) continue;
    for (const std::string& text : other->dictionary) {
      if (std::find(column.dictionary.begin(), column.dictionary.end(), text) == column.dictionary.end()) {
        column.dictionary.push_back(text);
      }
    }
  }
}

// The columns that may go to the model: all but truth and cluster.
std::vector<Column> candidate_columns(const Table& data, const ExplainRequest& request) {
  std::vector<Column> result;
  for (const Column& column : data.columns) {
    if (column.name != request.target && column.name != request.cluster) result.push_back(column);
  }
  return result;
}

std::vector<std::uint32_t> read_clusters(const Table& data, const std::string& name) {
  if (name.empty()) return {};
  const Column& column = data.require(name);
  std::vector<std::uint32_t> clusters;
  std::unordered_map<double, std::uint32_t> numbers;
  for (std::size_t row = 0; row < data.rows; ++row) {
    const double value = column.values[row];
    if (std::isnan(value)) {
      throw input_error(fmt::format("{}: column \"{}\", {}: the cluster is missing", data.source, name,
                                    data.row_name(row)));
    }
    clusters.push_back(numbers.emplace(value, static_cast<std::uint32_t>(numbers.size())).first->second);
  }
  return clusters;
}

Link parse_link(const std::string& name) {
  if (name == "softmax") return Link::softmax;
  return name == "sigmoid" ? Link::sigmoid : Link::none;
}

AuditInputs open_inputs(const ExplainRequest& request) {
  AuditInputs inputs{.data = read_table(request.data)};
  if (inputs.data.rows == 0) throw input_error(fmt::format("{}: the table has no rows", request.data));
  if (!request.target.empty()) inputs.data.require(request.target);
  if (is_background_table(request.background)) {
    if (!std::filesystem::exists(request.background)) {
      throw input_error(fmt::format("--background {}: there is no such file", request.background),
                        "it takes a table, data, uniform-binary, marginals, mean or row:K");
    }
    inputs.background = read_table(request.background);
    unite_dictionaries(inputs.data, *inputs.background);
  }
  if (candidate_columns(inputs.data, request).empty()) {
    throw input_error(fmt::format("{}: there is no column besides the target", request.data));
  }
  inputs.model = open_model(request.model, candidate_columns(inputs.data, request));
  return inputs;
}

}  // namespace

Audit::Audit(const ExplainRequest& request, Shard shard, Workers& workers)
    : Audit(request, open_inputs(request), shard, workers) {}

Audit::Audit(const ExplainRequest& request, AuditInputs inputs, Shard shard, Workers& workers)
    : workers_(workers) {
  take(request, std::move(inputs));
  probe(request);
  make_plan(request, shard);
}

void Audit::take(const ExplainRequest& request, AuditInputs inputs) {
  const Table& data = inputs.data;
  clusters_ = read_clusters(data, request.cluster);
  model_ = std::move(inputs.model);
  match_columns(request, data);
  players_ = !request.groups.empty()
                 ? players_from_groups(request.groups, columns_.names)
                 : players_from_columns(request.features.empty() ? columns_.names : request.features,
                                        columns_.names);
  LossOptions loss{
      .link = parse_link(request.link), .target_class = request.class_name, .classes = request.classes};
  if (!request.loss.empty()) loss.kind = parse_loss(request.loss);
  loss_ = std::make_unique<Loss>(loss, model_->info());
  if (loss_->kind() != LossKind::prediction && !request.class_name.empty()) {
    notes_.push_back("--class is ignored: only --loss prediction looks at one class");
  }
  if (loss_->kind() != LossKind::prediction && request.target.empty()) {
    throw Error(ErrorCode::usage, fmt::format("{} loss needs the truth", loss_name(loss_->kind())),
                "name its column with --target, or use --loss prediction");
  }
  instances_ = make_frame(data, columns_);
  truth_ = loss_->read_truth(data, request.target);
  background_ = make_background(request.background, inputs.background, instances_, columns_, players_,
                                request.exact, request.seed);
  data_hash_ = hex_hash(frame_hash(instances_, columns_) + fmt::format(" {}", hash_numbers(truth_, 0).low));
}

void Audit::match_columns(const ExplainRequest& request, const Table& data) {
  const ModelInfo& info = model_->info();
  std::vector<std::string> offered;
  for (const Column& column : candidate_columns(data, request)) offered.push_back(column.name);
  columns_.categories = info.categories;
  columns_.categories.resize(info.width);
  if (!info.columns.empty()) {
    for (const std::string& name : info.columns) {
      if (data.find(name) == nullptr) {
        throw input_error(
            fmt::format("{}: has no column \"{}\", which {} expects", data.source, name, info.path),
            fmt::format("the model's columns are {}", fmt::join(info.columns, ", ")));
      }
    }
    if (std::find(info.columns.begin(), info.columns.end(), request.target) != info.columns.end()) {
      throw input_error(fmt::format("--target {}: is a column that {} reads", request.target, info.path),
                        "the truth must be another column");
    }
    columns_.names = info.columns;
    std::vector<std::string> surplus;
    for (const std::string& name : offered) {
      if (std::find(info.columns.begin(), info.columns.end(), name) == info.columns.end())
        surplus.push_back(name);
    }
    if (!surplus.empty())
      notes_.push_back(
          fmt::format("columns that the model does not use are ignored: {}", fmt::join(surplus, ", ")));
    return;
  }
  if (offered.size() == info.width) {
    columns_.names = offered;
  } else if (request.features.size() == info.width) {
    columns_.names = request.features;
    for (const std::string& name : columns_.names) data.require(name);
  } else {
    throw input_error(
        fmt::format("{}: has {} columns besides the target, {} expects {} and has no column names",
                    data.source, offered.size(), info.path, info.width),
        fmt::format("name the {} columns in the model's order with --features", info.width));
  }
  notes_.push_back(fmt::format("the model has no column names: columns are matched by order, {}",
                               fmt::join(columns_.names, ", ")));
}

void Audit::probe(const ExplainRequest& request) {
  seconds_per_row_ = check_deterministic(*model_, *loss_, instances_);
  if (!request.check_predictions.empty()) check_predictions(*model_, instances_, request.check_predictions);
}

void Audit::make_plan(const ExplainRequest& request, Shard shard) {
  const ModelInfo& info = model_->info();
  const DrawChoice choice =
      choose_draws({.players = players_.size(),
                    .instances = instances_.rows,
                    .background_rows = background_.frame.rows,
                    .exact = request.exact,
                    .evaluations = request.budget.value_or(kDefaultBudget),
                    .max_memory = request.max_memory,
                    .table_bytes = 8 * (instances_.values.size() + background_.frame.values.size())});
  draws_ = std::make_unique<DrawPlan>(DrawOptions{.instances = instances_.rows,
                                                  .background_rows = background_.frame.rows,
                                                  .background_is_data = background_.is_data,
                                                  .seed = request.seed,
                                                  .draws = choice.draws,
                                                  .blocks = choice.blocks,
                                                  .clusters = clusters_});
  plan_.version = version();
  plan_.players = players_.names;
  plan_.loss = loss_name(loss_->kind());
  plan_.measure = loss_->kind() == LossKind::prediction ? "prediction" : "loss";
  plan_.options = request.to_json();
  plan_.draws = choice.draws;
  plan_.exact = draws_->exact() && !background_.product;
  plan_.instance_blocks = draws_->instance_blocks();
  plan_.background_blocks = draws_->background_blocks();
  plan_.round_blocks = draws_->round_blocks();
  DrawPlan::Weights weights = draws_->weights();
  plan_.instance_weights = std::move(weights.instance);
  plan_.background_weights = std::move(weights.background);
  plan_.round_weights = std::move(weights.round);
  plan_.instances = instances_.rows;
  plan_.pairs = background_.product ? 0 : std::uint64_t{instances_.rows} * background_.frame.rows;
  plan_.population = background_.fixed                            ? Population::instances
                     : background_.is_data                        ? Population::rows
                     : draws_->all_distinct() && !draws_->exact() ? Population::draws
                                                                  : Population::both;
  plan_.batch_rows = request.batch.value_or(info.batch_rows);
  plan_.tie_tolerance = info.tie_tolerance;
  plan_.loss_range = loss_->range();
  plan_.interval = !request.interval.empty() ? request.interval
                   : instances_.rows >= 20   ? "population"
                                             : "montecarlo";
  plan_.confidence = request.confidence;
  add_warnings();
  plan_.warnings = warnings_;
  plan_.provenance = provenance(request);
  plan_.shard = shard.index;
  plan_.shards = shard.count;
  if (shard.count > plan_.instance_blocks) {
    throw input_error(fmt::format("--shard {}/{}: the run has {} instance blocks, so at most as many shards",
                                  shard.index, shard.count, plan_.instance_blocks));
  }
  game_ = std::make_unique<TableGame>(*model_, *loss_, players_, instances_, truth_, background_.frame,
                                      plan_.batch_rows);

  forecast_ = {.coalitions = std::uint64_t{1} << players_.size(),
               .draws = choice.draws,
               .memory_bytes = choice.memory_bytes,
               .run_file_bytes = shard.count == 1 ? choice.run_file_bytes : 0};
  for (std::size_t b = plan_.begin_block(); b < plan_.end_block(); ++b) {
    forecast_.evaluations += draws_->block_draws(b) * forecast_.coalitions;
    if (shard.count > 1) {
      forecast_.run_file_bytes +=
          8 * forecast_.coalitions * (plan_.background_blocks + plan_.round_blocks + 1);
    }
  }
  constexpr double kOverhead = 50e-9;  // building, hashing and summing a row
  forecast_.seconds = static_cast<double>(forecast_.evaluations) * (seconds_per_row_ + kOverhead) /
                      static_cast<double>(workers_.threads());
}

void Audit::add_warnings() {
  constexpr std::size_t kSmallBackground = 50;
  if (!background_.fixed && !background_.is_data && background_.frame.rows < kSmallBackground) {
    warnings_.push_back({"small_background",
                         fmt::format("the background has {} rows: intervals from fewer than {} are too short",
                                     background_.frame.rows, kSmallBackground)});
  }
  if (is_classification(loss_->kind())) {
    warnings_.push_back(
        {"loss_curvature", fmt::format("under {} loss R and S include the curvature of the loss: a model "
                                       "that is additive in its logit can show both",
                                       loss_name(loss_->kind()))});
  }
}

std::string Audit::provenance(const ExplainRequest& request) const {
  const ModelInfo& info = model_->info();
  nlohmann::ordered_json groups = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i < players_.size(); ++i) {
    for (const std::uint32_t c : players_.columns[i]) groups[players_.names[i]].push_back(columns_.names[c]);
  }
  nlohmann::ordered_json data = {{"path", request.data}, {"rows", instances_.rows}, {"hash", data_hash_}};
  data["target"] =
      request.target.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(request.target);
  const nlohmann::ordered_json result = {
      {"seed", request.seed},
      {"version", version()},
      {"model",
       {{"path", info.path}, {"format", info.format}, {"objective", info.objective}, {"hash", info.hash}}},
      {"data", data},
      {"background",
       {{"kind", is_background_table(request.background) ? "table" : request.background},
        {"description", background_.description},
        {"rows", background_.frame.rows},
        {"hash", background_.hash}}},
      {"columns", groups}};
  return result.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

LatticeState Audit::run(RunFile* file, Progress::Listener listener) {
  std::optional<LatticeStore> store;
  if (file != nullptr) store.emplace(*file, plan_);
  LatticeState state = store ? store->load() : LatticeState::start(plan_);
  if (state.block < plan_.end_block() && state.draws_done > draws_->block_draws(state.block)) {
    throw input_error(fmt::format("{}: the position in the run file is out of range", file->path()));
  }
  std::uint64_t done = state.draws_done;
  for (std::size_t b = plan_.begin_block(); b < state.block; ++b) done += draws_->block_draws(b);
  Progress progress(forecast_.evaluations, done * forecast_.coalitions, std::move(listener));
  run_exhaustive(*game_, *draws_, plan_, state, store ? &*store : nullptr, workers_, progress);
  return state;
}

}  // namespace hifi
