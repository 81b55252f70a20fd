// What contacts of a large cloth with itself cost. Does not run by itself: --gtest_also_run_disabled_tests.
#include <algorithm>
#include <cmath>
#include <ctime>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "collide/surface_contacts.h"

#include "surface_meshes.h"

namespace pliant {
namespace {

constexpr std::uint32_t kSide = 201;

void print_cost(const char* name, SurfaceScene& scene, SurfaceTree& sheet, float margin) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> unit(-1, 1);
  for (Vec4& v : scene.v) v = {0.05f * unit(random), 0.05f * unit(random) - 5, 0.05f * unit(random), 1};
  Workers workers(1);
  SurfaceContacts contacts;
  // One thread and its own time: on a busy machine that says more than the clock on the wall.
  const auto cpu_ms = [] { return 1e3 * double(std::clock()) / CLOCKS_PER_SEC; };
  double refit = 1e9, search = 1e9;
  for (int i = 0; i < 20; ++i) {
    const double start = cpu_ms();
    sheet.refit(scene.x, scene.v, 1.0f / 240, margin, workers);
    const double middle = cpu_ms();
    contacts.find_self(sheet, workers);
    refit = std::min(refit, middle - start), search = std::min(search, cpu_ms() - middle);
  }
  std::size_t edges = 0;
  for (const SurfaceContact& c : contacts.contacts()) edges += c.is_edges();
  fmt::print(
      "{}: refit {:.2f} ms, self contacts {:.2f} ms of one core; {} contacts ({} of edges), {} tests, {} notes\n", name,
      refit, search, contacts.contacts().size(), edges, contacts.report().tests, contacts.sides().notes().size());
}

/// Along x: `straight` m, then folds of 0.2 m on top of each other, then the rest.
Vec3 place_in_folds(float s, float z, float gap) {
  const float fold = 0.2f, straight = 0.5f;
  if (s < straight) return {s, 0, z};
  const float along = std::min((s - straight) / fold, 5.0f), layer = std::floor(along), part = along - layer;
  const float x = int(layer) % 2 ? fold * (1 - part) : fold * part;
  // The turn takes the last tenth of a layer.
  const float rise = std::max(0.0f, (part - 0.9f) * 10);
  return {straight + x + std::max(0.0f, s - straight - 5 * fold), gap * (layer + rise * rise * (3 - 2 * rise)), z};
}

TEST(SurfaceTiming, DISABLED_LargeCloth) {
  const auto flat = [](float u, float w) { return Vec3{2 * u, 0, 2 * w}; };
  {
    SurfaceScene scene;
    SurfaceTree sheet = scene.add_sheet(kSide, 0.002f, flat);
    print_cost("flat", scene, sheet, 0.002f);
  }
  {
    SurfaceScene scene;
    SurfaceTree sheet = scene.add_sheet(kSide, 0.002f, flat);
    for (Vec4& p : scene.x) p.y = 0.15f * std::sin(8 * p.x) * std::cos(9 * p.z);
    print_cost("draped, without contacts", scene, sheet, 0.002f);
  }
  {
    SurfaceScene scene;
    SurfaceTree sheet = scene.add_sheet(kSide, 0.002f, flat);
    for (Vec4& p : scene.x) {
      const Vec3 q = place_in_folds(p.x, p.z + 0.003f * std::sin(7 * p.x), 0.0045f);
      p = {q.x, q.y + 0.0002f * std::sin(50 * p.z) * std::cos(70 * p.x), q.z, 0};
    }
    print_cost("half of it in folds", scene, sheet, 0.002f);
  }
}

}  // namespace
}  // namespace pliant
