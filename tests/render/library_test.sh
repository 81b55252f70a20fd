#!/bin/sh
# libpliant itself needs neither GL nor a window nor another program: library_test.sh LIBRARY
set -eu
symbols=$(nm -u -C "$1" 2>/dev/null; nm -u -D "$1" 2>/dev/null || true)
count=$(printf '%s\n' "$symbols" | wc -l)
[ "$count" -gt 100 ] || { echo "nm found only $count symbols in $1"; exit 1; }
unwanted='gl[A-Z]|egl[A-Z]|glfw|ImGui|posix_spawn|popen|system|exec[vl]|fork'
found=$(printf '%s\n' "$symbols" | grep -E "^ *U ($unwanted)" || true)
[ -z "$found" ] || { echo "libpliant asks for: $found"; exit 1; }
if command -v ldd >/dev/null && ldd "$1" 2>/dev/null | grep -E 'libGL|libEGL|libGLES|glfw|libav|libsw'; then
  echo "libpliant is linked to the libraries above"
  exit 1
fi
