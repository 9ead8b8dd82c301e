#include "game/planted.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <fstream>

#include "hifi/error.h"

namespace hifi {
namespace {

// The definitions, one context at a time.
void expect_truth(const PlantedGame& game) {
  const std::size_t n = game.players();
  const PlantedTruth& truth = game.truth();
  const auto loss = [&](std::uint64_t mask) { return game.loss(Coalition::from_mask(n, mask)); };
  const std::uint64_t all = (std::uint64_t{1} << n) - 1;
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t x = std::uint64_t{1} << i;
    double low = INFINITY, high = -INFINITY;
    for (std::uint64_t c = 0; c <= all; ++c) {
      if (c & x) continue;
      low = std::min(low, loss(c) - loss(c | x));
      high = std::max(high, loss(c) - loss(c | x));
    }
    EXPECT_NEAR(truth.U[i], low, 1e-12);
    EXPECT_NEAR(truth.Lmax[i], high, 1e-12);
    EXPECT_NEAR(truth.pi[i], loss(0) - loss(x), 1e-12);
    EXPECT_NEAR(truth.last[i], loss(all & ~x) - loss(all), 1e-12);
  }
  for (const PlantedPair& p : truth.pairs) {
    const std::uint64_t x = std::uint64_t{1} << p.first, y = std::uint64_t{1} << p.second;
    double S = 0, R = 0;
    for (std::uint64_t c = 0; c <= all; ++c) {
      if (c & (x | y)) continue;
      const double delta = loss(c | x) + loss(c | y) - loss(c | x | y) - loss(c);
      S = std::max(S, delta);
      R = std::max(R, -delta);
    }
    EXPECT_NEAR(p.S, S, 1e-12) << p.first << " " << p.second;
    EXPECT_NEAR(p.R, R, 1e-12) << p.first << " " << p.second;
  }
}

const char* const kSmall =
    R"({"format": "hifi.planted/1", "players": ["a", "b", "c", "d", "e", "f"], "base": 1.5,
  "blocks": [{"players": ["f", 0], "kind": "or", "weight": 0.5},
             {"players": [1, 2, 3], "values": [0, 0.1, -0.2, 0.3, 0, 1, -1, 0.25]}],
  "additive": [0, 0, 0, 0, 0.01, 0.02], "draws": 10, "noise": {"sigma": 0.1, "seed": 4}})";

TEST(Planted, TruthIsThatOfTheDefinitions) {
  expect_truth(PlantedGame(planted_from_json(kSmall, "small")));
  PlantedSpec image;
  image.image = PlantedImage{.weights = {3, 1, 7, 7, 2}};
  for (int i = 0; i < 10; ++i) image.names.push_back(fmt::format("p{}", i));
  expect_truth(PlantedGame(image));
  expect_truth(PlantedGame(planted_family("link", 12, 3)));
  expect_truth(PlantedGame(planted_family("image", 12, 3)));
  expect_truth(PlantedGame(planted_family("needle6", 11, 3)));
}

TEST(Planted, NamedEffectsLowerTheLoss) {
  const PlantedGame game(planted_from_json(kSmall, "small"));
  EXPECT_DOUBLE_EQ(game.loss(Coalition(6)), 1.5);
  EXPECT_DOUBLE_EQ(game.loss(Coalition::from_string("100000")), 1.0);
  EXPECT_DOUBLE_EQ(game.loss(Coalition::from_string("100011")), 1.0 - .03);
  EXPECT_DOUBLE_EQ(game.loss(Coalition::from_string("011000")), 1.5 + .3);
}

TEST(Planted, FilesComeBackAsTheyWere) {
  for (const std::string& family : planted_families()) {
    PlantedSpec spec = planted_family(family, 30, 5);
    spec.noise = .25;
    spec.noise_seed = 77;
    spec.draws = 12;
    const std::string text = planted_to_json(spec);
    const PlantedGame before(spec), after(planted_from_json(text, family));
    EXPECT_EQ(planted_to_json(after.spec()), text);
    EXPECT_EQ(before.truth().U, after.truth().U);
    const std::string path = testing::TempDir() + "planted.json";
    std::ofstream(path) << text;
    EXPECT_EQ(load_planted(path)->truth().Lmax, before.truth().Lmax);
    std::remove(path.c_str());
  }
}

TEST(Planted, TheSeedMakesTheGame) {
  EXPECT_EQ(planted_to_json(planted_family("net", 40, 9)), planted_to_json(planted_family("net", 40, 9)));
  EXPECT_NE(planted_to_json(planted_family("mix", 40, 9)), planted_to_json(planted_family("mix", 40, 10)));
}

TEST(Planted, NoiseBelongsToCoalitionAndDraw) {
  PlantedSpec spec = planted_family("mix", 100, 1);
  spec.noise = .5;
  PlantedGame game(spec);
  Workers one(1), three(3);
  std::vector<Coalition> coalitions;
  for (std::size_t i = 0; i < 100; ++i) {
    for (std::size_t j = 0; j < 40; ++j)
      coalitions.push_back(Coalition(100).with(i).with((i + j + 1) % 100).with(j));
  }
  const std::vector<double> together = game.mean_losses(coalitions, 3, 1, three);
  double sum = 0, squares = 0;
  for (std::size_t c = 0; c < coalitions.size(); ++c) {
    if (c % 97 == 0) {
      EXPECT_EQ(game.mean_losses(std::vector{coalitions[c]}, 3, 1, one)[0], together[c]);
      EXPECT_NE(game.mean_losses(std::vector{coalitions[c]}, 4, 1, one)[0], together[c]);
    }
    const double noise = together[c] - game.loss(coalitions[c]);
    sum += noise;
    squares += noise * noise;
  }
  const auto count = static_cast<double>(coalitions.size());
  EXPECT_NEAR(sum / count, 0, .05);
  EXPECT_NEAR(std::sqrt(squares / count), .5, .05);
}

TEST(Planted, ALatticeIsItsCoalitions) {
  PlantedSpec spec = planted_from_json(kSmall, "small");
  PlantedGame game(spec);
  Workers workers(2);
  const std::vector<Draw> draws{{.instance = 0}, {.instance = 7}};
  std::vector<double> lattice(128), listed(128);
  game.losses(CoalitionList::lattice(6, 0, 64), draws, lattice, workers);
  std::vector<Coalition> coalitions;
  for (std::uint64_t mask = 0; mask < 64; ++mask) coalitions.push_back(Coalition::from_mask(6, mask));
  game.losses(CoalitionList::of(6, coalitions), draws, listed, workers);
  EXPECT_EQ(lattice, listed);
}

TEST(Planted, BrokenFilesAreNamed) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"{", "not JSON"},
      {"[]", "must be an object"},
      {R"({"players": 3})", "\"format\" is missing"},
      {R"({"format": "hifi.planted/2", "players": 3})", "must be \"hifi.planted/1\""},
      {R"({"format": "hifi.planted/1"})", "\"players\" is missing"},
      {R"({"format": "hifi.planted/1", "players": 0})", "from 1 to 4096"},
      {R"({"format": "hifi.planted/1", "players": -3})", "from 1 to 4096"},
      {R"({"format": "hifi.planted/1", "players": ["a", 3]})", "names only"},
      {R"({"format": "hifi.planted/1", "players": ["a", "a"]})", "one name"},
      {R"({"format": "hifi.planted/1", "players": 3, "colour": 1})", "unknown field \"colour\""},
      {R"({"format": "hifi.planted/1", "players": 3, "base": "x"})", "must be a number"},
      {R"({"format": "hifi.planted/1", "players": 3, "base": 1e999})", "not JSON"},
      {R"({"format": "hifi.planted/1", "players": 3, "blocks": [{"players": [3], "values": [0, 1]}]})",
       "names no player: 3"},
      {R"({"format": "hifi.planted/1", "players": 3, "blocks": [{"players": ["q"], "values": [0, 1]}]})",
       "names no player"},
      {R"({"format": "hifi.planted/1", "players": 3, "blocks": [{"players": [1, 1], "values": [0, 1, 2, 3]}]})",
       "already"},
      {R"({"format": "hifi.planted/1", "players": 3, "blocks": [{"players": [0, 1], "values": [0, 1]}]})",
       "need 4 values"},
      {R"({"format": "hifi.planted/1", "players": 3, "blocks": [{"players": [], "values": [0]}]})",
       "1 to 16"},
      {R"({"format": "hifi.planted/1", "players": 3, "blocks": [{"players": [0], "kind": "nor", "weight": 1}]})",
       "one of"},
      {R"({"format": "hifi.planted/1", "players": 3, "blocks": [{"players": [0], "kind": "or"}]})",
       "\"weight\" is missing"},
      {R"({"format": "hifi.planted/1", "players": 3, "blocks": [{"players": [0, 1], "kind": "unique", "weight": 1}]})",
       "one player"},
      {R"({"format": "hifi.planted/1", "players": 3, "blocks": [{"players": [0], "kind": "or", "values": [0, 1]}]})",
       "instead"},
      {R"({"format": "hifi.planted/1", "players": 3, "additive": [1]})", "1 additive effects for 3"},
      {R"({"format": "hifi.planted/1", "players": 3, "image": {"weights": [1]}})", "2 players, not 3"},
      {R"({"format": "hifi.planted/1", "players": 2, "image": {"weights": [0]}})", "1 to 1000"},
      {R"({"format": "hifi.planted/1", "players": 2, "image": {"weights": [1]}, "additive": [0, 0]})",
       "no blocks"},
      {R"({"format": "hifi.planted/1", "players": 3, "draws": 0})", "whole number from 1"},
      {R"({"format": "hifi.planted/1", "players": 3, "noise": {"sigma": -1}})", "0 or larger"},
      {R"({"format": "hifi.planted/1", "players": 3, "noise": {}})", "\"sigma\" is missing"},
  };
  for (const auto& [text, message] : cases) {
    try {
      const PlantedGame game(planted_from_json(text, "x.json"), "x.json");
      FAIL() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::input);
      EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
      EXPECT_EQ(std::string(error.what()).find("x.json"), 0U) << error.what();
    }
  }
  EXPECT_THROW(load_planted("no/such/file.json"), Error);
}

TEST(Planted, FamiliesThatDoNotFitAreRefused) {
  EXPECT_THROW(planted_family("mix", 10, 1), Error);
  EXPECT_THROW(planted_family("image", 7, 1), Error);
  for (const char* family : {"nonsense", "needle", "needle1", "needle17", "needlex", "needle006"}) {
    EXPECT_THROW(planted_family(family, 50, 1), Error) << family;
  }
}

}  // namespace
}  // namespace hifi
