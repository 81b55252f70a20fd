#include "render/stroke_font.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <vector>

namespace pliant {
namespace {

/// Strokes on a grid: points are two digits, x from 0 to 4 and y from 0 (top) to 8 with 6 as the base line; a space
/// lifts the pen. Letters are 4 wide.
const char* strokes_of(char c) {
  switch (c) {
    case '0':
      return "103041453616050110";
    case '1':
      return "112026 1636";
    case '2':
      return "01103041420646";
    case '3':
      return "01103041423323 334445361605";
    case '4':
      return "36300444";
    case '5':
      return "400002324345361605";
    case '6':
      return "413010010516364543321203";
    case '7':
      return "004016";
    case '8':
      return "103041423313020110 1304051636454433";
    case '9':
      return "051636454130100103143443";
    case 'a':
      return "12324346 441405163645";
    case 'b':
      return "0006 0312324345361605";
    case 'c':
      return "4332120305163645";
    case 'd':
      return "4046 4332120305163645";
    case 'e':
      return "04444332120305163645";
    case 'f':
      return "4130202126 0242";
    case 'g':
      return "4247381807 4332120305163645";
    case 'h':
      return "0006 0312324346";
    case 'i':
      return "2226 2020";
    case 'j':
      return "22271808 2020";
    case 'k':
      return "0006 4204 1446";
    case 'l':
      return "102025263646";
    case 'm':
      return "0206 03122326 23324346";
    case 'n':
      return "0206 0312324346";
    case 'o':
      return "123243453616050312";
    case 'p':
      return "0208 0312324345361605";
    case 'q':
      return "4248 4332120305163645";
    case 'r':
      return "0206 03122232";
    case 's':
      return "4212031434453606";
    case 't':
      return "2025263646 0242";
    case 'u':
      return "02051636454246";
    case 'v':
      return "022642";
    case 'w':
      return "0216223642";
    case 'x':
      return "0246 4206";
    case 'y':
      return "0226 422608";
    case 'z':
      return "02420646";
    case 'G':
      return "41301001051636454323";
    case 'M':
      return "0600234046";
    case 'P':
      return "06003041423303";
    case '.':
      return "1616";
    case ',':
      return "2617";
    case '-':
      return "0343";
    case '+':
      return "0343 2125";
    case '/':
      return "4006";
    case '%':
      return "0000 4006 4646";
    default:
      return "";
  }
}

float advance_of(char c) { return c == '.' || c == ',' ? 3.0f : c == ' ' ? 3.5f : 5.8f; }

struct Stroke {
  Vec3 a, b;
};

std::vector<Stroke> strokes(char c, float x, float y, float unit) {
  std::vector<Stroke> out;
  const char* s = strokes_of(c);
  if (*s == 0) s = strokes_of(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
  bool down = false;
  Vec3 last;
  while (s[0] != 0 && s[1] != 0) {
    if (*s == ' ') {
      down = false, ++s;
      continue;
    }
    const Vec3 p{x + unit * static_cast<float>(s[0] - '0'), y + unit * static_cast<float>(s[1] - '0'), 0};
    if (down) out.push_back({last, p});
    last = p, down = true, s += 2;
  }
  return out;
}

float distance_to(const Stroke& s, Vec3 p) {
  const Vec3 d = s.b - s.a;
  const float t = std::clamp(dot(p - s.a, d) / std::max(dot(d, d), 1e-6f), 0.0f, 1.0f);
  return length(p - (s.a + t * d));
}

void draw_letter(Image& image, char c, float x, float y, float unit, Vec3 color) {
  const std::vector<Stroke> lines = strokes(c, x, y, unit);
  if (lines.empty()) return;
  const float half = std::max(0.45f * unit, 0.55f);
  const int x1 = static_cast<int>(x + 5.5f * unit) + 1, y1 = static_cast<int>(y + 9 * unit) + 1;
  for (int py = static_cast<int>(y - unit) - 1; py <= y1; ++py) {
    for (int px = static_cast<int>(x - unit) - 1; px <= x1; ++px) {
      const Vec3 p{static_cast<float>(px) + 0.5f, static_cast<float>(py) + 0.5f, 0};
      float nearest = 1e9f;
      for (const Stroke& s : lines) nearest = std::min(nearest, distance_to(s, p));
      image.blend(px, py, color, std::clamp(half + 0.5f - nearest, 0.0f, 1.0f));
    }
  }
}

}  // namespace

float text_width(std::string_view text, float size) {
  float width = 0;
  for (const char c : text) width += advance_of(c) * size / 6;
  return std::max(0.0f, width - size / 6);
}

float draw_text(Image& image, std::string_view text, float x, float y, float size, Vec3 color) {
  const float unit = size / 6;
  for (const char c : text) {
    draw_letter(image, c, x, y, unit, color);
    x += advance_of(c) * unit;
  }
  return x;
}

}  // namespace pliant
