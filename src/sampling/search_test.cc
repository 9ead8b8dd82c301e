#include "sampling/search.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "game/planted.h"
#include "hifi/error.h"
#include "planted_score.h"

namespace hifi {
namespace {

// Counts what is asked, and asserts that nothing is asked twice.
class Counter {
 public:
  explicit Counter(PlantedGame& game, std::size_t threads = 1) : game_(game), workers_(threads) {}

  EvaluateCoalitions evaluate() {
    return [this](std::span<const Coalition> wanted) {
      for (const Coalition& c : wanted) EXPECT_TRUE(asked.insert(c).second);
      ++batches;
      return game_.mean_losses(wanted, 0, 1, workers_);
    };
  }

  std::set<Coalition> asked;
  std::size_t batches = 0;

 private:
  PlantedGame& game_;
  Workers workers_;
};

SearchResult search(PlantedGame& game, std::size_t budget, std::uint64_t seed, std::size_t threads = 1) {
  Counter counter(game, threads);
  const SearchOptions options{
      .players = game.players(), .budget = budget, .seed = seed, .sigma = game.spec().noise};
  SearchResult result = search_coalitions(options, counter.evaluate());
  EXPECT_LE(counter.asked.size(), budget);
  EXPECT_EQ(result.coalitions.size(), counter.asked.size());
  EXPECT_EQ(result.losses.size(), result.coalitions.size());
  EXPECT_EQ(result.players.size(), game.players());
  EXPECT_TRUE(counter.asked.contains(Coalition(game.players())));
  EXPECT_TRUE(counter.asked.contains(Coalition::full(game.players())));
  return result;
}

struct Demand {
  const char* family;
  std::size_t players, budget;
  double roles, pairs, Lmax_error;
};

TEST(Search, FindsPlantedRolesAndPairs) {
  for (const Demand& d :
       {Demand{"mix", 196, 1000, .98, .98, .02}, Demand{"mix", 784, 1000, .98, .98, .02},
        Demand{"masked", 784, 1000, .97, .75, .05}, Demand{"masked", 784, 4000, .98, .98, .02},
        Demand{"link", 784, 4000, .97, .97, .02}, Demand{"net", 784, 4000, .97, .93, .1},
        Demand{"image", 196, 4000, .97, .8, .03}}) {
    PlantedScore sum;
    for (const std::uint64_t seed : {501U, 502U}) {
      PlantedGame game(planted_family(d.family, d.players, seed));
      const SearchResult result = search(game, d.budget, seed);
      const PlantedScore score = PlantedJudge(game, result.coalitions, result.losses).score();
      sum.role_recall += score.role_recall / 2;
      sum.pair_recall += score.pair_recall / 2;
      sum.Lmax_error += score.Lmax_error / 2;
      EXPECT_GE(score.role_precision, .95) << d.family;
      EXPECT_GE(score.pair_precision, .95) << d.family;
      EXPECT_EQ(result.dense, std::string(d.family) == "image");
    }
    EXPECT_GE(sum.role_recall, d.roles) << d.family << " " << d.budget;
    EXPECT_GE(sum.pair_recall, d.pairs) << d.family << " " << d.budget;
    EXPECT_LE(sum.Lmax_error, d.Lmax_error) << d.family << " " << d.budget;
  }
}

TEST(Search, ANullGameHasNoActivePlayer) {
  for (const double noise : {0., .02}) {
    PlantedSpec spec = planted_family("null", 784, 1);
    spec.noise = noise;
    PlantedGame game(spec);
    const SearchResult result = search(game, 2000, 5);
    EXPECT_EQ(result.coalitions.size(), 2000U);
    EXPECT_TRUE(result.selection.players.empty());
    EXPECT_TRUE(result.blocks.empty());
    for (const SearchedPlayer& p : result.players) {
      EXPECT_FALSE(p.active);
      EXPECT_GT(p.quiet_tests, 100U);
      EXPECT_EQ(p.block, kNoBlock);
    }
  }
}

TEST(Search, NoiseNeitherHidesNorInvents) {
  constexpr std::uint64_t kSeeds = 5;
  double searched = 0, fresh[2] = {0, 0};  // bias of U; of U and Lmax
  for (std::uint64_t seed = 601; seed < 601 + kSeeds; ++seed) {
    PlantedSpec spec = planted_family("masked", 196, seed);
    spec.noise = .02;
    spec.noise_seed = seed;
    PlantedGame game(spec);
    const SearchResult result = search(game, 4000, seed);
    const PlantedScore score = PlantedJudge(game, result.coalitions, result.losses).score();
    EXPECT_GE(score.role_recall, .97);
    EXPECT_GE(score.pair_recall, .97);
    EXPECT_GE(score.role_precision, .95);
    EXPECT_GE(score.pair_precision, .95);
    EXPECT_EQ(result.selection.players.size(), 16U);
    // The choice makes the searched extremes too extreme; the same contexts on a fresh draw are not.
    Workers workers(1);
    for (std::size_t k = 0; k < result.selection.gains.size(); ++k) {
      const SelectedGain& g = result.selection.gains[k];
      const auto loss = game.mean_losses(std::vector{g.context, g.context.with(g.player)}, 1, 1, workers);
      const double truth = (k % 2 == 0 ? game.truth().U : game.truth().Lmax)[g.player];
      if (k % 2 == 0) searched += (g.gain - truth) / (16 * kSeeds);
      fresh[k % 2] += (loss[0] - loss[1] - truth) / (16 * kSeeds);
    }
  }
  EXPECT_LT(searched, -.05);
  EXPECT_NEAR(fresh[0], 0, .02);
  EXPECT_NEAR(fresh[1], 0, .02);
}

TEST(Search, TheSeedDecidesEverything) {
  PlantedGame game(planted_family("masked", 100, 3));
  const SearchResult a = search(game, 700, 9, 1), b = search(game, 700, 9, 3), c = search(game, 700, 10);
  EXPECT_EQ(a.coalitions, b.coalitions);
  EXPECT_EQ(a.losses, b.losses);
  EXPECT_EQ(a.selection.players, b.selection.players);
  EXPECT_NE(a.coalitions, c.coalitions);
}

TEST(Search, ASmallLatticeIsEnumerated) {
  PlantedGame game(planted_from_json(R"({"format": "hifi.planted/1", "players": 4, "base": 1,
      "blocks": [{"players": [0, 2], "kind": "and", "weight": 0.5}, {"players": [3], "kind": "unique", "weight": 1}]})",
                                     "small"));
  const SearchResult result = search(game, 16, 1);
  EXPECT_EQ(result.coalitions.size(), 16U);
  ASSERT_EQ(result.blocks.size(), 2U);
  EXPECT_EQ(result.blocks[0].players, (std::vector<std::uint32_t>{0, 2}));
  EXPECT_TRUE(result.blocks[0].enumerated_out && result.blocks[0].enumerated_in);
  EXPECT_TRUE(result.blocks[1].enumerated_out && result.blocks[1].enumerated_in);
  EXPECT_EQ(result.players[3].block, 1U);
  EXPECT_FALSE(result.players[1].active);
  EXPECT_EQ(result.players[1].contexts, 8U);
  for (const SearchedPlayer& p : result.players) EXPECT_TRUE(p.ends_seen);
}

TEST(Search, BlocksOfAMixAreFoundAndEnumerated) {
  PlantedGame game(planted_family("mix", 196, 77));
  const SearchResult result = search(game, 1000, 1);
  std::set<std::set<std::uint32_t>> planted, found;
  for (const PlantedBlock& block : game.spec().blocks)
    planted.emplace(block.players.begin(), block.players.end());
  for (const SearchedBlock& block : result.blocks) {
    found.emplace(block.players.begin(), block.players.end());
    EXPECT_TRUE(block.enumerated_out);
  }
  EXPECT_EQ(found, planted);
}

TEST(Search, AnyBudgetAndAnyNumberOfPlayers) {
  for (const std::size_t players : {1U, 2U, 3U, 11U, 63U, 64U, 65U, 4096U}) {
    for (const std::size_t budget : {2U, 3U, 17U, 100U, 1500U}) {
      for (const char* family : {"null", "mix", "image"}) {
        if ((std::string(family) == "mix" && players < 18) ||
            (std::string(family) == "image" && (players % 2 == 1 || players > 1000)))
          continue;
        PlantedGame game(planted_family(family, players, budget));
        const SearchResult result = search(game, budget, 1);
        const auto lattice =
            players < 20 ? std::size_t{1} << players : std::numeric_limits<std::size_t>::max();
        if (budget >= lattice) {
          EXPECT_EQ(result.coalitions.size(), lattice);
        }
        if (lattice > 4 * budget) {
          EXPECT_EQ(result.coalitions.size(), budget) << players << " " << family;
        }
      }
    }
  }
}

TEST(Search, TheSelectionFitsItsBudgetAndIsWhole) {
  PlantedGame game(planted_family("masked", 196, 12));
  const SearchResult result = search(game, 3000, 12);
  const std::set<Coalition> seen(result.coalitions.begin(), result.coalitions.end());
  const std::vector<Coalition> everything = selected_coalitions(196, result.selection, 100'000);
  const std::set<Coalition> chosen(everything.begin(), everything.end());
  EXPECT_EQ(chosen.size(), everything.size());
  for (const SelectedGain& g : result.selection.gains) {
    EXPECT_TRUE(chosen.contains(g.context) && chosen.contains(g.context.with(g.player)));
    EXPECT_TRUE(seen.contains(g.context) && seen.contains(g.context.with(g.player)));
    EXPECT_FALSE(g.context.contains(g.player));
  }
  for (const SelectedPair& p : result.selection.pairs) {
    EXPECT_TRUE(seen.contains(p.context.with(p.first).with(p.second)));
    EXPECT_TRUE(chosen.contains(p.context.with(p.first).with(p.second)));
    EXPECT_FALSE(p.context.contains(p.first) || p.context.contains(p.second));
  }
  EXPECT_EQ(selected_coalitions(196, result.selection, 1).size(), 0U);
  EXPECT_EQ(selected_coalitions(196, result.selection, 2).size(), 2U);
  EXPECT_LE(selected_coalitions(196, result.selection, 101).size(), 101U);
}

TEST(Search, LossesThatCannotBeAreErrors) {
  const SearchOptions options{.players = 40, .budget = 100};
  EXPECT_THROW(
      search_coalitions(options, [](auto wanted) { return std::vector<double>(wanted.size(), NAN); }), Error);
  EXPECT_THROW(search_coalitions(options, [](auto) { return std::vector<double>{1}; }), Error);
  EXPECT_THROW(search_coalitions({.players = 40, .budget = 1}, nullptr), Error);
  EXPECT_THROW(search_coalitions({.players = 0, .budget = 10}, nullptr), Error);
}

TEST(Search, RoundingOfTheModelIsNoEffect) {
  // A constant model that answers in single precision.
  const auto evaluate = [](std::span<const Coalition> wanted) {
    std::vector<double> losses;
    for (const Coalition& c : wanted) losses.push_back(.7 + 1e-7 * static_cast<double>(c.hash() % 7));
    return losses;
  };
  const SearchResult result = search_coalitions({.players = 100, .budget = 500, .rounding = 5e-5}, evaluate);
  EXPECT_TRUE(result.selection.players.empty());
}

}  // namespace
}  // namespace hifi
