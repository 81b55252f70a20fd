"""pliant mesh info, convert, generate, tetrahedralize and atlas."""
import os
import re
import signal
import struct

from command_support import SOURCE, CommandTest, main

TET = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
SOLID = """# vtk DataFile Version 3.0
one tet
ASCII
DATASET UNSTRUCTURED_GRID
POINTS 4 float
0 0 0 2 0 0 0 2 0 0 0 2
CELLS 1 5
4 0 1 2 3
CELL_TYPES 1
10
"""


class Mesh(CommandTest):
    def test_info_of_a_surface(self):
        out = self.succeed("mesh", "info", self.write("t.obj", TET)).stdout
        self.assertIn("4 vertices, 4 faces", out)
        self.assertIn("1 x 1 x 1 m", out)
        self.assertIn("yes, volume 0.166667 m³", out)
        self.assertIn("the surface is valid", out)

    def test_info_of_surfaces_that_are_not_what_they_should_be(self):
        def info(text):
            return self.succeed("mesh", "info", self.write("t.obj", text)).stdout
        inside_out = TET.replace("f 1 3 2", "f 1 2 3").replace("f 1 2 4", "f 1 4 2").replace(
            "f 1 4 3", "f 1 3 4").replace("f 2 3 4", "f 2 4 3")
        out = info(inside_out)
        self.assertIn("closed    yes, volume 0.166667 m³", out)
        self.assertIn("it is inside out", out)
        self.assertNotIn("is valid", out)
        out = info(TET.replace("f 1 3 2", "f 1 2 3"))
        self.assertIn("closed    yes, but which side is inside cannot be told", out)
        self.assertRegex(out, r"neighbours face opposite ways at 3 edges: faces 0 and \d")
        out = info(TET.replace("f 1 3 2\n", ""))
        self.assertIn("closed    no, 3 edges of one face only", out)
        self.assertIn("the surface is valid", out)
        out = info(TET + "f 3 2 1\n")
        self.assertIn("closed    no, 3 edges of more than two faces", out)
        self.assertIn("a face is there twice: face 4 has the vertices of face 0", out)
        self.assertIn("3 faces share it", out)
        # Two triangles back to back have no edge that is wrong.
        out = info("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nf 1 3 2\n")
        self.assertIn("a face is there twice", out)

    def test_info_of_a_solid(self):
        out = self.succeed("mesh", "info", self.write("t.vtk", SOLID)).stdout
        self.assertIn("4 nodes, 1 tet", out)
        self.assertIn("volume    1.33333 m³", out)

    def test_info_tells_problems(self):
        out = self.succeed("mesh", "info", self.write("t.obj", TET + "f 1 1 2\n")).stdout
        self.assertIn("problem", out)
        self.assertIn("face 4", out)

    def test_convert_round_trip(self):
        self.write("t.obj", TET)
        last = "t.obj"
        for name in ["a.glb", "b.stl", "c.vtu", "d.vtk", "e.msh", "f.gltf", "g.obj"]:
            out = self.succeed("mesh", "convert", last, name).stdout
            self.assertIn(f"{name}: 4 faces", out)
            last = name
        self.assertIn("volume 0.166667", self.succeed("mesh", "info", "g.obj").stdout)

    def test_convert_keeps_tets_where_the_format_has_them(self):
        self.write("t.vtk", SOLID)
        for name in ["a.msh", "b.vtu", "c.node"]:
            self.assertIn("1 tet", self.succeed("mesh", "convert", "t.vtk", name).stdout)
        self.assertIn("4 faces", self.succeed("mesh", "convert", "a.msh", "d.obj").stdout)
        self.succeed("mesh", "convert", "t.vtk", "old.msh", "--ascii", "--gmsh-version", "2.2")
        self.assertIn(b"2.2 0 8", self.read("old.msh"))

    def test_splinters_are_objects_that_fill_the_solid(self):
        self.write("t.vtk", SOLID)
        out = self.succeed("mesh", "splinter", "t.vtk", "--kind", "grain", "--size", "0.5", "--out", "s.glb").stdout
        count = int(re.search(r"s.glb: (\d+) splinters", out).group(1))
        self.assertGreater(count, 4)
        self.assertEqual(self.read("s.glb").count(b'"name":"splinter_'), count)
        self.assertIn("volume 1.33333", self.succeed("mesh", "info", "s.glb").stdout)
        for kind in ["wood", "brick", "glass"]:
            self.succeed("mesh", "splinter", "t.vtk", "--kind", kind, "--out", "k.gltf")
        for option in [["--size", "nan"], ["--length", "inf"], ["--size", "0"], ["--grain", "0", "nan", "1"]]:
            self.assertIn("finite number", self.fail_with(2, "mesh", "splinter", "t.vtk", "--out", "n.glb", *option))

    def test_bad_files_leave_nothing_and_harm_nothing(self):
        self.write("out.obj", "earlier")
        for name, content in [("gone.obj", None), ("m.obj", "v 1 2\n"), ("m.obj", "f 1 2 3\n"), ("m.stl", "solid x\nfacet"),
                              ("m.glb", b"glTF" + struct.pack("<II", 2, 4096)), ("m.vtu", "<VTKFile"),
                              ("m.msh", b"\xff" * 1000), ("m.docx", "x"), ("m", "x")]:
            if content is not None:
                self.write(name, content)
            before = self.names()
            self.assertIn(name, self.fail_with(1, "mesh", "info", name))
            self.assertIn(name, self.fail_with(1, "mesh", "convert", name, "out.obj"))
            self.assertEqual(self.names(), before)
            self.assertEqual(self.read("out.obj"), b"earlier")

    def test_places_that_cannot_be_written(self):
        self.write("t.obj", TET)
        for out in ["gone/o.obj", "/proc/o.obj", "o.xyz", "."]:
            self.fail_with(1, "mesh", "convert", "t.obj", out)


# A cube of 2 m whose top and one other triangle are missing, with one face turned round and one twice.
BAD_CUBE = """v -1 -1 -1
v 1 -1 -1
v 1 1 -1
v -1 1 -1
v -1 -1 1
v 1 -1 1
v 1 1 1
v -1 1 1
f 1 4 3 2
f 5 6 7 8
f 1 2 6 5
f 1 5 8 4
f 1 5 8 4
f 2 7 3
f 6 7 2
"""


class Interrupts(CommandTest):
    def test_end_with_130_and_leave_nothing(self):
        self.succeed("mesh", "generate", "duck", "--out", "duck.obj")
        self.write("out.msh", "earlier")
        before = self.names()
        for number in [signal.SIGINT, signal.SIGTERM]:
            for arguments in [["tetrahedralize", "duck.obj", "--cell", "0.006", "--threads", "1", "--out", "out.msh"],
                              ["atlas", "duck.obj", "--resolution", "4096", "--threads", "1", "--out", "out.obj"]]:
                with self.subTest(signal=number, command=arguments[0]):
                    code, err = self.interrupt(number, "mesh", *arguments, when=lambda: True)
                    self.assertEqual(code, 130, err)
                    self.assertIn("interrupted; no output was written", err)
                    self.assertEqual(self.names(), before)
                    self.assertEqual(self.read("out.msh"), b"earlier")


class Tetrahedralize(CommandTest):
    def numbers(self, text, pattern):
        match = re.search(pattern, text)
        self.assertIsNotNone(match, f"{pattern} in\n{text}")
        return [float(g) for g in match.groups()]

    def test_fills_a_surface_and_tells_how_well(self):
        self.write("t.obj", TET)
        out = self.succeed("mesh", "tetrahedralize", "t.obj", "--cell", "0.05", "--out", "t.msh").stdout
        self.assertIn("cell      0.05 m", out)
        volume, enclosed, _ = self.numbers(out, r"volume +([\d.]+) m³, the surface encloses ([\d.]+) m³ \(([-+.\d]+) %\)")
        self.assertAlmostEqual(enclosed, 1 / 6, 5)
        self.assertAlmostEqual(volume, 1 / 6, 2)
        least, most = self.numbers(out, r"angles +([\d.]+) to ([\d.]+) degrees")
        self.assertGreater(least, 10)
        self.assertLess(most, 166)
        self.assertIn("1 piece", out)
        info = self.succeed("mesh", "info", "t.msh").stdout
        self.assertIn("the solid is valid", info)
        (told,) = self.numbers(info, r"volume +([\d.]+) m³")
        self.assertAlmostEqual(told, volume, 5)
        self.assertEqual(self.numbers(info, r"(\d+) nodes, (\d+) tets"), self.numbers(out, r"(\d+) nodes, (\d+) tets"))

    def test_every_format_of_solids(self):
        self.write("t.obj", TET)
        self.succeed("mesh", "convert", "t.obj", "t.stl")
        self.succeed("mesh", "convert", "t.obj", "t.glb")
        counts = set()
        for source in ["t.obj", "t.stl", "t.glb"]:
            for name in ["a.msh", "b.vtk", "c.vtu", "d.node"]:
                self.succeed("mesh", "tetrahedralize", source, "--cell", "0.1", "--out", name)
                counts.add(tuple(self.numbers(self.succeed("mesh", "info", name).stdout, r"(\d+) nodes, (\d+) tets")))
        self.assertEqual(len(counts), 1)
        self.succeed("mesh", "tetrahedralize", "t.obj", "--out", "e.msh", "--ascii", "--gmsh-version", "2.2")
        self.assertIn(b"2.2 0 8", self.read("e.msh"))
        self.succeed("mesh", "tetrahedralize", "a.msh", "--cell", "0.2", "--out", "again.msh")

    def test_bad_surfaces_are_mended(self):
        self.write("cube.obj", BAD_CUBE)
        out = self.succeed("mesh", "tetrahedralize", "cube.obj", "--cell", "0.2", "--out", "cube.vtu").stdout
        (volume,) = self.numbers(out, r"volume +([\d.]+) m³")
        self.assertGreater(volume, 5)
        self.assertLess(volume, 8.1)
        self.assertIn("note      2 of 12 triangles were dropped", out)
        self.assertIn("hole was closed", out)

    def test_better_angles_can_be_left_out(self):
        self.succeed("mesh", "generate", "tire", "--out", "tire.obj")
        least = []
        for flags in [["--no-optimize"], ["--optimize"], ["--threads", "1"], ["--lose-thin"]]:
            out = self.succeed("mesh", "tetrahedralize", "tire.obj", "--out", "tire.msh", *flags).stdout
            least += self.numbers(out, r"angles +([\d.]+) to")
        self.assertGreater(least[1], least[0] + 5)
        self.assertEqual(least[1], least[2])

    def test_refusals_harm_nothing(self):
        self.write("t.obj", TET)
        self.write("sheet.obj", "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n")
        self.write("out.msh", "earlier")
        before = self.names()
        for arguments, word in [(["t.obj", "--cell", "7"], "larger than the surface"),
                                (["t.obj", "--cell", "1e-4"], "choose one of at least"),
                                (["t.obj", "--cell", "nan"], "more than 0"),
                                (["t.obj", "--cell", "inf"], "more than 0"),
                                (["t.obj", "--cell", "0"], "more than 0"),
                                (["t.obj", "--cell", "-1"], "more than 0"),
                                (["sheet.obj"], "encloses no volume"),
                                (["gone.obj"], "gone.obj")]:
            code = 2 if word == "more than 0" else 1
            self.assertIn(word, self.fail_with(code, "mesh", "tetrahedralize", *arguments, "--out", "out.msh"))
            self.assertEqual(self.read("out.msh"), b"earlier")
        self.assertIn(".msh", self.fail_with(1, "mesh", "tetrahedralize", "t.obj", "--out", "out.obj"))
        self.fail_with(1, "mesh", "tetrahedralize", "t.obj", "--out", "gone/out.msh")
        self.assertEqual(self.names(), before)


class Generate(CommandTest):
    def test_models_have_the_size_asked_for(self):
        for model in ["duck", "gear", "pumpkin", "teapot", "tire"]:
            self.succeed("mesh", "generate", model, "--size", "0.5", "--out", "m.obj")
            out = self.succeed("mesh", "info", "m.obj").stdout
            sides = [float(s) for s in re.search(r"extent +([\d.]+) x ([\d.]+) x ([\d.]+) m", out).groups()]
            self.assertAlmostEqual(max(sides), 0.5, 4)
            self.assertIn("closed    yes", out)
        self.fail_with(2, "mesh", "generate", "cow", "--out", "m.obj")
        for size in ["0", "nan", "inf", "-1", "1e39", "1x"]:
            self.assertIn("--size", self.fail_with(2, "mesh", "generate", "duck", "--size", size, "--out", "m.obj"))

    def test_the_duck_of_the_gallery_is_this_one(self):
        self.succeed("mesh", "generate", "duck", "--size", "0.3", "--out", "duck.obj")
        gallery = os.path.join(SOURCE, "scenes", "meshes", "duck.obj")
        volumes = [re.search(r"volume ([\d.]+) m³", self.succeed("mesh", "info", name).stdout).group(1)
                   for name in ["duck.obj", gallery]]
        self.assertAlmostEqual(float(volumes[0]), float(volumes[1]), 6)

    def test_atlas(self):
        self.succeed("mesh", "generate", "head", "--out", "p.obj")
        out = self.succeed("mesh", "atlas", "p.obj", "--resolution", "64", "--out", "a.obj").stdout
        nodes = int(re.search(r"nodes     (\d+),", out).group(1))
        self.assertGreater(nodes, 500)
        self.assertLess(nodes, 4096)
        self.assertRegex(out, r"charts    \d+, ")
        self.assertRegex(out, r"stretch   1\.\d+ root mean square")
        self.assertRegex(out, r"layer     \d+ tets, the smallest of [1-9]")
        self.assertEqual(self.read("a.png")[:8], b"\x89PNG\r\n\x1a\n")
        self.assertIn("uvs", self.succeed("mesh", "info", "a.obj").stdout)
        # What it wrote has texture coordinates, which it keeps when it reads that again.
        again = self.succeed("mesh", "atlas", "a.obj", "--resolution", "80", "--out", "b.glb", "--picture",
                             "c.png").stdout
        self.assertIn(", the mesh's own\n", again)
        self.assertEqual(self.names(), ["a.obj", "a.png", "b.glb", "c.png", "p.obj"])

    def test_atlas_says_what_it_cannot_do_and_writes_nothing(self):
        self.succeed("mesh", "generate", "head", "--out", "p.obj")
        for thickness in ["nan", "0", "-1", "inf", "x"]:
            said = self.fail_with(2, "mesh", "atlas", "p.obj", "--out", "a.obj", "--thickness", thickness)
            self.assertIn(f"`{thickness}` is not allowed; it must be a finite number that is more than 0", said)
        for name in ["a.stl", "a.msh"]:
            self.assertIn("no texture coordinates", self.fail_with(1, "mesh", "atlas", "p.obj", "--out", name))
        for angle in ["nan", "inf", "0", "181"]:
            said = self.fail_with(2, "mesh", "atlas", "p.obj", "--out", "a.obj", "--crease-angle", angle)
            self.assertIn("a number from 1 to 180", said)
        self.assertEqual(self.names(), ["p.obj"])
        # A layer thicker than the body is made to fit.
        said = self.succeed("mesh", "atlas", "p.obj", "--resolution", "40", "--out", "a.obj", "--thickness", "10").stdout
        self.assertRegex(said, r"thinner under \d+ nodes")

    def test_atlas_of_an_open_mesh(self):
        self.write("t.obj", TET.replace("f 2 3 4\n", ""))
        self.assertIn("t.obj: mesh: the mesh is open: 3 edges", self.fail_with(1, "mesh", "atlas", "t.obj", "--out", "a.obj"))
        self.assertEqual(self.names(), ["t.obj"])


if __name__ == "__main__":
    main()
