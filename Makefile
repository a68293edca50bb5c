# Needs Python 3.11 or newer with venv, make and a C++20 compiler. Every target installs what it needs into .venv (chromium and
# PostgreSQL: into the system) and compiles in build.
#
#   make demo     learn and print two trees          make bench     time against other libraries
#   make test     the tests, slow ones left out      make sanitize  the tests under address and undefined sanitizers
#   make lint     every check of style and types     make format    lay out Python and C++ as lint wants them
#   make docs     the site, in build/docs            make fuzz      random tables and mutated files, MINUTES=10
#   make wheels   sdist and wheels, tested, in dist  make sanitize-threads  those that use threads under TSan
#   make clean    remove .venv, build and caches

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# Every version is that of requirements.lock on the Python that it was made with; other Pythons take the newest.
LOCK := $(shell $(PYTHON) -c "import sys; print('-c requirements.lock' if sys.version_info[:2] == (3, 11) else '')")
# Ninja would start two compilers more than there are processors, and large files slow each other.
PROCESSORS := $(shell $(PYTHON) -c "import os; print(os.cpu_count())")
export CMAKE_BUILD_PARALLEL_LEVEL ?= $(PROCESSORS)
CORE := $(wildcard core/*/*.cpp core/*/*.hpp)
PACKAGE := $(shell find src/treewright -type f ! -name '*.pyc' ! -name _core.pyi)

.PHONY: demo test lint format docs fuzz bench sanitize sanitize-threads wheels clean

demo: $(VENV)/core.stamp
	@$(BIN)/python examples/demo.py

test: $(VENV)/core.stamp $(VENV)/test.stamp $(VENV)/system.stamp
	$(BIN)/python -m pytest -n 2 $(ARGS)

lint: $(VENV)/core.stamp $(VENV)/lint.stamp
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/clang-format --dry-run --Werror $(CORE)
	$(BIN)/python tools/check_includes.py
	$(BIN)/python tools/check_sizes.py
	$(BIN)/lint-imports --no-logo
	$(BIN)/mypy

format: $(VENV)/lint.stamp
	$(BIN)/ruff check --fix-only
	$(BIN)/python tools/tree_schema.py
	$(BIN)/ruff format
	$(BIN)/clang-format -i $(CORE)

# A warning is an error: a link that leads nowhere, a name without a description.
docs: $(VENV)/core.stamp $(VENV)/docs.stamp
	$(BIN)/python -m sphinx -W --keep-going -q docs build/docs $(ARGS)
	@echo build/docs/index.html

# Random tables and mutated files; a failure is printed once, and its smallest case is written to tests/fuzz/corpus.
# tests/fuzz/runs.csv counts the cases of all runs.
fuzz: $(VENV)/core.stamp $(VENV)/test.stamp
	$(BIN)/python tests/fuzz/fuzz_run.py --keep --record --minutes $(or $(MINUTES),10) $(ARGS)

bench: $(VENV)/core.stamp $(VENV)/bench.stamp
	$(BIN)/python bench/run.py $(ARGS)

# The whole suite under address and undefined-behaviour sanitizers, and the tests that use threads under the thread
# sanitizer; TESTS="tests/test_costs.py" runs a portion. Both run in an empty environment that borrows the packages of
# .venv: in .venv itself the editable install would come first. Python and numpy are not instrumented, so only what the
# core does is reported.
SANITIZED = rm -f build/$@/log.*; \
	LD_PRELOAD="$$(g++ -print-file-name=$(1)) $$(g++ -print-file-name=libstdc++.so)" \
	ASAN_OPTIONS=detect_leaks=0:log_path=$(CURDIR)/build/$@/log UBSAN_OPTIONS=print_stacktrace=1 \
	TSAN_OPTIONS=halt_on_error=0:exitcode=66:log_path=$(CURDIR)/build/$@/log:ignore_noninstrumented_modules=1 \
	PYTHONPATH="$(CURDIR)/build/$@/site:$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("platlib"))')" \
	build/$@/venv/bin/python -m pytest -n 2 $(2) $(ARGS) || { cat build/$@/log.*; exit 1; }
# polars does not start under the thread sanitizer, so no file here imports it; nor can a forked process start threads.
THREADED = --deselect tests/test_long_fits.py::test_a_fork_after_a_fit_can_fit $(addprefix tests/test_, histogram_search.py extremes.py long_fits.py disk_partitions.py against_oracle.py \
	predict.py optimal_hypothesis.py stability.py shap_values.py shared_folds.py pilot.py linear_leaves.py)

# How much memory a process takes is the sanitizer's doing there.
OF_MEMORY = $(addprefix --deselect tests/test_, disk_partitions.py::test_memory_stays_below_the_limit \
	many_classes.py::test_peak_memory_does_not_grow_as_nodes_times_classes chunks.py::test_memory_is_bounded \
	extremes.py::test_memory_does_not_grow_with_nodes_times_classes predict_large.py::test_a_file_larger_than_its_memory \
	defaults.py::test_the_libraries_take_no_more_than_the_floor_says)

# A child of a process with many threads may wait for ever for the sanitizer's allocator: these have one of their own.
FORKS = $(addprefix tests/test_, long_fits.py::test_a_fork_after_a_fit_can_fit \
	studio_session.py::test_killed_at_any_moment_at_most_the_edit_in_flight_is_lost)

sanitize: build/sanitize/site.stamp $(VENV)/test.stamp
	$(call SANITIZED,libasan.so,$(OF_MEMORY) $(addprefix --deselect ,$(FORKS)) $(or $(TESTS),tests))
	$(call SANITIZED,libasan.so,-n 0 $(FORKS))

sanitize-threads: build/sanitize-threads/site.stamp $(VENV)/test.stamp
	$(call SANITIZED,libtsan.so,$(or $(TESTS),$(THREADED)))
	@! ls build/$@/log.* 2>/dev/null || { cat build/$@/log.*; exit 1; }

# One stable-ABI wheel serves 3.12 and later; 3.11 has its own. PYTHONS names the interpreters to build for and to test on.
PYTHONS ?= $(PYTHON)
wheels: $(VENV)/tools.stamp $(VENV)/release.stamp
	$(BIN)/python tools/build_wheels.py $(PYTHONS)
	$(BIN)/python tools/check_wheel.py $(PYTHONS)

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	rm -f src/treewright/_core.pyi
	find src tests bench examples -name __pycache__ -type d -prune -exec rm -rf {} +

# --- what the targets stand on ----------------------------------------------------------------------------------------

# The build tools lie in .venv instead of pip's throwaway environment, so that an edit recompiles one file and not all.
# The backend lists what else it needs: cmake and ninja, where the machine has none.
$(VENV)/tools.stamp: pyproject.toml requirements.lock
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['build-system']['requires'])" \
		| xargs -r $(PIP) install $(LOCK)
	$(BIN)/python -c "from scikit_build_core.build import get_requires_for_build_editable as r; print(*r())" \
		| xargs -r $(PIP) install $(LOCK)
	@touch $@

$(VENV)/core.stamp: $(VENV)/tools.stamp CMakeLists.txt $(wildcard core/*) $(CORE)
	$(PIP) install $(LOCK) --no-build-isolation --editable .
	@touch $@

# Built again where the core or the package has changed, so that a portion of the tests starts at once.
SANITIZERS_sanitize := address,undefined
SANITIZERS_sanitize-threads := thread
build/sanitize/site.stamp build/sanitize-threads/site.stamp: build/%/site.stamp: $(VENV)/core.stamp CMakeLists.txt $(CORE) $(PACKAGE)
	$(PIP) install --no-build-isolation --no-deps --upgrade --target build/$*/site \
		-C build-dir=build/$*/build -C cmake.define.TREEWRIGHT_SANITIZE=$(SANITIZERS_$*) .
	$(PYTHON) -m venv --without-pip build/$*/venv
	@touch $@

# Pages are tested in a real browser, queries in a real server. Where one is not there and cannot be installed, its tests
# are skipped and say so.
$(VENV)/system.stamp: | $(VENV)/tools.stamp
	@missing=; command -v chromium >/dev/null || missing="chromium"; \
	ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || missing="$$missing postgresql"; \
	test -z "$$missing" || (apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
		--no-install-recommends $$missing) >$(VENV)/system.log 2>&1 || echo "not installed, their tests are skipped: $$missing"
	@touch $@

$(VENV)/test.stamp $(VENV)/lint.stamp $(VENV)/bench.stamp $(VENV)/docs.stamp $(VENV)/release.stamp: $(VENV)/%.stamp: $(VENV)/tools.stamp | $(VENV)/core.stamp
	$(PIP) install $(LOCK) --no-build-isolation --editable '.[$*]'
	@touch $@
