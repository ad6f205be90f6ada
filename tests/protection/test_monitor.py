"""Test the monitor of calibration: its false alarms, what it finds, its state, and the alarm."""

import json
import math

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import binom
from streams import drifting, log10_loss, one_by_one

from probcal import SimpleJumper
from probcal.protection import CalibrationMonitor, CompositeJumper, Cox, first_alarm
from probcal.protection.monitor import _ALTERNATIVES


def predictions(rng, n, mean=-1.0):
    return expit(rng.normal(mean, 1.5, n))


def changed(rng, shift, slope, before=2000, after=3000):
    p = predictions(rng, before + after)
    truth = np.where(np.arange(len(p)) < before, p, expit(shift + slope * logit(p)))
    return p, rng.random(len(p)) < truth


def test_calibrated_streams_seldom_give_an_alarm():
    rng = np.random.default_rng(0)
    alarms = 0
    for _ in range(150):
        p = predictions(rng, 600)
        alarms += CalibrationMonitor(0.1).update(p, rng.random(600) < p).alarm_ is not None
    assert alarms <= binom.isf(0.001, 150, 0.1)


@pytest.mark.parametrize(("shift", "slope"), [(1.0, 1.0), (-1.0, 1.0), (0.0, 0.5), (0.5, 0.75)])
def test_change_is_found_with_its_onset_and_its_size(shift, slope):
    rng = np.random.default_rng(5)
    p, y = changed(rng, shift, slope)
    monitor = CalibrationMonitor().update(p[:2000], y[:2000])
    assert monitor.alarm_ is monitor.onset_ is monitor.onset_interval_ is monitor.shift_ is monitor.slope_ is None
    monitor.update(p[2000:], y[2000:])
    first, last = monitor.onset_interval_
    assert 2000 < monitor.alarm_ < 3500 and first <= 2001 <= last
    assert abs(monitor.onset_ - 2001) < 250
    assert (monitor.shift_, monitor.slope_) == (shift, slope)


def test_evidence_is_that_of_the_composite_jumper_and_gains_are_log_likelihood_ratios():
    rng = np.random.default_rng(2)
    p, y = changed(rng, 0.5, 1.0, 300, 500)
    monitor = CalibrationMonitor().update(p, y)
    jumper = CompositeJumper(Cox(_ALTERNATIVES), (1e-3, 1e-5), 0.5, "first")
    _, log10 = jumper.protect(p, y)
    # in one sum or row by row: the last bit depends on the processor
    assert monitor.log10_evidence_ == pytest.approx(log10[-1], rel=1e-13)
    assert monitor.alarm_ == np.argmax(log10 >= 2) + 1
    for place in (1, 20, len(_ALTERNATIVES) - 1):
        shift, slope = _ALTERNATIVES[place]
        q = expit(shift + slope * logit(p))
        expected = np.sum(np.where(y, np.log(q / p), np.log((1 - q) / (1 - p))))
        assert monitor._gains[:, place].sum() == pytest.approx(expected)


def test_parts_and_a_saved_state_give_the_same_as_the_whole_stream():
    rng = np.random.default_rng(3)
    p, y = changed(rng, 1.0, 1.0, 500, 700)
    whole = CalibrationMonitor(0.05).update(p, y)
    part = CalibrationMonitor(0.05)
    for start in range(0, len(p), 171):
        part = CalibrationMonitor.from_json(part.to_json()).update(p[start : start + 171], y[start : start + 171])
    assert (part.alarm_, part.n_rows_) == (whole.alarm_, whole.n_rows_)
    assert part.log10_evidence_ == pytest.approx(whole.log10_evidence_, rel=1e-9)
    np.testing.assert_allclose(part._gains.sum(axis=0), whole._gains.sum(axis=0))
    assert len(part.to_json()) < 200_000 and part._rows_in_block == 8
    assert abs(part.onset_ - whole.onset_) <= 8


def test_path_is_the_evidence_after_the_last_row_of_each_block():
    rng = np.random.default_rng(4)
    p, y = changed(rng, 1.0, 1.0, 500, 700)
    parts = CalibrationMonitor()
    for start in range(0, len(p), 171):
        parts.update(p[start : start + 171], y[start : start + 171])
    _, log10 = CompositeJumper(Cox(_ALTERNATIVES), (1e-3, 1e-5), 0.5, "first").protect(p, y)
    rows, evidence = parts.path_.T
    assert rows.tolist() == [*range(8, 1200, 8), 1200]
    np.testing.assert_allclose(evidence, log10[rows.astype(int) - 1], rtol=1e-9)
    assert parts.largest_log10_evidence_ == pytest.approx(log10.max(), rel=1e-9)


def test_a_raised_rate_gives_an_alarm_for_evidence_that_was_large_enough_before():
    rng = np.random.default_rng(5)
    p, y = changed(rng, 1.0, 1.0, 100, 150)
    monitor = CalibrationMonitor(1e-12).update(p, y)
    reached = 10**-monitor.largest_log10_evidence_
    assert monitor.raise_false_alarm_rate(reached * 0.9).alarm_ is None
    assert monitor.raise_false_alarm_rate(reached * 1.1).alarm_ == 250
    with pytest.raises(ValueError, match="rate must be at least"):
        monitor.raise_false_alarm_rate(1e-12)


def test_invalid_rows_change_nothing():
    monitor = CalibrationMonitor().update([0.2, 0.3], [0, 1])
    before = monitor.to_json()
    for p, y in (([0.2, 1.2], [0, 1]), ([0.2], [0, 1]), ([0.2], [2]), ([[0.2, 0.3, 0.5]], [2])):
        with pytest.raises(ValueError):
            monitor.update(p, y)
    assert monitor.to_json() == before
    with pytest.raises(ValueError, match="false_alarm_rate must be above 0 and below 1, not 2"):
        CalibrationMonitor(2)


def test_certain_predictions_that_are_wrong_give_an_alarm_and_no_error():
    assert CalibrationMonitor().update([0.0] * 50, [1] * 50).alarm_ <= 50


@pytest.mark.parametrize(
    "change",
    [{"format": "x"}, {"version": 1}, {"rows": -1}, {"rows": 7}, {"alarm": 9}, {"gains": [[0]]}, {"jumper": {}},
     {"gains": "x"}, {"rows_in_block": 0}, {"evidence": [0.0]}, {"largest_evidence": "x"}],
)  # fmt: skip
def test_a_damaged_state_is_refused(change):
    content = json.loads(CalibrationMonitor().update([0.2, 0.3], [0, 1]).to_json())
    with pytest.raises(ValueError, match="the text holds no monitor"):
        CalibrationMonitor.from_json(json.dumps(content | change))
    with pytest.raises(ValueError, match="the text holds no monitor"):
        CalibrationMonitor.from_json("[]")


BOTH = pytest.mark.parametrize("make", [SimpleJumper, CompositeJumper])


def risen_and_fallen():
    """Return a base of .3 with 100 labels 1 and then 300 labels 0, so that the martingale rises and falls."""
    p = np.full(400, 0.3)
    return p, (np.arange(400) < 100).astype(int)


@BOTH
def test_alarm_comes_at_the_same_row_in_stream_and_array(make):
    p, y = risen_and_fallen()
    row = first_alarm(make().protect(p, y)[1], 100)
    jumper, reached = make(), []
    for one, label in zip(p.tolist(), y.tolist(), strict=True):
        jumper.learn_one(one, label)
        reached.append(jumper.has_reached(100))
    assert reached == [False] * row + [True] * (400 - row)


def test_alarm_remains_after_the_martingale_falls():
    jumper = SimpleJumper([lambda p: 1 - p])
    assert not jumper.has_reached(1.001)
    jumper.protect(*risen_and_fallen())
    assert jumper.log10_martingale < 0 and jumper.has_reached(1e30)
    state = json.loads(json.dumps(jumper.state()))
    assert SimpleJumper.from_state(state, calibrators=jumper.calibrators).has_reached(1e30)


@pytest.mark.parametrize("level", [1, 0.5, math.nan, math.inf, "x", None])
def test_invalid_level_is_rejected(level):
    for call in (SimpleJumper().has_reached, lambda level: first_alarm([0.0], level)):
        with pytest.raises(ValueError, match="above 1"):
            call(level)


@pytest.mark.parametrize("log10", [3.0, [[3.0]], [math.nan], ["x"], None, np.ma.array([3.0], mask=[True])])
def test_invalid_martingale_is_rejected(log10):
    with pytest.raises(ValueError, match="log10_martingale must"):
        first_alarm(log10, 100)


def test_only_protect_measures_the_gain_with_delayed_labels():
    p, y = drifting(2000)
    jumper = SimpleJumper()
    estimates = one_by_one(jumper, p.tolist(), y, delay=200)
    for one, label in zip(p[-201:].tolist(), y[-201:].tolist(), strict=True):
        jumper.learn_one(one, label)
    late = SimpleJumper()
    late.protect(p, y, delay=200)
    gained = log10_loss(p, y) - log10_loss(estimates, y)
    assert late.log10_martingale == pytest.approx(gained, rel=1e-9)
    assert jumper.log10_martingale == pytest.approx(SimpleJumper().protect(p, y)[1][-1], rel=1e-9)
    assert jumper.log10_martingale > gained + 1
    assert "late" in SimpleJumper.log10_martingale.__doc__
