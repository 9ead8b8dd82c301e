#include "report/terminal.h"

#include <gtest/gtest.h>

#include <sstream>

#include "core/test_folder.h"
#include "report/findings.h"
#include "report/test_profile.h"

namespace hifi {
namespace {

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> result;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) result.push_back(line);
  return result;
}

// The first line that holds the text.
std::string line_with(const std::string& text, const std::string& part) {
  for (const std::string& line : lines(text)) {
    if (contains(line, part)) return line;
  }
  return "";
}

TEST(Terminal, OnePlayer) {
  Profile profile = test_profile();
  profile.players.resize(1);
  profile.features.resize(1);
  profile.pairs.clear();
  for (Quantity* q : {&profile.features[0].U, &profile.features[0].R, &profile.features[0].S})
    q->context.reset();
  const std::string text = profile_text(profile);
  EXPECT_TRUE(
      contains(text, "squared loss, 1 players, all 4 coalitions, 12 draws each = every pair of rows: exact"));
  const std::string row = line_with(text, " a ");
  EXPECT_TRUE(contains(row, "0.5")) << text;
  EXPECT_TRUE(contains(row, "0.25"));
  EXPECT_TRUE(contains(row, "█"));
  EXPECT_EQ(text.find('\x1b'), std::string::npos) << "no colour unless asked for";
}

TEST(Terminal, NothingKnownIsADash) {
  const std::string row = line_with(profile_text(test_profile()), " b ");
  EXPECT_TRUE(contains(row, " - ")) << row;
  EXPECT_FALSE(contains(row, "0"));
}

TEST(Terminal, BarsShareTheScale) {
  const std::string row = line_with(profile_text(test_profile(1, 1, 1)), " a ");
  const auto count = [&](const std::string& glyph) {
    std::size_t found = 0;
    for (auto at = row.find(glyph); at != std::string::npos; at = row.find(glyph, at + 1)) ++found;
    return found;
  };
  EXPECT_EQ(count("█"), 8U);
  EXPECT_EQ(count("▓"), 8U);
  EXPECT_EQ(count("░"), 8U);
}

TEST(Terminal, ColumnsStandUnderEachOtherWhateverTheNames) {
  Profile profile = test_profile();
  profile.features[1] = profile.features[0];
  profile.players = {"abcdef",
                     "\xc3\xa9t\xc3\xa9 \xe4\xbd\x8f\xe6\x89\x80"};  // four and four columns and a blank
  const std::string text = profile_text(profile);
  const std::string plain = line_with(text, "abcdef");
  const std::string wide = line_with(text, "\xe4\xbd\x8f");
  const auto after_name = [](const std::string& line) { return line.substr(line.find("0.5")); };
  EXPECT_EQ(after_name(plain), after_name(wide));
  // "été 住所" takes 8 columns, "abcdef" 6.
  EXPECT_EQ(plain.find("0.5"), wide.find("0.5") + (6 + 2) - profile.players[1].size()) << text;
}

TEST(Terminal, LongNamesAreCutBetweenCharacters) {
  Profile profile = test_profile();
  std::string name;
  for (int k = 0; k < 40; ++k) name += "\xc3\xa9";
  profile.players[0] = name;
  const std::string text = profile_text(profile);
  EXPECT_TRUE(contains(text, "\xc3\xa9\xe2\x80\xa6")) << text;
  EXPECT_FALSE(contains(text, name));
}

TEST(Terminal, NamesFromStrangersDoNotDriveTheTerminal) {
  Profile profile = test_profile();
  profile.players = {"a\x1b[2Jb\nc",
                     "\xc2\x9b"
                     "31mred"};
  profile.features[0].verdict = "synergistic";
  profile.features[1].verdict = "negligible";
  profile.warnings = {{"code", "x\x1b]0;title\a\ny"}};
  const std::string text = profile_text(profile);
  for (const char c : text)
    EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 32) << static_cast<int>(c);
  EXPECT_FALSE(contains(text, "\xc2\x9b"));
  EXPECT_TRUE(contains(text, "a [2Jb c")) << text;
}

TEST(Terminal, ManyPlayersAndPairsAreCounted) {
  Profile profile = test_profile();
  profile.players.assign(50, "p");
  profile.features.assign(50, profile.features[0]);
  profile.pairs.assign(20, profile.pairs[0]);
  const std::string text = profile_text(profile, {.max_players = 30, .max_pairs = 8});
  EXPECT_TRUE(contains(text, ".. and 20 more; --json or --csv has all"));
  EXPECT_TRUE(contains(text, ".. and 12 more"));
  EXPECT_LT(lines(text).size(), 60U);
}

TEST(Terminal, ColourIsSwitchedOffAgain) {
  const std::string text = profile_text(test_profile(), {.colour = true});
  EXPECT_TRUE(contains(text, "\x1b[32m█"));
  std::size_t on = 0;
  std::size_t off = 0;
  for (auto at = text.find("\x1b["); at != std::string::npos; at = text.find("\x1b[", at + 1)) {
    (text.compare(at, 4, "\x1b[0m") == 0 ? off : on) += 1;
  }
  EXPECT_EQ(on, off);
}

TEST(Terminal, TablesAndPartialCoverage) {
  Profile profile = test_profile();
  profile.loss = "";
  profile.coverage.draws.reset();
  profile.coverage.exhaustive = false;
  EXPECT_TRUE(
      contains(profile_text(profile), "loss from a table, 2 players, 4 of 2^2 coalitions (U is an upper"));
  profile.measure = "prediction";
  EXPECT_TRUE(contains(profile_text(profile), "prediction (gain = increase of the output)"));
}

std::string only_finding(const Profile& profile) {
  const auto sentences = findings(profile);
  return sentences.size() == 1 ? sentences[0] : "there are " + std::to_string(sentences.size());
}

TEST(Findings, OneSentencePerVerdict) {
  Profile profile = test_profile(0.5, 0.25, 1);
  const auto with = [&](const char* verdict) {
    profile.features[0].verdict = verdict;
    return only_finding(profile);
  };
  EXPECT_EQ(with("unique"), "a is needed for itself: whatever else is known, it brings at least 0.5.");
  EXPECT_EQ(with("redundant"),
            "a is replaceable: alone it brings 0.75, once b is known only 0.5 (redundant 0.25).");
  EXPECT_EQ(with("synergistic"),
            "a works in company: alone it brings 0.75, together with b it brings 1.75 (synergy 1).");
  EXPECT_EQ(with("harmful"), "a hurts the model: no context gains from it.");
  EXPECT_EQ(with("negligible"), "a matters in no context (below 1 % of the range of losses).");
}

TEST(Findings, AnEmptyContextIsNoName) {
  Profile profile = test_profile(0.1, 0.25, 1);
  for (Quantity* q : {&profile.features[0].R, &profile.features[0].S}) q->context.emplace();
  profile.features[0].verdict = "synergistic";
  EXPECT_TRUE(contains(only_finding(profile), "together with others it brings 1.35"));
  profile.features[0].verdict = "redundant";
  EXPECT_TRUE(contains(only_finding(profile), "in its worst context only 0.1"));
  profile.features[0].U.value = -2;
  EXPECT_TRUE(contains(only_finding(profile), "in its worst context it costs 2"));
}

TEST(Findings, PopulationIntervalsAreSaid) {
  Profile profile = test_profile();
  profile.coverage.interval = "population";
  profile.features[0].verdict = "unique";
  profile.features[0].U.low = 0.2;
  profile.features[0].U.high = 0.7;
  EXPECT_TRUE(contains(only_finding(profile), "at least 0.5 on these rows; population 0.2 to 0.7."));
}

TEST(Findings, ManyNamesAreCounted) {
  Profile profile = test_profile();
  profile.players.clear();
  profile.features.clear();
  for (int i = 0; i < 700; ++i) {
    profile.players.push_back("p" + std::to_string(i));
    profile.features.emplace_back().verdict = "negligible";
  }
  const std::string sentence = only_finding(profile);
  EXPECT_TRUE(contains(sentence, "and 688 others matter in no context")) << sentence;
  EXPECT_LT(sentence.size(), 200U);
}

}  // namespace
}  // namespace hifi
