// Writes Gmsh .msh files of versions 2.2 and 4.1, text and binary.
//
// Regions become physical volumes; node sets become named physical points, each with one point element per node.
#include <algorithm>
#include <map>

#include "io/gmsh_elements.h"
#include "io/mesh_format.h"
#include "io/text_writer.h"

namespace pliant {

namespace {

/// Part of the model, in at most one physical group.
struct Entity {
  int dimension;
  int number;          ///< from 1 in each dimension
  std::int32_t group;  ///< 0 for none
  std::string name;    ///< of the group, or empty
  Vec3 position;       ///< of a point
};

/// Elements of one type that belong to one entity.
struct Block {
  std::size_t entity;  ///< which of `GmshModel::entities`
  int type;
  std::size_t nodes;  ///< per element
  std::vector<std::uint32_t> corners;

  std::size_t elements() const { return corners.size() / nodes; }
};

struct GmshModel {
  std::vector<Entity> entities;  ///< by dimension
  std::vector<Block> blocks;
};

class GmshWriter {
 public:
  GmshWriter(OutputFile& file, const std::vector<Vec3>& nodes, const GmshModel& model, const SaveMeshOptions& options)
      : out_(file), nodes_(nodes), model_(model), binary_(options.binary), v4_(options.gmsh_version > 3) {
    for (const Block& b : model_.blocks) elements_ += b.elements();
    for (const Vec3 p : nodes_) bounds_.include(p);
  }

  void write() {
    out_.print("$MeshFormat\n{} {} 8\n", v4_ ? "4.1" : "2.2", binary_ ? 1 : 0);
    if (binary_) {
      out_.raw(std::int32_t{1});
      out_.print("\n");
    }
    out_.print("$EndMeshFormat\n");
    write_names();
    if (v4_) {
      write_entities();
      write_nodes_4();
      write_elements_4();
    } else {
      write_nodes_2();
      write_elements_2();
    }
  }

 private:
  template <typename T>
  void number(T value, char separator) {
    if (binary_)
      out_.raw(value);
    else
      out_.print("{}{}", value, separator);
  }
  void small(std::int64_t value, char separator = ' ') { number(static_cast<std::int32_t>(value), separator); }
  void large(std::uint64_t value, char separator = ' ') { number(value, separator); }
  void point(Vec3 p, char separator = '\n') {
    if (binary_)
      out_.raw(double{p.x}), out_.raw(double{p.y}), out_.raw(double{p.z});
    else
      out_.print("{} {} {}{}", p.x, p.y, p.z, separator);
  }
  /// The line end that is there in text anyway.
  void end(const char* section) { out_.print("{}$End{}\n", binary_ ? "\n" : "", section); }

  void write_names() {
    const std::vector<Entity>& all = model_.entities;
    const auto named = std::count_if(all.begin(), all.end(), [](const Entity& e) { return !e.name.empty(); });
    if (named == 0) return;
    out_.print("$PhysicalNames\n{}\n", named);
    for (const Entity& e : all)
      if (!e.name.empty()) out_.print("{} {} \"{}\"\n", e.dimension, e.group, e.name);
    out_.print("$EndPhysicalNames\n");
  }

  void write_entities() {
    out_.print("$Entities\n");
    std::uint64_t counts[4] = {};
    for (const Entity& e : model_.entities) ++counts[e.dimension];
    large(counts[0]), large(counts[1]), large(counts[2]), large(counts[3], '\n');
    for (const Entity& e : model_.entities) {
      small(e.number);
      point(e.dimension == 0 ? e.position : bounds_.lower, ' ');
      if (e.dimension > 0) point(bounds_.upper, ' ');
      large(e.group != 0 ? 1 : 0);
      if (e.group != 0) small(e.group);
      if (e.dimension > 0) large(0);
      if (!binary_) out_.print("\n");
    }
    end("Entities");
  }

  void write_nodes_4() {
    out_.print("$Nodes\n");
    large(1), large(nodes_.size()), large(1), large(nodes_.size(), '\n');
    small(model_.entities.back().dimension), small(model_.entities.back().number), small(0);
    large(nodes_.size(), '\n');
    for (std::size_t i = 0; i < nodes_.size(); ++i) large(i + 1, '\n');
    for (const Vec3 p : nodes_) point(p);
    end("Nodes");
  }

  void write_elements_4() {
    out_.print("$Elements\n");
    large(model_.blocks.size()), large(elements_), large(1), large(elements_, '\n');
    std::uint64_t number_of_element = 0;
    for (const Block& b : model_.blocks) {
      const Entity& e = model_.entities[b.entity];
      small(e.dimension), small(e.number), small(b.type), large(b.elements(), '\n');
      for (std::size_t i = 0; i < b.elements(); ++i) {
        large(++number_of_element);
        for (std::size_t k = 0; k < b.nodes; ++k)
          large(std::uint64_t{b.corners[i * b.nodes + k]} + 1, k + 1 == b.nodes ? '\n' : ' ');
      }
    }
    end("Elements");
  }

  void write_nodes_2() {
    out_.print("$Nodes\n{}\n", nodes_.size());
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      small(static_cast<std::int64_t>(i) + 1);
      point(nodes_[i]);
    }
    end("Nodes");
  }

  void write_elements_2() {
    out_.print("$Elements\n{}\n", elements_);
    std::int64_t number_of_element = 0;
    for (const Block& b : model_.blocks) {
      const Entity& e = model_.entities[b.entity];
      if (binary_) small(b.type), small(static_cast<std::int64_t>(b.elements())), small(2);
      for (std::size_t i = 0; i < b.elements(); ++i) {
        small(++number_of_element);
        if (!binary_) small(b.type), small(2);
        small(e.group), small(e.number);
        for (std::size_t k = 0; k < b.nodes; ++k)
          small(std::int64_t{b.corners[i * b.nodes + k]} + 1, k + 1 == b.nodes ? '\n' : ' ');
      }
    }
    end("Elements");
  }

  TextWriter out_;
  const std::vector<Vec3>& nodes_;
  const GmshModel& model_;
  bool binary_, v4_;
  std::size_t elements_ = 0;
  Aabb bounds_;
};

template <typename Cell>
void append(std::vector<std::uint32_t>& corners, const Cell& cell) {
  corners.insert(corners.end(), cell.begin(), cell.end());
}

GmshModel model_of(const TriMesh& mesh) {
  GmshModel model{{{2, 1, 0, {}, {}}}, {{0, kGmshTriangle, 3, {}}}};
  for (const Face& f : mesh.faces) append(model.blocks[0].corners, f);
  return model;
}

GmshModel model_of(const TetMesh& mesh) {
  GmshModel model;
  for (const auto& [name, set] : mesh.node_sets) {
    if (set.empty()) continue;
    const int number = static_cast<int>(model.entities.size()) + 1;
    model.entities.push_back({0, number, number, name, mesh.nodes[set[0]]});
    model.blocks.push_back({model.entities.size() - 1, kGmshPoint, 1, set});
  }
  // One volume per region, and a block wherever the region changes: so the tets keep their order.
  std::map<std::int32_t, std::size_t> volume_of;
  int volumes = 0;
  for (std::size_t i = 0; i < mesh.tets.size(); ++i) {
    const std::int32_t region = mesh.regions.empty() ? 0 : mesh.regions[i];
    const auto [volume, is_new] = volume_of.try_emplace(region, model.entities.size());
    if (is_new) model.entities.push_back({3, ++volumes, region, {}, {}});
    if (model.blocks.empty() || model.blocks.back().entity != volume->second)
      model.blocks.push_back({volume->second, kGmshTet, 4, {}});
    append(model.blocks.back().corners, mesh.tets[i]);
  }
  return model;
}

}  // namespace

void write_gmsh(OutputFile& file, const TriMesh& mesh, const SaveMeshOptions& options) {
  GmshWriter(file, mesh.vertices, model_of(mesh), options).write();
}

void write_gmsh(OutputFile& file, const TetMesh& mesh, const SaveMeshOptions& options) {
  GmshWriter(file, mesh.nodes, model_of(mesh), options).write();
}

}  // namespace pliant
