// How light comes and goes: shared by all that is shaded.
#include "render/shaders.h"

namespace pliant::shader {

const char* const kLight = R"(
uniform vec3 u_to_sun;         // unit
uniform vec3 u_sun;            // irradiance at right angles
uniform float u_sky;           // strength of the sky, 1 on a clear day
uniform vec3 u_ground_albedo;  // what lies below the horizon
uniform vec4 u_ground_plane;   // dot(xyz, p) = w; xyz = 0: there is none
uniform int u_lamps;
uniform vec4 u_lamp_place[4];  // w = 1: a point; w = 0: a direction to it
uniform vec3 u_lamp_color[4];

// Mean radiance of the sky over directions around the zenith and at the horizon: fits of the gradient below.
const vec3 kSkyUp = vec3(0.33, 0.39, 0.49);
const vec3 kHorizon = vec3(0.66, 0.75, 0.84);
const vec3 kZenith = vec3(0.09, 0.21, 0.47);

vec3 sky_gradient(float height) {
  float h = max(height, 0.0);
  return mix(kHorizon, kZenith, 1.0 - exp(-2.6 * h - 4.0 * h * h)) * u_sky;
}

// What the ground throws back, seen from afar.
vec3 ground_radiance(float lit) {
  return u_ground_albedo * (u_sun * max(u_to_sun.y, 0.0) * lit / 3.14159 + kSkyUp * u_sky);
}

// The sky as one sees it, with a glow about the sun.
vec3 sky_radiance(vec3 d) {
#ifdef LIGHT
  return sky_gradient(d.y);
#endif
  float s = max(dot(d, u_to_sun), 0.0);
  float glow = 0.05 * pow(s, 6.0) + 0.10 * pow(s, 48.0) + 0.6 * pow(s, 900.0);
  return sky_gradient(d.y) + u_sun * glow * 0.5 * smoothstep(-0.05, 0.1, d.y);
}

// Irradiance / pi at a surface that looks along n.
vec3 sky_irradiance(vec3 n) {
  float up = 0.5 + 0.5 * n.y;
  vec3 sideways = kHorizon * u_sky * (1.0 - n.y * n.y) * 0.12;
  return mix(0.75 * ground_radiance(0.8), kSkyUp * u_sky, up * up * (3.0 - 2.0 * up) * 0.6 + up * 0.4) + sideways;
}
)";

const char* const kReflection = R"(
struct Surface {
  vec3 p, n, v;  // v: to the eye
  vec3 albedo;
  float roughness, metalness;
};

float distribution_ggx(float nh, float a2) {
  float d = nh * nh * (a2 - 1.0) + 1.0;
  return a2 / (3.14159 * d * d);
}

float visibility_smith(float nv, float nl, float a) {
  return 0.5 / max(mix(2.0 * nl * nv, nl + nv, a), 1e-4);
}

// Diffuse and mirrored light of one lamp in direction l, apart, for glass.
void add_lamp(Surface s, vec3 l, vec3 irradiance, inout vec3 diffuse, inout vec3 mirrored) {
  float nl = dot(s.n, l);
  if (nl <= 0.0) return;
  vec3 h = normalize(l + s.v);
  float nv = max(dot(s.n, s.v), 1e-3), nh = clamp(dot(s.n, h), 0.0, 1.0), vh = clamp(dot(s.v, h), 0.0, 1.0);
  float a = max(s.roughness * s.roughness, 0.004);
  vec3 f0 = mix(vec3(0.04), s.albedo, s.metalness);
  vec3 f = f0 + (1.0 - f0) * pow(1.0 - vh, 5.0);
  mirrored += irradiance * nl * f * min(distribution_ggx(nh, a * a) * visibility_smith(nv, nl, a), 60.0);
  diffuse += irradiance * nl * (1.0 - f) * (1.0 - s.metalness) * s.albedo / 3.14159;
}

// The environment's split sum, by Karis' fit ("Physically based shading on mobile", 2014).
vec3 environment_share(vec3 f0, float roughness, float nv) {
  vec4 r = roughness * vec4(-1.0, -0.0275, -0.572, 0.022) + vec4(1.0, 0.0425, 1.04, -0.04);
  float a = min(r.x * r.x, exp2(-9.28 * nv)) * r.x + r.y;
  vec2 ab = vec2(-1.04, 1.04) * a + r.zw;
  return f0 * ab.x + ab.y;
}

// Noise of a pixel, even over any small neighbourhood (Jimenez 2014).
float pixel_noise() {
  return fract(52.9829189 * fract(dot(floor(gl_FragCoord.xy), vec2(0.06711056, 0.00583715))));
}

// ACES film curve, Narkowicz' fit. The target turns it into sRGB of 8 bits by itself; noise of half a step, added as it
// will be stored, hides the steps.
vec3 to_display(vec3 c) {
  c *= 0.70;
  c = clamp((c * (2.51 * c + 0.03)) / (c * (2.43 * c + 0.59) + 0.14), 0.0, 1.0);
#ifdef LIGHT
  return c;
#endif
  return pow(max(pow(c, vec3(1.0 / 2.2)) + (pixel_noise() - 0.5) / 255.0, 0.0), vec3(2.2));
}
)";

const char* const kShadow = R"(
uniform sampler2DShadow u_shadow;  // compares, with linear filtering
uniform mat4 u_sun_from_world;     // to 0..1 in all three
uniform float u_shadow_texel;      // share of the map
uniform float u_shadow_size;       // m across
uniform float u_shadow_depth;      // m deep
uniform float u_shadow_on;

const float kGoldenAngle = 2.39996323;

vec2 disc(int i, int count, float turn) {
  float r = sqrt((float(i) + 0.5) / float(count)), angle = float(i) * kGoldenAngle + turn;
  return r * vec2(cos(angle), sin(angle));
}

// Where a surface point stands in the map, moved off the surface by as much as a texel of the map reaches
// below it: less gives stripes, more lets shadows float.
vec3 shadow_place(vec3 p, vec3 n) {
  float facing = clamp(dot(n, u_to_sun), 0.0, 1.0);
  vec3 off = n * u_shadow_texel * u_shadow_size * (0.5 + 1.2 * sqrt(1.0 - facing * facing));
  return (u_sun_from_world * vec4(p + off, 1.0)).xyz;
}

// A few samples of fixed spread, for what mirrors show.
float shadow_quick(vec3 p, vec3 n, float texels) {
  if (u_shadow_on < 0.5) return 1.0;
  vec3 at = shadow_place(p, n);
  if (any(lessThan(at.xy, vec2(0.0))) || any(greaterThan(at.xy, vec2(1.0)))) return 1.0;
#ifdef LIGHT
  return texture(u_shadow, vec3(at.xy, min(at.z, 1.0)));
#endif
  float lit = 0.0;
  for (int i = 0; i < 4; ++i) {
    lit += texture(u_shadow, vec3(at.xy + texels * u_shadow_texel * disc(i, 4, 0.5), min(at.z, 1.0)));
  }
  return 0.25 * lit;
}
)";

}  // namespace pliant::shader
