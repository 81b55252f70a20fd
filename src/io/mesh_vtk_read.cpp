// Reads legacy VTK files (.vtk), text and binary, of unstructured grids and poly data, in the layouts of versions 1
// to 5.
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "io/mesh_format.h"
#include "io/parse_number.h"
#include "io/text_reader.h"
#include "io/vtk_cells.h"

namespace pliant {

namespace {

struct NumberName {
  std::string_view name;
  NumberType type;
};
constexpr NumberName kNumbers[] = {
    {"unsigned_char", NumberType::U8},  {"char", NumberType::I8},
    {"signed_char", NumberType::I8},    {"unsigned_short", NumberType::U16},
    {"short", NumberType::I16},         {"unsigned_int", NumberType::U32},
    {"int", NumberType::I32},           {"unsigned_long", NumberType::U64},
    {"long", NumberType::I64},          {"vtktypeint64", NumberType::I64},
    {"vtktypeuint64", NumberType::U64}, {"vtkIdType", NumberType::I32},
    {"vtkidtype", NumberType::I32},     {"float", NumberType::F32},
    {"double", NumberType::F64},
};

/// VTK writes blanks and the like in names as %20.
std::string decoded(std::string_view name) {
  std::string result;
  const auto digit = [](char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                  : -1;
  };
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '%' && i + 2 < name.size() && digit(name[i + 1]) >= 0 && digit(name[i + 2]) >= 0) {
      result += static_cast<char>(16 * digit(name[i + 1]) + digit(name[i + 2]));
      i += 2;
    } else {
      result += name[i];
    }
  }
  return result;
}

class VtkReader {
 public:
  VtkReader(const std::filesystem::path& file, std::string_view content) : in_(file, content) {}

  Result<MeshFile> read() {
    read_head();
    while (in_.ok() && !in_.at_end()) read_part(in_.word());
    build();
    if (!in_.ok()) return in_.error();
    return mesh_.finish(in_.file());
  }

 private:
  /// A list of cells as offsets into connectivity, as both layouts of the file come to.
  struct Cells {
    std::vector<std::uint64_t> offsets{0};
    std::vector<std::uint32_t> nodes;
    std::size_t size() const { return offsets.size() - 1; }
    std::span<const std::uint32_t> operator[](std::size_t i) const {
      return {nodes.data() + offsets[i], static_cast<std::size_t>(offsets[i + 1] - offsets[i])};
    }
  };

  void read_head() {
    const std::string_view magic = in_.rest_of_line();
    if (magic.substr(0, 14) != "# vtk DataFile")
      return in_.fail("does not begin with \"# vtk DataFile Version\": not a legacy VTK file");
    in_.rest_of_line();  // a title
    const std::string_view encoding = in_.word();
    if (encoding == "BINARY")
      binary_ = true;
    else if (in_.ok() && encoding != "ASCII")
      return in_.fail(fmt::format("\"{}\" stands where ASCII or BINARY should", printable(encoding)));
    in_.expect("DATASET");
    const std::string_view dataset = in_.word();
    poly_data_ = dataset == "POLYDATA";
    if (in_.ok() && !poly_data_ && dataset != "UNSTRUCTURED_GRID")
      in_.fail(fmt::format("holds {}; only UNSTRUCTURED_GRID and POLYDATA can be used", printable(dataset)),
               Error::Code::Unsupported);
  }

  void read_part(std::string_view name) {
    if (!in_.ok()) return;
    if (name == "POINTS") {
      read_points();
    } else if (name == "CELLS" && !poly_data_) {
      read_cells(cells_);
    } else if (name == "CELL_TYPES" && !poly_data_) {
      read_cell_types();
    } else if (poly_data_ && name == "VERTICES") {
      read_poly(kVtkPolyVertex);
    } else if (poly_data_ && name == "LINES") {
      read_poly(kVtkPolyLine);
    } else if (poly_data_ && name == "POLYGONS") {
      read_poly(kVtkPolygon);
    } else if (poly_data_ && name == "TRIANGLE_STRIPS") {
      read_poly(kVtkTriangleStrip);
    } else if (name == "POINT_DATA" || name == "CELL_DATA") {
      data_of_points_ = name == "POINT_DATA";
      data_count_ = in_.count("the number of values", 1);
      const std::size_t expected = data_of_points_ ? mesh_.points.size() : cell_count();
      if (in_.ok() && data_count_ != expected)
        in_.fail(fmt::format("{} has {} values, but there are {}", name, data_count_, expected));
    } else if (name == "METADATA") {
      // Ends with an empty line.
      in_.rest_of_line();
      while (in_.remaining() > 0 && !in_.rest_of_line().empty()) {
      }
    } else if (!read_attribute(name)) {
      in_.fail(fmt::format("\"{}\" is not a part of a VTK file that pliant knows", printable(name)));
    }
  }

  std::size_t cell_count() const { return poly_data_ ? poly_types_.size() : cells_.size(); }

  // --- numbers ---

  std::optional<NumberType> number_type() {
    const std::string_view name = in_.word();
    for (const NumberName& n : kNumbers)
      if (n.name == name) return n.type;
    if (in_.ok())
      in_.fail(fmt::format("\"{}\" is not a type of number that pliant can read", printable(name)),
               Error::Code::Unsupported);
    return std::nullopt;
  }

  /// Calls `take(value)` for each of `count` numbers. Binary data begins on the next line.
  template <typename Take>
  void numbers(std::optional<NumberType> type, std::uint64_t count, const char* what, Take take) {
    if (!type || !in_.ok()) return;
    if (!binary_) {
      for (std::uint64_t i = 0; i < count && in_.ok(); ++i)
        take(*type == NumberType::F32 ? double{in_.float_number(what)} : in_.number(what));
      return;
    }
    in_.rest_of_line();
    const std::size_t size = size_of(*type);
    // A count whose bytes would overflow is as wrong as any that is larger than the file.
    const std::string_view bytes = in_.bytes(count > in_.remaining() ? count : count * size, what);
    constexpr bool kSwap = true;  // legacy files are big-endian
    for (std::size_t i = 0; i < bytes.size() && in_.ok(); i += size)
      take(load_as_double(*type, bytes.data() + i, kSwap));
  }

  /// The smallest number of bytes that `count` numbers of any type can take.
  std::size_t count(const char* what, std::size_t text_bytes, std::size_t binary_bytes) {
    return in_.count(what, binary_ ? binary_bytes : text_bytes);
  }

  // --- geometry ---

  void read_points() {
    const std::size_t points = count("the number of points", 6, 3);
    std::optional<NumberType> type = number_type();
    if (!mesh_.points.empty()) in_.fail("has POINTS twice");
    if (in_.ok() && type != NumberType::F32 && type != NumberType::F64)
      in_.fail("the points are not of type float or double");
    if (!in_.ok()) return;
    mesh_.points.reserve(points);
    if (!binary_) {
      for (std::size_t i = 0; i < points && in_.ok(); ++i) mesh_.points.push_back(in_.point());
      return;
    }
    Vec3 p;
    std::size_t axis = 0;
    numbers(type, 3 * std::uint64_t{points}, "the points", [&](double x) {
      p[axis] = static_cast<float>(x);
      if (++axis == 3) mesh_.points.push_back(p), axis = 0;
    });
  }

  void read_cells(Cells& cells) {
    const std::size_t first = count("the number of cells", 2, 1), second = count("the size of the cells", 2, 1);
    if (!in_.ok()) return;
    // Layout 5: OFFSETS and CONNECTIVITY, each with its type; the first count is one more than there are cells. Before
    // looking at the next word, mind that binary data of the older layout begins on the next line.
    const std::size_t here = in_.position();
    in_.rest_of_line();
    const bool layout5 = in_.text().substr(in_.position(), 7) == "OFFSETS";
    in_.seek(here);
    layout5 ? read_cells_5(cells, first, second) : read_cells_classic(cells, first, second);
  }

  void read_cells_5(Cells& cells, std::size_t offsets, std::size_t nodes) {
    in_.expect("OFFSETS");
    std::optional<NumberType> type = number_type();
    std::vector<double> values;
    numbers(type, offsets, "the offsets of the cells", [&](double x) { values.push_back(x); });
    in_.expect("CONNECTIVITY");
    type = number_type();
    numbers(type, nodes, "the points of the cells", [&](double x) { cells.nodes.push_back(point_index(x)); });
    for (std::size_t i = 0; i < values.size() && in_.ok(); ++i) {
      const double before = i == 0 ? 0 : values[i - 1];
      if (!(values[i] >= before) || values[i] > static_cast<double>(cells.nodes.size()) || (i == 0 && values[i] != 0))
        return in_.fail(fmt::format("offset {} of the cells is {}: offsets begin with 0, increase and end with {}", i,
                                    values[i], cells.nodes.size()));
      if (i > 0) cells.offsets.push_back(static_cast<std::uint64_t>(values[i]));
    }
  }

  void read_cells_classic(Cells& cells, std::size_t count, std::size_t size) {
    std::size_t left = 0;  // points to come of the cell at hand
    numbers(NumberType::I32, size, "the cells", [&](double x) {
      if (left > 0) {
        cells.nodes.push_back(point_index(x));
        if (--left == 0) cells.offsets.push_back(cells.nodes.size());
      } else if (x >= 0 && x <= static_cast<double>(size)) {
        left = static_cast<std::size_t>(x);
        if (left == 0) cells.offsets.push_back(cells.nodes.size());
      } else {
        in_.fail(fmt::format("cell {} has {} points", cells.size(), x));
      }
    });
    if (in_.ok() && (left != 0 || cells.size() != count))
      in_.fail(fmt::format("the list of cells holds {}, but {} were told", cells.size(), count));
  }

  std::uint32_t point_index(double x) {
    if (x >= 0 && x < static_cast<double>(mesh_.points.size())) return static_cast<std::uint32_t>(x);
    in_.fail(fmt::format("a cell names point {}, but there are {}", x, mesh_.points.size()));
    return 0;
  }

  void read_cell_types() {
    const std::size_t cells = count("the number of cell types", 2, 4);
    numbers(NumberType::I32, cells, "the cell types",
            [&](double x) { types_.push_back(x >= 0 && x < 256 ? static_cast<int>(x) : -1); });
  }

  void read_poly(int type) {
    Cells cells;
    read_cells(cells);
    for (std::size_t i = 0; i < cells.size() && in_.ok(); ++i) add_cell(type, cells[i], poly_types_.size());
  }

  void add_cell(int type, std::span<const std::uint32_t> nodes, std::size_t index) {
    const std::string problem = add_vtk_cell(mesh_, type, nodes);
    if (!problem.empty()) in_.fail(fmt::format("cell {} {}", index, problem), Error::Code::Unsupported);
    poly_types_.push_back(type);
  }

  // --- attributes ---

  bool read_attribute(std::string_view kind) {
    if (kind == "FIELD") return read_field(), true;
    const bool known = kind == "SCALARS" || kind == "VECTORS" || kind == "NORMALS" || kind == "TENSORS" ||
                       kind == "TENSORS6" || kind == "TEXTURE_COORDINATES" || kind == "COLOR_SCALARS" ||
                       kind == "LOOKUP_TABLE" || kind == "GLOBAL_IDS" || kind == "PEDIGREE_IDS";
    if (!known) return false;
    const std::string name = decoded(in_.word());
    if (kind == "COLOR_SCALARS" || kind == "LOOKUP_TABLE") {
      // Colours: bytes in binary, numbers from 0 to 1 in text.
      const std::size_t n = in_.count("the number of colours", 1);
      numbers(NumberType::U8, kind == "LOOKUP_TABLE" ? 4 * std::uint64_t{n} : std::uint64_t{n} * data_count_, "colours",
              [](double) {});
      return true;
    }
    std::uint64_t components = 1;
    if (kind == "VECTORS" || kind == "NORMALS") components = 3;
    if (kind == "TENSORS") components = 9;
    if (kind == "TENSORS6") components = 6;
    if (kind == "TEXTURE_COORDINATES") components = in_.count("the number of components", 1);
    std::optional<NumberType> type = number_type();
    if (kind == "SCALARS") {
      if (!in_.at_line_end()) components = in_.count("the number of components", 1);
      if (in_.peek_word() == "LOOKUP_TABLE") in_.word(), in_.word();
    }
    // The kind says what it is, whatever its name.
    const std::string role = kind == "NORMALS" ? kVtkNormals : kind == "TEXTURE_COORDINATES" ? kVtkUvs : name;
    read_values(role, components, data_count_, type);
    return true;
  }

  void read_field() {
    in_.word();  // its name
    const std::size_t arrays = in_.count("the number of arrays", 4);
    for (std::size_t i = 0; i < arrays && in_.ok(); ++i) {
      if (in_.peek_word() == "METADATA") read_part(in_.word());
      const std::string name = decoded(in_.word());
      const std::uint64_t components = in_.count("the number of components", 1);
      const std::uint64_t tuples = in_.count("the number of tuples", 1);
      read_values(name, components, tuples, number_type());
    }
  }

  void read_values(const std::string& name, std::uint64_t components, std::uint64_t tuples,
                   std::optional<NumberType> type) {
    const bool wanted = data_count_ == tuples && tuples > 0 && (data_of_points_ || is_vtk_region(name));
    std::vector<double> values;
    // Both factors are at most the file's size, so the product cannot overflow; `numbers` bounds it.
    numbers(type, components * tuples, "the values", [&](double x) {
      if (wanted) values.push_back(x);
    });
    if (!in_.ok() || !wanted) return;
    if (data_of_points_)
      add_vtk_point_data(mesh_, name, static_cast<std::size_t>(components), values);
    else if (components == 1)
      regions_ = std::move(values);
  }

  void build() {
    if (!in_.ok()) return;
    if (!poly_data_ && types_.size() != cells_.size())
      return in_.fail(fmt::format("has {} cells, but {} cell types", cells_.size(), types_.size()));
    for (std::size_t i = 0; i < cells_.size() && in_.ok(); ++i) add_cell(types_[i], cells_[i], i);
    if (in_.ok() && !regions_.empty() && !set_vtk_regions(mesh_, poly_types_, regions_))
      in_.fail("a region is not a whole number that fits 32 bits");
  }

  TextReader in_;
  bool binary_ = false, poly_data_ = false, data_of_points_ = false;
  std::size_t data_count_ = 0;  ///< tuples of the data at hand
  MeshAssembly mesh_;
  Cells cells_;
  std::vector<int> types_, poly_types_;  ///< as told, and of the cells added so far
  std::vector<double> regions_;          ///< per cell
};

}  // namespace

Result<MeshFile> read_vtk(const std::filesystem::path& file, std::string_view content) {
  return VtkReader(file, content).read();
}

}  // namespace pliant
