// Many copies of one body: grids, walls, pyramids, lines and rings, with a little seeded disorder.
#include <array>
#include <cmath>
#include <random>

#include <fmt/format.h>

#include "io/scene_builder.h"

namespace pliant {
namespace {

constexpr Range kCount = between(1, 1'000'000'000);

/// Disorder of the copies, the same for the same seed on every machine.
struct Scatter {
  float jitter = 0;        ///< m, at most so far along each axis
  float tilt_degrees = 0;  ///< at most, about a random axis
  float color_jitter = 0;
  std::uint32_t seed = 1;
};

struct GridDraft : Scatter {
  std::array<int, 3> count{1, 1, 1};
  Vec3 spacing{1, 1, 1};
};
struct LineDraft : Scatter {
  int count = 1;
  Vec3 step{1, 0, 0};
};
struct RingDraft : Scatter {
  int count = 1;
  float radius = 1;
  Vec3 axis{0, 1, 0};
  float from_degrees = 0, to_degrees = 360;
  bool turn = true;
};
struct PyramidDraft : Scatter {
  int layers = 1;
  Vec3 spacing{1, 1, 1};
  bool flat = false;
};
struct WallDraft : Scatter {
  int columns = 1, rows = 1;
  Vec3 spacing{1, 1, 1};
};

bool read_counts(const SceneReader& r, std::array<int, 3>& out) {
  const auto* items = r.value().as<JsonValue::Array>();
  if (!items || items->size() != 3) return r.refuse("expected an array of 3 whole numbers"), false;
  bool good = true;
  for (std::size_t i = 0; i < 3; ++i) good = read(r.element(i, (*items)[i]), out[i], kCount) && good;
  return good;
}

/// mt19937 is the same everywhere; the standard's distributions are not.
class Random {
 public:
  explicit Random(std::uint32_t seed) : engine_(seed) {}
  float symmetric() { return static_cast<float>(engine_() >> 8) * (2.0f / 16777215.0f) - 1.0f; }  // −1 to 1
  Vec3 vector() {
    const float x = symmetric(), y = symmetric(), z = symmetric();
    return {x, y, z};
  }

 private:
  std::mt19937 engine_;
};

void scatter(const Scatter& s, Repeat& out) {
  Random random(s.seed);
  for (Transform& place : out.places) {
    if (s.jitter > 0) place.position += s.jitter * random.vector();
    if (s.tilt_degrees > 0) {
      const Vec3 axis = normalized(random.vector(), {0, 1, 0});
      const float angle = random.symmetric() * s.tilt_degrees * (kPi / 180);
      place.rotation = Quat::axis_angle(axis, angle) * place.rotation;
    }
    if (s.color_jitter > 0) {
      const float shade = 0.7f * random.symmetric();  // mostly lighter or darker, a little in hue
      out.color_shifts.push_back(s.color_jitter * (Vec3{shade, shade, shade} + 0.3f * random.vector()));
    }
  }
}

void place_grid(const GridDraft& d, std::vector<Transform>& out) {
  for (int y = 0; y < d.count[1]; ++y) {
    for (int z = 0; z < d.count[2]; ++z) {
      for (int x = 0; x < d.count[0]; ++x) {
        const Vec3 at{static_cast<float>(x) - 0.5f * static_cast<float>(d.count[0] - 1), static_cast<float>(y),
                      static_cast<float>(z) - 0.5f * static_cast<float>(d.count[2] - 1)};
        out.push_back({multiply_each(at, d.spacing), {}});
      }
    }
  }
}

void place_line(const LineDraft& d, std::vector<Transform>& out) {
  for (int i = 0; i < d.count; ++i) out.push_back({static_cast<float>(i) * d.step, {}});
}

/// Angle 0 is towards +X, or towards +Y about the X axis; a whole turn has no copy twice.
void place_ring(const RingDraft& d, std::vector<Transform>& out) {
  const Vec3 axis = normalized(d.axis);
  const Vec3 reference = std::abs(axis.x) < 0.9f ? Vec3{1, 0, 0} : Vec3{0, 1, 0};
  const Vec3 start = normalized(reference - dot(reference, axis) * axis);
  const float span = d.to_degrees - d.from_degrees;
  const bool whole = std::abs(std::abs(span) - 360) < 1e-3f;
  const int gaps = whole ? d.count : std::max(d.count - 1, 1);
  for (int i = 0; i < d.count; ++i) {
    const float degrees = d.from_degrees + span * static_cast<float>(i) / static_cast<float>(gaps);
    const Quat turn = Quat::axis_angle(axis, degrees * (kPi / 180));
    out.push_back({d.radius * turn.rotate(start), d.turn ? turn : Quat{}});
  }
}

void place_pyramid(const PyramidDraft& d, std::vector<Transform>& out) {
  for (int layer = 0; layer < d.layers; ++layer) {
    const int side = d.layers - layer;
    const float middle = 0.5f * static_cast<float>(side - 1);
    for (int z = 0; z < (d.flat ? 1 : side); ++z) {
      for (int x = 0; x < side; ++x) {
        const Vec3 at{static_cast<float>(x) - middle, static_cast<float>(layer),
                      d.flat ? 0 : static_cast<float>(z) - middle};
        out.push_back({multiply_each(at, d.spacing), {}});
      }
    }
  }
}

/// Every second row is shifted by half a brick, as a mason would.
void place_wall(const WallDraft& d, std::vector<Transform>& out) {
  for (int y = 0; y < d.rows; ++y) {
    const float shift = (y % 2 == 0 ? -0.25f : 0.25f) - 0.5f * static_cast<float>(d.columns - 1);
    for (int x = 0; x < d.columns; ++x) {
      out.push_back({multiply_each({static_cast<float>(x) + shift, static_cast<float>(y), 0}, d.spacing), {}});
    }
  }
}

double size_of(const GridDraft& d) { return double(d.count[0]) * double(d.count[1]) * double(d.count[2]); }
double size_of(const LineDraft& d) { return d.count; }
double size_of(const RingDraft& d) { return d.count; }
double size_of(const WallDraft& d) { return double(d.columns) * double(d.rows); }
double size_of(const PyramidDraft& d) {
  const double n = d.layers;
  return d.flat ? n * (n + 1) / 2 : n * (n + 1) * (2 * n + 1) / 6;
}

/// The draft's own fields and those of the disorder. The number of copies is checked before any is made.
template <typename Draft>
Kind<Repeat> repeat_kind(std::string name, Fields<Draft> fields, void (*place)(const Draft&, std::vector<Transform>&)) {
  fields = std::move(fields) + Fields<Draft>{inherited<Draft>("jitter", &Scatter::jitter, kNotNegative),
                                             inherited<Draft>("tilt_degrees", &Scatter::tilt_degrees, between(0, 180)),
                                             inherited<Draft>("color_jitter", &Scatter::color_jitter, kShare),
                                             inherited<Draft>("seed", &Scatter::seed, kNotNegative)};
  return kind<Repeat, Draft>(std::move(name), std::move(fields),
                             [place](const SceneReader& r, Draft& draft, Repeat& out) {
                               if (!r.builder().has_room(r, size_of(draft))) return false;
                               place(draft, out.places);
                               scatter(draft, out);
                               return true;
                             });
}

const std::vector<Kind<Repeat>>& repeat_kinds() {
  static const std::vector<Kind<Repeat>> kinds = {
      repeat_kind<GridDraft>(
          "grid",
          {field<GridDraft>("count", [](const SceneReader& r, GridDraft& d) { read_counts(r, d.count); }).required(),
           field("spacing", &GridDraft::spacing).required()},
          place_grid),
      repeat_kind<LineDraft>(
          "line", {field("count", &LineDraft::count, kCount).required(), field("step", &LineDraft::step).required()},
          place_line),
      repeat_kind<RingDraft>(
          "ring",
          {field("count", &RingDraft::count, kCount).required(),
           field("radius", &RingDraft::radius, kPositive).required(),
           field<RingDraft>("axis", [](const SceneReader& r, RingDraft& d) { read_direction(r, d.axis); }),
           field("from_degrees", &RingDraft::from_degrees), field("to_degrees", &RingDraft::to_degrees),
           field("turn", &RingDraft::turn)},
          place_ring),
      repeat_kind<PyramidDraft>(
          "pyramid",
          {field("layers", &PyramidDraft::layers, between(1, 10'000)).required(),
           field("spacing", &PyramidDraft::spacing).required(), field("flat", &PyramidDraft::flat)},
          place_pyramid),
      repeat_kind<WallDraft>(
          "wall",
          {field("columns", &WallDraft::columns, kCount).required(), field("rows", &WallDraft::rows, kCount).required(),
           field("spacing", &WallDraft::spacing).required()},
          place_wall)};
  return kinds;
}

}  // namespace

bool read_repeat(const SceneReader& r, Repeat& out) { return read_kinds(r, "repeat", repeat_kinds(), out); }

void describe_repeats(std::vector<FieldSet>& sets) {
  for (const Kind<Repeat>& k : repeat_kinds()) sets.push_back({"repeat_" + k.name, k.fields});
}

}  // namespace pliant
