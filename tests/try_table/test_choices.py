"""Test which learners and methods are run by default, and the predicted time."""

from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

from probcal import MatrixScalingClassifier
from probcal.try_table import choices
from probcal.try_table import description as cost
from probcal.try_table.experiment_files import Plan
from probcal.try_table.split_choice import choose_splits

ROOT = Path(__file__).parents[2]


def plan_of(width=20, counts=(500, 500), learners=None, splits=10, user_methods=()):
    names = learners or choices.usual_learners(width, len(counts))[0]
    entries = choices.learners(names, 10)
    clip = choices.sample_clip(choices.bound(counts), None)
    methods = choices.methods(user_methods, bool(learners), width, counts, clip)
    combined = choices.combinations(list(entries), list(methods), user_methods)
    return Plan(entries, methods, combined, choose_splits(splits), 0)


def test_only_small_tables_get_bagging_and_probing():
    maps = ["isotonic", "quadratic", "beta"]
    assert plan_of().pairs["tree"] == ["direct", *maps, "bagging", "probing"]
    assert plan_of().pairs["forest"] == ["direct", *maps]
    assert plan_of().pairs["boosting"] == ["direct", *maps]
    assert plan_of(user_methods=("beta",)).pairs["boosting"] == ["beta"]
    assert [*plan_of(counts=(5000, 5000)).methods] == ["direct", *maps]
    assert "bagging" not in plan_of(counts=[180] * 10, width=61).methods


def test_large_tables_and_rare_classes_use_holdout_calibration():
    assert plan_of().methods["isotonic"]["params"]["calibration"] == "cross_val"
    holdout = {"calibration": "holdout", "clip": [0.001, 0.999]}
    assert plan_of(counts=(6000, 6000)).methods["isotonic"]["params"] == holdout
    assert plan_of(counts=(490, 10)).methods["beta"]["params"] == {"calibration": "holdout"}


def test_several_classes_get_structured_matrix_scaling():
    plan = plan_of(counts=(2000, 2000, 2000))
    assert [*plan.methods] == ["direct", "matrix_scaling", "dirichlet", "isotonic"]
    assert MatrixScalingClassifier(LogisticRegression()).penalty == "structured"


def test_all_maps_share_the_fits_of_a_learner():
    methods = plan_of(user_methods=("sigmoid", "spline", "temperature", "matrix_scaling")).methods
    assert all(
        entry["shared_seed"] and entry["params"]["cv"] == 3 for name, entry in methods.items() if name != "direct"
    )


def test_reason_of_the_maps_has_the_ranks_of_calarena():
    ranks = pd.read_csv(ROOT / "probcal/papers/berta_holzmueller_bach_jordan_2026/calarena.csv", comment="#").dropna()
    for task, n_classes, names in (
        ("binary", 2, ("Quadratic", "Platt-logits", "Isotonic")),
        ("multiclass", 3, ("SMS", "Dirichlet", "Isotonic")),
    ):
        for name in names:
            rows = ranks[(ranks["task"] == task) & (ranks["calibrator"] == name)]
            rank = f"{np.average(rows['log_loss_rank'], weights=rows['tables']):.1f}"
            assert rank in choices.reason_of_methods(n_classes)


def test_all_methods_have_the_same_bound():
    assert choices.bound((990, 10)) == 0.001
    assert choices.bound((1990, 10)) == 1 / 4000
    assert choices.bound([100] * 12) == 0.002 / 12  # so a sure row stays near .998
    assert choices.bound([1000] * 11 + [10]) == 1 / 2 / 11_010
    rare = plan_of(counts=(1990, 10)).methods
    bounds = {name: rare[name]["params"]["clip"] for name in ("isotonic", "bagging", "probing")}
    assert set(map(tuple, bounds.values())) == {(1 / 4000, 1 - 1 / 4000)}
    assert plan_of().methods["probing"] == {}  # its own bound is .001


def test_logistic_regression_searches_its_penalty_where_rows_are_split_one_by_one():
    assert choices.learners(["logistic"], 1)["logistic"]["params"]["param_grid"] == {"C": [0.01, 0.1, 1, 10, 100]}
    fixed = choices.learners(["logistic"], 1, independent_rows=False)["logistic"]
    assert (fixed["type"], fixed["params"]["C"]) == ("sklearn.linear_model.LogisticRegression", 10)


def test_splits_in_time_train_once_more_on_all_rows():
    methods = choices.methods((), False, 20, (500, 500), [0.001, 0.999], in_time=True)
    assert all(methods[name]["params"]["ensemble"] is False for name in ("isotonic", "quadratic", "beta"))
    assert "ensemble" not in plan_of().methods["beta"]["params"]


def test_wide_tables_omit_slow_learners():
    assert choices.usual_learners(3000, 2) == (
        ["logistic", "tree", "forest"],
        dict.fromkeys(("nb", "boosting"), "slow on 3,000 columns, levels counted"),
    )


def test_boosting_gets_indicators_for_many_levels():
    assert choices.learners(["boosting"], 255)["boosting"]["encoding"] == "native"
    assert choices.learners(["boosting"], 256)["boosting"]["encoding"] == "numeric"


def test_predicted_time_grows_with_splits_rows_and_columns():
    usual = cost.seconds(plan_of(), 1000, 20, 2)
    assert cost.seconds(plan_of(splits=20), 1000, 20, 2) == 2 * usual
    assert cost.seconds(plan_of(), 2000, 20, 2) > usual
    assert cost.seconds(plan_of(), 1000, 400, 2) > usual
