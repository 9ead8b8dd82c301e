#include "data/tokenizer.h"

#include <gtest/gtest.h>

#include "core/test_folder.h"

namespace hifi {
namespace {

// Every byte that prints, and a few merges: "th", "the", " t", " the", spaces in pairs.
std::string small_vocabulary(const std::string& more = "") {
  std::string text = "{";
  int id = 0;
  for (char c = 33; c < 127; ++c) {
    const std::string name = c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
    text += "\"" + name + "\":" + std::to_string(id++) + ",";
  }
  for (const char* name : {"\u0120", "th", "the", "\u0120t", "\u0120the", "\u0120\u0120", "he", "\u010a"}) {
    text += "\"" + std::string(name) + "\":" + std::to_string(id++) + ",";
  }
  return text + "\"<|endoftext|>\":" + std::to_string(id) + more + "}";
}

constexpr const char* kMerges =
    "#version: 0.2\nt h\nth e\n\u0120 t\n\u0120t he\n\u0120 \u0120\nh e\n\u0120 the\n";

class TokenizerTest : public ::testing::Test {
 protected:
  void write(const std::string& vocabulary, const std::string& merges) {
    folder_.write("vocab.json", vocabulary);
    folder_.write("merges.txt", merges);
  }
  std::vector<std::string> parts(const Tokenizer& t, const std::string& text) {
    std::vector<std::string> result;
    for (const Token token : t.encode(text)) result.push_back(t.decode({token}));
    return result;
  }
  TemporaryFolder folder_;
};

TEST_F(TokenizerTest, MergesByRankNotFromTheLeft) {
  write(small_vocabulary(), kMerges);
  const Tokenizer t(folder_.path());
  using V = std::vector<std::string>;
  // "th" has the lowest rank, then "the"; " t" would come later and finds no t left.
  EXPECT_EQ(parts(t, "the the"), (V{"the", " the"}));
  EXPECT_EQ(parts(t, "he"), (V{"he"}));
  EXPECT_EQ(parts(t, "xhe"), (V{"x", "he"}));
  // Runs of spaces leave the last one to the word.
  EXPECT_EQ(parts(t, "a    b"), (V{"a", "  ", " ", " ", "b"}));
  EXPECT_EQ(parts(t, "a   "), (V{"a", "  ", " "}));
}

TEST_F(TokenizerTest, EndOfTextIsOneToken) {
  write(small_vocabulary(), kMerges);
  const Tokenizer t(folder_.path());
  const auto tokens = t.encode("a<|endoftext|>the");
  ASSERT_EQ(tokens.size(), 3U);
  EXPECT_EQ(static_cast<std::size_t>(tokens[1]), t.size() - 1);
  EXPECT_EQ(t.decode(tokens), "a<|endoftext|>the");
  EXPECT_EQ(t.single("the"), t.encode("the").front());
  EXPECT_EQ(t.single("thex"), -1);
}

TEST_F(TokenizerTest, ALongRunIsNotQuadratic) {
  write(small_vocabulary(), kMerges);
  const Tokenizer t(folder_.path());
  EXPECT_EQ(t.encode(std::string(200'000, ' ')).size(), 100'000U);
}

TEST_F(TokenizerTest, RefusesWhatItCannotRead) {
  write(small_vocabulary(), kMerges);
  const Tokenizer t(folder_.path());
  EXPECT_TRUE(contains(error_of([&] { t.encode("a\xff"); }), "no UTF-8"));
  EXPECT_TRUE(contains(error_of([&] { t.encode("a\xc3"); }), "no UTF-8"));
  EXPECT_TRUE(contains(error_of([&] { t.encode("\xed\xa0\x80"); }), "no UTF-8"));  // a surrogate
  EXPECT_TRUE(contains(error_of([&] { t.encode("\xc3\xa9"); }), "no token for byte 0xc3"));
  EXPECT_TRUE(contains(error_of([&] { t.decode({9999}); }), "9999"));
  EXPECT_TRUE(contains(error_of([&] { t.decode({-1}); }), "-1"));

  const auto opened = [&] { return error_of([&] { Tokenizer other(folder_.path()); }); };
  write("[1]", kMerges);
  EXPECT_TRUE(contains(opened(), "vocab.json"));
  write(small_vocabulary(",\"xx\":0"), kMerges);
  EXPECT_TRUE(contains(opened(), "no id of its own"));
  write(small_vocabulary(",\"xx\":999"), kMerges);
  EXPECT_TRUE(contains(opened(), "no id of its own"));
  write(small_vocabulary(), "#version\nt h\nh q\n");
  EXPECT_TRUE(contains(opened(), "line 3 names a token that vocab.json lacks"));
  write(small_vocabulary(), "th\n");
  EXPECT_TRUE(contains(opened(), "line 1 is no pair"));
}

}  // namespace
}  // namespace hifi
