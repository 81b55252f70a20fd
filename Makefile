# make run     set up, build, simulate the default scene
# make test    set up, build, run all tests
# make build   the command ends up at build/release/pliant
# make bench   the benchmark suite, ours beside plain Bullet's
# make soak    long runs that are no part of the tests
# make format  formats the sources; make check-format only looks
# make asan    the tests under the address and undefined-behaviour sanitizers; make tsan: the thread sanitizer
# make clean   removes build/ and out/

SCENE ?= wrecking_ball
JOBS ?= $(shell nproc)
CMAKE_FLAGS ?=

SOURCES = $(shell git ls-files --cached --others --exclude-standard '*.h' '*.cpp')

.PHONY: run test build bench soak format check-format asan tsan clean

run: build
	@mkdir -p out
	@build/release/pliant run $(SCENE) --record out/$(SCENE).glb --stats out/$(SCENE).json \
	  --video out/$(SCENE).mp4 --image out/$(SCENE).png --size 960x540 --fps 30

build:
	@scripts/setup build
	@mkdir -p build
	@cmake --preset release -DPLIANT_BUILD_TESTS=OFF $(CMAKE_FLAGS) > build/configure.log 2>&1 || \
	  { cat build/configure.log; exit 1; }
	@cmake --build build/release -j $(JOBS)

test:
	@scripts/setup test
	@scripts/test release $(JOBS) $(CMAKE_FLAGS)

asan tsan:
	@scripts/setup test
	@scripts/test $@ $(JOBS) $(CMAKE_FLAGS)

bench: build
	@build/release/pliant bench

soak: build
	@scripts/soak

format:
	@clang-format -i $(SOURCES)

check-format:
	@clang-format --dry-run --Werror $(SOURCES)

clean:
	@rm -rf build out
