// Wavefront OBJ: v, vt, vn, f, and where objects (o, g) begin. Materials, lines, curves and unknown statements are
// skipped.
#include <array>
#include <map>

#include <fmt/format.h>

#include "io/mesh_format.h"
#include "io/parse_number.h"
#include "io/polygon.h"
#include "io/text_reader.h"
#include "io/text_writer.h"

namespace pliant {

namespace {

constexpr std::uint32_t kNone = 0xffffffffu;

/// What one corner of a face refers to, from 0.
struct Corner {
  std::uint32_t v = kNone, vt = kNone, vn = kNone;
};

class ObjReader {
 public:
  ObjReader(const std::filesystem::path& file, std::string_view content) : in_(file, content) {
    in_.skip_comments();
    in_.join_continued_lines();
  }

  Result<MeshFile> read() {
    while (in_.ok() && !in_.at_end()) {
      statement(in_.word());
      // Whatever else the line holds (weights, colours) has no meaning here.
      while (!in_.at_line_end()) in_.word_on_line();
    }
    if (!in_.ok()) return in_.error();
    build();
    return mesh_.finish(in_.file());
  }

 private:
  void statement(std::string_view name) {
    if (name == "v") {
      mesh_.points.push_back(point());
    } else if (name == "vn") {
      normals_.push_back(point());
    } else if (name == "vt") {
      const float u = coordinate("the texture coordinate u");
      const double v = in_.at_line_end() ? 0 : in_.number("the texture coordinate v");
      uvs_.push_back({u, static_cast<float>(flip_v(v))});
    } else if (name == "f" || name == "fo") {
      face();
    } else if (name == "o" || name == "g") {
      objects_.push_back(ends_.size());
    }
  }

  float coordinate(const char* what) {
    if (in_.at_line_end()) in_.fail(fmt::format("the line ends where {} should stand", what));
    return in_.coordinate(what);
  }
  Vec3 point() {
    const float x = coordinate("the x coordinate");
    const float y = coordinate("the y coordinate");
    const float z = coordinate("the z coordinate");
    return {x, y, z};
  }

  void face() {
    const std::size_t first = corners_.size();
    while (in_.ok() && !in_.at_line_end()) corners_.push_back(corner(in_.word_on_line()));
    if (in_.ok() && corners_.size() - first < 3)
      in_.fail(fmt::format("a face has {} corners, but needs at least 3", corners_.size() - first));
    ends_.push_back(corners_.size());
  }

  /// One of v, v/vt, v//vn, v/vt/vn.
  Corner corner(std::string_view word) {
    std::array<std::string_view, 3> part{};
    std::size_t parts = 0;
    for (std::string_view rest = word; parts < 3;) {
      const std::size_t slash = rest.find('/');
      part[parts++] = rest.substr(0, slash);
      if (slash == std::string_view::npos) break;
      rest.remove_prefix(slash + 1);
      if (parts == 3) in_.fail(fmt::format("\"{}\" has too many slashes for a corner", printable(word)));
    }
    Corner c;
    c.v = reference(part[0], mesh_.points.size(), "vertex");
    if (!part[1].empty()) c.vt = reference(part[1], uvs_.size(), "texture coordinate");
    if (!part[2].empty()) c.vn = reference(part[2], normals_.size(), "normal");
    return c;
  }

  /// From 1 for the first, or from -1 for the latest.
  std::uint32_t reference(std::string_view word, std::size_t count, const char* what) {
    const auto number = parse_integer(word);
    const auto n = static_cast<std::int64_t>(count);
    if (!number) {
      in_.fail(fmt::format("\"{}\" is not the number of a {}", printable(word), what));
    } else if (*number > 0 ? *number > n : *number == 0 || -*number > n) {
      in_.fail(
          fmt::format("a face names {} {}, but {} were given so far (they are counted from 1, or from -1 for the "
                      "latest)",
                      what, *number, count));
    } else {
      return static_cast<std::uint32_t>(*number > 0 ? *number - 1 : n + *number);
    }
    return kNone;
  }

  void build() {
    // Uvs and normals are per corner in OBJ and per vertex here, all or none.
    bool has_uvs = !uvs_.empty(), has_normals = !normals_.empty();
    for (const Corner& c : corners_) {
      has_uvs = has_uvs && c.vt != kNone;
      has_normals = has_normals && c.vn != kNone;
    }
    const std::size_t points = mesh_.points.size();
    if (has_uvs) mesh_.uvs.resize(points);
    if (has_normals) mesh_.normals.resize(points);
    // The first corner at a point keeps the point's number, so files whose lists run in step keep their order. Corners
    // there with another uv or normal become new points at the end.
    std::vector<Corner> owner(points);
    std::map<std::array<std::uint32_t, 3>, std::uint32_t> others;
    std::vector<std::uint32_t> polygon;
    std::size_t at = 0;
    std::size_t polygons = 0;
    auto object = objects_.begin();
    for (const std::size_t end : ends_) {
      for (; object != objects_.end() && *object <= polygons; ++object) begin_object();
      ++polygons;
      polygon.clear();
      for (; at < end; ++at) {
        Corner c = corners_[at];
        if (!has_uvs) c.vt = kNone;
        if (!has_normals) c.vn = kNone;
        polygon.push_back(point_of(c, owner, others));
      }
      triangulate_polygon(mesh_.points, polygon, mesh_.faces);
    }
  }

  void begin_object() {
    const auto first = static_cast<std::uint32_t>(mesh_.faces.size());
    if (mesh_.objects.empty() && first > 0) mesh_.objects.push_back(0);  // faces before any statement
    if (mesh_.objects.empty() || mesh_.objects.back() != first) mesh_.objects.push_back(first);
  }

  std::uint32_t point_of(const Corner& c, std::vector<Corner>& owner,
                         std::map<std::array<std::uint32_t, 3>, std::uint32_t>& others) {
    Corner& o = owner[c.v];
    if (o.v == kNone) {
      o = c;
      set_attributes(c.v, c);
    }
    if (o.vt == c.vt && o.vn == c.vn) return c.v;
    const auto [place, is_new] = others.try_emplace({c.v, c.vt, c.vn}, static_cast<std::uint32_t>(mesh_.points.size()));
    if (is_new) {
      mesh_.points.push_back(Vec3(mesh_.points[c.v]));
      if (c.vt != kNone) mesh_.uvs.emplace_back();
      if (c.vn != kNone) mesh_.normals.emplace_back();
      set_attributes(place->second, c);
    }
    return place->second;
  }

  void set_attributes(std::size_t point, const Corner& c) {
    if (c.vt != kNone) mesh_.uvs[point] = uvs_[c.vt];
    if (c.vn != kNone) mesh_.normals[point] = normals_[c.vn];
  }

  TextReader in_;
  MeshAssembly mesh_;
  std::vector<Vec2> uvs_;
  std::vector<Vec3> normals_;
  std::vector<Corner> corners_;
  std::vector<std::size_t> ends_;     ///< where in `corners_` each face ends
  std::vector<std::size_t> objects_;  ///< the polygons before each o or g
};

}  // namespace

Result<MeshFile> read_obj(const std::filesystem::path& file, std::string_view content) {
  return ObjReader(file, content).read();
}

void write_obj(OutputFile& file, const TriMesh& mesh) {
  TextWriter out(file);
  out.print("# {} vertices, {} faces\n", mesh.vertices.size(), mesh.faces.size());
  for (const Vec3 v : mesh.vertices) out.print("v {} {} {}\n", v.x, v.y, v.z);
  for (const Vec2 t : mesh.uvs) out.print("vt {} {}\n", t.x, flip_v(t.y));
  for (const Vec3 n : mesh.normals) out.print("vn {} {} {}\n", n.x, n.y, n.z);
  const bool uvs = !mesh.uvs.empty(), normals = !mesh.normals.empty();
  for (const Face& f : mesh.faces) {
    out.print("f");
    for (const std::uint32_t v : f) {
      const std::uint64_t i = std::uint64_t{v} + 1;
      if (uvs && normals) {
        out.print(" {}/{}/{}", i, i, i);
      } else if (uvs) {
        out.print(" {}/{}", i, i);
      } else if (normals) {
        out.print(" {}//{}", i, i);
      } else {
        out.print(" {}", i);
      }
    }
    out.print("\n");
  }
}

}  // namespace pliant
