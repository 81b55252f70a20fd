#include "io/vtu_writer.h"

#include <algorithm>
#include <limits>
#include <type_traits>

#include <fmt/format.h>

#include "io/index_check.h"

namespace pliant {

namespace {

constexpr std::uint8_t kVtkTriangle = 5, kVtkTetra = 10;
constexpr std::size_t kBufferValues = 8192;

template <typename T>
constexpr const char* vtk_type() {
  if constexpr (std::is_same_v<T, float>) return "Float32";
  if constexpr (std::is_same_v<T, double>) return "Float64";
  if constexpr (std::is_same_v<T, std::int32_t>) return "Int32";
  if constexpr (std::is_same_v<T, std::int64_t>) return "Int64";
  if constexpr (std::is_same_v<T, std::uint8_t>) return "UInt8";
  if constexpr (std::is_same_v<T, std::uint32_t>) return "UInt32";
}

/// Writes the <DataArray> elements, and for the appended encoding remembers what is to come after them.
class Writer {
 public:
  Writer(OutputFile& file, const VtuGrid& grid, VtuEncoding encoding)
      : file_(file), grid_(grid), ascii_(encoding == VtuEncoding::Ascii) {}

  void write() {
    header();
    // The text is written first and holds the offset of every array, then the arrays follow in the same order: two
    // passes over the same list of arrays instead of a copy of all of them.
    arrays();
    text("    </Piece>\n  </UnstructuredGrid>\n");
    if (!ascii_) {
      text("  <AppendedData encoding=\"raw\">\n_");
      appending_ = true;
      arrays();
      appending_ = false;
      text("\n  </AppendedData>\n");
    }
    text("</VTKFile>\n");
  }

 private:
  void text(std::string_view s) {
    if (!appending_) file_.write(s);
  }

  void header() {
    text(
        "<?xml version=\"1.0\"?>\n"
        "<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">\n"
        "  <UnstructuredGrid>\n");
    if (grid_.time)
      text(
          fmt::format("    <FieldData>\n      <DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" "
                      "format=\"ascii\">{}</DataArray>\n    </FieldData>\n",
                      *grid_.time));
    text(fmt::format("    <Piece NumberOfPoints=\"{}\" NumberOfCells=\"{}\">\n", grid_.points.size(), grid_.cells()));
  }

  void arrays() {
    named("PointData", grid_.point_data);
    named("CellData", grid_.cell_data);
    text("      <Points>\n");
    array("Points", 3, VtuArray::of(grid_.points));
    text("      </Points>\n      <Cells>\n");
    if (3 * grid_.faces.size() + 4 * grid_.tets.size() <= std::size_t{std::numeric_limits<std::int32_t>::max()})
      cells<std::int32_t>();
    else
      cells<std::int64_t>();
    text("      </Cells>\n");
  }

  void named(const char* element, const std::vector<VtuArray>& list) {
    text(fmt::format("      <{}>\n", element));
    for (const VtuArray& a : list) std::visit([&](auto values) { array(a.name, a.components, values); }, a.values);
    text(fmt::format("      </{}>\n", element));
  }

  template <typename Index>
  void cells() {
    const std::size_t faces = grid_.faces.size(), corners = 3 * faces + 4 * grid_.tets.size();
    generated<Index>("connectivity", corners, [&](std::size_t i) {
      return static_cast<Index>(i < 3 * faces ? grid_.faces[i / 3][i % 3]
                                              : grid_.tets[(i - 3 * faces) / 4][(i - 3 * faces) % 4]);
    });
    generated<Index>("offsets", grid_.cells(), [&](std::size_t i) {
      return static_cast<Index>(i < faces ? 3 * (i + 1) : 3 * faces + 4 * (i + 1 - faces));
    });
    generated<std::uint8_t>("types", grid_.cells(),
                            [&](std::size_t i) { return i < faces ? kVtkTriangle : kVtkTetra; });
  }

  template <typename T>
  void array(const std::string& name, int components, std::span<const T> values) {
    if (appending_) {
      block_size(values.size_bytes());
      file_.write(values.data(), values.size_bytes());
      return;
    }
    open<T>(name, components, values.size());
    if (ascii_) numbers(values, components);
    close();
  }

  /// An array that exists nowhere: value i is `value_at(i)`.
  template <typename T, typename ValueAt>
  void generated(const char* name, std::size_t count, ValueAt value_at) {
    if (appending_)
      block_size(count * sizeof(T));
    else
      open<T>(name, 1, count);
    std::vector<T> buffer;
    for (std::size_t begin = 0; begin < count && (appending_ || ascii_); begin += kBufferValues) {
      buffer.clear();
      for (std::size_t i = begin; i < std::min(count, begin + kBufferValues); ++i) buffer.push_back(value_at(i));
      if (appending_)
        file_.write(buffer.data(), buffer.size() * sizeof(T));
      else
        numbers(std::span<const T>(buffer), 12);
    }
    if (!appending_) close();
  }

  template <typename T>
  void open(const std::string& name, int components, std::size_t count) {
    text(fmt::format("        <DataArray type=\"{}\" Name=\"{}\" NumberOfComponents=\"{}\" format=\"{}\"",
                     vtk_type<T>(), xml_escaped(name), components, ascii_ ? "ascii" : "appended"));
    if (!ascii_) text(fmt::format(" offset=\"{}\"", offset_));
    text(ascii_ ? ">\n" : "/>\n");
    offset_ += sizeof(std::uint64_t) + count * sizeof(T);
  }
  void close() {
    if (ascii_) text("        </DataArray>\n");
  }

  void block_size(std::uint64_t bytes) { file_.write(&bytes, sizeof bytes); }

  template <typename T>
  void numbers(std::span<const T> values, int per_line) {
    fmt::memory_buffer line;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const bool last = (i + 1) % static_cast<std::size_t>(per_line) == 0 || i + 1 == values.size();
      fmt::format_to(std::back_inserter(line), "{}{}", +values[i], last ? '\n' : ' ');
      if (!last) continue;
      file_.write(line.data(), line.size());
      line.clear();
    }
  }

  OutputFile& file_;
  const VtuGrid& grid_;
  bool ascii_;
  bool appending_ = false;
  std::uint64_t offset_ = 0;
};

Error bad_grid(const OutputFile& file, std::string message) {
  return file_error(Error::Code::InvalidArgument, file.path(), std::move(message));
}

Status check_arrays(const OutputFile& file, const std::vector<VtuArray>& arrays, std::size_t count, const char* what) {
  for (const VtuArray& a : arrays) {
    const std::size_t size = std::visit([](auto values) { return values.size(); }, a.values);
    if (a.components < 1 || size != count * static_cast<std::size_t>(a.components))
      return bad_grid(
          file, fmt::format("array \"{}\" has {} numbers, but {} {} with {} components need {}", a.name, size, count,
                            what, a.components, count * static_cast<std::size_t>(a.components)));
  }
  return {};
}

template <typename Cell>
Status check_cells(const OutputFile& file, std::span<const Cell> cells, std::size_t points, const char* what) {
  const auto bad = find_bad_index(cells, points);
  if (!bad) return {};
  return bad_grid(file,
                  fmt::format("{} {} names point {}, but there are only {}", what, bad->element, bad->point, points));
}

Status check(const OutputFile& file, const VtuGrid& grid) {
  if (Status s = check_arrays(file, grid.point_data, grid.points.size(), "points"); !s) return s;
  if (Status s = check_arrays(file, grid.cell_data, grid.cells(), "cells"); !s) return s;
  if (Status s = check_cells(file, grid.faces, grid.points.size(), "face"); !s) return s;
  return check_cells(file, grid.tets, grid.points.size(), "tet");
}

}  // namespace

std::string xml_escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&apos;";
        break;
      default:
        // XML 1.0 has no way to say most control characters.
        out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return out;
}

Status write_vtu(OutputFile& file, const VtuGrid& grid, VtuEncoding encoding) {
  static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "raw data is written as it lies in memory");
  if (Status s = check(file, grid); !s) return s;
  Writer(file, grid, encoding).write();
  return file.status();
}

Status save_vtu(const std::filesystem::path& file, const VtuGrid& grid, VtuEncoding encoding) {
  Result<AtomicFile> out = AtomicFile::create(file);
  if (!out) return out.error();
  if (Status s = write_vtu(*out, grid, encoding); !s) return error_about(file, s.error());
  return out->commit();
}

}  // namespace pliant
