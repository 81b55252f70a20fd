"""pliant mesh info and convert."""
import struct

from command_support import CommandTest, main

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


if __name__ == "__main__":
    main()
