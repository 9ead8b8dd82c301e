#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "audit/subject.h"
#include "core/random.h"
#include "core/version.h"
#include "data/ioi_task.h"
#include "game/circuit_game.h"
#include "hifi/error.h"

namespace hifi {

namespace {

using nlohmann::ordered_json;

constexpr double kTieTolerance = 5e-5;  // float sums of a network

PromptTask open_task(const ExplainRequest& request, const Gpt2& model) {
  std::optional<Tokenizer> tokenizer;
  if (Tokenizer::exists(request.model)) tokenizer.emplace(request.model);
  PromptTask task;
  if (request.task == "ioi") {
    if (!tokenizer) {
      throw input_error(fmt::format("--task ioi: {} has no vocab.json and merges.txt", request.model),
                        "put the tokenizer files beside the weights");
    }
    const std::size_t prompts = request.prompts.value_or(IoiRequest().prompts);
    task = ioi_task({.prompts = prompts, .reference = prompts, .seed = request.seed}, *tokenizer);
    task.roles = ioi_roles(request.model);
  } else {
    if (request.prompts) throw Error(ErrorCode::usage, "--prompts: a task file has its own prompts");
    task = read_task(request.task, tokenizer ? &*tokenizer : nullptr);
  }
  check_task(task, model.config().vocabulary, model.config().context);
  for (const auto& [role, heads] : task.roles) {
    for (const std::string& head : heads) {
      parse_head(head, model.config().layers, model.config().heads,
                 fmt::format("{}: role \"{}\"", task.source, role));
    }
  }
  return task;
}

// Without --heads and --groups the heads that have a role, and all if none has.
CircuitPlayers open_players(const ExplainRequest& request, const PromptTask& task, const Gpt2Config& config) {
  if (!request.groups.empty()) return players_from_head_groups(request.groups, config.layers, config.heads);
  if (!request.heads.empty()) return players_from_heads(request.heads, config.layers, config.heads);
  std::vector<std::string> names;
  for (const auto& [role, heads] : task.roles) names.insert(names.end(), heads.begin(), heads.end());
  if (names.empty()) names.push_back("all");
  return players_from_heads(names, config.layers, config.heads);
}

std::string ablation_text(const ExplainRequest& request, const PromptTask& task, const CircuitGame& game) {
  if (request.ablation == "zero") return "zeros";
  if (request.ablation == "resample") {
    return fmt::format("those of a reference prompt, one of {} per draw", task.reference.size());
  }
  return fmt::format("means over {} reference prompts, {}", task.reference.size(),
                     game.mean_by_position() ? "by position" : "all positions together: lengths differ");
}

struct CircuitParts {
  CircuitParts(const ExplainRequest& request, Workers& workers)
      : model(request.model),
        task(open_task(request, model)),
        players(open_players(request, task, model.config())),
        game(model, task, players,
             {.ablation = parse_ablation(request.ablation),
              .measure = parse_measure(request.measure),
              .freeze_norm = request.freeze_layernorm,
              .plainly = !request.fast_lattice,
              .max_memory = request.max_memory},
             workers) {}

  Gpt2 model;
  PromptTask task;
  CircuitPlayers players;
  CircuitGame game;
};

std::string provenance(const ExplainRequest& request, const CircuitParts& parts,
                       const std::string& ablation) {
  ordered_json heads = ordered_json::object();
  for (std::size_t i = 0; i < parts.players.size(); ++i) {
    for (const Head head : parts.players.heads[i]) heads[parts.players.names[i]].push_back(head_name(head));
  }
  ordered_json roles = ordered_json::object();
  for (const auto& [role, list] : parts.task.roles) roles[role] = list;
  const std::string hash = parts.task.hash();
  const ordered_json result = {
      {"seed", request.seed},
      {"version", version()},
      {"model",
       {{"path", request.model}, {"format", "gpt2"}, {"objective", ""}, {"hash", parts.model.hash()}}},
      {"data",
       {{"path", request.task}, {"rows", parts.task.prompts.size()}, {"hash", hash}, {"target", nullptr}}},
      {"background",
       {{"kind", request.ablation},
        {"description", ablation},
        {"rows", parts.task.reference.size()},
        {"hash", hash}}},
      {"circuit",
       {{"measure", request.measure},
        {"freeze_layernorm", request.freeze_layernorm},
        {"layers", parts.model.config().layers},
        {"heads_per_layer", parts.model.config().heads},
        {"players", heads},
        {"roles", roles}}},
      {"engine", request.fast_lattice ? "shared beginnings" : "forward passes"}};
  return result.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

// A few coalitions on a few prompts: informs the reader, never the plan.
double seconds_per_evaluation(CircuitGame& game, std::size_t prompts, Workers& workers) {
  const std::size_t draws = std::min<std::size_t>(4, prompts);
  std::vector<Draw> probe(draws);
  for (std::uint32_t k = 0; k < draws; ++k) probe[k].instance = k;
  const std::vector<Coalition> coalitions{Coalition(game.players())};
  std::vector<double> losses(draws);
  const auto start = std::chrono::steady_clock::now();
  game.losses(CoalitionList::of(game.players(), coalitions), probe, losses, workers);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  for (const double loss : losses) {
    if (!std::isfinite(loss)) throw model_error("the loss of a prompt is not finite with all heads ablated");
  }
  return took.count() / static_cast<double>(draws) * game.lattice_share();
}

}  // namespace

Subject circuit_subject(const ExplainRequest& request, Workers& workers) {
  auto parts = std::make_shared<CircuitParts>(request, workers);
  const Gpt2Config& config = parts->model.config();
  const std::string ablation = ablation_text(request, parts->task, parts->game);
  const bool resample = request.ablation == "resample";
  Subject subject{
      .game = &parts->game,
      .players = parts->players.names,
      .loss = request.measure,
      .measure = request.measure,
      .tie_tolerance = kTieTolerance,
      .instances = parts->task.prompts.size(),
      .background_rows = parts->game.background_rows(),
      .background_fixed = !resample,
      .bytes = parts->game.bytes(),
      .lattice_bytes = parts->game.lattice_bytes(),
      .use_room = [game = &parts->game](std::uint64_t room,
                                        std::size_t threads) { return game->use_room(room, threads); },
      .seconds_per_row = seconds_per_evaluation(parts->game, parts->task.prompts.size(), workers),
      .description = fmt::format(
          "model       {}, {} layers of {} heads, {:.3g} MB of weights beside the memory below\n"
          "task        {}, {} prompts, {}{}\n"
          "absent z    {}\n",
          request.model, config.layers, config.heads, static_cast<double>(parts->model.bytes()) / 1e6,
          request.task, parts->task.prompts.size(), request.measure,
          request.freeze_layernorm ? ", the scale of the final LayerNorm as in the intact run" : "",
          ablation),
      .provenance = provenance(request, *parts, ablation)};
  if (request.measure == "probability") subject.loss_range = 1;
  if (request.measure != "logit-difference") {
    subject.warnings.push_back(
        {"loss_curvature",
         fmt::format("{} is no linear function of logits: R and S include its curvature", request.measure)});
  }
  constexpr std::size_t kSmallBackground = 50;
  if (resample && parts->task.reference.size() < kSmallBackground) {
    subject.warnings.push_back(
        {"small_background", fmt::format("there are {} reference prompts: intervals from fewer than {} are "
                                         "too short",
                                         parts->task.reference.size(), kSmallBackground)});
  }
  subject.clusters = parts->task.clusters;
  subject.parts = std::move(parts);
  return subject;
}

}  // namespace hifi
