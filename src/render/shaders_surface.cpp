// The passes that draw surfaces.
#include "render/shaders.h"

namespace pliant::shader {

const char* const kSurfaceVertex = R"(
layout(location = 0) in vec3 a_position;
layout(location = 1) in vec3 a_normal;
layout(location = 2) in float a_value;       // to be shown by colour; of bodies that deform
layout(location = 3) in vec4 a_row0;         // world_from_mesh, by rows
layout(location = 4) in vec4 a_row1;
layout(location = 5) in vec4 a_row2;
layout(location = 6) in vec4 a_color;        // a: opacity
layout(location = 7) in vec3 a_material;     // roughness, metalness, whether coloured by value
layout(location = 8) in vec3 a_velocity;     // of rigid bodies
layout(location = 9) in vec3 a_spin;
layout(location = 10) in vec3 a_center;
layout(location = 11) in vec3 a_tint;        // colour of the vertex; 1 where surfaces have one colour
uniform mat4 u_clip_from_world;
out vec3 v_world;
out vec3 v_normal;
out float v_value;
flat out vec4 v_color;
flat out vec3 v_material;

void main() {
  vec4 p = vec4(a_position, 1.0);
  v_world = vec3(dot(a_row0, p), dot(a_row1, p), dot(a_row2, p));
  v_normal = vec3(dot(a_row0.xyz, a_normal), dot(a_row1.xyz, a_normal), dot(a_row2.xyz, a_normal));
  v_value = a_value + length(a_velocity + cross(a_spin, v_world - a_center));
  v_color = vec4(a_color.rgb * a_tint, a_color.a);
  v_material = a_material;
  gl_Position = u_clip_from_world * vec4(v_world, 1.0);
}
)";

const char* const kDepthFragment = R"(
#ifdef TRANSPARENT
flat in vec4 v_color;
#endif
void main() {
#ifdef TRANSPARENT
  // Some texels hold the light back, some do not; the soft edge of the shadow averages them. Of clear glass they would
  // be too few to average.
  if (v_color.a < 0.3) discard;
  uvec2 t = uvec2(gl_FragCoord.xy);
  uint h = (t.x * 1664525u + t.y * 22695477u + 1013904223u) ^ (t.x * t.y * 747796405u);
  h = (h ^ (h >> 15)) * 2246822519u;
  h = (h ^ (h >> 13)) * 3266489917u;
  if (float(h >> 8) / 16777216.0 > 0.6 * v_color.a) discard;
#endif
}
)";

const char* const kNormalFragment = R"(
in vec3 v_world;
uniform vec3 u_eye;
out vec4 o_normal;
void main() {
  vec3 n = normalize(cross(dFdx(v_world), dFdy(v_world)));
  if (dot(n, u_eye - v_world) < 0.0) n = -n;
  o_normal = vec4(0.5 * n + 0.5, 1.0);
}
)";

const char* const kSurfaceFragment = R"(
in vec3 v_world;
in vec3 v_normal;
in float v_value;
flat in vec4 v_color;
flat in vec3 v_material;
uniform vec3 u_eye;
uniform vec3 u_forward;
uniform sampler2D u_visibility;
uniform sampler2D u_color_map;
uniform vec2 u_color_range;      // the lowest colour, -1 or 0; 1 / the value of colour 1
uniform float u_fog;             // m
out vec4 o_color;

#ifdef GROUND
uniform vec3 u_grid_x, u_grid_z;  // unit, in the plane
uniform float u_cell;             // m

// Share of the pixel that lines every `cell` metres cover.
float grid_lines(vec2 at, float cell, float width) {
  vec2 footprint = fwidth(at);
  vec2 d = abs(fract(at / cell - 0.5) - 0.5) * cell;
  vec2 w = max(vec2(width), footprint);
  vec2 covered = clamp((0.5 * w + 0.5 * footprint - d) / footprint, 0.0, 1.0) * (width / w);
  covered *= 1.0 - smoothstep(0.15, 0.5, footprint / cell);  // too dense to tell: fade
  return max(covered.x, covered.y);
}
#endif

#if !defined(TRANSPARENT) && !defined(LIGHT)
// Along edges several surfaces share a pixel, and the visibility is that of only one: take the nearest neighbour that
// has this fragment's distance.
vec2 read_visibility(float distance_here) {
  ivec2 at = ivec2(gl_FragCoord.xy), last = textureSize(u_visibility, 0) - 1;
  vec4 best = texelFetch(u_visibility, at, 0);
  float best_miss = abs(unpack_distance(best) - distance_here);
  if (best_miss > 0.01 * distance_here) {
    for (int i = 0; i < 9; ++i) {
      vec4 other = texelFetch(u_visibility, clamp(at + ivec2(i % 3 - 1, i / 3 - 1), ivec2(0), last), 0);
      float miss = abs(unpack_distance(other) - distance_here);
      if (miss < best_miss) best_miss = miss, best = other;
    }
  }
  return best.rg;
}
#endif

// What a mirror at s shows in direction r.
vec3 mirrored_surroundings(Surface s, vec3 r) {
#ifdef LIGHT
  vec3 far = mix(ground_radiance(0.8), sky_gradient(r.y), smoothstep(-0.2, 0.2, r.y / (0.15 + s.roughness)));
  return mix(far, sky_irradiance(r), s.roughness * s.roughness);
#endif
  vec3 above = sky_radiance(normalize(vec3(r.x, max(r.y, 0.0), r.z)));
  float down = -dot(u_ground_plane.xyz, r), below = smoothstep(-0.35, 0.35, 2.0 * down / (0.15 + s.roughness));
  if (u_ground_plane.xyz == vec3(0.0)) below = smoothstep(-0.35, 0.35, -r.y / (0.15 + s.roughness));
  float lit = 1.0;
  if (down > 0.02 && s.roughness < 0.6) {
    float reach = (dot(u_ground_plane.xyz, s.p) - u_ground_plane.w) / down;
    // Softened: what stands around is not in the mirror, so its shadow should not stand out either.
    float dull = smoothstep(0.3, 0.6, s.roughness);
    lit = 0.6 + 0.4 * mix(shadow_quick(s.p + reach * r, u_ground_plane.xyz, 12.0), 1.0, dull);
  }
  vec3 ground = mix(ground_radiance(lit), kHorizon * u_sky, exp(-4.0 * max(down, 0.0)) * 0.7);
  vec3 sharp = mix(above, ground, below);
  return mix(sharp, sky_irradiance(r), s.roughness * s.roughness);
}

void main() {
  Surface s;
  s.p = v_world;
  s.v = normalize(u_eye - v_world);
  s.n = normalize(v_normal);
  if (dot(s.n, s.v) < 0.0 && !gl_FrontFacing) s.n = -s.n;
  s.albedo = v_color.rgb;
  s.roughness = v_material.x;
  s.metalness = v_material.y;
  if (v_material.z > 0.5) {
    float t = clamp(v_value * u_color_range.y, u_color_range.x, 1.0);
    s.albedo = texture(u_color_map, vec2((t * 255.0 + 256.5) / 512.0, 0.5)).rgb;
    s.roughness = 0.6;
    s.metalness = 0.0;
  }
  float distance_here = dot(v_world - u_eye, u_forward);
#ifdef GROUND
  vec2 at = vec2(dot(u_grid_x, v_world), dot(u_grid_z, v_world));
  float lines = max(0.45 * grid_lines(at, u_cell, 0.012 * u_cell), grid_lines(at, 10.0 * u_cell, 0.03 * u_cell));
  s.albedo *= 1.0 - 0.35 * lines;
#endif
#ifdef TRANSPARENT
  vec2 visible = vec2(1.0);  // its own shadow is full of holes, and no other would show much
#elif defined(LIGHT)
  vec2 visible = vec2(shadow_quick(v_world, s.n, 0.0), 1.0);
#else
  vec2 visible = read_visibility(distance_here);
#endif

  vec3 diffuse = vec3(0.0), mirrored = vec3(0.0);
  add_lamp(s, u_to_sun, u_sun * visible.x, diffuse, mirrored);
  for (int i = 0; i < u_lamps; ++i) {
    vec3 l = u_lamp_place[i].xyz - u_lamp_place[i].w * v_world;
    float fall = u_lamp_place[i].w > 0.5 ? 1.0 / max(dot(l, l), 1e-4) : 1.0;
    add_lamp(s, normalize(l), u_lamp_color[i] * fall, diffuse, mirrored);
  }
  float nv = clamp(dot(s.n, s.v), 0.0, 1.0);
  vec3 f0 = mix(vec3(0.04), s.albedo, s.metalness);
  vec3 share = environment_share(f0, s.roughness, nv);
  // Light that bounces between close surfaces takes on their colour: a corner is never quite black.
  vec3 open = mix(s.albedo * visible.y, vec3(1.0), visible.y) * visible.y;
  diffuse += s.albedo * (1.0 - s.metalness) * (1.0 - share) * sky_irradiance(s.n) * mix(vec3(visible.y), open, 0.5);
#ifdef LIGHT
  const float mirror_open = 1.0;
#else
  float mirror_open = clamp(pow(nv + visible.y, exp2(-16.0 * s.roughness - 1.0)) - 1.0 + visible.y, 0.0, 1.0);
#endif
  mirrored += share * mirrored_surroundings(s, reflect(-s.v, s.n)) * mirror_open;

  float clear = exp(-pow(length(v_world - u_eye) / u_fog, 2.0));
  vec3 haze = sky_gradient(0.0);
#ifdef TRANSPARENT
  float opacity = mix(v_color.a, 1.0, 0.7 * pow(1.0 - nv, 5.0));
  o_color = vec4(to_display(mix(haze * opacity, diffuse * opacity + mirrored, clear)), opacity);
#else
  o_color = vec4(to_display(mix(haze, diffuse + mirrored, clear)), 1.0);
#endif
}
)";

const char* const kLineFragment = R"(
uniform vec4 u_line_color;
out vec4 o_color;
void main() { o_color = u_line_color; }
)";

}  // namespace pliant::shader
