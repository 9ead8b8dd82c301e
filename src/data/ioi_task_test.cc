#include "data/ioi_task.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "core/test_folder.h"

namespace hifi {
namespace {

const std::string kModel = HIFI_SOURCE_DIR "/models/ioi-small";

TEST(IoiTask, EveryPromptIsAnAnswerASubjectAndTheSubjectAgain) {
  const Tokenizer tokenizer(kModel);
  const PromptTask task = ioi_task({.prompts = 200, .reference = 60, .seed = 3}, tokenizer);
  ASSERT_EQ(task.prompts.size(), 200u);
  ASSERT_EQ(task.reference.size(), 60u);
  ASSERT_EQ(task.clusters.size(), 200u);
  EXPECT_EQ(task.clusters[1], task.clusters[0]);
  EXPECT_NE(task.clusters[2], task.clusters[0]);
  EXPECT_TRUE(task.aligned());
  EXPECT_EQ(task.prompts[0].tokens.size(), 16u);
  std::size_t answer_first = 0;
  for (const Prompt& p : task.prompts) {
    EXPECT_EQ(std::count(p.tokens.begin(), p.tokens.end(), p.answer), 1);
    EXPECT_EQ(std::count(p.tokens.begin(), p.tokens.end(), p.distractor), 2);
    EXPECT_EQ(p.tokens[0], tokenizer.single("<|endoftext|>"));
    EXPECT_EQ(p.tokens[11], p.distractor);
    EXPECT_EQ(p.tokens.back(), tokenizer.single(" to"));
    answer_first += p.tokens[2] == p.answer;
  }
  EXPECT_EQ(answer_first, 100u);
}

TEST(IoiTask, PairsDifferByTheExchangeOfTheNames) {
  const PromptTask task = ioi_task({.prompts = 30, .seed = 4}, Tokenizer(kModel));
  for (std::size_t k = 0; k < task.prompts.size(); k += 2) {
    Prompt exchanged = task.prompts[k + 1];
    std::swap(exchanged.answer, exchanged.distractor);
    for (Token& token : exchanged.tokens) {
      token = token == exchanged.answer       ? exchanged.distractor
              : token == exchanged.distractor ? exchanged.answer
                                              : token;
    }
    EXPECT_EQ(exchanged.tokens, task.prompts[k].tokens);
    EXPECT_EQ(exchanged.answer, task.prompts[k].answer);
  }
}

TEST(IoiTask, ReferenceHasThreeNamesAndTheTemplatesOfThePrompts) {
  const Tokenizer tokenizer(kModel);
  const PromptTask task = ioi_task({.prompts = 20, .reference = 40, .seed = 5}, tokenizer);
  const auto frame = [&](const Prompt& p) {  // without names, place and object
    auto rest = p.tokens;
    for (const std::size_t position : {2, 4, 9, 11, 14}) rest[position] = 0;
    return rest;
  };
  std::set<std::vector<Token>> prompts, reference;
  for (const Prompt& p : task.prompts) prompts.insert(frame(p));
  for (const Prompt& p : task.reference) {
    reference.insert(frame(p));
    EXPECT_EQ(std::set({p.tokens[2], p.tokens[4], p.tokens[11]}).size(), 3u);
    EXPECT_EQ(p.answer, kNoToken);
  }
  EXPECT_EQ(prompts, reference);
  EXPECT_EQ(prompts.size(), 10u);
}

TEST(IoiTask, TemplatesComeEvenlyWithBothOrders) {
  // All 240 templates twice: 480 pairs.
  const PromptTask task = ioi_task({.prompts = 960, .reference = 1, .seed = 6}, Tokenizer(kModel));
  std::map<std::vector<Token>, std::pair<int, int>> seen;
  for (const Prompt& p : task.prompts) {
    auto rest = p.tokens;
    for (const std::size_t position : {2, 4, 9, 11, 14}) rest[position] = 0;
    (p.tokens[2] == p.answer ? seen[rest].first : seen[rest].second) += 1;
  }
  EXPECT_EQ(seen.size(), 240u);
  for (const auto& [frame, count] : seen) EXPECT_EQ(count, std::pair(2, 2));
}

TEST(IoiTask, SeedsDecide) {
  const Tokenizer tokenizer(kModel);
  const auto hash = [&](std::uint64_t seed) {
    return ioi_task({.prompts = 10, .seed = seed}, tokenizer).hash();
  };
  EXPECT_EQ(hash(1), hash(1));
  EXPECT_NE(hash(1), hash(2));
  // Fewer prompts are the first of more.
  EXPECT_EQ(ioi_task({.prompts = 10, .seed = 1}, tokenizer).prompts.front(),
            ioi_task({.prompts = 20, .seed = 1}, tokenizer).prompts.front());
}

TEST(IoiTask, HeldOutPairsNeverMeetOthers) {
  const Tokenizer tokenizer(kModel);
  const PromptTask all = ioi_task({.prompts = 2000, .seed = 7}, tokenizer);
  const PromptTask held = ioi_task({.prompts = 2000, .seed = 7, .held_out = true}, tokenizer);
  const auto pairs = [](const PromptTask& task) {
    std::set<std::pair<Token, Token>> found;
    for (const Prompt& p : task.prompts) found.insert(std::minmax(p.answer, p.distractor));
    return found;
  };
  EXPECT_GT(pairs(all).size(), 700u);
  EXPECT_LE(pairs(held).size(), 354u);  // a fifth of 60 * 59 / 2
  EXPECT_GT(pairs(held).size(), 300u);
}

TEST(IoiTask, RefusesOddNumbersAndTokenizersThatSplitNames) {
  const Tokenizer tokenizer(kModel);
  for (const std::size_t prompts : {31, 0}) {
    EXPECT_TRUE(contains(error_of([&] { ioi_task({.prompts = prompts}, tokenizer); }, ErrorCode::usage),
                         "--prompts"));
  }
  const TemporaryFolder folder;  // bytes alone
  std::filesystem::copy(kModel + "/vocab.json", folder.path("vocab.json"));
  folder.write("merges.txt", "#version: 0.2\n");
  const Tokenizer bytes(folder.path());
  EXPECT_TRUE(contains(error_of([&] { ioi_task({.prompts = 2}, bytes); }), "Mary"));
}

TEST(IoiRoles, FromTheConfigOrThePublishedCircuitOrNone) {
  const Roles own = ioi_roles(kModel);
  ASSERT_EQ(own.size(), 3u);
  EXPECT_EQ(own[1].first, "Mover");
  EXPECT_EQ(own[1].second.front(), "1.0");
  const TemporaryFolder folder;
  folder.write("config.json", R"({"n_layer":12,"n_head":12,"n_embd":768})");
  EXPECT_EQ(ioi_roles(folder.path()).size(), 7u);
  std::set<std::string> heads;
  for (const auto& [role, list] : published_ioi_roles()) heads.insert(list.begin(), list.end());
  EXPECT_EQ(heads.size(), 26u);
  folder.write("config.json", R"({"n_layer":12,"n_head":12,"n_embd":144})");
  EXPECT_TRUE(ioi_roles(folder.path()).empty());
  folder.write("config.json", R"({"task_specific_params":{"ioi":{"roles":{"A":3}}}})");
  EXPECT_TRUE(contains(error_of([&] { ioi_roles(folder.path()); }), "task_specific_params.ioi.roles"));
}

}  // namespace
}  // namespace hifi
