"""Test the theoretical guarantees of the Jumpers: bounds on regret, and Ville's inequality."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from streams import EPS, arrays, log10_loss, quick, streams

from probcal import CompositeJumper, SimpleJumper
from probcal.protection import first_alarm, regret_bound
from probcal.protection.calibrating_functions import FAMILIES


def losses(p, y):
    """Return the log10 loss of each calibrator in each step, of shape (n, n_calibrators)."""
    values = FAMILIES["quadratic"].apply(p)
    return -np.log10(np.where(y[:, None] == 1, values, 1 - values))


def best_with_switches(loss, most):
    """Return the smallest loss of a sequence of calibrators with exactly 0, 1, ..., ``most`` switches."""
    best = np.full((most + 1, loss.shape[1]), math.inf)
    best[0] = loss[0]
    for row in loss[1:]:
        last = best.copy()
        for k in range(most + 1):
            for calibrator in range(len(row)):
                others = np.delete(last[k - 1], calibrator) if k else [math.inf]
                best[k, calibrator] = min(last[k, calibrator], *others) + row[calibrator]
    return best.min(axis=1)


def holds(p, y, jump_rate):
    protected = log10_loss(SimpleJumper(jump_rate=jump_rate).protect(p, y)[0], y)
    most = min(4, len(y) - 1)
    for switches, best in enumerate(best_with_switches(losses(p, y), most)):
        assert protected <= best + regret_bound(len(y), len(EPS), jump_rate, switches) + 1e-9


@quick
@given(streams, st.sampled_from([1e-4, 1e-2, 0.3, 1.0]))
def test_regret_stays_within_its_bound(stream, jump_rate):
    holds(*arrays(stream), jump_rate)


def test_regret_bound_agrees_with_hand_calculation():
    # |E| = 5 and J = .01: the calibrator stays with probability .992, and changes to each other one with .002;
    # 101 steps, no switch: log10 5 + 100 log10(1 / .992) = .698970 + .348833; one: .698970 + .345344 + 2.698970
    assert regret_bound(101, 5, 0.01) == pytest.approx(1.047803, abs=1e-6)
    assert regret_bound(101, 1, 0.01) == 0  # a single calibrator regrets nothing
    assert regret_bound(101, 5, 0.01, switches=1) == pytest.approx(3.743284, abs=1e-6)


def test_regret_bound_can_be_reached():
    # one step, and the best of two opposite calibrators is certain: p' = 1/2, and the regret is log10 2
    jumper = SimpleJumper([lambda p: 0 * p, lambda p: 0 * p + 1])
    assert -np.log10(jumper.protect([0.5], [1])[0][0]) == pytest.approx(regret_bound(1, 2, 0.01), abs=1e-15)


@pytest.mark.parametrize(
    "wrong",
    [
        *[(0, 5, 0.01), (10, 0, 0.01), (10, 5, 0), (10, 5, 0.01, 10), (10, 5, 0.01, -1)],
        *[(10.5, 5, 0.01), (10, 5.0, 0.01), (10, 5, 0.01, 2.5), ("x", 5, 0.01), (10, 5, "x"), (10, 5, None)],
    ],
)
def test_invalid_arguments_of_regret_bound_are_rejected(wrong):
    with pytest.raises(ValueError, match="switches from 0 to n - 1"):
        regret_bound(*wrong)


@pytest.fixture(scope="module")
def calibrated():
    """Return the highest log10 S of calibrated streams of 300 rows: 2,000 simple ones and 500 composite ones."""
    rng, highest = np.random.default_rng(7), {}
    for kind, make, streams_of_it in (("simple", SimpleJumper, 2000), ("composite", CompositeJumper, 500)):
        p = rng.uniform(0.02, 0.98, (streams_of_it, 300))
        y = (rng.random(p.shape) < p).astype(int)
        highest[kind] = np.array([make().protect(*one)[1].max() for one in zip(p, y, strict=True)])
    return highest


@pytest.mark.parametrize("kind", ["simple", "composite"])
@pytest.mark.parametrize("level", [1.5, 2, 5, 10, 100])
def test_false_alarms_are_as_rare_as_ville_states(calibrated, kind, level):
    # an exact, one-sided test: if it fails, an alarm probability of 1 / level gives so many alarms less than once in a
    # million simulations
    n, alarms = len(calibrated[kind]), int((calibrated[kind] >= np.log10(level)).sum())
    assert sum(_binomial(n, k, 1 / level) for k in range(alarms, n + 1)) > 1e-6


def test_alarm_is_the_first_row_at_the_level():
    assert first_alarm([0.0, 1.0, 2.0, 1.5, 3.0], 100) == 2
    assert first_alarm([0.0, 1.0], 100) is None
    assert first_alarm([], 100) is None


def _binomial(n, k, probability):
    logs = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    return math.exp(logs + k * math.log(probability) + (n - k) * math.log1p(-probability))
