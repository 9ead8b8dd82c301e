// Coalitions of heads of a GPT-2 of the small shape (random weights): answers compared, then the lattice and
// a plain forward pass per coalition timed in turns.
//
//   circuit            all below; plain passes are a sample of the coalitions
//   circuit NAME       one of templates, paper, spread, chains, search, random
//   circuit full       the paper's ten heads with every plain pass
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>

#include "core/random.h"
#include "game/circuit_game.h"
#include "sampling/search.h"
#include "timing.h"

namespace {

using namespace hifi;
namespace fs = std::filesystem;

// A folder as the hub has it, with the exact names and shapes of GPT-2 small.
void write_model(const fs::path& folder) {
  const std::size_t d = 768, layers = 12, vocabulary = 50257, context = 1024;
  const nlohmann::json config = {{"model_type", "gpt2"},
                                 {"n_layer", layers},
                                 {"n_head", 12},
                                 {"n_embd", d},
                                 {"n_positions", context},
                                 {"vocab_size", vocabulary},
                                 {"activation_function", "gelu_new"}};
  fs::create_directories(folder);
  std::ofstream(folder / "config.json") << config.dump();
  std::vector<std::pair<std::string, std::vector<std::size_t>>> tensors{{"wte.weight", {vocabulary, d}},
                                                                        {"wpe.weight", {context, d}}};
  for (std::size_t l = 0; l < layers; ++l) {
    const std::string h = fmt::format("h.{}.", l);
    tensors.insert(tensors.end(), {{h + "ln_1.weight", {d}},
                                   {h + "ln_1.bias", {d}},
                                   {h + "attn.c_attn.weight", {d, 3 * d}},
                                   {h + "attn.c_attn.bias", {3 * d}},
                                   {h + "attn.c_proj.weight", {d, d}},
                                   {h + "attn.c_proj.bias", {d}},
                                   {h + "ln_2.weight", {d}},
                                   {h + "ln_2.bias", {d}},
                                   {h + "mlp.c_fc.weight", {d, 4 * d}},
                                   {h + "mlp.c_fc.bias", {4 * d}},
                                   {h + "mlp.c_proj.weight", {4 * d, d}},
                                   {h + "mlp.c_proj.bias", {d}}});
  }
  tensors.insert(tensors.end(), {{"ln_f.weight", {d}}, {"ln_f.bias", {d}}});
  nlohmann::ordered_json header;
  std::size_t offset = 0;
  for (const auto& [name, shape] : tensors) {
    std::size_t bytes = 4;
    for (const std::size_t extent : shape) bytes *= extent;
    header[name] = {{"dtype", "F32"}, {"shape", shape}, {"data_offsets", {offset, offset + bytes}}};
    offset += bytes;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  std::ofstream file(folder / "model.safetensors", std::ios::binary);
  const std::uint64_t length = text.size();
  file.write(reinterpret_cast<const char*>(&length), 8)
      .write(text.data(), static_cast<std::streamsize>(length));
  // Uniform numbers with GPT-2's spread of .02 at the start of its training; gains are 1.
  std::uint64_t state = 88172645463325252U;
  std::vector<float> values;
  for (const auto& [name, shape] : tensors) {
    std::size_t count = 1;
    for (const std::size_t extent : shape) count *= extent;
    values.resize(count);
    const bool gain = name.find("ln_") != std::string::npos && name.ends_with("weight");
    for (float& v : values) {
      state ^= state << 13, state ^= state >> 7, state ^= state << 17;
      v = (gain ? 1.0F : 0.0F) + .0693F * (static_cast<float>(state >> 40) * 0x1p-24F - .5F);
    }
    file.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(4 * count));
  }
}

// Prompts of 16 tokens that have nothing in common, or beginnings like those of templates with two names.
PromptTask make_task(bool templates) {
  PromptTask task{.source = "benchmark"};
  RandomStream random(1, Purpose::probe);
  const auto token = [&](std::uint64_t choices) { return static_cast<Token>(random.next_u64() % choices); };
  const auto make = [&] {
    Prompt prompt{.answer = token(50257), .distractor = token(50257)};
    for (std::size_t p = 0; p < 16; ++p) prompt.tokens.push_back(token(50257));
    if (templates) {  // "When Mary and John went to the store, .."
      prompt.tokens[0] = token(2);
      prompt.tokens[1] = 100 + token(8);
      prompt.tokens[2] = 5;
      prompt.tokens[3] = 100 + token(8);
    }
    return prompt;
  };
  for (int k = 0; k < 30; ++k) task.prompts.push_back(make());
  for (int k = 0; k < 30; ++k) task.reference.push_back(make());
  return task;
}

struct Compared {
  double largest = 0;  // difference
  double root_mean_square = 0;
};

// Adds what a run takes.
void add_time(benchmarks::Time& sum, const std::function<void()>& run) {
  const benchmarks::Time time = benchmarks::best_of(1, run);
  sum.clock += time.clock;
  sum.processor += time.processor;
}

class Bench {
 public:
  Bench(const Gpt2& model, Workers& workers) : model_(model), workers_(workers) {}

  // All coalitions by the lattice between two halves of a sample of plain passes.
  void run(const char* what, const PromptTask& task, const CircuitPlayers& players,
           const std::vector<Coalition>& coalitions, std::size_t plain_passes) {
    CircuitGame fast(model_, task, players, {}, workers_);
    CircuitGame plain(model_, task, players, {.plainly = true, .share_prompts = false}, workers_);
    std::vector<Draw> draws(task.prompts.size());
    for (std::uint32_t k = 0; k < draws.size(); ++k) draws[k].instance = k;
    const std::size_t count = coalitions.size();
    std::vector<double> losses(count * draws.size());
    std::vector<Coalition> sample;
    for (std::size_t k = 0; k < plain_passes; ++k) sample.push_back(coalitions[k * count / plain_passes]);
    std::vector<double> expected(plain_passes * draws.size());
    const auto list = CoalitionList::of(players.size(), coalitions);
    benchmarks::Time plain_time{0, 0}, fast_time{0, 0};
    constexpr std::size_t kTurns = 2;
    for (std::size_t turn = 0; turn < kTurns; ++turn) {
      const std::size_t begin = plain_passes * turn / kTurns, end = plain_passes * (turn + 1) / kTurns;
      std::vector<double> part((end - begin) * draws.size());
      add_time(plain_time, [&] {
        plain.losses(CoalitionList::of(players.size(), std::span(sample).subspan(begin, end - begin)), draws,
                     part, workers_);
      });
      for (std::size_t d = 0; d < draws.size(); ++d) {
        std::copy_n(part.begin() + static_cast<std::ptrdiff_t>(d * (end - begin)), end - begin,
                    expected.begin() + static_cast<std::ptrdiff_t>(d * plain_passes + begin));
      }
      if (turn == 0) add_time(fast_time, [&] { fast.losses(list, draws, losses, workers_); });
    }
    Compared c;
    for (std::size_t d = 0; d < draws.size(); ++d) {
      for (std::size_t k = 0; k < plain_passes; ++k) {
        const double e = expected[d * plain_passes + k];
        c.largest = std::max(c.largest, std::abs(e - losses[d * count + k * count / plain_passes]));
        c.root_mean_square += e * e / static_cast<double>(expected.size());
      }
    }
    c.root_mean_square = std::sqrt(c.root_mean_square);
    const auto each = [](double sum, std::size_t runs) { return 1e3 * sum / static_cast<double>(runs); };
    const double fast_clock = each(fast_time.clock, count),
                 plain_clock = each(plain_time.clock, plain_passes);
    const double fast_cpu = each(fast_time.processor, count),
                 plain_cpu = each(plain_time.processor, plain_passes);
    fmt::print("{}: {} coalitions in {:.1f} s\n", what, count, fast_time.clock);
    fmt::print(
        "  per coalition {:.1f} ms, processor {:.1f} ms; plain pass {:.1f} ms, processor {:.1f} ms ({} of "
        "them)\n",
        fast_clock, fast_cpu, plain_clock, plain_cpu, plain_passes);
    fmt::print("  {:.2f} times faster, by processor time {:.2f} times\n", plain_clock / fast_clock,
               plain_cpu / fast_cpu);
    fmt::print("  largest difference {:.1e}, root mean square of the losses {:.2g}{}\n", c.largest,
               c.root_mean_square,
               c.largest < 1e-5 * std::max(1.0, c.root_mean_square) ? "" : ": THEY DIFFER");
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    fmt::print(
        "  memory: at most {:.2f} GB planned beside the weights; peak of the process {:.2f} GB, weights "
        "included\n",
        static_cast<double>(fast.bytes()) / 1e9, static_cast<double>(usage.ru_maxrss) / 1e6);
    std::fflush(stdout);
  }

 private:
  const Gpt2& model_;
  Workers& workers_;
};

std::vector<Coalition> lattice(std::size_t players) {
  std::vector<Coalition> result;
  for (std::uint64_t mask = 0; mask < std::uint64_t{1} << players; ++mask) {
    result.push_back(Coalition::from_mask(players, mask));
  }
  return result;
}

// Sets along random permutations and their reverses, as Shapley values are sampled.
std::vector<Coalition> chains(std::size_t players, std::size_t count) {
  std::vector<Coalition> sets{Coalition(players), Coalition::full(players)};
  RandomStream random(3, Purpose::probe);
  std::vector<std::size_t> order(players);
  std::iota(order.begin(), order.end(), 0);
  for (bool forth = true;; forth = !forth) {
    if (forth) {
      for (std::size_t k = players - 1; k > 0; --k) std::swap(order[k], order[random.next_u64() % (k + 1)]);
    } else {
      std::reverse(order.begin(), order.end());
    }
    Coalition set(players);
    for (std::size_t k = 0; k + 1 < players; ++k) {
      if (sets.size() == count) return sets;
      set.insert(order[k]);
      sets.push_back(set);
    }
  }
}

// What the search of `hifi circuit` asks for, from a first run of it on few prompts.
std::vector<Coalition> searched(const Gpt2& model, const CircuitPlayers& players, std::size_t count,
                                Workers& workers) {
  PromptTask few = make_task(false);
  few.prompts.resize(1);
  CircuitGame game(model, few, players, {}, workers);
  const std::vector<Draw> draws(1);
  std::vector<Coalition> all;
  search_coalitions({.players = players.size(), .budget = count, .seed = 0, .sigma = 0, .rounding = 5e-5},
                    [&](std::span<const Coalition> wanted) {
                      all.insert(all.end(), wanted.begin(), wanted.end());
                      std::vector<double> losses(wanted.size());
                      game.losses(CoalitionList::of(players.size(), wanted), draws, losses, workers);
                      return losses;
                    });
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string only = argc > 1 ? argv[1] : "";
  const auto wanted = [&](const char* name) { return only.empty() || only == name; };
  const fs::path folder = fs::temp_directory_path() / fmt::format("hifi_gpt2_{}", getpid());
  write_model(folder);
  {
    Workers workers;
    const Gpt2 model(folder.string());
    Bench bench(model, workers);
    const auto heads = [](const std::vector<std::string>& names) {
      return players_from_heads(names, 12, 12);
    };
    const CircuitPlayers paper =
        heads({"9.9", "9.6", "10.0", "7.3", "7.9", "8.6", "8.10", "5.5", "3.0", "4.11"});
    const CircuitPlayers spread =
        heads({"3.1", "4.2", "5.3", "6.4", "6.5", "7.6", "8.7", "9.8", "10.9", "10.10"});
    const CircuitPlayers all = heads({"all"});
    if (wanted("templates"))
      bench.run("the paper's ten heads, prompts of templates", make_task(true), paper, lattice(10), 32);
    if (wanted("paper") || only == "full") {
      bench.run("the paper's ten heads, prompts with nothing in common", make_task(false), paper, lattice(10),
                only == "full" ? 1024 : 32);
    }
    if (wanted("spread"))
      bench.run("ten heads of layers 3 to 10, prompts with nothing in common", make_task(false), spread,
                lattice(10), 32);
    if (wanted("chains")) {
      bench.run("all 144 heads, chains of random permutations and their reverses", make_task(false), all,
                chains(144, 2000), 32);
    }
    if (wanted("search")) {
      const std::vector<Coalition> sets = searched(model, all, 2000, workers);
      bench.run("all 144 heads, sets of the search", make_task(false), all, sets, 32);
    }
    if (wanted("random")) {
      std::vector<Coalition> sets(256, Coalition(144));
      RandomStream random(2, Purpose::probe);
      for (Coalition& set : sets) {
        for (std::size_t i = 0; i < 144; ++i) {
          if (random.uniform() < .5) set.insert(i);
        }
      }
      bench.run("all 144 heads, random sets", make_task(false), all, sets, 16);
    }
  }
  fs::remove_all(folder);
}
