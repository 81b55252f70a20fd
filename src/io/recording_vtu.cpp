// Recordings as VTU files, one per frame, joined by a PVD file.
//
// A solid is its tets, with what they feel. What it shows instead of their surface, a model or splinters, is in a file
// of its own for each frame: tets and triangles in one place would hide each other.
#include <map>

#include <fmt/format.h>

#include "io/file.h"
#include "io/recording_sink.h"
#include "io/vtu_writer.h"

namespace pliant {
namespace {

/// Several bodies as one grid, in world coordinates: surfaces of rigid bodies, the tets of solids.
struct JoinedGrid {
  std::vector<Vec3> points, velocities;
  std::vector<Vec3> colors;  ///< per point, or empty
  std::vector<float> speeds;
  std::vector<Face> faces;
  std::vector<Tet> tets;
  std::vector<std::int32_t> face_bodies, tet_bodies;
  std::vector<float> stress, tension, strain, plastic_strain;  ///< per tet

  // The arrays of all cells, faces first.
  std::vector<std::int32_t> bodies;
  std::vector<float> cell_stress, cell_tension, cell_strain, cell_plastic_strain;

  void clear() { *this = {}; }

  void append_solid(const World& world, BodyId body, std::int32_t number) {
    const auto first = static_cast<std::uint32_t>(points.size());
    const std::span<const Vec3> positions = *world.node_positions(body), moving = *world.node_velocities(body);
    points.insert(points.end(), positions.begin(), positions.end());
    velocities.insert(velocities.end(), moving.begin(), moving.end());
    for (const Vec3 v : moving) speeds.push_back(length(v));
    for (const Tet& t : (*world.solid_def(body))->mesh.tets) {
      tets.push_back({t[0] + first, t[1] + first, t[2] + first, t[3] + first});
    }
    tet_bodies.resize(tets.size(), number);
    const auto append_values = [&](std::vector<float>& to, TetValue value) {
      const std::vector<float> values = *world.tet_values(body, value);
      to.insert(to.end(), values.begin(), values.end());
    };
    append_values(stress, TetValue::Stress), append_values(tension, TetValue::Tension);
    append_values(strain, TetValue::Strain), append_values(plastic_strain, TetValue::PlasticStrain);
  }

  /// Values of tets, with zeros for the faces before them.
  std::span<const float> of_cells(const std::vector<float>& of_tets, std::vector<float>& out) const {
    out.assign(faces.size(), 0.0f);
    out.insert(out.end(), of_tets.begin(), of_tets.end());
    return out;
  }

  void append(const RenderSurface& surface, std::int32_t number) {
    const auto first = static_cast<std::uint32_t>(points.size());
    for (std::size_t i = 0; i < surface.mesh->vertices.size(); ++i) {
      points.push_back(surface.vertex(i));
      velocities.push_back(surface.moves ? surface.vertex_velocity(i) : Vec3{});
      speeds.push_back(length(velocities.back()));
    }
    for (const Face& f : surface.mesh->faces) faces.push_back({f[0] + first, f[1] + first, f[2] + first});
    face_bodies.resize(faces.size(), number);
  }

  /// With the colours that are seen; then of all that is in the grid.
  void append_look(const RenderSurface& surface, std::int32_t number) {
    append(surface, number);
    colors.insert(colors.end(), surface.colors.begin(), surface.colors.end());
    colors.resize(points.size(), surface.appearance.color);
  }

  VtuGrid view(double time) {
    VtuGrid grid;
    grid.points = points;
    grid.faces = faces;
    grid.tets = tets;
    bodies = face_bodies;
    bodies.insert(bodies.end(), tet_bodies.begin(), tet_bodies.end());
    grid.point_data = {{"velocity", 3, VtuArray::of(velocities)}, {"speed", 1, std::span<const float>(speeds)}};
    if (!colors.empty()) grid.point_data.push_back({"color", 3, VtuArray::of(colors)});
    grid.cell_data = {{"body", 1, std::span<const std::int32_t>(bodies)}};
    if (!tets.empty()) {
      grid.cell_data.push_back({"stress", 1, of_cells(stress, cell_stress)});
      grid.cell_data.push_back({"tension", 1, of_cells(tension, cell_tension)});
      grid.cell_data.push_back({"strain", 1, of_cells(strain, cell_strain)});
      grid.cell_data.push_back({"plastic_strain", 1, of_cells(plastic_strain, cell_plastic_strain)});
    }
    grid.time = time;
    return grid;
  }
};

class VtuSink final : public RecordingSink {
 public:
  explicit VtuSink(AtomicFolder folder) : folder_(std::move(folder)) {}

  Status add_frame(const World& world, std::span<const RenderSurface> surfaces) override {
    const double time = world.time();
    for (const RenderSurface& s : surfaces) numbers_.try_emplace(s.body, static_cast<std::int32_t>(numbers_.size()));
    if (const Status status = write_still(time, surfaces); !status.ok()) return status;
    grid_.clear();
    for (const RenderSurface& s : surfaces) {
      if (world.kind(s.body) == BodyKind::Solid) {
        grid_.append_solid(world, s.body, numbers_.at(s.body));
      } else if (s.moves) {
        grid_.append(s, numbers_.at(s.body));
      }
    }
    const std::string name = fmt::format("frame_{:06}.vtu", frames_);
    if (const Status status = write(name, time); !status.ok()) return status;
    entries_ += entry(time, 0, name);
    if (!still_name_.empty()) entries_ += entry(time, 1, still_name_);
    const Status status = write_looks(world, surfaces);
    ++frames_;
    return status;
  }

  Status finish() override {
    Result<OutputFile> file = folder_.create_file("run.pvd");
    if (!file) return file.error();
    file->write("<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\">\n<Collection>\n");
    file->write(entries_);
    file->write("</Collection>\n</VTKFile>\n");
    if (const Status status = folder_.close_file(*file); !status.ok()) return status;
    return folder_.commit();
  }

 private:
  static std::string entry(double time, int part, const std::string& name) {
    return fmt::format("<DataSet timestep=\"{}\" part=\"{}\" file=\"{}\"/>\n", time, part, name);
  }

  /// What stands still is written once, and again only when there is more or less of it, or it was put elsewhere.
  Status write_still(double time, std::span<const RenderSurface> surfaces) {
    std::vector<std::pair<BodyId, Transform>> still;
    for (const RenderSurface& s : surfaces) {
      if (!s.moves) still.emplace_back(s.body, s.world_from_body);
    }
    if (still == still_) return {};
    still_ = std::move(still);
    grid_.clear();
    for (const RenderSurface& s : surfaces) {
      if (!s.moves) grid_.append(s, numbers_.at(s.body));
    }
    still_name_ = still_.empty() ? std::string() : fmt::format("static_{:03}.vtu", still_files_++);
    return still_.empty() ? Status() : write(still_name_, time);
  }

  /// Of solids and their pieces that show something else than the surface of their tets.
  Status write_looks(const World& world, std::span<const RenderSurface> surfaces) {
    grid_.clear();
    for (const RenderSurface& s : surfaces) {
      if (world.kind(s.body) != BodyKind::Solid) continue;
      const std::shared_ptr<const SolidDef> def = *world.origin_def(s.body);
      if (def->splinters || def->surface) grid_.append_look(s, numbers_.at(s.body));
    }
    if (grid_.faces.empty()) return {};
    const std::string name = fmt::format("look_{:06}.vtu", frames_);
    entries_ += entry(world.time(), 2, name);
    return write(name, world.time());
  }

  Status write(const std::string& name, double time) {
    Result<OutputFile> file = folder_.create_file(name);
    if (!file) return file.error();
    if (const Status status = write_vtu(*file, grid_.view(time)); !status.ok()) return status;
    return folder_.close_file(*file);
  }

  AtomicFolder folder_;
  JoinedGrid grid_;
  std::map<BodyId, std::int32_t> numbers_;  ///< the array `body`: 0 for the first body seen, and so on
  std::vector<std::pair<BodyId, Transform>> still_;
  std::string still_name_, entries_;
  int frames_ = 0, still_files_ = 0;
};

}  // namespace

Result<std::unique_ptr<RecordingSink>> create_vtu_sink(const std::filesystem::path& target) {
  Result<AtomicFolder> folder = AtomicFolder::create(target);
  if (!folder) return folder.error();
  return std::unique_ptr<RecordingSink>(std::make_unique<VtuSink>(std::move(*folder)));
}

}  // namespace pliant
