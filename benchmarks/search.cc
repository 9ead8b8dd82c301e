// The search at large n on planted games, beside the paper's policy on the same games: a Markdown table.
//
//   search [seeds = 10] [first seed = 3000] [family]
#include "sampling/search.h"

#include <fmt/format.h>

#include <cstdlib>
#include <ctime>
#include <string>

#include "game/planted.h"
#include "planted_score.h"
#include "sampling/paper_policy.h"

namespace {

using hifi::Coalition;
using hifi::PlantedGame;
using hifi::PlantedScore;

struct Case {
  std::string family;
  std::size_t players;
  std::size_t budget;
  double noise = 0;
};

struct Figures {
  PlantedScore score;
  double active = 0;                 // players that do nothing and were called active
  double bias_U = 0, bias_Lmax = 0;  // of the selected contexts on fresh draws
  double seconds = 0;                // of the policy, without the game
};

void add(PlantedScore& sum, const PlantedScore& s) {
  sum.role_recall += s.role_recall;
  sum.role_precision += s.role_precision;
  sum.pair_recall += s.pair_recall;
  sum.pair_precision += s.pair_precision;
  sum.U_error += s.U_error;
  sum.Lmax_error += s.Lmax_error;
}

// Search on draw 0, report on draw 1.
class Trial {
 public:
  Trial(const Case& c, std::uint64_t seed) : case_(c), seed_(seed), game_(spec_of(c, seed)) {}

  Figures search() {
    Figures figures;
    const hifi::SearchOptions options{
        .players = case_.players, .budget = case_.budget, .seed = seed_, .sigma = case_.noise};
    hifi::SearchResult result;
    figures.seconds =
        policy_time([&](const auto& evaluate) { result = hifi::search_coalitions(options, evaluate); });
    if (result.coalitions.size() > case_.budget) std::abort();
    figures.score = hifi::PlantedJudge(game_, result.coalitions, result.losses).score();
    const hifi::PlantedTruth& truth = game_.truth();
    for (std::size_t i = 0; i < case_.players; ++i) {
      if (result.players[i].active && truth.U[i] == 0 && truth.Lmax[i] == 0) figures.active += 1;
    }
    report(result.selection, figures);
    return figures;
  }

  Figures paper() {
    Figures figures;
    hifi::PaperRun run;
    figures.seconds = policy_time([&](const auto& evaluate) {
      run = hifi::run_paper_policy({.players = case_.players, .seed = seed_}, case_.budget, evaluate);
    });
    figures.score = hifi::PlantedJudge(game_, run.coalitions, run.losses).score();
    return figures;
  }

 private:
  static hifi::PlantedSpec spec_of(const Case& c, std::uint64_t seed) {
    hifi::PlantedSpec spec = hifi::planted_family(c.family, c.players, seed);
    spec.noise = c.noise;
    spec.noise_seed = seed;
    return spec;
  }

  // Processor time: other programs on the machine do not count.
  double policy_time(const auto& run) {
    std::clock_t in_game = 0;
    const std::clock_t start = std::clock();
    run([&](std::span<const Coalition> wanted) {
      const std::clock_t begin = std::clock();
      std::vector<double> losses = game_.mean_losses(wanted, 0, 1, workers_);
      in_game += std::clock() - begin;
      return losses;
    });
    return static_cast<double>(std::clock() - start - in_game) / CLOCKS_PER_SEC;
  }

  void report(const hifi::Selection& selection, Figures& figures) {
    const auto count = static_cast<double>(selection.players.size());
    for (std::size_t k = 0; k < selection.gains.size(); ++k) {
      const hifi::SelectedGain& g = selection.gains[k];
      const std::vector<double> loss =
          game_.mean_losses(std::vector{g.context, g.context.with(g.player)}, 1, 1, workers_);
      const double gain = loss[0] - loss[1];
      (k % 2 == 0 ? figures.bias_U : figures.bias_Lmax) +=
          (gain - (k % 2 == 0 ? game_.truth().U : game_.truth().Lmax)[g.player]) / count;
    }
  }

  Case case_;
  std::uint64_t seed_;
  PlantedGame game_;
  hifi::Workers workers_{1};
};

Figures mean(const Case& c, std::uint64_t first, std::uint64_t seeds, auto&& run) {
  Figures sum;
  for (std::uint64_t s = first; s < first + seeds; ++s) {
    Trial trial(c, s);
    const Figures f = run(trial);
    add(sum.score, f.score);
    sum.active += f.active;
    sum.bias_U += f.bias_U;
    sum.bias_Lmax += f.bias_Lmax;
    sum.seconds += f.seconds;
  }
  const auto k = static_cast<double>(seeds);
  for (double* value :
       {&sum.score.role_recall, &sum.score.role_precision, &sum.score.pair_recall, &sum.score.pair_precision,
        &sum.score.U_error, &sum.score.Lmax_error, &sum.active, &sum.bias_U, &sum.bias_Lmax, &sum.seconds}) {
    *value /= k;
  }
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t seeds = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10;
  const std::uint64_t first = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 3000;
  const std::string only = argc > 3 ? argv[3] : "";
  const std::vector<Case> cases{{"mix", 196, 1000},       {"mix", 784, 1000},         {"masked", 784, 1000},
                                {"masked", 784, 4000},    {"random", 784, 4000},      {"link", 784, 1000},
                                {"link", 784, 4000},      {"net", 784, 1000},         {"net", 784, 4000},
                                {"tail", 784, 4000},      {"image", 196, 4000},       {"null", 784, 1000},
                                {"null", 784, 4000, .02}, {"masked", 196, 4000, .02}, {"needle6", 784, 1000},
                                {"needle8", 784, 1000},   {"needle8", 784, 4000},     {"needle10", 784, 4000},
                                {"needle10", 784, 16000}, {"needle12", 784, 16000},   {"null", 784, 16000},
                                {"net", 784, 16000},      {"masked", 784, 16000},     {"link", 784, 16000},
                                {"image", 784, 16000}};
  fmt::print(
      "| game | players | T | noise | roles: recall | precision | pairs: recall | precision | error of U | "
      "of Lmax "
      "| called active in vain | fresh bias U | Lmax | policy, s | paper: roles | pairs | error of Lmax |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  for (const Case& c : cases) {
    if (!only.empty() && !c.family.starts_with(only)) continue;
    const Figures s = mean(c, first, seeds, [](Trial& t) { return t.search(); });
    const Figures p = mean(c, first, seeds, [](Trial& t) { return t.paper(); });
    fmt::print(
        "| {} | {} | {} | {} | {:.3f} | {:.3f} | {:.3f} | {:.3f} | {:.3f} | {:.3f} | {:.1f} | {:+.3f} | "
        "{:+.3f} | {:.3f} | "
        "{:.2f} | {:.2f} | {:.2f} |\n",
        c.family, c.players, c.budget, c.noise, s.score.role_recall, s.score.role_precision,
        s.score.pair_recall, s.score.pair_precision, s.score.U_error, s.score.Lmax_error, s.active, s.bias_U,
        s.bias_Lmax, s.seconds, p.score.role_recall, p.score.pair_recall, p.score.Lmax_error);
    std::fflush(stdout);
  }
}
