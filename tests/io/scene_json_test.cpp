#include "io/scene_json.h"

#include <random>

#include <gtest/gtest.h>

#include "io/suggest.h"

namespace pliant {
namespace {

std::string error_of(const std::string& text) {
  const Result<JsonValue> result = parse_json(text);
  return result.ok() ? "" : result.error().to_string() + " @" + std::to_string(result.error().line);
}

TEST(SceneJson, RemembersLines) {
  const JsonValue v = *parse_json("{\n\"a\": 1,\n\"b\": [\n1,\n2\n,\n{\"c\":\ntrue}],\n\n\"d\":\n\"x\"}");
  EXPECT_EQ(v.line, 1);
  EXPECT_EQ(v.find("a")->line, 2);
  const JsonValue& b = *v.find("b");
  EXPECT_EQ(b.line, 3);
  const auto& items = *b.as<JsonValue::Array>();
  EXPECT_EQ(items[0].line, 4);
  EXPECT_EQ(items[1].line, 5);  // the character that ends the number is on the next line
  EXPECT_EQ(items[2].line, 7);
  EXPECT_EQ(items[2].find("c")->line, 7);
  EXPECT_EQ(v.find("d")->line, 10);  // a member is where its name is
}

TEST(SceneJson, KeepsValuesAndOrder) {
  const JsonValue v = *parse_json(R"({"z": -1.5e3, "a": "h\u00e9\n", "m": [true, false, null, 18446744073709551615]})");
  const auto& members = *v.as<JsonValue::Object>();
  EXPECT_EQ(members[0].name, "z");
  EXPECT_EQ(*members[0].value.as<double>(), -1500);
  EXPECT_EQ(*members[1].value.as<std::string>(), "h\xc3\xa9\n");
  const auto& items = *members[2].value.as<JsonValue::Array>();
  EXPECT_EQ(*items[0].as<bool>(), true);
  EXPECT_NE(items[2].as<JsonValue::Null>(), nullptr);
  EXPECT_EQ(*items[3].as<double>(), 18446744073709551615.0);
}

TEST(SceneJson, SaysWhereTheSyntaxIsWrong) {
  const std::string error = error_of("{\n  \"a\": 1,\n  \"b\" 2\n}");
  EXPECT_NE(error.find("column 8:"), std::string::npos) << error;
  EXPECT_NE(error.find("@3"), std::string::npos) << error;
}

TEST(SceneJson, RefusesWhatIsNotAFiniteNumber) {
  for (const char* text : {"NaN", "[nan]", "Infinity", "-inf", "1e999", "[-1e400]", "0x10", "1.", ".5", "+1", "01"}) {
    EXPECT_NE(error_of(text), "") << text;
  }
}

TEST(SceneJson, RefusesRepeatedNames) {
  EXPECT_NE(error_of("{\"a\": 1,\n \"b\": 2, \"a\": 3}").find("the member `a` stands twice"), std::string::npos);
}

TEST(SceneJson, BoundsDepthAndNumber) {
  const auto nested = [](std::size_t n) { return std::string(n, '[') + std::string(n, ']'); };
  EXPECT_TRUE(parse_json(nested(kMaxJsonDepth)).ok());
  EXPECT_NE(error_of(nested(kMaxJsonDepth + 1)).find("nested deeper than 64"), std::string::npos);
  EXPECT_NE(error_of(std::string(10'000'000, '[')).find("nested deeper"), std::string::npos);
  std::string many = "{\"bodies\": [0";
  for (std::size_t i = 0; i < kMaxJsonValues; ++i) many += ",0";
  const Result<JsonValue> result = parse_json(many + "]}");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, Error::Code::CapacityExceeded);
  EXPECT_EQ(result.error().field.rfind("bodies[", 0), 0u) << result.error().field;
}

TEST(SceneJson, SurvivesGarbage) {
  std::mt19937 random(5);
  const std::string good =
      R"({"bodies": [{"kind": "rigid", "shape": {"kind": "box", "size": [1, 2.5e1, 3]}}], "x": null})";
  for (int i = 0; i < 20000; ++i) {
    std::string text = good;
    for (unsigned n = 0; n < 1 + random() % 4; ++n) text[random() % text.size()] = static_cast<char>(random());
    text.resize(random() % (text.size() + 1));
    const Result<JsonValue> result = parse_json(text);
    if (!result.ok()) {
      EXPECT_GE(result.error().line, 1);
      EXPECT_LT(result.error().message.size(), 400u);
      EXPECT_EQ(shown(result.error().message, 1000), result.error().message);
    }
  }
}

TEST(Suggest, CountsEdits) {
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("positon", "position"), 1u);
  EXPECT_EQ(edit_distance("pyramdi", "pyramid"), 1u);  // two neighbours swapped
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
}

TEST(Suggest, FindsNearWordsAndNoFarOnes) {
  const std::vector<std::string> words = {"pyramid", "pile", "dominoes", "arch"};
  EXPECT_EQ(suggestion("pyramyd", words), "; did you mean `pyramid`?");
  EXPECT_EQ(suggestion("domino", words), "; did you mean `dominoes`?");
  EXPECT_EQ(suggestion("zebra", words), "");
  EXPECT_EQ(suggestion(std::string(100000, 'p'), words), "");
}

}  // namespace
}  // namespace pliant
