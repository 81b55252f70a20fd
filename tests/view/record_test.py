"""Screenshots and recordings. The oracle of a screenshot is the picture that `pliant run` makes without a display."""
import os
import shutil
import subprocess

from view_support import BOX, PLIANT, ViewTest, main


class Picture:
    """Pixels of three bytes, read by ffmpeg."""

    def __init__(self, width, height, *source):
        self.width, self.height = width, height
        command = ["ffmpeg", "-v", "error", "-nostdin", *source, "-frames:v", "1", "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
        self.bytes = subprocess.run(command, capture_output=True, check=True, timeout=60).stdout
        if len(self.bytes) != 3 * width * height:
            raise ValueError(f"{source}: not {width}x{height}")

    def pixels(self, left=0, top=0, right=None, bottom=None):
        """All bytes of a part of the picture."""
        out = bytearray()
        for y in range(top, bottom or self.height):
            row = 3 * y * self.width
            out += self.bytes[row + 3 * left:row + 3 * (right or self.width)]
        return out


def mean_difference(a, b):
    return sum(abs(x - y) for x, y in zip(a, b)) / len(a)


def share_of_other_bytes(a, b):
    """Those that one would see to be different."""
    return sum(abs(x - y) > 12 for x, y in zip(a, b)) / len(a)


class Recording(ViewTest):
    def saved(self, name):
        state = self.wait(f"{name} is saved", lambda s: s["notice"].endswith(name))
        self.assertTrue(state["notice"].startswith("saved "), state["notice"])
        return self.path(name)

    def test_screenshot_is_the_picture_of_a_run(self):
        scene = self.write("box.json", BOX)
        self.open(scene, "--paused", "--size", "900x500")
        self.click("Screenshot")
        width, height = 570, 500  # without the panel
        seen = Picture(width, height, "-i", self.saved("box-1.png")).pixels()
        subprocess.run([PLIANT, "run", scene, "--frames", "1", "--image", "run.png", "--image-frame", "0", "--size",
                        f"{width}x{height}", "--quiet"], cwd=self.folder, check=True, timeout=120)
        expected = Picture(width, height, "-i", self.path("run.png")).pixels()
        self.assertLess(mean_difference(seen, expected), 0.5)
        self.assertLess(share_of_other_bytes(seen, expected), 0.002)
        self.assertGreater(max(expected) - min(expected), 100)  # there is something to see

        # What lies over the picture is in it too, and changes nothing else.
        self.click("Bounding boxes")
        self.key("p")
        changed = share_of_other_bytes(seen, Picture(width, height, "-i", self.saved("box-2.png")).pixels())
        self.assertGreater(changed, 0.002)
        self.assertLess(changed, 0.1)
        self.close()

    def test_window_shows_what_the_screenshot_has(self):
        self.open(self.write("box.json", BOX), "--paused", "--size", "900x500", "--quality", "full")
        self.click("Screenshot")
        picture = Picture(570, 500, "-i", self.saved("box-1.png"))
        self.next_states(5)
        where = dict(line.split("=") for line in self.tool("getwindowgeometry", "--shell", self.window).split())
        window = Picture(900, 500, "-f", "x11grab", "-draw_mouse", "0", "-video_size", "900x500", "-i",
                         f"{os.environ['DISPLAY']}+{where['X']},{where['Y']}")
        # The middle, where neither the status line nor messages stand.
        middle = (50, 80, 520, 350)
        self.assertLess(mean_difference(window.pixels(*middle), picture.pixels(*middle)), 1)
        self.close()

    def test_records_until_it_is_stopped_or_closed(self):
        self.open(self.write("box.json", BOX), "--size", "640x400", "--quality", "light")
        self.click("Record")
        begun = self.wait("it records", lambda s: s["recording"])
        self.tool("windowsize", self.window, "800", "420")  # the film keeps its size
        self.wait("some time passes", lambda s: s["time"] > begun["time"] + 0.5)
        self.click("Record")
        self.wait("it has stopped", lambda s: not s["recording"])
        seconds = self.length(self.saved("box-1.mp4"))
        self.assertGreater(seconds, 0.45)
        self.key("v")
        self.wait("it records again", lambda s: s["recording"])
        time = self.state()["time"]
        self.wait("some time passes", lambda s: s["time"] > time + 0.3)
        self.close()
        self.assertGreater(self.length(self.path("box-2.mp4")), 0.2)
        self.assertFalse([name for name in os.listdir(self.folder) if name.startswith(".")])

    def length(self, file):
        if shutil.which("ffprobe") is None:
            return len(os.listdir(file.replace(".mp4", "_frames"))) / 30
        done = subprocess.run(["ffprobe", "-v", "error", "-count_frames", "-select_streams", "v", "-show_entries",
                               "stream=nb_read_frames", "-of", "csv=p=0", file], capture_output=True, text=True,
                              check=True, timeout=60)
        return int(done.stdout) / 30


if __name__ == "__main__":
    main()
