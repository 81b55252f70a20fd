"""pliant bench: what it prints and writes. How fast things are is no test."""
import json
import os
import re
import signal

from command_support import SOURCE, CommandTest, main


class Bench(CommandTest):
    def test_lists_its_benchmarks(self):
        names = self.succeed("bench", "--list").stdout.split()
        self.assertIn("solid_beam_100k", names)
        self.assertEqual(len(names), len(set(names)))

    def test_knows_the_benchmarks_that_peers_are_told_of(self):
        with open(os.path.join(SOURCE, "bench/peers.cpp"), encoding="utf-8") as file:
            told = re.findall(r'^ +\{"(\w+)", "', file.read(), re.MULTILINE)
        self.assertGreater(len(told), 20)
        self.assertEqual(set(told) - set(self.succeed("bench", "--list").stdout.split()), set())

    def test_prints_peers_and_writes_json(self):
        out = self.succeed("bench", "--filter", "^solid_beam_2k$", "--repeats", "1", "--json", "b.json").stdout
        self.assertRegex(out, r"(?m)^solid_beam_2k +\d+ +\d+\.\d+ +\d+\.\d+ +\d+\.\d+ .*\btets 2400\b")
        self.assertRegex(out, r"(?m)^ +SOFA +4\.300 ")
        written = json.loads(self.read("b.json"))
        self.assertGreater(written["machine"]["cores"], 0)
        (result,) = written["results"]
        self.assertLessEqual(result["ms"]["min"], result["ms"]["median"])
        self.assertLessEqual(result["ms"]["median"], result["ms"]["worst"])
        self.assertLessEqual(result["figures"]["residual"], 1e-3)
        self.assertEqual([peer["by"] for peer in result["peers"]], ["SOFA", "Vega"])

    def test_refuses_filters_that_name_nothing(self):
        self.assertIn("matches no benchmark", self.fail_with(1, "bench", "--filter", "no such thing"))
        self.assertIn("no regular expression", self.fail_with(1, "bench", "--filter", "("))

    def test_refuses_a_file_that_cannot_be_written_before_it_runs(self):
        self.fail_with(1, "bench", "--json", "no/such/folder.json")

    def test_interrupt_ends_cleanly(self):
        for number in [signal.SIGINT, signal.SIGTERM]:
            with self.subTest(signal=number):
                self.write("b.json", "earlier")
                code, err = self.interrupt(number, "bench", "--filter", "^(cloth_|solid_beam_2k$)", "--repeats", "1000",
                                           "--json", "b.json", when=lambda: len(self.names()) > 1)
                self.assertEqual(code, 130, err)
                self.assertRegex(err, r"^interrupted after 0 of \d+ benchmarks; no output was written")
                self.assertEqual(self.names(), ["b.json"])
                self.assertEqual(self.read("b.json"), b"earlier")


if __name__ == "__main__":
    main()
