"""Outputs that cannot be written are refused before anything is simulated; a failed run changes nothing."""
import json
import os
import unittest

from command_support import FALLING, CommandTest, main


class Outputs(CommandTest):
    def setUp(self):
        super().setUp()
        # So long that a test which simulates first would run into its time limit.
        self.write("s.json", dict(FALLING, frames=10000000))

    def refuse(self, *arguments, expected=()):
        before = self.names()
        err = self.fail_with(1, "run", "s.json", *arguments, timeout=20)
        for text in expected:
            self.assertIn(text, err)
        self.assertEqual(self.names(), before)

    def test_missing_folder(self):
        for option in ["--record", "--stats", "--trace"]:
            self.refuse(option, "gone/out.glb", expected=["gone"])
        self.refuse("--record", "gone/folder")

    def test_a_file_where_a_folder_should_be(self):
        self.write("file", "x")
        for option in ["--record", "--stats", "--trace"]:
            self.refuse(option, "file/out.glb")
        self.refuse("--record", "file")

    def test_a_folder_where_a_file_should_be(self):
        os.mkdir(self.path("folder.glb"))
        for option in ["--record", "--stats", "--trace"]:
            self.refuse(option, "folder.glb", expected=["folder.glb"])

    def test_a_folder_of_other_files(self):
        self.write("mine/letter.txt", "dear")
        self.refuse("--record", "mine", expected=["mine"])
        self.assertEqual(self.read("mine/letter.txt"), b"dear")

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_read_only_folder(self):
        os.mkdir(self.path("locked"), 0o500)
        for option in ["--record", "--stats", "--trace"]:
            self.refuse(option, "locked/out.glb", expected=["locked"])

    def test_a_place_where_nothing_can_be_made(self):
        for option in ["--record", "--stats", "--trace"]:
            self.refuse(option, "/proc/out.glb", expected=["/proc/out.glb"])

    def test_the_scene_itself(self):
        content = self.read("s.json")
        for option in ["--stats", "--trace"]:
            self.refuse(option, "s.json", expected=["s.json"])
            self.refuse(option, "./s.json")
        self.assertEqual(self.read("s.json"), content)

    def test_two_outputs_in_one_place(self):
        self.refuse("--stats", "o.json", "--trace", "./o.json", expected=["o.json"])

    def test_unknown_probes(self):
        self.refuse("--stats", "o.json", "--probe", "bxo", expected=["--probe bxo", "did you mean `box`?"])
        self.refuse("--probe", "box:7", expected=["only node 0"])
        self.refuse("--probe", "box:x", expected=["BODY:NODE"])

    def test_full_disk(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("there is no /dev/full")
        # A device is no place for a file that is renamed into place.
        self.refuse("--stats", "/dev/full", expected=["/dev/full"])

    def test_a_good_run_replaces_an_earlier_one(self):
        for frames in ["5", "9"]:
            self.succeed("run", "s.json", "--frames", frames, "--record", "vtu", "--stats", "st.json", "--quiet")
            self.assertEqual(len(json.loads(self.read("st.json"))["frames"]), int(frames))
            vtu = [n for n in os.listdir(self.path("vtu")) if n.startswith("frame_")]
            self.assertEqual(len(vtu), int(frames) + 1)
        self.assertEqual(self.names(), ["s.json", "st.json", "vtu"])

    def test_cloth_that_tears(self):
        # The sheet begins to tear at frame 35.
        for record in ["torn.glb", "torn"]:
            self.succeed("run", "tear", "--frames", "60", "--record", record, "--quiet")
        self.assertEqual(self.names(), ["s.json", "torn", "torn.glb"])


if __name__ == "__main__":
    main()
