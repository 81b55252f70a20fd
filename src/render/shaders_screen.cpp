// The passes that go over the whole picture.
//
// Visibility: percentage-closer soft shadows (Fernando 2005) and scalable ambient obscurance (McGuire et al. 2012),
// both with few samples that are turned from pixel to pixel in a pattern of 4x4, which the blur after it averages out.
#include "render/shaders.h"

namespace pliant::shader {

const char* const kScreenVertex = R"(
out vec2 v_uv;
void main() {
  v_uv = vec2(float((gl_VertexID << 1) & 2), float(gl_VertexID & 2));
  gl_Position = vec4(2.0 * v_uv - 1.0, 1.0, 1.0);
}
)";

// The distance stands beside the shares, in 16 bits of its logarithm (steps of 0.02 %), so that one look fetches all.
const char* const kVisibilityPixel = R"(
uniform vec2 u_near_far;

vec4 pack_visibility(vec2 shares, float distance_there) {
  float l = clamp(log2(distance_there / u_near_far.x) / log2(u_near_far.y / u_near_far.x), 0.0, 1.0) * 255.0;
  return vec4(shares, floor(l) / 255.0, fract(l));
}
float unpack_distance(vec4 pixel) {
  float l = pixel.b + pixel.a / 255.0;
  return u_near_far.x * exp2(l * log2(u_near_far.y / u_near_far.x));
}
)";

// Shared by the two visibility passes: where a pixel's surface is, relative to the eye.
const char* const kPlaces = R"(
uniform sampler2D u_depth;
uniform sampler2D u_normal;
uniform vec3 u_ray_forward, u_ray_right, u_ray_up;  // to the picture's centre; to its right and upper edge from there
uniform vec2 u_pixel;                               // 1 / size

float distance_at(ivec2 at) {
  float d = texelFetch(u_depth, at, 0).r;
  return u_near_far.x * u_near_far.y / (u_near_far.y - d * (u_near_far.y - u_near_far.x));
}
vec3 ray_at(ivec2 at) {
  vec2 ndc = (vec2(at) + 0.5) * u_pixel * 2.0 - 1.0;
  return u_ray_forward + ndc.x * u_ray_right + ndc.y * u_ray_up;
}
vec3 place_at(ivec2 at) { return distance_at(at) * ray_at(at); }
vec3 normal_at(ivec2 at) { return normalize(texelFetch(u_normal, at, 0).xyz * 2.0 - 1.0); }
)";

const char* const kVisibilityFragment = R"(
uniform vec3 u_eye;
uniform sampler2D u_shadow_depth_map;  // the same map as u_shadow, without comparing
uniform float u_sun_spread;            // m of penumbra per m between what casts and what receives
uniform float u_shadow_search;         // m
uniform float u_open_radius;           // m
uniform float u_pixels_per_metre;      // at 1 m
out vec4 o_visibility;

const int kTurns[16] = int[16](0, 8, 2, 10, 12, 4, 14, 6, 3, 11, 1, 9, 15, 7, 13, 5);
const int kBlockerSamples = 10, kSunSamples = 16, kSkySamples = 12;

// The share of the sun's disc that is not hidden.
float sun_visible(vec3 p, vec3 n, float turn) {
  if (u_shadow_on < 0.5) return 1.0;
  if (dot(n, u_to_sun) <= 0.0) return 0.0;
  vec3 at = shadow_place(p, n);
  if (any(lessThan(at.xy, vec2(0.0))) || any(greaterThan(at.xy, vec2(1.0)))) return 1.0;
  // The receiver's plane in the map: how its depth changes sideways, so that a wide kernel does not shadow itself.
  vec3 m = mat3(u_sun_from_world) * n;  // the map's scales differ: undo them twice to turn it into a gradient
  vec3 scale = vec3(u_shadow_size, u_shadow_size, u_shadow_depth);
  m *= scale * scale;
  vec2 gradient = clamp(-m.xy / (abs(m.z) > 1e-6 ? m.z : -1e-6), -8.0, 8.0);

  float search = u_shadow_search / u_shadow_size, blocker = 0.0, blockers = 0.0;
  for (int i = 0; i < kBlockerSamples; ++i) {
    vec2 o = search * disc(i, kBlockerSamples, turn);
    float d = texture(u_shadow_depth_map, at.xy + o).r;
    if (d < at.z + dot(gradient, o)) blocker += d, blockers += 1.0;
  }
  // None of a few samples: still look at the point itself, or thin things lose their shadows.
  float gap = blockers > 0.0 ? max(at.z - blocker / blockers, 0.0) * u_shadow_depth : 0.0;
  float radius = clamp(gap * u_sun_spread / u_shadow_size, 1.3 * u_shadow_texel, search);
  float lit = 0.0;
  for (int i = 0; i < kSunSamples; ++i) {
    vec2 o = radius * disc(i, kSunSamples, turn);
    lit += texture(u_shadow, vec3(at.xy + o, min(at.z + dot(gradient, o), 1.0)));
  }
  return lit / float(kSunSamples);
}

// The share of the sky that is not hidden by what is near.
float sky_visible(vec3 p, vec3 n, float distance_here, float turn) {
  float r = u_open_radius, pixels = min(u_pixels_per_metre * r / distance_here, 0.3 / u_pixel.y);
  if (pixels < 2.0) return 1.0;
  ivec2 last = textureSize(u_depth, 0) - 1, here = ivec2(gl_FragCoord.xy);
  float hidden = 0.0;
  for (int i = 0; i < kSkySamples; ++i) {
    float along = (float(i) + 0.5) / float(kSkySamples), angle = along * 6.2832 * 5.0 + turn;
    vec2 o = along * pixels * vec2(cos(angle), sin(angle));
    vec3 v = place_at(clamp(here + ivec2(o), ivec2(0), last)) - p;
    float vv = dot(v, v), vn = dot(v, n) - 0.002 * distance_here;
    float f = max(1.0 - vv / (r * r), 0.0);
    hidden += f * f * f * max(vn / (sqrt(vv) * r * 0.35 + vv + 1e-6 * r * r), 0.0) * r;
  }
  float open = max(0.0, 1.0 - 1.1 * hidden / float(kSkySamples));
  return mix(1.0, open, clamp((pixels - 2.0) / 6.0, 0.0, 1.0));
}

void main() {
  ivec2 at = ivec2(gl_FragCoord.xy);
  if (texelFetch(u_depth, at, 0).r >= 1.0) { o_visibility = pack_visibility(vec2(1.0), u_near_far.y); return; }
  vec3 p = place_at(at), n = normal_at(at);
  float turn = float(kTurns[(at.x & 3) + 4 * (at.y & 3)]) * (6.2832 / 16.0);
  float distance_here = distance_at(at);
  vec2 shares = vec2(sun_visible(p + u_eye, n, turn), sky_visible(p, n, distance_here, turn));
  o_visibility = pack_visibility(shares, distance_here);
}
)";

const char* const kBlurFragment = R"(
uniform sampler2D u_visibility;
out vec4 o_visibility;

void main() {
  ivec2 at = ivec2(gl_FragCoord.xy), last = textureSize(u_visibility, 0) - 1;
  vec4 here = texelFetch(u_visibility, at, 0);
  float distance_here = unpack_distance(here), scale = 1.0 / (0.004 * distance_here);
  vec3 n = normal_at(at);
  float along = dot(n, ray_at(at)) * distance_here;
  vec2 sum = here.rg;
  float weight = 1.0;
  for (int i = 0; i < 16; ++i) {
    ivec2 other = clamp(at + ivec2(i % 4 - 2, i / 4 - 2), ivec2(0), last);
    if (other == at) continue;
    vec4 there = texelFetch(u_visibility, other, 0);
    float off = abs(dot(n, ray_at(other)) * unpack_distance(there) - along);  // from this pixel's plane
    float w = clamp(2.0 - off * scale, 0.0, 1.0);
    sum += w * there.rg;
    weight += w;
  }
  o_visibility = vec4(sum / weight, here.ba);
}
)";

const char* const kSkyFragment = R"(
in vec2 v_uv;
uniform vec3 u_ray_forward, u_ray_right, u_ray_up;
out vec4 o_color;
void main() {
  vec2 ndc = 2.0 * v_uv - 1.0;
  vec3 d = normalize(u_ray_forward + ndc.x * u_ray_right + ndc.y * u_ray_up);
  o_color = vec4(to_display(sky_radiance(d)), 1.0);
}
)";

const char* const kCopyFragment = R"(
in vec2 v_uv;
uniform sampler2D u_picture;
out vec4 o_color;
void main() {
  vec3 c = texture(u_picture, v_uv).rgb;  // linear; a window's own buffer stores what it is given
#ifdef STORED
  o_color = vec4(c, 1.0);  // … or, where the driver can leave it so, as it will be stored
  return;
#endif
  vec3 high = 1.055 * pow(max(c, 0.0031308), vec3(1.0 / 2.4)) - 0.055;
  o_color = vec4(mix(12.92 * c, high, step(0.0031308, c)), 1.0);
}
)";

}  // namespace pliant::shader
