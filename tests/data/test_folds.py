"""Test which rows train and which rows test in each fold, and what this choice depends on."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probcal.data.splits import Split, draw_legacy_folds, fold_rows
from probcal.errors import DataError

RANDOM = ("k_fold", "stratified_k_fold", "legacy_stratified_k_fold", "group_k_fold")
GOLDEN = {
    "k_fold": [0, 5, 7, 10],
    "stratified_k_fold": [0, 3, 4, 6],
    "legacy_stratified_k_fold": [0, 9, 10],
    "group_k_fold": [3, 5, 6, 10],
}
"""The rows that test in the second fold of the second repetition."""


def split(kind, folds=5):
    return Split(kind=kind, folds=folds, **({"group": "g"} if kind == "group_k_fold" else {}))


def columns(labels, groups=None):
    n_rows = len(labels)
    return pd.DataFrame({"x": np.arange(n_rows, dtype=float), "g": np.arange(n_rows) if groups is None else groups})


def rows(kind, labels, number=0, *, folds=5, seed=1, name="golden", groups=None):
    return fold_rows(split(kind, folds), name, columns(labels, groups), np.asarray(labels), number, seed)


def slow_legacy_folds(labels, folds, seed):
    """Compute the folds of the old class row by row, with the global generator and without our functions."""
    np.random.seed(seed)
    fold_of = {}
    for label in sorted(set(labels)):
        mine = [row for row, one in enumerate(labels) if one == label]
        places = list(range(max(len(mine), folds)))
        np.random.shuffle(places)
        start = 0
        for fold in range(folds):
            size = len(places) // folds + (1 if fold < len(places) % folds else 0)
            for place in places[start : start + size]:
                if place < len(mine):
                    fold_of[mine[place]] = fold
            start += size
    return [fold_of[row] for row in range(len(labels))]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.sampled_from(RANDOM),
    st.lists(st.integers(0, 3), min_size=12, max_size=80),
    st.integers(2, 6),
    st.integers(0, 3),
    st.integers(0, 2**40),
)
def test_each_row_tests_once_in_a_repetition(kind, labels, folds, repetition, seed):
    labels = [*labels, *([0] * folds)]  # a class with a row for each fold
    parts = [rows(kind, labels, repetition * folds + fold, folds=folds, seed=seed) for fold in range(folds)]
    assert sorted(np.concatenate([test for _, test in parts])) == list(range(len(labels)))
    for train, test in parts:
        assert sorted([*train, *test]) == list(range(len(labels)))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(st.integers(0, 4), min_size=2, max_size=60), st.integers(2, 7), st.integers(0, 2**31))
def test_legacy_folds_equal_a_slow_implementation(labels, folds, seed):
    found = draw_legacy_folds(np.array(labels), folds, np.random.RandomState(seed))
    assert found.tolist() == slow_legacy_folds(labels, folds, seed)


def test_folds_never_change():
    # With other folds, every stored result of such a split would belong to other rows
    labels = [0, 1, 0, 2, 1, 0, 0, 1, 2, 0, 1, 0]
    tested = {kind: rows(kind, labels, 4, folds=3)[1].tolist() for kind in RANDOM}
    assert tested == GOLDEN


def test_legacy_folds_leave_the_global_stream_alone():
    np.random.seed(5)
    expected = np.random.random()
    np.random.seed(5)
    rows("legacy_stratified_k_fold", [0, 1] * 10)
    assert np.random.random() == expected


@pytest.mark.parametrize("kind", ["k_fold", "stratified_k_fold"])
def test_dropped_copies_are_in_no_fold_and_the_rest_is_split_alone(kind):
    generator = np.random.default_rng(0)
    X = pd.DataFrame({"a": generator.integers(3, size=60).astype(float), "b": generator.choice(["x", "y"], 60)})
    X.loc[::7, "a"] = np.nan  # two missing values are equal
    labels = generator.integers(2, size=60)
    seen, first = set(), []
    for row, key in enumerate(zip(X["a"].astype(str), X["b"], labels, strict=True)):
        if key not in seen:
            first.append(row)
        seen.add(key)
    assert 3 < len(first) < 60
    without = Split(kind=kind, folds=3)
    for fold in range(3):
        train, test = fold_rows(Split(kind=kind, folds=3, copies="drop"), "golden", X, labels, fold, 1)
        assert sorted([*train, *test]) == first
        alone = fold_rows(without, "golden", X.iloc[first], labels[first], fold, 1)
        assert np.array_equal(train, np.array(first)[alone[0]]) and np.array_equal(test, np.array(first)[alone[1]])


def test_only_plain_folds_can_drop_copies():
    with pytest.raises(ValueError, match="a group_k_fold split cannot drop copies, only k_fold and stratified_k_fold"):
        Split(kind="group_k_fold", folds=5, group="g", copies="drop")


@pytest.mark.parametrize("kind", ["stratified_k_fold", "legacy_stratified_k_fold"])
def test_stratified_folds_have_equal_shares_of_each_class(kind):
    labels = np.repeat([0, 1, 2], [50, 25, 10])
    for fold in range(5):
        assert np.bincount(labels[rows(kind, labels, fold)[1]]).tolist() == [10, 5, 2]


def test_each_group_is_in_one_fold():
    groups = np.repeat(np.arange(12), 5)
    labels = np.tile([0, 1, 1, 0, 1], 12)
    for fold in range(4):
        train, test = rows("group_k_fold", labels, fold, folds=4, groups=groups)
        assert not set(groups[train]) & set(groups[test])


@pytest.mark.parametrize("change", [{"number": 5}, {"seed": 2}, {"name": "silver"}])
@pytest.mark.parametrize("kind", ["k_fold", "stratified_k_fold", "group_k_fold"])
def test_folds_depend_on_repetition_seed_and_data_set(kind, change):
    labels = [0, 1] * 20
    assert rows(kind, labels)[1].tolist() != rows(kind, labels, **change)[1].tolist()


def test_time_ordered_parts_train_on_the_past():
    days = np.array([5, 1, 4, 2, 3, 0, 6, 7])
    parts = [
        fold_rows(Split(kind="time_ordered", folds=3, order="g"), "golden", columns(days, days), days, part, 0)
        for part in range(3)
    ]
    assert [(days[train].tolist(), days[test].tolist()) for train, test in parts] == [
        ([0, 1], [2, 3]),
        ([0, 1, 2, 3], [4, 5]),
        ([0, 1, 2, 3, 4, 5], [6, 7]),
    ]


def test_time_ordered_rows_without_a_column_stay_in_order():
    labels = [0, 1] * 6
    train, test = fold_rows(Split(kind="time_ordered", folds=3), "golden", columns(labels), np.array(labels), 0, 0)
    assert (train.tolist(), test.tolist()) == ([0, 1, 2], [3, 4, 5])


def test_dates_as_texts_are_in_order_of_time():
    days = pd.Categorical(["2020-02-01", "2019-12-31", "2020-01-15", "2021-01-01"])
    X = pd.DataFrame({"x": 0.0, "day": days})
    ordered = Split(kind="time_ordered", folds=3, order="day")
    assert [fold_rows(ordered, "golden", X, np.zeros(4), part, 0)[1].tolist() for part in range(3)] == [[2], [0], [3]]


def test_message_names_a_row_without_a_group():
    groups = np.array([0.0, 1, np.nan, 3, 4, 5])
    with pytest.raises(DataError, match="golden: row 3 lacks a value in column 'g'"):
        rows("group_k_fold", [0, 1] * 3, folds=2, groups=groups)


def test_message_names_a_column_that_does_not_exist():
    labels = np.array([0, 1] * 3)
    with pytest.raises(DataError, match="golden: there is no column 'site', which the split reads"):
        fold_rows(Split(kind="group_k_fold", folds=2, group="site"), "golden", columns(labels), labels, 0, 0)


def test_too_few_groups_or_rows_are_rejected():
    with pytest.raises(DataError, match="column 'g' has 2 groups, too few for 5 folds"):
        rows("group_k_fold", [0, 1] * 10, groups=np.arange(20) % 2)
    with pytest.raises(DataError, match="golden: cannot be split into 5 folds"):
        rows("stratified_k_fold", [0, 1, 2, 3] * 3)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"kind": "k_fold"}, 'a k_fold split needs "folds"'),
        ({"kind": "group_k_fold", "folds": 5}, 'a group_k_fold split needs "group"'),
        ({"kind": "k_fold", "folds": 5, "group": "g"}, 'a k_fold split takes no "group"'),
        ({"kind": "k_fold", "folds": 5, "train": 5}, 'a k_fold split takes no "train"'),
        ({"kind": "holdout", "train_fraction": 0.5, "folds": 5}, 'a holdout split takes no "folds"'),
        ({"kind": "k_fold", "folds": 1}, "greater than or equal to 2"),
    ],
)
def test_a_split_with_folds_takes_only_its_keys(keys, message):
    with pytest.raises(ValueError, match=message):
        Split(**keys)


def test_random_folds_are_repeated_and_time_ordered_folds_are_not():
    assert split("stratified_k_fold").n_splits(10) == 50
    assert split("time_ordered").n_splits(10) == 5
    assert split("time_ordered").n_splits(10, repeat_fixed=True) == 50
