"""Test that ``probcal check`` says what it does not look at: other versions of packages, and the user's own code."""

from __future__ import annotations

import json
import sys

import pytest

TREE = {"tree": {"params": {"max_depth": 2}}}
HELPED = """
    from helper import depth
    from sklearn.tree import DecisionTreeClassifier


    class Slow(DecisionTreeClassifier):
        def fit(self, X, y, sample_weight=None):
            self.max_depth = depth()
            return super().fit(X, y, sample_weight)
"""


@pytest.fixture
def own(bench):
    """Run two learners on one split: one of scikit-learn, and one of the user's own with a module behind it."""
    bench.module("helper", "def depth():\n    return 2\n")
    bench.module("slow", HELPED)
    bench.config(learners={"slow": {"type": "slow.Slow"}, **TREE}, methods=["direct"], repeats=1)
    assert bench.run().code == 0
    return bench


def record(bench, **versions):
    """Write other versions into the record of every run, and return the true ones."""
    path = bench.results / "runs.jsonl"
    runs = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    true = dict(runs[0]["versions"])
    for run in runs:
        run["versions"].update(versions)
    path.write_text("".join(json.dumps(run) + "\n" for run in runs), encoding="utf-8")
    return true


def notes(bench, *words):
    """Return the notes that the check prints."""
    return [line for line in bench.probcal("check", "results/small", *words).said.splitlines() if "note: " in line]


def test_check_names_own_modules_it_did_not_compare_and_the_command_that_does(own):
    assert notes(own) == [
        "note: whether the code of helper, slow changed was not checked; "
        "probcal status results/small --trust slow says it"
    ]
    own.module("helper", "def depth():\n    return 3\n")
    own.forget()
    assert "1 stale" in own.probcal("status", "results/small", "--trust", "slow").said


def test_check_imports_no_module_of_the_user(own):
    own.forget()
    (own.folder / "slow.py").write_text("raise SystemExit('imported')\n", encoding="utf-8")
    notes(own)
    assert "slow" not in sys.modules


def test_check_names_the_versions_that_made_results_and_the_command_that_repeats_them(bench):
    bench.config(learners=TREE, methods=["direct"])
    bench.run()
    assert notes(bench) == []
    true = record(bench, **{"scikit-learn": "1.2.3", "python": "3.1", "not-a-package": "1"})
    assert notes(bench, "-f", "json") == notes(bench)
    assert notes(bench) == [
        f"note: 2 of 2 results are of runs made with python 3.1, here is {true['python']}; made with scikit-learn"
        f" 1.2.3, here is {true['scikit-learn']}; probcal run small.yaml --strict runs again what uses these packages"
    ]
    bench.run("--strict")
    assert notes(bench) == []


@pytest.mark.parametrize("versions", [{"": "1"}, {"numpy": 7}, {"numpy": None, "a\0b": "2"}])
def test_broken_records_of_versions_say_nothing(bench, versions):
    bench.config(learners=TREE, methods=["direct"], repeats=1)
    bench.run()
    record(bench, **versions)
    assert notes(bench) == []
