# Needs Python 3.11 or newer (PYTHON=python3.12 make ... to choose one) and nothing else.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUN := $(BIN)/python -m probcal

.PHONY: quickstart test test-all prepared lint compiled-trees regression bench reliability clean

quickstart: $(VENV)/.installed
	$(RUN) run configs/quickstart.yaml -j 2
	$(RUN) table results/quickstart

# Tests start many processes. Each would compile the package anew if this variable kept bytecode from being written.
test test-all: export PYTHONDONTWRITEBYTECODE =
# A process that is lost costs one test (tests/limits.py). By file, pytest-xdist would wait for it for ever.
PYTEST := $(BIN)/python -m pytest --dist worksteal

# Less than five minutes on two idle processors: all but the tests marked slow, whose claims are held in small
test: prepared
	$(PYTEST) -n 2 -m "not slow"

# What CI runs: every test, well below an hour. Slow tests wait for half of their time, so a third process fills two processors.
test-all: prepared
	$(PYTEST) -n 3

# mypy takes one processor, and the compiler of the decision trees the other. Else each process of the tests would compile them.
prepared: $(VENV)/.installed-test
	@$(MAKE) --no-print-directory -j2 lint compiled-trees

lint: $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/mypy

compiled-trees: $(VENV)/.installed-test
	@$(BIN)/python -c "from probcal.learners import C45Classifier as Tree; Tree().fit([[1], [2], [3], [4]], [0, 0, 1, 1]).predict([[1]])"

# The published numbers in small: make regression DATA=DIR, the folder of original data files (see docs/datasets.md)
DATA ?= $(PROBCAL_DATA_DIR)
regression: $(VENV)/.installed-test
	@test -n "$(DATA)" || { echo "make regression DATA=DIR: DIR is the folder of original data files" >&2; exit 2; }
	$(RUN) run configs/regression.yaml -j 2 --data-dir "$(DATA)"
	$(RUN) check results/regression --power
	$(RUN) check results/regression

# Whether an edit changed a number: cheap cells are computed again and compared with their stored predictions.
# With DATA=DIR, cells on the original data files are computed, too.
.PHONY: witnesses
witnesses: $(VENV)/.installed-test
	$(BIN)/python -m probcal.runner.witness check -j 2 $(if $(DATA),--data-dir "$(DATA)")

# Fits K random cells of each of RESULTS again, and says how many of all cells can differ: make recompute DATA=DIR K=300 RESULTS=uci-random
.PHONY: recompute
K ?= 20
recompute: $(VENV)/.installed-test
	@test -n "$(DATA)" || { echo "make recompute DATA=DIR: DIR is the folder of original data files" >&2; exit 2; }
	$(RUN) verify $(addprefix results/,$(RESULTS)) --recompute $(K) -j 2 --data-dir "$(DATA)"

# Experiments of another Weka (key "weka") get the jar file WEKA_JAR, and the others the Weka of the extra weka.
RESULTS ?= $(filter-out regression quickstart,$(notdir $(patsubst %/,%,$(dir $(wildcard results/*/experiment.json)))))
WEKA_JAR ?= $(PROBCAL_WEKA_JAR)
ITS_WEKA = if grep -qs '^weka:' configs/$$name.yaml; then export PROBCAL_WEKA_JAR="$(WEKA_JAR)"; else unset PROBCAL_WEKA_JAR; fi
.PHONY: results
# Runs what is stale and writes tables, figures and pages anew: make results DATA=DIR [RESULTS="audit protection"] [WEKA_JAR=FILE].
# An experiment that fails or lacks data does not stop the others, and is named at the end.
TABLE = $(RUN) table
results: $(VENV)/.installed-test
	@test -n "$(DATA)" || { echo "make results DATA=DIR: DIR is the folder of original data files" >&2; exit 2; }
	@short=; \
	for name in $(RESULTS); do $(ITS_WEKA); \
	  $(RUN) run configs/$$name.yaml -j 2 --data-dir "$(DATA)" || short="$$short $$name"; \
	  if [ -f results/$$name/tables.md ]; then $(TABLE) results/$$name > results/$$name/tables.md || exit 1; fi; \
	  if [ -f results/$$name/tables.csv ]; then $(TABLE) -f csv results/$$name > results/$$name/tables.csv || exit 1; fi; \
	  if [ -f results/$$name/ranking.md ]; then $(RUN) audit results/$$name --cells > results/$$name/ranking.md || exit 1; fi; \
	  if [ -f results/$$name/confirmed.md ]; then $(RUN) audit results/$$name --confirm 3 > results/$$name/confirmed.md || exit 1; fi; \
	  if [ -f results/$$name/placement.md ]; then $(BIN)/python benchmarks/drawn_columns.py > /dev/null || exit 1; fi; \
	  if [ -d results/$$name/figures ]; then $(RUN) plot results/$$name || exit 1; fi; \
	done; \
	$(TABLE) --together results/uci-random results/uci-native > results/side-by-side.md || exit 1; \
	$(TABLE) --together results/uci-2004 results/uci > results/uci/both-releases.md || exit 1; \
	$(TABLE) --together results/uci-2004 results/uci results/uci-random results/biology \
	  > results/published-and-random-splits.md || exit 1; \
	$(BIN)/python benchmarks/reproduction_page.py || exit 1; \
	if [ -n "$$short" ]; then echo "failed, or without data (see above):$$short" >&2; exit 1; fi

# The pages of docs/ as a site, docs/_build/html/index.html; a warning, such as a link that leads nowhere, is an error
.PHONY: docs
docs: $(VENV)/.installed-docs
	$(BIN)/python -m sphinx -W --keep-going -n -q -a -E -c docs . docs/_build/html
	@echo "docs/_build/html/index.html"

# The most of an hour on an idle machine; every script runs, whatever another one found. Adult needs PROBCAL_DATA_DIR or OpenML.
BENCH := harness commands runs two_cores metrics_speed maps_speed one_row weka_bridge weka_command_line probing c45 ensembles memory peers protection
bench: $(VENV)/.installed-test
	@failed=0; for script in $(BENCH); do \
	  echo "$$script"; $(BIN)/python benchmarks/$$script.py || failed=1; \
	done; $(BIN)/python benchmarks/performance_page.py; exit $$failed

# An hour: runs that are killed, cells that misbehave, bad inputs, data that change; Linux, and root for what needs a full disk
RELIABILITY := kills signals environments places two_hosts cells bad_inputs weka_routes fuzz data_race changed_data workers
reliability: $(VENV)/.installed-test
	@failed=0; for script in $(RELIABILITY); do \
	  echo "$$script"; $(BIN)/python reliability/$$script.py || failed=1; \
	done; $(BIN)/python reliability/summary.py; $(BIN)/python benchmarks/performance_page.py; exit $$failed

clean:
	rm -rf $(VENV) docs/_build docs/_gallery results/regression/predictions.bin $(filter-out %/accepted.csv,$(wildcard results/quickstart/*))

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --use-pep517 --editable .
	touch $@

$(VENV)/.installed-test: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --use-pep517 --editable ".[test]"
	touch $@

$(VENV)/.installed-docs: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --use-pep517 --editable ".[docs]"
	touch $@
