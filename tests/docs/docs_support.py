"""What the tests of the documentation share. Each is called as: NAME_test.py SOURCE_TREE PLIANT README LESSON SOLIDS
CLOTH, where the last four are the programs made from README.md, docs/hello.md, docs/solids.md and docs/cloth.md."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE, PLIANT, README_PROGRAM, LESSON_PROGRAM, SOLIDS_PROGRAM, CLOTH_PROGRAM = (
    os.path.abspath(a) for a in sys.argv[1:7])


def main():
    unittest.main(argv=[sys.argv[0], *sys.argv[7:]])


def page(name):
    with open(os.path.join(SOURCE, name), encoding="utf-8") as file:
        return file.read()


def pages():
    """All pages, relative to the source tree."""
    docs = sorted(name for name in os.listdir(os.path.join(SOURCE, "docs")) if name.endswith(".md"))
    return ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", *(f"docs/{name}" for name in docs)]


def blocks(text, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


class DocsTest(unittest.TestCase):
    """A test with a folder of its own, which is the working folder of what it runs."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="pliant-docs-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(text)

    def run_program(self, *command):
        result = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=100)
        self.assertEqual(result.returncode, 0, f"{command}\n{result.stdout}\n{result.stderr}")
        return result.stdout
