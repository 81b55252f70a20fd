"""pliant run, scenes, check and the rest of the command line, where all is well."""
import json
import pathlib
import re
import signal

from command_support import FALLING, SOURCE, CommandTest, main

STAGES = ["commit_edits", "find_contacts", "solve_islands", "publish"]
NUMBERS = ["bodies", "awake_bodies", "nodes", "tets", "rows", "contacts", "islands", "fractures", "cg_iterations", "unconverged_solids",
           "kinetic_energy", "elastic_energy", "max_penetration", "max_stretch", "quarantined"]

NODES = {
    "bodies": [
        {"kind": "cloth", "name": "sheet", "shape": {"kind": "sheet", "cells_x": 4, "cells_z": 4}, "position": [5, 2, 0]},
        {"kind": "rope", "name": "rope", "path": [[0, 2, 0], [0, 1, 0]], "segment": 0.1},
        {"kind": "jelly", "name": "cube", "mesh": {"box": [1, 1, 1], "cell": 1}, "position": [9, 2, 0]},
    ],
    "anchors": [{"name": "hook", "body": "rope", "nodes": {"list": [0]}}],
}


class Run(CommandTest):
    def stats(self, *arguments):
        self.write("s.json", FALLING)
        self.succeed("run", "s.json", "--stats", "stats.json", *arguments)
        return json.loads(self.read("stats.json"))

    def test_prints_a_table_and_where_outputs_lie(self):
        self.write("s.json", FALLING)
        out = self.succeed("run", "s.json", "--record", "r.glb", "--stats", "st.json", "--trace", "t.json").stdout
        for stage in STAGES:
            self.assertRegex(out, rf"{stage} +\d+\.\d+ +\d+\.\d+ +\d+\.\d+ %")
        self.assertIn("x real time", out)
        for name in ["r.glb", "st.json", "t.json"]:
            self.assertIn(name, out)
        self.assertEqual(self.names(), ["r.glb", "s.json", "st.json", "t.json"])

    def test_quiet_says_nothing(self):
        self.write("s.json", FALLING)
        result = self.succeed("run", "s.json", "--quiet")
        self.assertEqual((result.stdout, result.stderr), ("", ""))

    def test_statistics_have_all_their_names(self):
        stats = self.stats("--threads", "1")
        self.assertEqual(stats["scene"], "s.json")
        self.assertEqual(stats["threads"], 1)
        self.assertAlmostEqual(stats["dt"], 1 / 60, places=6)
        self.assertEqual(len(stats["frames"]), 20)
        for frame in stats["frames"]:
            for name in NUMBERS:
                self.assertIsInstance(frame[name], (int, float), name)
            for name in ["linear_momentum", "angular_momentum"]:
                self.assertEqual(len(frame[name]), 3)
            self.assertRegex(frame["hash"], r"^[0-9a-f]{16}$")
            self.assertGreaterEqual(frame["time_ms"]["total"], 0)
            for stage in STAGES:
                self.assertIn(stage, frame["time_ms"])
            box = frame["named_bodies"]["box"]
            for name, count in [("position", 3), ("rotation", 4), ("linear_velocity", 3), ("angular_velocity", 3)]:
                self.assertEqual(len(box[name]), count)
            self.assertEqual(len(box["bounds"]["lower"]), 3)
            self.assertEqual(box["pieces"], 1)

    def test_statistics_tell_free_fall(self):
        stats = self.stats()
        dt, n = stats["dt"], 20
        last = stats["frames"][-1]
        box = last["named_bodies"]["box"]
        self.assertAlmostEqual(box["linear_velocity"][1], -9.81 * n * dt, places=4)
        self.assertAlmostEqual(box["position"][1], 3 - 9.81 * (n * dt)**2 / 2, places=4)
        self.assertAlmostEqual(last["time"], n * dt, places=9)

    def test_probes(self):
        stats = self.stats("--probe", "box", "--probe", "ball:0")
        last = stats["frames"][-1]
        self.assertEqual(set(last["probes"]), {"box", "ball:0"})
        self.assertEqual(last["probes"]["box"]["position"], last["named_bodies"]["box"]["position"])
        self.assertEqual(last["probes"]["ball:0"]["velocity"], last["named_bodies"]["ball"]["linear_velocity"])

    def test_probes_and_anchors_of_cloth_and_rope(self):
        self.write("s.json", NODES)
        self.succeed("run", "s.json", "--frames", "6", "--stats", "stats.json", "--probe", "sheet:0", "--probe", "rope:10")
        last = json.loads(self.read("stats.json"))["frames"][-1]
        fallen = 9.81 * 0.1**2 / 2
        # Nodes 0 and 10 are a corner of the sheet and the lower end of the rope, which hangs.
        self.assertAlmostEqual(last["probes"]["sheet:0"]["position"][0], 4.5, delta=1e-3)
        self.assertAlmostEqual(last["probes"]["sheet:0"]["position"][1], 2 - fallen, delta=3e-3)
        self.assertAlmostEqual(last["probes"]["rope:10"]["position"][1], 1, delta=5e-3)
        self.assertEqual(last["named_anchors"]["hook"]["nodes"], 1)
        self.assertEqual(last["nodes"], 25 + 11 + 8)
        self.assertIn("`sheet` has nodes 0 to 24", self.fail_with(1, "run", "s.json", "--probe", "sheet:25"))

    def test_statistics_tell_what_holding_takes(self):
        scene = {
            "world": {"allow_sleep": False},
            "bodies": [{
                "kind": "solid", "name": "beam", "mesh": {"box": [1, 0.2, 0.2], "cell": 0.1}, "position": [0, 1, 0],
                "material": {"base": "rubber", "stiffness_damping": 0.05},
                "held": [{"name": "left", "nodes": {"half_space": {"normal": [-1, 0, 0], "offset": 0.49}}},
                         {"nodes": {"half_space": {"normal": [1, 0, 0], "offset": 0.49}}}]}, {
                "kind": "rope", "name": "rope", "path": [[0, 2, 3], [0, 1, 3]], "segment": 0.1,
                "held": [{"name": "end", "nodes": {"list": [0]}}]}, {
                "kind": "solid", "name": "loose", "mesh": {"box": [1, 1, 1], "cell": 0.5}, "material": "rubber"}]}
        self.write("s.json", scene)
        self.succeed("run", "s.json", "--frames", "240", "--stats", "stats.json", "--quiet")
        last = json.loads(self.read("stats.json"))["frames"][-1]["named_bodies"]
        weight = 0.04 * 930 * 9.81
        beam = last["beam"]["held_forces"]
        self.assertEqual(list(beam), ["left", "held[1]"])
        for force in beam.values():  # half of it each, and alike but mirrored along the beam
            self.assertAlmostEqual(force[1], weight / 2, delta=0.02 * weight)
        self.assertAlmostEqual(beam["left"][0], -beam["held[1]"][0], delta=0.01 * weight)
        self.assertGreater(last["rope"]["held_forces"]["end"][1], 0)
        self.assertNotIn("held_forces", last["loose"])

    def test_trace_is_chrome_json(self):
        self.write("s.json", FALLING)
        self.succeed("run", "s.json", "--trace", "t.json", "--quiet")
        events = json.loads(self.read("t.json"))["traceEvents"]
        spans = [e for e in events if e.get("ph") == "X"]
        self.assertGreaterEqual(len(spans), 20 * len(STAGES))
        self.assertTrue(set(STAGES) <= {e["name"] for e in spans})
        self.assertTrue(all(e["dur"] >= 0 for e in spans))

    def test_frames_and_dt_override_the_scene(self):
        stats = self.stats("--frames", "7", "--dt", "0.005")
        self.assertEqual(len(stats["frames"]), 7)
        self.assertAlmostEqual(stats["frames"][-1]["time"], 0.035, places=7)

    def test_hash_is_the_same_for_any_threads_and_process(self):
        self.write("s.json", FALLING)
        hashes = set()
        for threads in ["1", "2", "2"]:
            out = self.succeed("run", "s.json", "--frames", "200", "--threads", threads).stdout
            hashes.add(re.search(r"state hash ([0-9a-f]{16})", out).group(1))
        self.assertEqual(len(hashes), 1)

    def test_every_scene_ends_in_the_same_state_in_two_processes(self):
        # Threads and snapshots are compared for longer by tests/io/scene_gallery_test.cpp.
        for scene in sorted(pathlib.Path(SOURCE, "scenes").glob("*.json")):
            with self.subTest(scene=scene.stem):
                hashes = set()
                for threads in ["1", "2"]:
                    out = self.succeed("run", scene, "--frames", "30", "--threads", threads).stdout
                    hashes.add(re.search(r"state hash ([0-9a-f]{16})", out).group(1))
                self.assertEqual(len(hashes), 1)

    def test_progress_is_not_drawn_into_files(self):
        self.write("s.json", FALLING)
        self.assertEqual(self.succeed("run", "s.json").stderr, "")

    def test_interrupt_ends_cleanly(self):
        for number in [signal.SIGINT, signal.SIGTERM]:
            for record in ["r.glb", "frames"]:
                with self.subTest(signal=number, record=record):
                    self.write("s.json", FALLING)
                    self.write("st.json", "earlier")
                    before = self.names()
                    code, err = self.interrupt(number, "run", "s.json", "--frames", "9999999", "--record", record,
                                               "--stats", "st.json", when=lambda: self.names() != before)
                    self.assertEqual(code, 130, err)
                    self.assertIn("interrupted after frame", err)
                    self.assertEqual(self.names(), before)
                    self.assertEqual(self.read("st.json"), b"earlier")


class Gallery(CommandTest):
    def test_lists_scenes_with_titles(self):
        out = self.succeed("scenes").stdout
        for name in ["pyramid", "pile", "dominoes", "arch", "newtons_cradle"]:
            self.assertRegex(out, rf"(?m)^{name} +\S")

    def test_runs_every_scene_by_name(self):
        for line in self.succeed("scenes").stdout.splitlines():
            self.succeed("run", line.split()[0], "--frames", "3", "--quiet")

    def test_folder_of_the_environment_comes_first(self):
        self.write("mine/pyramid.json", {"title": "my own pyramid"})
        self.write("mine/other.json", {"title": "another one"})
        out = self.succeed("scenes", environment={"PLIANT_SCENES": self.path("mine")}).stdout
        self.assertIn("my own pyramid", out)
        self.assertIn("another one", out)
        self.assertIn("arch", out)

    def test_suggests_near_names(self):
        err = self.fail_with(1, "run", "pyramyd")
        self.assertIn("did you mean `pyramid`?", err)

    def test_paths_and_names(self):
        self.succeed("check", SOURCE + "/scenes/arch.json")
        self.succeed("check", "arch")


class Check(CommandTest):
    def test_says_what_would_be_simulated(self):
        self.write("s.json", FALLING)
        out = self.succeed("check", "s.json").stdout
        self.assertRegex(out, r"bodies +3 \(2 dynamic, 0 kinematic, 1 static\)")
        # 1 m³ and a sphere of 0.25 m at 1000 kg/m³
        self.assertIn("1065.45 kg", out)
        self.assertRegex(out, r"extent +2\.75 x ")
        self.assertRegex(out, r"duration +0\.3333 s")

    def test_counts_nodes(self):
        self.write("s.json", NODES)
        out = self.succeed("check", "s.json").stdout
        self.assertRegex(out, r"cloths +1 \(25 nodes, 32 triangles\)")
        self.assertRegex(out, r"ropes +1 \(11 nodes\)")
        self.assertRegex(out, r"jellies +1 \(8 nodes, \d+ tets\)")
        self.assertRegex(out, r"anchors +1")

    def test_every_scene_of_the_gallery_is_good(self):
        for line in self.succeed("scenes").stdout.splitlines():
            self.succeed("check", line.split()[0])


class Usage(CommandTest):
    def test_version_and_help(self):
        self.assertRegex(self.succeed("--version").stdout, r"^pliant \d+\.\d+\.\d+\n$")
        for command in [["--help"], ["run", "--help"], ["mesh", "--help"], ["bench", "--help"]]:
            self.assertIn("Usage", self.succeed(*command).stdout)

    def test_nonsense_exits_with_2(self):
        for arguments in [[], ["fly"], ["run"], ["run", "arch", "--frames", "0"], ["run", "arch", "--frames", "x"],
                          ["run", "arch", "--frames", "99999999999999"], ["run", "arch", "--threads", "0"],
                          ["run", "arch", "--threads", "-1"], ["run", "arch", "--nonsense"], ["mesh"],
                          ["mesh", "convert", "a.obj"], ["scenes", "extra"]]:
            self.fail_with(2, *arguments)

    def test_names_unknown_commands(self):
        self.assertIn("there is no command `rnu`; did you mean `run`?", self.fail_with(2, "rnu", "x"))
        self.assertIn("there is no command `mesh inof`; did you mean `info`?", self.fail_with(2, "mesh", "inof", "x"))
        self.assertIn("there is no command `fly`\n", self.fail_with(2, "fly"))
        self.assertIn("required", self.fail_with(2, "mesh"))

    def test_refuses_frame_rates_that_are_none(self):
        for rate in ["nan", "inf", "-inf", "0", "1001", "x"]:
            self.assertIn("--fps", self.fail_with(2, "run", "arch", f"--fps={rate}", "--video", "v.mp4"), rate)

    def test_refuses_steps_that_are_none(self):
        for dt in ["0", "-0.01", "nan", "NaN", "inf", "-inf", "1e999", "1.5", "abc", "", "0.01x"]:
            self.assertIn("--dt", self.fail_with(2, "run", "arch", f"--dt={dt}"), dt)


if __name__ == "__main__":
    main()
