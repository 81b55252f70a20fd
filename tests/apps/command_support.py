"""What the tests of the command share. Each is called as: NAME_test.py PLIANT SOURCE_TREE [unittest's arguments]"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

PLIANT, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])


def main():
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])


class CommandTest(unittest.TestCase):
    """A test with a folder of its own, which is the working folder of the command."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="pliant-apps-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def write(self, name, content):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        if not isinstance(content, (str, bytes)):
            content = json.dumps(content)
        with open(self.path(name), "wb" if isinstance(content, bytes) else "w") as f:
            f.write(content)
        return self.path(name)

    def read(self, name):
        with open(self.path(name), "rb") as f:
            return f.read()

    def names(self):
        """All files and folders there are, hidden ones too."""
        return sorted(os.listdir(self.folder))

    def pliant(self, *arguments, timeout=120, environment=None):
        env = dict(os.environ, **(environment or {}))
        return subprocess.run([PLIANT, *arguments], cwd=self.folder, env=env, capture_output=True, text=True,
                              timeout=timeout)

    def interrupt(self, number, *arguments, when):
        """The exit code and stderr of a command that gets the signal a moment after `when()` holds."""
        run = subprocess.Popen([PLIANT, *arguments], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True)
        deadline = time.time() + 30
        while not when() and time.time() < deadline:
            time.sleep(0.02)
        time.sleep(0.3)
        run.send_signal(number)
        _, err = run.communicate(timeout=60)
        return run.returncode, err

    def succeed(self, *arguments, **options):
        result = self.pliant(*arguments, **options)
        self.assertEqual(result.returncode, 0, f"{arguments}\n{result.stdout}\n{result.stderr}")
        return result

    def fail_with(self, code, *arguments, **options):
        """The command's stderr. A crash would be a negative code."""
        result = self.pliant(*arguments, **options)
        self.assertEqual(result.returncode, code, f"{arguments}\n{result.stdout}\n{result.stderr}")
        self.assertTrue(result.stderr.startswith("error: "), result.stderr)
        return result.stderr


FALLING = {
    "title": "a box falls",
    "frames": 20,
    "bodies": [
        {"kind": "ground"},
        {"kind": "rigid", "name": "box", "shape": {"kind": "box"}, "position": [0, 3, 0]},
        {"kind": "rigid", "name": "ball", "shape": {"kind": "sphere", "radius": 0.25}, "position": [2, 1, 0],
         "velocity": [1, 0, 0]},
    ],
}
