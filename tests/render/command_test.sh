#!/bin/sh
# Pictures through the command: command_test.sh PLIANT SCENES
set -eu
pliant=$1
scene=$2/newtons_cradle.json
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

fail() { echo "FAILED: $*"; exit 1; }
hash_of() { sed -n 's/.*state hash \([0-9a-f]*\).*/\1/p' "$1"; }
run() { "$pliant" run "$scene" --frames 12 --size 96x64 "$@"; }

# The same simulation with and without pictures.
run > plain.txt 2>&1
run --image a.png --image-frame 3 --color speed --wireframe --camera auto > image.txt 2>&1 || fail "$(cat image.txt)"
[ -n "$(hash_of plain.txt)" ] || fail "no hash"
[ "$(hash_of plain.txt)" = "$(hash_of image.txt)" ] || fail "a picture changed the simulation"
size=$(od -An -tu1 -j16 -N8 a.png | tr -s ' ')
[ "$size" = " 0 0 0 96 0 0 0 64" ] || fail "the picture's size is $size"

# Without ffmpeg: a warning and a folder of frames, the start and one per step.
mkdir empty
PATH="$folder/empty" "$pliant" run "$scene" --frames 12 --size 96x64 --video b.mp4 > video.txt 2> warnings.txt
[ "$(hash_of plain.txt)" = "$(hash_of video.txt)" ] || fail "a video changed the simulation"
grep -q 'ffmpeg.*is not installed' warnings.txt || fail "no warning about ffmpeg"
[ "$(ls b_frames | wc -l)" = 13 ] || fail "$(ls b_frames | wc -l) frames"

# With it: a video, at its own rate.
if command -v ffmpeg > /dev/null; then
  run --video c.mp4 --gif c.gif --fps 30 > video.txt 2>&1 || fail "$(cat video.txt)"
  [ "$(hash_of plain.txt)" = "$(hash_of video.txt)" ] || fail "a video changed the simulation"
  count=$(ffprobe -v error -count_frames -select_streams v -show_entries stream=nb_read_frames -of csv=p=0 c.mp4)
  [ "$count" = 7 ] || fail "$count frames at 30 per second"
  [ -s c.gif ] || fail "no GIF"
fi

# Cloth in the middle of its tearing: it gets nodes from frame 35 on.
"$pliant" run "$2/tear.json" --frames 45 --size 96x64 --image torn.png --image-frame 40 > torn.txt 2>&1 ||
  fail "$(cat torn.txt)"
[ -s torn.png ] || fail "no picture of torn cloth"

# Refused before anything is simulated or written.
for options in "--video d.avi" "--image d.jpg" "--image d.png --image-frame 13" "--image d.png --size 5x5" \
  "--image missing/d.png" "--image d.png --color pink" "--image d.png --gif d.png" "--video d.mp4 --fps 0"; do
  if run $options > out.txt 2>&1; then fail "$options was let through"; fi
  grep -q '^error: ' out.txt || fail "$options: $(cat out.txt)"
done
[ -z "$(ls -A | grep '^\.\|^d' || true)" ] || fail "left behind: $(ls -A)"
