"""Recordings of a run, read by VTK and by Khronos' validator."""
import json
import os
import shutil
import subprocess
import unittest
import xml.etree.ElementTree as ElementTree

from command_support import SOURCE, CommandTest, main

try:
    import vtk
except ImportError:
    vtk = None

SCENE = {
    "frames": 30,
    "world": {"gravity": [0, -9.81, 0]},
    "bodies": [
        {"kind": "ground"},
        {"kind": "rigid", "name": "ball", "shape": {"kind": "sphere", "radius": 0.25}, "position": [0, 4, 0],
         "velocity": [1, 0, 0]},
        {"kind": "rigid", "name": "box", "shape": {"kind": "box", "size": [1, 2, 3]}, "position": [5, 6, 0],
         "angular_velocity": [0, 2, 0]},
        {"kind": "rigid", "name": "prop", "shape": {"kind": "cylinder"}, "position": [-5, 6, 0]},
        {"kind": "rigid", "name": "glass", "material": "glass", "shape": {"kind": "compound", "parts": [
            {"shape": {"kind": "cone"}}, {"shape": {"kind": "capsule"}, "position": [0, 1, 0]}]},
         "position": [-9, 6, 0]},
    ],
    "events": [{"kind": "remove", "at": 0.25, "body": "prop"}],
}


@unittest.skipIf(vtk is None, "python3-vtk9 is not installed")
class Vtu(CommandTest):
    def grid(self, name):
        reader = vtk.vtkXMLUnstructuredGridReader()
        errors = []
        reader.AddObserver("ErrorEvent", lambda *a: errors.append(a))
        reader.SetFileName(self.path("run", name))
        reader.Update()
        self.assertEqual(errors, [], name)
        return reader.GetOutput()

    def points_of(self, grid, body):
        """Indices of the points of the cells of that body."""
        numbers = grid.GetCellData().GetArray("body")
        points = set()
        for cell in range(grid.GetNumberOfCells()):
            if numbers.GetTuple1(cell) == body:
                ids = grid.GetCell(cell).GetPointIds()
                points.update(ids.GetId(i) for i in range(ids.GetNumberOfIds()))
        return sorted(points)

    def test_frames_agree_with_the_statistics(self):
        self.write("s.json", SCENE)
        self.succeed("run", "s.json", "--record", "run", "--stats", "stats.json", "--quiet")
        frames = json.loads(self.read("stats.json"))["frames"]
        entries = ElementTree.parse(self.path("run", "run.pvd")).getroot().find("Collection").findall("DataSet")
        moving = [e for e in entries if e.get("part") == "0"]
        self.assertEqual(len(moving), 31)
        for entry, frame in list(zip(moving[1:], frames))[::7]:
            self.assertAlmostEqual(float(entry.get("timestep")), frame["time"], places=7)
            grid = self.grid(entry.get("file"))
            # Bodies are numbered as they come: the ground is 0.
            for number, name in [(1, "ball"), (2, "box")]:
                points = self.points_of(grid, number)
                state = frame["named_bodies"][name]
                for axis in range(3):
                    values = [grid.GetPoint(i)[axis] for i in points]
                    # The sphere's triangles stay a little inside of it.
                    slack = 0.01 if name == "ball" else 1e-4
                    self.assertAlmostEqual(min(values), state["bounds"]["lower"][axis], delta=slack + 0.05 * (name == "box"))
                    self.assertAlmostEqual(sum((min(values), max(values))) / 2, state["position"][axis], delta=0.01)
                velocity, speed = grid.GetPointData().GetArray("velocity"), grid.GetPointData().GetArray("speed")
                for i in points[::50]:
                    at, v, w = grid.GetPoint(i), state["linear_velocity"], state["angular_velocity"]
                    r = [a - b for a, b in zip(at, state["position"])]
                    turn = [w[1] * r[2] - w[2] * r[1], w[2] * r[0] - w[0] * r[2], w[0] * r[1] - w[1] * r[0]]
                    expected = [a + b for a, b in zip(v, turn)]
                    for a, b in zip(velocity.GetTuple3(i), expected):
                        self.assertAlmostEqual(a, b, places=3)
                    self.assertAlmostEqual(speed.GetTuple1(i), sum(x * x for x in expected)**0.5, places=3)

    def test_removed_bodies_vanish(self):
        self.write("s.json", SCENE)
        self.succeed("run", "s.json", "--record", "run", "--quiet")
        numbers = lambda name: {self.grid(name).GetCellData().GetArray("body").GetTuple1(i)
                                for i in range(self.grid(name).GetNumberOfCells())}
        self.assertEqual(numbers("frame_000001.vtu"), {1, 2, 3, 4})
        self.assertEqual(numbers("frame_000030.vtu"), {1, 2, 4})
        self.assertEqual(numbers("static_000.vtu"), {0})

    def test_cloth_and_rope_are_where_the_statistics_say(self):
        self.write("s.json", {"frames": 20, "bodies": [
            {"kind": "cloth", "name": "sheet", "shape": {"kind": "sheet", "cells_x": 6, "cells_z": 6}, "position": [0, 3, 0],
             "held": [{"nodes": {"list": [0]}}]},
            {"kind": "rope", "name": "rope", "path": [[4, 3, 0], [5, 3, 0]], "radius": 0.02, "held": [{"nodes": {"list": [0]}}]}]})
        self.succeed("run", "s.json", "--record", "run", "--stats", "stats.json", "--probe", "sheet:48", "--quiet")
        last = json.loads(self.read("stats.json"))["frames"][-1]
        grid = self.grid("frame_000020.vtu")
        sheet = self.points_of(grid, 0)
        self.assertEqual(len(sheet), 49)
        for a, b in zip(grid.GetPoint(sheet[48]), last["probes"]["sheet:48"]["position"]):
            self.assertAlmostEqual(a, b, places=5)
        rope = [grid.GetPoint(i) for i in self.points_of(grid, 1)]
        for axis, (lower, upper) in enumerate(zip(last["named_bodies"]["rope"]["bounds"]["lower"],
                                                  last["named_bodies"]["rope"]["bounds"]["upper"])):
            self.assertAlmostEqual(min(p[axis] for p in rope), lower, delta=0.01)
            self.assertAlmostEqual(max(p[axis] for p in rope), upper, delta=0.01)

    def test_what_pieces_show_goes_with_their_tets(self):
        self.write("s.json", {"frames": 8, "bodies": [
            {"kind": "solid", "name": "wall", "mesh": {"box": [2, 2, 0.3], "cell": 0.4}, "position": [0, 1, 0],
             "material": {"young_modulus": 4e6, "strength": 3e4},
             "color": "#803020", "splinters": {"kind": "brick", "size": [0.4, 0.2, 0.3]}},
            {"kind": "rigid", "shape": {"kind": "box", "size": [0.5, 0.5, 0.5]}, "density": 16000,
             "position": [0, 1, 0.6], "velocity": [0, 0, -30]}]})
        self.succeed("run", "s.json", "--record", "run", "--quiet")
        tets, look = self.grid("frame_000008.vtu"), self.grid("look_000008.vtu")
        numbers = lambda grid, kind: {grid.GetCellData().GetArray("body").GetTuple1(i)
                                      for i in range(grid.GetNumberOfCells()) if grid.GetCellType(i) == kind}
        shown = numbers(look, vtk.VTK_TRIANGLE)
        # A small piece may hold the middle of no splinter: then it shows nothing.
        self.assertLessEqual(shown, numbers(tets, vtk.VTK_TETRA))
        self.assertGreater(len(shown), 5)
        colors = look.GetPointData().GetArray("color")
        self.assertEqual(colors.GetNumberOfComponents(), 3)
        values = [c for i in range(look.GetNumberOfPoints()) for c in colors.GetTuple3(i)]
        self.assertTrue(0 <= min(values) < max(values) <= 1)
        for number in shown:
            ours = [tets.GetPoint(i) for i in self.points_of(tets, number)]
            for i in self.points_of(look, number):
                # No further from its tets than a brick is long.
                for axis, at in enumerate(look.GetPoint(i)):
                    self.assertGreater(at, min(p[axis] for p in ours) - 0.5)
                    self.assertLess(at, max(p[axis] for p in ours) + 0.5)


class Glb(CommandTest):
    def test_the_khronos_validator_is_content(self):
        node = shutil.which("node") or shutil.which("nodejs")
        tools = os.path.join(SOURCE, "tests", "tools")
        if node is None or not os.path.isdir(os.path.join(tools, "node_modules", "gltf-validator")):
            self.skipTest("node or gltf-validator is not installed")
        self.write("s.json", SCENE)
        self.succeed("run", "s.json", "--record", "a.glb", "--quiet")
        self.succeed("run", "s.json", "--record", "b.gltf", "--quiet")
        self.succeed("run", "dominoes", "--frames", "200", "--record", "c.glb", "--quiet")
        self.succeed("run", "balloon", "--frames", "20", "--record", "d.glb", "--quiet")
        files = [self.path(name) for name in ["a.glb", "b.gltf", "c.glb", "d.glb"]]
        result = subprocess.run([node, os.path.join(tools, "check_gltf.mjs"), *files], capture_output=True, text=True,
                                timeout=120)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertEqual(result.stdout.count(": 0 errors, 0 warnings"), 4, result.stdout)


if __name__ == "__main__":
    main()
