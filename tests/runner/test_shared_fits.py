"""Test that methods share one fit of a learner on the same rows, without any other effect."""

import pytest
from run_bench import DUMMY

from tests.stored_rows import stored_rows

COUNTED = """
    import os
    import warnings
    from pathlib import Path

    import numpy as np
    from sklearn.naive_bayes import GaussianNB
    from sklearn.tree import DecisionTreeClassifier


    class Counted(GaussianNB):
        def fit(self, X, y, sample_weight=None):
            with open("fits", "a") as file:
                file.write(f"{len(X)}\\n")
            warnings.warn("hm", RuntimeWarning)
            return super().fit(X, y, sample_weight)


    class Drawn(DecisionTreeClassifier):
        def fit(self, X, y, sample_weight=None):
            with open("fits", "a") as file:
                file.write(f"{len(X)}\\n")
            return super().fit(X, y, sample_weight)
"""
METHODS = {
    "direct": {},
    "clipped": {"type": "direct", "label": "Clip", "params": {"clip": [0.1, 0.9]}},
    "sigmoid": {"params": {"calibration": "train", "scores": "probability"}},
}


def fits(bench):
    return (bench.folder / "fits").read_text().split() if (bench.folder / "fits").exists() else []


def run(bench, *words, learner="Counted", **learner_keys):
    bench.module("counted", COUNTED)
    bench.config(learners={"nb": {"type": f"counted.{learner}", **learner_keys}}, methods=METHODS, repeats=3)
    done = bench.run(*words)
    assert done.code == 0, done.said
    return {row["method"] + str(row["repetition"]): (row["metrics"], row.get("warnings")) for row in bench.rows()}


@pytest.mark.parametrize(
    ("learner", "keys", "expected"),
    [
        pytest.param("Counted", {}, 3, id="draws nothing"),
        pytest.param("Drawn", {}, 9, id="draws with a seed of each method"),
        pytest.param("Drawn", {"shared_seed": True}, 3, id="draws with a shared seed"),
    ],
)
def test_learner_that_draws_alike_is_fitted_once_per_split(bench, learner, keys, expected):
    run(bench, learner=learner, **keys)
    assert len(fits(bench)) == expected


@pytest.mark.slow
def test_shared_fits_give_numbers_and_warnings_of_single_runs(bench):
    together = run(bench)
    alone = {}
    for name in METHODS:
        alone |= run(bench, "-m", name, "-o", "results/alone")
    rows = stored_rows(bench.folder / "results" / "alone")
    found = {row["method"] + str(row["repetition"]): (row["metrics"], row.get("warnings")) for row in rows}
    assert found == together
    assert all(warned == {"RuntimeWarning": 1} for _, warned in together.values())


FOLDED = {name: {"params": {"cv": 2}, "shared_seed": True} for name in ("sigmoid", "beta", "histogram")}


@pytest.mark.parametrize(("shared", "expected"), [(True, 6), (False, 18)])
def test_methods_with_a_shared_seed_fit_each_fold_once(bench, shared, expected):
    bench.module("counted", COUNTED)
    methods = {name: {**settings, "shared_seed": shared} for name, settings in FOLDED.items()}
    bench.config(learners={"tree": {"type": "counted.Drawn"}}, methods=methods, repeats=3)
    assert bench.run().code == 0
    assert len(fits(bench)) == expected


@pytest.mark.slow
def test_a_method_that_shares_folds_predicts_the_same_alone(bench):
    bench.module("counted", COUNTED)
    bench.config(learners={"tree": {"type": "counted.Drawn"}}, methods=FOLDED, repeats=2)
    assert bench.run().code == 0
    together = {tuple(row[key] for key in ("method", "repetition")): row["metrics"] for row in bench.rows()}
    for name in FOLDED:
        assert bench.run("-m", name, "-o", f"results/{name}").code == 0
        for row in stored_rows(bench.folder / "results" / name):
            assert together[tuple(row[key] for key in ("method", "repetition"))] == row["metrics"]


def test_constant_learners_with_different_settings_share_no_fit(bench):
    learners = {
        name: {"type": DUMMY, "params": {"strategy": "constant", "constant": value}}
        for name, value in (("no", 0), ("yes", 1))
    }
    bench.config(learners=learners, methods=["direct"], repeats=1)
    assert bench.run().code == 0
    rms = {row["learner"]: row["metrics"]["rms"] for row in bench.rows()}
    assert rms["no"] != rms["yes"]


def test_cell_with_a_shared_fit_records_its_seconds(bench):
    bench.module(
        "slow",
        COUNTED.replace("import os", "import time").replace('warnings.warn("hm", RuntimeWarning)', "time.sleep(0.2)"),
    )
    bench.config(learners={"nb": {"type": "slow.Counted"}}, methods=METHODS, repeats=1)
    assert bench.run().code == 0
    rows = bench.rows()
    assert [row["seconds"] > 0.2 for row in rows] == [True, False, False]
    assert ["shared_seconds" in row for row in rows] == [False, True, True]
    assert all(0.2 < row["shared_seconds"] <= rows[0]["seconds"] for row in rows[1:])
