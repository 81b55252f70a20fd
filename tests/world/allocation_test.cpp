// After it has warmed up, a step allocates nothing in pliant's own code. Bullet allocates through its own functions,
// which are counted apart and printed.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include <LinearMath/btAlignedAllocator.h>
#include <gtest/gtest.h>

#include "pliant/cloth_materials.h"
#include "pliant/generators.h"
#include "pliant/world.h"

namespace {

std::atomic<std::size_t> allocations{0};         // through operator new: pliant's
std::atomic<std::size_t> bullet_allocations{0};  // through Bullet's allocator

void* count_and_allocate(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size ? size : 1)) return memory;
  throw std::bad_alloc();
}
void* bullet_allocate(std::size_t size) {
  ++bullet_allocations;
  return std::malloc(size);
}

}  // namespace

void* operator new(std::size_t size) { return count_and_allocate(size); }
void* operator new[](std::size_t size) { return count_and_allocate(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace pliant {
namespace {

void expect_no_allocation(World& world, int warm_up, int steps, const char* what) {
  for (int i = 0; i < warm_up; ++i) world.step();
  const std::size_t before = allocations, bullet_before = bullet_allocations;
  for (int i = 0; i < steps; ++i) world.step();
  std::printf("%s: pliant %zu, Bullet %zu allocations in %d steps\n", what, allocations - before,
              bullet_allocations - bullet_before, steps);
  EXPECT_EQ(allocations - before, 0u) << what;
}

TEST(Allocation, ARestingAndAMovingWorldAllocateNothing) {
  btAlignedAllocSetCustom(bullet_allocate, std::free);
  for (const int threads : {1, 2}) {
    World world({.threads = threads, .allow_sleep = false});
    world.add(GroundDef{});
    for (int i = 0; i < 200; ++i) {
      const auto x = static_cast<float>(i % 6), y = static_cast<float>(i / 36), z = static_cast<float>(i / 6 % 6);
      world.add(RigidDef{.shape = i % 2 ? Shape{Box{{0.5f, 0.5f, 0.5f}}} : Shape{Capsule{0.2f, 0.2f}},
                         .position = {0.7f * x, 0.5f + 0.7f * y, 0.7f * z}});
    }
    const BodyId spinner =
        world.add(RigidDef{.shape = Box{{6, 0.3f, 0.3f}}, .motion = Motion::Kinematic, .position = {2, 0.4f, 2}})
            .value();
    world.set_velocity(spinner, {}, {0, 1, 0}).require();
    expect_no_allocation(world, 600, 120, threads == 1 ? "one thread" : "two threads");
  }
}

TEST(Allocation, SolidsInContactAllocateNothing) {
  for (const int threads : {1, 2}) {
    World world({.threads = threads, .allow_sleep = false});
    world.add(GroundDef{});
    world.add(RigidDef{.shape = Sphere{0.3f}, .motion = Motion::Static, .position = {0.1f, 0, 0}});
    world.add(
        SolidDef{.mesh = tet_box({0.5f, 0.5f, 0.5f}, 0.06f), .material = material::clay(), .position = {0, 0.6f, 0}});
    for (int i = 0; i < 5; ++i) {
      world.add(SolidDef{.mesh = tet_sphere(0.2f, 0.1f),
                         .material = material::jelly(),
                         .position = {1.0f + static_cast<float>(i), 0.3f, 0}});
    }
    expect_no_allocation(world, 300, 60, threads == 1 ? "solids, one thread" : "solids, two threads");
  }
}

/// Runs a settled world of one kind of body, for one and two threads.
template <typename Fill>
void expect_particles_allocate_nothing(const char* what, int warm_up, Fill fill) {
  for (const int threads : {1, 2}) {
    World world({.threads = threads, .allow_sleep = false});
    world.add(GroundDef{});
    fill(world);
    world.step();
    ASSERT_TRUE(world.report().errors.empty()) << world.report().errors[0].to_string();
    expect_no_allocation(world, warm_up, 60, threads == 1 ? what : (std::string(what) + ", two threads").c_str());
    EXPECT_GT(world.report().contacts, 0u) << what;
  }
}

TEST(Allocation, ClothInContactAllocatesNothing) {
  expect_particles_allocate_nothing("cloth", 450, [](World& world) {
    world.add(RigidDef{.shape = Sphere{0.5f}, .motion = Motion::Static, .position = {0, 0.5f, 0}});
    world.add(ClothDef{.shape = ClothSheet{2, 2, 30, 30}, .position = {0, 1.2f, 0}, .self_collision = true});
    // A hammock with a ball in it, and a bag of gas.
    world.add(
        ClothDef{.shape = ClothSheet{1, 1, 16, 16},
                 .position = {4, 1, 0},
                 .held = {{.nodes = NodeHalfSpace{{1, 0, 0}, 0.49f}}, {.nodes = NodeHalfSpace{{-1, 0, 0}, 0.49f}}}});
    world.add(RigidDef{.shape = Sphere{0.15f}, .density = 200, .position = {4, 1.2f, 0}});
    world.add(ClothDef{.shape = tri_sphere(0.3f, 12), .position = {-4, 0.4f, 0}, .pressure = 300});
  });
}

TEST(Allocation, RopesAllocateNothing) {
  expect_particles_allocate_nothing("ropes", 300, [](World& world) {
    const BodyId weight = world.add(RigidDef{.shape = Sphere{0.1f}, .position = {0, 1, 0}}).value();
    const BodyId hanging = world.add(RopeDef{.path = {{0, 3, 0}, {0, 1.1f, 0}}}).value();
    world.add(AnchorDef{.body = hanging, .nodes = NearestNodes{{0, 3, 0}}}).value();
    world.add(AnchorDef{.body = hanging, .nodes = NearestNodes{{0, 1.1f, 0}}, .to = weight}).value();
    world.add(RopeDef{.path = {{1, 0.5f, 0}, {1, 0.5f, 2}}}).value();
    const BodyId ring =
        world.add(RopeDef{.path = {{2, 1, 0}, {2, 1, 1}, {3, 1, 1}, {3, 1, 0}}, .closed = true}).value();
    const BodyId tail = world.add(RopeDef{.path = {{2, 1, 0}, {2, 0.5f, 0}}}).value();
    world.add(AnchorDef{.body = ring, .nodes = NearestNodes{{3, 1, 1}}}).value();
    world.add(AnchorDef{.body = tail, .nodes = NearestNodes{{2, 1, 0}}, .to = ring}).value();
  });
}

TEST(Allocation, BalloonsAllocateNothing) {
  expect_particles_allocate_nothing("balloons", 300, [](World& world) {
    world
        .add(ClothDef{.shape = tri_sphere(0.3f, 12),
                      .material = cloth_material::rubber_sheet(),
                      .position = {0, 0.3f, 0},
                      .pressure = 300})
        .value();
  });
}

TEST(Allocation, JelliesAllocateNothing) {
  expect_particles_allocate_nothing("jellies", 450, [](World& world) {
    float x = 0;
    for (const JellyMethod method : {JellyMethod::MassSpring, JellyMethod::PositionBased, JellyMethod::ShapeMatching}) {
      world.add(JellyDef{.mesh = tet_box({0.4f, 0.4f, 0.4f}, 0.1f), .method = method, .position = {x, 0.3f, 0}});
      world.add(JellyDef{.mesh = tet_sphere(0.2f, 0.1f), .method = method, .position = {x, 0.8f, 0}});
      x += 2;
    }
  });
}

TEST(Allocation, CountingWorks) {
  const std::size_t before = allocations;
  delete new int(3);
  EXPECT_EQ(allocations - before, 1u);
}

/// Pieces are bodies, whose memory is taken when they are made; splitting nodes takes none. What is counted here has
/// the contacts of the pieces in it, many of which meet for the first time.
TEST(Allocation, PiecesOfABrokenWallTakeFewAllocations) {
  World world({.threads = 1});
  world.add(GroundDef{});
  SolidDef wall{.mesh = tet_box({3, 3, 0.15f}, 20, 20, 1),
                .material = {.density = 1000, .young_modulus = 4e6f, .poisson_ratio = 0.25f},
                .position = {0, 1.5f, 0}};
  wall.material.strength = 7e4f;
  wall.held = {{.nodes = NodeHalfSpace{{0, -1, 0}, 1.49f}}};
  world.add(wall).value();
  world
      .add(RigidDef{
          .shape = Box{{0.5f, 0.5f, 0.5f}}, .density = 16000, .position = {0.1f, 1.6f, 1.5f}, .velocity = {0, 0, -60}})
      .value();
  world.step();
  const std::size_t before = allocations;
  std::size_t made = 0;
  for (int i = 0; i < 30; ++i) {
    // Bodies that cracked in the last step are made anew, and so is what broke off.
    std::vector<BodyId> cracked;
    const std::size_t by_test = allocations;
    for (const Crack& crack : world.events().cracks) cracked.push_back(crack.body);
    std::sort(cracked.begin(), cracked.end());
    made += static_cast<std::size_t>(std::unique(cracked.begin(), cracked.end()) - cracked.begin());
    allocations = by_test;
    world.step();
    made += world.events().break_offs.size();
  }
  const std::size_t each = (allocations - before) / std::max<std::size_t>(made, 1);
  std::printf("a wall that breaks: %zu bodies made, %zu allocations each\n", made, each);
  EXPECT_GT(made, 100u);
  EXPECT_LT(each, 330u);
}

}  // namespace
}  // namespace pliant
