#include "explain_options.h"

#include <fmt/format.h>

#include "hifi/error.h"
#include "report/words.h"
#include "sampling/budget.h"
#include "sampling/speed.h"

namespace hifi::app {

void ExplainOptions::add_to(CLI::App& verb) {
  ExplainRequest& r = request_;
  verb.add_option("--model", r.model,
                  "XGBoost, LightGBM or ONNX file, process:CMD, planted:FILE.json; docs/models.md lists all")
      ->required()
      ->type_name("MODEL");
  verb.add_option("--data", r.data, "The instances: CSV, Parquet or Feather")->type_name("TABLE");
  verb.add_option("--target", r.target, "The column that holds the truth")->type_name("COL");
  verb.add_option("--background", r.background,
                  "What absent columns are replaced by: a table, data (default), uniform-binary, marginals, "
                  "mean, row:K")
      ->type_name("B");
  auto* features =
      verb.add_option("--features", features_, "The players: these columns (default: all of the model)")
          ->type_name("a,b");
  verb.add_option("--groups", r.groups, R"(The players: groups of columns, {"location":["lat","lon"]})")
      ->type_name("G.json")
      ->excludes(features);
  verb.add_option("--loss", r.loss, "squared, absolute, log, brier, zero-one or prediction")
      ->check(CLI::IsMember({"squared", "absolute", "log", "brier", "zero-one", "prediction"}))
      ->type_name("LOSS");
  verb.add_option("--class", r.class_name, "The class whose output --loss prediction takes")->type_name("K");
  verb.add_option("--classes", classes_, "Labels of the truth in class order, first = 0")
      ->type_name("no,yes");
  verb.add_option("--output", r.output,
                  "Which output of a model that has several: its name, or its index from 0")
      ->type_name("NAME");
  verb.add_option("--link", r.link, "Turn outputs into probabilities: softmax or sigmoid")
      ->check(CLI::IsMember({"softmax", "sigmoid"}))
      ->type_name("LINK");
  verb.add_option("--expected", r.expected,
                  "loss: the mean loss over the background (default); prediction: the loss of the mean "
                  "prediction, as in SAGE")
      ->check(CLI::IsMember({"loss", "prediction"}))
      ->type_name("WHAT");
  verb.add_option("--cluster", r.cluster, "Rows with the same value here belong together (patient, user)")
      ->type_name("COL");
  verb.add_option("--batch", r.batch, "Rows per call of the model")
      ->check(CLI::Range(std::size_t{1}, std::size_t{100'000'000}))
      ->type_name("N");
  run_.add_to(verb, r);
  verb.add_flag(
      "!--no-fast-lattice", r.fast_lattice,
      "Send every masked row of a tree model through its trees, to prove that the shortcut is right");
  verb.add_option("--check-predictions", r.check_predictions,
                  "The owner's predictions of the data, one row each: stop if ours differ")
      ->type_name("F.csv");
}

void ExplainOptions::add_circuit_to(CLI::App& verb) {
  verb_ = &verb;
  circuit_.add_to(verb, request_);
}

ExplainRequest ExplainOptions::request() const {
  ExplainRequest request = request_;
  if (!request.task.empty()) {
    for (const char* flag :
         {"--data", "--target", "--background", "--features", "--loss", "--class", "--classes", "--output",
          "--link", "--expected", "--cluster", "--batch", "--check-predictions"}) {
      if (verb_->count(flag) > 0) {
        throw Error(ErrorCode::usage,
                    fmt::format("{} does not go with --task: a circuit has no table", flag));
      }
    }
    circuit_.complete(request);
    run_.complete(request);
    return request;
  }
  for (const char* flag : {"--prompts", "--heads", "--ablation", "--measure", "--freeze-layernorm"}) {
    if (verb_ != nullptr && verb_->count(flag) > 0)
      throw Error(ErrorCode::usage, fmt::format("{} is about circuits: it needs --task", flag));
  }
  request.features = split_list("--features", features_);
  request.classes = split_list("--classes", classes_);
  if (request.model.empty()) throw Error(ErrorCode::usage, "--model is required");
  if (request.data.empty() && !request.model.starts_with("planted:")) {
    throw Error(ErrorCode::usage, "--data is required",
                "only a planted game (--model planted:FILE.json) has none");
  }
  run_.complete(request);
  return request;
}

namespace {

std::string draws_text(std::uint64_t draws) { return draws == 1 ? "1 draw" : fmt::format("{} draws", draws); }

std::string lattice_work(const RunPlan& plan, const Forecast& f) {
  const std::uint64_t coalitions = std::uint64_t{1} << plan.players.size();
  if (plan.look > 0) {
    return fmt::format("work        {} coalitions x 32, 64, .. draws, at most {:.4g} evaluations\n",
                       coalitions, static_cast<double>(f.evaluations));
  }
  return fmt::format("work        {} coalitions x {}{} = {:.4g} evaluations{}\n", coalitions,
                     draws_text(plan.draws),
                     plan.exact ? fmt::format(" (every {}: exact)", words_of(plan.provenance).all) : "",
                     static_cast<double>(coalitions) * static_cast<double>(plan.draws),
                     plan.shards > 1 ? fmt::format("; shard {}/{} has {:.4g}", plan.shard, plan.shards,
                                                   static_cast<double>(f.evaluations))
                                     : "");
}

std::string search_work(const RunPlan& plan, const Forecast& f) {
  const SearchPlan& search = plan.search;
  std::string text = fmt::format("work        a search of at most {} of 2^{} coalitions x {}",
                                 search.coalitions, plan.players.size(), draws_text(search.draws));
  if (search.split) {
    text += fmt::format(",\n            then at most {} selected ones x {} of other rows", search.reported,
                        draws_text(plan.draws));
  }
  if (plan.shards > 1) {
    text += fmt::format(";\n            shard {}/{} repeats the search and has its share of the rest",
                        plan.shard, plan.shards);
  }
  return text + fmt::format(" = {:.4g} evaluations\n", static_cast<double>(f.evaluations));
}

std::string work_text(const RunPlan& plan, const Forecast& f) {
  if (plan.policy == "paper") {
    return fmt::format(
        "work        the paper's policy, {} evaluations: {} coalitions to start with, then diamonds, {} "
        "a visit\n",
        plan.paper.evaluations, 2 * plan.players.size() + 2, draws_text(plan.paper.range_draws));
  }
  return plan.policy == "exhaustive" ? lattice_work(plan, f) : search_work(plan, f);
}

}  // namespace

std::string plan_text(const Audit& audit) {
  const RunPlan& plan = audit.plan();
  const Forecast& f = audit.forecast();
  std::string text = audit.description();
  text += fmt::format("players     {}\n", plan.players.size());
  text += work_text(plan, f);
  text += fmt::format("memory      {}; a run file takes {}\n", human_bytes(f.memory_bytes),
                      human_bytes(f.run_file_bytes));
  if (plan.instance_blocks < std::min<std::uint64_t>(32, plan.instances) && plan.draws >= 32 &&
      plan.players.size() > 18 && plan.policy == "exhaustive") {
    text += fmt::format("blocks      {} instead of 32, to stay within --max-memory\n", plan.instance_blocks);
  }
  text += fmt::format("time        about {}, from a short probe", human_seconds(f.seconds));
  for (const std::string& note : audit.notes()) text += fmt::format("\nnote        {}", note);
  return text;
}

}  // namespace hifi::app
