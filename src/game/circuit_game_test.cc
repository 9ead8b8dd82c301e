#include "game/circuit_game.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "model/test_gpt2.h"

namespace hifi {
namespace {

PromptTask random_task(const TestGpt2& test, std::size_t prompts, std::size_t reference,
                       bool aligned = true) {
  RandomStream random(7, Purpose::probe);
  PromptTask task{.source = "test"};
  const auto token = [&] { return static_cast<Token>(random.next_u64() % test.vocabulary); };
  const auto make = [&](std::size_t k) {
    Prompt prompt{.answer = token(), .distractor = token()};
    const std::size_t length = aligned ? 8 : 5 + k % 4;
    // Beginnings repeat: rows are shared.
    for (std::size_t p = 0; p < length; ++p)
      prompt.tokens.push_back(p < 3 ? static_cast<Token>(k % 2) : token());
    return prompt;
  };
  for (std::size_t k = 0; k < prompts; ++k) task.prompts.push_back(make(k));
  for (std::size_t k = 0; k < reference; ++k) task.reference.push_back(make(k + 1));
  return task;
}

// z of a head at a position on a prompt's intact run.
using Memory = std::map<std::tuple<std::size_t, std::size_t, std::size_t>, std::vector<double>>;
Memory intact_heads(const TestGpt2& test, const Prompt& prompt) {
  Memory memory;
  test.logits(prompt.tokens, [&](std::size_t l, std::size_t h, std::size_t p, std::vector<double>& z) {
    memory[{l, h, p}] = z;
  });
  return memory;
}

// The loss by the definition, in double.
class Oracle {
 public:
  Oracle(const TestGpt2& test, const PromptTask& task, const CircuitOptions& options)
      : test_(test), task_(task), options_(options) {
    std::map<std::tuple<std::size_t, std::size_t, std::size_t>, double> weight;
    const bool aligned = task.aligned();
    for (const Prompt& prompt : task.reference) {
      sources_.push_back(intact_heads(test, prompt));
      for (const auto& [key, z] : sources_.back()) {
        auto place = key;
        if (!aligned) std::get<2>(place) = 0;
        auto& sum = mean_[place];
        sum.resize(z.size());
        for (std::size_t k = 0; k < z.size(); ++k) sum[k] += z[k];
        weight[place] += 1;
      }
    }
    for (auto& [key, z] : mean_) {
      for (double& v : z) v /= weight[key];
    }
  }

  double loss(const CircuitPlayers& players, const Coalition& coalition, const Draw& draw) const {
    const Prompt& prompt = task_.prompts[draw.instance];
    const auto change = [&](std::size_t l, std::size_t h, std::size_t p, std::vector<double>& z) {
      for (std::size_t i = 0; i < players.size(); ++i) {
        for (const Head head : players.heads[i]) {
          if (head.layer != l || head.head != h || coalition.contains(i)) continue;
          if (options_.ablation == Ablation::zero) std::fill(z.begin(), z.end(), 0.0);
          if (options_.ablation == Ablation::mean) z = mean_.at({l, h, task_.aligned() ? p : 0});
          if (options_.ablation == Ablation::resample) z = sources_[draw.background].at({l, h, p});
        }
      }
    };
    double scale = 0;
    const auto intact = test_.logits(prompt.tokens, {}, &scale);
    const auto logits = test_.logits(prompt.tokens, change, options_.freeze_norm ? &scale : nullptr, true);
    const auto log_probability = [](const std::vector<double>& x, std::size_t v) {
      double sum = 0;
      for (const double value : x) sum += std::exp(value);
      return x[v] - std::log(sum);
    };
    const auto answer = static_cast<std::size_t>(prompt.answer);
    switch (options_.measure) {
      case Measure::logit_difference:
        return logits[static_cast<std::size_t>(prompt.distractor)] - logits[answer];
      case Measure::log_probability:
        return -log_probability(logits, answer);
      case Measure::probability:
        return -std::exp(log_probability(logits, answer));
      case Measure::kl:
        break;
    }
    double kl = 0;
    for (std::size_t v = 0; v < logits.size(); ++v) {
      kl += std::exp(log_probability(intact, v)) * (log_probability(intact, v) - log_probability(logits, v));
    }
    return kl;
  }

 private:
  const TestGpt2& test_;
  const PromptTask& task_;
  CircuitOptions options_;
  std::vector<Memory> sources_;
  Memory mean_;
};

std::vector<Draw> all_draws(const PromptTask& task, std::size_t sources) {
  std::vector<Draw> draws;
  for (std::uint32_t i = 0; i < task.prompts.size(); ++i) {
    for (std::uint32_t s = 0; s < sources; ++s) draws.push_back({.instance = i, .background = s});
  }
  return draws;
}

class CircuitGameTest : public ::testing::Test {
 protected:
  explicit CircuitGameTest(TestGpt2 test = TestGpt2{.layers = 4, .heads = 3}.fill())
      : test_(std::move(test)) {
    test_.write(folder_);
    model_ = std::make_unique<Gpt2>(folder_.path());
  }

  std::vector<double> losses(const PromptTask& task, const CircuitPlayers& players,
                             const CircuitOptions& options, std::span<const Coalition> coalitions,
                             std::span<const Draw> draws) {
    CircuitGame game(*model_, task, players, options, workers_);
    std::vector<double> out(coalitions.size() * draws.size());
    game.losses(CoalitionList::of(players.size(), coalitions), draws, out, workers_);
    return out;
  }

  void expect_oracle(const PromptTask& task, const CircuitPlayers& players, const CircuitOptions& options,
                     std::size_t sources = 1) {
    std::vector<Coalition> coalitions;
    for (std::uint64_t mask = 0; mask < std::uint64_t{1} << players.size(); ++mask) {
      coalitions.push_back(Coalition::from_mask(players.size(), mask));
    }
    const auto draws = all_draws(task, sources);
    const auto found = losses(task, players, options, coalitions, draws);
    const Oracle oracle(test_, task, options);
    for (std::size_t d = 0; d < draws.size(); ++d) {
      for (std::size_t c = 0; c < coalitions.size(); ++c) {
        EXPECT_NEAR(found[d * coalitions.size() + c], oracle.loss(players, coalitions[c], draws[d]), 3e-5)
            << "coalition " << coalitions[c].to_string() << " draw " << d;
      }
    }
  }

  // Bit for bit, for some of the coalitions and draws.
  void expect_alone_as_together(const PromptTask& task, const CircuitPlayers& players,
                                const CircuitOptions& options, std::span<const Coalition> coalitions,
                                std::span<const Draw> draws) {
    const auto together = losses(task, players, options, coalitions, draws);
    CircuitGame game(*model_, task, players, options, workers_);
    for (std::size_t d = 0; d < draws.size(); d += 4) {
      for (std::size_t c = 0; c < coalitions.size(); c += 3) {
        double alone = 0;
        game.losses(CoalitionList::of(players.size(), coalitions.subspan(c, 1)), draws.subspan(d, 1),
                    {&alone, 1}, workers_);
        EXPECT_EQ(alone, together[d * coalitions.size() + c]) << d << " " << c;
      }
    }
  }

  CircuitPlayers heads(const std::vector<std::string>& names) const {
    return players_from_heads(names, test_.layers, test_.heads);
  }

  TestGpt2 test_;
  TemporaryFolder folder_;
  std::unique_ptr<Gpt2> model_;
  Workers workers_{2};
};

TEST_F(CircuitGameTest, EveryMeasureAndAblationIsTheDefinition) {
  const PromptTask task = random_task(test_, 3, 3);
  for (const Measure measure :
       {Measure::logit_difference, Measure::log_probability, Measure::probability, Measure::kl}) {
    expect_oracle(task, heads({"1.0", "2.1"}), {.measure = measure});
  }
  expect_oracle(task, heads({"1.0", "2.1"}), {.ablation = Ablation::zero});
  expect_oracle(task, heads({"1.0", "2.1", "2.2"}), {.ablation = Ablation::resample}, 3);
  expect_oracle(task, heads({"0.0", "3.2"}), {.freeze_norm = true});
  expect_oracle(random_task(test_, 4, 3, false), heads({"1.0", "2.1"}), {});  // pooled positions
}

TEST_F(CircuitGameTest, EverySetOfHeadsIsTheDefinition) {
  const PromptTask task = random_task(test_, 2, 2);
  expect_oracle(task, heads({"0.0", "0.1", "0.2"}), {});         // the first layer, all of it
  expect_oracle(task, heads({"3.0", "3.1", "3.2"}), {});         // the last layer
  expect_oracle(task, heads({"2.2", "0.1", "3.0", "2.0"}), {});  // in no order, two in one layer
  expect_oracle(task, heads({"1.0", "1.1", "1.2", "2.0"}), {});  // a whole layer in the middle
  const CircuitPlayers groups{.names = {"a", "b", "c"},
                              .heads = {{{0, 0}, {2, 1}}, {{1, 2}, {3, 0}, {3, 1}}, {{2, 0}}}};
  expect_oracle(task, groups, {});
  expect_oracle(task, groups, {.plainly = true});
}

TEST_F(CircuitGameTest, EqualsThePlainPassOnRandomSetsOfCoalitions) {
  const PromptTask task = random_task(test_, 5, 4);
  const CircuitPlayers players = heads({"all"});
  std::vector<Coalition> coalitions{Coalition(12), Coalition::full(12)};
  RandomStream random(3, Purpose::probe);
  for (int k = 0; k < 60; ++k) {
    coalitions.push_back(Coalition::from_mask(12, random.next_u64() & 0xfffU));
    coalitions.push_back(Coalition::full(12).without(random.next_u64() % 12));
  }
  coalitions.push_back(coalitions[5]);  // twice
  const auto draws = all_draws(task, 1);
  const auto fast = losses(task, players, {}, coalitions, draws);
  const auto plain = losses(task, players, {.plainly = true}, coalitions, draws);
  for (std::size_t k = 0; k < fast.size(); ++k) EXPECT_NEAR(fast[k], plain[k], 1e-5);
}

// What makes threads, resumed runs and shards give the same bytes.
TEST_F(CircuitGameTest, ALossDoesNotDependOnItsCompany) {
  const PromptTask task = random_task(test_, 9, 3);
  const CircuitPlayers players = heads({"all"});
  std::vector<Coalition> coalitions;
  RandomStream random(4, Purpose::probe);
  for (int k = 0; k < 40; ++k) coalitions.push_back(Coalition::from_mask(12, random.next_u64() & 0xfffU));
  expect_alone_as_together(task, players, {.ablation = Ablation::resample}, coalitions, all_draws(task, 3));
}

// More players than are enumerated: sets near a random one, near {} and near all of them, so that children
// are switched from all kinds of bases and some are their own.
class ManyHeadsTest : public CircuitGameTest {
 protected:
  ManyHeadsTest() : CircuitGameTest(TestGpt2{.layers = 5, .heads = 6}.fill()) {
    RandomStream random(6, Purpose::probe);
    const std::uint64_t all = (std::uint64_t{1} << 30) - 1;
    const std::uint64_t centres[] = {random.next_u64() & all, random.next_u64() & all, 0, all};
    for (int k = 0; k < 80; ++k) {
      std::uint64_t mask = centres[k % 4];
      for (int flips = k % 3; flips >= 0; --flips) mask ^= std::uint64_t{1} << random.next_u64() % 30;
      coalitions_.push_back(Coalition::from_mask(30, mask));
    }
  }
  std::vector<Coalition> coalitions_;
};

TEST_F(ManyHeadsTest, AreTheDefinition) {
  const PromptTask task = random_task(test_, 3, 3);
  const CircuitPlayers players = heads({"all"});
  ASSERT_GT(players.size(), kEnumerable);
  const auto draws = all_draws(task, 1);
  const auto found = losses(task, players, {}, coalitions_, draws);
  const Oracle oracle(test_, task, {});
  for (std::size_t d = 0; d < draws.size(); ++d) {
    for (std::size_t c = 0; c < coalitions_.size(); ++c) {
      EXPECT_NEAR(found[d * coalitions_.size() + c], oracle.loss(players, coalitions_[c], draws[d]), 3e-5);
    }
  }
}

TEST_F(ManyHeadsTest, DoNotDependOnTheirCompany) {
  const PromptTask task = random_task(test_, 9, 3);
  expect_alone_as_together(task, heads({"all"}), {}, coalitions_, all_draws(task, 1));
}

// Fewer rows at a time where memory is short, fewer threads, the same bits.
TEST_F(CircuitGameTest, LittleMemoryChangesNothing) {
  const PromptTask task = random_task(test_, 9, 3);
  const CircuitPlayers players = heads({"all"});
  std::vector<Coalition> coalitions;
  RandomStream random(5, Purpose::probe);
  for (int k = 0; k < 50; ++k) coalitions.push_back(Coalition::from_mask(12, random.next_u64() & 0xfffU));
  const auto draws = all_draws(task, 1);
  const auto plenty = losses(task, players, {}, coalitions, draws);
  std::uint64_t before = CircuitGame(*model_, task, players, {}, workers_).bytes();
  for (std::uint64_t memory = 4 * before; memory > before / 3; memory /= 2) {
    const CircuitOptions options{.max_memory = memory};
    EXPECT_EQ(losses(task, players, options, coalitions, draws), plenty) << memory;
    EXPECT_LE(CircuitGame(*model_, task, players, options, workers_).bytes(), memory / 2);
  }
  CircuitGame game(*model_, task, players, {}, workers_);
  EXPECT_EQ(game.use_room(0, 8), 0U);
  const std::uint64_t one = game.use_room(UINT64_MAX, 2);
  EXPECT_EQ(game.use_room(UINT64_MAX, 8), 7 * one);
  EXPECT_EQ(game.use_room(3 * one + 1, 8), 3 * one);
  std::vector<double> out(plenty.size());
  game.losses(CoalitionList::of(12, coalitions), draws, out, workers_);
  EXPECT_EQ(out, plenty);
}

TEST_F(CircuitGameTest, AccumulatesTheSumsOfLosses) {
  const PromptTask task = random_task(test_, 6, 3);
  const CircuitPlayers players = heads({"0.1", "1.0", "1.2", "3.1"});
  CircuitGame game(*model_, task, players, {}, workers_);
  auto draws = all_draws(task, 1);
  BlockSums sums{.background = {std::vector<double>(16)},
                 .round = {std::vector<double>(16), std::vector<double>(16)},
                 .squares = std::vector<double>(16)};
  for (std::size_t d = 0; d < draws.size(); ++d) draws[d].round_block = d % 2;
  game.accumulate(draws, sums, workers_);
  std::vector<double> out(16 * draws.size());
  game.losses(CoalitionList::lattice(4, 0, 16), draws, out, workers_);
  for (std::size_t c = 0; c < 16; ++c) {
    double sum = 0, odd = 0;
    for (std::size_t d = 0; d < draws.size(); ++d) {
      sum += out[d * 16 + c];
      if (d % 2 == 1) odd += out[d * 16 + c];
    }
    EXPECT_DOUBLE_EQ(sums.background[0][c], sum);
    EXPECT_DOUBLE_EQ(sums.round[1][c], odd);
  }
}

// A run tells the draws to come; what is computed ahead must be the same.
TEST_F(CircuitGameTest, LookingAheadChangesNothing) {
  const PromptTask task = random_task(test_, 7, 2);
  const CircuitPlayers players = heads({"0.1", "1.0", "3.1"});
  const auto draws = all_draws(task, 2);
  const CircuitOptions options{.ablation = Ablation::resample};
  const auto empty = [] {
    return BlockSums{.background = {std::vector<double>(8)}, .squares = std::vector<double>(8)};
  };
  CircuitGame game(*model_, task, players, options, workers_);
  BlockSums one_by_one = empty();
  for (const Draw& draw : draws) game.accumulate({&draw, 1}, one_by_one, workers_);
  BlockSums ahead = empty();
  for (std::size_t d = 0; d < draws.size(); d += 2) {
    game.expect(std::span(draws).subspan(d, std::min(draws.size() - d, game.lookahead())));
    game.accumulate(std::span(draws).subspan(d, std::min<std::size_t>(2, draws.size() - d)), ahead, workers_);
  }
  EXPECT_EQ(one_by_one.background, ahead.background);
  EXPECT_EQ(one_by_one.squares, ahead.squares);
}

TEST_F(CircuitGameTest, RefusesWhatDoesNotFit) {
  const auto refusal = [&](PromptTask task, const CircuitOptions& options,
                           const std::vector<std::string>& names) {
    return error_of([&] { CircuitGame game(*model_, std::move(task), heads(names), options, workers_); });
  };
  PromptTask task = random_task(test_, 2, 2);
  EXPECT_TRUE(contains(refusal(task, {}, {"4.0"}), "no head \"4.0\""));
  EXPECT_TRUE(contains(refusal(task, {}, {"0.3"}), "no head"));
  EXPECT_TRUE(contains(refusal(task, {}, {"00.1"}), "no head"));
  EXPECT_TRUE(contains(refusal(task, {}, {"1"}), "no head"));
  EXPECT_TRUE(contains(refusal(task, {.max_memory = 1 << 17}, {"0.1"}), "--max-memory"));
  EXPECT_TRUE(contains(refusal(random_task(test_, 2, 2, false), {.ablation = Ablation::resample}, {"0.1"}),
                       "unequal lengths"));
  task.prompts[1].distractor = kNoToken;
  EXPECT_TRUE(contains(refusal(task, {}, {"0.1"}), "prompts 2: has no distractor"));
  task.prompts[0].distractor = task.prompts[0].answer;
  EXPECT_TRUE(contains(refusal(task, {}, {"0.1"}), "prompts 1: answer and distractor are one token"));
  EXPECT_EQ(refusal(task, {.measure = Measure::log_probability}, {"0.1"}), "no error");
  task.reference.clear();
  EXPECT_TRUE(contains(refusal(task, {.measure = Measure::kl}, {"0.1"}), "no reference"));
  EXPECT_EQ(refusal(task, {.ablation = Ablation::zero, .measure = Measure::kl}, {"0.1"}), "no error");
}

}  // namespace
}  // namespace hifi
