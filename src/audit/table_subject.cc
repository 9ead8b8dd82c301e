#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_map>

#include "audit/check.h"
#include "audit/loss_summary.h"
#include "audit/subject.h"
#include "core/files.h"
#include "core/hash.h"
#include "core/random.h"
#include "core/version.h"
#include "game/expected_tree_game.h"
#include "game/tree_game.h"
#include "hifi/error.h"
#include "masking/background.h"
#include "masking/off_distribution.h"

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
    if (!is_there(request.background)) {
      throw input_error(fmt::format("--background {}: there is no such file", request.background),
                        "it takes a table, data, uniform-binary, marginals, mean or row:K");
    }
    inputs.background = read_table(request.background);
    unite_dictionaries(inputs.data, *inputs.background);
  }
  if (candidate_columns(inputs.data, request).empty()) {
    throw input_error(fmt::format("{}: there is no column besides the target", request.data));
  }
  inputs.model = open_model(request.model, candidate_columns(inputs.data, request),
                            {.output = request.output,
                             .link = request.link,
                             .batch = request.batch,
                             .features = request.features.size(),
                             .max_memory = request.max_memory});
  return inputs;
}

constexpr double kTieTolerance = 5e-5;  // of whole lattices, see ModelInfo

// A model on a table, with all that its game refers to.
class TableParts {
 public:
  TableParts(const ExplainRequest& request, AuditInputs inputs) {
    take(request, std::move(inputs));
    const Probe probe = check_deterministic(*model_, *loss_, instances_);
    seconds_per_row_ = probe.seconds_per_row;
    loss_summary_ = summarise_losses(*loss_, probe.predictions, truth_, background_.is_data);
    if (!request.check_predictions.empty()) check_predictions(*model_, instances_, request.check_predictions);
    const ModelInfo& info = model_->info();
    batch_rows_ = info.splits_batches ? info.batch_rows : request.batch.value_or(info.batch_rows);
    make_game(request);
  }

  Subject subject(const ExplainRequest& request);

 private:
  void take(const ExplainRequest& request, AuditInputs inputs);
  void make_game(const ExplainRequest& request);
  void expect_game(std::unique_ptr<TreeLayout> trees, std::uint64_t limit);
  void expect_predictions(Subject& subject) const;
  void match_columns(const ExplainRequest& request, const Table& data);
  void check_values(const Frame& rows, const std::string& what) const;
  void check_background_memory(const ExplainRequest& request) const;
  std::vector<Warning> warnings() const;
  std::string provenance(const ExplainRequest& request) const;

  std::unique_ptr<Model> model_;
  InputColumns columns_;
  Players players_;
  Frame instances_;
  std::vector<double> truth_;
  std::vector<std::uint32_t> clusters_;
  Background background_;
  std::unique_ptr<Loss> loss_;
  std::unique_ptr<Game> game_;
  std::vector<std::uint32_t> averaged_;  // background rows under --expected prediction; empty: expected loss
  std::uint64_t engine_bytes_ = 0;
  std::size_t batch_rows_ = 0;
  std::string data_hash_;
  double seconds_per_row_ = 0;
  LossSummary loss_summary_;
  std::vector<std::string> notes_;
};

void TableParts::take(const ExplainRequest& request, AuditInputs inputs) {
  const Table& data = inputs.data;
  clusters_ = read_clusters(data, request.cluster);
  model_ = std::move(inputs.model);
  notes_ = model_->info().notes;
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
  check_values(instances_, fmt::format("{}: data", data.source));
  truth_ = loss_->read_truth(data, request.target);
  check_background_memory(request);
  background_ = make_background(request.background, inputs.background, instances_, columns_, players_,
                                request.exact, request.seed);
  check_values(background_.frame, fmt::format("--background {}:", request.background));
  data_hash_ = hex_hash(frame_hash(instances_, columns_) + fmt::format(" {}", hash_numbers(truth_, 0).low));
}

// The engine for whole lattices takes an eighth of the memory, unless it cannot do with so little.
void TableParts::make_game(const ExplainRequest& request) {
  auto trees = request.fast_lattice ? make_tree_layout(*model_, *loss_, players_) : nullptr;
  const std::uint64_t limit = request.max_memory / 8;
  if (request.expected == "prediction") {
    // All rows, or a sample of them that the seed chooses.
    constexpr std::size_t kAveraged = 512;
    averaged_ = RandomStream(request.seed, Purpose::background_order).permutation(background_.frame.rows);
    const bool linear = trees != nullptr && ExpectedTreeGame::linear(*trees, *loss_);
    if (!request.exact && !linear && averaged_.size() > kAveraged) averaged_.resize(kAveraged);
    std::sort(averaged_.begin(), averaged_.end());
    expect_game(std::move(trees), limit);
    return;
  }
  if (trees == nullptr) {
    game_ = std::make_unique<TableGame>(*model_, *loss_, players_, instances_, truth_, background_.frame,
                                        batch_rows_);
    return;
  }
  constexpr std::size_t kThreads = 16;  // what is planned must not depend on the machine
  engine_bytes_ = tree_room(*trees, instances_.rows, background_.frame.rows, kThreads, limit).bytes;
  game_ = std::make_unique<TreeGame>(std::move(trees), limit, *model_, *loss_, players_, instances_, truth_,
                                     background_.frame, batch_rows_);
}

void TableParts::expect_game(std::unique_ptr<TreeLayout> trees, std::uint64_t limit) {
  const ExpectedGame::Parts parts{*model_, *loss_, players_, instances_, truth_, background_.frame};
  const std::uint64_t bytes =
      trees == nullptr ? 0 : ExpectedTreeGame::bytes(*trees, *loss_, averaged_.size());
  if (trees == nullptr || bytes > 4 * limit) {
    game_ = std::make_unique<ExpectedGame>(parts, averaged_, batch_rows_);
    return;
  }
  engine_bytes_ = std::max(bytes, limit);
  game_ = std::make_unique<ExpectedTreeGame>(std::move(trees), engine_bytes_, parts, averaged_, batch_rows_);
}

void TableParts::match_columns(const ExplainRequest& request, const Table& data) {
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

void TableParts::check_values(const Frame& rows, const std::string& what) const {
  const ModelInfo& info = model_->info();
  for (std::size_t i = 0; !info.accepts.empty() && i < rows.values.size(); ++i) {
    const std::size_t c = i % rows.width;
    if (info.accepts[c].takes(rows.values[i])) continue;
    throw input_error(
        fmt::format("{} row {}, column \"{}\": {} takes {}, not {}", what, i / rows.width + 1,
                    columns_.names[c], info.path, info.accepts[c].type,
                    std::isnan(rows.values[i]) ? "a missing value" : fmt::format("{}", rows.values[i])));
  }
}

// An enumerated background has a row for every pattern of the players' columns: stated before it is made.
void TableParts::check_background_memory(const ExplainRequest& request) const {
  if (request.background != "uniform-binary" || !request.exact) return;
  std::size_t active = 0;
  for (const auto& columns : players_.columns) active += columns.size();
  const double bytes = std::ldexp(8.0 * static_cast<double>(columns_.names.size()), static_cast<int>(active));
  if (bytes <= static_cast<double>(request.max_memory)) return;
  throw input_error(
      fmt::format("--background uniform-binary has 2^{} rows under --exact: {:.3g} GB, more than "
                  "--max-memory",
                  active, bytes / 1e9),
      "use --budget, or fewer players");
}

std::vector<Warning> TableParts::warnings() const {
  std::vector<Warning> result;
  constexpr std::size_t kSmallBackground = 50;
  if (!background_.fixed && !background_.is_data && background_.frame.rows < kSmallBackground) {
    result.push_back({"small_background",
                      fmt::format("the background has {} rows: intervals from fewer than {} are too short",
                                  background_.frame.rows, kSmallBackground)});
  }
  constexpr std::size_t kFewClusters = 20;
  const std::size_t clusters =
      clusters_.empty() ? kFewClusters : 1 + *std::max_element(clusters_.begin(), clusters_.end());
  if (clusters < kFewClusters) {
    result.push_back(
        {"few_clusters", fmt::format("the rows are in {} clusters, which count as so many observations: "
                                     "intervals from fewer than {} are rough",
                                     clusters, kFewClusters)});
  }
  if (is_classification(loss_->kind())) {
    result.push_back(
        {"loss_curvature", fmt::format("under {} loss R and S include the curvature of the loss: a model "
                                       "that is additive in its logit can show both",
                                       loss_name(loss_->kind()))});
  }
  const std::string tail = heavy_tail(loss_summary_, std::string(loss_name(loss_->kind())));
  if (!tail.empty()) result.push_back({"unbounded_loss", tail});
  return result;
}

nlohmann::ordered_json model_json(const ModelInfo& info) {
  nlohmann::ordered_json model = {
      {"path", info.path}, {"format", info.format}, {"objective", info.objective}, {"hash", info.hash}};
  if (info.library.empty()) return model;
  model["library"] = info.library;
  model["precision"] = info.precision;
  model["batch_rows"] = info.run_rows;
  return model;
}

std::string TableParts::provenance(const ExplainRequest& request) const {
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
      {"model", model_json(info)},
      {"data", data},
      {"background",
       {{"kind", is_background_table(request.background) ? "table" : request.background},
        {"description", background_.description},
        {"rows", background_.frame.rows},
        {"hash", background_.hash},
        {"averaged",
         averaged_.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(averaged_.size())}}},
      {"columns", groups},
      {"loss_range", nlohmann::ordered_json::parse(loss_summary_.to_json())},
      {"engine", engine_bytes_ != 0 ? "trees" : "rows"}};
  return result.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

// A draw is an instance, with the whole background within it.
void TableParts::expect_predictions(Subject& subject) const {
  subject.expected = "prediction";
  subject.background_rows = 1;
  subject.background_is_data = false;
  subject.background_fixed = true;
  subject.background_product = false;
  subject.seconds_per_row *= static_cast<double>(averaged_.size());
  subject.description += fmt::format(
      "expected    prediction: its mean over {} background rows, then the loss\n", averaged_.size());
  subject.notes.push_back("intervals are about the instances; the background is taken as given");
  if (averaged_.size() == background_.frame.rows || loss_->kind() == LossKind::squared ||
      loss_->kind() == LossKind::prediction)
    return;
  subject.warnings.push_back(
      {"background_subset",
       fmt::format("the prediction is averaged over {} of {} background rows, and {} loss of such a "
                   "mean is biased: --exact takes all",
                   averaged_.size(), background_.frame.rows, loss_name(loss_->kind()))});
}

Subject TableParts::subject(const ExplainRequest& request) {
  Subject subject{
      .game = game_.get(),
      .players = players_.names,
      .loss = std::string(loss_name(loss_->kind())),
      .measure = loss_->kind() == LossKind::prediction ? "prediction" : "loss",
      .loss_range = loss_->range(),
      .tie_tolerance = std::max(model_->info().tie_tolerance, engine_bytes_ != 0 ? kTieTolerance : 0),
      .batch_rows = batch_rows_,
      .instances = instances_.rows,
      .background_rows = background_.frame.rows,
      .background_is_data = background_.is_data,
      .background_fixed = background_.fixed,
      .background_product = background_.product,
      .clusters = clusters_,
      .bytes = 8 * (instances_.values.size() + background_.frame.values.size()) + model_->info().bytes,
      .engine_bytes = engine_bytes_,
      .seconds_per_row = seconds_per_row_,
      .description = fmt::format("model       {}\ndata        {}, {} loss\nbackground  {}, hash {}\n",
                                 request.model, request.data, loss_name(loss_->kind()),
                                 background_.description, background_.hash.substr(0, 8)),
      .warnings = warnings(),
      .notes = notes_,
      .provenance = provenance(request),
      .off_distribution = [this, seed = request.seed] {
        return hifi::off_distribution(instances_, background_.frame, columns_, players_, seed);
      }};
  if (!averaged_.empty()) expect_predictions(subject);
  return subject;
}

}  // namespace

Subject table_subject(const ExplainRequest& request, AuditInputs inputs) {
  auto parts = std::make_shared<TableParts>(request, std::move(inputs));
  Subject subject = parts->subject(request);
  subject.parts = std::move(parts);
  return subject;
}

Subject open_subject(const ExplainRequest& request, Workers& workers) {
  if (!request.task.empty()) return circuit_subject(request, workers);
  constexpr std::string_view kPlanted = "planted:";
  if (request.model.starts_with(kPlanted)) {
    return planted_subject(request, request.model.substr(kPlanted.size()));
  }
  return table_subject(request, open_inputs(request));
}

}  // namespace hifi
