// Splinters from scene files: what stands in the file is what the body is cut into, and files whose objects are the
// pieces.
#include <gtest/gtest.h>

#include "io/scene_temp.h"
#include "io/scene_text.h"
#include "pliant/mesh_io.h"
#include "pliant/scene.h"

namespace pliant {
namespace {

std::string solid(const std::string& fields) {
  return R"({"bodies": [{"kind": "solid", "mesh": {"box": [1, 0.5, 0.25], "cell": 0.25}, "material": "oak",
      "color": [0.5, 0.25, 0.125], )" +
         fields + "}]}";
}

const SolidDef& first_solid(const Scene& scene) { return std::get<SolidDef>(scene.bodies.at(0).def); }

TEST(SceneSplinters, AreThoseOfThePattern) {
  const Scene scene = parse(solid(R"("interior_color": [0.1, 0.2, 0.3],
      "splinters": {"kind": "brick", "size": [0.2, 0.1, 0.1], "joint": 0.02, "joint_color": [1, 1, 1], "variation": 0})"));
  const SolidDef& def = first_solid(scene);
  ASSERT_TRUE(def.splinters);
  EXPECT_EQ(def.interior_color, (Vec3{0.1f, 0.2f, 0.3f}));
  const Splinters expected =
      make_splinters(def.mesh,
                     {.pattern = BrickSplinters{.size = {0.2f, 0.1f, 0.1f}, .joint = 0.02f, .joint_color = {1, 1, 1}},
                      .color = {0.5f, 0.25f, 0.125f},
                      .variation = 0})
          .value();
  EXPECT_EQ(def.splinters->mesh.vertices, expected.mesh.vertices);
  EXPECT_EQ(def.splinters->colors, expected.colors);
}

TEST(SceneSplinters, OfWoodHaveTheGrainOfTheMaterial) {
  const auto cut = [](const std::string& material, const std::string& grain) {
    const Scene scene = parse(R"({"bodies": [{"kind": "solid", "mesh": {"box": [1, 1, 0.25], "cell": 0.25},
        "material": {"base": "oak", "grain_direction": )" +
                              material + R"(}, "splinters": {"kind": "wood", "width": 0.1)" + grain + "}}]}");
    return first_solid(scene).splinters->mesh.vertices;
  };
  EXPECT_EQ(cut("[0, 1, 0]", ""), cut("[1, 0, 0]", R"(, "grain": [0, 2, 0])"));
  EXPECT_NE(cut("[0, 1, 0]", ""), cut("[1, 0, 0]", ""));
}

TEST(SceneSplinters, ErrorsNameTheField) {
  const auto message = [](const std::string& fields) {
    const Result<Scene> scene = parse_scene(solid(fields), "s.json");
    return scene.ok() ? std::string("accepted") : scene.error().to_string();
  };
  EXPECT_NE(message(R"("splinters": {"kind": "straw"})").find("splinters.kind"), std::string::npos);
  EXPECT_NE(message(R"("splinters": {"kind": "grain", "size": -1})").find("splinters.size"), std::string::npos);
  EXPECT_NE(message(R"("splinters": {"kind": "grain", "size": 1e-5})").find("make it coarser"), std::string::npos);
  EXPECT_NE(message(R"("splinters": {"kind": "file", "path": "nothing.obj"})").find("nothing.obj"), std::string::npos);
  EXPECT_NE(message(R"("splinters": {"kind": "glass", "colour": 1})").find("colour"), std::string::npos);
}

TEST(SceneSplinters, ObjectsOfAFileAreThePieces) {
  const TempFolder folder;
  std::string text;
  int first = 1;
  for (const float x : {-0.5f, 0.0f}) {  // two halves of the box
    text += "o half\n";
    for (const float dx : {0.0f, 0.5f}) {
      for (const char* yz : {"-0.25 -0.125", "0.25 -0.125", "0.25 0.125", "-0.25 0.125"}) {
        text += "v " + std::to_string(x + dx) + " " + yz + "\n";
      }
    }
    for (const auto& quad :
         {std::array{0, 3, 2, 1}, {4, 5, 6, 7}, {0, 1, 5, 4}, {1, 2, 6, 5}, {2, 3, 7, 6}, {3, 0, 4, 7}}) {
      text += "f";
      for (const int v : quad) text += " " + std::to_string(first + v);
      text += "\n";
    }
    first += 8;
  }
  folder.write("halves.obj", text);
  folder.write("a.json", solid(R"("splinters": {"kind": "file", "path": "halves.obj"})"));
  const Result<Scene> scene = load_scene(folder / "a.json");
  ASSERT_TRUE(scene.ok()) << scene.error().to_string();
  const Splinters& pieces = *first_solid(*scene).splinters;
  ASSERT_EQ(pieces.size(), 2u);
  std::size_t inside = 0;
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_NEAR(enclosed_volume(splinter_surface(pieces, i)), 0.5 * 0.5 * 0.25, 1e-6);
    EXPECT_TRUE(validate(splinter_surface(pieces, i), {.require_closed = true}).empty());
  }
  for (const std::uint8_t f : pieces.is_inside) inside += f;
  EXPECT_EQ(inside, 4u) << "the two triangles of each side of the cut";
  const MeshFile file = load_mesh(folder / "halves.obj").value();
  EXPECT_EQ(file.objects, (std::vector<std::uint32_t>{0, 12}));
}

TEST(SceneSplinters, ObjectsMayBeginAnywhere) {
  const TempFolder folder;
  const std::string points = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n";
  folder.write("a.obj", points + "f 1 2 3\ng first\no again\nf 1 2 4\nf 2 3 4\ng empty\n");
  const MeshFile file = load_mesh(folder / "a.obj").value();
  EXPECT_EQ(file.objects, (std::vector<std::uint32_t>{0, 1}));
  const std::vector<TriMesh> objects = objects_of(file);
  ASSERT_EQ(objects.size(), 2u);
  EXPECT_EQ(objects[0].vertices.size(), 3u);
  EXPECT_EQ(objects[1].faces.size(), 2u);
  EXPECT_EQ(objects[1].vertices.size(), 4u);
  folder.write("b.obj", points + "f 1 2 3\n");
  EXPECT_TRUE(load_mesh(folder / "b.obj").value().objects.empty());
  EXPECT_EQ(objects_of(load_mesh(folder / "b.obj").value()).size(), 1u);
}

}  // namespace
}  // namespace pliant
