// The parts that text formats share: numbers, words and lines, polygons, base64, zlib, XML.
#include <clocale>
#include <cstring>
#include <random>

#include <fmt/format.h>

#include "io/base64.h"
#include "io/inflate.h"
#include "io/mesh_test_support.h"
#include "io/parse_number.h"
#include "io/polygon.h"
#include "io/text_reader.h"
#include "io/xml.h"

namespace pliant::test {
namespace {

std::uint32_t bits(float x) {
  std::uint32_t b;
  std::memcpy(&b, &x, sizeof b);
  return b;
}
float from_bits(std::uint32_t b) {
  float x;
  std::memcpy(&x, &b, sizeof x);
  return x;
}

TEST(ParseNumber, AgreesWithTheCLibraryOnEveryKindOfFloat) {
  std::mt19937 random(1);
  for (int i = 0; i < 200000; ++i) {
    const float x = from_bits(random());
    if (!std::isfinite(x)) continue;
    for (const std::string& text :
         {fmt::format("{}", x), fmt::format("{:.9g}", x), fmt::format("{:.3f}", x), fmt::format("{:.25e}", x)}) {
      const auto parsed = parse_float(text);
      ASSERT_TRUE(parsed) << text;
      ASSERT_EQ(bits(*parsed), bits(std::strtof(text.c_str(), nullptr))) << text;
      const auto as_double = parse_double(text);
      ASSERT_TRUE(as_double && *as_double == std::strtod(text.c_str(), nullptr)) << text;
    }
    ASSERT_EQ(bits(*parse_float(fmt::format("{}", x))), bits(x));
  }
}

TEST(ParseNumber, RoundsOnceWhereRoundingTwiceGoesWrong) {
  // Just above and below the middle of two neighbouring floats, closer than a double can tell.
  for (const char* text : {"1.00000005960464477540", "1.00000005960464477539", "16777217.0000000001", "16777217",
                           "16777218.9999999999", "1.40129846432481707e-45", "7.0064923216240862e-46", "3.4028236e38",
                           "1.1754943508222875e-38", "0.000000000000000000000000000000000000011754942"})
    EXPECT_EQ(bits(*parse_float(text)), bits(std::strtof(text, nullptr))) << text;
}

TEST(ParseNumber, TakesOrdinaryForms) {
  EXPECT_EQ(parse_double("1"), 1.0);
  EXPECT_EQ(parse_double("+1."), 1.0);
  EXPECT_EQ(parse_double(".5"), 0.5);
  EXPECT_EQ(parse_double("-1.5E+2"), -150.0);
  EXPECT_EQ(parse_double("0e999999999999"), 0.0);
  EXPECT_TRUE(std::isinf(*parse_float("1e999999999999")));
  EXPECT_TRUE(std::isinf(*parse_float("-1e39")));
  EXPECT_EQ(parse_double("1e-999999999999"), 0.0);
  EXPECT_TRUE(std::isnan(*parse_float("NaN")));
  EXPECT_EQ(*parse_float("-Inf"), -std::numeric_limits<float>::infinity());
  EXPECT_EQ(parse_double(std::string(1000, '0') + "1." + std::string(1000, '0')), 1.0);
  EXPECT_EQ(parse_double("1" + std::string(300, '0')), 1e300);
}

TEST(ParseNumber, RefusesEverythingElse) {
  for (const char* text :
       {"", "-", ".", "e5", "1e", "1e+", "1,5", "0x10", "1f", "1 ", " 1", "--1", "1.2.3", "nanx", "i"}) {
    EXPECT_FALSE(parse_float(text)) << text;
    EXPECT_FALSE(parse_double(text)) << text;
  }
  for (const char* text : {"", "-", "1.0", "9223372036854775808", "99999999999999999999", "0x1", "1a"})
    EXPECT_FALSE(parse_integer(text)) << text;
  EXPECT_EQ(parse_integer("9223372036854775807"), 9223372036854775807);
  EXPECT_EQ(parse_integer("-12"), -12);
  EXPECT_EQ(parse_integer("+12"), 12);
}

TEST(TextReader, KnowsLines) {
  TextReader in("f.txt", "one # two\n\n\r\n 3 \\\n four\nx");
  in.skip_comments();
  in.join_continued_lines();
  EXPECT_EQ(in.word(), "one");
  EXPECT_TRUE(in.at_line_end());
  EXPECT_EQ(in.integer("a number"), 3);
  EXPECT_FALSE(in.at_line_end());
  EXPECT_EQ(in.word_on_line(), "four");
  in.number("the mass");
  ASSERT_FALSE(in.ok());
  EXPECT_EQ(in.error().to_string(), "f.txt:6: the mass is \"x\", which is not a number");
  EXPECT_TRUE(in.at_end());
  EXPECT_EQ(in.number("more"), 0);
}

TEST(TextReader, CountsAreBoundedByTheFile) {
  TextReader in("f", "1000000000000 1 2 3");
  EXPECT_EQ(in.count("the number of points", 2), 0u);
  EXPECT_FALSE(in.ok());
  TextReader negative("f", "-1 1 2 3");
  negative.count("the number of points", 2);
  EXPECT_FALSE(negative.ok());
}

double area(std::span<const Vec3> points, const std::vector<Face>& faces) {
  double sum = 0;
  for (const Face& f : faces) {
    const Vec3 a = points[f[0]], b = points[f[1]], c = points[f[2]];
    sum += 0.5 * cross(b - a, c - a).z;
  }
  return sum;
}

TEST(Polygon, ConcaveOnesAreCutInside) {
  // An L and an arrow: a fan from the first corner would leave them.
  const std::vector<std::vector<Vec3>> shapes{{{0, 1, 0}, {0, 0, 0}, {3, 0, 0}, {3, 3, 0}, {2, 3, 0}, {2, 1, 0}},
                                              {{0, 0, 0}, {2, 2, 0}, {0, 4, 0}, {1, 2, 0}},
                                              {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}}};
  const std::vector<double> areas{5, 2, 1};
  for (std::size_t s = 0; s < shapes.size(); ++s)
    for (std::uint32_t start = 0; start < shapes[s].size(); ++start) {
      std::vector<std::uint32_t> corners;
      for (std::uint32_t i = 0; i < shapes[s].size(); ++i)
        corners.push_back((i + start) % static_cast<std::uint32_t>(shapes[s].size()));
      std::vector<Face> faces;
      triangulate_polygon(shapes[s], corners, faces);
      ASSERT_EQ(faces.size(), corners.size() - 2);
      EXPECT_NEAR(area(shapes[s], faces), areas[s], 1e-6);
      for (const Face& f : faces) EXPECT_GE(area(shapes[s], {f}), 0) << "a triangle is turned over";
    }
}

TEST(Polygon, HopelessOnesStillGiveTriangles) {
  const std::vector<Vec3> points{{0, 0, 0}, {1, 1, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 0}};
  std::vector<Face> faces;
  triangulate_polygon(points, std::vector<std::uint32_t>{0, 1, 2, 3, 4}, faces);
  EXPECT_EQ(faces.size(), 3u);
  faces.clear();
  triangulate_polygon(points, std::vector<std::uint32_t>{0, 1}, faces);
  EXPECT_TRUE(faces.empty());
}

TEST(Base64, KnownPairs) {
  const std::pair<const char*, const char*> pairs[] = {{"", ""},
                                                       {"f", "Zg=="},
                                                       {"fo", "Zm8="},
                                                       {"foo", "Zm9v"},
                                                       {"foob", "Zm9vYg=="},
                                                       {"fooba", "Zm9vYmE="},
                                                       {"foobar", "Zm9vYmFy"}};  // RFC 4648, section 10
  for (const auto& [plain, coded] : pairs) {
    EXPECT_EQ(base64_encode(plain, std::strlen(plain)), coded);
    EXPECT_EQ(base64_decode(coded), std::string(plain));
  }
  for (const char* wrong : {"Zg=", "Z", "Zg==Zg==", "Zm9*", "====", "=Zg=", "Zg\n=="})
    EXPECT_FALSE(base64_decode(wrong)) << wrong;
}

TEST(Inflate, UnpacksWhatZlibPacked) {
  // python3: zlib.compress(b"hello hello hello hello", 9), level 0 for the stored block
  const std::string fixed("\x78\xda\xcb\x48\xcd\xc9\xc9\x57\xc8\x40\x27\x01\x68\x03\x08\xb1", 16);
  const std::string stored("\x78\x01\x01\x05\x00\xfa\xff\x68\x65\x6c\x6c\x6f\x06\x2c\x02\x15", 16);
  EXPECT_EQ(zlib_inflate(fixed, 23), "hello hello hello hello");
  EXPECT_EQ(zlib_inflate(stored, 5), "hello");
  EXPECT_FALSE(zlib_inflate(fixed, 22));
  EXPECT_FALSE(zlib_inflate(fixed, 24));
  EXPECT_FALSE(zlib_inflate(fixed, 1000000000));
  for (std::size_t n = 0; n < fixed.size(); ++n) EXPECT_FALSE(zlib_inflate(fixed.substr(0, n), 23)) << n;
  for (std::size_t i = 0; i < 8 * fixed.size(); ++i) {
    std::string damaged = fixed;
    damaged[i / 8] = static_cast<char>(damaged[i / 8] ^ (1 << i % 8));
    const auto result = zlib_inflate(damaged, 23);
    EXPECT_TRUE(!result || *result == "hello hello hello hello") << "bit " << i << " went unseen";
  }
}

TEST(Xml, ReadsElementsAttributesAndText) {
  const auto root =
      parse_xml("f", "<?xml version='1.0'?><!-- c --><a x='1' y = \"&lt;&amp;\"> t <b/><c>long text</c></a>\n");
  ASSERT_TRUE(root.ok()) << root.error().to_string();
  EXPECT_EQ(root->name, "a");
  EXPECT_EQ(*root->attribute("y"), "<&");
  EXPECT_EQ(root->attribute("z"), nullptr);
  EXPECT_EQ(root->text, " t ");
  EXPECT_EQ(root->child("c")->text, "long text");
}

TEST(Xml, RawElementsHoldAnything) {
  const auto root = parse_xml("f", "<a><raw k='v'>_<</raw><&</raw></a>", "raw");
  ASSERT_TRUE(root.ok()) << root.error().to_string();
  EXPECT_EQ(root->child("raw")->text, "_<</raw><&");
}

TEST(Xml, RefusesWhatIsNotWellFormed) {
  for (const char* text :
       {"", "a", "<", "<a", "<a>", "<a></b>", "<a x></a>", "<a x=1></a>", "<a x='1></a>", "<a/><b/>", "<a>&</a",
        "<a x='&foo;'/>", "<!DOCTYPE a><a/>", "<a><![CDATA[x]]></a>", "<a><!-- </a>", "< a/>"})
    EXPECT_FALSE(parse_xml("f", text).ok()) << text;
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "<a>";
  EXPECT_FALSE(parse_xml("f", deep).ok());
}

}  // namespace
}  // namespace pliant::test
