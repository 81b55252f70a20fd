#!/usr/bin/python3
"""Gmsh reads what pliant writes, and pliant reads what Gmsh writes.

usage: check_gmsh.py MESH_SAMPLES FOLDER
"""
import os
import shutil
import subprocess
import sys

if not shutil.which("gmsh"):
    print("SKIPPED: gmsh is not installed")
    sys.exit(77)

samples, folder = sys.argv[1], sys.argv[2]
os.makedirs(folder, exist_ok=True)
failures = 0


def run(*command):
    global failures
    result = subprocess.run(command, capture_output=True, text=True, timeout=120)
    text = result.stdout + result.stderr
    bad = result.returncode != 0 or "Error" in text or "Warning" in text
    if bad:
        failures += 1
        print("FAILED:", *command, "\n" + text[-2000:])
    return not bad


run(samples, "write", folder)
count = 0
for kind in ("surface", "solid"):
    for version in ("2.2", "4.1"):
        for encoding in ("text", "binary"):
            ours = os.path.join(folder, f"{kind}_{version}_{encoding}.msh")
            for to, flags in (("msh2", []), ("msh2", ["-bin"]), ("msh41", []), ("msh41", ["-bin"])):
                theirs = os.path.join(folder, f"theirs_{kind}_{version}_{encoding}_{to}{'b' if flags else ''}.msh")
                # Gmsh reads our file and writes it again; the numbers must survive both ways.
                if run("gmsh", ours, "-save", "-format", to, *flags, "-o", theirs, "-v", "2"):
                    run(samples, "expect" if kind == "surface" else "same", kind, theirs)
                count += 1
print(f"{count} conversions, {failures} failures")
sys.exit(1 if failures else 0)
