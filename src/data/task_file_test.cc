#include "data/task_file.h"

#include <gtest/gtest.h>

#include "core/test_folder.h"

namespace hifi {
namespace {

std::string task(const std::string& prompts, const std::string& more = "") {
  return R"({"schema":"hifi.task/1","prompts":)" + prompts + more + "}";
}

std::string refusal(const std::string& text, const Tokenizer* tokenizer = nullptr) {
  TemporaryFolder folder;
  const std::string path = folder.write("task.json", text);
  return error_of([&] { read_task(path, tokenizer); });
}

constexpr const char* kPrompt = R"([{"tokens":[1,2,3],"answer":5,"distractor":7}])";

TEST(TaskFile, ReadsTokensReferenceAndRoles) {
  TemporaryFolder folder;
  const PromptTask read = read_task(folder.write("t.json", task(kPrompt, R"(,"reference":[{"tokens":[4,5]}],
                                            "roles":{"mover":["9.9","9.6"],"early":["0.1"]})")),
                                    nullptr);
  EXPECT_EQ(read.prompts, (std::vector<Prompt>{{{1, 2, 3}, 5, 7}}));
  EXPECT_EQ(read.reference, (std::vector<Prompt>{{{4, 5}}}));
  ASSERT_EQ(read.roles.size(), 2U);
  EXPECT_EQ(read.roles[0].first, "mover");  // the order of the file
  EXPECT_EQ(read.roles[0].second, (std::vector<std::string>{"9.9", "9.6"}));
  EXPECT_FALSE(read.aligned());
  const PromptTask again = read_task(folder.write("again.json", task_to_json(read)), nullptr);
  EXPECT_EQ(again.prompts, read.prompts);
  EXPECT_EQ(again.reference, read.reference);
  EXPECT_EQ(again.roles, read.roles);
  EXPECT_EQ(again.hash(), read.hash());
}

TEST(TaskFile, RefusesWhatItDoesNotKnow) {
  EXPECT_TRUE(contains(refusal("[]"), "no JSON object"));
  EXPECT_TRUE(contains(refusal("{"), "no JSON object"));
  EXPECT_TRUE(contains(refusal(R"({"prompts":[]})"), "no task file"));
  EXPECT_TRUE(contains(refusal(task("[]")), "has no prompts"));
  EXPECT_TRUE(contains(refusal(task(kPrompt, R"(,"extra":1)")), "unknown field \"extra\""));
  EXPECT_TRUE(contains(refusal(task(R"([{"tokens":[1],"answer":1,"x":2}])")), "unknown field \"x\""));
  EXPECT_TRUE(contains(refusal(task(R"([{"tokens":[1]}])")), "prompts 1: has no answer"));
  EXPECT_TRUE(contains(refusal(task(R"([{"tokens":[1],"text":"a","answer":1}])")), "either"));
  EXPECT_TRUE(contains(refusal(task(R"([{"tokens":[-1],"answer":1}])")), "-1 is no token id"));
  EXPECT_TRUE(contains(refusal(task(R"([{"tokens":[1.5],"answer":1}])")), "1.5 is no token id"));
  EXPECT_TRUE(contains(refusal(task(R"([{"tokens":[],"answer":1}])")), "has no tokens"));
  EXPECT_TRUE(contains(refusal(task(R"([{"text":"a b","answer":1}])")), "no vocab.json"));
  EXPECT_TRUE(
      contains(refusal(task(kPrompt, R"(,"roles":{"a":["1.1"],"a":["1.2"]})")), "\"a\" is there twice"));
}

TEST(TaskFile, AnswersAreOneToken) {
  TemporaryFolder folder;
  folder.write("vocab.json", R"({"a":0,"b":1,"ab":2})");
  folder.write("merges.txt", "a b\n");
  const Tokenizer tokenizer(folder.path());
  const std::string path = folder.write("t.json", task(R"([{"text":"aba","answer":"ab"}])"));
  EXPECT_EQ(read_task(path, &tokenizer).prompts.front(), (Prompt{{2, 0}, 2}));
  const std::string split = refusal(task(R"([{"text":"ab","answer":"aba"}])"), &tokenizer);
  EXPECT_TRUE(contains(split, "prompts 1 answer: \"aba\" splits into 2 tokens")) << split;
}

TEST(TaskFile, MustFitTheModel) {
  const PromptTask t{.source = "t", .prompts = {{{1, 2, 3}, 5, 7}}};
  EXPECT_NO_THROW(check_task(t, 8, 3));
  EXPECT_TRUE(contains(error_of([&] { check_task(t, 7, 3); }), "token 7 is outside"));
  EXPECT_TRUE(contains(error_of([&] { check_task(t, 8, 2); }), "has 3 tokens"));
  PromptTask roles = t;
  roles.roles = {{"a", {"1.1", "1.2"}}, {"b", {"1.1"}}};
  EXPECT_TRUE(
      contains(error_of([&] { check_task(roles, 8, 3); }), "role \"b\": head 1.1 has a role already"));
}

}  // namespace
}  // namespace hifi
