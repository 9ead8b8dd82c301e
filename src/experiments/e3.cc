// Experiment E3 of the paper: attention heads as players on the indirect-object task.
//
// A model of GPT-2-small's shape gets the paper's setting: ten heads, all 1,024 coalitions, then the map
// of 26. Other models with few heads get two readings, all heads as players and layer 0 intact. Both with and
// without the scale of the final LayerNorm frozen.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/interrupt.h"
#include "core/random.h"
#include "core/shared_files.h"
#include "data/ioi_task.h"
#include "experiments/e3_results.h"
#include "game/circuit_players.h"
#include "hifi/error.h"

namespace hifi {

namespace {

constexpr std::size_t kMostPlayers = 16;  // of a small model: 65,536 coalitions

struct Setting {
  bool gpt2 = false;     // the paper's heads
  bool shipped = false;  // ours, with held-out prompts
  std::size_t prompts = 100, reference = 100;
};

std::string role_of(const Roles& roles, const std::string& head) {
  for (const auto& [role, heads] : roles) {
    if (std::find(heads.begin(), heads.end(), head) != heads.end()) return role;
  }
  return "Layer " + head.substr(0, head.find('.'));
}

E3Reading make_reading(std::string key, std::string title, std::vector<std::string> heads,
                       const Roles& roles) {
  E3Reading reading{.key = std::move(key), .title = std::move(title), .heads = std::move(heads)};
  for (const std::string& head : reading.heads) reading.roles.push_back(role_of(roles, head));
  return reading;
}

std::pair<E3Reading, E3Reading> both(const E3Reading& reading) {
  E3Reading frozen = reading;
  frozen.frozen = true;
  return {reading, frozen};
}

std::vector<std::string> heads_from_layer(const Gpt2Config& config, std::size_t first) {
  std::vector<std::string> heads;
  for (std::size_t layer = first; layer < config.layers; ++layer) {
    for (std::size_t head = 0; head < config.heads; ++head) {
      heads.push_back(head_name({static_cast<std::uint32_t>(layer), static_cast<std::uint32_t>(head)}));
    }
  }
  return heads;
}

std::vector<std::string> names(const PaperCircuit& paper) {
  std::vector<std::string> heads;
  for (const PaperHead& head : paper.heads) heads.push_back(head.head);
  return heads;
}

// One head at a time for another of its role: the first of the published circuit that is no player yet.
std::vector<std::pair<std::string, E3Reading>> replacements(const E3Reading& reading, const Roles& roles) {
  std::vector<std::pair<std::string, E3Reading>> list;
  for (const auto& [role, heads] : roles) {
    const auto other = std::find_if(heads.begin(), heads.end(), [&](const std::string& head) {
      return std::find(reading.heads.begin(), reading.heads.end(), head) == reading.heads.end();
    });
    const auto last = std::find(reading.roles.rbegin(), reading.roles.rend(), role);
    if (other == heads.end() || last == reading.roles.rend()) continue;
    E3Reading changed = reading;
    std::string& head = changed.heads[static_cast<std::size_t>(reading.roles.rend() - last) - 1];
    const std::string change = fmt::format("{} for {}", *other, head);
    head = *other;
    list.emplace_back(change, std::move(changed));
  }
  return list;
}

// As titles have it.
std::string model_name(const Gpt2& model, bool shipped) {
  const Gpt2Config& c = model.config();
  const auto folder = std::filesystem::absolute(model.folder()).lexically_normal();
  const std::string name = shipped                 ? "ioi-small"
                           : folder.has_filename() ? folder.filename().string()
                                                   : folder.parent_path().filename().string();
  return fmt::format("{}, {} layers x {} heads", name, c.layers, c.heads);
}

Setting setting_of(const Gpt2& model, const ExperimentOptions& options) {
  const Gpt2Config& config = model.config();
  Setting setting{.gpt2 = config.layers == 12 && config.heads == 12, .shipped = options.model.empty()};
  if (setting.gpt2) setting.prompts = setting.reference = 30;  // as the paper
  if (options.quick) setting.prompts = setting.reference = 20;
  if (!setting.gpt2 && config.layers * config.heads > kMostPlayers) {
    throw input_error(
        fmt::format(
            "--model {}: {} layers x {} heads; the experiment knows models of 12 x 12 (GPT-2-small) and of "
            "at most {} heads",
            options.model, config.layers, config.heads, kMostPlayers),
        "use `hifi circuit` with the heads to ask about");
  }
  return setting;
}

std::uint64_t task_seed(const ExperimentOptions& options, std::size_t repetition) {
  constexpr std::uint64_t kSeeds = 1000;  // beyond what tasks use of the stream
  return RandomStream(options.seed, Purpose::ioi_templates, kSeeds + repetition).next_u64() >> 1;
}

E3Data make_readings(const Gpt2& model, const Setting& setting, const Roles& roles,
                     const ExperimentOptions& options) {
  E3Data data{.model = model_name(model, setting.shipped)};
  if (setting.gpt2) {
    E3Reading ten =
        make_reading("ten", "the paper's ten heads", names(paper_ten_heads()), published_ioi_roles());
    ten.paper = &paper_ten_heads();
    data.readings.push_back(both(ten));
    if (!options.quick) data.replaced = replacements(ten, published_ioi_roles());
  } else {
    data.readings.push_back(
        both(make_reading("all", "all heads are players", heads_from_layer(model.config(), 0), roles)));
    if (model.config().layers > 1) {
      data.readings.push_back(
          both(make_reading("upper", "layer 0 stays intact", heads_from_layer(model.config(), 1), roles)));
    }
  }
  return data;
}

}  // namespace

ExperimentResult run_e3(const ExperimentOptions& options, Workers& workers, Progress::Listener listener) {
  const std::string folder = options.model.empty() ? shared_file("ioi-small") : options.model;
  const Gpt2 model(folder);
  const Tokenizer tokenizer(folder);
  const Setting setting = setting_of(model, options);
  E3Data data = make_readings(model, setting, ioi_roles(folder), options);

  const auto work = [](const E3Reading& reading) { return std::uint64_t{1} << reading.heads.size(); };
  std::uint64_t total = 0;
  for (const auto& [plain, frozen] : data.readings) total += 2 * work(plain) * options.seeds;
  for (const auto& [change, reading] : data.replaced) total += work(reading);
  Progress progress(total, 0, listener);
  const auto measure = [&](E3Reading& reading, const PromptTask& task) {
    check_interrupt();
    reading.seeds.push_back(measure_heads(model, task, reading.heads, reading.frozen, workers));
    progress.advance(work(reading));
  };
  std::vector<PromptTask> tasks;
  for (std::size_t s = 0; s < options.seeds; ++s) {
    const std::uint64_t seed = task_seed(options, s);
    tasks.push_back(ioi_task({setting.prompts, setting.reference, seed, setting.shipped}, tokenizer));
    check_task(tasks.back(), model.config().vocabulary, model.config().context);
    for (auto& [plain, frozen] : data.readings) {
      measure(plain, tasks.back());
      measure(frozen, tasks.back());
    }
  }
  for (auto& [change, reading] : data.replaced) measure(reading, tasks.front());
  if (setting.gpt2)
    data.map = search_map(model, setting.prompts, task_seed(options, 0), options, workers, listener);

  ExperimentResult result{.key = "e3",
                          .title = "Experiment E3: attention heads as players on the indirect-object task"};
  result.setup = {
      fmt::format("model    {}{}; weights {}", data.model, setting.shipped ? ", ships with hifi" : "",
                  model.hash()),
      fmt::format("task     {} prompts of {} tokens, ABBA and BABA, each with its exchange of names; {} ABC "
                  "prompts as "
                  "reference{}",
                  setting.prompts, tasks.front().prompts.front().tokens.size(), setting.reference,
                  setting.shipped ? "; names and templates that training never showed together" : ""),
      "ablation mean of z over the reference prompts, by position; loss = -(logit of the answer - logit of "
      "the subject)",
      fmt::format("seeds    {} of prompts from seed {}; numbers are mean ± standard deviation over them",
                  options.seeds == 1 ? "one set" : fmt::format("{} sets", options.seeds), options.seed)};
  if (options.quick)
    result.setup.push_back("QUICK    fewer prompts than the experiment: to look at, not to quote");
  result.tables.push_back(e3_overview(data));
  for (const auto& [plain, frozen] : data.readings) {
    result.tables.push_back(e3_heads(data, plain));
    result.tables.push_back(e3_heads(data, frozen));
    result.tables.push_back(e3_role_pairs(data, plain, frozen));
    result.tables.push_back(e3_pairs(data, plain, frozen));
  }
  if (setting.shipped) result.tables.push_back(e3_saturation(data, "Mover"));
  result.tables.push_back(e3_patching(data));
  result.tables.push_back(e3_stability(data, workers));
  if (data.map) {
    for (ResultTable& table : e3_map_tables(data)) result.tables.push_back(std::move(table));
  }
  result.notes = setting.gpt2 ? e3_gpt2_notes(data) : e3_small_notes(data);
  return result;
}

}  // namespace hifi
