// glTF 2.0 (.gltf, .glb): the triangles of the default scene as one surface, with the transforms of its nodes applied.
// Skins and morph targets stay in their rest pose; materials, cameras and animations are left out.
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "io/glb_writer.h"
#include "io/gltf_document.h"
#include "io/mesh_format.h"

namespace pliant {

namespace {

using nlohmann::json;

/// A small file can place one mesh a million times: beyond so many vertices the file must have data for each.
constexpr std::uint64_t kFreeVertices = std::uint64_t{1} << 24;

/// An affine transform by rows, in double.
struct Affine {
  std::array<std::array<double, 4>, 3> m{{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}};

  friend Affine operator*(const Affine& a, const Affine& b) {
    Affine r;
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 4; ++j) {
        r.m[i][j] = j == 3 ? a.m[i][3] : 0;
        for (std::size_t k = 0; k < 3; ++k) r.m[i][j] += a.m[i][k] * b.m[k][j];
      }
    return r;
  }
  bool is_identity() const { return m == Affine().m; }
  Vec3 point(Vec3 p) const {
    const auto row = [&](std::size_t i) {
      return static_cast<float>(m[i][0] * p.x + m[i][1] * p.y + m[i][2] * p.z + m[i][3]);
    };
    return {row(0), row(1), row(2)};
  }
  /// Row i of the matrix of cofactors, which is the determinant times the inverse transpose.
  std::array<double, 3> cofactors(std::size_t i) const {
    const auto &a = m[(i + 1) % 3], &b = m[(i + 2) % 3];
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
  }
  double determinant() const {
    const auto c = cofactors(0);
    return m[0][0] * c[0] + m[0][1] * c[1] + m[0][2] * c[2];
  }
  Vec3 normal(Vec3 n) const {
    double r[3], squared = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      const auto c = cofactors(i);
      r[i] = c[0] * n.x + c[1] * n.y + c[2] * n.z;
      squared += r[i] * r[i];
    }
    const double scale = (determinant() < 0 ? -1 : 1) / std::sqrt(squared);
    // A flat transform leaves no direction: keep the old one rather than none.
    if (!std::isfinite(scale)) return n;
    return {static_cast<float>(r[0] * scale), static_cast<float>(r[1] * scale), static_cast<float>(r[2] * scale)};
  }
};

class GltfReader {
 public:
  GltfReader(const std::filesystem::path& file, std::string_view content) : file_(file), document_(file, content) {}

  Result<MeshFile> read() {
    if (document_.ok()) {
      nodes_ = document_.array(document_.root(), "nodes", "nodes");
      meshes_ = document_.array(document_.root(), "meshes", "meshes");
      if (nodes_ && !nodes_->empty())
        add_scene();
      else
        for (std::size_t i = 0; i < count(meshes_); ++i) add_mesh(i, Affine());
    }
    if (!document_.ok()) return document_.error();
    if (has_normals_ != Use::All) mesh_.normals.clear();
    if (has_uvs_ != Use::All) mesh_.uvs.clear();
    return mesh_.finish(file_);
  }

 private:
  enum class Use { Unknown, All, NotAll };
  struct Visit {
    std::size_t node;
    Affine world_from_parent;
  };

  static std::size_t count(const json* list) { return list ? list->size() : 0; }

  /// The roots of the default scene, else of the first, else every node without a parent.
  void add_scene() {
    const json* scenes = document_.array(document_.root(), "scenes", "scenes");
    std::vector<std::size_t> roots;
    if (count(scenes) > 0) {
      std::size_t scene = document_.index(document_.root(), "scene", scenes->size(), "glTF");
      if (scene == GltfDocument::kNone) scene = 0;
      roots = node_list((*scenes)[scene], "nodes", fmt::format("scenes[{}].nodes", scene));
    } else {
      std::vector<bool> is_child(nodes_->size(), false);
      for (std::size_t i = 0; i < nodes_->size(); ++i)
        for (const std::size_t child : children(i)) is_child[child] = true;
      for (std::size_t i = 0; i < nodes_->size(); ++i)
        if (!is_child[i]) roots.push_back(i);
    }
    add_nodes(roots);
  }

  std::vector<std::size_t> node_list(const json& of, const char* name, const std::string& field) {
    std::vector<std::size_t> result;
    const json* list = document_.array(of, name, field);
    for (std::size_t i = 0; i < count(list) && document_.ok(); ++i) {
      const json& entry = (*list)[i];
      if (!entry.is_number_unsigned() || entry.get<std::uint64_t>() >= nodes_->size())
        document_.fail(fmt::format("{}[{}]", field, i), fmt::format("must be a node from 0 to {}", nodes_->size() - 1));
      else
        result.push_back(entry.get<std::size_t>());
    }
    return result;
  }
  std::vector<std::size_t> children(std::size_t node) {
    return node_list((*nodes_)[node], "children", fmt::format("nodes[{}].children", node));
  }

  /// Parents first, in the order of the file. Nodes form a tree: one met twice is an error, and so is a circle.
  void add_nodes(const std::vector<std::size_t>& roots) {
    std::vector<bool> met(nodes_->size(), false);
    std::vector<Visit> stack;
    for (auto r = roots.rbegin(); r != roots.rend(); ++r) stack.push_back({*r, Affine()});
    while (!stack.empty() && document_.ok()) {
      const Visit visit = stack.back();
      stack.pop_back();
      const std::string field = fmt::format("nodes[{}]", visit.node);
      if (met[visit.node]) return document_.fail(field, "has two parents or is its own descendant");
      met[visit.node] = true;
      const json& node = (*nodes_)[visit.node];
      const Affine world_from_node = visit.world_from_parent * local_transform(node, field);
      const std::size_t mesh = document_.index(node, "mesh", count(meshes_), field);
      if (mesh != GltfDocument::kNone) add_mesh(mesh, world_from_node);
      const std::vector<std::size_t> below = children(visit.node);
      for (auto c = below.rbegin(); c != below.rend(); ++c) stack.push_back({*c, world_from_node});
    }
  }

  Affine local_transform(const json& node, const std::string& field) {
    Affine t;
    if (!node.is_object()) return document_.fail(field, "must be an object"), t;
    if (node.contains("matrix")) {
      const std::vector<double> v = document_.numbers(node["matrix"], field + ".matrix", 16);  // by columns
      for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 4; ++j) t.m[i][j] = v[4 * j + i];
      return t;
    }
    const auto member = [&](const char* name, std::vector<double> fallback) {
      return node.contains(name) ? document_.numbers(node[name], fmt::format("{}.{}", field, name), fallback.size())
                                 : fallback;
    };
    const std::vector<double> p = member("translation", {0, 0, 0}), q = member("rotation", {0, 0, 0, 1}),
                              s = member("scale", {1, 1, 1});
    const double x = q[0], y = q[1], z = q[2], w = q[3];
    const double rotation[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)},
                                   {2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)},
                                   {2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)}};
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 3; ++j) t.m[i][j] = rotation[i][j] * s[j];
      t.m[i][3] = p[i];
    }
    return t;
  }

  void add_mesh(std::size_t index, const Affine& world_from_mesh) {
    mesh_.objects.push_back(static_cast<std::uint32_t>(mesh_.faces.size()));
    const std::string field = fmt::format("meshes[{}].primitives", index);
    const json* primitives = document_.array((*meshes_)[index], "primitives", field);
    for (std::size_t i = 0; i < count(primitives) && document_.ok(); ++i)
      add_primitive((*primitives)[i], fmt::format("{}[{}]", field, i), world_from_mesh);
  }

  void add_primitive(const json& primitive, const std::string& field, const Affine& world_from_mesh) {
    const std::uint64_t mode = document_.integer(primitive, "mode", 4, field);
    if (mode < 4) return;  // points and lines
    if (mode > 6) return document_.fail(field + ".mode", fmt::format("is {}, which glTF does not have", mode));
    const json* attributes = document_.object(primitive, "attributes", field + ".attributes");
    const std::size_t accessors = document_.accessor_count();
    const auto attribute = [&](const char* name, std::size_t components, std::size_t vertices) {
      const std::size_t a =
          attributes ? document_.index(*attributes, name, accessors, field + ".attributes") : GltfDocument::kNone;
      if (a == GltfDocument::kNone) return std::vector<float>();
      std::vector<float> values = document_.read_floats(a, components);
      if (document_.ok() && vertices != 0 && values.size() != vertices * components)
        document_.fail(fmt::format("{}.attributes.{}", field, name), "has another count than POSITION");
      return values;
    };
    const std::vector<float> positions = attribute("POSITION", 3, 0);
    const std::size_t vertices = positions.size() / 3;
    if (document_.ok() && vertices == 0) document_.fail(field + ".attributes.POSITION", "is missing");
    const std::vector<float> normals = attribute("NORMAL", 3, vertices), uvs = attribute("TEXCOORD_0", 2, vertices);
    const std::vector<std::uint32_t> indices = read_indices(primitive, vertices, field);
    if (!document_.ok()) return;
    const std::uint64_t limit = kFreeVertices + document_.data_bytes();
    if (mesh_.points.size() + vertices > limit || 3 * mesh_.faces.size() + 3 * indices.size() > 6 * limit)
      return document_.fail(
          field, fmt::format("the scene places its meshes so often that there are more than {} vertices", limit),
          Error::Code::CapacityExceeded);
    add_faces(indices, mode, world_from_mesh.determinant() < 0, field);
    add_vertices(positions, normals, uvs, world_from_mesh);
  }

  std::vector<std::uint32_t> read_indices(const json& primitive, std::size_t vertices, const std::string& field) {
    std::vector<std::uint32_t> result;
    const std::size_t accessor = document_.index(primitive, "indices", document_.accessor_count(), field);
    if (accessor != GltfDocument::kNone) {
      result = document_.read_indices(accessor);
    } else {
      for (std::size_t i = 0; i < vertices; ++i) result.push_back(static_cast<std::uint32_t>(i));
    }
    for (std::size_t i = 0; i < result.size() && document_.ok(); ++i)
      if (result[i] >= vertices)
        document_.fail(field + ".indices",
                       fmt::format("entry {} is {}, but there are {} vertices", i, result[i], vertices));
    return result;
  }

  void add_faces(const std::vector<std::uint32_t>& n, std::uint64_t mode, bool mirrored, const std::string& field) {
    if (mode == 4 && n.size() % 3 != 0)
      return document_.fail(field, fmt::format("has {} corners, which is not a multiple of 3", n.size()));
    const auto first = static_cast<std::uint32_t>(mesh_.points.size());
    const auto add = [&](std::uint32_t a, std::uint32_t b, std::uint32_t c) {
      if (mirrored) std::swap(b, c);
      mesh_.faces.push_back({first + a, first + b, first + c});
    };
    if (mode == 4)
      for (std::size_t i = 0; i + 2 < n.size(); i += 3) add(n[i], n[i + 1], n[i + 2]);
    if (mode == 5)
      for (std::size_t i = 0; i + 2 < n.size(); ++i) add(n[i], n[i + 1 + i % 2], n[i + 2 - i % 2]);
    if (mode == 6)
      for (std::size_t i = 1; i + 1 < n.size(); ++i) add(n[0], n[i], n[i + 1]);
  }

  void add_vertices(const std::vector<float>& p, const std::vector<float>& n, const std::vector<float>& t,
                    const Affine& world_from_mesh) {
    const bool move = !world_from_mesh.is_identity();
    for (std::size_t i = 0; i < p.size(); i += 3) {
      const Vec3 v{p[i], p[i + 1], p[i + 2]};
      mesh_.points.push_back(move ? world_from_mesh.point(v) : v);
    }
    for (std::size_t i = 0; i < n.size(); i += 3) {
      const Vec3 v{n[i], n[i + 1], n[i + 2]};
      mesh_.normals.push_back(move ? world_from_mesh.normal(v) : v);
    }
    for (std::size_t i = 0; i < t.size(); i += 2) mesh_.uvs.push_back({t[i], t[i + 1]});
    note(has_normals_, !n.empty());
    note(has_uvs_, !t.empty());
  }
  static void note(Use& use, bool has) { use = has && use != Use::NotAll ? Use::All : Use::NotAll; }

  const std::filesystem::path& file_;
  GltfDocument document_;
  const json *nodes_ = nullptr, *meshes_ = nullptr;
  MeshAssembly mesh_;
  Use has_normals_ = Use::Unknown, has_uvs_ = Use::Unknown;
};

}  // namespace

Result<MeshFile> read_gltf(const std::filesystem::path& file, std::string_view content) {
  return GltfReader(file, content).read();
}

Status save_gltf(const std::filesystem::path& file, const TriMesh& mesh) {
  Result<GlbWriter> out = GlbWriter::create(file);
  if (!out) return out.error();
  out->add_node({.mesh = out->add_mesh({.primitives = {out->add_primitive(mesh)}})});
  return out->finish();
}

}  // namespace pliant
