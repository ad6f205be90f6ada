"""Test that each label counts once, whenever it comes, and that groups share one rate of false alarms."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from probcal.errors import ProbcalError
from probcal.watch.log import Log
from probcal.watch.monitors import Monitors
from probcal.watch.watch import State


def log(days, p, y, groups):
    order = np.argsort(days, kind="stable")
    columns = {"shop": np.array(groups, dtype=object)[order]}
    return Log("log", np.array(days, float)[order], np.array(p, float)[order], np.array(y)[order], columns, [])


ROW = st.tuples(
    st.integers(1, 4),  # few days and predictions, so that many rows are alike
    st.sampled_from([0.2, 0.7]),
    st.sampled_from("ab"),
    st.integers(0, 1),
    st.integers(0, 5),  # the run in which its label comes
    st.integers(0, 2),  # the run, after that of its day, in which the row comes
)


@settings(max_examples=50)
@given(st.lists(ROW, min_size=1, max_size=30), st.booleans())
def test_each_label_counts_once_in_its_group_wherever_the_runs_stop(rows, through_a_file):
    """The slow way: count the rows whose label has come, by group, after each run."""
    state = State(Monitors(0.01, ("shop",)))
    for run in range(1, 11):
        logged = [row for row in rows if row[0] <= run]  # a log has all rows up to now, some without a label
        if not logged:
            continue
        y = [row[3] if row[0] + row[4] <= run else -1 for row in logged]
        state.update(log([row[0] for row in logged], [row[1] for row in logged], y, [row[2] for row in logged]))
        known = [row for row, label in zip(logged, y, strict=True) if label >= 0]
        assert state.monitors.all_rows.monitor.n_rows_ == len(known)
        for name, dated in state.monitors.by_name.items():
            if name != "all rows":
                assert dated.monitor.n_rows_ == sum(row[2] == name[-1] for row in known)
        if through_a_file:
            content = json.loads(json.dumps(state.monitors.to_content()))
            state.monitors = Monitors.from_content(content)
    # every label was the right one: the evidence is that of the same rows, whatever their order for one alternative
    gains = state.monitors.all_rows.monitor._gains.sum(axis=0)
    labels = [row[3] for row in rows if row[0] + row[4] <= 10]
    probabilities = [row[1] for row in rows if row[0] + row[4] <= 10]
    expected = Monitors(0.01).all_rows.monitor.update(probabilities, labels)._gains.sum(axis=0)
    np.testing.assert_allclose(gains, expected, atol=1e-9)


def test_rows_that_left_the_log_still_wait_and_their_labels_count_when_they_come():
    state = State(Monitors(0.01, ("shop",)))
    state.update(log([1, 2, 3], [0.2, 0.3, 0.4], [-1, 0, 1], ["a", "a", "b"]))
    state.update(log([4], [0.2], [1], ["b"]))
    new = state.update(log([1, 4], [0.2, 0.2], [1, 1], ["a", "b"]))
    assert new.mask.tolist() == [True, False] and (new.n_seen, new.n_late) == (1, 0)
    assert state.monitors.all_rows.monitor.n_rows_ == 4 and not any(one.waiting for one in state.rows.values())


def test_rows_of_the_newest_day_are_known_by_time_and_prediction_and_not_by_their_place():
    state = State(Monitors(0.01))
    first = log([1] * 10, [0.9] * 10, [1] * 10, ["a"] * 10)
    state.update(first)
    above = log([1] * 20, [0.1] * 10 + [0.9] * 10, [0] * 10 + [1] * 10, ["a"] * 20)
    assert state.update(above).mask.tolist() == [True] * 10 + [False] * 10
    rotated = log([1] * 3, [0.3, 0.4, 0.5], [0, 0, 1], ["a"] * 3)
    assert state.update(rotated).mask.all()
    assert state.monitors.all_rows.monitor.n_rows_ == 23


def test_labels_that_are_gone_are_noticed_before_they_could_count_twice():
    state = State(Monitors(0.01))
    state.update(log([1, 2, 3], [0.2, 0.3, 0.4], [0, 1, 0], list("aaa")))
    with pytest.raises(ProbcalError, match="1 row of 1970-01-02 had a label when it was counted, and 0 have one now"):
        state.update(log([1, 2, 3], [0.2, 0.3, 0.4], [-1, 1, 0], list("aaa")))
    changed = state.update(log([1, 2, 3], [0.2, 0.3, 0.4], [1, 1, 0], list("aaa")))
    assert not changed.mask.any() and changed.n_changed_days == 1
    # rows that were cut from the log are no lost labels
    assert state.update(log([3, 4], [0.4, 0.5], [0, -1], list("aa"))).n_seen == 1


def test_any_alarm_of_all_rows_and_six_groups_keeps_the_rate():
    rng = np.random.default_rng(0)
    alarms = 0
    for _ in range(60):
        monitors = Monitors(0.2, ("shop",))
        for names in ("abc", "abcdef"):  # three groups come later
            p = rng.beta(1, 3, 300)
            groups = rng.choice(list(names), 300)
            monitors.update(log(np.arange(300), p, (rng.random(300) < p).astype(int), groups))
        alarms += monitors.has_alarm
    assert alarms <= binom.isf(0.001, 60, 0.2)
    assert [len(family) for family in monitors.families] == [3, 3]
    rates = [one.monitor.false_alarm_rate for family in monitors.families for one in family.values()]
    if not monitors.has_alarm:
        assert sum(rates) == pytest.approx(0.1 * (1 / 2 + 1 / 6))


def test_alarms_of_some_groups_raise_the_rate_of_the_others_as_holm_does():
    rng = np.random.default_rng(1)
    p = np.full(900, 0.3)
    groups = np.array(["a", "b", "c"])[np.arange(900) % 3]
    truth = np.select([groups == "a", groups == "b"], [0.9, 0.8], 0.3)
    monitors = Monitors(0.01, ("shop",))
    monitors.update(log(np.arange(900), p, (rng.random(900) < truth).astype(int), groups))
    found = {name: one.monitor for name, one in monitors.families[0].items()}
    assert [found[f"shop = {name}"].alarm_ is not None for name in "abc"] == [True, True, False]
    # of the share 1/2 of the rate for groups, and 1/2 of that for the first family, the last group has all
    assert found["shop = c"].false_alarm_rate == pytest.approx(0.0025)
