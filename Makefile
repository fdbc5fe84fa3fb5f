# Every target sets up .venv by itself and redoes it when pyproject.toml or constraints.txt changes.
WINDOWS := $(filter Windows_NT,$(OS))
PYTHON ?= $(if $(WINDOWS),python,python3)
VENV := .venv
COMMANDS := $(if $(WINDOWS),Scripts,bin)
BIN := $(VENV)/$(COMMANDS)
READY := $(VENV)/.ready
# A venv without the dependencies of development, in which the wheel is built and then tried.
WHEEL_VENV := .venv-wheel
WHEEL_BIN := $(WHEEL_VENV)/$(COMMANDS)
# The versions the tests were run with; `make test CONSTRAINTS=` takes the newest that the interpreter can have.
CONSTRAINTS ?= constraints.txt
PIP_INSTALL := -m pip install --quiet --disable-pip-version-check $(addprefix --constraint ,$(CONSTRAINTS))
DEMO ?= demo
# Where `make results` runs the benchmark of the paper, and what is in docs/results/paper.csv.
RESULTS := .results
PAPER_PLAN := --models ald,cqrnn,lognormal,deepsurv,deephit,cox,weibull_aft --definition released,printed

.PHONY: help setup demo browser test suite portable newest coverage lint style types bench batch results docs wheel release docker clean

help:
	@echo "make demo      set up, predict for held-out people, compare models: tables, pictures and a page in $(DEMO)/"
	@echo "make test      set up, lint, type-check and run the tests"
	@echo "make suite     set up and run the tests only"
	@echo "make portable  what trains and computes once more, as on other processors: says what fails under which"
	@echo "make newest    the tests with the newest packages, and on Python 3.12 and 3.13 without torch"
	@echo "make coverage  the tests with branch coverage, which takes them nearly twice as long"
	@echo "make lint      ruff and mypy only; make style is ruff alone, make types mypy"
	@echo "make bench     speed and memory, side by side with peers"
	@echo "make batch     the pages on MLflow and Spark whole, which takes a minute; needs Java"
	@echo "make results   what takes minutes of docs/results once more, then the pages; names what takes longer"
	@echo "make docs      build the documentation into site/, and walk its pages where Chromium is installed"
	@echo "make wheel     build the distributions into dist/, install the wheel in an empty venv and try it"
	@echo "make release   check the list of changes, build twice, compare, and try both distributions in empty venvs"
	@echo "make docker    the steps of the Dockerfile in empty venvs, without a container engine, and a request"
	@echo "make clean     remove everything that was built"

$(READY): pyproject.toml $(CONSTRAINTS)
	@rm -f $@
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python $(PIP_INSTALL) --editable ".[dev]"
	@touch $@

setup: $(READY)

demo: $(READY)
	$(BIN)/aldsurv demo --out $(DEMO)
	$(BIN)/aldsurv benchmark run --datasets gbsg,norm_linear,weibull,lognorm --seeds 3 --out $(DEMO)/benchmark
	$(BIN)/aldsurv benchmark report $(DEMO)/benchmark

# Pages are tried in a real browser, and their scripts in Node; as root on Debian both are installed, elsewhere those
# tests are skipped without them.
browser:
	@command -v chromium >/dev/null && command -v node >/dev/null \
	  || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq \
	  && DEBIAN_FRONTEND=noninteractive apt-get install -qq --yes chromium nodejs >/dev/null; } || true
	@[ -d tests/export/node_modules/onnxruntime-web ] || { command -v npm >/dev/null \
	  && npm install --prefix tests/export --no-package-lock --no-audit --no-fund --silent >/dev/null 2>&1; } || true

style: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

lint: style types

test: lint suite

# Bytecode is kept, whatever the environment says: the tests start some two hundred interpreters.
suite: $(READY) browser
	PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal

portable: $(READY)
	$(BIN)/python tests/portable.py

newest: $(READY)
	$(BIN)/python tests/newest.py

coverage: $(READY) browser
	PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal --cov --cov-report=term

batch: $(READY)
	ALDSURV_BATCH_PAGES=1 $(BIN)/python -m pytest tests/pages/test_batch_pages.py

bench: $(READY)
	$(BIN)/python $(PIP_INSTALL) --editable ".[bench]"
	$(BIN)/python -m bench

# The folder of the benchmark is new each time: one with other recipes would not be run again.
results: $(READY)
	rm -rf $(RESULTS)
	$(BIN)/aldsurv benchmark run $(PAPER_PLAN) --out $(RESULTS)
	$(BIN)/python -m bench.export_results $(RESULTS) docs/results/paper.csv
	$(BIN)/python -m bench.paper_evidence truth schedule
	$(BIN)/python -m bench.own_choices bands
	$(BIN)/python -m bench.own_choices seeds
	$(BIN)/python -m bench.own_choices time_scales
	$(BIN)/python -m bench.pages.tutorial_run
	$(BIN)/python -m bench.pages
	$(BIN)/python -m bench.pages --origins

docs: $(READY)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	$(BIN)/python -m bench.site_check site
	@echo "site/index.html"

# Fails while the list of changes has entries under Unreleased; DRAFT=1 builds and tries all the same.
release: $(READY)
	$(BIN)/python -m bench.release $(if $(DRAFT),--draft)

wheel:
	rm -rf dist
	$(PYTHON) -m venv --clear $(WHEEL_VENV)
	$(WHEEL_BIN)/python $(PIP_INSTALL) build
	$(WHEEL_BIN)/python -m build --outdir dist
	$(PYTHON) -m venv --clear $(WHEEL_VENV)
	$(WHEEL_BIN)/python $(PIP_INSTALL) dist/*.whl
	$(WHEEL_BIN)/aldsurv --help
	$(WHEEL_BIN)/python -c "import aldsurv; print(aldsurv.__version__, aldsurv.ALDSurvival())"

# There need not be an engine: each stage becomes a folder with a venv, its commands run there, and the service answers.
docker:
	$(PYTHON) tests/serving/dockerfile_steps.py

clean:
	rm -rf $(VENV) $(WHEEL_VENV) .venv-newest $(DEMO) $(RESULTS) .docs_cache site build dist .coverage .pytest_cache .mypy_cache .ruff_cache .hypothesis
	rm -rf tests/export/node_modules
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
