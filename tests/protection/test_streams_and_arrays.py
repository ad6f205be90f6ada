"""Test that step by step and array give the same, for two and more classes, and no prediction uses a later label."""

import json
import tracemalloc
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from streams import drifting, log10_loss, one_by_one, quick

from probcal import CompositeJumper, SimpleJumper
from probcal.protection import Quadratic

JUMPERS = pytest.mark.parametrize(
    "make",
    [SimpleJumper, lambda: SimpleJumper("cox", 1e-3, "first"), CompositeJumper],
    ids=["simple", "cox", "composite"],
)
FEEDBACK = pytest.mark.parametrize(("delay", "every"), [(0, 1), (1, 1), (13, 5), (9000, 1)])


@JUMPERS
@FEEDBACK
def test_streams_and_arrays_give_the_same_predictions(make, delay, every):
    p, y = drifting(3000)
    estimates, _ = make().protect(p, y, delay=delay, every=every)
    assert estimates == pytest.approx(one_by_one(make(), p.tolist(), y, delay, every), rel=1e-12)


@JUMPERS
def test_streams_and_arrays_give_the_same_martingale(make):
    p, y = drifting(20_000)  # two parts, and the second is short
    jumper = make()
    log10 = []
    for one, label in zip(p.tolist(), y.tolist(), strict=True):
        jumper.learn_one(one, label)
        log10.append(jumper.log10_martingale)
    together = make()
    assert together.protect(p, y)[1] == pytest.approx(log10, rel=1e-12, abs=1e-12)
    assert together.log10_martingale == pytest.approx(log10[-1], rel=1e-12)
    assert together.predict_one(0.3) == pytest.approx(jumper.predict_one(0.3), rel=1e-12)


@JUMPERS
@FEEDBACK
def test_later_labels_change_no_earlier_predictions(make, delay, every):
    p, y = drifting(20_000)
    estimates, log10 = make().protect(p, y, delay=delay, every=every)
    for row in (0, 160, 16_383, 16_384):
        other = y.copy()
        other[row:] = 1 - other[row:]
        changed, changed_log10 = make().protect(p, other, delay=delay, every=every)
        known_from = row + 1 + delay
        assert np.array_equal(changed[:known_from], estimates[:known_from])
        assert np.array_equal(changed_log10[:row], log10[:row])


@JUMPERS
@FEEDBACK
@pytest.mark.parametrize("half", [0, 777])
def test_saved_stream_continues_with_the_same_results(make, delay, every, half):
    p, y = drifting(3000)
    whole = make().protect(p, y, delay=delay, every=every)
    before = make()
    first = before.protect(p[:half], y[:half], delay=delay, every=every)
    after = type(before).from_state(json.loads(json.dumps(before.state())))
    second = after.protect(p[half:], y[half:], delay=delay, every=every)
    for found, *parts in zip(whole, first, second, strict=True):
        assert np.concatenate(parts) == pytest.approx(found, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("make", [SimpleJumper, CompositeJumper])
def test_delayed_labels_are_learned_when_the_delay_ends(make):
    p, y = drifting(60)
    jumper, slow = make(), make()
    jumper.protect(p[:40], y[:40], delay=10)
    found, _ = jumper.protect(p[40:], y[40:])
    one_by_one(slow, p[:40], y[:40], delay=10)  # has learnt all before row 29
    expected = []
    for row in range(29, 60):
        if row >= 40:
            expected.append(slow.predict_one(p[row]))
        slow.learn_one(p[row], int(y[row]))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_own_functions_must_be_given_again_to_restore():
    functions = [lambda p: p, lambda p: p**2]
    jumper = SimpleJumper(functions)
    jumper.protect(*drifting(50))
    state = jumper.state()
    again = SimpleJumper.from_state(state, calibrators=functions)
    assert again.predict_one(0.4) == jumper.predict_one(0.4)
    with pytest.raises(ValueError, match="does not hold the calibrators"):
        SimpleJumper.from_state(state)
    with pytest.raises(ValueError, match="not 'cox'"):
        SimpleJumper.from_state(state, calibrators="cox")


def test_error_leaves_the_state_unchanged():
    p, y = drifting(100)
    jumper = SimpleJumper(truncation=None)
    jumper.protect(p, y, delay=3)
    state = jumper.state()
    with pytest.raises(ValueError, match="row 99"):
        jumper.protect(np.append(p[:99], 1.0), np.append(y[:99], 0), delay=3)
    with pytest.raises(ValueError, match="calibrator 1"):
        SimpleJumper([lambda p: p, lambda p: 2 * p]).protect(p, y)
    assert jumper.state() == state


@pytest.mark.parametrize("make", [SimpleJumper, CompositeJumper])
def test_memory_for_arrays_grows_only_with_the_output(make):
    taken = []
    for n in (50_000, 200_000):
        p, y = drifting(n)
        tracemalloc.start()
        make().protect(p, y)
        taken.append(tracemalloc.get_traced_memory()[1] - 2 * 8 * n)
        tracemalloc.stop()
    assert taken[1] < taken[0] + 100_000


def held_by_probcal():
    """Return the bytes that probcal.protection still holds, without those of the threads of pytest."""
    snapshot = tracemalloc.take_snapshot().filter_traces([tracemalloc.Filter(True, "*/probcal/protection/*")])
    return sum(trace.size for trace in snapshot.traces)


def test_memory_of_a_stream_does_not_grow():
    p, y = drifting(10_000)
    rows = list(zip(p.tolist(), y.tolist(), strict=True))
    jumper = SimpleJumper()
    tracemalloc.start()
    for one, label in rows[:1000]:
        jumper.predict_one(one)
        jumper.learn_one(one, label)
    before = held_by_probcal()
    for one, label in rows[1000:]:
        jumper.predict_one(one)
        jumper.learn_one(one, label)
    grown = held_by_probcal() - before
    tracemalloc.stop()
    assert grown < 2000


@pytest.mark.parametrize("make", [SimpleJumper, CompositeJumper])
def test_million_steps_neither_overflow_nor_lose_precision(make):
    # the base predicts .01 for half a million labels 1, then .01 for as many labels 0: S exceeds 10^100,000 and falls
    # again; at the end log10 S equals the sum of the gains of the predictions
    n = 1_000_000
    p, y = np.full(n, 0.01), (np.arange(n) < n // 2).astype(int)
    estimates, log10 = make().protect(p, y)
    assert np.isfinite(log10).all() and log10.max() > 100_000
    gains = np.log10(np.where(y == 1, estimates / p, (1 - estimates) / (1 - p)).astype(np.longdouble))
    assert log10[-1] == pytest.approx(float(gains.sum()), abs=1e-6)
    assert estimates[-1] < 0.02 if make is SimpleJumper else log10[-1] > 0


def simulated(n, n_classes=3, seed=0):
    """Return base predictions and labels, where class 0 becomes more frequent than the base predicts."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(n_classes), n)
    true = p * np.where(np.arange(n_classes) == 0, 1 + np.linspace(0, 5, n)[:, None], 1)
    true /= true.sum(axis=1, keepdims=True)
    return p, (rng.random(n)[:, None] > np.cumsum(true, axis=1)).sum(axis=1)


@quick
@given(st.lists(st.tuples(*[st.integers(1, 20)] * 3, st.integers(0, 2)), min_size=1, max_size=12))
def test_predictions_and_martingale_agree_with_fractions(rows):
    eps, jump_rate = (0, Fraction(1, 2), Fraction(-1, 2)), Fraction(1, 100)
    capital, martingale, estimates = [Fraction(1, 7)] * 7, Fraction(1), []
    for *weights, y in rows:
        p = [Fraction(one, sum(weights)) for one in weights]
        values = [p]
        for one in eps[1:]:
            for k in range(3):
                values.append([p[j] + one * p[k] * ((j == k) - p[j]) for j in range(3)])
        capital = [(1 - jump_rate) * one + jump_rate / 7 for one in capital]
        estimates.append([float(sum(c * v[j] for c, v in zip(capital, values, strict=True))) for j in range(3)])
        capital = [c * v[y] for c, v in zip(capital, values, strict=True)]
        martingale *= sum(capital) / p[y]
        capital = [c / sum(capital) for c in capital]
    p = np.array([[one / sum(weights) for one in weights] for *weights, _ in rows])
    y = np.array([one for *_, one in rows])
    found, log10 = SimpleJumper(Quadratic((0, 0.5, -0.5))).protect(p, y)
    assert found == pytest.approx(np.array(estimates), rel=1e-12)
    assert 10 ** log10[-1] == pytest.approx(float(martingale), rel=1e-12)


@pytest.mark.parametrize("make", [SimpleJumper, lambda: CompositeJumper("quadratic")])
@pytest.mark.parametrize(("delay", "every"), [(0, 1), (20, 3)])
def test_streams_agree_with_arrays_and_martingale_with_log_loss(make, delay, every):
    p, y = simulated(3000)
    estimates, log10 = make().protect(p, y, delay=delay, every=every)
    assert estimates == pytest.approx(one_by_one(make(), p, y, delay, every), rel=1e-12)
    assert estimates.sum(axis=1) == pytest.approx(1, abs=1e-12)
    assert log10[-1] == pytest.approx(log10_loss(p, y) - log10_loss(estimates, y), rel=1e-9)
    assert log10[-1] > 10


def test_truncated_row_is_divided_by_its_sum():
    # 0, .3, .7 at truncation .1: .1, .3, .7 over 1.1
    found = SimpleJumper([lambda p: p], truncation=0.1).predict_one([0.0, 0.3, 0.7])
    assert found == pytest.approx(np.array([0.1, 0.3, 0.7]) / 1.1, abs=1e-15)


def test_number_of_classes_cannot_change_in_a_stream():
    jumper = SimpleJumper()
    jumper.learn_one([0.2, 0.3, 0.5], 2)
    with pytest.raises(ValueError, match="p is for 2 classes, the stream so far for 3"):
        jumper.predict_one(0.5)


def test_two_columns_are_rejected_with_advice():
    with pytest.raises(ValueError, match=r"try p\[:, 1\]"):
        SimpleJumper().protect([[0.2, 0.8]], [1])


@pytest.mark.parametrize("name", [int, str])
def test_named_columns_of_a_frame_belong_to_their_classes(name):
    p, y = simulated(50)
    frame = pd.DataFrame({name(one): p[:, one] for one in (2, 0, 1)})
    found, right = (CompositeJumper("quadratic", [0.01]).protect(given, y)[0] for given in (frame, p))
    assert np.array_equal(found, right)
