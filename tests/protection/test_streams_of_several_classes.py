"""Test the Jumpers on streams of more than two classes."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from streams import log10_loss, one_by_one, quick

from probcal import CompositeJumper, SimpleJumper
from probcal.protection import Quadratic


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
