// STL, text and binary. STL repeats every vertex in every triangle: equal ones are joined, in order of first use.
#include <array>
#include <cstring>
#include <unordered_map>

#include <fmt/format.h>

#include "io/mesh_format.h"
#include "io/text_reader.h"
#include "io/text_writer.h"

namespace pliant {

namespace {

constexpr std::size_t kHeaderBytes = 80, kTriangleBytes = 50;

struct BitsHash {
  std::size_t operator()(const std::array<std::uint32_t, 3>& b) const {
    std::uint64_t h = b[0];
    h = (h ^ (h >> 29)) * 0x9E3779B97F4A7C15u + b[1];
    h = (h ^ (h >> 29)) * 0x9E3779B97F4A7C15u + b[2];
    h = (h ^ (h >> 29)) * 0x9E3779B97F4A7C15u;
    return static_cast<std::size_t>(h ^ (h >> 32));
  }
};

class Welder {
 public:
  explicit Welder(MeshAssembly& mesh) : mesh_(mesh) {}

  std::uint32_t vertex(Vec3 p) {
    std::array<std::uint32_t, 3> bits;
    const Vec3 key = p + Vec3{0, 0, 0};  // -0 becomes 0
    std::memcpy(bits.data(), &key, sizeof key);
    const auto [place, is_new] = known_.try_emplace(bits, static_cast<std::uint32_t>(mesh_.points.size()));
    if (is_new) mesh_.points.push_back(p);
    return place->second;
  }

 private:
  MeshAssembly& mesh_;
  std::unordered_map<std::array<std::uint32_t, 3>, std::uint32_t, BitsHash> known_;
};

/// The length decides, because many binary files begin with "solid" too.
bool is_binary(std::string_view content) {
  if (content.size() < kHeaderBytes + 4) return false;
  const auto triangles = load_number<std::uint32_t>(content.data() + kHeaderBytes, false);
  return content.size() == kHeaderBytes + 4 + kTriangleBytes * std::uint64_t{triangles};
}

void read_binary(TextReader& in, MeshAssembly& mesh) {
  Welder weld(mesh);
  in.bytes(kHeaderBytes, "the header");
  const auto triangles = in.raw<std::uint32_t>(false, "the number of triangles");
  mesh.faces.reserve(in.checked_count(triangles, "the number of triangles", kTriangleBytes));
  for (std::uint32_t i = 0; i < triangles && in.ok(); ++i) {
    const std::string_view t = in.bytes(kTriangleBytes, "a triangle");
    if (!in.ok()) return;
    Face face;
    for (std::size_t k = 0; k < 3; ++k) {
      const char* at = t.data() + 12 * (k + 1);
      const Vec3 p{load_number<float>(at, false), load_number<float>(at + 4, false), load_number<float>(at + 8, false)};
      if (!is_finite(p)) in.fail(fmt::format("vertex {} of triangle {} is not finite", k, i));
      face[k] = weld.vertex(p);
    }
    mesh.faces.push_back(face);
  }
}

void read_facet(TextReader& in, MeshAssembly& mesh, Welder& weld) {
  in.expect("normal");
  for (int k = 0; k < 3; ++k) in.word();  // follows from the vertices, and some programs write nan
  in.expect("outer");
  in.expect("loop");
  Face face;
  for (std::uint32_t& v : face) {
    in.expect("vertex");
    const Vec3 p = in.point();
    if (in.ok()) v = weld.vertex(p);
  }
  in.expect("endloop");
  in.expect("endfacet");
  if (in.ok()) mesh.faces.push_back(face);
}

void read_text(TextReader& in, MeshAssembly& mesh) {
  Welder weld(mesh);
  do {
    in.expect("solid");
    in.rest_of_line();  // a name
    std::string_view w = in.word();
    for (; w == "facet"; w = in.word()) read_facet(in, mesh, weld);
    if (in.ok() && w != "endsolid")
      in.fail(fmt::format("\"{}\" stands where \"facet\" or \"endsolid\" should", printable(w)));
    in.rest_of_line();
  } while (in.ok() && !in.at_end());
}

/// The unit normal of a face, zero where it has none, as STL wants it.
Vec3 facet_normal(const TriMesh& mesh, const Face& f) {
  const Vec3 a = mesh.vertices[f[0]];
  return normalized(cross(mesh.vertices[f[1]] - a, mesh.vertices[f[2]] - a));
}

}  // namespace

Result<MeshFile> read_stl(const std::filesystem::path& file, std::string_view content) {
  TextReader in(file, content);
  MeshAssembly mesh;
  if (is_binary(content)) {
    read_binary(in, mesh);
  } else if (in.peek_word() == "solid" && content.find('\0') == std::string_view::npos) {
    read_text(in, mesh);
  } else {
    in.fail(
        "is neither a text STL (which begins with \"solid\") nor a binary one (whose length is 84 bytes and 50 for "
        "each "
        "triangle its header tells)");
  }
  if (!in.ok()) return in.error();
  return mesh.finish(file);
}

void write_stl(OutputFile& file, const TriMesh& mesh, bool binary) {
  TextWriter out(file);
  if (binary) {
    out.print("{:<80}", "binary STL written by pliant");
    out.raw(static_cast<std::uint32_t>(mesh.faces.size()));
  } else {
    out.print("solid pliant\n");
  }
  for (const Face& f : mesh.faces) {
    const Vec3 n = facet_normal(mesh, f);
    if (binary) {
      out.raw(n);
      for (const std::uint32_t v : f) out.raw(mesh.vertices[v]);
      out.raw(std::uint16_t{0});
      continue;
    }
    out.print("facet normal {} {} {}\n outer loop\n", n.x, n.y, n.z);
    for (const std::uint32_t v : f)
      out.print("  vertex {} {} {}\n", mesh.vertices[v].x, mesh.vertices[v].y, mesh.vertices[v].z);
    out.print(" endloop\nendfacet\n");
  }
  if (!binary) out.print("endsolid pliant\n");
}

}  // namespace pliant
