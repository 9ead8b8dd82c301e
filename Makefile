# make demo       install what is missing, build, explain a model with known truth
# make test       the same set-up, then every test
# make test-full  also the heavy judges, the unit tests under sanitizers, and a fuzz run of every parser
# make statistics measure coverage, width and error of intervals and estimates
BUILD := build/release
export CCACHE_DIR ?= $(CURDIR)/build/ccache

.PHONY: all setup build demo test test-full asan fuzz bench statistics format tidy install clean
all: build

setup:
	@setup/setup.sh

build: setup
	@cmake --preset release >build.log 2>&1 || { cat build.log; exit 1; }
	@cmake --build --preset release
	@rm -f build.log

demo: build
	@$(BUILD)/hifi demo

test: build
	@cd $(BUILD) && ctest --output-on-failure -j 2
	@.venv/bin/python -m pytest -q -n 2 --dist loadfile tests

test-full: test asan fuzz
	@setup/judges.sh
	@.venv/bin/python -m pytest -q -m full tests

# Every parser on broken files, under the sanitizers; FUZZ_SECONDS each.
FUZZ_SECONDS ?= 60
fuzz: asan
	@scripts/fuzz.sh build/asan $(FUZZ_SECONDS)

asan: setup
	@cmake --preset asan >/dev/null && cmake --build --preset asan
	@cd build/asan && ctest --output-on-failure -j 2

bench: setup
	@cmake --preset bench >/dev/null && cmake --build --preset bench
	@benchmarks/run.sh

# The tables of docs/statistics.md; REPETITIONS=20 is a quick look.
REPETITIONS ?= 150
statistics: setup
	@cmake --preset bench >/dev/null && cmake --build --preset bench --target hifi coverage search
	@.venv/bin/python benchmarks/statistics.py build/bench --repetitions $(REPETITIONS)

format:
	@git ls-files '*.cc' '*.h' | xargs clang-format -i

tidy: build
	@git ls-files 'src/*.cc' 'apps/*.cc' | grep -v -e _plugin.cc -e _test.cc | xargs -P 2 -n 4 clang-tidy -p $(BUILD) --quiet

install: build
	@cmake --install $(BUILD) $(if $(PREFIX),--prefix $(PREFIX))

clean:
	@rm -rf build
