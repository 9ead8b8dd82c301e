#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/random.h"
#include "core/shared_files.h"
#include "data/ioi_grammar.h"
#include "data/ioi_task.h"
#include "experiments/e3_measure.h"
#include "experiments/e3_paper.h"

namespace hifi {
namespace {

// Sentences of every held-out template and length, made from the grammar without the generator's code.
PromptTask held_out_sentences(const Tokenizer& tokenizer, std::size_t count) {
  const auto grammar = nlohmann::json::parse(kIoiGrammar);
  const std::vector<std::string> names = grammar["names"], scenes = grammar["scenes"],
                                 gifts = grammar["gifts"];
  RandomStream random(1, Purpose::probe);
  const auto pick = [&](const nlohmann::json& list) {
    return list[random.below(list.size())].get<std::string>();
  };
  PromptTask task{.source = "held out"};
  while (task.prompts.size() < count) {
    const std::size_t number = random.below(9);  // of the opener: five in the first frame, four in the second
    const auto& frame = grammar["frames"][number < 5 ? 0 : 1];
    const std::size_t scene = random.below(scenes.size()), gift = random.below(gifts.size());
    const std::size_t io = random.below(names.size()), subject = random.below(names.size());
    const bool held = (number + 2 * scene + 3 * gift) % 10 == 0 || (scene == 5 && gift == 1);
    if (!held || io == subject || (io + subject) % 5 != 0) continue;
    const bool answer_first = random.below(2) == 0;
    std::string text =
        fmt::format("<|endoftext|>{} {} and {} {}{} {} {}", frame["openers"][number % 5].get<std::string>(),
                    names[answer_first ? io : subject], names[answer_first ? subject : io], scenes[scene],
                    pick(frame["links"]), names[subject], gifts[gift]);
    for (const auto& [hole, list] : {std::pair{"{place}", "places"}, std::pair{"{object}", "objects"}}) {
      for (auto at = text.find(hole); at != std::string::npos; at = text.find(hole)) {
        text.replace(at, std::string(hole).size(), pick(grammar[list]));
      }
    }
    task.prompts.push_back(
        {tokenizer.encode(text), tokenizer.single(" " + names[io]), tokenizer.single(" " + names[subject])});
  }
  task.reference = {task.prompts.front()};
  return task;
}

class SmallModel : public testing::Test {
 protected:
  const std::string folder_ = shared_file("ioi-small");
  const Gpt2 model_{folder_};
  const Tokenizer tokenizer_{folder_};
  Workers workers_{2};
};

TEST_F(SmallModel, AnswersNamesAndTemplatesItNeverSawTogether) {
  const PromptTask task = held_out_sentences(tokenizer_, 1000);
  std::set<std::size_t> lengths;
  for (const Prompt& p : task.prompts) lengths.insert(p.tokens.size());
  EXPECT_GT(lengths.size(), 5u);
  EXPECT_GE(measure_heads(model_, task, {"2.3"}, false, workers_).correct, 0.99);
}

TEST_F(SmallModel, MoversReplaceEachOtherAndNeedTheCollectors) {
  std::vector<std::string> heads, roles;
  for (const auto& [role, list] : ioi_roles(folder_)) {
    for (const std::string& head : list) {
      heads.push_back(head);
      roles.push_back(role);
    }
  }
  const PromptTask task = ioi_task({.prompts = 60, .reference = 60, .seed = 9, .held_out = true}, tokenizer_);
  const HeadTable table = measure_heads(model_, task, heads, false, workers_);
  EXPECT_EQ(table.correct, 1);
  // Every prompt has its exchange of names: without heads nothing tells them apart.
  EXPECT_NEAR(table.empty(), 0, 1e-4);
  EXPECT_LT(table.full(), -6);
  std::map<std::pair<std::string, std::string>, RolePair> blocks;
  for (const RolePair& block : role_pairs(table.scan.pairs, roles))
    blocks[{block.first, block.second}] = block;
  const RolePair movers = blocks.at({"Mover", "Mover"}), chain = blocks.at({"Collector", "Mover"});
  EXPECT_EQ(movers.pairs, 6u);
  EXPECT_EQ(chain.pairs, 16u);
  EXPECT_GT(movers.R, 3 * movers.S);
  EXPECT_GT(chain.S, 3 * chain.R);
  // With the scale of the final norm frozen, movers add up.
  const HeadTable frozen = measure_heads(model_, task, heads, true, workers_);
  EXPECT_NEAR(frozen.full(), table.full(), 1e-4);
  for (const RolePair& block : role_pairs(frozen.scan.pairs, roles)) {
    if (block.first == "Mover" && block.second == "Mover") {
      EXPECT_LT(block.R, 0.2 * movers.R);
    }
  }
  EXPECT_FALSE(invisible_players(table).empty());
}

TEST_F(SmallModel, APlayerThatStaysIntactIsNoPlayer) {
  const std::vector<std::string> heads = {"0.0", "0.3", "1.0", "1.1"};
  const PromptTask task = ioi_task({.prompts = 10, .reference = 10, .seed = 2}, tokenizer_);
  const HeadTable all = measure_heads(model_, task, heads, false, workers_);
  for (std::size_t i = 0; i < heads.size(); ++i) {
    std::vector<std::string> rest = heads;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
    const HeadTable direct = measure_heads(model_, task, rest, false, workers_);
    const HeadTable restricted = without_player(all, i, workers_);
    ASSERT_EQ(direct.losses.size(), restricted.losses.size());
    for (std::size_t c = 0; c < direct.losses.size(); ++c)
      EXPECT_NEAR(direct.losses[c], restricted.losses[c], 2e-5);
    EXPECT_NEAR(*direct.scan.features[0].R.value, *restricted.scan.features[0].R.value, 5e-5);
  }
}

TEST(E3RolePairs, MeansOverPairsOfTwoRolesInAnyOrder) {
  const auto pair = [](std::uint32_t i, std::uint32_t j, double S, double R) {
    PairProfile p{.first = i, .second = j};
    p.S.value = S;
    p.R.value = R;
    return p;
  };
  const std::vector<RolePair> blocks =
      role_pairs({pair(0, 1, 1, 0), pair(0, 2, 2, 1), pair(1, 2, 4, 3), PairProfile{.first = 0, .second = 3}},
                 {"A", "B", "A", "B"});
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(blocks[0].pairs, 2u);  // A + B and B + A; the pair that was not seen does not count
  EXPECT_EQ(blocks[0].S, 2.5);
  EXPECT_EQ(blocks[0].R, 1.5);
  EXPECT_EQ(blocks[1].first, blocks[1].second);
  EXPECT_EQ(blocks[1].S, 2);
}

TEST(E3Paper, TablesAreWhole) {
  for (const PaperCircuit* paper : {&paper_ten_heads(), &paper_all_heads()}) {
    std::map<std::string, std::string> published;
    for (const auto& [role, heads] : published_ioi_roles()) {
      for (const std::string& head : heads) published[head] = role;
    }
    for (const PaperHead& head : paper->heads) EXPECT_EQ(published.at(head.head), head.role) << head.head;
    EXPECT_EQ(paper->synergy_pairs + paper->redundancy_pairs,
              paper->heads.size() * (paper->heads.size() - 1) / 2);
  }
  std::size_t pairs = 0;
  for (const PaperRolePair& block : paper_ten_heads().role_pairs) pairs += block.pairs;
  EXPECT_EQ(pairs, 45u);
  // Of 26 heads the paper lists five roles of seven.
  EXPECT_EQ(paper_all_heads().heads.size(), 26u);
}

}  // namespace
}  // namespace hifi
