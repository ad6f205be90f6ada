"""Test an experiment with variants and overrides, from its file to its tables."""

import json

import pytest

LEARNERS = {"tree": {"paper": "J48", "variants": {"small": {"max_depth": 1}, "big": {}}}, "nb": {"type": "kernel_nb"}}
EXCEPTIONS = [
    {"dataset": "wine-first", "learner": "tree", "card": "wisconsin", "why": "more rows."},
    {"dataset": "wine-first", "learner": "nb", "method": "probing", "skip": True, "why": "slow."},
]


@pytest.mark.slow
def test_experiment_with_overrides_runs_resumes_and_shows_them(bench):
    bench.config(learners=LEARNERS, exceptions=EXCEPTIONS, paper="langford-zadrozny-2005")
    assert "10 cells: 10 to run" in bench.run().said
    assert "10 cells: 10 done" in bench.run().said
    of = {(row["learner"], row["method"]): row["n_train"] for row in bench.rows()}
    assert of == {
        ("tree.small", "direct"): 376, ("tree.small", "probing"): 376,
        ("tree.big", "direct"): 376, ("tree.big", "probing"): 376, ("nb", "direct"): 117,
    }  # fmt: skip
    said = bench.probcal("table", "results/small").said
    note = "- Wine, the first cultivar against the others, Tree small, Tree big (card wisconsin): more rows."
    assert said.count(note) == said.count("**Table ") == 5
    assert "(not run): slow." in said and "not run:" not in said
    assert set(bench.runs()[0]["data"]) == {"wine-first", "wisconsin"}


@pytest.mark.slow
def test_changed_override_makes_only_its_cells_stale(bench):
    bench.config(learners=LEARNERS)
    bench.run()
    bench.config(learners=LEARNERS, exceptions=EXCEPTIONS)
    assert "10 cells: 2 done, 8 stale" in bench.run("--dry-run").said
    one = {"dataset": "wine-first", "learner": "tree.big", "method": "direct", "params": {"max_depth": 2}, "why": "x"}
    bench.config(learners=LEARNERS, exceptions=[one])
    assert "12 cells: 10 done, 2 stale" in bench.run("--dry-run").said


@pytest.mark.slow
def test_a_selection_names_an_entry_or_a_variant(bench):
    bench.config(learners=LEARNERS)
    assert "8 cells" in bench.run("--dry-run", "-l", "tree").said
    assert "2 cells" in bench.run("--dry-run", "-l", "tree.big", "-m", "direct").said


def test_quick_run_reduces_probes_of_an_override(bench):
    item = {"dataset": "wine-first", "learner": "nb", "method_params": {"n_probes": 500}, "why": "x"}
    bench.config(learners=LEARNERS, methods={"probing": {}}, exceptions=[item])
    assert bench.run("--quick", "-l", "nb").code == 0
    kept = json.loads((bench.folder / "results" / "small-quick" / "experiment.json").read_text())
    assert kept["exceptions"][0]["what"] == "n_probes 10"
