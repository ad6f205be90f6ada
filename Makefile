# Needs Python 3.11 or newer (PYTHON=python3.12 make ... to choose one) and nothing else.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUN := $(BIN)/python -m probcal

.PHONY: quickstart test regression bench clean

quickstart: $(VENV)/.installed
	$(RUN) run configs/quickstart.yaml -j 2
	$(RUN) table results/quickstart

test: $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/python -m pytest -n 2 --dist loadfile

# The published numbers in small: make regression DATA=DIR, the folder of original data files (see docs/datasets.md)
DATA ?= $(PROBCAL_DATA_DIR)
regression: $(VENV)/.installed-test
	@test -n "$(DATA)" || { echo "make regression DATA=DIR: DIR is the folder of original data files" >&2; exit 2; }
	$(RUN) run configs/regression.yaml -j 2 --data-dir "$(DATA)"
	$(RUN) check results/regression

bench: $(VENV)/.installed-test
	$(BIN)/python benchmarks/harness.py
	$(BIN)/python benchmarks/weka_bridge.py
	$(BIN)/python benchmarks/peers.py
	$(BIN)/python benchmarks/protection.py

clean:
	rm -rf $(VENV) results/quickstart results/regression/predictions.bin

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

$(VENV)/.installed-test: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[test]"
	touch $@
