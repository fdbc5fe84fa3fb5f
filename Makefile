# Every target sets up .venv by itself and redoes it when pyproject.toml or constraints.txt changes.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
DEMO ?= demo

.PHONY: help setup demo browser test portable newest coverage lint bench docs clean

help:
	@echo "make demo      set up, predict for people held out, compare models: tables, pictures and a page in $(DEMO)/"
	@echo "make test      set up, lint, type-check and run the tests"
	@echo "make portable  what trains and computes once more, as on other processors: says what fails under which"
	@echo "make newest    the tests with the newest packages, and on Python 3.12 and 3.13 without torch"
	@echo "make coverage  the tests with branch coverage, which takes them nearly twice as long"
	@echo "make lint      ruff and mypy only"
	@echo "make bench     speed and memory, side by side with peers"
	@echo "make docs      build the documentation into site/"
	@echo "make clean     remove everything that was built"

$(READY): pyproject.toml constraints.txt
	@rm -f $@
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[dev]"
	@touch $@

setup: $(READY)

demo: $(READY)
	$(BIN)/aldsurv demo --out $(DEMO)
	$(BIN)/aldsurv benchmark run --datasets gbsg,norm_linear,weibull,lognorm --seeds 3 --out $(DEMO)/benchmark
	$(BIN)/aldsurv benchmark report $(DEMO)/benchmark

# Pages are tried in a real browser; as root on Debian it is installed, elsewhere those tests are skipped without one.
browser:
	@command -v chromium >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
	  && apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq --yes chromium >/dev/null; } || true

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: lint browser
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal

portable: $(READY)
	$(BIN)/python tests/portable.py

newest: $(READY)
	$(BIN)/python tests/newest.py

coverage: $(READY) browser
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal --cov --cov-report=term

bench: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[bench]"
	$(BIN)/python -m bench

docs: $(READY)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "site/index.html"

clean:
	rm -rf $(VENV) .venv-newest $(DEMO) site build dist .coverage .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
