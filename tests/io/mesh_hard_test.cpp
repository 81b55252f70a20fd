// Damaged files: no crash, no hang, no absurd allocation; what loads is sound, what does not says why.
#include <ctime>
#include <random>

#include <sys/resource.h>

#include "io/mesh_format.h"
#include "io/mesh_test_support.h"

namespace pliant::test {
namespace {

struct Format {
  const char* name;
  const char* file;
  SaveMeshOptions options;
  bool solid;
};
void PrintTo(const Format& f, std::ostream* out) { *out << f.name; }

constexpr SaveMeshOptions kText{false, 4.1}, kBinary{true, 4.1}, kText2{false, 2.2}, kBinary2{true, 2.2};

class Damaged : public MeshFolder, public ::testing::WithParamInterface<Format> {
 protected:
  void SetUp() override {
    MeshFolder::SetUp();
    const Format& f = GetParam();
    TetMesh solid = awkward_solid();
    if (std::string(f.file) == "m.ele" || std::string(f.file) == "m.node") solid.node_sets = {{"marker_4", {0, 2}}};
    const Status saved = f.solid ? save_mesh(path(f.file), solid, f.options)
                                 : save_mesh(path(f.file), with_normals_and_uvs(awkward_surface()), f.options);
    ASSERT_TRUE(saved.ok());
    original_ = slurp(path(f.file));
    if (is_tetgen()) other_ = slurp(path(std::string(f.file) == "m.ele" ? "m.node" : "m.ele"));
  }
  bool is_tetgen() const { return std::string(GetParam().name) == "node" || std::string(GetParam().name) == "ele"; }

  Result<MeshFile> parse(const std::string& content) const {
    if (!is_tetgen()) return parse_mesh(GetParam().file, content);
    const bool nodes = std::string(GetParam().name) == "node";
    return not_empty("m.ele", read_tetgen("m.node", nodes ? content : other_, "m.ele", nodes ? other_ : content));
  }

  /// Loads the file with this content instead (from memory: so many files would take long to write). True if it was
  /// accepted.
  bool accepts(const std::string& content) {
    const Result<MeshFile> result = parse(content);
    if (result.ok()) {
      expect_sound(*result);
    } else {
      EXPECT_FALSE(result.error().message.empty());
      EXPECT_FALSE(result.error().file.empty());
      EXPECT_LT(result.error().message.size(), 1000u);
    }
    return result.ok();
  }

  std::string original_, other_;
};

INSTANTIATE_TEST_SUITE_P(
    Formats, Damaged,
    ::testing::Values(Format{"obj", "m.obj", kText, false}, Format{"stl_text", "m.stl", kText, false},
                      Format{"stl_binary", "m.stl", kBinary, false}, Format{"gltf", "m.gltf", kText, false},
                      Format{"glb", "m.glb", kText, false}, Format{"msh2_text", "m.msh", kText2, true},
                      Format{"msh2_binary", "m.msh", kBinary2, true}, Format{"msh4_text", "m.msh", kText, true},
                      Format{"msh4_binary", "m.msh", kBinary, true}, Format{"vtk_text", "m.vtk", kText, true},
                      Format{"vtk_binary", "m.vtk", kBinary, true}, Format{"vtk_surface", "m.vtk", kBinary, false},
                      Format{"vtu_text", "m.vtu", kText, true}, Format{"vtu_raw", "m.vtu", kBinary, true},
                      Format{"node", "m.node", kText, true}, Format{"ele", "m.ele", kText, true}),
    [](const auto& test) { return test.param.name; });

TEST_P(Damaged, EveryTruncation) {
  const std::string name = GetParam().name;
  // Where the end of the file is marked, nothing shorter is a whole one (line ends and padding aside). OBJ and VTK have
  // no such mark: a file cut between two statements is a smaller file.
  const bool has_end = name != "obj" && name.substr(0, 4) != "vtk_";
  for (std::size_t n = 0; n < original_.size(); ++n) {
    const bool accepted = accepts(original_.substr(0, n));
    if (has_end && n + 12 < original_.size()) {
      EXPECT_FALSE(accepted) << "cut after " << n << " of " << original_.size() << " bytes";
    }
  }
}

TEST_P(Damaged, TwoThousandFlippedBytes) {
  std::mt19937 random(12345);
  int refused = 0;
  for (int i = 0; i < 2000; ++i) {
    std::string content = original_;
    for (std::uint32_t flips = 1 + random() % 3; flips > 0; --flips)
      content[random() % content.size()] = static_cast<char>(random());
    refused += accepts(content) ? 0 : 1;
  }
  EXPECT_GT(refused, 20);
}

TEST_P(Damaged, ShuffledWordsAndHugeNumbers) {
  std::mt19937 random(99);
  const char* const numbers[] = {"-1",
                                 "0",
                                 "4294967295",
                                 "4294967296",
                                 "18446744073709551615",
                                 "9223372036854775807",
                                 "nan",
                                 "-inf",
                                 "99999999999999999999",
                                 "1e400",
                                 "2147483648",
                                 "",
                                 "0x7",
                                 "\xff",
                                 "1000000000"};
  for (int i = 0; i < 1000; ++i) {
    // Replace a run of digits by another number.
    std::string content = original_;
    const std::size_t start = content.find_first_of("0123456789", random() % content.size());
    if (start == std::string::npos) continue;
    const std::size_t end = std::min(content.find_first_not_of("0123456789", start), content.size());
    content.replace(start, end - start, numbers[random() % std::size(numbers)]);
    accepts(content);
  }
}

TEST_P(Damaged, BytesReplacedByExtremeWords) {
  // In binary formats counts and offsets are words: make each of them extreme.
  for (std::size_t at = 0; at + 8 <= original_.size(); ++at)
    for (const int value : {0, 127, 255}) {
      std::string content = original_;
      content.replace(at, 4, std::string(4, static_cast<char>(value)));
      accepts(content);
      content.replace(at, 8, std::string(8, static_cast<char>(value)));
      if (at % 4 == 0) accepts(content);
    }
}

TEST_P(Damaged, NotAFileOfItsKind) {
  EXPECT_FALSE(accepts(""));
  EXPECT_FALSE(accepts("\n"));
  EXPECT_FALSE(accepts(std::string(1000, '\0')));
  EXPECT_FALSE(accepts(std::string(10000, '9')));
  EXPECT_FALSE(accepts("hello, world\n"));
  std::filesystem::remove(path(GetParam().file));
  EXPECT_EQ(load_error(path(GetParam().file)).code, Error::Code::NotFound);
  std::filesystem::create_directory(path(GetParam().file));
  expect_message(load_error(path(GetParam().file)), "directory");
}

/// Of this process, so that a busy machine does not matter.
double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

/// The most memory the process ever held, in bytes.
double peak_memory() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return 1024.0 * static_cast<double>(usage.ru_maxrss);
}

constexpr std::size_t kHundredMegabytes = 100'000'000;

std::string repeated(std::string head, const std::string& block) {
  head.reserve(kHundredMegabytes + block.size());
  while (head.size() < kHundredMegabytes) head += block;
  return head;
}

class Garbage : public MeshFolder {
 protected:
  template <typename Load>
  void expect_quick_refusal(const std::string& what, Load load) {
    const double start = cpu_seconds(), before = peak_memory();
    const Result<MeshFile> result = load();
    EXPECT_FALSE(result.ok()) << what;
    EXPECT_LT(cpu_seconds() - start, kLimit) << what;
    EXPECT_LT(peak_memory() - before, 1e9) << what;
  }
  /// The same file under a name of the format: one hundred megabytes are written once.
  void expect_quick_refusal_as(const std::string& ending) {
    std::filesystem::rename(path("garbage"), path("garbage" + ending));
    expect_quick_refusal(ending, [&] { return load_mesh(path("garbage" + ending)); });
    std::filesystem::rename(path("garbage" + ending), path("garbage"));
  }
#if defined(__SANITIZE_ADDRESS__)
  static constexpr double kLimit = 20;
#else
  static constexpr double kLimit = 2;
#endif
};

TEST_F(Garbage, HundredMegabytesOfNoiseFailFast) {
  std::mt19937 random(7);
  std::string noise(1 << 20, '\0');
  for (char& c : noise) c = static_cast<char>(random());
  put("garbage", repeated("", noise));
  for (const char* ending : {".obj", ".stl", ".gltf", ".glb", ".msh", ".vtk", ".vtu", ".node"})
    expect_quick_refusal_as(ending);
}

TEST_F(Garbage, HundredMegabytesOfTextFailFast) {
  const std::string text = repeated("", "lorem ipsum dolor sit amet 1 2 3\n");
  for (const char* ending : {".obj", ".stl", ".gltf", ".glb", ".msh", ".vtk", ".vtu"})
    expect_quick_refusal(ending, [&] { return parse_mesh(std::string("garbage") + ending, text); });
}

TEST_F(Garbage, HundredMegabytesThatBeginWellFailFast) {
  const struct {
    const char *ending, *head, *block;
  } cases[] = {{".gltf", "{\"asset\":{\"version\":\"2.0\"},\"x\":[", "[[[[[[[["},
               {".gltf", "{\"asset\":{\"version\":\"2.0\"},\"x\":[", "0,0,0,0,"},
               {".vtu", "<VTKFile type=\"UnstructuredGrid\">", "<a><b/>"},
               {".vtu", "<VTKFile type=\"UnstructuredGrid\">", "<a/>"},
               {".stl", "solid x\n", "facet "},
               {".msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n", "$Nodes\n0\n$EndNodes\n"},
               {".vtk", "# vtk DataFile Version 3.0\nt\nASCII\nDATASET POLYDATA\n", "METADATA\n\n"},
               {".obj", "", "f 1 2 3\n"}};
  for (const auto& c : cases) {
    const std::string content = repeated(c.head, c.block);
    expect_quick_refusal(c.head, [&] { return parse_mesh(std::string("garbage") + c.ending, content); });
  }
}

class SaveMesh : public MeshFolder {};

TEST_F(SaveMesh, RefusesMeshesThatAreNotOne) {
  TriMesh surface = awkward_surface();
  TetMesh solid = awkward_solid();
  const auto surface_error = [&](auto change) {
    TriMesh mesh = surface;
    change(mesh);
    std::string all;
    for (const char* file : {"m.obj", "m.stl", "m.glb", "m.gltf", "m.msh", "m.vtk", "m.vtu"}) {
      const Status s = save_mesh(path(file), mesh);
      EXPECT_FALSE(s.ok()) << file;
      EXPECT_EQ(s.error().code, Error::Code::InvalidArgument);
      all += s.error().to_string() + "\n";
    }
    return Error{Error::Code::InvalidArgument, all, {}, {}, 0};
  };
  expect_message(surface_error([](TriMesh& m) { m.vertices[2].y = std::nanf(""); }), "vertex 2: is not finite");
  expect_message(surface_error([](TriMesh& m) { m.faces[1][0] = 4; }), "face 1: names vertex 4");
  expect_message(surface_error([](TriMesh& m) { m.faces.clear(); }), "no faces");
  expect_message(surface_error([](TriMesh& m) { m.normals.resize(1); }), "1 normals for 4 vertices");
  expect_message(surface_error([](TriMesh& m) { m.uvs.resize(4, {INFINITY, 0}); }), "uv 0");
  const auto solid_error = [&](auto change) {
    TetMesh mesh = solid;
    change(mesh);
    const Status s = save_mesh(path("m.vtu"), mesh);
    EXPECT_FALSE(s.ok());
    return s.error();
  };
  expect_message(solid_error([](TetMesh& m) { m.nodes[1].x = INFINITY; }), "node 1");
  expect_message(solid_error([](TetMesh& m) { m.tets[2][3] = 5; }), "tet 2");
  expect_message(solid_error([](TetMesh& m) { m.regions.pop_back(); }), "2 regions for 3 tets");
  expect_message(solid_error([](TetMesh& m) { m.node_sets["x"] = {5}; }), "node set \"x\"");
  EXPECT_TRUE(names().empty());
}

TEST_F(SaveMesh, RefusesFormatsThatCannotHoldIt) {
  const auto code = [](const Status& s) { return s.ok() ? Error::Code::StaleId : s.error().code; };
  for (const char* file : {"m.obj", "m.stl", "m.glb", "m.gltf", "m.png", "m"})
    EXPECT_EQ(code(save_mesh(path(file), awkward_solid())), Error::Code::Unsupported) << file;
  for (const char* file : {"m.node", "m.ele", "m.png", "m"})
    EXPECT_EQ(code(save_mesh(path(file), awkward_surface())), Error::Code::Unsupported) << file;
  EXPECT_EQ(code(save_mesh(path("m.msh"), awkward_solid(), {true, 4.0})), Error::Code::InvalidArgument);
  EXPECT_EQ(load_error(path("m.png")).code, Error::Code::Unsupported);
  EXPECT_TRUE(names().empty());
}

TEST_F(SaveMesh, AFailedSaveLeavesTheOldFile) {
  for (const char* file : {"m.obj", "m.stl", "m.glb", "m.gltf", "m.msh", "m.vtk", "m.vtu"}) {
    put(file, "precious");
    TriMesh broken = awkward_surface();
    broken.vertices[0].x = std::nanf("");
    EXPECT_FALSE(save_mesh(path(file), broken).ok());
    EXPECT_EQ(slurp(path(file)), "precious");
    EXPECT_FALSE(save_mesh(path(std::string("missing/") + file), awkward_surface()).ok());
  }
}

}  // namespace
}  // namespace pliant::test
