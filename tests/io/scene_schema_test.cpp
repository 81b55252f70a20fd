// The schema against the parser: the same names, the same ranges, the same verdicts; and every scene of the gallery.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include "io/scene_builder.h"
#include "io/scene_corpus.h"
#include "pliant/scene.h"

namespace pliant {
namespace {

using nlohmann::json;
using valijson::adapters::NlohmannJsonAdapter;

json read_json(const std::filesystem::path& file) {
  std::ifstream in(file);
  return json::parse(in);
}

const json& schema_json() {
  static const json schema = read_json(PLIANT_SCHEMA_FILE);
  return schema;
}

/// The schema's verdict, and in `why` what it found.
bool schema_accepts(const json& document, std::string* why = nullptr) {
  static const valijson::Schema& schema = *[] {
    auto* made = new valijson::Schema;
    valijson::SchemaParser(valijson::SchemaParser::kDraft7).populateSchema(NlohmannJsonAdapter(schema_json()), *made);
    return made;
  }();
  valijson::Validator validator;
  valijson::ValidationResults results;
  const bool good = validator.validate(schema, NlohmannJsonAdapter(document), &results);
  valijson::ValidationResults::Error error;
  while (why && results.popError(error)) {
    for (const std::string& part : error.context) *why += part;
    *why += ": " + error.description + "\n";
  }
  return good;
}

/// Of a property, through `$ref` and a lone `allOf`.
json resolved(json property) {
  while (true) {
    if (property.contains("$ref")) {
      const std::string name = property["$ref"].get<std::string>().substr(std::string("#/definitions/").size());
      property = schema_json()["definitions"][name];
    } else if (property.contains("allOf") && property["allOf"].size() == 1) {
      property = property["allOf"][0];
    } else {
      return property;
    }
  }
}

const json& definition(const std::string& name) {
  return name == "scene" ? schema_json() : schema_json()["definitions"].at(name);
}

TEST(SceneSchema, HasTheParsersFieldNames) {
  for (const FieldSet& set : scene_field_sets()) {
    ASSERT_TRUE(set.definition == "scene" || schema_json()["definitions"].contains(set.definition)) << set.definition;
    std::set<std::string> in_schema, in_parser, required_in_schema, required_in_parser;
    for (const auto& [name, value] : definition(set.definition)["properties"].items()) in_schema.insert(name);
    for (const json& name : definition(set.definition).value("required", json::array())) {
      required_in_schema.insert(name.get<std::string>());
    }
    for (const FieldInfo& field : set.fields) {
      in_parser.insert(field.name);
      if (field.required) required_in_parser.insert(field.name);
    }
    EXPECT_EQ(in_schema, in_parser) << set.definition;
    EXPECT_EQ(required_in_schema, required_in_parser) << set.definition;
    EXPECT_EQ(definition(set.definition)["additionalProperties"], false) << set.definition;
  }
}

TEST(SceneSchema, HasNoKindsThatTheParserDoesNotKnow) {
  std::set<std::string> known;
  for (const FieldSet& set : scene_field_sets()) known.insert(set.definition);
  for (const auto& [name, value] : schema_json()["definitions"].items()) {
    const bool has_kind = value.contains("properties") && value["properties"].contains("kind") &&
                          value["properties"]["kind"].contains("const");
    EXPECT_TRUE(!has_kind || known.contains(name)) << name;
  }
}

TEST(SceneSchema, HasTheParsersRanges) {
  int compared = 0;
  for (const FieldSet& set : scene_field_sets()) {
    for (const FieldInfo& field : set.fields) {
      if (!field.range) continue;
      json property = resolved(definition(set.definition)["properties"][field.name]);
      if (property.contains("items")) property = resolved(property["items"]);
      constexpr double kInfinite = std::numeric_limits<double>::infinity();
      double lower = property.value("minimum", -kInfinite), upper = property.value("maximum", kInfinite);
      if (property.contains("exclusiveMinimum")) lower = property["exclusiveMinimum"].get<double>();
      const std::string where = set.definition + "." + field.name;
      // Bounds that come from the type itself are said or left out in the schema.
      const auto same = [](double a, double b) {
        return a == b || (std::abs(a) >= 4294967295.0 && std::abs(b) >= 4294967295.0 && (a > 0) == (b > 0));
      };
      EXPECT_TRUE(same(lower, field.range->lower)) << where << " " << lower;
      EXPECT_TRUE(same(upper, field.range->upper)) << where << " " << upper;
      EXPECT_EQ(property.contains("exclusiveMinimum"), field.range->above_lower) << where;
      ++compared;
    }
  }
  EXPECT_GT(compared, 100);
}

TEST(SceneSchema, AgreesWithTheParserOnGoodScenes) {
  for (const CorpusScene& scene : good_scenes()) {
    std::string why;
    EXPECT_TRUE(schema_accepts(json::parse(scene.json), &why)) << scene.json << "\n" << why;
    const Result<Scene> parsed = parse_scene(scene.json, "s.json");
    EXPECT_TRUE(parsed.ok()) << scene.json << "\n" << (parsed.ok() ? "" : parsed.error().to_string());
  }
}

TEST(SceneSchema, AgreesWithTheParserOnBadScenes) {
  for (const CorpusScene& scene : bad_scenes()) {
    const Result<Scene> parsed = parse_scene(scene.json, "s.json");
    ASSERT_FALSE(parsed.ok()) << scene.json;
    SceneErrors errors;
    parse_scene(scene.json, "s.json", &errors);
    EXPECT_EQ(errors.list.front().to_string(), scene.message) << scene.json;
    EXPECT_FALSE(scene.schema_sees && schema_accepts(json::parse(scene.json))) << scene.json;
  }
}

TEST(SceneSchema, AcceptsEverySceneOfTheGallery) {
  int scenes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(PLIANT_SCENES_DIR)) {
    if (entry.path().extension() != ".json") continue;
    ++scenes;
    std::string why;
    EXPECT_TRUE(schema_accepts(read_json(entry.path()), &why)) << entry.path() << "\n" << why;
    const Result<Scene> scene = load_scene(entry.path());
    ASSERT_TRUE(scene.ok()) << scene.error().to_string();
    EXPECT_FALSE(scene->title.empty()) << entry.path();
    EXPECT_FALSE(scene->description.empty()) << entry.path();
  }
  EXPECT_GE(scenes, 8);
}

}  // namespace
}  // namespace pliant
