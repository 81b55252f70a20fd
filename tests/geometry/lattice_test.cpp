// The parts of the tetrahedralizer, each against something simpler.
#include "geometry/bcc_lattice.h"
#include "geometry/isosurface_stuffing.h"
#include "geometry/mesh_checks.h"
#include "geometry/surface_mend.h"
#include "geometry/triangle_tree.h"
#include "geometry/union_find.h"
#include "geometry/winding_number.h"
#include "pliant/generators.h"

namespace pliant {
namespace {

using Point = BccLattice::Point;

TEST(BccLattice, NeighboursAreWhereTheStepsLead) {
  const BccLattice lattice({-2, 0, 1}, {5, 6, 7});
  for (Point p = 0; p < lattice.point_count(); ++p) {
    if (lattice.is_on_rim(p)) continue;
    for (int d = 0; d < BccLattice::kDirections; ++d) {
      const Point q = lattice.neighbor(p, d);
      EXPECT_EQ(lattice.position(q), lattice.position(p) + BccLattice::step_vector(d));
      EXPECT_EQ(lattice.neighbor(q, BccLattice::opposite(d)), p);
      EXPECT_FLOAT_EQ(length(BccLattice::step_vector(d)), BccLattice::is_long(d) ? 1 : std::sqrt(0.75f));
    }
  }
}

TEST(BccLattice, TetsFillSpaceOnce) {
  const BccLattice lattice({0, 0, 0}, {7, 7, 7});
  double volume = 0;
  for (int k = 1; k < 5; ++k) {
    for (int axis = 0; axis < 3; ++axis) {
      lattice.for_each_tet(lattice.point(1, k, 6 - k, 2), axis, [&](const std::array<Point, 4>& tet) {
        std::array<Vec3d, 4> c;
        for (std::size_t i = 0; i < 4; ++i) c[i] = Vec3d(lattice.position(tet[i]));
        const double six = six_volumes(c[0], c[1], c[2], c[3]);
        EXPECT_GT(six, 0);
        volume += six / 6;
      });
    }
  }
  EXPECT_NEAR(volume, 4, 1e-9);  // twelve tets to a cube
}

TEST(BccLattice, NearestPointIsTheNearest) {
  const BccLattice lattice({-3, -3, -3}, {8, 8, 8});
  std::mt19937 random(3);
  std::uniform_real_distribution<float> along(-1.9f, 2.9f);
  for (int i = 0; i < 500; ++i) {
    const Vec3 place{along(random), along(random), along(random)};
    float least = 100;
    for (Point p = 0; p < lattice.point_count(); ++p) least = std::min(least, length(lattice.position(p) - place));
    EXPECT_FLOAT_EQ(length(lattice.position(lattice.nearest(place)) - place), least);
    EXPECT_LE(least, std::sqrt(5.0f) / 4 + 1e-5f);
  }
}

/// Random points inside and cuts at random or at the worst places: no angle may be bad, and the boundary a manifold.
TEST(IsosurfaceStuffing, AnyRegionGivesGoodTets) {
  Workers workers;
  for (unsigned seed = 0; seed < 12; ++seed) {
    std::mt19937 random(seed);
    const auto chance = [&](double share) { return random() < share * 4294967296.0; };
    const BccLattice lattice({0, 0, 0}, {13, 13, 13});
    LatticeRegion region;
    region.is_inside.assign(lattice.point_count(), 0);
    region.is_pinned.assign(lattice.point_count(), 0);
    for (Point p = 0; p < lattice.point_count(); ++p) {
      const auto c = lattice.cell(p);
      const bool is_within = std::all_of(c.begin(), c.end(), [](int i) { return i >= 2 && i < 10; });
      region.is_inside[p] = is_within && chance(0.2 + 0.05 * seed);
      region.is_pinned[p] = seed % 3 == 0 && chance(0.2);
    }
    std::vector<float> cuts(std::size_t(lattice.point_count()) * BccLattice::kDirections);
    for (std::size_t i = 0; i < cuts.size(); ++i) {
      const float near = i % 7 < 3 ? 0.285f : 0.395f;
      const float choices[5] = {near + 1e-4f, near - 1e-4f, 1 - near - 1e-4f, 1 - near + 1e-4f,
                                float(random() / 4294967296.0)};
      cuts[i] = choices[random() % 5];
    }
    region.crossing = [&](Point p, int d) { return cuts[std::size_t(p) * BccLattice::kDirections + std::size_t(d)]; };
    const StuffedSolid solid = stuff_lattice(lattice, region, workers);
    expect_sound_solid(solid.mesh, 10);
    EXPECT_LT(dihedral_range(solid.mesh)[1], 165.5);
  }
}

TEST(IsosurfaceStuffing, EmptyRegionGivesNothing) {
  Workers workers;
  const BccLattice lattice({0, 0, 0}, {7, 7, 7});
  LatticeRegion region;
  region.is_inside.assign(lattice.point_count(), 0);
  region.is_pinned.assign(lattice.point_count(), 0);
  region.crossing = [](Point, int) { return 0.5f; };
  EXPECT_TRUE(stuff_lattice(lattice, region, workers).mesh.tets.empty());
}

TEST(WindingNumber, OneInsideZeroOutside) {
  for (const TriMesh& mesh : {tri_torus(4, 1.5f, 96, 48), tri_teapot(10), tri_box({8, 8, 8}, 1, 1, 1)}) {
    const WindingNumber winding(mesh.vertices, mesh.faces);
    std::mt19937 random(1);
    std::uniform_real_distribution<float> along(-6, 6);
    for (int i = 0; i < 300; ++i) {
      const Vec3 p{along(random), along(random), along(random)};
      EXPECT_NEAR(winding(p), contains(mesh, Vec3d(p)) ? 1 : 0, 0.01);
    }
  }
}

/// A hole takes away the share of the sphere that it covers, seen from the middle.
TEST(WindingNumber, OpenSurfaceCountsItsSolidAngle) {
  const TriMesh sphere = tri_sphere(1, 256);
  std::vector<Face> cap;
  for (const Face& f : sphere.faces) {
    if ((sphere.vertices[f[0]].y + sphere.vertices[f[1]].y + sphere.vertices[f[2]].y) / 3 < 0.5f) cap.push_back(f);
  }
  EXPECT_NEAR(WindingNumber(sphere.vertices, cap)({0, 0, 0}), 0.75, 0.008);
  EXPECT_NEAR(WindingNumber(sphere.vertices, {})({0, 0, 0}), 0, 0);
}

TEST(TriangleTree, CrossingsAndDistancesOfABox) {
  const TriMesh box = tri_box({2, 2, 2}, 3, 3, 3);
  const TriangleTree tree(box.vertices, box.faces);
  std::vector<TriangleTree::Crossing> met;
  tree.crossings({-2, 0.1f, 0.2f}, {2, 0.1f, 0.2f}, met);
  ASSERT_EQ(met.size(), 2u);
  EXPECT_NEAR(met[0].t, 0.25, 1e-6);
  EXPECT_NEAR(met[1].t, 0.75, 1e-6);
  EXPECT_FALSE(met[0].is_leaving);
  EXPECT_TRUE(met[1].is_leaving);
  EXPECT_NEAR(tree.distance({0, 0.7f, 0}, 5), 0.3, 1e-6);
  EXPECT_NEAR(tree.distance({4, 5, 1}, 100), 5, 1e-5);
  EXPECT_FLOAT_EQ(tree.distance({4, 5, 1}, 2), 2);
  EXPECT_TRUE(tree.is_blocked({0, 0, 0}, {0.3f, 1, 0.2f}));
  EXPECT_FALSE(tree.is_blocked({0, 2, 0}, {0.3f, 1, 0.2f}));
}

TEST(UnionFind, RootsAreTheSmallest) {
  UnionFind sets(6);
  sets.join(5, 3);
  sets.join(3, 4);
  sets.join(0, 1);
  EXPECT_EQ(sets.root(5), 3u);
  EXPECT_EQ(sets.root(4), 3u);
  EXPECT_EQ(sets.root(1), 0u);
  EXPECT_EQ(sets.root(2), 2u);
}

/// Whatever is turned over, in the end the surface is the one it was, facing outward.
TEST(MendSurface, FlippedFacesComeBack) {
  Workers workers;
  for (const TriMesh& mesh : {tri_sphere(5, 24), tri_torus(5, 2, 24, 12), tri_teapot(10, 24)}) {
    std::mt19937 random(2);
    TriMesh bad = mesh;
    std::size_t turned = 0;
    for (Face& f : bad.faces) {
      if (random() % 2) std::swap(f[0], f[1]), ++turned;
    }
    const MendedSurface mended = mend_surface(bad.vertices, bad.faces, 1e-5, workers);
    EXPECT_EQ(mended.flipped, turned);
    EXPECT_EQ(mended.dropped, 0u);
    EXPECT_EQ(mended.holes, 0u);
    EXPECT_LT(mended.open_share, 1e-6);
    const TriMesh result{mended.vertices, mended.faces, {}, {}};
    EXPECT_NEAR(enclosed_volume(result), enclosed_volume(mesh), 1e-6 * enclosed_volume(mesh));
  }
}

}  // namespace
}  // namespace pliant
