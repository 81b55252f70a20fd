#include "io/scene_corpus.h"

namespace pliant {
namespace {

std::string bodies(const std::string& list) { return R"({"bodies": [)" + list + "]}"; }
std::string rigid(const std::string& fields) {
  return bodies(R"({"kind": "rigid", "name": "x", "shape": {"kind": "sphere"})" +
                (fields.empty() ? "" : ", " + fields) + "}");
}
std::string shape(const std::string& fields, const std::string& motion = "static") {
  return bodies(R"({"kind": "rigid", "motion": ")" + motion + R"(", "shape": {)" + fields + "}}");
}
std::string repeated(const std::string& fields) { return rigid(R"("repeat": {)" + fields + "}"); }
std::string joint(const std::string& fields) {
  return R"({"bodies": [{"kind": "rigid", "name": "x", "shape": {"kind": "box"}},
    {"kind": "rigid", "name": "y", "position": [2, 0, 0], "shape": {"kind": "box"}},
    {"kind": "rigid", "name": "link", "shape": {"kind": "sphere"},
     "repeat": {"kind": "line", "count": 3, "step": [0, 2, 0]}}],
    "joints": [{)" +
         fields + "}]}";
}
std::string motion(const std::string& fields) {
  return R"({"bodies": [{"kind": "rigid", "name": "x", "motion": "kinematic", "shape": {"kind": "box"}}],
    "motions": [{"body": "x", )" +
         fields + "}]}";
}
std::string event(const std::string& fields) {
  return R"({"bodies": [{"kind": "rigid", "name": "x", "shape": {"kind": "box"}}],
    "joints": [{"kind": "hinge", "name": "h", "b": "x", "axis": [0, 1, 0]}], "events": [{)" +
         fields + "}]}";
}

std::string cloth(const std::string& fields) {
  return bodies(R"({"kind": "cloth", "name": "c", "shape": {"kind": "sheet"})" + (fields.empty() ? "" : ", " + fields) +
                "}");
}
std::string rope(const std::string& fields) {
  return bodies(R"({"kind": "rope", "name": "r", "path": [[0, 0, 0], [1, 0, 0]])" +
                (fields.empty() ? "" : ", " + fields) + "}");
}
std::string jelly(const std::string& fields) {
  return bodies(R"({"kind": "jelly", "name": "j", "mesh": {"box": [1, 1, 1], "cell": 0.5}, )" + fields + "}");
}
std::string layered(const std::string& surface, const std::string& fields = "") {
  return bodies(R"({"kind": "layered", "name": "l", "surface": )" + surface + R"(, "material": "foam")" +
                (fields.empty() ? "" : ", " + fields) + "}");
}
/// A rope `r`, two copies of a rope `s`, a post and two copies of a peg.
std::string anchored(const std::string& fields, const std::string& rest = "") {
  return R"({"bodies": [{"kind": "rope", "name": "r", "path": [[0, 0, 0], [1, 0, 0]], "held": [{"name": "end", "nodes": {"list": [0]}}]},
    {"kind": "rope", "name": "s", "path": [[0, 0, 0], [1, 0, 0]], "repeat": {"kind": "line", "count": 2, "step": [0, 1, 0]}},
    {"kind": "rigid", "name": "post", "motion": "static", "shape": {"kind": "box"}},
    {"kind": "rigid", "name": "peg", "shape": {"kind": "box"}, "repeat": {"kind": "line", "count": 3, "step": [0, 1, 0]}}],
    "anchors": [{)" +
         fields + "}]" + rest + "}";
}

}  // namespace

const std::vector<CorpusScene>& good_scenes() {
  static const std::vector<CorpusScene> scenes = {
      {"{}"},
      {R"({"title": "t", "description": "d", "frames": 1, "$schema": "x"})"},
      {R"({"world": {"gravity": [0, 0, 0], "dt": 1, "substeps": 100, "iterations": 1000, "allow_sleep": false,
           "sleep_speed": 0, "sleep_angular_speed": 0, "sleep_delay": 0, "bounce_threshold": 0}})"},
      {R"({"materials": {"goo": {"density": 1, "friction": 0, "rolling_friction": 0.1, "restitution": 1,
           "color": "#ff00Aa", "opacity": 0, "roughness": 1, "metalness": 1}}})"},
      {R"({"meshes": {"a": {"kind": "torus", "radius": 1, "tube_radius": 0.2, "segments": 8, "tube_segments": 6},
           "b": {"kind": "box", "size": [1, 2, 3], "cell": 0.5}}})"},
      {bodies(R"({"kind": "ground", "height": -1, "material": "ice", "friction": 0.1, "restitution": 0.2,
                  "filter": {"category": 2, "mask": 3}, "color": [0, 0.5, 1]}, {"kind": "ground"})")},
      {rigid("")},
      {rigid(R"("material": "steel", "motion": "dynamic", "position": [1, 2, 3], "rotation": [0, 0, 0, 2],
                "velocity": [0, 0, 0], "angular_velocity": [0, 1, 0], "mass": 2)")},
      {rigid(R"("rotation": {"axis": [0, 2, 0], "degrees": -45}, "density": 1e-3, "friction": 3,
                "rolling_friction": 0.1, "restitution": 0.5, "linear_damping": 1, "angular_damping": 2,
                "gravity_scale": -1, "continuous": true, "allow_sleep": false, "start_asleep": true)")},
      {rigid(R"("mass_properties": {"mass": 1, "inertia": [1, 2, 2.5], "center_of_mass": [0.1, 0, 0]})")},
      {rigid(R"("mass_properties": {"mass": 1, "inertia": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]})")},
      {shape(R"("kind": "box", "size": [1, 1, 1])", "dynamic")},
      {shape(R"("kind": "capsule", "radius": 0.1, "height": 1)", "dynamic")},
      {shape(R"("kind": "cylinder", "radius": 0.1, "height": 1)", "kinematic")},
      {shape(R"("kind": "cone")")},
      {shape(R"("kind": "convex_hull", "points": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])", "dynamic")},
      {R"({"meshes": {"m": {"kind": "sphere", "segments": 8}}, "bodies": [
           {"kind": "rigid", "motion": "static", "shape": {"kind": "triangle_mesh", "mesh": "m"}},
           {"kind": "rigid", "shape": {"kind": "convex_hull", "mesh": "m"}}]})"},
      {shape(R"("kind": "heightfield", "columns": 2, "rows": 3, "heights": [0, 1, 0, 1, 0, 1])")},
      {shape(R"("kind": "plane", "normal": [1, 1, 0], "offset": 3)")},
      {shape(R"("kind": "compound", "parts": [{"shape": {"kind": "box"}, "position": [0, 1, 0]},
                {"shape": {"kind": "sphere"}, "rotation": [0, 0, 0, 1]}])",
             "dynamic")},
      {repeated(R"("kind": "grid", "count": [2, 3, 4], "spacing": [1, 1, 1], "jitter": 0.1, "tilt_degrees": 5,
                   "color_jitter": 0.1, "seed": 9)")},
      {repeated(R"("kind": "line", "count": 3, "step": [1, 0, 0])")},
      {repeated(R"("kind": "ring", "count": 3, "radius": 2, "axis": [0, 0, 1], "from_degrees": 10, "to_degrees": 90,
                   "turn": false)")},
      {repeated(R"("kind": "pyramid", "layers": 4, "spacing": [1, 1, 1], "flat": true)")},
      {repeated(R"("kind": "wall", "columns": 4, "rows": 3, "spacing": [1, 1, 1])")},
      {joint(R"("kind": "ball", "a": "x", "b": "y", "anchor": [1, 0, 0], "break_force": 10, "bodies_collide": true)")},
      {joint(R"("kind": "hinge", "name": "h", "b": "y", "axis": [0, 1, 0], "limit_degrees": [-90, 90],
                "motor": {"speed": 1, "strength": 5}, "anchor_offset": [0, 1, 0])")},
      {joint(R"("kind": "slider", "a": "x", "axis": [0, 1, 0], "limit": [0, 1], "motor": {"speed": -1})")},
      {joint(R"("kind": "fixed", "a": "x", "b": "y")")},
      {joint(R"("kind": "ball", "chain": "link")")},
      {joint(R"("kind": "ball", "b": "link[*]", "anchor_offset": [0, 1, 0])")},
      {motion(R"("keyframes": [{"time": 0}, {"time": 1, "position": [0, 1, 0]}, {"time": 2, "position": [0, 0, 0],
                 "rotation": [0, 0, 0, 1]}], "interpolation": "smooth", "loop": true)")},
      {motion(R"("keyframes": [{"time": 0.5, "position": [0, 1, 0]}], "relative": true, "interpolation": "ease")")},
      {motion(R"("velocities": [{"time": 0, "velocity": [1, 0, 0]}, {"time": 1, "angular_velocity": [0, 9, 0]}])")},
      {motion(R"("keyframes": [{"time": 0, "rotation": {"axis": [0, 1, 0], "degrees": 0}},
                 {"time": 1, "rotation": {"axis": [0, 1, 0], "degrees": 120}},
                 {"time": 2, "rotation": {"axis": [0, 2, 0], "degrees": 240}},
                 {"time": 3, "rotation": {"axis": [0, -1, 0], "degrees": -360}}],
                 "velocities": [{"time": 3, "velocity": [1, 0, 0]}])")},
      {event(R"("kind": "force", "from": 0, "to": 1, "body": "x", "force": [1, 0, 0], "point": [0, 1, 0],
                "torque": [0, 0, 1])")},
      {event(R"("kind": "impulse", "at": 0, "body": "x", "impulse": [1, 0, 0], "angular_impulse": [1, 0, 0])")},
      {event(R"("kind": "explosion", "at": 2.5, "center": [0, 0, 0], "radius": 3, "impulse_per_area": 10)")},
      {event(R"("kind": "motor", "at": 1, "joint": "h", "speed": 2, "strength": 3)")},
      {event(R"("kind": "remove", "at": 1, "joint": "h")")},
      {event(R"("kind": "remove", "at": 1, "body": "x")")},
      {R"({"bodies": [{"kind": "ground"}], "camera": {"from": [1, 2, 3], "look_at": [0, 0, 0], "up": [0, 1, 0],
           "fov_degrees": 60, "orbit_degrees_per_second": -3, "follow": "ground"}, "lights": [
           {"kind": "sun", "direction": [0, -1, 0], "shadows": false}, {"kind": "point", "position": [0, 9, 0]},
           {"kind": "ambient", "color": "#ffffff", "intensity": 0.2}]})"},
      {R"({"world": {"wind": [5, 0, 0]}})"},
      {cloth("")},
      {cloth(R"("material": "silk", "thickness": 0.01, "self_collision": false, "drag": 1.2, "pressure": 0,
               "held": [{"name": "hem", "nodes": {"half_space": {"normal": [-1, 0, 0], "offset": 0.49}}}])")},
      {cloth(R"("material": {"base": "canvas", "density": 0.3, "bend_stiffness": 0, "shear_stiffness": 0,
               "stretch_stiffness": 1e4, "damping": 0})")},
      {bodies(R"({"kind": "cloth", "shape": {"kind": "sheet", "width": 2, "length": 3, "cells_x": 4, "cells_z": 1}})")},
      {R"({"meshes": {"m": {"kind": "sphere"}}, "bodies": [{"kind": "cloth", "pressure": 100, "surface": "m",
           "shape": {"kind": "mesh", "mesh": "m", "scale": 0.5},
           "repeat": {"kind": "line", "count": 2, "step": [2, 0, 0]}}]})"},
      {rope("")},
      {rope(R"("segment": 0.2, "radius": 0.02, "self_collision": true, "material": {"density": 1, "bend_stiffness": 0.1,
              "stretch_stiffness": 1e5, "damping": 0})")},
      {jelly(R"("method": "shape_matching", "density": 500, "young_modulus": 1e4, "damping": 2, "thickness": 0.01,
               "carry": false)")},
      {layered(R"({"torus": [0.5, 0.2], "segments": 24, "rows": 12, "ridges": {"count": 6, "depth": 0.02}})",
               R"("thickness": 0.05, "parts": [{"nodes": {"box": [[-1, -1, 0], [1, 1, 1]]}, "stiffness": 0.1,
                  "density": 2, "thickness": 0.9, "color": "#ff8800"}], "core_density": 800, "springs": [{"point": [0, 0, 0],
                  "place": [0, 1, 0], "stiffness": 100, "damping": 1}], "tolerance": 0.01, "max_iterations": 50,
                  "repeat": {"kind": "line", "count": 2, "step": [2, 0, 0]})")},
      {layered(R"({"sphere": 0.3, "segments": 16})", R"("core_is_fixed": true)")},
      {layered(
          R"({"heightfield": {"kind": "heightfield", "columns": 3, "rows": 2, "heights": [0, 0, 0.1, 0, 0, 0]}})")},
      {R"({"meshes": {"m": {"kind": "box", "size": [1, 1, 1]}, "h": {"kind": "head", "size": 1, "cell": 0.04}},
           "bodies": [{"kind": "layered", "material": "foam", "thickness": 0.1,
                       "surface": {"mesh": "m", "resolution": 24, "charts": "automatic", "crease_angle": 30}}]})"},
      {anchored(R"("name": "a", "body": "r", "nodes": "all", "break_force": 10)",
                R"(, "events": [{"kind": "remove", "at": 1, "anchor": "a"},
                    {"kind": "node_force", "from": 0, "to": 1, "body": "r", "force": [0, 1, 0]}],
                    "motions": [{"body": "r", "held": "end", "keyframes": [{"time": 0}]}])")},
      {anchored(R"("body": "s[*]", "nodes": {"nearest": {"point": [0, 0, 0]}}, "to": "post")")},
      {anchored(R"("body": "r", "nodes": {"list": [0]}, "to": "peg[*]")")},
      {anchored(R"("body": "r", "nodes": {"list": [0]}, "to": "s[0]", "break_force": 5)")},
      {anchored(R"("body": "r", "nodes": {"list": [0]}, "to": "r", "to_nodes": {"list": [20]})")},
      {R"({"bodies": [{"kind": "rope", "closed": true, "path": [[0, 0, 0], [1, 0, 0], [0, 1, 0]],
           "material": {"strength": 50}}]})"},
      {R"({"bodies": [{"kind": "cloth", "shape": {"kind": "sheet"}, "outside_pressure": 0,
           "material": {"base": "silk", "strength": 200}}]})"}};
  return scenes;
}

const std::vector<CorpusScene>& bad_scenes() {
  static const std::vector<CorpusScene> scenes = {
      {"[]", "s.json:1: expected an object, found an array"},
      {R"({"titel": "x"})", "s.json:1: titel: unknown field `titel`; did you mean `title`?"},
      {R"({"frames": 0})", "s.json:1: frames: 0 is not allowed; it must be between 1 and 10000000"},
      {R"({"frames": 1.5})", "s.json:1: frames: 1.5 is not allowed; it must be a whole number"},
      {R"({"title": 7})", "s.json:1: title: expected a string, found a number"},
      {R"({"world": {"dt": 0}})", "s.json:1: world.dt: 0 is not allowed; it must be between 1e-06 and 1"},
      {R"({"world": {"dt": 1e-9}})", "s.json:1: world.dt: 1e-09 is not allowed; it must be between 1e-06 and 1"},
      {R"({"world": {"dt": "fast"}})", "s.json:1: world.dt: expected a number, found a string"},
      {R"({"world": {"threads": 2}})", "s.json:1: world.threads: unknown field `threads`"},
      {R"({"world": {"gravity": [0, -9.81]}})",
       "s.json:1: world.gravity: expected an array of 3 numbers, found 2 elements"},
      {R"({"world": {"gravity": [0, true, 0]}})", "s.json:1: world.gravity[1]: expected a number, found true or false"},
      {R"({"world": {"gravity": [0, -1e300, 0]}})",
       "s.json:1: world.gravity[1]: -1e+300 is not allowed; it must be between -3.4028234663852886e+38 and "
       "3.4028234663852886e+38"},
      {R"({"world": null})", "s.json:1: world: expected an object, found null"},
      {R"({"materials": {"goo": {"density": -1}}})",
       "s.json:1: materials.goo.density: -1 is not allowed; it must be greater than 0"},
      {R"({"materials": {"goo": {"restitution": 1.5}}})",
       "s.json:1: materials.goo.restitution: 1.5 is not allowed; it must be between 0 and 1"},
      {R"({"materials": {"goo": {"color": "red"}}})",
       "s.json:1: materials.goo.color: `red` is not a colour; it must be like \"#ffa040\""},
      {R"({"materials": {"goo": {"color": [1, 1, 2]}}})",
       "s.json:1: materials.goo.color[2]: 2 is not allowed; it must be between 0 and 1"},
      {R"({"meshes": {"m": {"kind": "cube"}}})",
       "s.json:1: meshes.m.kind: there is no mesh of kind `cube`; there are "
       "`file`, `box`, `sphere`, `cylinder`, `capsule`, `cone`, `torus`, "
       "`teapot`, `grid`, `gear`, `pumpkin`, `tire`, `head` and `terrain`"},
      {R"({"meshes": {"m": {"kind": "sphere", "segments": 2}}})",
       "s.json:1: meshes.m.segments: 2 is not allowed; it must be between 3 and 1024"},
      {R"({"meshes": {"m": {"kind": "file"}}})", "s.json:1: meshes.m: the field `path` is missing"},
      {bodies(R"({"kind": "fluid"})"),
       "s.json:1: bodies[0].kind: there is no body of kind `fluid`; there are `ground`, `rigid`, `solid`, `cloth`, "
       "`rope`, `jelly` and `layered`"},
      {bodies(R"({"shape": {"kind": "box"}})"),
       "s.json:1: bodies[0]: the field `kind` is missing; a body is `ground`, `rigid`, `solid`, `cloth`, `rope`, "
       "`jelly` or `layered`"},
      {bodies("7"), "s.json:1: bodies[0]: expected an object, found a number"},
      {bodies(R"({"kind": "rigid"})"), "s.json:1: bodies[0]: the field `shape` is missing"},
      {bodies(R"({"kind": "ground"},)"
              "\n"
              R"({"kind": "ground"}, {"kind": "rigid", "shape": {"kind": "box"}},
                 {"kind": "rigid", "shape": {"kind": "sphere",)"
              "\n"
              R"("radius": -1}})"),
       "s.json:4: bodies[3].shape.radius: -1 is not allowed; it must be greater than 0"},
      {rigid(R"("positon": [0, 0, 0])"),
       "s.json:1: bodies[0].positon: unknown field `positon`; did you mean `position`?"},
      {rigid(R"("mass": -2)"), "s.json:1: bodies[0].mass: -2 is not allowed; it must be greater than 0"},
      {rigid(R"("mass": 0)"), "s.json:1: bodies[0].mass: 0 is not allowed; it must be greater than 0"},
      {rigid(R"("motion": "dynamik")"),
       "s.json:1: bodies[0].motion: `dynamik` is not allowed; it must be `dynamic`, `kinematic` or `static`; did you "
       "mean `dynamic`?"},
      {rigid(R"("rotation": [0, 0, 0])"),
       "s.json:1: bodies[0].rotation: expected an array of 4 numbers, found 3 elements"},
      {rigid(R"("rotation": 45)"),
       "s.json:1: bodies[0].rotation: expected a quaternion [x, y, z, w] or {\"axis\": [x, "
       "y, z], \"degrees\": a}, found a number"},
      {rigid(R"("rotation": [0, 0, 0, 0])"),
       "s.json:1: bodies[0].rotation: the quaternion has no direction; it must be of length 1", false},
      {rigid(R"("rotation": {"axis": [0, 0, 0], "degrees": 1})"),
       "s.json:1: bodies[0].rotation.axis: the direction has no length; it must have at least one number other than 0",
       false},
      {rigid(R"("filter": {"category": 65536})"),
       "s.json:1: bodies[0].filter.category: 65536 is not allowed; it must be between 0 and 65535"},
      {rigid(R"("name": "")"), "s.json:1: column 83: the member `name` stands twice in the object that ends here",
       false},
      {rigid(R"("material": "wod")"), "s.json:1: bodies[0].material: there is no material `wod`; did you mean `wood`?",
       false},
      {bodies(R"({"kind": "rigid", "name": "x", "shape": {"kind": "box"}},
                 {"kind": "rigid", "name": "x", "shape": {"kind": "box"}})"),
       "s.json:2: bodies[1]: there is already a body `x`; names must be unique", false},
      {shape(R"("kind": "box", "size": [1, 0, 1])"),
       "s.json:1: bodies[0].shape.size[1]: 0 is not allowed; it must be greater than 0"},
      {shape(R"("kind": "plane")", "dynamic"),
       "s.json:1: bodies[0].shape: a plane is for static bodies only; set \"motion\": \"static\"", false},
      {shape(R"("kind": "heightfield", "columns": 2, "rows": 2, "heights": [1, 2, 3])"),
       "s.json:1: bodies[0].shape.heights: expected 4 numbers (2 columns by 2 rows), found 3", false},
      {shape(R"("kind": "triangle_mesh", "mesh": "m")"),
       "s.json:1: bodies[0].shape.mesh: there is no mesh `m` among the scene's meshes", false},
      {shape(R"("kind": "convex_hull")"), "s.json:1: bodies[0].shape: a convex hull needs either `points` or `mesh`"},
      {shape(R"("kind": "compound", "parts": [{"shape": {"kind": "sphere", "radius": 0}}])"),
       "s.json:1: bodies[0].shape.parts[0].shape.radius: 0 is not allowed; it must be greater than 0"},
      {repeated(R"("kind": "grid", "count": [1000, 1000, 1], "spacing": [1, 1, 1])"),
       "s.json:1: bodies[0].repeat: that makes 1000000 bodies; a scene may have at most 100000", false},
      {repeated(R"("kind": "grid", "count": [2, 2], "spacing": [1, 1, 1])"),
       "s.json:1: bodies[0].repeat.count: expected an array of 3 whole numbers"},
      {repeated(R"("kind": "line", "count": -1, "step": [1, 0, 0])"),
       "s.json:1: bodies[0].repeat.count: -1 is not allowed; it must be between 1 and 1000000000"},
      {joint(R"("kind": "ball", "a": "z", "anchor": [0, 0, 0])"), "s.json:5: joints[0].a: there is no body `z`", false},
      {joint(R"("kind": "ball", "anchor": [0, 0, 0])"),
       "s.json:5: joints[0]: a joint needs `a`, `b` or both, or else `chain`"},
      {joint(R"("kind": "hinge", "b": "x")"), "s.json:5: joints[0]: the field `axis` is missing"},
      {joint(R"("kind": "hinge", "b": "x", "axis": [0, 1, 0], "limit_degrees": [90, -90])"),
       "s.json:5: joints[0].limit_degrees: the lower limit 90 is above the upper limit -90", false},
      {joint(R"("kind": "slider", "b": "x", "axis": [0, 1, 0], "limit": [1])"),
       "s.json:5: joints[0].limit: expected an array of 2 numbers, [lower, upper]"},
      {joint(R"("kind": "ball", "b": "x", "break_force": 0)"),
       "s.json:5: joints[0].break_force: 0 is not allowed; it must be greater than 0"},
      {motion(R"("keyframes": [])"), "s.json:2: motions[0].keyframes: a motion needs at least one keyframe"},
      {motion(R"("keyframes": [{"time": 1}, {"time": 1}])"),
       "s.json:2: motions[0].keyframes[1].time: 1 is not later than the keyframe before, at 1", false},
      {motion(R"("keyframes": [{"time": 0, "position": [0, 0, 0]}, {"time": 1, "position": [1, 0, 0]}], "loop": true)"),
       "s.json:2: motions[0].keyframes[1]: the last keyframe of a loop must repeat the place of the first, or the body "
       "would jump",
       false},
      {motion(R"("loop": false)"), "s.json:2: motions[0]: a motion needs `keyframes` or `velocities`"},
      {motion(R"("velocities": [{"time": 1}, {"time": 1}])"),
       "s.json:2: motions[0].velocities[1].time: 1 is not later than what comes before, at 1", false},
      {motion(R"("keyframes": [{"time": 2}], "velocities": [{"time": 1}])"),
       "s.json:2: motions[0].velocities[0].time: 1 is not later than what comes before, at 2", false},
      {motion(R"("keyframes": [{"time": 0}, {"time": 1, "rotation": {"axis": [0, 1, 0], "degrees": 720}}])"),
       "s.json:2: motions[0].keyframes[1].rotation: 720 degrees are 720 from the keyframe before; less than half a "
       "turn "
       "is needed, or it would go the shorter way round: put keyframes between them",
       false},
      {motion(R"("keyframes": [{"time": 0, "rotation": {"axis": [0, 1, 0], "degrees": 100}},
                 {"time": 1, "rotation": {"axis": [0, -3, 0], "degrees": 100}}])"),
       "s.json:2: motions[0].keyframes[1].rotation: 100 degrees are 200 from the keyframe before; less than half a "
       "turn "
       "is needed, or it would go the shorter way round: put keyframes between them",
       false},
      {motion(R"("keyframes": [{"time": 0, "rotation": [0, 0, 0, 1]}, {"time": 1, "rotation": [0, 1, 0, 0]}])"),
       "s.json:2: motions[0].keyframes[1]: half a turn from the keyframe before could go either way round; put a "
       "keyframe "
       "between them",
       false},
      {R"({"bodies": [{"kind": "rigid", "name": "x", "shape": {"kind": "box"}}],
           "motions": [{"body": "x", "keyframes": [{"time": 0}]}]})",
       "s.json:2: motions[0].body: `x` is not kinematic; set its \"motion\" to \"kinematic\"", false},
      {event(R"("kind": "force", "from": 2, "to": 1, "body": "x")"),
       "s.json:2: events[0]: `to` (1) must be later than `from` (2)", false},
      {event(R"("kind": "impulse", "at": -1, "body": "x")"),
       "s.json:2: events[0].at: -1 is not allowed; it must be between 0 and 1000000000"},
      {event(R"("kind": "motor", "at": 1, "joint": "g", "speed": 2)"),
       "s.json:2: events[0].joint: there is no joint `g`", false},
      {event(R"("kind": "remove", "at": 1)"),
       "s.json:2: events[0]: say either the `body`, the `joint` or the `anchor` to remove"},
      {event(R"("kind": "boom", "at": 1)"),
       "s.json:2: events[0].kind: there is no event of kind `boom`; there are `force`, `node_force`, `pressure`, "
       "`traction`, `impulse`, `explosion`, `motor` and `remove`"},
      {cloth(R"("material": "slik")"),
       "s.json:1: bodies[0].material: there is no cloth material `slik`; did you mean `silk`?", false},
      {cloth(R"("material": {"stretch_stifness": 1})"),
       "s.json:1: bodies[0].material.stretch_stifness: unknown field `stretch_stifness`; did you mean "
       "`stretch_stiffness`?"},
      {cloth(R"("material": {"density": 0})"),
       "s.json:1: bodies[0].material.density: 0 is not allowed; it must be greater than 0"},
      {cloth(R"("thickness": -1)"), "s.json:1: bodies[0].thickness: -1 is not allowed; it must be greater than 0"},
      {cloth(R"("pressure": 100)"), "s.json:1: bodies[0].pressure: a sheet holds no gas: pressure needs a closed mesh",
       false},
      {cloth(R"("surface": "m")"), "s.json:1: bodies[0].surface: there is no mesh `m` among the scene's meshes", false},
      {bodies(R"({"kind": "cloth"})"), "s.json:1: bodies[0]: the field `shape` is missing"},
      {bodies(R"({"kind": "cloth", "shape": {"kind": "sheet", "cells_x": 5000}})"),
       "s.json:1: bodies[0].shape.cells_x: 5000 is not allowed; it must be between 1 and 4000"},
      {bodies(R"({"kind": "cloth", "shape": {"kind": "box"}})"),
       "s.json:1: bodies[0].shape.kind: there is no cloth shape of kind `box`; there are `sheet`, `mesh` and `woven`"},
      {cloth(R"("repeat": {"kind": "line", "count": 99999, "step": [1, 0, 0]})"),
       "s.json:1: bodies[0]: 99999 copies of 441 nodes are more than 20000000", false},
      {bodies(R"({"kind": "rope", "path": [[0, 0, 0]]})"),
       "s.json:1: bodies[0].path: a rope needs at least two points, found 1"},
      {rope(R"("segment": 0)"), "s.json:1: bodies[0].segment: 0 is not allowed; it must be greater than 0"},
      {rope(R"("segment": 1e-12)"), "s.json:1: bodies[0]: 1 copies of 1000000000000 nodes are more than 20000000",
       false},
      {rope(R"("material": "hemp")"), "s.json:1: bodies[0].material: expected an object, found a string"},
      {jelly(R"("method": "shapematching")"),
       "s.json:1: bodies[0].method: `shapematching` is not allowed; it must be `mass_spring`, `position_based` or "
       "`shape_matching`; did you mean `shape_matching`?"},
      {layered(R"({"sphere": -1})"),
       "s.json:1: bodies[0].surface.sphere: -1 is not allowed; it must be greater than 0"},
      {layered(R"({"sphere": 1, "torus": [1, 0.2]})"),
       "s.json:1: bodies[0].surface: exactly one of `torus`, `cylinder`, `sphere`, `mesh` and `heightfield` is "
       "needed, found 2",
       false},
      {layered(R"({"heightfield": {"kind": "box"}})"),
       "s.json:1: bodies[0].surface.heightfield: a shape of the kind `heightfield` or `terrain` is needed", false},
      {layered(R"({"mesh": "m"})"), "s.json:1: bodies[0].surface.mesh: there is no mesh `m` among the scene's meshes",
       false},
      {R"({"meshes": {"g": {"kind": "grid"}},
           "bodies": [{"kind": "layered", "material": "foam", "surface": {"mesh": "g", "resolution": 24}}]})",
       "s.json:2: bodies[0].surface.mesh: the mesh is open: 40 edges around 1 holes have one face only, the first from "
       "(-0.5, 0, -0.5) to (-0.4, 0, -0.5): mend it, or ask for `fill`, which takes the surface of a lattice in it",
       false},
      {layered(R"({"sphere": 1, "charts": "mine"})"),
       "s.json:1: bodies[0].surface.charts: `mine` is not allowed; it must be `given` or `automatic`"},
      {layered(R"({"sphere": 1})", R"("thickness_map": {"path": "no.png", "range": [0.1, 1]})"),
       "s.json:1: bodies[0].thickness_map: no.png: does not exist; check the name and the folder it is relative to",
       false},
      {layered(R"({"sphere": 1})", R"("stiffness_map": {"path": "no.png", "range": [0, 1]})"),
       "s.json:1: bodies[0].stiffness_map.range[0]: 0 is not allowed; it must be greater than 0"},
      {layered(R"({"sphere": 1, "rows": 4})"),
       "s.json:1: bodies[0].surface.rows: this is for `torus` and `cylinder`, and does nothing for `sphere`", false},
      {layered(R"({"sphere": 1, "resolution": 40})"),
       "s.json:1: bodies[0].surface.resolution: this is for `mesh`, and does nothing for `sphere`", false},
      {R"({"meshes": {"m": {"kind": "box", "size": [1, 1, 1]}},
           "bodies": [{"kind": "layered", "material": "foam", "surface": {"mesh": "m", "fill": true}}]})",
       "s.json:2: bodies[0].surface.fill: this needs a `resolution`: without one the mesh's vertices are the nodes",
       false},
      {layered(R"({"torus": [0.2, 0.2]})"),
       "s.json:1: bodies[0].surface.torus: the tube must be thinner than the ring it is bent into", false},
      {layered(R"({"torus": [0.5, 0.2], "rows": 2})"),
       "s.json:1: bodies[0].surface.rows: a torus needs rows of at least 3, not 2", false},
      {layered(R"({"sphere": 1})", R"("parts": [{"nodes": "all"}, {"nodes": {"box": [[5, 5, 5], [6, 6, 6]]}}])"),
       "s.json:1: bodies[0].parts[1].nodes: the selection holds no node; at rest, in the body's own frame, the nodes "
       "lie between (-1, -1, -1) and (1, 1, 1)",
       false},
      {bodies(R"({"kind": "layered", "surface": {"sphere": 1}, "material": {"strength": 5}})"),
       "s.json:1: bodies[0].material.strength: layers are linear, have no grain and do not break: leave it out", false},
      {layered(R"({"sphere": 1})", R"("springs": [{"stiffness": 5}])"),
       "s.json:1: bodies[0].springs[0]: the field `place` is missing"},
      {R"({"bodies": [{"kind": "layered", "name": "l", "material": "foam", "surface": {"sphere": 1}}],
           "motions": [{"body": "l", "keyframes": [{"time": 0}]}]})",
       "s.json:2: motions[0].body: `l` is layered and moves by forces: hold its core by `springs`, or fix it by "
       "\"core_is_fixed\"",
       false},
      {layered(R"({"sphere": 1})", R"("springs": [{"place": [0, 1, 0], "stiffness": -2}])"),
       "s.json:1: bodies[0].springs[0].stiffness: -2 is not allowed; it must be at least 0"},
      {bodies(R"({"kind": "layered", "material": "foam"})"), "s.json:1: bodies[0]: the field `surface` is missing"},
      {anchored(R"("body": "t", "nodes": "all")"), "s.json:5: anchors[0].body: there is no body `t`", false},
      {anchored(R"("body": "r")"), "s.json:5: anchors[0]: the field `nodes` is missing"},
      {anchored(R"("body": "post", "nodes": "all")"),
       "s.json:5: anchors[0].body: `post` is not a cloth, rope or jelly: only their nodes can be anchored", false},
      {anchored(R"("body": "r", "nodes": "all", "to": "post", "to_nodes": "all")"),
       "s.json:5: anchors[0].to_nodes: only a cloth, rope or jelly has nodes to choose from", false},
      {anchored(R"("body": "r", "nodes": "all", "to_nodes": "all")"),
       "s.json:5: anchors[0].to_nodes: only a cloth, rope or jelly has nodes to choose from", false},
      {rope(R"("closed": true)"), "s.json:1: bodies[0].path: a closed rope needs at least three points", false},
      {rope(R"("material": {"strength": 0})"),
       "s.json:1: bodies[0].material.strength: 0 is not allowed; it must be greater than 0"},
      {anchored(R"("body": "s[*]", "nodes": "all", "to": "peg[*]")"),
       "s.json:5: anchors[0]: `body` stands for 2 bodies and `to` for 3; they must be as many, or one of them one",
       false},
      {anchored(R"("body": "r", "nodes": "all", "break_force": 0)"),
       "s.json:5: anchors[0].break_force: 0 is not allowed; it must be greater than 0"},
      {anchored(R"("name": "a", "body": "r", "nodes": "all"}, {"name": "a", "body": "r", "nodes": "all")"),
       "s.json:5: anchors[1]: there is already an anchor `a`; names must be unique", false},
      {anchored(R"("name": "a", "body": "r", "nodes": "all")",
                R"(, "events": [{"kind": "remove", "at": 1, "anchor": "b"}])"),
       "s.json:5: events[0].anchor: there is no anchor `b`", false},
      {anchored(R"("body": "r", "nodes": "all")",
                R"(, "events": [{"kind": "pressure", "from": 0, "to": 1, "body": "r", "pressure": 1}])"),
       "s.json:5: events[0]: `r` is a rope: it has no surface to press on", false},
      {anchored(R"("body": "r", "nodes": "all")",
                R"(, "events": [{"kind": "traction", "from": 0, "to": 1, "body": "r", "traction": [1, 0, 0]}])"),
       "s.json:5: events[0]: `r` is a rope: it has no surface to press on", false},
      {anchored(R"("body": "r", "nodes": "all")",
                R"(, "events": [{"kind": "node_force", "from": 0, "to": 1, "body": "post", "force": [0, 1, 0]}])"),
       "s.json:5: events[0]: `post` is rigid: it has no nodes", false},
      {anchored(R"("body": "r", "nodes": "all")", R"(, "motions": [{"body": "s[0]", "keyframes": [{"time": 0}]}])"),
       "s.json:5: motions[0].body: `s[0]` is a rope without held nodes, and only these can be moved so", false},
      {anchored(R"("body": "r", "nodes": "all")", R"(, "joints": [{"kind": "ball", "a": "r", "b": "post"}])"),
       "s.json:5: joints[0].a: `r` is not rigid: joints join rigid bodies; tie nodes by `anchors`", false},
      {R"({"camera": {"fov_degrees": 180}})",
       "s.json:1: camera.fov_degrees: 180 is not allowed; it must be between 1 and 170"},
      {R"({"lights": [{"kind": "sun", "position": [0, 0, 0]}]})",
       "s.json:1: lights[0].position: unknown field `position`"}};
  return scenes;
}

}  // namespace pliant
