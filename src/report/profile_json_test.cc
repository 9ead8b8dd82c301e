#include "report/profile_json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/test_folder.h"
#include "report/test_profile.h"

namespace hifi {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> keys(const Json& object) {
  std::vector<std::string> names;
  for (const auto& [key, value] : object.items()) names.push_back(key);
  return names;
}

using Names = std::vector<std::string>;

TEST(ProfileJson, FieldsAndTheirOrderAreTheContract) {
  Profile profile = test_profile();
  profile.warnings = {{"code", "message"}};
  profile.provenance = R"({"seed":1,"version":"x","model":{},"data":{},"background":{}})";
  const std::string text = profile_json(profile);
  EXPECT_EQ(text.back(), '\n');
  const Json j = Json::parse(text);
  EXPECT_EQ(keys(j), (Names{"schema", "players", "loss", "measure", "expected", "coverage", "features",
                            "pairs", "warnings", "provenance"}));
  EXPECT_EQ(j["schema"], "hifi.profile/1");
  EXPECT_EQ(j["players"], (Names{"a", "b"}));
  EXPECT_EQ(keys(j["coverage"]), (Names{"coalitions", "of", "exhaustive", "draws", "exact", "interval",
                                        "confidence", "threshold"}));
  EXPECT_EQ(keys(j["features"][0]), (Names{"player", "U", "R", "S", "pi", "Lmax", "last", "gain", "contexts",
                                           "verdict", "basis", "hurts_in_context"}));
  EXPECT_EQ(keys(j["features"][0]["U"]),
            (Names{"value", "plugin", "low", "high", "population", "context", "resolved"}));
  EXPECT_EQ(keys(j["features"][0]["gain"]), (Names{"q05", "q50", "q95"}));
  EXPECT_EQ(keys(j["features"][0]["contexts"]), (Names{"seen", "of"}));
  EXPECT_EQ(keys(j["pairs"][0]), (Names{"players", "S", "R", "contexts"}));
  EXPECT_EQ(keys(j["warnings"][0]), (Names{"code", "message"}));
  EXPECT_EQ(keys(j["provenance"]), (Names{"seed", "version", "model", "data", "background"}));
}

TEST(ProfileJson, ValuesAndNulls) {
  const Json j = Json::parse(profile_json(test_profile()));
  const Json& a = j["features"][0];
  EXPECT_EQ(a["U"]["value"], 0.5);
  EXPECT_EQ(a["U"]["context"], Names{"b"});
  EXPECT_EQ(a["pi"]["context"], Json::array());
  EXPECT_EQ(a["contexts"], (Json{{"seen", 2}, {"of", 2}}));
  EXPECT_EQ(a["verdict"], nullptr);
  EXPECT_EQ(a["basis"], "enumerated");
  const Json& b = j["features"][1];
  for (const char* name : {"U", "R", "S", "pi", "Lmax", "last"}) {
    for (const auto& [key, value] : b[name].items()) EXPECT_EQ(value, nullptr) << name << "." << key;
  }
  EXPECT_EQ(b["gain"], (Json{{"q05", nullptr}, {"q50", nullptr}, {"q95", nullptr}}));
  EXPECT_EQ(j["pairs"][0]["players"], (Names{"a", "b"}));
  EXPECT_EQ(j["pairs"][0]["R"]["context"], nullptr);
  EXPECT_EQ(j["pairs"][0]["contexts"]["of"], 1);
  EXPECT_EQ(j["coverage"]["of"], 4);
  EXPECT_EQ(j["coverage"]["interval"], nullptr);
  EXPECT_EQ(j["warnings"], Json::array());
  EXPECT_EQ(j["provenance"], Json::object());
  Profile bare = test_profile();
  bare.loss = "";
  bare.coverage.draws.reset();
  bare.coverage.exact.reset();
  const Json k = Json::parse(profile_json(bare));
  EXPECT_EQ(k["loss"], nullptr);
  EXPECT_EQ(k["coverage"]["draws"], nullptr);
  EXPECT_EQ(k["coverage"]["exact"], nullptr);
}

TEST(ProfileJson, NumbersReadBackToTheSameDouble) {
  for (const double value :
       {0.1 + 0.2, 1.0 / 3, 5e-324, -1.7976931348623157e308, 1e22, 123456789012345680.0}) {
    const Json j = Json::parse(profile_json(test_profile(value)));
    EXPECT_EQ(j["features"][0]["U"]["value"].get<double>(), value);
  }
  Profile negative_zero = test_profile(-0.0);
  EXPECT_FALSE(contains(profile_json(negative_zero), "-0.0"));
}

TEST(ProfileJson, CountsBeyondADoubleAreText) {
  const auto of = [](std::size_t players) {
    Profile profile{.players = std::vector<std::string>(players, "p")};
    profile.features.resize(1);
    return Json::parse(profile_json(profile));
  };
  EXPECT_EQ(of(53)["coverage"]["of"], std::uint64_t{9007199254740992});
  EXPECT_EQ(of(54)["coverage"]["of"], "18014398509481984");
  EXPECT_EQ(of(54)["features"][0]["contexts"]["of"], std::uint64_t{9007199254740992});
  EXPECT_EQ(of(100)["coverage"]["of"], "1267650600228229401496703205376");
  EXPECT_EQ(power_of_two(0), "1");
  EXPECT_EQ(power_of_two(10), "1024");
  EXPECT_EQ(power_of_two(64), "18446744073709551616");
  EXPECT_EQ(power_of_two(4096).size(), 1234U);
}

TEST(ProfileJson, NamesOfAnyKind) {
  Profile profile = test_profile();
  profile.players = {"say \"hi\"\n\x1b", "caf\xe9"};
  const Json j = Json::parse(profile_json(profile));
  EXPECT_EQ(j["players"][0], profile.players[0]);
  EXPECT_EQ(j["players"][1], "caf\xef\xbf\xbd") << "what is no UTF-8 is replaced, not a crash";
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> result;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) result.push_back(line);
  return result;
}

TEST(ProfileCsv, HeadersAndRows) {
  const ProfileCsv csv = profile_csv(test_profile());
  const auto features = lines(csv.features);
  ASSERT_EQ(features.size(), 3U);
  EXPECT_EQ(features[0],
            "player,U.value,U.plugin,U.low,U.high,U.population,U.context,U.resolved,"
            "R.value,R.plugin,R.low,R.high,R.population,R.context,R.resolved,"
            "S.value,S.plugin,S.low,S.high,S.population,S.context,S.resolved,"
            "pi.value,pi.plugin,pi.low,pi.high,pi.population,pi.context,pi.resolved,"
            "Lmax.value,Lmax.plugin,Lmax.low,Lmax.high,Lmax.population,Lmax.context,Lmax.resolved,"
            "last.value,last.plugin,last.low,last.high,last.population,last.context,last.resolved,"
            "gain.q05,gain.q50,gain.q95,contexts.seen,contexts.of,verdict,basis,hurts_in_context");
  EXPECT_TRUE(features[1].starts_with("a,0.5,0.5,,,,b,,0.25,0.25,"));
  EXPECT_TRUE(features[2].starts_with("b,,,,,,,,"));
  const auto pairs = lines(csv.pairs);
  ASSERT_EQ(pairs.size(), 2U);
  EXPECT_EQ(pairs[0],
            "players,S.value,S.plugin,S.low,S.high,S.population,S.context,S.resolved,"
            "R.value,R.plugin,R.low,R.high,R.population,R.context,R.resolved,contexts.seen,contexts.of");
  EXPECT_EQ(pairs[1], "a;b,0.125,0.125,,,,,,0.0,0.0,,,,,,1,1");
}

TEST(ProfileCsv, Quoting) {
  Profile profile = test_profile();
  profile.players = {"x,y", "say \"hi\""};
  const ProfileCsv csv = profile_csv(profile);
  EXPECT_TRUE(contains(csv.features, "\n\"x,y\",0.5"));
  EXPECT_TRUE(contains(csv.features, "\n\"say \"\"hi\"\"\","));
  EXPECT_TRUE(contains(csv.pairs, "\n\"x,y;say \"\"hi\"\"\",0.125"));
}

TEST(ProfileCsv, NoPairsIsAHeaderAlone) {
  Profile profile = test_profile();
  profile.pairs.clear();
  EXPECT_EQ(lines(profile_csv(profile).pairs).size(), 1U);
  EXPECT_TRUE(profile_csv(profile).pairs.starts_with("players,S.value"));
}

}  // namespace
}  // namespace hifi
