"""Test that the same command resumes from the stored results, with the seeds of repetitions and shared seeds."""

import json

import numpy as np
import pytest

from probcal.config.experiment import read_experiment
from probcal.data.card import find_card, read_card
from probcal.data.splits import stream_seed
from probcal.store.folder import Store


@pytest.mark.slow
def test_only_missing_cells_run(bench):
    bench.run("-l", "dummy")
    bench.config(repeats=3)
    assert "12 cells: 4 done, 8 to run" in bench.run().said
    assert bench.ran() == [4, 8]
    assert [(row["repetition"], row["learner"]) for row in bench.rows()] == [
        *[(0, "dummy"), (0, "dummy"), (1, "dummy"), (1, "dummy")],
        *[(0, "tree"), (0, "tree"), (1, "tree"), (1, "tree")],
        *[(2, "dummy"), (2, "dummy"), (2, "tree"), (2, "tree")],
    ]


@pytest.mark.slow
def test_cell_run_alone_gives_the_same_number(bench):
    bench.run()
    bench.run("-d", "wine-first", "-l", "tree", "-m", "probing", "-o", "alone")
    alone, among_all = bench.numbers(bench.folder / "alone"), bench.numbers()
    assert list(alone) == ["wine-first/0/tree/probing", "wine-first/1/tree/probing"]
    assert alone == {cell: among_all[cell] for cell in alone}


def test_partial_run_describes_the_whole_experiment(bench):
    bench.run("-l", "dummy", "-m", "direct")
    kept = json.loads((bench.results / "experiment.json").read_text())
    assert [(column["learner"], column["method"]) for column in kept["columns"]] == [
        ("dummy", "direct"),
        ("dummy", "probing"),
        ("tree", "direct"),
        ("tree", "probing"),
    ]
    assert "8 cells: 2 done, 6 to run" in bench.probcal("status", str(bench.results)).said


def test_repeating_the_run_restores_a_lost_description(bench):
    bench.run("-l", "dummy")
    (bench.results / "experiment.json").unlink()
    (bench.results / "tables.md").write_text("from probcal table")
    assert "repeat the same probcal run" in bench.probcal("table", str(bench.results)).said
    again = bench.run("-l", "dummy")
    assert again.code == 0
    assert "4 cells: 4 done" in again.said
    assert "experiment.json" in {path.name for path in bench.results.iterdir()}


@pytest.mark.slow
def test_each_working_run_records_its_provenance_once(bench):
    bench.run("-l", "dummy")
    bench.run("-l", "dummy")
    bench.run()
    first, second = {run["run"]: run for run in bench.runs()}.values()
    assert (first["cells"], second["cells"]) == (4, 4)
    assert bench.ran() == [4, 4]
    assert [row["run"] for row in bench.rows()] == [first["run"]] * 4 + [second["run"]] * 4
    assert first["learners"] == {"dummy": {"cells": 4, "seconds": first["learners"]["dummy"]["seconds"]}}
    assert first["seconds"] > 0 and first["ended"] >= first["started"]
    assert first["versions"]["scikit-learn"] and first["data"]["wine-first"]
    assert first["numerics"]["cell"] >= 1


@pytest.mark.slow
def test_finished_experiment_needs_no_data(bench):
    bench.config(datasets=[bench.coins(), "wine-first"])
    assert bench.run("--data-dir", str(bench.folder)).code == 0
    (bench.folder / "coins" / "coins.csv").unlink()
    for path in sorted((bench.folder / "cache").rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    assert bench.run().code == 0


@pytest.mark.slow
def test_command_options_change_no_number(bench):
    bench.config(datasets=["wine-first", "wisconsin"])
    bench.run("-o", "one")
    for folder, words in (
        ("two", ["-j", "2"]),
        ("timed", ["--timeout", "1h"]),
        ("turned", ["-d", "wisconsin", "-d", "wine-first"]),
    ):
        assert bench.run("-o", folder, *words).code == 0
        assert bench.numbers(bench.folder / folder) == bench.numbers(bench.folder / "one")


@pytest.mark.slow
def test_learner_that_modifies_its_input_affects_no_other(bench):
    bench.module(
        "spoiler",
        """
        from sklearn.dummy import DummyClassifier

        class Numbers(DummyClassifier):
            def fit(self, X, y, sample_weight=None):
                X[:] = 0
                return super().fit(X, y)

        class Frames(DummyClassifier):
            def fit(self, X, y, sample_weight=None):
                X["alcohol"] = 0.0
                X.drop(columns=list(X)[1:], inplace=True)
                return super().fit(X, y)
        """,
    )
    native = {"type": "probcal.learners.kernel_naive_bayes.KernelNaiveBayes", "encoding": "native"}
    learners = {
        "numbers": {"type": "spoiler.Numbers"},
        "tree": {},
        "frames": {"type": "spoiler.Frames", "encoding": "native"},
        "nb": native,
    }
    bench.config(learners=learners, methods=["direct"])
    assert bench.run().code == 1
    bench.run("-l", "tree", "-l", "nb", "-o", "alone")
    after, alone = bench.numbers(), bench.numbers(bench.folder / "alone")
    assert alone == {cell: after[cell] for cell in alone}
    assert [row["message"] for row in bench.rows() if row["learner"] == "numbers"] == [
        "assignment destination is read-only"
    ] * 2


FOREST = {"forest": {"type": "sklearn.ensemble.RandomForestClassifier", "params": {"n_estimators": 5}}}
SHARED = {"forest": {**FOREST["forest"], "shared_seed": True}}
DIRECT = {"direct": {}, "clipped": {"type": "direct", "label": "Clip", "params": {"clip": [0.1, 0.9]}}}


def estimates(bench):
    store = Store(bench.results)
    return {cell: store.predictions(result)[1][:, 1] for cell, result in store.results().items()}


def repetitions(bench, card, **parts):
    bench.config(repeats=10, **parts)
    return read_experiment(bench.folder / "small.yaml").repetitions_of(read_card(find_card(card)))


def test_only_a_random_split_is_repeated(bench):
    assert [repetitions(bench, card) for card in ("wine-first", "adult", "bank-marketing")] == [10, 1, 1]


def test_fixed_split_is_repeated_on_request(bench):
    assert repetitions(bench, "bank-marketing", repeat_fixed_splits=True) == 10


def test_learner_with_shared_seed_draws_alike_under_every_method(bench):
    bench.config(learners=SHARED, methods=DIRECT)
    assert bench.run().code == 0
    found = estimates(bench)
    for repetition in (0, 1):
        one, other = (found[f"wine-first/{repetition}/forest/{method}"] for method in DIRECT)
        assert np.clip(one, 0.1, 0.9).tolist() == other.tolist()
        assert one.tolist() != other.tolist()


@pytest.mark.slow
def test_learner_without_shared_seed_draws_anew_per_method(bench):
    bench.config(learners=FOREST, methods=DIRECT)
    bench.run()
    found = estimates(bench)
    one, other = (found[f"wine-first/0/forest/{method}"] for method in DIRECT)
    assert np.clip(one, 0.1, 0.9).tolist() != other.tolist()


def test_shared_seed_is_experiment_seed_plus_repetition(bench):
    seen = """
        from sklearn.dummy import DummyClassifier
        class Seeded(DummyClassifier):
            def predict_proba(self, X):
                p = super().predict_proba(X)
                p[:, 1] = self.random_state / 1000
                p[:, 0] = 1 - p[:, 1]
                return p
    """
    bench.module("seeded", seen)
    bench.config(seed=20, learners={"seeded": {"type": "seeded.Seeded", "shared_seed": True}}, methods=["direct"])
    assert bench.run().code == 0
    found = estimates(bench)
    assert [found[f"wine-first/{repetition}/seeded/direct"][0] for repetition in (0, 1)] == [0.020, 0.021]
    assert stream_seed(20, "fit") > 1000, "or the test could not fail"


@pytest.mark.parametrize(
    ("learners", "message"),
    [
        ({"logistic": {"type": "gaussian_nb", "shared_seed": True}}, "GaussianNB has no random_state to share"),
        ({"forest": {**SHARED["forest"], "params": {"random_state": 1}}}, "forest has a random_state of its own"),
        ({"forest": {**FOREST["forest"], "shared_seed": "yes please"}}, "shared_seed"),
    ],
)
def test_invalid_shared_seed_is_rejected(bench, learners, message):
    bench.config(learners=learners)
    finished = bench.run()
    assert finished.code == 2 and message in finished.said


@pytest.mark.slow
def test_sharing_a_seed_makes_results_stale(bench):
    bench.config(learners=FOREST, methods=["direct"])
    bench.run()
    bench.config(learners=SHARED, methods=["direct"])
    assert "the settings of forest changed" in bench.run("--dry-run").said
