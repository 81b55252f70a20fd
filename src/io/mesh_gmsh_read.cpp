// Reads Gmsh .msh files of versions 2.x and 4.1, text and binary (the format: Gmsh manual, "Gmsh file formats").
//
// Physical groups become regions (their number, of volumes) and node sets (their name, of any dimension; groups of
// points, curves and surfaces without a name are called point_1, curve_1, surface_1).
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "io/gmsh_elements.h"
#include "io/mesh_format.h"
#include "io/text_reader.h"

namespace pliant {

namespace {

using Key = std::pair<int, std::int64_t>;  ///< dimension and number, of an entity or a physical group

constexpr const char* kDimensionNames[] = {"point", "curve", "surface", "volume"};

class GmshReader {
 public:
  GmshReader(const std::filesystem::path& file, std::string_view content) : in_(file, content) {}

  Result<MeshFile> read() {
    read_format();
    while (in_.ok() && !in_.at_end()) read_section(in_.word());
    if (in_.ok() && !has_nodes_) in_.fail("has no $Nodes section");
    if (in_.ok() && !has_elements_) in_.fail("has no $Elements section");
    if (!in_.ok()) return in_.error();
    return mesh_.finish(in_.file());
  }

 private:
  // --- sections ---

  void read_format() {
    in_.expect("$MeshFormat");
    const double version = in_.number("the version");
    const std::int64_t binary = in_.integer("the file type"), size = in_.integer("the size of numbers");
    if (!in_.ok()) return;
    if (!(version >= 2 && version < 3) && version != 4.1)
      return in_.fail(
          fmt::format("is of version {}; versions 2.x and 4.1 can be read (gmsh -format msh41 converts)", version),
          Error::Code::Unsupported);
    if ((binary != 0 && binary != 1) || size != 8)
      return in_.fail(fmt::format("has file type {} and numbers of {} bytes, but only types 0 and 1 with 8 bytes exist",
                                  binary, size));
    v4_ = version > 4;
    binary_ = binary == 1;
    if (binary_) {
      in_.rest_of_line();
      const auto one = in_.raw<std::int32_t>(false, "the byte order mark");
      swap_ = one != 1;
      if (in_.ok() && one != 1 && one != 0x01000000) in_.fail("the byte order mark is not 1");
    }
    in_.expect("$EndMeshFormat");
  }

  void read_section(std::string_view name) {
    if (!in_.ok()) return;
    if (name.size() < 2 || name[0] != '$')
      return in_.fail(fmt::format("\"{}\" stands where a section such as $Nodes should begin", printable(name)));
    name.remove_prefix(1);
    if (name == "PhysicalNames") {
      read_physical_names();
    } else if (name == "Entities" && v4_) {
      read_entities();
    } else if (name == "Nodes") {
      start_data();
      v4_ ? read_nodes_4() : read_nodes_2();
      index_nodes();
      has_nodes_ = true;
    } else if (name == "Elements") {
      if (!has_nodes_) return in_.fail("the $Elements come before the $Nodes");
      start_data();
      v4_ ? read_elements_4() : read_elements_2();
      has_elements_ = true;
    } else if (name == "PartitionedEntities") {
      return in_.fail("is cut into partitions; save it without (gmsh -unpartition)", Error::Code::Unsupported);
    } else {
      return skip_section(name);
    }
    in_.expect(fmt::format("$End{}", name));
  }

  void skip_section(std::string_view name) {
    const std::string end = fmt::format("$End{}", name);
    const std::size_t at = in_.text().find(end, in_.position());
    if (at == std::string_view::npos)
      return in_.fail(fmt::format("the section ${} has no ${}", printable(name), printable(end).substr(1)));
    in_.seek(at + end.size());
  }

  /// Binary data begins right after the line with the section's name. In version 2 the count is text on a line between.
  void start_data() {
    if (binary_ && v4_) in_.rest_of_line();
  }

  void read_physical_names() {
    const std::size_t names = in_.count("the number of physical names", 4);
    for (std::size_t i = 0; i < names && in_.ok(); ++i) {
      const std::int64_t dimension = in_.integer("the dimension of a physical group");
      const std::int64_t number = in_.integer("the number of a physical group");
      std::string_view name = in_.rest_of_line();
      if (name.size() < 2 || name.front() != '"' || name.back() != '"')
        in_.fail(fmt::format("the name {} is not in quotation marks", printable(name)));
      if (in_.ok() && (dimension < 0 || dimension > 3))
        in_.fail(fmt::format("a physical group has dimension {}, but only 0 to 3 exist", dimension));
      if (in_.ok()) names_[{static_cast<int>(dimension), number}] = std::string(name.substr(1, name.size() - 2));
    }
  }

  // --- numbers, text or binary ---

  std::int64_t small(const char* what) { return binary_ ? in_.raw<std::int32_t>(swap_, what) : in_.integer(what); }
  std::uint64_t large(const char* what) {
    return binary_ ? in_.raw<std::uint64_t>(swap_, what) : in_.unsigned_integer(what);
  }
  /// The node numbers of version 2 are 32 bits, those of version 4.1 are 64.
  std::uint64_t tag(const char* what) {
    if (v4_) return large(what);
    const std::int64_t value = small(what);
    if (in_.ok() && value < 0) in_.fail(fmt::format("{} is {}, but cannot be negative", what, value));
    return in_.ok() ? static_cast<std::uint64_t>(value) : 0;
  }
  Vec3 point() {
    if (!binary_) return in_.point();
    float p[3];
    for (float& x : p) x = static_cast<float>(in_.raw<double>(swap_, "a coordinate"));
    return {p[0], p[1], p[2]};
  }
  double real(const char* what) { return binary_ ? in_.raw<double>(swap_, what) : in_.number(what); }

  // --- entities (4.1) ---

  void read_entities() {
    start_data();
    std::size_t counts[4];
    for (std::size_t& n : counts) n = in_.checked_count(large("the number of entities"), "the number of entities", 8);
    for (int dimension = 0; dimension < 4; ++dimension)
      for (std::size_t i = 0; i < counts[dimension] && in_.ok(); ++i) read_entity(dimension);
  }

  void read_entity(int dimension) {
    const Key key{dimension, small("the number of an entity")};
    for (int k = 0; k < (dimension == 0 ? 3 : 6); ++k) real("the bounds of an entity");
    const std::size_t groups = count_of("the number of physical groups", 4, 2);
    for (std::size_t k = 0; k < groups && in_.ok(); ++k) {
      // A negative number means that the group sees the entity turned round.
      const std::int64_t group = std::abs(small("a physical group"));
      if (group != 0) groups_of_[key].push_back(group);
    }
    if (dimension == 0) return;
    const std::size_t boundary = count_of("the number of bounding entities", 4, 2);
    for (std::size_t k = 0; k < boundary && in_.ok(); ++k) small("a bounding entity");
  }

  /// How many things follow that take at least so many bytes each, in binary and in text.
  std::size_t count_of(const char* what, std::size_t binary_bytes, std::size_t text_bytes) {
    return in_.checked_count(large(what), what, binary_ ? binary_bytes : text_bytes);
  }

  // --- nodes ---

  void read_nodes_2() {
    const std::size_t nodes = in_.count("the number of nodes", binary_ ? 28 : 8);
    if (binary_) in_.rest_of_line();
    reserve(nodes);
    for (std::size_t i = 0; i < nodes && in_.ok(); ++i) {
      const std::uint64_t number = tag("the number of a node");
      add_node(number, point());
    }
  }

  void read_nodes_4() {
    const std::size_t blocks = count_of("the number of node blocks", 20, 8);
    reserve(count_of("the number of nodes", 32, 8));
    large("the smallest node number");
    large("the largest node number");
    for (std::size_t b = 0; b < blocks && in_.ok(); ++b) {
      const std::int64_t dimension = small("the dimension of an entity");
      small("the number of an entity");
      const std::int64_t parametric = small("the parametric flag");
      const std::size_t nodes = count_of("the number of nodes of a block", 32, 8);
      if (in_.ok() && (dimension < 0 || dimension > 3))
        in_.fail(fmt::format("an entity has dimension {}, but only 0 to 3 exist", dimension));
      const std::size_t first = tags_.size();
      for (std::size_t i = 0; i < nodes && in_.ok(); ++i) tags_.push_back(large("the number of a node"));
      for (std::size_t i = 0; i < nodes && in_.ok(); ++i) {
        mesh_.points.push_back(point());
        for (std::int64_t k = 0; parametric != 0 && k < dimension; ++k) real("a parametric coordinate");
      }
      if (in_.ok() && tags_.size() - first != nodes) in_.fail("a block of nodes is incomplete");
    }
  }

  void reserve(std::size_t nodes) {
    tags_.reserve(nodes);
    mesh_.points.reserve(nodes);
  }
  void add_node(std::uint64_t number, Vec3 p) {
    tags_.push_back(number);
    mesh_.points.push_back(p);
  }

  /// Node numbers may have gaps and any order. The usual 1, 2, 3, ... needs no table.
  void index_nodes() {
    if (!in_.ok()) return;
    if (mesh_.points.size() >= std::numeric_limits<std::uint32_t>::max()) return in_.fail("has too many nodes");
    dense_ = true;
    for (std::size_t i = 0; i < tags_.size() && dense_; ++i) dense_ = tags_[i] == i + 1;
    if (dense_) return;
    sorted_.clear();
    for (std::size_t i = 0; i < tags_.size(); ++i) sorted_.emplace_back(tags_[i], static_cast<std::uint32_t>(i));
    std::sort(sorted_.begin(), sorted_.end());
    for (std::size_t i = 1; i < sorted_.size(); ++i)
      if (sorted_[i].first == sorted_[i - 1].first)
        return in_.fail(fmt::format("two nodes have the number {}", sorted_[i].first));
  }

  std::uint32_t node(std::uint64_t number) {
    if (dense_ && number >= 1 && number <= tags_.size()) return static_cast<std::uint32_t>(number - 1);
    if (!dense_) {
      const auto found = std::lower_bound(sorted_.begin(), sorted_.end(), std::pair(number, std::uint32_t{0}));
      if (found != sorted_.end() && found->first == number) return found->second;
    }
    in_.fail(fmt::format("an element names node {}, which does not exist", number));
    return 0;
  }

  // --- elements ---

  const GmshElement* element_type(std::int64_t type) {
    const GmshElement* e = find_gmsh_element(type);
    if (!in_.ok()) return nullptr;
    if (!e)
      in_.fail(fmt::format("an element has type {}, which pliant does not know", type));
    else if (!e->usable)
      in_.fail(
          fmt::format("holds a {}; only 3-node triangles, 4-node quadrangles and 4-node tetrahedra can be used (mesh "
                      "with first order and without recombining)",
                      e->name),
          Error::Code::Unsupported);
    return in_.ok() ? e : nullptr;
  }

  void read_elements_2() {
    const std::size_t elements = in_.count("the number of elements", 6);
    if (binary_) in_.rest_of_line();
    std::size_t done = 0;
    while (done < elements && in_.ok()) {
      // In text every element has its own head, in binary many share one.
      if (!binary_) small("the number of an element");
      const GmshElement* type = element_type(small("the type of an element"));
      const std::int64_t run = binary_ ? small("the number of elements that follow") : 1;
      const std::int64_t tags = small("the number of tags");
      if (in_.ok() && (run < 1 || static_cast<std::uint64_t>(run) > elements - done))
        in_.fail(fmt::format("{} elements follow, but {} are left of the number told", run, elements - done));
      if (in_.ok() && tags < 0) in_.fail("the number of tags is negative");
      for (std::int64_t i = 0; i < run && in_.ok(); ++i) read_element_2(*type, tags);
      done += in_.ok() ? static_cast<std::size_t>(run) : 0;
    }
  }

  void read_element_2(const GmshElement& type, std::int64_t tags) {
    if (binary_) small("the number of an element");
    std::int64_t group = 0;
    for (std::int64_t k = 0; k < tags && in_.ok(); ++k) {
      const std::int64_t value = small("a tag of an element");
      if (k == 0) group = std::abs(value);
    }
    single_group_.assign(group != 0 ? 1 : 0, group);
    add_element(type, single_group_);
  }

  void read_elements_4() {
    const std::size_t blocks = count_of("the number of element blocks", 20, 8);
    count_of("the number of elements", 16, 4);
    large("the smallest element number");
    large("the largest element number");
    for (std::size_t b = 0; b < blocks && in_.ok(); ++b) {
      const std::int64_t dimension = small("the dimension of an entity"), entity = small("the number of an entity");
      const GmshElement* type = element_type(small("the type of an element"));
      const std::size_t elements = count_of("the number of elements of a block", 16, 4);
      const auto groups = groups_of_.find({static_cast<int>(dimension), entity});
      static const std::vector<std::int64_t> none;
      for (std::size_t i = 0; i < elements && in_.ok(); ++i) {
        large("the number of an element");
        add_element(*type, groups == groups_of_.end() ? none : groups->second);
      }
    }
  }

  /// Reads the nodes of an element and keeps it, in all the physical groups it belongs to.
  void add_element(const GmshElement& type, const std::vector<std::int64_t>& groups) {
    std::uint32_t n[8] = {};
    for (int k = 0; k < type.nodes && in_.ok(); ++k) n[k] = node(tag("a node of an element"));
    if (!in_.ok()) return;
    int dimension = 1;
    if (type.type == kGmshPoint) {
      dimension = 0;
    } else if (type.type == kGmshTriangle || type.type == kGmshQuad) {
      dimension = 2;
      mesh_.faces.push_back({n[0], n[1], n[2]});
      if (type.type == kGmshQuad) mesh_.faces.push_back({n[0], n[2], n[3]});
    } else if (type.type == kGmshTet) {
      dimension = 3;
      mesh_.tets.push_back({n[0], n[1], n[2], n[3]});
      mesh_.regions.push_back(region(groups));
    }
    for (const std::int64_t group : groups)
      if (std::vector<std::uint32_t>* set = set_of(dimension, group)) set->insert(set->end(), n, n + type.nodes);
  }

  /// A volume in several groups takes the first.
  std::int32_t region(const std::vector<std::int64_t>& groups) {
    if (groups.empty()) return 0;
    if (groups[0] > std::numeric_limits<std::int32_t>::max())
      in_.fail(fmt::format("the physical group {} is too large", groups[0]));
    return in_.ok() ? static_cast<std::int32_t>(groups[0]) : 0;
  }

  /// Where the nodes of a physical group go. Volumes without a name are regions only: no set.
  std::vector<std::uint32_t>* set_of(int dimension, std::int64_t group) {
    const Key key{dimension, group};
    if (key == last_key_) return last_set_;
    const auto named = names_.find(key);
    last_key_ = key;
    if (named != names_.end())
      last_set_ = &mesh_.point_sets[named->second];
    else
      last_set_ = dimension == 3 ? nullptr : &mesh_.point_sets[fmt::format("{}_{}", kDimensionNames[dimension], group)];
    return last_set_;
  }

  TextReader in_;
  bool v4_ = false, binary_ = false, swap_ = false;
  bool has_nodes_ = false, has_elements_ = false, dense_ = false;
  MeshAssembly mesh_;
  std::vector<std::uint64_t> tags_;                              ///< the number of each node
  std::vector<std::pair<std::uint64_t, std::uint32_t>> sorted_;  ///< number and index, unless `dense_`
  std::map<Key, std::string> names_;                             ///< of physical groups
  std::map<Key, std::vector<std::int64_t>> groups_of_;           ///< physical groups of an entity
  std::vector<std::int64_t> single_group_;
  Key last_key_{-1, 0};
  std::vector<std::uint32_t>* last_set_ = nullptr;
};

}  // namespace

Result<MeshFile> read_gmsh(const std::filesystem::path& file, std::string_view content) {
  return GmshReader(file, content).read();
}

}  // namespace pliant
