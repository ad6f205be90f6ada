"""Test the protected forecaster: its experts, the mixture over them, its bounds, and its state."""

import copy
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from streams import drifting, quick

from probcal.protection import CompositeJumper, ProtectedForecaster, SimpleJumper, regret_bound
from probcal.protection.forecaster import _SWITCH_RATES

BITS = 1 / math.log10(2)


def several_classes(n=150):
    rng = np.random.default_rng(3)
    return rng.dirichlet([1, 1, 1], n), rng.integers(3, size=n)


def row_by_row(forecaster, p, y, delay=0, every=1, forecasts=None):
    """Return predictions and the predictions of all experts, with labels that arrive as ``protect`` has them."""
    predicted, of_experts, waiting = [], [], []
    for row, (one, label) in enumerate(zip(p, y.tolist(), strict=True)):
        own = None if forecasts is None else forecasts[row]
        while waiting and waiting[0][0] + delay < row:
            _, earlier, its_label, its_own, in_time = waiting.pop(0)
            forecaster.learn_one(earlier, its_label, forecasts=its_own, predictions=in_time)
        labelled = row % every == 0
        predicted.append(forecaster.predict_one(one, labelled, forecasts=own))
        of_experts.append(forecaster.expert_predictions(one, own, labelled))
        if labelled:
            waiting.append((row, one, label, own, of_experts[-1]))
    return np.array(predicted), np.array(of_experts)


def bits(p, y):
    return -np.log2(np.where(y == 1, p, 1 - p))


@pytest.mark.parametrize("feedback", [{}, {"delay": 7}, {"every": 3}, {"delay": 10, "every": 4}], ids=str)
@pytest.mark.parametrize("stream", [drifting(150), several_classes()], ids=["two classes", "three classes"])
def test_arrays_equal_row_by_row_and_saved_state_continues(stream, feedback):
    p, y = stream
    settings = {"learning_rate": 1 / (1 + feedback.get("delay", 0)), "n_forecasts": 1}
    own = np.roll(p, 1, axis=0)[:, None]
    expected, _ = row_by_row(ProtectedForecaster(**settings), p, y, **feedback, forecasts=own)
    forecaster = ProtectedForecaster(**settings)
    first, _ = forecaster.protect(p[:61], y[:61], **feedback, forecasts=own[:61])
    other = copy.copy(forecaster)
    forecaster = ProtectedForecaster.from_state(json.loads(json.dumps(forecaster.state())))
    last, log10 = forecaster.protect(p[61:], y[61:], **feedback, forecasts=own[61:])
    assert np.abs(np.concatenate([first, last]) / expected - 1).max() < 1e-12
    assert other.protect(p[61:], y[61:], **feedback, forecasts=own[61:])[1].tolist() == log10.tolist()


def test_mixture_equals_a_plain_recursion_over_rates_and_experts():
    p, y = drifting(80)
    forecaster = ProtectedForecaster()
    shares = dict.fromkeys(_SWITCH_RATES)
    capital = dict.fromkeys(_SWITCH_RATES, 0.5 / len(_SWITCH_RATES))
    on_base = 0.5
    for one, label in zip(p.tolist(), y.tolist(), strict=True):
        q = forecaster.expert_predictions(one)
        likelihoods = q if label else 1 - q
        total, weighted = on_base + sum(capital.values()), on_base * one
        for rate in _SWITCH_RATES:
            before = np.full(len(q), 1 / len(q)) if shares[rate] is None else shares[rate]
            jumped = (1 - rate) * before + rate / len(q)
            weighted += capital[rate] * float(jumped @ q)
            capital[rate] *= float(jumped @ likelihoods)
            shares[rate] = jumped * likelihoods / float(jumped @ likelihoods)
        on_base *= one if label else 1 - one
        assert forecaster.predict_one(one) == pytest.approx(weighted / total, rel=1e-12)
        forecaster.learn_one(one, label)


def test_experts_are_those_that_the_docstring_names():
    p, y = drifting(200)
    _, experts = row_by_row(ProtectedForecaster(), p, y)
    assert experts.shape == (200, 14)
    assert experts[:, 0].tolist() == p.tolist()
    jumpers = [SimpleJumper(truncation=None), CompositeJumper(truncation=None)]
    for place, jumper in enumerate(jumpers, start=1):
        assert np.abs(experts[:, place] - jumper.protect(p, y)[0]).max() < 1e-12
    platt = dict.fromkeys([0.001, 0.003, 0.01, 0.03, 0.1, 0.3])
    beta = dict.fromkeys([0.003, 0.01, 0.03])
    for place, rate in enumerate(platt, start=3):
        a, b = 1.0, 0.0
        for row in range(200):
            z = math.log(p[row] / (1 - p[row]))
            q = 1 / (1 + math.exp(-a * z - b))
            assert experts[row, place] == pytest.approx(q, rel=1e-9)
            a, b = max(a - rate * (q - y[row]) * z, 0), b - rate * (q - y[row])
    for place, rate in enumerate(beta, start=9):
        a, b, c = 1.0, 1.0, 0.0
        for row in range(200):
            q = 1 / (1 + math.exp(-a * math.log(p[row]) + b * math.log(1 - p[row]) - c))
            assert experts[row, place] == pytest.approx(q, rel=1e-9)
            error = rate * (q - y[row])
            a, b = max(a - error * math.log(p[row]), 0), max(b + error * math.log(1 - p[row]), 0)
            c -= error
    for place, kept in enumerate([0.99, 0.999], start=12):
        counts = [[2 - (k + 0.5) / 10, (k + 0.5) / 10] for k in range(20)]
        start = copy.deepcopy(counts)
        for row in range(200):
            k = min(int(p[row] * 20), 19)
            assert experts[row, place] == pytest.approx(counts[k][1] / sum(counts[k]), rel=1e-9)
            counts[k] = [kept * now + (1 - kept) * first for now, first in zip(counts[k], start[k], strict=True)]
            counts[k][y[row]] += 1


def holds(p, y):
    """Check the bounds on the log2 loss: against the base, each expert, and two experts with one switch."""
    loss = bits(ProtectedForecaster().protect(p, y)[0], y).sum()
    _, experts = row_by_row(ProtectedForecaster(), p, y)
    of_experts = bits(experts, y[:, None])
    n, n_experts = of_experts.shape
    assert loss <= of_experts[:, 0].sum() + 1 + 1e-9
    assert loss <= of_experts.sum(axis=0).min() + math.log2(8 * n_experts) + 1e-6
    before = np.cumsum(of_experts, axis=0)
    best = min((before[k - 1].min() + (before[-1] - before[k - 1]).min() for k in range(1, n)), default=math.inf)
    for rate in _SWITCH_RATES[1:]:
        if n > 1:
            assert loss <= best + 3 + BITS * regret_bound(n, n_experts, rate, 1) + 1e-6


@quick
@given(st.lists(st.tuples(st.floats(0.01, 0.99), st.integers(0, 1)), min_size=1, max_size=30))
def test_losses_stay_within_the_bounds(stream):
    p, y = zip(*stream, strict=True)
    holds(np.array(p), np.array(y))


def test_losses_stay_within_the_bounds_where_the_world_turns():
    rng = np.random.default_rng(0)
    p = rng.uniform(0.05, 0.95, 600)
    holds(p, (rng.random(600) < np.where(np.arange(600) < 300, p, 1 - p)).astype(int))


def test_capital_of_calibrated_streams_rarely_reaches_ten():
    rng = np.random.default_rng(1)
    alarms = 0
    for _ in range(150):
        p = rng.uniform(0.02, 0.98, 120)
        forecaster = ProtectedForecaster()
        forecaster.protect(p, (rng.random(120) < p).astype(int), delay=int(rng.integers(3)))
        alarms += forecaster.has_reached(10)
    assert alarms <= 15  # P(S >= 10 at any time) <= 1 / 10


def test_forecasts_that_know_the_labels_win():
    p, y = drifting(300)
    known = np.where(y == 1, 0.99, 0.01)[:, None]
    forecaster = ProtectedForecaster(n_forecasts=1)
    protected, _ = forecaster.protect(p, y, forecasts=known)
    assert bits(protected[50:], y[50:]).mean() < 0.05


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: ProtectedForecaster(n_forecasts=-1), "n_forecasts must be a whole number"),
        (lambda: ProtectedForecaster(learning_rate=0), "learning_rate must be a number above 0"),
        (lambda: ProtectedForecaster(1).protect([0.5], [1]), r"forecasts must be of shape \(1, 1\)"),
        (lambda: ProtectedForecaster(1).predict_one(0.5, forecasts=[1.2]), r"within \[0, 1\]"),
        (lambda: ProtectedForecaster().learn_one(0.5, 2), "y must be a whole number from 0 to 1"),
        (lambda: ProtectedForecaster().learn_one(0.5, 1, predictions=np.ones(3)), "what expert_predictions returned"),
        (lambda: ProtectedForecaster().learn_one(0.5, 1, predictions=np.full(14, 2.0)), r"predictions must lie"),
        (lambda: ProtectedForecaster(1).protect([0.5], [1], forecasts=[[1.5]]), "forecasts: p must lie"),
        (
            lambda: ProtectedForecaster.from_state(ProtectedForecaster().state(), calibrators="cox"),
            "it has no calibrators",
        ),
    ],
)
def test_invalid_input_is_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_stream_of_another_number_of_classes_is_refused_and_nothing_changes():
    forecaster = ProtectedForecaster()
    forecaster.protect(*drifting(20))
    before = forecaster.state()
    for wrong in (lambda: forecaster.protect(*several_classes()), lambda: forecaster.protect([0.5, 0.5], [1, 7])):
        with pytest.raises(ValueError, match=r"classes|whole numbers"):
            wrong()
        assert forecaster.state() == before


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda state: state["experts"].pop("row"), "must have the entries"),
        (lambda state: state["experts"].update(row=-1), "experts.row"),
        (lambda state: state["experts"]["online"][0].pop(), "finite numbers for each expert"),
        (lambda state: state["experts"].update(waiting=[[1, 2.0, 0]]), "experts.waiting"),
        (lambda state: state["experts"]["jumpers"].pop(), "experts.jumpers must be a list of 2"),
    ],
)
def test_invalid_state_is_refused(change, words):
    forecaster = ProtectedForecaster()
    forecaster.protect(*drifting(20), delay=3)
    state = forecaster.state()
    change(state)
    with pytest.raises(ValueError, match=words):
        ProtectedForecaster.from_state(state)
