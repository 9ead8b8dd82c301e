#include "core/json_text.h"

#include <gtest/gtest.h>

#include "core/test_folder.h"

namespace hifi {
namespace {

TEST(JsonText, RefusesAKeyThatIsThereTwice) {
  const auto refusal = [](const char* text) { return error_of([&] { parse_json(text, "x.json"); }); };
  EXPECT_EQ(refusal(R"({"a":1,"b":{"a":2},"c":[{"a":1},{"a":1}]})"), "no error");
  EXPECT_TRUE(contains(refusal(R"({"a":1,"a":1})"), "x.json: the key \"a\" is there twice"));
  EXPECT_TRUE(contains(refusal(R"({"b":[0,{"c":{"a":1},"d":2,"c":3}]})"), "\"c\" is there twice"));
  EXPECT_TRUE(contains(refusal("{\"a\\nb\":1,\"a\\nb\":2}"), R"("a\nb")")) << "one line";
}

TEST(JsonText, ParsesAsTheLibrary) {
  const std::string text = R"({"z":[1,2.5,null,true,"x"],"a":{"":[]}})";
  EXPECT_EQ(parse_json(text, "x"), nlohmann::json::parse(text));
  EXPECT_EQ(parse_json<nlohmann::ordered_json>(text, "x").dump(), text);
  for (const char* broken : {"", "{", "[1,", "nonsense", "{\"a\":1}}", "\"\xff\""}) {
    EXPECT_TRUE(parse_json(broken, "x").is_discarded()) << broken;
  }
  EXPECT_TRUE(parse_json(std::string(200'000, '['), "x").is_discarded());
}

}  // namespace
}  // namespace hifi
