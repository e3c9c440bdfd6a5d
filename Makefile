# Two commands from a fresh clone, with nothing but Python 3.11+, make and a C compiler:
#   make serve    a running server         (SERVE_ARGS="--capacity 2" is passed on)
#   make test     the tests                (TEST_ARGS="tests/audio -k flush" is passed on)
# And: make check (lint, types, import contracts), make bench, make format, make clean.
# Both build .venv first; it is built again only when pyproject.toml changes.

PYTHON ?= python3
SERVE_ARGS ?=
TEST_ARGS ?=
BENCH_ARGS ?=

BIN := .venv/bin
INSTALLED := .venv/.installed
ROOMS := audio model server transcribe_sidecar evals client tests

.PHONY: install serve test check bench format clean

install: $(INSTALLED)

$(INSTALLED): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Duet needs Python 3.11 or newer: make PYTHON=/path/to/python3 ..." >&2; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --editable '.[test,check]'
	touch $@

serve: $(INSTALLED)
	$(BIN)/python -m server $(SERVE_ARGS)

test: $(INSTALLED)
	$(BIN)/python -m pytest $(TEST_ARGS)

check: $(INSTALLED)
	$(BIN)/ruff check $(ROOMS)
	$(BIN)/ruff format --check $(ROOMS)
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(INSTALLED)
	$(BIN)/python -m evals.bench $(BENCH_ARGS)

format: $(INSTALLED)
	$(BIN)/ruff check --fix $(ROOMS)
	$(BIN)/ruff format $(ROOMS)

clean:
	rm -rf .venv build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find $(ROOMS) -name __pycache__ -type d -prune -exec rm -rf {} +
