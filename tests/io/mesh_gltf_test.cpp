// glTF files laid out by hand: every way to say a triangle, and what must be refused.
#include <cstring>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "io/base64.h"
#include "io/glb_writer.h"
#include "io/mesh_test_support.h"

namespace pliant::test {
namespace {

using nlohmann::json;
using Faces = std::vector<Face>;
using Points = std::vector<Vec3>;

template <typename T>
std::string packed(std::initializer_list<T> values) {
  std::string result(values.size() * sizeof(T), '\0');
  std::memcpy(result.data(), values.begin(), result.size());
  return result;
}

/// A document with one buffer, one view per piece of data and one accessor per view.
struct Sample {
  json document{{"asset", {{"version", "2.0"}}}};
  std::string data;

  std::size_t add(const std::string& bytes, int component, const char* type, std::size_t count) {
    data.resize((data.size() + 3) / 4 * 4);
    document["bufferViews"].push_back({{"buffer", 0}, {"byteOffset", data.size()}, {"byteLength", bytes.size()}});
    document["accessors"].push_back({{"bufferView", document["bufferViews"].size() - 1},
                                     {"componentType", component},
                                     {"type", type},
                                     {"count", count}});
    data += bytes;
    return document["accessors"].size() - 1;
  }
  void primitive(json p) { document["meshes"][0]["primitives"].push_back(std::move(p)); }

  std::string gltf() {
    document["buffers"] =
        json::array({{{"byteLength", data.size()},
                      {"uri", "data:application/octet-stream;base64," + base64_encode(data.data(), data.size())}}});
    return document.dump();
  }
  std::string glb() {
    document["buffers"] = json::array({{{"byteLength", data.size()}}});
    std::string text = document.dump(), binary = data;
    text.resize((text.size() + 3) / 4 * 4, ' ');
    binary.resize((binary.size() + 3) / 4 * 4);
    const auto size = [](const std::string& s) { return static_cast<std::uint32_t>(s.size()); };
    return packed<std::uint32_t>({0x46546C67, 2, 28 + size(text) + size(binary), size(text), 0x4E4F534A}) + text +
           packed<std::uint32_t>({size(binary), 0x004E4942}) + binary;
  }
};

const std::string kQuad = packed<float>({0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0});
const Points kQuadPoints{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}};

Sample quad() {
  Sample s;
  s.add(kQuad, 5126, "VEC3", 4);
  s.add(packed<std::uint16_t>({0, 1, 2, 2, 1, 3}), 5123, "SCALAR", 6);
  s.primitive({{"attributes", {{"POSITION", 0}}}, {"indices", 1}});
  return s;
}

class Gltf : public MeshFolder {
 protected:
  MeshFile read(Sample s) { return load(put("m.gltf", s.gltf())); }
  Error error(Sample s) { return load_error(put("m.gltf", s.gltf())); }
};

TEST_F(Gltf, ReadsTextAndBinary) {
  for (const char* name : {"m.gltf", "m.glb"}) {
    Sample s = quad();
    const MeshFile m = load(put(name, std::string(name) == "m.glb" ? s.glb() : s.gltf()));
    EXPECT_TRUE(m.surface.vertices == kQuadPoints);
    EXPECT_EQ(m.surface.faces, (Faces{{0, 1, 2}, {2, 1, 3}}));
  }
}

TEST_F(Gltf, ReadsAnExternalBuffer) {
  Sample s = quad();
  s.gltf();
  s.document["buffers"][0]["uri"] = "da%20ta.bin";
  put("da ta.bin", s.data);
  EXPECT_EQ(load(put("m.gltf", s.document.dump())).surface.faces.size(), 2u);
}

TEST_F(Gltf, RefusesFilesOutsideItsFolder) {
  std::filesystem::create_directory(path("inner"));
  Sample s = quad();
  put("secret.bin", s.data);
  s.gltf();
  for (const std::string& uri :
       {std::string("../secret.bin"), std::string("%2e%2e/secret.bin"), std::string("a/../../secret.bin"),
        path("secret.bin").string(), "file://" + path("secret.bin").string(), std::string("http://example.com/x.bin"),
        std::string("..\\secret.bin"), std::string()}) {
    s.document["buffers"][0]["uri"] = uri;
    const Error e = load_error(put("inner/m.gltf", s.document.dump()));
    EXPECT_EQ(e.field, "buffers[0].uri") << uri;
  }
}

TEST_F(Gltf, ReadsStripsFansAndPlainLists) {
  Sample s;
  s.add(kQuad, 5126, "VEC3", 4);
  s.add(packed<float>({0, 0, 0, 1, 0, 0, 0, 1, 0}), 5126, "VEC3", 3);
  s.primitive({{"attributes", {{"POSITION", 0}}}, {"mode", 5}});
  s.primitive({{"attributes", {{"POSITION", 0}}}, {"mode", 6}});
  s.primitive({{"attributes", {{"POSITION", 1}}}, {"mode", 4}});
  s.primitive({{"attributes", {{"POSITION", 0}}}, {"mode", 1}});
  EXPECT_EQ(read(s).surface.faces, (Faces{{0, 1, 2}, {1, 3, 2}, {4, 5, 6}, {4, 6, 7}, {8, 9, 10}}));
}

TEST_F(Gltf, ReadsEveryTypeOfIndex) {
  for (const int type : {5121, 5123, 5125}) {
    Sample s;
    s.add(kQuad, 5126, "VEC3", 4);
    s.add(type == 5121   ? packed<std::uint8_t>({0, 1, 3})
          : type == 5123 ? packed<std::uint16_t>({0, 1, 3})
                         : packed<std::uint32_t>({0, 1, 3}),
          type, "SCALAR", 3);
    s.primitive({{"attributes", {{"POSITION", 0}}}, {"indices", 1}});
    const MeshFile m = read(s);
    EXPECT_TRUE(m.surface.vertices == (Points{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}})) << type;
  }
}

TEST_F(Gltf, ReadsNormalisedIntegers) {
  Sample s;
  s.add(packed<std::int16_t>({-32768, -32767, 32767, 0, 16384, 0, 100, 0, 0}), 5122, "VEC3", 3);
  s.add(packed<std::int8_t>({0, 0, 127, 0, 127, 0, -128, 0, 0}), 5120, "VEC3", 3);
  s.add(packed<std::uint16_t>({65535, 0, 32768, 0, 0, 13107}), 5123, "VEC2", 3);
  for (json& a : s.document["accessors"]) a["normalized"] = true;
  s.primitive({{"attributes", {{"POSITION", 0}, {"NORMAL", 1}, {"TEXCOORD_0", 2}}}});
  const MeshFile m = read(s);
  EXPECT_TRUE(m.surface.vertices[0] == (Vec3{-1, -1, 1}));
  EXPECT_FLOAT_EQ(m.surface.vertices[1].y, 16384.0f / 32767);
  EXPECT_TRUE(m.surface.normals == (Points{{0, 0, 1}, {0, 1, 0}, {-1, 0, 0}}));
  EXPECT_FLOAT_EQ(m.surface.uvs[2].y, 0.2f);
  // Without the flag the numbers stand for themselves (KHR_mesh_quantization).
  s.document["accessors"][0].erase("normalized");
  EXPECT_TRUE(read(s).surface.vertices[2] == (Vec3{100, 0, 0}));
}

TEST_F(Gltf, ReadsInterleavedData) {
  Sample s;
  s.add(packed<float>({9, 0, 0, 0, 0, 0, 1, 9, 1, 0, 0, 0, 0, 1, 9, 0, 1, 0, 0, 0, 1}), 5126, "VEC3", 3);
  s.document["bufferViews"][0]["byteStride"] = 28;
  s.document["accessors"][0]["byteOffset"] = 4;
  s.document["accessors"].push_back(
      {{"bufferView", 0}, {"byteOffset", 16}, {"componentType", 5126}, {"type", "VEC3"}, {"count", 3}});
  s.primitive({{"attributes", {{"POSITION", 0}, {"NORMAL", 1}}}});
  const MeshFile m = read(s);
  EXPECT_TRUE(m.surface.vertices == (Points{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}));
  EXPECT_TRUE(m.surface.normals == Points(3, {0, 0, 1}));
}

TEST_F(Gltf, ReadsSparseAccessors) {
  for (const bool with_base : {true, false}) {
    Sample s;
    s.add(kQuad, 5126, "VEC3", 4);
    s.add(packed<std::uint8_t>({1, 3}), 5121, "SCALAR", 2);
    s.add(packed<float>({5, 6, 7, 8, 9, 10}), 5126, "VEC3", 2);
    if (!with_base) s.document["accessors"][0].erase("bufferView");
    s.document["accessors"][0]["sparse"] = {
        {"count", 2}, {"indices", {{"bufferView", 1}, {"componentType", 5121}}}, {"values", {{"bufferView", 2}}}};
    s.primitive({{"attributes", {{"POSITION", 0}}}, {"mode", 5}});
    const MeshFile m = read(s);
    EXPECT_TRUE(m.surface.vertices == (with_base ? Points{{0, 0, 0}, {5, 6, 7}, {0, 1, 0}, {8, 9, 10}}
                                                 : Points{{0, 0, 0}, {5, 6, 7}, {0, 0, 0}, {8, 9, 10}}));
  }
}

TEST_F(Gltf, AppliesTheTransformsOfTheDefaultScene) {
  Sample s = quad();
  s.add(packed<float>({0, 0, 1, 0, 0, 1, 0, 0, 1, 0.6f, 0, 0.8f}), 5126, "VEC3", 4);
  s.document["meshes"][0]["primitives"][0]["attributes"]["NORMAL"] = 2;
  const float h = std::sqrt(0.5f);
  s.document["nodes"] = json::array({{{"mesh", 0}},  // not in the scene
                                     {{"translation", {10, 0, 0}}, {"children", {2, 3}}},
                                     {{"mesh", 0}, {"rotation", {0, 0, h, h}}, {"scale", {2, 2, 2}}},
                                     {{"mesh", 0}, {"matrix", {-1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 2, 0, 0, 0, 5, 1}}}});
  s.document["scenes"] = json::array({{{"nodes", {0}}}, {{"nodes", {1}}}});
  s.document["scene"] = 1;
  const MeshFile m = read(s);
  ASSERT_EQ(m.surface.vertices.size(), 8u);
  const auto near = [](Vec3 a, Vec3 b) { return length(a - b) < 1e-5f; };
  // A quarter turn about z takes x to y.
  EXPECT_TRUE(near(m.surface.vertices[1], {10, 2, 0}));
  EXPECT_TRUE(near(m.surface.vertices[2], {8, 0, 0}));
  EXPECT_TRUE(near(m.surface.normals[3], {0, 0.6f, 0.8f}));
  // The mirror turns the faces round, so that they still look along their normals.
  EXPECT_TRUE(near(m.surface.vertices[5], {9, 0, 5}));
  EXPECT_EQ(m.surface.faces[2], (Face{4, 6, 5}));
  EXPECT_TRUE(near(m.surface.normals[4], {0, 0, 1}));
  EXPECT_TRUE(near(m.surface.normals[7], normalized({-0.6f, 0, 0.4f})));
}

TEST_F(Gltf, WithoutScenesReadsAllRootsAndWithoutNodesAllMeshes) {
  Sample s = quad();
  EXPECT_EQ(read(s).surface.faces.size(), 2u);
  s.document["nodes"] = json::array({{{"children", {1}}}, {{"mesh", 0}}, {{"mesh", 0}}});
  EXPECT_EQ(read(s).surface.faces.size(), 4u);
  EXPECT_EQ(read(s).objects, (std::vector<std::uint32_t>{0, 2}));
}

TEST_F(Gltf, ErrorsNameTheField) {
  const auto changed = [&](const std::string& pointer, const json& value) {
    Sample s = quad();
    s.gltf();
    s.document[json::json_pointer(pointer)] = value;
    return load_error(put("m.gltf", s.document.dump()));
  };
  EXPECT_EQ(changed("/accessors/0/count", 5).field, "accessors[0]");
  EXPECT_EQ(changed("/accessors/0/count", 0).field, "accessors[0].count");
  EXPECT_EQ(changed("/accessors/0/count", -1).field, "accessors[0].count");
  EXPECT_EQ(changed("/accessors/0/count", 1.5).field, "accessors[0].count");
  EXPECT_EQ(changed("/accessors/0/count", "4").field, "accessors[0].count");
  EXPECT_EQ(changed("/accessors/0/count", 18446744073709551615u).field, "accessors[0].count");
  EXPECT_EQ(changed("/accessors/0/byteOffset", 4).field, "accessors[0]");
  EXPECT_EQ(changed("/accessors/0/byteOffset", 18446744073709551615u).field, "accessors[0]");
  EXPECT_EQ(changed("/accessors/0/bufferView", 7).field, "accessors[0].bufferView");
  EXPECT_EQ(changed("/accessors/0/componentType", 5130).field, "accessors[0].componentType");
  EXPECT_EQ(changed("/accessors/0/type", "VEC2").field, "accessors[0].type");
  EXPECT_EQ(changed("/accessors/1/componentType", 5126).field, "accessors[1]");
  EXPECT_EQ(changed("/bufferViews/0/byteLength", 1000).field, "bufferViews[0]");
  EXPECT_EQ(changed("/bufferViews/0/byteOffset", 18446744073709551615u).field, "bufferViews[0]");
  EXPECT_EQ(changed("/bufferViews/0/byteStride", 4).field, "bufferViews[0].byteStride");
  EXPECT_EQ(changed("/bufferViews/0/byteStride", 10000).field, "bufferViews[0].byteStride");
  EXPECT_EQ(changed("/bufferViews/0/buffer", 1).field, "bufferViews[0].buffer");
  EXPECT_EQ(changed("/bufferViews", json::object()).field, "bufferViews");
  EXPECT_EQ(changed("/buffers/0/byteLength", 1000).field, "buffers[0].byteLength");
  EXPECT_EQ(changed("/buffers/0/uri", "data:;base64,AAA").field, "buffers[0].uri");
  EXPECT_EQ(changed("/buffers/0/uri", "data:text/plain,AAA").field, "buffers[0].uri");
  EXPECT_EQ(changed("/buffers/0/uri", "missing.bin").code, Error::Code::NotFound);
  EXPECT_EQ(changed("/meshes/0/primitives/0/mode", 7).field, "meshes[0].primitives[0].mode");
  EXPECT_EQ(changed("/meshes/0/primitives/0/indices", 2).field, "meshes[0].primitives[0].indices");
  EXPECT_EQ(changed("/meshes/0/primitives/0/attributes", json::object()).field,
            "meshes[0].primitives[0].attributes.POSITION");
  EXPECT_EQ(changed("/meshes/0/primitives/0/attributes/NORMAL", 1).field, "accessors[1].type");
  EXPECT_EQ(changed("/accessors/1/count", 5).field, "meshes[0].primitives[0]");
  EXPECT_EQ(changed("/asset/version", "1.0").code, Error::Code::Unsupported);
  EXPECT_EQ(changed("/extensionsRequired", {"KHR_draco_mesh_compression"}).code, Error::Code::Unsupported);
  EXPECT_EQ(changed("/nodes", json::array({{{"mesh", 1}}})).field, "nodes[0].mesh");
  EXPECT_EQ(changed("/nodes", json::array({{{"mesh", 0}, {"scale", {1, 1}}}})).field, "nodes[0].scale");
  EXPECT_EQ(changed("/nodes", json::array({{{"mesh", 0}, {"matrix", "x"}}})).field, "nodes[0].matrix");
  EXPECT_EQ(changed("/nodes", json::array({1, 2})).field, "nodes[0]");
  // Without a binary chunk there is nothing a buffer without a name could be.
  Sample s = quad();
  s.glb();
  EXPECT_EQ(load_error(put("m.gltf", s.document.dump())).field, "buffers[0]");
}

TEST_F(Gltf, IndicesOutOfRangeAndNonFiniteNumbersAreRefused) {
  Sample s = quad();
  s.data[48] = 4;  // the first index
  expect_message(error(s), "entry 0 is 4, but there are 4 vertices");
  s = quad();
  const float nan = std::nanf("");
  std::memcpy(&s.data[16], &nan, 4);
  expect_message(error(s), "element 1 is not finite");
}

TEST_F(Gltf, CirclesAndSharedNodesAreRefused) {
  Sample s = quad();
  s.document["scenes"] = json::array({{{"nodes", {0}}}});
  s.document["nodes"] = json::array({{{"mesh", 0}, {"children", {1}}}, {{"children", {0}}}});
  EXPECT_EQ(error(s).field, "nodes[0]");
  s.document["nodes"] = json::array({{{"children", {1, 2}}}, {{"children", {2}}}, {{"mesh", 0}}});
  EXPECT_EQ(error(s).field, "nodes[2]");
  s.document["nodes"] = json::array({{{"children", {5}}}});
  EXPECT_EQ(error(s).field, "nodes[0].children[0]");
}

TEST_F(Gltf, SmallFilesCannotClaimMuchMemory) {
  Sample s = quad();
  s.document["accessors"][0].erase("bufferView");
  s.document["accessors"][0]["count"] = 2000000000;
  EXPECT_EQ(error(s).code, Error::Code::CapacityExceeded);
  // A mesh of 65536 zeros, placed two thousand times.
  s = Sample();
  s.document["accessors"] = json::array({{{"componentType", 5126}, {"type", "VEC3"}, {"count", 65536}}});
  s.primitive({{"attributes", {{"POSITION", 0}}}, {"mode", 5}});
  for (int i = 0; i < 2000; ++i) s.document["nodes"].push_back({{"mesh", 0}});
  s.document["scenes"] = json::array({json::object()});
  for (int i = 0; i < 2000; ++i) s.document["scenes"][0]["nodes"].push_back(i);
  EXPECT_EQ(load_error(put("m.gltf", s.document.dump())).code, Error::Code::CapacityExceeded);
}

TEST_F(Gltf, DamagedContainersAreRefused) {
  Sample s = quad();
  const std::string good = s.glb();
  const auto with = [&](std::size_t at, std::uint32_t word) {
    std::string file = good;
    std::memcpy(&file[at], &word, 4);
    return load_error(put("m.glb", file));
  };
  expect_message(with(4, 1), "version 1");
  expect_message(with(8, 0xffffffff), "tells a length");
  expect_message(with(8, 4), "tells a length");
  expect_message(with(12, 0xffffffff), "JSON chunk");
  expect_message(with(16, 0), "JSON chunk");
  expect_message(load_error(put("m.glb", "{}")), "is not a .glb");
  expect_message(load_error(put("m.gltf", "{\"asset\":")), "JSON");
  expect_message(load_error(put("m.gltf", "[]")), "not an object");
  expect_message(load_error(put("m.gltf", std::string(1000000, '['))), "JSON");
}

TEST_F(Gltf, WriterRefusesMisuseAndLeavesNothing) {
  const auto finish = [&](auto use) {
    Result<GlbWriter> out = GlbWriter::create(path("m.glb"));
    EXPECT_TRUE(out.ok());
    use(*out);
    const Status s = out->finish();
    EXPECT_FALSE(s.ok());
    return s.ok() ? Error{} : s.error();
  };
  expect_message(finish([](GlbWriter& g) { g.add_node({.name = "n", .mesh = 3}); }), "\"n\"");
  expect_message(finish([](GlbWriter& g) { g.add_positions(Points{{0, std::nanf(""), 0}}); }), "not finite");
  expect_message(finish([](GlbWriter& g) { g.add_mesh({.name = "m"}); }), "no primitives");
  expect_message(finish([](GlbWriter& g) {
                   GlbPrimitive p;
                   p.positions = g.add_positions(kQuadPoints);
                   p.indices = g.add_indices(Faces{{0, 1, 4}});
                   g.add_mesh({.primitives = {p}});
                 }),
                 "does not exist");
  expect_message(finish([](GlbWriter& g) {
                   GlbTrack<Vec3> track;
                   track.append(1, {});
                   track.append(1, {1, 0, 0});
                   g.animate_translation(g.add_node({}), track);
                 }),
                 "increase");
  expect_message(finish([](GlbWriter& g) { g.add_material({.name = "m", .roughness = 2}); }), "\"m\"");
  EXPECT_TRUE(names().empty());
  EXPECT_FALSE(GlbWriter::create(path("m.txt")).ok());
}

TEST_F(Gltf, TracksLeaveOutWhatRepeats) {
  GlbTrack<Vec3> track;
  for (int i = 0; i < 1000; ++i)
    track.append(static_cast<float>(i), i < 500 ? Vec3{1, 2, 3} : Vec3{static_cast<float>(i), 0, 0});
  EXPECT_EQ(track.times().size(), 502u);
  EXPECT_EQ(track.times()[1], 499.0f);
  EXPECT_EQ(track.times()[2], 500.0f);
  EXPECT_FALSE(track.constant());
  GlbTrack<Vec3> rest;
  for (int i = 0; i < 1000; ++i) rest.append(static_cast<float>(i), {});
  EXPECT_EQ(rest.times().size(), 2u);
  EXPECT_EQ(rest.times()[1], 999.0f);
  EXPECT_TRUE(rest.constant());
}

}  // namespace
}  // namespace pliant::test
