"""Test which learners and methods are run by default, and the predicted time."""

from probcal.try_table import choices
from probcal.try_table import description as cost
from probcal.try_table.experiment_files import Plan
from probcal.try_table.split_choice import choose_splits


def plan_of(width=20, counts=(500, 500), learners=None, splits=10, user_methods=()):
    names = learners or choices.usual_learners(width, len(counts))[0]
    entries = choices.learners(names, 10)
    clip = choices.sample_clip(choices.bound(counts), None)
    methods = choices.methods(user_methods, bool(learners), width, counts, clip)
    combined = choices.combinations(list(entries), list(methods), user_methods)
    return Plan(entries, methods, combined, choose_splits(splits), 0)


def test_only_small_tables_get_bagging_and_probing():
    assert plan_of().pairs["tree"] == ["direct", "sigmoid", "isotonic", "beta", "bagging", "probing"]
    assert plan_of().pairs["forest"] == ["direct", "sigmoid", "isotonic", "beta"]
    assert plan_of().pairs["boosting"] == ["direct", "sigmoid", "isotonic", "beta"]
    assert plan_of(user_methods=("beta",)).pairs["boosting"] == ["beta"]
    assert [*plan_of(counts=(5000, 5000)).methods] == ["direct", "sigmoid", "isotonic", "beta"]
    assert "bagging" not in plan_of(counts=[180] * 10, width=61).methods


def test_large_tables_and_rare_classes_use_holdout_calibration():
    assert plan_of().methods["isotonic"]["params"]["calibration"] == "cross_val"
    holdout = {"calibration": "holdout", "clip": [0.001, 0.999]}
    assert plan_of(counts=(6000, 6000)).methods["isotonic"]["params"] == holdout
    assert plan_of(counts=(490, 10)).methods["sigmoid"]["params"] == {"calibration": "holdout"}


def test_all_methods_have_the_same_bound():
    assert choices.bound((990, 10)) == 0.001
    assert choices.bound((1990, 10)) == 1 / 4000
    rare = plan_of(counts=(1990, 10)).methods
    bounds = {name: rare[name]["params"]["clip"] for name in ("isotonic", "bagging", "probing")}
    assert set(map(tuple, bounds.values())) == {(1 / 4000, 1 - 1 / 4000)}
    assert plan_of().methods["probing"] == {}  # its own bound is .001


def test_splits_in_time_train_once_more_on_all_rows():
    methods = choices.methods((), False, 20, (500, 500), [0.001, 0.999], in_time=True)
    assert all(methods[name]["params"]["ensemble"] is False for name in ("sigmoid", "isotonic", "beta"))
    assert "ensemble" not in plan_of().methods["sigmoid"]["params"]


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
