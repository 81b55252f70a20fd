"""Bad input through the real binary: a clear message with file and field, exit code 1, and nothing on the disk."""
import json
import os

from command_support import FALLING, CommandTest, main


def scene(**changes):
    return dict(FALLING, **changes)


def body(**fields):
    return {"bodies": [dict({"kind": "rigid", "shape": {"kind": "box"}}, **fields)]}


class BadScenes(CommandTest):
    def refuse(self, content, *expected, name="bad.json"):
        """`run` and `check` both refuse the scene; all of `expected` stands in the message; earlier outputs stay."""
        if content is not None:
            self.write(name, content)
        self.write("out.glb", "earlier recording")
        self.write("stats.json", "earlier statistics")
        before = self.names()
        for command in [["check", name],
                        ["run", name, "--record", "out.glb", "--stats", "stats.json", "--trace", "trace.json"],
                        ["run", name, "--record", "folder"]]:
            err = self.fail_with(1, *command, timeout=60)
            for text in expected:
                self.assertIn(text, err, command)
            self.assertLess(len(err), 20000)
        self.assertEqual(self.names(), before)
        self.assertEqual(self.read("out.glb"), b"earlier recording")
        self.assertEqual(self.read("stats.json"), b"earlier statistics")

    def test_missing_file(self):
        self.refuse(None, "error: nowhere.json", name="nowhere.json")

    def test_folder_instead_of_a_file(self):
        os.mkdir(self.path("folder.json"))
        self.refuse(None, "error: folder.json", name="folder.json")

    def test_empty_file(self):
        self.refuse("", "error: bad.json:1: ")

    def test_truncated_files(self):
        text = json.dumps(FALLING, indent=1)
        for share in [0.1, 0.5, 0.9]:
            self.refuse(text[:int(share * len(text))], "error: bad.json:")

    def test_syntax_error_has_line_and_column(self):
        self.refuse('{\n "frames": 3,\n "bodies": [}\n}', "error: bad.json:3: column 13: ")

    def test_not_a_number(self):
        for word in ["NaN", "nan", "Infinity", "-Infinity", "1e999", "inf"]:
            self.refuse('{"world": {"dt": %s}}' % word, "error: bad.json:1: column ")

    def test_numbers_too_large_for_the_engine(self):
        self.refuse(body(position=[1e300, 0, 0]), "bodies[0].position[0]: 1e+300 is not allowed")

    def test_negative_masses(self):
        self.refuse(body(mass=-2), "bad.json:1: bodies[0].mass: -2 is not allowed; it must be greater than 0")
        self.refuse(body(density=-1), "bodies[0].density: -1 is not allowed")
        self.refuse(body(mass_properties={"mass": 0, "inertia": [1, 1, 1]}), "bodies[0].mass_properties.mass: 0")

    def test_impossible_inertia(self):
        self.refuse(body(mass_properties={"mass": 1, "inertia": [[1, 5, 0], [5, 1, 0], [0, 0, 1]]}),
                    "bad.json:1: bodies[0]")

    def test_shapes_of_no_size(self):
        self.refuse(body(shape={"kind": "box", "size": [1, 0, 1]}), "bodies[0].shape.size[1]: 0 is not allowed")
        self.refuse(body(shape={"kind": "sphere", "radius": 0}), "bodies[0].shape.radius: 0 is not allowed")
        flat = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]
        self.refuse(body(shape={"kind": "convex_hull", "points": flat}), "bad.json:1: bodies[0].shape")
        self.refuse(body(shape={"kind": "convex_hull", "points": [[0, 0, 0]] * 9}), "bad.json:1: bodies[0].shape")

    def test_unknown_fields(self):
        self.refuse(body(positon=[0, 0, 0]), "bodies[0].positon: unknown field `positon`; did you mean `position`?")

    def test_bad_solids(self):
        box = {"box": [1, 1, 1], "cell": 0.5}

        def solid(**fields):
            return {"bodies": [{"kind": "solid", "name": "s", "mesh": box, "material": "rubber", **fields}]}

        self.refuse(solid(mesh={"box": [1, 1, 1]}), "bodies[0].mesh: ", "`cell`")
        self.refuse(solid(mesh={"box": [1, 1, 1], "sphere": 1, "cell": 0.5}), "bodies[0].mesh: exactly one of ")
        self.refuse(solid(mesh={"file": "nowhere.obj"}), "nowhere.obj")
        self.refuse(solid(mesh={"box": [1, 1, 1], "cell": 1e-6}), "bodies[0].mesh")
        self.refuse(solid(material="ruber"), "bodies[0].material: ", "`ruber`", "`rubber`")
        self.refuse(solid(material={"poisson_ratio": 0.5}), "bodies[0].material.poisson_ratio: ")
        self.refuse(solid(material={"young_modulus": -1}), "bodies[0].material.young_modulus: ")
        self.refuse(solid(held=[{"nodes": {"set": "end"}}]), "held[0].nodes", "end")
        self.refuse(solid(held=[{"nodes": {}}]), "bodies[0].held[0].nodes: exactly one of ")
        self.refuse(solid(held=[{"nodes": {"box": [[5, 5, 5], [6, 6, 6]]}}]), "held[0].nodes", "no node")
        scene = solid()
        scene["motions"] = [{"body": "s", "keyframes": [{"time": 0}]}]
        self.refuse(scene, "motions[0].body: ", "held")
        scene = solid()
        scene["events"] = [{"kind": "pressure", "from": 2, "to": 1, "body": "s", "pressure": 1}]
        self.refuse(scene, "events[0]", "later")
        for nodes, message in (({"box": [[5, 5, 5], [6, 6, 6]]}, "no node"), ({"set": "end"}, "`end`"),
                               ({"list": [100000]}, "node 100000 does not exist")):
            scene["events"] = [{"kind": "node_force", "from": 0, "to": 1, "body": "s", "force": [0, 1, 0],
                                "nodes": nodes}]
            self.refuse(scene, "events[0].nodes: ", message)
        scene["events"] = [{"kind": "pressure", "from": 0, "to": 1, "body": "s", "pressure": 1,
                            "nodes": {"list": [0, 1]}}]
        self.refuse(scene, "events[0].nodes: ", "no whole triangle")

    def test_unknown_kinds(self):
        self.refuse({"bodies": [{"kind": "fluid"}]}, "bodies[0].kind: ", "`fluid`", "`cloth`, `rope`, `jelly` and `layered`")

    def test_wrong_types(self):
        self.refuse(scene(frames="many"), "frames: expected a whole number, found a string")
        self.refuse(scene(bodies={}), "bodies: expected an array of bodies, found an object")
        self.refuse(body(position="here"), "bodies[0].position: expected an array of 3 numbers, found a string")
        self.refuse(body(continuous=1), "bodies[0].continuous: expected true or false, found a number")
        self.refuse("null", "expected an object, found null")

    def test_many_errors_at_once(self):
        self.write("bad.json", {"bodies": [{"kind": "rigid", "shape": {"kind": "sphere", "radius": -i}}
                                           for i in range(100)]})
        err = self.fail_with(1, "check", "bad.json")
        self.assertEqual(err.count("error: "), 20)
        self.assertIn("bodies[7].shape.radius: -7 is not allowed", err)

    def test_cyclic_includes(self):
        self.write("a.json", {"include": ["b.json"]})
        self.write("b.json", {"include": ["a.json"]})
        self.refuse(None, "b.json:1: include[0]: ", "a.json -> b.json -> a.json", name="a.json")
        self.refuse({"include": ["bad.json"]}, "bad.json -> bad.json")

    def test_what_was_refused_is_not_said_to_be_missing(self):
        hull = {"kind": "rigid", "name": "r", "shape": {"kind": "convex_hull", "mesh": "m"}, "material": "soap"}
        self.write("bad.json", {
            "meshes": {"m": {"kind": "file", "path": "gone.obj"}},
            "materials": {"soap": {"density": -1}},
            "bodies": [hull, dict(hull, name="copies", repeat={"kind": "line", "count": 2, "step": [1, 0, 0]})],
            "joints": [{"kind": "ball", "a": "r", "b": "copies[1]", "anchor": [0, 0, 0]}],
            "events": [{"kind": "remove", "at": 1, "body": "copies[*]"}]})
        err = self.fail_with(1, "check", "bad.json")
        self.assertIn("meshes.m: gone.obj", err)
        self.assertIn("materials.soap.density: ", err)
        self.assertIn("bodies[0].shape.mesh: the mesh `m` was refused: see the error about it", err)
        self.assertIn("joints[0].a: the body `r` was refused: see the error about it", err)
        self.assertIn("events[0].body: the body `copies[*]` was refused: see the error about it", err)
        self.assertNotIn("there is no", err)

    def test_sheets_too_fine_to_mean_it(self):
        self.refuse({"bodies": [{"kind": "cloth", "shape": {"kind": "sheet", "cells_x": 4000, "cells_z": 4000}}]},
                    "bodies[0].shape.cells_x: 4000 x 4000 cells have 16008001 nodes; a body may have at most 4000000")

    def test_missing_include_and_mesh(self):
        self.refuse({"include": ["gone.json"]}, "bad.json:1: include[0]: ", "gone.json")
        self.refuse({"meshes": {"m": {"kind": "file", "path": "gone.obj"}}}, "bad.json:1: meshes.m: ", "gone.obj")

    def test_broken_meshes(self):
        for name, content in [("m.obj", "v 0 0 0\nv 1 0 0\nf 1 2 3\n"), ("m.obj", "v 0 0 nan\nf 1 1 1\n"),
                              ("m.obj", "v 0 0 inf\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"), ("m.stl", b"\0" * 90),
                              ("m.glb", b"glTF\2\0\0\0\xff\xff\xff\xff"), ("m.msh", "$MeshFormat\n2.2 0 8\n"),
                              ("m.vtk", "# vtk DataFile Version 3.0\nx\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 3"),
                              ("m.obj", ""), ("m.xyz", "1 2 3")]:
            self.write(name, content)
            self.refuse({"meshes": {"m": {"kind": "file", "path": name}}}, "bad.json:1: meshes.m: ", name)

    def test_hundred_megabytes_of_garbage(self):
        with open(self.path("bad.json"), "wb") as f:
            for _ in range(100):
                f.write(os.urandom(1 << 20))
        self.refuse(None, "error: bad.json: ", name="bad.json")
        with open(self.path("bad.json"), "r+b") as f:
            f.truncate(50 << 20)
        self.refuse(None, "error: bad.json:", name="bad.json")

    def test_deep_nesting(self):
        self.refuse("[" * 5000000, "bad.json:1: ", "nested deeper")

    def test_one_million_bodies(self):
        self.refuse(body(repeat={"kind": "grid", "count": [100, 100, 100], "spacing": [2, 2, 2]}),
                    "bad.json:1: bodies[0].repeat: that makes 1000000 bodies; a scene may have at most 100000")
        self.refuse(body(repeat={"kind": "grid", "count": [10**9, 10**9, 10**9], "spacing": [2, 2, 2]}),
                    "bodies[0].repeat: ")
        one = '{"kind":"rigid","shape":{"kind":"box"}}'
        self.refuse('{"bodies":[' + ",".join([one] * 1000000) + "]}", "bad.json:1: bodies")

    def test_things_that_do_not_exist(self):
        self.refuse(dict(FALLING, joints=[{"kind": "ball", "a": "bxo", "anchor": [0, 0, 0]}]),
                    "joints[0].a: there is no body `bxo`; did you mean `box`?")
        self.refuse(dict(FALLING, events=[{"kind": "motor", "at": 1, "joint": "j", "speed": 1}]),
                    "events[0].joint: there is no joint `j`")

    def test_bytes_of_any_kind_in_names(self):
        self.refuse(b'{"\xff\xfe": 1}', "error: bad.json:1: ")
        self.refuse('{"\\u0000\\n\\u001b[31m": 1}', "unknown field `??")


if __name__ == "__main__":
    main()
