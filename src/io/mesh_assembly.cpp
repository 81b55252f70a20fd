#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "io/index_check.h"
#include "io/mesh_format.h"

namespace pliant {

namespace {

constexpr std::uint32_t kUnused = std::numeric_limits<std::uint32_t>::max();

Error bad_element(const std::filesystem::path& file, const char* what, std::size_t index, std::string message) {
  return file_error(Error::Code::CannotRead, file, std::move(message), 0, fmt::format("{} {}", what, index));
}

template <typename Cell>
Status check_cells(const std::filesystem::path& file, const std::vector<Cell>& cells, std::size_t points,
                   const char* what) {
  const auto bad = find_bad_index(std::span<const Cell>(cells), points);
  if (!bad) return {};
  return bad_element(file, what, bad->element,
                     fmt::format("names point {}, but the file has only {}", bad->point, points));
}

/// A reader's own promise: what there is, is there for each.
bool has_one_for_each(const MeshAssembly& mesh) {
  const auto fits = [](std::size_t count, std::size_t expected) { return count == 0 || count == expected; };
  return fits(mesh.normals.size(), mesh.points.size()) && fits(mesh.uvs.size(), mesh.points.size()) &&
         fits(mesh.regions.size(), mesh.tets.size());
}

Status check(const std::filesystem::path& file, const MeshAssembly& mesh) {
  if (!has_one_for_each(mesh))
    return file_error(Error::Code::CannotRead, file,
                      "has normals, texture coordinates or regions for some elements only");
  for (std::size_t i = 0; i < mesh.points.size(); ++i)
    if (!is_finite(mesh.points[i]))
      return bad_element(file, "point", i, "has a coordinate that is not finite or too large for a float");
  for (std::size_t i = 0; i < mesh.normals.size(); ++i)
    if (!is_finite(mesh.normals[i])) return bad_element(file, "normal", i, "is not finite");
  for (std::size_t i = 0; i < mesh.uvs.size(); ++i)
    if (!std::isfinite(mesh.uvs[i].x) || !std::isfinite(mesh.uvs[i].y))
      return bad_element(file, "texture coordinate", i, "is not finite");
  if (Status s = check_cells(file, mesh.faces, mesh.points.size(), "face"); !s) return s;
  return check_cells(file, mesh.tets, mesh.points.size(), "tet");
}

/// The new number of each point the cells use, in ascending order; `kUnused` for the others.
template <typename Cell>
std::vector<std::uint32_t> number_used(const std::vector<Cell>& cells, std::size_t points) {
  std::vector<std::uint32_t> numbers(points, kUnused);
  for (const Cell& cell : cells)
    for (const std::uint32_t v : cell) numbers[v] = 0;
  std::uint32_t next = 0;
  for (std::uint32_t& n : numbers)
    if (n != kUnused) n = next++;
  return numbers;
}

template <typename Cell>
void renumber(std::vector<Cell>& cells, const std::vector<std::uint32_t>& numbers) {
  for (Cell& cell : cells)
    for (std::uint32_t& v : cell) v = numbers[v];
}

template <typename T>
std::vector<T> select(const std::vector<T>& values, const std::vector<std::uint32_t>& numbers) {
  std::vector<T> result;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (numbers[i] != kUnused) result.push_back(values[i]);
  return result;
}

TriMesh take_surface(MeshAssembly& mesh) {
  const std::vector<std::uint32_t> numbers = number_used(mesh.faces, mesh.points.size());
  renumber(mesh.faces, numbers);
  return {select(mesh.points, numbers), std::move(mesh.faces), select(mesh.normals, numbers),
          select(mesh.uvs, numbers)};
}

TetMesh take_solid(MeshAssembly& mesh) {
  const std::vector<std::uint32_t> numbers = number_used(mesh.tets, mesh.points.size());
  renumber(mesh.tets, numbers);
  TetMesh solid{select(mesh.points, numbers), std::move(mesh.tets), std::move(mesh.regions), {}};
  if (std::all_of(solid.regions.begin(), solid.regions.end(), [](std::int32_t r) { return r == 0; }))
    solid.regions.clear();
  for (const auto& [name, points] : mesh.point_sets) {
    std::vector<std::uint32_t> set;
    for (const std::uint32_t p : points)
      if (numbers[p] != kUnused) set.push_back(numbers[p]);
    std::sort(set.begin(), set.end());
    set.erase(std::unique(set.begin(), set.end()), set.end());
    if (!set.empty()) solid.node_sets[name] = std::move(set);
  }
  return solid;
}

}  // namespace

Result<MeshFile> MeshAssembly::finish(const std::filesystem::path& file) {
  if (Status s = check(file, *this); !s) return s.error();
  MeshFile result;
  if (!faces.empty()) result.objects = std::move(objects), result.surface = take_surface(*this);
  if (!tets.empty()) result.solid = take_solid(*this);
  return result;
}

std::vector<TriMesh> objects_of(const MeshFile& file) {
  std::vector<TriMesh> out;
  std::vector<std::uint32_t> number(file.surface.vertices.size(), kUnused);
  for (std::size_t i = 0; i < std::max<std::size_t>(1, file.objects.size()); ++i) {
    const std::size_t begin = i == 0 ? 0 : file.objects[i];
    const std::size_t end = i + 1 < file.objects.size() ? file.objects[i + 1] : file.surface.faces.size();
    TriMesh object;
    std::vector<std::uint32_t> used;
    for (std::size_t f = begin; f < end; ++f) {
      Face face = file.surface.faces[f];
      for (std::uint32_t& v : face) {
        if (number[v] == kUnused) number[v] = static_cast<std::uint32_t>(used.size()), used.push_back(v);
        v = number[v];
      }
      object.faces.push_back(face);
    }
    for (const std::uint32_t v : used) {
      object.vertices.push_back(file.surface.vertices[v]);
      if (!file.surface.normals.empty()) object.normals.push_back(file.surface.normals[v]);
      if (!file.surface.uvs.empty()) object.uvs.push_back(file.surface.uvs[v]);
      number[v] = kUnused;
    }
    if (!object.faces.empty()) out.push_back(std::move(object));
  }
  return out;
}

std::optional<std::int32_t> region_from(double value) {
  if (!(value >= -2147483648.0 && value <= 2147483647.0 && value == std::floor(value))) return std::nullopt;
  return static_cast<std::int32_t>(value);
}

std::vector<std::uint8_t> set_membership(const TetMesh& mesh, const std::vector<std::uint32_t>& set) {
  std::vector<std::uint8_t> member(mesh.nodes.size(), 0);
  for (const std::uint32_t n : set) member[n] = 1;
  return member;
}

void add_membership(MeshAssembly& mesh, const std::string& name, const std::vector<double>& values) {
  std::vector<std::uint32_t>& set = mesh.point_sets[name];
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i] != 0) set.push_back(static_cast<std::uint32_t>(i));
}

}  // namespace pliant
