# Self-contained: each target makes its virtual environment if need be. `make demo` and `make test`
# are the two commands of the README.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
DATA := sraven-M4-K8

# A file of versions with hashes, such as .ci/constraints.txt: exactly those are installed for `make test`,
# `lint` and `docs`. Without it, the newest that setup.cfg allows.
CONSTRAINTS ?=

.PHONY: demo test test-long test-oldest lint bench docs snapshot clean

demo: $(VENV)/plain
	$(BIN)/sraven generate --M 4 --K 8 --holdout 0.25 --out $(DATA)
	$(BIN)/python -c 'from datasets import load_dataset; print(load_dataset("$(DATA)"))'
	$(BIN)/sraven show --explain

# Tests start hundreds of processes, each of which would compile the sources anew without bytecode on disk.
test test-long test-oldest: export PYTHONDONTWRITEBYTECODE =

test: $(VENV)/dev
	$(BIN)/python -m pytest -n auto --dist worksteal

# What `make test` leaves out: meshes and several processes, Ray, pages that train, every filed entry and digest.
test-long: $(VENV)/dev
	$(BIN)/python -m pytest -m long -n auto --dist worksteal $$(grep -rl --include='test_*.py' mark.long tests | sort)

# The same with the oldest version of everything that setup.cfg names and allows. The harnesses for language
# models allow less of some packages, so they have an environment of their own.
test-oldest: $(VENV)/oldest/checks $(VENV)/oldest-llm/llm
	$(VENV)/oldest/bin/python -m pytest -m "long or not long" -n auto --dist worksteal
	$(VENV)/oldest-llm/bin/python -m pytest -m "long or not long" tests/harness

lint: $(VENV)/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

bench: $(VENV)/plain
	$(BIN)/sraven bench

docs: $(VENV)/dev
	$(BIN)/python -m sphinx -W --keep-going -j auto -b html docs docs/_build/html
	$(BIN)/sraven leaderboard --html docs/_build/html/leaderboard --link Documentation=../index.html \
		$(if $(REPOSITORY),--link Repository=$(REPOSITORY))

# The leaderboard as the package brings it; the workflow `snapshot` writes it when an entry was merged.
snapshot: $(VENV)/plain
	$(BIN)/sraven leaderboard --leaderboard docs/leaderboard --snapshot sraven/leaderboard/snapshot/standing.json

clean:
	rm -rf $(VENV) docs/_build

$(VENV)/plain: setup.cfg pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

# Virtual environments by uv, which is several times as fast as pip. Its bytecode is left to Python.
venv = $(PYTHON) -m venv $(1) && $(1)/bin/python -m pip install --quiet uv
install = $(1)/bin/python -m uv pip install --quiet --python $(1)/bin/python
OLDEST = --resolution lowest-direct --editable

$(VENV)/oldest/checks: setup.cfg pyproject.toml
	$(call venv,$(VENV)/oldest)
	$(call install,$(VENV)/oldest) $(OLDEST) '.[checks]'
	touch $@

$(VENV)/oldest-llm/llm: setup.cfg pyproject.toml
	$(call venv,$(VENV)/oldest-llm)
	$(call install,$(VENV)/oldest-llm) $(OLDEST) '.[llm]' 'pytest>=8.3' 'hypothesis>=6.100'
	touch $@

$(VENV)/dev: setup.cfg pyproject.toml $(CONSTRAINTS)
ifdef CONSTRAINTS
	$(call venv,$(VENV))
	$(call install,$(VENV)) --require-hashes --requirement $(CONSTRAINTS)
	$(call install,$(VENV)) --no-deps --no-build-isolation --editable .
	$(BIN)/python -m uv pip check --quiet --python $(BIN)/python
else
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
endif
	touch $@
