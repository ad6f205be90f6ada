# Needs Python 3.11 or newer (PYTHON=python3.12 make ... to choose one) and nothing else.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUN := $(BIN)/python -m probcal

.PHONY: quickstart test bench clean

quickstart: $(VENV)/.installed
	$(RUN) run configs/quickstart.yaml -j 2
	$(RUN) table results/quickstart

test: $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/python -m pytest -n 2 --dist loadfile

bench: $(VENV)/.installed
	$(BIN)/python benchmarks/harness.py

clean:
	rm -rf $(VENV) results/quickstart

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

$(VENV)/.installed-test: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[test]"
	touch $@
