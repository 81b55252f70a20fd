"""The window itself: it opens, is resized, minimised and closed at any time, and says clearly why it cannot open."""
import os
import subprocess
import tempfile

import window_manager
from view_support import BOX, PLIANT, ViewTest, main


class Opening(ViewTest):
    def test_simulates_in_real_time(self):
        state = self.open(self.write("box.json", BOX))
        self.assertEqual(state["scene"], "box")
        later = self.wait("time goes on", lambda s: s["time"] > 1.5)
        self.assertGreater(later["rate"], 0.2)
        self.assertLess(later["rate"], 1.5)
        self.close()

    def test_without_a_scene_shows_the_first_of_the_gallery(self):
        self.write("scenes/a_first.json", BOX)
        self.process = subprocess.Popen(
            [PLIANT, "view", "--log", self.path("log.jsonl")], cwd=self.folder, stderr=subprocess.PIPE, text=True,
            env=dict(os.environ, PLIANT_SCENES=self.path("scenes")))
        self.wait("the window opens", lambda s: s["scene"] == "a_first")
        self.assertEqual(self.interrupt()[0], 130)

    def test_says_why_it_cannot_open(self):
        scene = self.write("box.json", BOX)
        bad = self.write("bad.json", {"bodies": [{"kind": "rigid", "shape": {"kind": "bx"}}]})
        for code, part, arguments, environment in (
                (1, "no display", [scene], {"DISPLAY": "", "WAYLAND_DISPLAY": ""}),
                (1, "--video", [scene], {"DISPLAY": ":32123"}),
                (1, "`bx`", [bad], {}),
                (1, "there is no scene", ["pyramidd"], {}),
                (1, "no such folder", [scene, "--output", self.path("none")], {}),
                (1, "none/log", [scene, "--log", self.path("none/log")], {}),
                (2, "--quality", [scene, "--quality", "best"], {}),
                (2, "1280x720", [scene, "--size", "9x9"], {})):
            done = subprocess.run([PLIANT, "view", *arguments], env=dict(os.environ, **environment),
                                  capture_output=True, text=True, timeout=60, cwd=self.folder, check=False)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertTrue(done.stderr.startswith("error: "), done.stderr)
            self.assertIn(part, done.stderr)

    def test_leaves_nothing_behind(self):
        with tempfile.TemporaryDirectory() as home:
            self.open(self.write("box.json", BOX), environment={"HOME": home, "XDG_CONFIG_HOME": home})
            self.close()
            left = [name for name in os.listdir(home) if name != ".cache"]  # the driver's
            self.assertEqual(left, [])
        self.assertEqual(sorted(os.listdir(self.folder)), ["box.json", "log.jsonl"])


class Living(ViewTest):
    def test_survives_every_size(self):
        self.open(self.write("box.json", BOX))
        for width, height in ((700, 500), (330, 250), (1290, 880), (320, 800), (1200, 241)):
            self.tool("windowsize", self.window, str(width), str(height))
            state = self.wait(f"size {width}x{height}", lambda s, w=width, h=height: s["window"] == [w, h])
            # A frame may know its new size and still show what was laid out for the old one.
            state = self.wait("it goes on", lambda s, f=state["frame"]: s["frame"] > f + 3)
        middle = state["bodies"]["box"]["screen"]
        self.assertLess(abs(middle[1] - 241 / 2), 60)
        self.close()

    def test_survives_being_minimised(self):
        self.open(self.write("box.json", BOX))
        window_manager.set_state(int(self.window), window_manager.ICONIC)
        state = self.wait("it is minimised", lambda s: s["minimised"])
        self.wait("time goes on", lambda s: s["time"] > state["time"] + 0.3)
        window_manager.set_state(int(self.window), window_manager.NORMAL)
        state = self.wait("it is back", lambda s: not s["minimised"])
        self.wait("it goes on", lambda s: s["frame"] > state["frame"] + 3)
        self.close()

    def test_closes_while_it_simulates(self):
        for end in (self.close, lambda: self.assertEqual(self.interrupt(), (130, ""))):
            self.open("pile")
            self.wait("it simulates", lambda s: s["step"] >= 2)
            end()


if __name__ == "__main__":
    main()
