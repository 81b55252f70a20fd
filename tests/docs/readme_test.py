"""The README's program and scene, and the programs of docs/hello.md, docs/solids.md and docs/cloth.md, do what the pages say."""
import json
import math
import os
import re

from docs_support import (CLOTH_PROGRAM, LESSON_PROGRAM, PLIANT, README_PROGRAM, SOLIDS_PROGRAM, DocsTest, blocks, main,
                          page)


def where_the_ball_is(time):
    """A ball of radius 0.2 m starts 2 m up with 3 m/s sideways, lands without a bounce and at once rolls, for friction
    can do more than it must. Rolling keeps 5/7 of the speed of a solid ball that slid."""
    landing = math.sqrt(2 * 1.8 / 9.81)
    return 3 * landing + 5 / 7 * 3 * (time - landing)


class Readme(DocsTest):
    def test_program_prints_what_the_page_says(self):
        self.assertEqual(self.run_program(README_PROGRAM), blocks(page("README.md"), "text")[0])

    def test_program_prints_what_physics_says(self):
        x, y = (float(n) for n in re.findall(r"= ([\d.]+) m", self.run_program(README_PROGRAM)))
        self.assertAlmostEqual(x, where_the_ball_is(2.0), delta=0.02)
        self.assertAlmostEqual(y, 0.2, delta=0.01)

    def test_scene_is_valid_and_is_the_same_world(self):
        self.write("hello.json", blocks(page("README.md"), "json")[0])
        self.assertIn("2 (1 dynamic, 0 kinematic, 1 static)", self.run_program(PLIANT, "check", "hello.json"))
        self.run_program(PLIANT, "run", "hello.json", "--record", "hello.glb", "--stats", "hello.stats.json")
        with open(os.path.join(self.folder, "hello.stats.json"), encoding="utf-8") as file:
            ball = json.load(file)["frames"][-1]["named_bodies"]["ball"]
        printed = f"x = {ball['position'][0]:.2f} m, y = {ball['position'][1]:.2f} m"
        self.assertIn(printed, self.run_program(README_PROGRAM))


class Lesson(DocsTest):
    def test_prints_what_the_page_says(self):
        self.write("hello.json", blocks(page("README.md"), "json")[0])
        said = "".join(blocks(page("docs/hello.md"), "text"))
        self.assertEqual(self.run_program(LESSON_PROGRAM), said)
        self.assertTrue(os.path.exists(os.path.join(self.folder, "hello.glb")))


class Solids(DocsTest):
    def test_prints_what_the_page_says(self):
        self.assertEqual(self.run_program(SOLIDS_PROGRAM), "".join(blocks(page("docs/solids.md"), "text")))


class Cloth(DocsTest):
    def test_prints_what_the_page_says(self):
        self.assertEqual(self.run_program(CLOTH_PROGRAM), "".join(blocks(page("docs/cloth.md"), "text")))

    def test_prints_what_physics_says(self):
        """A bucket of 5 kg hangs on the rope."""
        newtons = float(re.search(r"with (\d+) N", self.run_program(CLOTH_PROGRAM)).group(1))
        self.assertAlmostEqual(newtons, 5 * 9.81, delta=1)


main()
