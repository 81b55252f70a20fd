"""What the tests of the window share. Each is called as: NAME_test.py PLIANT SOURCE_TREE [unittest's arguments]

They start an X server of their own, run `pliant view` on it with a log, and act by xdotool. They wait for what the log
says, never for a time: a slow machine only makes them slower.
"""
import atexit
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import window_manager

PLIANT, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
DEADLINE = 60  # s for anything to happen


def main():
    missing = [tool for tool in ("Xvfb", "xdotool", "ffmpeg") if shutil.which(tool) is None]
    if missing:
        print(f"SKIPPED: the window cannot be tested without {', '.join(missing)} (scripts/setup test)")
        sys.exit(77)
    start_display()
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])


def start_display():
    read, write = os.pipe()
    server = subprocess.Popen(["Xvfb", "-displayfd", str(write), "-screen", "0", "1300x900x24", "-nolisten", "tcp"],
                              pass_fds=[write], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.close(write)
    atexit.register(lambda: (server.terminate(), server.wait()))
    number = b""
    while not number.endswith(b"\n"):
        piece = os.read(read, 16)
        if not piece:
            sys.exit("Xvfb ended before it began")
        number += piece
    os.environ["DISPLAY"] = f":{number.decode().strip()}"


BOX = {
    "title": "a box on the ground",
    "bodies": [
        {"kind": "ground"},
        {"kind": "rigid", "name": "box", "shape": {"kind": "box"}, "position": [0, 0.5, 0],
         "color": [0.8, 0.1, 0.05]},
    ],
    "camera": {"from": [0, 2, 8], "look_at": [0, 1, 0]},
}


class ViewTest(unittest.TestCase):
    """A test with a folder of its own, where the window's log and output go."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="pliant-view-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.process = None
        self.addCleanup(self.end)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def write(self, name, content):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(content if isinstance(content, str) else json.dumps(content))
        return self.path(name)

    # --- The window ---------------------------------------------------------------------------------------------------
    def open(self, scene, *options, environment=None):
        """Starts the window and waits for its first pictures."""
        self.process = subprocess.Popen(
            [PLIANT, "view", scene, "--log", self.path("log.jsonl"), "--output", self.folder, *options],
            cwd=self.folder, env=dict(os.environ, **(environment or {})), stderr=subprocess.PIPE, text=True)
        self.wait("the window opens", lambda s: s["frame"] >= 1)
        self.window = self.tool("search", "--sync", "--onlyvisible", "--pid", str(self.process.pid)).split()[0]
        return self.state()

    def end(self):
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
        if self.process is not None:
            self.process.communicate()

    def ended(self):
        """The exit code and what was said, after it ends by itself."""
        _, said = self.process.communicate(timeout=DEADLINE)
        return self.process.returncode, said

    def close(self):
        window_manager.ask_to_close(int(self.window))
        code, said = self.ended()
        self.assertEqual((code, said), (0, ""))

    def interrupt(self):
        self.process.send_signal(signal.SIGINT)
        return self.ended()

    def state(self):
        """The newest whole line of the log."""
        try:
            with open(self.path("log.jsonl"), "rb") as file:
                file.seek(0, os.SEEK_END)
                file.seek(max(0, file.tell() - 200000))
                lines = file.read().split(b"\n")
            return json.loads(lines[-2])
        except (OSError, IndexError, ValueError):
            return None

    def wait(self, what, condition):
        """The first state that meets the condition."""
        end = time.monotonic() + DEADLINE
        while time.monotonic() < end:
            state = self.state()
            if state is not None and condition(state):
                return state
            if self.process.poll() is not None:
                self.fail(f"{what}: the window ended: {self.ended()}")
            time.sleep(0.02)
        self.fail(f"{what}: not within {DEADLINE} s; {self.state()}")

    def next_states(self, count=2):
        """A state that was written after all that was done so far had an effect."""
        frame = self.state()["frame"]
        return self.wait("frames go on", lambda s: s["frame"] > frame + count)

    # --- The hand -----------------------------------------------------------------------------------------------------
    def tool(self, *arguments):
        done = subprocess.run(["xdotool", *arguments], capture_output=True, text=True, timeout=DEADLINE, check=False)
        self.assertEqual(done.returncode, 0, f"{arguments}: {done.stderr}")
        return done.stdout

    def move(self, x, y):
        self.tool("mousemove", "--window", self.window, str(round(x)), str(round(y)))
        self.next_states()

    def press(self, button=1):
        self.tool("mousedown", str(button))
        self.next_states()

    def release(self, button=1):
        self.tool("mouseup", str(button))
        self.next_states()

    def drag(self, a, b, button=1):
        self.move(*a)
        self.press(button)
        for i in (0.25, 0.5, 0.75, 1):
            self.move(a[0] + i * (b[0] - a[0]), a[1] + i * (b[1] - a[1]))
        self.release(button)

    def click(self, label):
        state = self.wait(f"`{label}` is there", lambda s: label in s["controls"])
        self.move(*state["controls"][label])
        self.tool("click", "1")
        self.next_states(3)

    def scroll_to(self, label):
        """Turns the wheel over the open list, whose first entries are there, until `label` is there too."""
        entries = [at for name, at in self.next_states()["controls"].items() if name.startswith("Scene ")]
        self.move(*entries[0])
        for wheel in ("5", "4"):
            for _ in range(40):
                if label in self.state()["controls"]:
                    return
                self.tool("click", wheel)
                self.next_states()

    def key(self, name):
        self.tool("key", "--window", self.window, name)
        self.next_states()
