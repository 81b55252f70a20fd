// Cloth, rope and jelly from scene files: what stands in the file is what the world gets, and what happens to them
// follows from closed forms.
#include <cmath>

#include <gtest/gtest.h>

#include "io/scene_temp.h"
#include "io/scene_text.h"
#include "pliant/cloth_materials.h"
#include "pliant/mesh_io.h"
#include "pliant/scene.h"
#include "pliant/texture_io.h"
#include "pliant/world.h"

namespace pliant {
namespace {

void run(ScenePlayer& player, double time) {
  while (player.world().time() < time - 1e-4) {
    player.step();
    ASSERT_TRUE(player.world().report().errors.empty()) << player.world().report().errors[0].to_string();
  }
}

TEST(SceneCloth, KeepsEveryFieldOfTheFile) {
  const Scene scene = parse(R"({"bodies": [{"kind": "cloth", "name": "c",
      "shape": {"kind": "sheet", "width": 2, "length": 3, "cells_x": 4, "cells_z": 5},
      "material": {"base": "leather", "density": 0.7, "damping": 0.3}, "thickness": 0.02, "friction": 0.9,
      "position": [1, 2, 3], "velocity": [4, 5, 6], "angular_velocity": [7, 8, 9], "gravity_scale": 0.5, "drag": 1.1,
      "self_collision": false, "allow_sleep": false, "filter": {"category": 4, "mask": 8}, "color": [0.1, 0.2, 0.3],
      "held": [{"name": "h", "nodes": {"list": [3]}}]}]})");
  const auto& def = std::get<ClothDef>(scene.bodies.at(0).def);
  const auto& sheet = std::get<ClothSheet>(def.shape);
  EXPECT_EQ(def.name, "c");
  EXPECT_EQ(sheet.width, 2);
  EXPECT_EQ(sheet.length, 3);
  EXPECT_EQ(sheet.cells_x, 4);
  EXPECT_EQ(sheet.cells_z, 5);
  EXPECT_EQ(def.material.density, 0.7f);
  EXPECT_EQ(def.material.bend_stiffness, cloth_material::leather().bend_stiffness);
  EXPECT_EQ(def.material.stretch_stiffness, cloth_material::leather().stretch_stiffness);
  EXPECT_EQ(def.material.damping, 0.3f);
  EXPECT_EQ(def.thickness, 0.02f);
  EXPECT_EQ(def.friction, 0.9f);
  EXPECT_EQ(def.position, (Vec3{1, 2, 3}));
  EXPECT_EQ(def.velocity, (Vec3{4, 5, 6}));
  EXPECT_EQ(def.angular_velocity, (Vec3{7, 8, 9}));
  EXPECT_EQ(def.gravity_scale, 0.5f);
  EXPECT_EQ(def.drag, 1.1f);
  EXPECT_FALSE(def.self_collision);
  EXPECT_FALSE(def.allow_sleep);
  EXPECT_EQ(def.filter, (CollisionFilter{4, 8}));
  EXPECT_EQ(def.appearance.color, (Vec3{0.1f, 0.2f, 0.3f}));
  ASSERT_EQ(def.held.size(), 1u);
  EXPECT_EQ(std::get<NodeList>(def.held[0].nodes).nodes, std::vector<std::uint32_t>{3});
}

TEST(SceneCloth, JoinsVerticesAtOnePlace) {
  // Two triangles that share an edge, each with vertices of its own, as seams of a texture leave them.
  const TempFolder folder;
  folder.write("split.obj",
               "v 0 0 0\nv 0 0 1\nv 1 0 0\nv 1 0 1\nvt 0 0\nvt 0 1\nvt 1 0\nvt 1 1\nvt 0.5 0.5\n"
               "f 1/1 2/2 3/3\nf 3/4 2/5 4/4\n");
  folder.write("a.json", R"({"meshes": {"m": {"kind": "file", "path": "split.obj"}},
      "bodies": [{"kind": "cloth", "shape": {"kind": "mesh", "mesh": "m", "scale": 2}}]})");
  const Result<Scene> scene = load_scene(folder / "a.json");
  ASSERT_TRUE(scene.ok()) << scene.error().to_string();
  ASSERT_EQ(scene->meshes.at("m").surface->vertices.size(), 6u);
  const auto& def = std::get<ClothDef>(scene->bodies[0].def);
  const auto& mesh = std::get<TriMesh>(def.shape);
  EXPECT_EQ(mesh.vertices.size(), 4u);
  EXPECT_EQ(mesh.faces.size(), 2u);
  EXPECT_EQ(mesh.bounds().upper, (Vec3{2, 0, 2}));
  ASSERT_TRUE(def.surface);  // the seams are still seen
  EXPECT_EQ(def.surface->vertices.size(), 6u);
  EXPECT_EQ(def.surface->bounds().upper, (Vec3{2, 0, 2}));
}

TEST(SceneCloth, HangsByItsHeldEdgeAndGoesWhereThatIsTaken) {
  const Scene scene = parse(R"({"bodies": [{"kind": "cloth", "name": "c", "position": [0, 5, 0],
      "shape": {"kind": "sheet", "width": 1, "length": 1, "cells_x": 10, "cells_z": 10},
      "held": [{"name": "edge", "nodes": {"half_space": {"normal": [-1, 0, 0], "offset": 0.49}}}]}],
      "motions": [{"body": "c", "held": "edge", "relative": true,
                   "keyframes": [{"time": 0, "position": [0, 0, 0]}, {"time": 1, "position": [0, 1, 2]}]}]})");
  ScenePlayer player = ScenePlayer::create(scene).value();
  run(player, 1);
  const std::span<const Vec3> nodes = *player.world().node_positions(player.body("c"));
  ASSERT_EQ(nodes.size(), 121u);
  for (std::size_t k = 0; k <= 10; ++k) {
    const Vec3 expected{-0.5f, 6, 2 - 0.5f + 0.1f * static_cast<float>(k)};
    EXPECT_LT(length(nodes[11 * k] - expected), 1e-4f) << k;
  }
  run(player, 6);
  const Aabb box = player.world().state(player.body("c"))->bounds;
  EXPECT_GT(box.lower.y, 4.98f);  // 1 m below the edge, or less while it swings
  EXPECT_LT(box.lower.y, 5.3f);
}

TEST(SceneCloth, PressureEventsPushIt) {
  const Scene scene = parse(R"({"world": {"gravity": [0, 0, 0]}, "bodies": [{"kind": "cloth", "name": "c",
      "shape": {"kind": "sheet", "width": 2, "length": 1, "cells_x": 8, "cells_z": 4}, "material": {"density": 0.5}}],
      "events": [{"kind": "pressure", "from": 0, "to": 0.5, "body": "c", "pressure": 3}]})");
  ScenePlayer player = ScenePlayer::create(scene).value();
  run(player, 0.5);
  // Inward is against the normal, +y: 3 Pa over 0.5 kg/m² for half a second.
  // The sheet ripples a little, as not all nodes have as many triangles, and tilted triangles push sideways.
  EXPECT_NEAR(player.world().state(player.body("c"))->velocity.y, -3.0, 0.1);
}

std::string refusal(const std::string& event) {
  const Scene scene = parse(R"({"bodies": [
      {"kind": "cloth", "name": "c", "position": [0, 9, 0], "shape": {"kind": "sheet", "cells_x": 4, "cells_z": 4},
       "repeat": {"kind": "line", "count": 2, "step": [3, 0, 0]}},
      {"kind": "jelly", "name": "j", "mesh": {"box": [1, 1, 1], "cell": 0.5}}],
      "events": [
      {"kind": "explosion", "at": 1, "center": [0, 0, 0]},
      {"from": 0, "to": 1, )" +
                            event + "}]}");
  const Result<ScenePlayer> player = ScenePlayer::create(scene);
  return player ? "" : player.error().to_string();
}

TEST(SceneEvents, MustHaveNodesToActOn) {
  const std::string force = R"("kind": "node_force", "force": [0, 1, 0], )",
                    pressure = R"("kind": "pressure", "pressure": 1, )";
  EXPECT_EQ(refusal(force + R"("body": "c[*]", "nodes": {"list": [0, 24]})"), "");
  EXPECT_EQ(refusal(force + R"("body": "c[1]", "nodes": {"list": [0, 25]})"),
            "s.json:7: events[1].nodes: node 25 does not exist; the body has nodes 0 to 24");
  // Where it hangs in the world, not where it lies at rest.
  EXPECT_EQ(refusal(force + R"("body": "c[0]", "nodes": {"box": [[-1, 8, -1], [1, 10, 1]]})"),
            "s.json:7: events[1].nodes: the selection holds no node; at rest, in the body's own frame, the nodes lie "
            "between (-0.5, 0, -0.5) and (0.5, 0, 0.5)");
  EXPECT_EQ(refusal(force + R"("body": "j", "nodes": {"list": []})"),
            "s.json:7: events[1].nodes: the selection holds no node");
  EXPECT_EQ(refusal(force + R"("body": "j", "nodes": {"set": "top"})"),
            "s.json:7: events[1].nodes: the mesh has no node set `top`; it has none");

  EXPECT_EQ(refusal(pressure + R"("body": "j")"), "");
  EXPECT_EQ(refusal(pressure + R"("body": "j", "nodes": {"half_space": {"normal": [0, 1, 0], "offset": 0.5}})"), "");
  EXPECT_EQ(refusal(pressure + R"("body": "j", "nodes": {"nearest": {"point": [0, 9, 0], "count": 2}})"),
            "s.json:7: events[1].nodes: the selection, of 2 nodes, holds no whole triangle of the surface; all three "
            "nodes of a triangle must be selected");
  EXPECT_EQ(refusal(pressure + R"("body": "c[*]", "nodes": {"list": [3]})"),
            "s.json:7: events[1].nodes: the selection, of 1 node, holds no whole triangle of the surface; all three "
            "nodes of a triangle must be selected");
}

TEST(SceneCloth, DriftsWithTheWind) {
  const Scene scene =
      parse(R"({"world": {"gravity": [0, 0, 0], "wind": [0, 4, 0]}, "bodies": [{"kind": "cloth", "name": "c",
      "shape": {"kind": "sheet"}, "material": {"density": 0.1}, "drag": 1.2}]})");
  ScenePlayer player = ScenePlayer::create(scene).value();
  run(player, 10);
  const float speed = player.world().state(player.body("c"))->velocity.y;
  EXPECT_GT(speed, 3.5f);
  EXPECT_LT(speed, 4.001f);
}

TEST(SceneRope, HangsFromItsAnchor) {
  const Scene scene = parse(R"({"bodies": [
      {"kind": "rope", "name": "r", "path": [[0, 3, 0], [0, 1, 0]], "segment": 0.1, "material": {"density": 0.5}}],
      "anchors": [{"name": "a", "body": "r", "nodes": {"nearest": {"point": [0, 3, 0]}}}]})");
  ScenePlayer player = ScenePlayer::create(scene).value();
  run(player, 2);
  EXPECT_LT(length((*player.world().node_positions(player.body("r")))[0] - Vec3{0, 3, 0}), 1e-3f);
  const AnchorState state = *player.world().state(player.anchor("a"));
  EXPECT_EQ(state.nodes, 1u);
  EXPECT_LT(length((*player.world().node_positions(player.body("r"))).back() - Vec3{0, 1, 0}), 0.01f);
}

TEST(SceneRope, CopiesAreAnchoredEachToItsOwnBody) {
  const Scene scene = parse(R"({"bodies": [
      {"kind": "rope", "name": "r", "path": [[0, 0, 0], [0, -1, 0]], "repeat": {"kind": "line", "count": 3, "step": [1, 0, 0]}},
      {"kind": "rigid", "name": "b", "shape": {"kind": "sphere", "radius": 0.1}, "mass": 2, "position": [0, -1.1, 0],
       "repeat": {"kind": "line", "count": 3, "step": [1, 0, 0]}}],
      "anchors": [{"name": "top", "body": "r[*]", "nodes": {"nearest": {"point": [0, 0, 0]}}},
                  {"name": "low", "body": "r[*]", "nodes": {"nearest": {"point": [0, -1, 0]}}, "to": "b[*]"}]})");
  ScenePlayer player = ScenePlayer::create(scene).value();
  run(player, 2);
  for (int i = 0; i < 3; ++i) {
    const std::string copy = "[" + std::to_string(i) + "]";
    EXPECT_NEAR(player.world().state(player.body("b" + copy))->center_of_mass.y, -1.1, 0.01) << i;
    EXPECT_EQ(player.world().state(player.anchor("top" + copy))->nodes, 1u) << i;
    EXPECT_NEAR(player.world().state(player.anchor("low" + copy))->force.y, -2 * 9.81, 0.3) << i;
  }
}

TEST(SceneRope, FallsWhenItsAnchorIsTakenAway) {
  const Scene scene = parse(R"({"bodies": [{"kind": "rope", "name": "r", "path": [[0, 3, 0], [0, 1, 0]]}],
      "anchors": [{"name": "a", "body": "r", "nodes": {"nearest": {"point": [0, 3, 0]}}}],
      "events": [{"kind": "remove", "at": 1, "anchor": "a"}]})");
  ScenePlayer player = ScenePlayer::create(scene).value();
  run(player, 1);
  const float before = player.world().state(player.body("r"))->center_of_mass.y;
  EXPECT_NEAR(before, 2, 0.01);
  run(player, 1.5);
  EXPECT_FALSE(player.world().contains(player.anchor("a")));
  EXPECT_NEAR(before - player.world().state(player.body("r"))->center_of_mass.y, 0.5 * 9.81 * 0.25, 0.05);
}

TEST(SceneJelly, KeepsItsFields) {
  const Scene scene = parse(R"({"bodies": [{"kind": "jelly", "name": "j", "mesh": {"box": [1, 2, 1], "cell": 0.5},
      "method": "mass_spring", "density": 700, "young_modulus": 5000, "poisson_ratio": 0.3, "damping": 3, "thickness": 0.03}]})");
  const auto& def = std::get<JellyDef>(scene.bodies.at(0).def);
  EXPECT_EQ(def.method, JellyMethod::MassSpring);
  EXPECT_EQ(def.density, 700);
  EXPECT_EQ(def.young_modulus, 5000);
  EXPECT_EQ(def.poisson_ratio, 0.3f);
  EXPECT_EQ(def.damping, 3);
  EXPECT_EQ(def.thickness, 0.03f);
  EXPECT_NEAR(def.mesh.volume(), 2, 1e-5);
  const ScenePlayer player = ScenePlayer::create(scene).value();
  EXPECT_NEAR(player.world().state(player.body("j"))->mass, 1400, 0.1);
}

TEST(ScenePlayer, TellsWhereARefusedAnchorStands) {
  const Scene scene = parse(R"({"bodies": [{"kind": "rope", "name": "r", "path": [[0, 3, 0], [0, 1, 0]]}],
      "anchors": [
      {"body": "r", "nodes": {"list": [99999]}}]})");
  const Result<ScenePlayer> player = ScenePlayer::create(scene);
  ASSERT_FALSE(player.ok());
  EXPECT_EQ(player.error().file, "s.json");
  EXPECT_EQ(player.error().line, 3);
  EXPECT_EQ(player.error().field, "anchors[0].nodes");
}

TEST(ClothMaterials, AreAllFoundByNameAndDiffer) {
  const auto names = cloth_material::names();
  EXPECT_EQ(names.size(), 8u);
  for (const std::string_view name : names) {
    const ClothMaterial m = cloth_material::by_name(name).value();
    EXPECT_GT(m.density, 0.03f) << name;
    EXPECT_LT(m.density, 2) << name;
    EXPECT_GT(m.bend_stiffness, 0) << name;
  }
  EXPECT_EQ(cloth_material::by_name("tin").error().code, Error::Code::NotFound);
}

/// A ball of grids whose upper half of the texture is painted white.
TEST(SceneLayered, MapsArePaintedOnTheSurface) {
  const TempFolder folder;
  ScalarTexture picture{8, 8, std::vector<float>(64, 0)};
  for (std::size_t i = 0; i < 32; ++i) picture.values[i] = 1;
  ASSERT_TRUE(save_texture(folder / "map.png", picture).ok());
  const auto file = folder.write("s.json", R"({"bodies": [{"kind": "layered", "name": "b", "material": "foam",
      "surface": {"sphere": 0.5, "segments": 64}, "thickness": 0.1,
      "thickness_map": {"path": "map.png", "range": [0.5, 1.5]},
      "stiffness_map": {"path": "map.png", "range": [4, 2]}}]})");
  const Result<Scene> scene = load_scene(file);
  ASSERT_TRUE(scene) << scene.error().to_string();
  const auto& def = std::get<LayeredDef>(scene->bodies.at(0).def);
  const AtlasLayout layout = layout_of(def.atlas);
  std::vector<int> places(def.atlas.node_count(), 0);
  for (const std::uint32_t node : layout.nodes) ++places[node];
  std::size_t white = 0, black = 0;
  for (std::size_t i = 0; i < layout.uvs.size(); ++i) {
    const std::uint32_t node = layout.nodes[i];
    const float v = layout.uvs[i].y;
    if (places[node] > 1 || std::abs(v - 0.5f) < 0.07f || v < 0.07f || v > 0.93f) continue;
    EXPECT_NEAR(def.thickness_factors[node], v < 0.5f ? 1.5f : 0.5f, 1e-4f);
    EXPECT_NEAR(def.stiffness_factors[node], v < 0.5f ? 2 : 4, 1e-4f);
    ++(v < 0.5f ? white : black);
  }
  EXPECT_GT(white, 100u);
  EXPECT_GT(black, 100u);
  EXPECT_TRUE(def.density_factors.empty());
}

TEST(SceneLayered, ASoftSheetCarriesWhatLiesOnIt) {
  const Scene scene = parse(R"({"bodies": [
      {"kind": "layered", "name": "ground", "surface": {"heightfield": {"kind": "terrain", "cell": 0.08, "columns": 25,
       "rows": 25, "height": 0.02}}, "material": {"young_modulus": 3e5, "stiffness_damping": 0.01}, "thickness": 0.2,
       "core_is_fixed": true},
      {"kind": "rigid", "name": "box", "shape": {"kind": "box", "size": [0.6, 0.2, 0.6]}, "position": [0, 0.14, 0]}]})");
  const auto& def = std::get<LayeredDef>(scene.bodies.at(0).def);
  EXPECT_EQ(def.atlas.node_count(), 625u);
  EXPECT_FALSE(layout_of(def.atlas).empty());
  ScenePlayer player = ScenePlayer::create(scene).value();
  run(player, 2);
  const BodyState box = *player.world().state(player.body("box"));
  EXPECT_LT(length(box.velocity), 0.01f);
  EXPECT_NEAR(box.world_from_body.position.y, 0.1f, 0.03f);
}

TEST(SceneLayered, PartsHaveColours) {
  const Scene scene = parse(R"({"bodies": [{"kind": "layered", "name": "b", "material": "foam",
      "surface": {"sphere": 0.5, "segments": 32}, "thickness": 0.1, "color": [0, 0, 1],
      "parts": [{"nodes": {"half_space": {"normal": [0, 1, 0]}}, "stiffness": 0.1, "color": [1, 0, 0]}]}]})");
  const auto& def = std::get<LayeredDef>(scene.bodies.at(0).def);
  ASSERT_EQ(def.colors.size(), def.atlas.node_count());
  for (std::size_t i = 0; i < def.colors.size(); ++i) {
    EXPECT_EQ(def.colors[i], (def.stiffness_factors[i] < 1 ? Vec3{1, 0, 0} : Vec3{0, 0, 1})) << i;
  }
  World world;
  LayeredDef too_few = def;
  too_few.colors.pop_back();
  EXPECT_EQ(world.add(too_few).error().field, "add: colors");
}

/// Surface and core as two spheres of the same texture coordinates, from files.
TEST(SceneLayered, ACoreHasTheTextureCoordinatesOfItsSurface) {
  const TempFolder folder;
  Atlas outer = atlas_sphere(0.5f, 12), inner = atlas_sphere(0.3f, 12);
  ASSERT_TRUE(save_mesh(folder / "outer.obj", cut_open(outer)).ok());
  ASSERT_TRUE(save_mesh(folder / "inner.obj", cut_open(inner)).ok());
  const auto file = folder.write("s.json", R"({
      "meshes": {"outer": {"kind": "file", "path": "outer.obj"}, "inner": {"kind": "file", "path": "inner.obj"}},
      "bodies": [{"kind": "layered", "name": "b", "material": "foam", "surface": {"mesh": "outer", "resolution": 48},
                  "core": "inner"}]})");
  const Result<Scene> scene = load_scene(file);
  ASSERT_TRUE(scene) << scene.error().to_string();
  const auto& def = std::get<LayeredDef>(scene->bodies.at(0).def);
  ASSERT_EQ(def.core.size(), def.atlas.node_count());
  for (std::size_t i = 0; i < def.core.size(); ++i) {
    EXPECT_LT(length(def.core[i] - def.atlas.surface.vertices[i] * 0.6f), 0.015f);
  }
  World world;
  EXPECT_TRUE(world.add(def));
}

/// Files have several vertices along the seams of their textures; the surface must not come apart there.
TEST(SceneLayered, MeshesAreWelded) {
  const TempFolder folder;
  ASSERT_TRUE(save_mesh(folder / "ball.obj", cut_open(atlas_sphere(0.5f, 8))).ok());
  const auto file = folder.write("s.json", R"({"meshes": {"ball": {"kind": "file", "path": "ball.obj"}},
      "bodies": [{"kind": "layered", "name": "b", "material": "foam", "surface": {"mesh": "ball"}}]})");
  const Result<Scene> scene = load_scene(file);
  ASSERT_TRUE(scene) << scene.error().to_string();
  const auto& def = std::get<LayeredDef>(scene->bodies.at(0).def);
  EXPECT_EQ(def.atlas.node_count(), 6u * 64 + 2);
  EXPECT_TRUE(validate(def.atlas.surface, {.require_closed = true}).empty());
}

TEST(SceneSolid, HeldPartsMoveAtPrescribedVelocities) {
  const Scene scene = parse(R"({"world": {"gravity": [0, 0, 0]}, "bodies": [{"kind": "solid", "name": "s",
      "mesh": {"box": [1, 0.2, 0.2], "cell": 0.1}, "material": "rubber", "position": [0, 2, 0],
      "held": [{"name": "left", "nodes": {"half_space": {"normal": [-1, 0, 0], "offset": 0.49}}},
               {"name": "right", "nodes": {"half_space": {"normal": [1, 0, 0], "offset": 0.49}}}]},
      {"kind": "rigid", "name": "k", "motion": "kinematic", "shape": {"kind": "box"}, "position": [5, 0, 0]}],
      "motions": [
        {"body": "s", "held": "left", "velocities": [{"time": 0, "velocity": [-0.1, 0, 0]}]},
        {"body": "s", "held": "right", "velocities": [{"time": 0, "angular_velocity": [1.5, 0, 0]}, {"time": 1}]},
        {"body": "k", "velocities": [{"time": 0.5, "velocity": [0, 0, 2], "angular_velocity": [0, 3, 0]}]}]})");
  ScenePlayer player = ScenePlayer::create(scene).value();
  const BodyId solid = player.body("s");
  const std::vector<Vec3> rest = (*player.world().solid_def(solid))->mesh.nodes;
  // While it goes on, also the velocities are those asked for.
  run(player, 0.5);
  for (std::size_t i = 0; i < rest.size(); ++i) {
    const Vec3 velocity = (*player.world().node_velocities(solid))[i];
    if (rest[i].x < -0.49f) {
      EXPECT_LT(length(velocity - Vec3{-0.1f, 0, 0}), 1e-4f) << i;
    } else if (rest[i].x > 0.49f) {
      const Vec3 place = (*player.world().node_positions(solid))[i] - Vec3{0, 2, 0};
      EXPECT_LT(length(velocity - cross({1.5f, 0, 0}, place)), 3e-3f) << i;  // the chord of a step's turn
    }
  }
  run(player, 2);
  const Quat turned = Quat::axis_angle({1, 0, 0}, 1.5f);
  for (std::size_t i = 0; i < rest.size(); ++i) {
    const Vec3 place = (*player.world().node_positions(solid))[i];
    if (rest[i].x < -0.49f) {
      EXPECT_LT(length(place - (rest[i] + Vec3{-0.2f, 2, 0})), 1e-4f) << i;
    } else if (rest[i].x > 0.49f) {
      EXPECT_LT(length(place - (turned.rotate(rest[i]) + Vec3{0, 2, 0})), 1e-4f) << i;
    }
  }
  const BodyState box = *player.world().state(player.body("k"));
  EXPECT_LT(length(box.world_from_body.position - Vec3{5, 0, 3}), 1e-3f);
  EXPECT_LT(length(box.velocity - Vec3{0, 0, 2}), 1e-3f);
  EXPECT_LT(length(box.angular_velocity - Vec3{0, 3, 0}), 1e-2f);
}

TEST(SceneSolid, TractionEventsShearIt) {
  // Between two parallel faces: the traction is the force over their area, and the other end takes it up.
  const Scene scene = parse(R"({"world": {"gravity": [0, 0, 0]}, "bodies": [{"kind": "solid", "name": "s",
      "mesh": {"box": [0.4, 0.1, 0.4], "cell": 0.05},
      "material": {"young_modulus": 1e6, "poisson_ratio": 0, "stiffness_damping": 0.05},
      "held": [{"name": "floor", "nodes": {"half_space": {"normal": [0, -1, 0], "offset": 0.049}}}]}],
      "events": [{"kind": "traction", "from": 0, "to": 10, "body": "s", "traction": [1000, 500, 0],
                  "nodes": {"half_space": {"normal": [0, 1, 0], "offset": 0.049}}}]})");
  ScenePlayer player = ScenePlayer::create(scene).value();
  run(player, 2);
  const Vec3 force = *player.world().held_force(player.body("s"));
  EXPECT_NEAR(force.x, -160, 0.5);
  EXPECT_NEAR(force.y, -80, 0.5);
  EXPECT_EQ(refusal(R"("kind": "traction", "traction": [1, 0, 0], "body": "j", "nodes": {"list": [0]})"),
            "s.json:7: events[1].nodes: the selection, of 1 node, holds no whole triangle of the surface; all three "
            "nodes of a triangle must be selected");
}

TEST(SceneLayered, TractionEventsPullAtItsSkin) {
  const Scene scene = parse(R"({"world": {"gravity": [0, 0, 0]}, "bodies": [{"kind": "layered", "name": "l",
      "surface": {"sphere": 0.3, "segments": 16}, "material": "foam", "thickness": 0.05}],
      "events": [{"kind": "traction", "from": 0, "to": 0.5, "body": "l", "traction": [0, 0, 50]}]})");
  ScenePlayer player = ScenePlayer::create(scene).value();
  const BodyId body = player.body("l");
  const std::span<const Vec3> x = *player.world().node_positions(body);
  float area = 0;
  for (const Face& f : *player.world().surface_faces(body)) {
    area += 0.5f * length(cross(x[f[1]] - x[f[0]], x[f[2]] - x[f[0]]));
  }
  run(player, 0.5);
  const BodyState state = *player.world().state(body);
  EXPECT_NEAR(state.velocity.z, 50 * area * 0.5f / state.mass, 0.02f * state.velocity.z);
  EXPECT_GT(state.velocity.z, 0);
}

TEST(SceneSolid, MaterialsSayHowWellTheyAreSolvedAndBodiesOverrideIt) {
  const auto solver = [](const std::string& material, const std::string& more) {
    const Scene scene = parse(R"({"bodies": [{"kind": "solid", "name": "s", "mesh": {"box": [1, 1, 1], "cell": 0.5},
        "material": )" + material +
                              more + "}]}");
    ScenePlayer player = ScenePlayer::create(scene).value();
    return (*player.world().solid_def(player.body("s")))->solver;
  };
  const std::string strict = R"({"base": "rubber", "solver": {"tolerance": 1e-5, "max_iterations": 900}})";
  EXPECT_EQ(solver(R"("rubber")", "").tolerance, 1e-3f);
  EXPECT_EQ(solver(strict, "").tolerance, 1e-5f);
  EXPECT_EQ(solver(strict, "").max_iterations, 900);
  EXPECT_EQ(solver(strict, R"(, "solver": {"max_iterations": 50})").tolerance, 1e-5f);
  EXPECT_EQ(solver(strict, R"(, "solver": {"max_iterations": 50})").max_iterations, 50);
  // Also with what is the default.
  EXPECT_EQ(solver(strict, R"(, "solver": {"tolerance": 1e-3})").tolerance, 1e-3f);
  EXPECT_EQ(solver(R"("rubber")", R"(, "region_materials": [)" + strict + "]").tolerance, 1e-5f);
  const Scene layered = parse(R"({"bodies": [{"kind": "layered", "surface": {"sphere": 0.3, "segments": 16},
      "material": )" + strict +
                              R"(, "max_iterations": 30}]})");
  EXPECT_EQ(std::get<LayeredDef>(layered.bodies[0].def).tolerance, 1e-5f);
  EXPECT_EQ(std::get<LayeredDef>(layered.bodies[0].def).max_iterations, 30);
}

TEST(SceneSolid, HeldPartsHaveNamesOfTheirOwn) {
  const Scene scene = parse(R"({"bodies": [{"kind": "solid", "name": "s", "mesh": {"box": [1, 1, 1], "cell": 0.5},
      "material": "rubber", "held": [{"name": "a", "nodes": {"list": [0]}}, {"nodes": {"list": [1]}},
      {"nodes": {"list": [1]}}, {"name": "a", "nodes": {"list": [2]}}]}]})");
  const Result<ScenePlayer> player = ScenePlayer::create(scene);
  ASSERT_FALSE(player);
  EXPECT_EQ(player.error().to_string(), "s.json:1: bodies[0].held[3].name: held[0] is named `a` already");
}

TEST(SceneSolid, SmallPiecesAndWeakFacesAreRead) {
  const Scene scene = parse(R"({"bodies": [{"kind": "solid", "mesh": {"box": [1, 1, 1], "cell": 0.5},
      "material": {"strength": 1e5}, "weak_faces": [{"nodes": {"slab": {"normal": [0, 0, 2], "offset": 0.5,
      "thickness": 0.02}}, "factor": 0.25}], "fracture": {"small_pieces": {"max_tets": 7, "max_volume": 0.5,
      "max_size": 0.25, "rigid_after": 1.5, "gone_after": 4, "fade": 2}}}]})");
  const auto& def = std::get<SolidDef>(scene.bodies[0].def);
  const SmallPieces& rule = def.fracture.small_pieces;
  EXPECT_EQ(rule.max_tets, 7);
  EXPECT_EQ(rule.max_volume, 0.5f);
  EXPECT_EQ(rule.max_size, 0.25f);
  EXPECT_EQ(rule.rigid_after, 1.5f);
  EXPECT_EQ(rule.gone_after, 4);
  EXPECT_EQ(rule.fade, 2);
  ASSERT_EQ(def.weak_faces.size(), 1u);
  EXPECT_EQ(def.weak_faces[0].factor, 0.25f);
  // The nine nodes of the side: a slab is measured along the normal at unit length.
  const auto nodes = select_nodes(def.mesh, def.weak_faces[0].nodes);
  ASSERT_TRUE(nodes.ok());
  EXPECT_EQ(nodes->size(), 9u);
  for (const std::uint32_t node : *nodes) EXPECT_EQ(def.mesh.nodes[node].z, 0.5f);
}

}  // namespace
}  // namespace pliant
