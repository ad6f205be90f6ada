"""Test metrics of groups against the metrics of the rows of each group."""

import numpy as np
import pandas as pd
import pytest

from probcal.metrics import all_metrics, empirical_calibration_error, metrics_by_group

RNG = np.random.default_rng(0)
P = RNG.random(120)
Y = (RNG.random(120) < P).astype(int)
GROUPS = np.array(["a", "b", None] * 40, dtype=object)


def test_table_row_has_the_metrics_of_its_group():
    table = metrics_by_group(Y, P, GROUPS, metrics=["rms", "c_emp", "slope", "cost(0.2)"])
    inside = GROUPS == "b"
    expected = all_metrics(Y[inside], P[inside], also=["slope", "cost(0.2)"])
    line = table.loc["b"]
    assert line["rows"] == 40 and line["base_rate"] == Y[inside].mean()
    assert line["mean_prediction"] == pytest.approx(P[inside].mean())
    assert all(line[name] == expected[name] for name in ("rms", "c_emp", "slope", "cost(0.2)"))
    assert table["rms"].iloc[-1] == all_metrics(Y, P)["rms"]


def test_missing_values_form_a_group_and_all_comes_last():
    index = metrics_by_group(Y, P, GROUPS).index
    assert index[:2].tolist() == ["a", "b"] and pd.isna(index[2]) and index[3] == "all"


def test_groups_labels_and_weights_accept_any_container():
    labels = pd.Series(np.where(Y, "yes", "no"), index=range(7, 127))
    weight = RNG.integers(0, 3, 120)
    table = metrics_by_group(labels, pd.Series(P), pd.Categorical(GROUPS), weight, pos_label="yes")
    plain = metrics_by_group(Y, P, GROUPS, weight)
    assert np.array_equal(table.to_numpy(), plain.to_numpy())


@pytest.mark.parametrize(
    ("groups", "metrics", "message"),
    [
        (GROUPS, ["l1"], "'l1' is no metric of a group"),
        (GROUPS, ["rmz"], "'rmz' is no metric of a group"),
        (GROUPS[1:], ["rms"], r"groups must be of shape \(120,\)"),
    ],
)
def test_invalid_groups_and_metrics_are_rejected(groups, metrics, message):
    with pytest.raises(ValueError, match=message):
        metrics_by_group(Y, P, groups, metrics=metrics)


def test_groups_of_several_classes_are_measured():
    rng = np.random.default_rng(0)
    p, site = rng.dirichlet([1, 1, 1], 60), np.arange(60) % 2
    texts = np.array(["cat", "cow", "dog"])[rng.integers(0, 3, 60)]
    texts[site == 0] = np.where(texts[site == 0] == "dog", "cat", texts[site == 0])  # a group without a class
    found = metrics_by_group(texts, p, site)
    assert list(found.columns) == ["rows", "cxe", "rms", "c_emp", "c_emp_p"]
    numbers = np.searchsorted(["cat", "cow", "dog"], texts)
    assert found.loc[0, "c_emp"] == empirical_calibration_error(numbers[site == 0], p[site == 0])
    assert found.loc["all", "c_emp"] == empirical_calibration_error(texts, p)
