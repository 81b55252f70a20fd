"""Playing: bodies are pulled, balls thrown, values changed, scenes chosen, by a mouse and keys that are not real."""
import os

from view_support import BOX, SOURCE, ViewTest, main

BROKEN = {"bodies": [{"kind": "rigid", "name": "box", "shape": {"kind": "bx"}}]}


# Bears its own weight, and no longer where it is painted.
BAR = {
    "bodies": [
        {"kind": "ground"},
        {"kind": "solid", "name": "bar", "mesh": {"box": [2, 0.4, 0.1], "cell": 0.1}, "position": [0, 1.5, 0],
         "material": {"strength": 9e5}, "held": [{"nodes": {"half_space": {"normal": [-1, 0, 0], "offset": 0.99}}}]},
    ],
    "camera": {"from": [0, 1.5, 6], "look_at": [0, 1.5, 0]},
}


class Hand(ViewTest):
    def test_pulls_a_body(self):
        state = self.open(self.write("box.json", BOX))
        start = state["bodies"]["box"]
        x, y = start["screen"]
        self.move(x, y)
        self.press()
        self.wait("it is grabbed", lambda s: s["grabbed"] == "box")
        # 150 pixels up and 100 to the right: what they are in metres at the body follows from the camera.
        self.move(x + 100, y - 150)
        height = self.state()["window"][1]
        metre = height / (2 * 0.41421356 * 7.5)  # tan(45° / 2), and the face is 7.5 m away
        target = [start["position"][0] + 100 / metre, start["position"][1] + 150 / metre]
        # It hangs below the point that is held, which is half a metre from its centre.
        self.wait("it follows", lambda s: self.hangs_at(s["bodies"]["box"]["position"], target))
        self.release()
        self.wait("it is let go", lambda s: s["grabbed"] == "")
        self.wait("it falls", lambda s: s["bodies"]["box"]["position"][1] < 0.8)
        self.assertEqual(self.state()["camera"]["from"], [0, 2, 8])  # the view stood still
        self.close()

    @staticmethod
    def hangs_at(position, target):
        return abs(position[0] - target[0]) < 0.15 and -0.75 < position[1] - target[1] < -0.2

    def test_turns_moves_and_comes_nearer(self):
        self.open(self.write("box.json", BOX), "--paused")
        size = lambda camera: sum((a - b) ** 2 for a, b in zip(camera["from"], camera["look_at"])) ** 0.5
        start = self.state()["camera"]
        self.drag((100, 100), (200, 150))  # the sky: turns
        turned = self.state()["camera"]
        self.assertEqual(turned["look_at"], start["look_at"])
        self.assertAlmostEqual(size(turned), size(start), places=3)
        self.assertGreater(abs(turned["from"][0]), 1)
        self.drag((100, 100), (150, 100), button=3)
        moved = self.state()["camera"]
        self.assertNotEqual(moved["look_at"], turned["look_at"])
        self.tool("click", "4")
        self.wait("the wheel comes nearer", lambda s: size(s["camera"]) < 0.95 * size(start))
        self.key("f")
        self.wait("F goes back", lambda s: s["camera"] == start)
        self.close()

    def test_throws_and_blasts(self):
        state = self.open(self.write("box.json", BOX))
        self.move(*state["bodies"]["box"]["screen"])
        self.key("b")
        self.wait("a ball is there", lambda s: s["body_count"] == 3)
        self.wait("it hits the box", lambda s: s["bodies"]["box"]["position"][2] < -0.02)
        self.key("r")
        self.wait("it begins again", lambda s: s["body_count"] == 2 and s["time"] < 5)
        self.click("Explode")  # the tool; then the left button sets it off, left of the box
        x, y = state["bodies"]["box"]["screen"]
        self.move(x - 130, y + 30)
        before = self.state()["bodies"]["box"]["position"]
        self.tool("click", "1")
        self.wait("the box flies", lambda s: s["bodies"]["box"]["position"][0] > before[0] + 0.05)
        self.close()


class Solids(ViewTest):
    def test_break_where_they_are_painted_weak(self):
        state = self.open(self.write("bar.json", BAR), "--paused")
        self.key("k")
        self.click("Paint strength")
        x, y = state["bodies"]["bar"]["screen"]
        metre = state["window"][1] / (2 * 0.41421356 * 5.95)  # tan(45° / 2), and the face is 5.95 m away
        left = x - 0.8 * metre
        self.drag((left, y - 0.15 * metre), (left, y + 0.15 * metre))
        self.assertEqual(self.state()["body_count"], 2)
        self.key("space")
        self.wait("it breaks", lambda s: s["body_count"] > 2)
        self.close()

    def test_are_tried_out_on_a_panel(self):
        self.open("--material=jelly", "--paused")
        self.assertEqual(self.state()["scene"], "material-jelly")
        self.assertIn("panel", self.state()["bodies"])
        self.click("Try a material")
        self.wait("the section opens", lambda s: "Material" in s["controls"])
        self.click("Material")
        self.wait("the list opens", lambda s: "Material ice" in s["controls"])
        self.click("Material ice")
        self.wait("there is ice", lambda s: s["scene"] == "material-ice")
        before = self.state()["body_count"]
        self.key("space")
        self.wait("it breaks", lambda s: s["body_count"] > before)
        self.close()

    def test_are_pulled_and_shown_by_their_stress(self):
        self.open(os.path.join(SOURCE, "scenes", "jelly_drop.json"))
        self.wait("the jelly lies", lambda s: s["time"] > 1.5)
        self.key("space")
        state = self.wait("it waits", lambda s: not s["playing"])
        x, y = state["bodies"]["cube"]["screen"]
        self.move(x, y)
        self.press()
        self.wait("it is grabbed", lambda s: s["grabbed"] == "cube")
        self.key("space")
        self.move(x, y - 200)
        height = state["bodies"]["cube"]["position"][1]
        self.wait("it follows", lambda s: s["bodies"]["cube"]["position"][1] > height + 0.2)
        for key, colors in (("5", "stress"), ("6", "tension"), ("7", "elastic strain"), ("8", "plastic strain"),
                            ("5", "stress")):
            self.key(key)
            self.wait(key, lambda s, colors=colors: s["colors"] == colors)
        self.key("p")
        self.wait("a picture is saved", lambda s: "jelly_drop-1.png" in s["notice"])
        self.release()
        self.wait("it is let go", lambda s: s["grabbed"] == "" and s["picked"] == "cube")
        state = self.wait("it falls", lambda s: s["bodies"]["cube"]["position"][1] < height + 0.15)
        self.assertEqual(state["error"], "")
        self.assertNotIn("quarantine", state["notice"])
        self.close()


class Panel(ViewTest):
    def test_plays_pauses_steps_and_restarts(self):
        self.open(self.write("box.json", BOX), "--paused")
        self.assertEqual(self.next_states()["step"], 0)
        self.click("Step")
        self.wait("one step", lambda s: s["step"] == 1 and not s["playing"])
        self.key("n")
        self.wait("another", lambda s: s["step"] == 2)
        self.click("Play")
        self.wait("it plays", lambda s: s["playing"] and s["step"] > 10)
        self.key("space")
        stopped = self.wait("it pauses", lambda s: not s["playing"])
        self.assertEqual(self.next_states(5)["step"], self.state()["step"])
        self.assertGreaterEqual(self.state()["step"], stopped["step"])
        self.click("Restart")
        self.wait("it begins again", lambda s: s["time"] == 0)
        self.close()

    def test_slow_motion_is_slow(self):
        self.open(self.write("box.json", BOX))
        x, y = self.state()["controls"]["Speed"]
        self.drag((x - 40, y), (x - 100, y))  # towards the left end, a hundredth
        state = self.wait("it is slow", lambda s: s["speed"] < 0.5)
        self.wait("the rate follows", lambda s: abs(s["rate"] - state["speed"]) < 0.25 * state["speed"] + 0.02)
        self.close()

    def test_changes_gravity_and_the_time_step(self):
        state = self.open(self.write("box.json", BOX))
        x, y = state["controls"]["Gravity"]
        self.drag((x - 60, y), (x - 60, y + 1))  # the middle one of three sliders: nearly 0
        self.wait("gravity has changed", lambda s: s["gravity"][1] != state["gravity"][1])
        x, y = state["controls"]["Time step"]
        self.drag((x - 50, y), (x - 90, y))
        self.wait("the step has changed", lambda s: s["dt"] < 0.9 * state["dt"])
        self.click("As the scene has them")
        self.wait("both are back", lambda s: s["dt"] == state["dt"] and s["gravity"] == state["gravity"])
        self.close()

    def test_changes_a_body(self):
        state = self.open(self.write("box.json", BOX))
        self.move(*state["bodies"]["box"]["screen"])
        self.tool("click", "1")
        state = self.wait("it is picked", lambda s: s["picked"] == "box" and "Gravity scale" in s["controls"])
        x, y = state["controls"]["Gravity scale"]
        self.drag((x - 50, y), (x - 160, y))  # to its lower end: falls upwards
        self.wait("it rises", lambda s: s["bodies"]["box"]["position"][1] > 2)
        self.close()

    def test_shows_everything_it_can(self):
        self.open(self.write("box.json", BOX))
        for label in ("Contacts", "Bounding boxes", "Wireframe", "Grid", "Numbers"):
            self.click(label)
        for name in ("1", "2", "3", "4", "Tab", "Tab"):
            self.key(name)
        self.close()


class Gallery(ViewTest):
    def test_switches_scenes_and_tells_errors(self):
        self.write("scenes/a_broken.json", BROKEN)
        self.write("scenes/b_box.json", BOX)
        self.open("b_box", environment={"PLIANT_SCENES": self.path("scenes")})
        self.choose("newtons_cradle")
        self.wait("another scene", lambda s: s["scene"] == "newtons_cradle" and s["step"] > 2)
        self.choose("a_broken")
        state = self.wait("the error is shown", lambda s: s["error"] != "")
        self.assertIn("`bx`", state["error"])
        self.assertEqual(state["scene"], "newtons_cradle")
        self.wait("it goes on", lambda s: s["step"] > state["step"] + 2)
        self.click("Close")
        self.wait("the error is gone", lambda s: s["error"] == "")
        self.choose("b_box")
        self.wait("the first scene", lambda s: s["scene"] == "b_box")
        self.close()

    def choose(self, name):
        self.click("Scene")
        self.scroll_to(f"Scene {name}")
        self.click(f"Scene {name}")


if __name__ == "__main__":
    main()
