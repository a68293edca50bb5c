# Comes in: Python 3.11 or newer with venv, make and a C++20 compiler. Goes out: each target below, self-sufficient.
# Always holds: everything installed lies in .venv (but chromium and PostgreSQL, packages of the system), everything compiled in
# build; a target installs only what changed.
#
#   make demo     learn and print two trees          make bench     time against other libraries
#   make test     the tests, slow ones left out      make sanitize  the tests under address and undefined sanitizers
#   make lint     every check of style and types     make format    lay out Python and C++ as lint wants them
#   make docs     the site, in build/docs            make clean     remove .venv, build and caches

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
CORE := $(wildcard core/*/*.cpp core/*/*.hpp)

.PHONY: demo test lint format docs bench sanitize clean

demo: $(VENV)/core.stamp
	@$(BIN)/python examples/demo.py

test: $(VENV)/core.stamp $(VENV)/test.stamp $(VENV)/system.stamp
	$(BIN)/python -m pytest -n 2 $(ARGS)

lint: $(VENV)/core.stamp $(VENV)/lint.stamp
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/clang-format --dry-run --Werror $(CORE)
	$(BIN)/python tools/check_includes.py
	$(BIN)/lint-imports --no-logo
	$(BIN)/mypy

format: $(VENV)/lint.stamp
	$(BIN)/ruff check --fix-only
	$(BIN)/ruff format
	$(BIN)/clang-format -i $(CORE)

# A warning is an error: a link that leads nowhere, a name without a description.
docs: $(VENV)/core.stamp $(VENV)/docs.stamp
	$(BIN)/python -m sphinx -W --keep-going -q docs build/docs $(ARGS)
	@echo build/docs/index.html

bench: $(VENV)/core.stamp $(VENV)/bench.stamp
	$(BIN)/python bench/run.py $(ARGS)

# Runs in an empty environment that borrows the packages of .venv: in .venv itself the editable install would come first.
sanitize: $(VENV)/core.stamp $(VENV)/test.stamp
	$(PIP) install --no-build-isolation --no-deps --upgrade --target build/sanitize/site \
		-C build-dir=build/sanitize/build -C cmake.define.TREEWRIGHT_SANITIZE=address,undefined .
	$(PYTHON) -m venv --without-pip build/sanitize/venv
	rm -f build/sanitize/log.*
	LD_PRELOAD="$$(g++ -print-file-name=libasan.so) $$(g++ -print-file-name=libstdc++.so)" \
		ASAN_OPTIONS=detect_leaks=0:log_path=build/sanitize/log UBSAN_OPTIONS=print_stacktrace=1 \
		PYTHONPATH="build/sanitize/site:$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("platlib"))')" \
		build/sanitize/venv/bin/python -m pytest -n 2 tests $(ARGS) || { cat build/sanitize/log.*; exit 1; }

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	rm -f src/treewright/_core.pyi
	find src tests bench examples -name __pycache__ -type d -prune -exec rm -rf {} +

# --- what the targets stand on ----------------------------------------------------------------------------------------

# The build tools lie in .venv instead of pip's throwaway environment, so that an edit recompiles one file and not all.
# The backend is asked what else it misses: cmake and ninja, where the machine has none.
$(VENV)/tools.stamp: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['build-system']['requires'])" \
		| xargs -r $(PIP) install
	$(BIN)/python -c "from scikit_build_core.build import get_requires_for_build_editable as r; print(*r())" \
		| xargs -r $(PIP) install
	@touch $@

$(VENV)/core.stamp: $(VENV)/tools.stamp CMakeLists.txt $(wildcard core/*) $(CORE)
	$(PIP) install --no-build-isolation --editable .
	@touch $@

# Pages are tested in a real browser, queries in a real server. Where one is not there and cannot be installed, its tests
# are skipped and say so.
$(VENV)/system.stamp: | $(VENV)/tools.stamp
	@missing=; command -v chromium >/dev/null || missing="chromium"; \
	ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || missing="$$missing postgresql"; \
	test -z "$$missing" || (apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
		--no-install-recommends $$missing) >$(VENV)/system.log 2>&1 || echo "not installed, their tests are skipped: $$missing"
	@touch $@

$(VENV)/test.stamp $(VENV)/lint.stamp $(VENV)/bench.stamp $(VENV)/docs.stamp: $(VENV)/%.stamp: $(VENV)/tools.stamp | $(VENV)/core.stamp
	$(PIP) install --no-build-isolation --editable '.[$*]'
	@touch $@
