"""Textures of layered bodies, read by a reader of OpenEXR of our own and, where it is there, by ffmpeg."""
import math
import os
import shutil
import struct
import subprocess
import zlib

from command_support import FALLING, CommandTest, main

BALL = {
    "frames": 3,
    "world": {"gravity": [0, 0, 0]},
    "bodies": [{"kind": "layered", "name": "soft ball", "surface": {"sphere": 0.4, "segments": 40}, "material": "foam",
                "thickness": 0.1, "position": [1, 2, 3], "velocity": [0.6, 0, 0]}],
}
RESOLUTION = 64


def read_exr(data):
    """Rows of (r, g, b) of an uncompressed file of floats, by the layout that openexr.com documents."""
    assert data[:8] == struct.pack("<II", 20000630, 2)
    at, attributes = 8, {}
    while data[at] != 0:
        end = data.index(b"\0", at)
        kind = data.index(b"\0", end + 1)
        size = struct.unpack_from("<i", data, kind + 1)[0]
        attributes[data[at:end].decode()] = data[kind + 5:kind + 5 + size]
        at = kind + 5 + size
    at += 1
    left, top, right, bottom = struct.unpack("<4i", attributes["dataWindow"])
    width, height = right - left + 1, bottom - top + 1
    assert attributes["compression"] == b"\0"
    rows = []
    for offset in struct.unpack_from(f"<{height}Q", data, at):
        y, size = struct.unpack_from("<ii", data, offset)
        assert (y, size) == (len(rows), 12 * width)
        values = struct.unpack_from(f"<{3 * width}f", data, offset + 8)
        rows.append(list(zip(values[2 * width:], values[width:2 * width], values[:width])))
    assert len(data) == offset + 8 + size
    return rows


def read_png(data):
    """Rows of (r, g, b) of a file of 16 bits a channel without filters."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, packed = 8, b""
    while at < len(data):
        size, kind = struct.unpack_from(">I4s", data, at)
        if kind == b"IHDR":
            width, height, depth, colors = struct.unpack_from(">IIBB", data, at + 8)
            assert (depth, colors) == (16, 2)
        if kind == b"IDAT":
            packed += data[at + 8:at + 8 + size]
        at += 12 + size
    lines, stride = zlib.decompress(packed), 6 * width + 1
    rows = []
    for y in range(height):
        assert lines[y * stride] == 0
        values = struct.unpack_from(f">{3 * width}H", lines, y * stride + 1)
        rows.append(list(zip(values[::3], values[1::3], values[2::3])))
    return rows


class Textures(CommandTest):
    def run_ball(self):
        self.write("s.json", BALL)
        out = self.succeed("run", "s.json", "--textures", "out", "--texture-size", str(RESOLUTION)).stdout
        self.assertIn("textures: out (", out)

    def test_names_bodies_without_texture_coordinates_and_goes_on(self):
        bare = {"kind": "layered", "name": "bare", "surface": {"mesh": "m"}, "material": "foam", "thickness": 0.1}
        meshes = {"m": {"kind": "pumpkin", "radius": 0.4, "segments": 32}}
        self.write("s.json", {**BALL, "bodies": [*BALL["bodies"], bare], "meshes": meshes})
        done = self.succeed("run", "s.json", "--textures", "out", "--texture-size", str(RESOLUTION))
        self.assertIn("left out `bare`", done.stderr)
        self.assertIn("soft_ball.obj", os.listdir(self.path("out")))
        self.write("s.json", {**BALL, "bodies": [bare], "meshes": meshes})
        self.assertIn("`bare`", self.fail_with(1, "run", "s.json", "--textures", "out2"))

    def test_hold_places_normals_and_contacts(self):
        self.run_ball()
        names = [f"soft_ball.{what}.{frame:05}.exr" for what in ["contact", "normal", "position"] for frame in range(4)]
        found = sorted(n for n in os.listdir(self.path("out")) if not n.startswith("."))
        self.assertEqual(found, sorted([*names, "soft_ball.obj"]))
        for frame in range(4):
            places = read_exr(self.read(f"out/soft_ball.position.{frame:05}.exr"))
            normals = read_exr(self.read(f"out/soft_ball.normal.{frame:05}.exr"))
            shown = 0
            for row, turned in zip(places, normals):
                self.assertEqual(len(row), RESOLUTION)
                for place, normal in zip(row, turned):
                    if place == (0, 0, 0):
                        continue
                    shown += 1
                    arm = [p - c for p, c in zip(place, (1 + frame * 0.01, 2, 3))]
                    self.assertAlmostEqual(math.hypot(*arm), 0.4, delta=0.03)  # a little more in the gutter, where planes go on
                    self.assertAlmostEqual(sum(a * n for a, n in zip(arm, normal)), 0.4, delta=0.04)
            self.assertGreater(shown, RESOLUTION * RESOLUTION / 4)
            contacts = read_exr(self.read(f"out/soft_ball.contact.{frame:05}.exr"))
            self.assertTrue(all(value == (0, 0, 0) for row in contacts for value in row))

    def test_png_says_which_values_black_and_white_stand_for(self):
        self.run_ball()
        self.succeed("run", "s.json", "--textures", "png", "--texture-size", str(RESOLUTION), "--texture-format", "png")
        lines = self.read("png/ranges.csv").decode().splitlines()
        self.assertEqual(lines[0], "file,low_x,low_y,low_z,high_x,high_y,high_z")
        ranges = {cells[0]: [float(c) for c in cells[1:]] for cells in (line.split(",") for line in lines[1:])}
        self.assertEqual(len(ranges), 12)
        for what in ["position", "normal"]:
            name = f"soft_ball.{what}.00003"
            low, high = ranges[f"{name}.png"][:3], ranges[f"{name}.png"][3:]
            for wanted, got in zip(read_exr(self.read(f"out/{name}.exr")), read_png(self.read(f"png/{name}.png"))):
                for a, b in zip(wanted, got):
                    if a == (0, 0, 0):
                        continue
                    for value, level, bottom, top in zip(a, b, low, high):
                        self.assertAlmostEqual(value, bottom + level / 65535 * (top - bottom), delta=2e-5)
        self.assertIn("--texture-format", self.fail_with(2, "run", "s.json", "--textures", "x", "--texture-format", "gif"))

    def test_other_programs_read_them(self):
        if not shutil.which("ffmpeg"):
            self.skipTest("ffmpeg is not installed")
        self.run_ball()
        result = subprocess.run(["ffmpeg", "-v", "error", "-i", self.path("out/soft_ball.position.00001.exr"), "-f",
                                 "rawvideo", "-pix_fmt", "gbrpf32le", "-"], capture_output=True, timeout=60)
        self.assertEqual(result.returncode, 0, result.stderr)
        count = RESOLUTION * RESOLUTION
        planes = struct.unpack(f"<{3 * count}f", result.stdout)
        rows = read_exr(self.read("out/soft_ball.position.00001.exr"))
        flat = [value for row in rows for value in row]
        for i in range(0, count, 17):
            for got, wanted in zip((planes[2 * count + i], planes[i], planes[count + i]), flat[i]):
                self.assertAlmostEqual(got, wanted, places=5)

    def test_scenes_without_layered_bodies(self):
        self.write("s.json", FALLING)
        self.assertIn("no body of the scene is layered", self.fail_with(1, "run", "s.json", "--textures", "out"))
        self.assertEqual(self.names(), ["s.json"])


if __name__ == "__main__":
    main()
