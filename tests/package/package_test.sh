#!/bin/sh
# Installs pliant into a temporary prefix and builds a stranger's program against it, by find_package and by pkg-config.
#   package_test.sh BUILD_FOLDER SOURCE_FOLDER
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$1" --prefix "$work/prefix" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }

expect() { [ "$2" = "pliant 0.1.0: the ball rests at 0.20 m" ] || { echo "$1 printed: $2"; exit 1; }; }

cmake -S "$2/tests/package/consumer" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_PREFIX_PATH="$work/prefix" >"$work/log" 2>&1 && cmake --build "$work/build" >>"$work/log" 2>&1 ||
  { cat "$work/log"; exit 1; }
expect find_package "$("$work/build/consumer")"

export PKG_CONFIG_PATH="$work/prefix/lib/pkgconfig:$work/prefix/lib/$(c++ -print-multiarch 2>/dev/null || true)/pkgconfig"
c++ -std=c++20 "$2/tests/package/consumer/main.cpp" -o "$work/consumer" $(pkg-config --cflags --libs pliant)
expect pkg-config "$("$work/consumer")"

# The command finds its scenes where it was installed.
(cd "$work" && prefix/bin/pliant scenes | grep -q pyramid)
echo "installed, found and used"
