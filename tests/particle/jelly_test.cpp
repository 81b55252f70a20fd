// What the three paradigms have in common.
#include <memory>
#include <string>

#include "collide/counting_allocator.h"
#include "particle/position_kernel.h"

#include "jelly_support.h"

namespace pliant {
namespace {

using FreeVelocity = std::function<void(Workers&, std::span<const Vec4>, std::span<Vec4>, float)>;

struct Paradigm {
  std::string name;
  std::function<FreeVelocity(const TetMesh&, float damping)> make;
};

template <typename Model, typename Rest>
FreeVelocity started(Rest rest) {
  auto model = std::make_shared<Model>(*Model::create(std::move(rest)));
  return [model](Workers& workers, std::span<const Vec4> x, std::span<Vec4> v, float h) {
    model->free_velocity(workers, x, v, h);
  };
}

const std::vector<Paradigm>& paradigms() {
  static const std::vector<Paradigm> all{{"mass-spring",
                                          [](const TetMesh& mesh, float damping) {
                                            MassSpringRest rest = *mass_spring_rest(mesh, {});
                                            rest.deviation_damping = damping;
                                            return started<MassSpring>(rest);
                                          }},
                                         {"position-based",
                                          [](const TetMesh& mesh, float damping) {
                                            PositionBasedRest rest = *position_based_rest(mesh, {});
                                            rest.deviation_damping = damping;
                                            return started<PositionBased>(rest);
                                          }},
                                         {"shape matching",
                                          [](const TetMesh& mesh, float damping) {
                                            ShapeMatchingRest rest = *shape_matching_rest(mesh, 4);
                                            rest.deviation_damping = damping;
                                            return started<ShapeMatching>(rest);
                                          }},
                                         {"quadratic shape matching", [](const TetMesh& mesh, float damping) {
                                            ShapeMatchingRest rest = *shape_matching_rest(mesh, 2);
                                            rest.mode = ShapeMode::Quadratic;
                                            rest.deviation_damping = damping;
                                            return started<ShapeMatching>(rest);
                                          }}};
  return all;
}

JellyState at_rest(const TetMesh& mesh) { return {mesh.nodes, node_masses(mesh, 1000)}; }

bool same_bits(const std::vector<Vec4>& a, const std::vector<Vec4>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(Vec4)) == 0;
}

TEST(Jelly, HeldNodesAndPositionsAreLeftAlone) {
  const TetMesh mesh = figure_jelly();
  for (const Paradigm& paradigm : paradigms()) {
    SCOPED_TRACE(paradigm.name);
    const FreeVelocity free_velocity = paradigm.make(mesh, 3);
    Workers workers(1);
    JellyState state = at_rest(mesh);
    state.stir(0.1f, {}, {}, 1);
    state.hold_where([](Vec3 p) { return p.y > 0.02f; });
    for (int i = 0; i < 20; ++i) {
      const auto x = state.x, v = state.v;
      free_velocity(workers, state.x, state.v, 1.0f / 240);
      EXPECT_TRUE(same_bits(x, state.x));
      for (std::size_t n = 0; n < v.size(); ++n) {
        EXPECT_EQ(v[n].w, state.v[n].w);
        if (v[n].w == 0) {
          EXPECT_EQ(v[n].xyz(), state.v[n].xyz());
        }
      }
      state.advance(1.0f / 240);
    }
    EXPECT_TRUE(state.is_finite());
  }
}

TEST(Jelly, ABodyHeldAtItsTopHangsThere) {
  const TetMesh mesh = tet_box({0.1f, 0.2f, 0.1f}, 3, 6, 3);
  for (const Paradigm& paradigm : paradigms()) {
    SCOPED_TRACE(paradigm.name);
    const FreeVelocity free_velocity = paradigm.make(mesh, 5);
    Workers workers(1);
    JellyState state = at_rest(mesh);
    state.hold_where([](Vec3 p) { return p.y > 0.0999f; });
    for (int i = 0; i < 720; ++i) {
      state.accelerate({0, -9.81f / 240, 0});
      free_velocity(workers, state.x, state.v, 1.0f / 240);
      state.advance(1.0f / 240);
    }
    double low = 1, speed = 0;
    for (std::size_t i = 0; i < state.x.size(); ++i) {
      low = std::min(low, double(state.x[i].y));
      speed = std::max(speed, double(length(state.v[i].xyz())));
    }
    EXPECT_GT(low, -0.12);
    EXPECT_LT(low, -0.0995);
    EXPECT_LT(speed, 0.01);
  }
}

TEST(Jelly, DampingDoesNotBrakeAFallingOrSpinningBody) {
  const TetMesh mesh = figure_jelly();
  for (const Paradigm& paradigm : paradigms()) {
    SCOPED_TRACE(paradigm.name);
    const FreeVelocity free_velocity = paradigm.make(mesh, 50);
    Workers workers(1);
    JellyState state = at_rest(mesh);
    state.stir(0, {1, 0, 0}, {0, 3, 0}, 1);
    const double start = state.momentum().angular.y;
    for (int i = 0; i < 240; ++i) {
      state.accelerate({0, -9.81f / 240, 0});
      free_velocity(workers, state.x, state.v, 1.0f / 240);
      state.advance(1.0f / 240);
    }
    const auto p = state.momentum();
    double mass = 0;
    for (const Vec4& v : state.v) mass += 1 / double(v.w);
    EXPECT_NEAR(p.linear.y / mass, -9.81, 1e-3);
    EXPECT_NEAR(p.linear.x / mass, 1, 1e-4);
    const Vec3d about_center = p.angular - cross(p.center, p.linear);
    EXPECT_NEAR(about_center.y / start, 1, 1e-4);
  }
}

TEST(Jelly, ATurnedAndMovingWorldGivesTurnedResults) {
  const TetMesh mesh = figure_jelly();
  const Quat turn = Quat::axis_angle({1, -2, 0.5f}, 1.1f);
  const Vec3 wind{0.3f, -0.2f, 0.5f};
  for (const Paradigm& paradigm : paradigms()) {
    SCOPED_TRACE(paradigm.name);
    const FreeVelocity free_velocity = paradigm.make(mesh, 2);
    Workers workers(1);
    JellyState a = at_rest(mesh);
    a.map([](Vec3 p) { return Vec3{p.x * 1.1f, p.y * 0.9f + 0.1f * p.x, p.z}; });
    a.stir(0.05f, {}, {1, 2, 3}, 4);
    JellyState b = a;
    b.map([&](Vec3 p) { return turn.rotate(p); });
    for (Vec4& v : b.v) {
      const Vec3 u = turn.rotate(v.xyz()) + wind;
      v = {u.x, u.y, u.z, v.w};
    }
    const float h = 1.0f / 240;
    free_velocity(workers, a.x, a.v, h);
    free_velocity(workers, b.x, b.v, h);
    double largest = 0, error = 0;
    for (std::size_t i = 0; i < a.v.size(); ++i) {
      largest = std::max(largest, double(length(a.v[i].xyz())));
      error = std::max(error, double(length(turn.rotate(a.v[i].xyz()) + wind - b.v[i].xyz())));
    }
    EXPECT_LT(error, 2e-3 * largest);
    EXPECT_GT(largest, 0.05);
  }
}

TEST(Jelly, OneThreadAndTwoGiveTheSameBits) {
  const TetMesh mesh = tet_box({1, 1, 1}, 16, 16, 16);
  for (const Paradigm& paradigm : paradigms()) {
    SCOPED_TRACE(paradigm.name);
    JellyState states[2] = {at_rest(mesh), at_rest(mesh)};
    for (int threads = 1; threads <= 2; ++threads) {
      const FreeVelocity free_velocity = paradigm.make(mesh, 1);
      Workers workers(threads);
      JellyState& state = states[threads - 1];
      state.stir(0.2f, {}, {1, 0, 0}, 9);
      for (int i = 0; i < 2; ++i) {
        free_velocity(workers, state.x, state.v, 1.0f / 60);
        state.advance(1.0f / 60);
      }
    }
    EXPECT_TRUE(same_bits(states[0].v, states[1].v));
    EXPECT_TRUE(states[0].is_finite());
  }
}

TEST(Jelly, AStepAllocatesNothing) {
  const TetMesh mesh = figure_jelly();
  for (const Paradigm& paradigm : paradigms()) {
    SCOPED_TRACE(paradigm.name);
    const FreeVelocity free_velocity = paradigm.make(mesh, 1);
    Workers workers(1);
    JellyState state = at_rest(mesh);
    state.stir(0.2f, {}, {1, 0, 0}, 9);
    free_velocity(workers, state.x, state.v, 1.0f / 240);
    const std::size_t before = allocation_count();
    for (int i = 0; i < 10; ++i) {
      free_velocity(workers, state.x, state.v, 1.0f / 240);
      state.advance(1.0f / 240);
    }
    EXPECT_EQ(allocation_count(), before);
  }
}

TEST(Jelly, NoStateMakesNumbersThatAreNotFinite) {
  const TetMesh mesh = tet_box({0.2f, 0.2f, 0.2f}, 3, 3, 3);
  const std::function<Vec3(Vec3)> maps[] = {[](Vec3) {
                                              return Vec3{1, 2, 3};
                                            },
                                            [](Vec3 p) {
                                              return Vec3{p.x, 0, 0};
                                            },
                                            [](Vec3 p) {
                                              return Vec3{p.x, p.y, 0};
                                            },
                                            [](Vec3 p) {
                                              return Vec3{-p.x, p.y, p.z};
                                            },
                                            [](Vec3 p) { return -100.0f * p; },
                                            [](Vec3 p) {
                                              return Vec3{p.y, p.x, 1e-6f * p.z};
                                            },
                                            [](Vec3 p) {
                                              return p + Vec3{1e4f, 0, 1e4f};
                                            }};
  for (const Paradigm& paradigm : paradigms()) {
    for (std::size_t map = 0; map < std::size(maps); ++map) {
      for (const float h : {1.0f / 240, 1.0f / 15}) {
        SCOPED_TRACE(paradigm.name + " " + std::to_string(map));
        const FreeVelocity free_velocity = paradigm.make(mesh, 1);
        Workers workers(1);
        JellyState state = at_rest(mesh);
        state.map(maps[map]);
        for (int i = 0; i < 60; ++i) {
          free_velocity(workers, state.x, state.v, h);
          state.advance(h);
        }
        EXPECT_TRUE(state.is_finite());
      }
    }
    // What cannot be right does no harm but to itself.
    const FreeVelocity free_velocity = paradigm.make(mesh, 1);
    Workers workers(1);
    JellyState state = at_rest(mesh);
    state.x[3].x = std::numeric_limits<float>::quiet_NaN();
    free_velocity(workers, state.x, state.v, 1.0f / 240);
    state = at_rest(mesh);
    state.v[5].y = std::numeric_limits<float>::infinity();
    free_velocity(workers, state.x, state.v, 1.0f / 240);
    state = at_rest(mesh);
    const auto v = state.v;
    free_velocity(workers, state.x, state.v, 0);
    free_velocity(workers, state.x, std::span(state.v).first(4), 1.0f / 240);
    EXPECT_TRUE(same_bits(v, state.v));
  }
}

TEST(Jelly, ABodyAllHeldOrOfOneFreeNodeIsFine) {
  const TetMesh mesh = tet_box({0.2f, 0.2f, 0.2f}, 2, 2, 2);
  for (const Paradigm& paradigm : paradigms()) {
    const FreeVelocity free_velocity = paradigm.make(mesh, 1);
    Workers workers(1);
    JellyState state = at_rest(mesh);
    const float w = state.v[0].w;
    state.hold_where([](Vec3) { return true; });
    free_velocity(workers, state.x, state.v, 1.0f / 60);
    state.v[0].w = w;
    state.v[0].x = 1;
    for (int i = 0; i < 200; ++i) {
      free_velocity(workers, state.x, state.v, 1.0f / 60);
      state.advance(1.0f / 60);
    }
    ASSERT_TRUE(state.is_finite());
    EXPECT_LT(length(state.x[0].xyz() - mesh.nodes[0]), 2e-3f) << paradigm.name;
  }
}

TEST(Jelly, LanesAndScalarsProjectTheSame) {
  std::mt19937 random(2);
  std::uniform_real_distribution<float> uniform(-1, 1);
  const auto vector = [&] { return LaneVec3<float>{uniform(random), uniform(random), uniform(random)}; };
  const LaneMat3<float> rest{{1, 0.1f, 0}, {0.2f, 0.9f, 0}, {0, 0.1f, 1.2f}};
  LaneMat3<Float8> edges8, rest8 = {{broadcast(1), broadcast(0.1f), {}},
                                    {broadcast(0.2f), broadcast(0.9f), {}},
                                    {{}, broadcast(0.1f), broadcast(1.2f)}};
  const float w[4] = {1, 2, 0.5f, 0};
  const Float8 w8[4] = {broadcast(1), broadcast(2), broadcast(0.5f), Float8{}};
  std::vector<LaneVec3<float>> expected;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    const LaneMat3<float> edges{vector(), vector(), vector()};
    const auto put = [&](LaneVec3<Float8>& to, const LaneVec3<float>& from) {
      to.x[lane] = from.x, to.y[lane] = from.y, to.z[lane] = from.z;
    };
    put(edges8.c0, edges.c0), put(edges8.c1, edges.c1), put(edges8.c2, edges.c2);
    TetProjection<float> tet(edges, rest, w);
    float strain[6] = {}, volume = 0;
    tet.strain(0.3f, strain), tet.volume(0.1f, volume);
    for (int k = 1; k < 4; ++k) expected.push_back(tet.step_of(rest, k));
  }
  TetProjection<Float8> tet(edges8, rest8, w8);
  Float8 strain[6] = {}, volume = {};
  tet.strain(broadcast(0.3f), strain), tet.volume(broadcast(0.1f), volume);
  for (int k = 1; k < 4; ++k) {
    const LaneVec3<Float8> step = tet.step_of(rest8, k);
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const LaneVec3<float>& e = expected[3 * lane + static_cast<std::size_t>(k) - 1];
      EXPECT_EQ(step.x[lane], e.x);
      EXPECT_EQ(step.y[lane], e.y);
      EXPECT_EQ(step.z[lane], e.z);
    }
  }
}

TEST(Jelly, BadDataIsNamed) {
  const TetMesh mesh = tet_box({1, 1, 1}, 1, 1, 1);
  EXPECT_EQ(mass_spring_rest(mesh, {-1, 0.3f}).error().field, "young_modulus");
  EXPECT_EQ(position_based_rest(mesh, {1, 0.5f}).error().field, "poisson_ratio");
  EXPECT_EQ(shape_matching_rest(TetMesh{}, 1).error().field, "mesh");
  TetMesh flat = mesh;
  for (Vec3& node : flat.nodes) node.y = 0;
  EXPECT_EQ(mass_spring_rest(flat, {}).error().field, "mesh");
  TriMesh open = tri_box({1, 1, 1}, 1, 1, 1);
  open.faces.pop_back();
  EXPECT_EQ(mass_spring_rest(open, {}, 0.1f).error().field, "mesh");

  MassSpringRest springs = *mass_spring_rest(mesh, {});
  springs.springs[2].nodes = {0, 99};
  EXPECT_EQ(MassSpring::create(springs).error().field, "springs[2]");
  PositionBasedRest tets = *position_based_rest(mesh, {});
  tets.tets[1].rest_volume = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(PositionBased::create(tets).error().field, "tets[1]");
  ShapeMatchingRest shape = *shape_matching_rest(mesh, 1);
  shape.clusters.push_back({0, 0});
  EXPECT_EQ(ShapeMatching::create(shape).error().field, "clusters[1]");
}

TEST(Jelly, AnEmptyBodyIsFine) {
  Workers workers(1);
  MassSpring springs = *MassSpring::create({});
  springs.free_velocity(workers, {}, {}, 0.01f);
  PositionBased positions = *PositionBased::create({});
  positions.free_velocity(workers, {}, {}, 0.01f);
  ShapeMatching shape = *ShapeMatching::create({});
  shape.free_velocity(workers, {}, {}, 0.01f);
}

TEST(Jelly, ASurfaceJellyKeepsItsVolumeAndItsShape) {
  const TriMesh ball = tri_sphere(0.1f, 16);
  const auto volume = [&](const JellyState& state) {
    TriMesh now = ball;
    for (std::size_t i = 0; i < now.vertices.size(); ++i) now.vertices[i] = state.x[i].xyz();
    return enclosed_volume(now) / enclosed_volume(ball);
  };
  MassSpringRest rest = *mass_spring_rest(ball, {3e4f, 0.45f}, 0.01f);
  rest.deviation_damping = 3;
  const FreeVelocity models[] = {started<MassSpring>(rest), started<ShapeMatching>(*shape_matching_rest(ball, 5))};
  for (const FreeVelocity& free_velocity : models) {
    JellyState state(ball.vertices, node_masses(ball, 1000));
    Workers workers(1);
    double mass = 0;
    for (const Vec4& v : state.v) mass += 1 / double(v.w);
    EXPECT_NEAR(mass, 1000 * enclosed_volume(ball), 1e-3 * mass);
    state.map([](Vec3 p) { return Vec3{p.x, 0.5f * p.y, p.z}; });
    for (int i = 0; i < 960; ++i) {
      free_velocity(workers, state.x, state.v, 1.0f / 240);
      state.advance(1.0f / 240);
    }
    EXPECT_NEAR(volume(state), 1, 0.01);
    double height = 0;
    for (const Vec4& x : state.x) height = std::max(height, double(x.y));
    EXPECT_NEAR(height, 0.1, 0.001);
  }
}

}  // namespace
}  // namespace pliant
