"""Test the oracle of probing by brute force against the properties that the paper claims for its formulas."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext

import pytest

from tests.oracles.probing_oracle import gain_of_one_row, importance, importances, learn, minimax_p

INTERVALS = [(0, 1), (0, 0.5), (0.5, 1), (0, 0.01), (0.97, 1), (0.2, 0.3), (0.05, 0.8), (0.9, 0.99)]
STEPS = 200


def log_loss_regret(guess: float, truth: float) -> float:
    """Return the expected log loss of ``guess`` minus that of ``truth``, if y is drawn with ``truth``."""

    def expected(p: float) -> float:
        return sum(q * math.log(1 / r) for q, r in ((truth, p), (1 - truth, 1 - p)) if q > 0)

    return expected(guess) - expected(truth)


def squared_error_regret(guess: float, truth: float) -> float:
    def expected(p: float) -> float:
        return truth * (1 - p) ** 2 + (1 - truth) * p**2

    return expected(guess) - expected(truth)


REGRETS = {"log_loss": log_loss_regret, "squared_error": squared_error_regret}


def exact(interval: tuple[float, float]) -> tuple[Decimal, Decimal]:
    return Decimal(interval[0]), Decimal(interval[1])


@pytest.mark.parametrize("interval", INTERVALS)
@pytest.mark.parametrize("loss", REGRETS)
def test_minimax_p_has_the_smallest_worst_case_regret(loss, interval):
    a, b = interval
    truths = [a + (b - a) * i / STEPS for i in range(STEPS + 1)]
    guesses = truths[1:-1]

    def worst(guess: float) -> float:
        return max(REGRETS[loss](guess, truth) for truth in truths)

    best = min(guesses, key=worst)
    printed = float(minimax_p(loss, *exact(interval)))
    assert abs(best - printed) <= (b - a) / STEPS
    assert worst(printed) <= worst(best) + 1e-12


@pytest.mark.parametrize("interval", INTERVALS)
def test_footnote_2_both_interval_ends_give_the_same_gain(interval):
    with localcontext(prec=120):
        a, b = exact(interval)
        p = minimax_p("log_loss", a, b)
        from_b = b * (b / p).ln() + ((1 - b) * ((1 - b) / (1 - p)).ln() if b < 1 else 0)
        assert abs(from_b - gain_of_one_row("log_loss", a, b)) < Decimal("1e-100")


@pytest.mark.parametrize("interval", INTERVALS)
def test_log_loss_gain_is_the_worst_case_regret(interval):
    a, b = exact(interval)
    p, gain = float(minimax_p("log_loss", a, b)), float(gain_of_one_row("log_loss", a, b))
    assert gain == pytest.approx(max(log_loss_regret(p, end) for end in interval), rel=1e-9)


def test_first_thresholds_agree_with_hand_calculation():
    # H(1) = H(0), so p = 1/2. On [0, 1/2]: H(1/2)/(1/2) = 2 ln 2, so p = 1/(1 + 4); [1/2, 1] mirrors it.
    half = Decimal("0.5")
    assert minimax_p("log_loss", Decimal(0), Decimal(1)) == half
    assert float(minimax_p("log_loss", Decimal(0), half)) == 0.2
    assert float(minimax_p("log_loss", half, Decimal(1))) == 0.8
    # Gain of [0, 1]: ln 2. Of [0, 1/2] from a = 0: ln(1/(1 - 1/5)).
    assert float(gain_of_one_row("log_loss", Decimal(0), Decimal(1))) == pytest.approx(math.log(2), abs=1e-15)
    assert float(gain_of_one_row("log_loss", Decimal(0), half)) == pytest.approx(math.log(1.25), abs=1e-15)


def test_importances_follow_corollary_1_and_can_sum_to_n():
    assert [importance(0.2, 1), importance(0.2, 0), importance(0.5, 1)] == [4.0, 1.0, 1.0]
    assert importances(0.2, [1, 0, 0], None) == [4.0, 1.0, 1.0]
    assert importances(0.2, [1, 0, 0], "n") == pytest.approx([2.0, 0.5, 0.5])


def test_three_probes_without_positive_votes_agree_with_hand_calculation():
    # All rows stay in the lowest interval: [0, 1] -> 1/2, [0, 1/2] -> 1/5,
    # [0, 1/5]: H(.2)/.2 = ln 5 + 4 ln(5/4), so p = 1/(1 + 5 (5/4)^4).
    probed = learn(lambda X, y, w: lambda X: [0] * len(X), [0, 1], [0, 1], n_probes=3)
    assert probed.thresholds == pytest.approx([1 / (1 + 5 * 1.25**4), 0.2, 0.5], abs=1e-15)
    assert probed.votes([0, 1]) == [0, 0]
