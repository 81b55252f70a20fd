// TetGen .node and .ele: two text files with one name, counted from 0 or 1.
#include <optional>

#include <fmt/format.h>

#include "io/mesh_format.h"
#include "io/parse_number.h"
#include "io/text_reader.h"
#include "io/text_writer.h"

namespace pliant {

namespace {

constexpr std::string_view kMarkerPrefix = "marker_";

/// The numbers at the head of a file, those left out being `fallback`.
std::uint64_t optional_count(TextReader& in, const char* what, std::uint64_t fallback) {
  return in.at_line_end() ? fallback : in.unsigned_integer(what);
}

/// Reads the nodes and returns the number of the first one.
std::int64_t read_nodes(TextReader& in, MeshAssembly& mesh) {
  in.skip_comments();
  const std::size_t nodes = in.count("the number of nodes", 8);
  const std::uint64_t dimension = optional_count(in, "the dimension", 3);
  const std::uint64_t attributes = optional_count(in, "the number of attributes", 0);
  const std::uint64_t markers = optional_count(in, "the number of boundary markers", 0);
  if (in.ok() && dimension != 3) in.fail(fmt::format("the nodes have {} coordinates, but a solid needs 3", dimension));
  if (in.ok() && markers > 1) in.fail(fmt::format("there are {} boundary markers, but at most 1 is allowed", markers));
  std::int64_t first = 0;
  mesh.points.reserve(nodes);
  for (std::size_t i = 0; i < nodes && in.ok(); ++i) {
    const std::int64_t number = in.integer("the number of a node");
    if (i == 0) first = number;
    if (in.ok() && i == 0 && first != 0 && first != 1)
      in.fail(fmt::format("the first node has number {}, but must have 0 or 1", first));
    if (in.ok() && number != first + static_cast<std::int64_t>(i))
      in.fail(fmt::format("node {} stands where node {} should", number, first + static_cast<std::int64_t>(i)));
    mesh.points.push_back(in.point());
    for (std::uint64_t k = 0; k < attributes && in.ok(); ++k) in.number("an attribute");
    if (markers == 0) continue;
    const std::int64_t marker = in.integer("the boundary marker");
    if (marker != 0)
      mesh.point_sets[fmt::format("{}{}", kMarkerPrefix, marker)].push_back(static_cast<std::uint32_t>(i));
  }
  if (in.ok() && !in.at_end()) in.fail(fmt::format("more follows after the {} nodes told at the head", nodes));
  return first;
}

/// Attributes are real numbers in TetGen, but regions are whole ones.
std::int32_t region(TextReader& in) {
  const double value = in.number("the region");
  const auto region_number = region_from(value);
  if (in.ok() && !region_number) in.fail(fmt::format("the region is {}, but must be a whole number of 32 bits", value));
  return region_number.value_or(0);
}

void read_tets(TextReader& in, std::int64_t first_node, MeshAssembly& mesh) {
  in.skip_comments();
  const std::size_t tets = in.count("the number of tetrahedra", 8);
  const std::uint64_t corners = optional_count(in, "the number of nodes per tetrahedron", 4);
  const std::uint64_t attributes = optional_count(in, "the number of attributes", 0);
  if (in.ok() && corners != 4)
    in.fail(
        fmt::format("the tetrahedra have {} nodes; only those with 4 can be used (run tetgen without -o2)", corners),
        Error::Code::Unsupported);
  const auto nodes = static_cast<std::int64_t>(mesh.points.size());
  for (std::size_t i = 0; i < tets && in.ok(); ++i) {
    in.integer("the number of a tetrahedron");
    Tet tet{};
    for (std::uint32_t& v : tet) {
      const std::int64_t number = in.integer("a node of a tetrahedron");
      if (in.ok() && (number < first_node || number - first_node >= nodes))
        in.fail(fmt::format("a tetrahedron names node {}, but the nodes go from {} to {}", number, first_node,
                            first_node + nodes - 1));
      v = in.ok() ? static_cast<std::uint32_t>(number - first_node) : 0;
    }
    if (attributes > 0) mesh.regions.push_back(region(in));
    for (std::uint64_t k = 1; k < attributes && in.ok(); ++k) in.number("an attribute");
    mesh.tets.push_back(tet);
  }
  if (in.ok() && !in.at_end()) in.fail(fmt::format("more follows after the {} tetrahedra told at the head", tets));
}

/// The boundary marker of each node, if the node sets are what `read_nodes` makes of markers: named marker_N, disjoint.
std::optional<std::vector<std::int64_t>> markers_of(const TetMesh& mesh) {
  std::vector<std::int64_t> markers(mesh.nodes.size(), 0);
  for (const auto& [name, set] : mesh.node_sets) {
    if (name.compare(0, kMarkerPrefix.size(), kMarkerPrefix) != 0) return std::nullopt;
    const auto marker = parse_integer(std::string_view(name).substr(kMarkerPrefix.size()));
    if (!marker || *marker == 0) return std::nullopt;
    for (const std::uint32_t n : set)
      if (std::exchange(markers[n], *marker) != 0) return std::nullopt;
  }
  return mesh.node_sets.empty() ? std::nullopt : std::optional(std::move(markers));
}

void write_nodes(OutputFile& file, const TetMesh& mesh) {
  TextWriter out(file);
  const auto markers = markers_of(mesh);
  out.print("{} 3 0 {}\n", mesh.nodes.size(), markers ? 1 : 0);
  for (std::size_t i = 0; i < mesh.nodes.size(); ++i) {
    const Vec3 p = mesh.nodes[i];
    out.print("{} {} {} {}", i, p.x, p.y, p.z);
    if (markers) out.print(" {}", (*markers)[i]);
    out.print("\n");
  }
}

void write_tets(OutputFile& file, const TetMesh& mesh) {
  TextWriter out(file);
  out.print("{} 4 {}\n", mesh.tets.size(), mesh.regions.empty() ? 0 : 1);
  for (std::size_t i = 0; i < mesh.tets.size(); ++i) {
    const Tet& t = mesh.tets[i];
    out.print("{} {} {} {} {}", i, t[0], t[1], t[2], t[3]);
    if (!mesh.regions.empty()) out.print(" {}", mesh.regions[i]);
    out.print("\n");
  }
}

}  // namespace

std::filesystem::path tetgen_part(const std::filesystem::path& file, const char* ending) {
  // A name in capitals stays as it is.
  return lower_ending(file) == ending ? file : std::filesystem::path(file).replace_extension(ending);
}

Result<MeshFile> read_tetgen(const std::filesystem::path& node_file, std::string_view node_text,
                             const std::filesystem::path& tet_file, std::string_view tet_text) {
  MeshAssembly mesh;
  TextReader nodes(node_file, node_text);
  const std::int64_t first = read_nodes(nodes, mesh);
  if (!nodes.ok()) return nodes.error();
  TextReader tets(tet_file, tet_text);
  read_tets(tets, first, mesh);
  if (!tets.ok()) return tets.error();
  return mesh.finish(tet_file);
}

Status save_tetgen(const std::filesystem::path& file, const TetMesh& mesh) {
  Result<AtomicFile> nodes = AtomicFile::create(tetgen_part(file, ".node"));
  if (!nodes) return nodes.error();
  Result<AtomicFile> tets = AtomicFile::create(tetgen_part(file, ".ele"));
  if (!tets) return tets.error();
  write_nodes(*nodes, mesh);
  write_tets(*tets, mesh);
  // Both are complete before the first takes its place.
  if (Status s = tets->close(true); !s) return s;
  if (Status s = nodes->commit(); !s) return s;
  return tets->commit();
}

}  // namespace pliant
