"""Test quadratic scaling, splines, centered isotonic regression, histogram binning and prior correction by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import CubicSpline
from scipy.optimize import minimize
from scipy.special import expit, logit, softmax
from sklearn.frozen import FrozenEstimator
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from probcal import (
    BetaCalibrator,
    HistogramBinningCalibrator,
    IsotonicCalibrator,
    PriorCalibrator,
    PriorCorrectedClassifier,
    QuadraticCalibrator,
    SigmoidCalibrator,
    SplineCalibrator,
)
from tests.methods.calibrating import blobs, noisy, platt_targets

pytestmark = pytest.mark.filterwarnings("error")


def regression_on(features, y, weights=None):
    """Return scikit-learn's regression without penalty. Its intercept is that of the features."""
    return LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-12, max_iter=10_000).fit(features, y, weights)


@pytest.mark.parametrize("targets", ["labels", "smoothed"])
@pytest.mark.parametrize("seed", range(3))
def test_quadratic_scaling_equals_logistic_regression_on_two_powers(targets, seed):
    s, y = noisy(400, seed)
    s = s.clip(-3, 3)
    features = np.vander(s, 3, increasing=True)
    if targets == "labels":
        peer = regression_on(features, y)
    else:
        t = platt_targets(y)
        peer = regression_on(np.tile(features, (2, 1)), np.repeat([0, 1], 400), np.append(1 - t, t))
    found = QuadraticCalibrator(targets=targets).fit(expit(s), y).predict_proba(expit(s))
    np.testing.assert_allclose(found, peer.predict_proba(features), rtol=0, atol=1e-6)


QUANTILES = [0.05, 0.275, 0.5, 0.725, 0.95]


def natural_splines(knots, x):
    """Return the natural cubic splines that are 1 at one knot and 0 at the others, (n, n_knots), by SciPy."""
    spline = CubicSpline(knots, np.eye(len(knots)), bc_type="natural")
    inside = np.clip(x, knots[0], knots[-1])
    return spline(inside) + spline(inside, 1) * (x - inside)[:, None]


@pytest.mark.parametrize("penalty", [0.0, 1.0, 30.0])
def test_spline_agrees_with_a_minimiser_on_scipys_splines(penalty):
    s, y = noisy(300)
    knots = np.sort(s)[[int(np.ceil(q * 300)) - 1 for q in QUANTILES]]
    basis = natural_splines(knots, s)
    # a nonlinear coefficient is the jump of the third derivative over 6, times the squared range of the knots
    cubic = CubicSpline(knots, np.eye(5), bc_type="natural").c[0]
    span = (knots[-1] - knots[0]) ** 2
    jumps = span * (cubic - np.vstack([np.zeros(5), cubic[:-1]]))[:3]

    def truncated(number):
        def power(knot):
            return np.maximum(s - knot, 0) ** 3

        first, before, last = knots[number], knots[3], knots[4]
        return (
            power(first)
            - power(before) * (last - first) / (last - before)
            + power(last) * (before - first) / (last - before)
        ) / span

    strength = penalty * np.var([truncated(number) for number in range(3)], axis=1)
    target = platt_targets(y)

    def loss(v):
        z = basis @ v
        slope = basis.T @ (expit(z) - target) + jumps.T @ (strength * (jumps @ v))
        return (np.logaddexp(0, z) - target * z).sum() + 0.5 * strength @ (jumps @ v) ** 2, slope

    v = minimize(loss, np.zeros(5), jac=True, method="BFGS", options={"gtol": 1e-9}).x
    fitted = SplineCalibrator(input="score", penalty=penalty).fit(s, y)
    asked = np.linspace(s.min(), s.max(), 200)
    expected = expit(natural_splines(knots, asked) @ v)
    np.testing.assert_allclose(fitted.predict_proba(asked)[:, 1], expected, rtol=0, atol=1e-6)
    beyond = fitted.predict_proba([s.min() - 9, s.max() + 9])[:, 1]
    np.testing.assert_allclose(beyond, expected[[0, -1]], atol=1e-6)


def test_centered_isotonic_regression_agrees_with_hand_calculation():
    # 1, 3, 2 and 3 of 4 rows at doses 1 to 4. The middle doses are pooled to 5/8, at dose 2.5
    doses = np.repeat([1.0, 2, 3, 4], 4)
    y = np.array([1, 0, 0, 0, 1, 1, 1, 0, 1, 1, 0, 0, 1, 1, 1, 0])
    fitted = IsotonicCalibrator(input="score", centered=True, clip=(0, 1)).fit(doses, y)
    assert fitted.maps_[0].scores.tolist() == [1, 2.5, 4]
    assert fitted.maps_[0].probabilities.tolist() == [1 / 4, 5 / 8, 3 / 4]
    expected = [0.25, 0.25, 0.25 + 0.375 / 1.5, 0.625 + 0.125 / 3, 0.75]
    assert fitted.predict_proba([0, 1, 2, 3, 9])[:, 1] == pytest.approx(expected)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(4, 60), st.integers(0, 10_000), st.sampled_from([0, 1, 16]), st.booleans())
def test_centered_knots_are_mean_scores_of_isotonic_runs(n, seed, decimals, weighted):
    scores, y = noisy(n, seed)
    scores, y[:2] = np.round(scores, decimals), [False, True]
    weights = np.random.default_rng(seed).exponential(size=n) + 0.01 if weighted else np.ones(n)
    values = IsotonicRegression().fit(scores, y, sample_weight=weights).predict(scores).round(12)
    x, p = [], []
    for one in np.unique(values):
        run = values == one
        ends = [np.average(scores[run], weights=weights[run])]
        if one in (0, 1):
            ends = np.unique([scores[run].min(), scores[run].max()])
        x, p = [*x, *ends], [*p, *[one] * len(ends)]
    asked = np.linspace(-4, 4, 99)
    fitted = IsotonicCalibrator(input="score", centered=True, clip=(0, 1)).fit(scores, y, weights)
    np.testing.assert_allclose(fitted.predict_proba(asked)[:, 1], np.interp(asked, x, p), rtol=0, atol=1e-9)


@pytest.mark.parametrize("centered", [True, False])
def test_isotonic_ends_are_smoothed_by_their_row_count(centered):
    p = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]
    fitted = IsotonicCalibrator(centered=centered).fit(p, [0, 0, 0, 1, 0, 1, 1])
    found = fitted.predict_proba(p)[:, 1]
    assert found[:3] == pytest.approx([1 / 5] * 3)
    assert found[-2:] == pytest.approx([3 / 4] * 2)


def test_bound_of_one_row_changes_no_long_run():
    # the lowest row is negative, and one of the next 20 is positive. The bound 1 / (1 + 2) of one row would change all
    p = np.linspace(0.01, 0.9, 41)
    y = np.array([0, 1, *[0] * 19, *[1, 0] * 10])
    found = IsotonicCalibrator().fit(p, y).predict_proba(p)[:21, 1]
    np.testing.assert_allclose(found, 1 / 20)
    np.testing.assert_allclose(IsotonicCalibrator().fit(1 - p, 1 - y).predict_proba(1 - p)[:21, 1], 19 / 20)


@pytest.mark.parametrize(("of_probability", "slope"), [(False, 2.0), (True, 6.0)])
def test_sigmoid_uses_the_better_of_log_odds_and_probabilities(of_probability, slope):
    p = np.random.default_rng(0).beta(0.5, 0.5, 4000)
    score = p - 0.5 if of_probability else logit(p)
    y = np.random.default_rng(1).random(4000) < expit(slope * score)
    chosen = SigmoidCalibrator().fit(p, y)
    assert chosen.maps_[0].of_probability is of_probability
    given = SigmoidCalibrator("score").fit(p if of_probability else logit(p), y)
    between = np.linspace(0.01, 0.99, 50)
    expected = given.predict_proba(between if of_probability else logit(between))
    np.testing.assert_allclose(chosen.predict_proba(between), expected, atol=0.01)


@pytest.mark.parametrize("n_bins", [1, 4, 10])
@pytest.mark.parametrize("bins", ["quantile", "uniform"])
def test_bin_predicts_its_smoothed_frequency(n_bins, bins):
    s, y = noisy(240)
    p = expit(s)
    of_row = np.floor(p * n_bins) if bins == "uniform" else np.argsort(np.argsort(p)) * n_bins // 240
    expected = [(y[of_row == one].sum() + 1) / ((of_row == one).sum() + 2) for one in of_row]
    found = HistogramBinningCalibrator(n_bins=n_bins, bins=bins, smoothing="laplace").fit(p, y).predict_proba(p)
    np.testing.assert_allclose(found[:, 1], expected, atol=1e-12)


def test_default_smoothing_adds_four_rows_of_the_mean_prediction():
    p = np.repeat([0.1, 0.5, 0.9], [150, 30, 20])
    y = np.arange(200) % 3 == 0
    fitted = HistogramBinningCalibrator().fit(p, y)
    assert fitted.maps_[0].edges.tolist() == pytest.approx([0.3, 0.7])  # equal predictions fall into one bin
    expected = [(y[p == one].sum() + 4 * one) / ((p == one).sum() + 4) for one in p]
    np.testing.assert_allclose(fitted.predict_proba(p)[:, 1], expected)


def test_adjacent_floats_have_separate_bins():
    low = np.nextafter(0.3, 1)
    p, y = np.repeat([low, np.nextafter(low, 1)], 50), np.repeat([0, 1], 50)
    found = HistogramBinningCalibrator().fit(p, y).predict_proba(p)[:, 1]
    np.testing.assert_allclose(found, np.where(y == 1, 51.2 / 54, 1.2 / 54))


def test_empty_bin_predicts_its_midpoint():
    found = HistogramBinningCalibrator(n_bins=4, bins="uniform").fit([0.1, 0.9, 0.2, 0.95], [0, 1, 1, 0])
    assert found.predict_proba([0.3, 0.7])[:, 1].tolist() == [0.375, 0.625]


def test_prior_correction_follows_bayes_rule():
    p, y = np.array([0.1, 0.5, 0.9, 0.2, 0.8]), [0, 0, 1, 0, 1]  # 2 of 5 positive
    found = PriorCalibrator(0.1).fit(p, y).predict_proba(p)[:, 1]
    expected = p * 0.1 / 0.4 / (p * 0.1 / 0.4 + (1 - p) * 0.9 / 0.6)
    np.testing.assert_allclose(found, expected, atol=1e-15)
    by_name = PriorCalibrator({0: 0.9, 1: 0.1}).fit(p, y).predict_proba(p)[:, 1]
    assert by_name.tolist() == found.tolist()
    np.testing.assert_allclose(PriorCalibrator().fit(p, y).predict_proba(p)[:, 1], p, atol=1e-15)
    assert PriorCalibrator().fit(p, y).predict_proba([0.0, 1.0])[:, 1].tolist() == pytest.approx([1 / 11, 10 / 11])


def test_prior_correction_undoes_resampling():
    X, y = blobs(60_000, 3)
    kept = np.random.default_rng(0).random(60_000) < np.array([1, 0.1, 0.4])[y]
    rates = dict(enumerate(np.bincount(y) / 60_000))
    on_all = GaussianNB().fit(X, y).predict_proba(X)
    wrong = GaussianNB().fit(X[kept], y[kept])
    for learner, calibration in ((GaussianNB(), "train"), (wrong, "prefit"), (FrozenEstimator(wrong), "train")):
        corrected = PriorCorrectedClassifier(learner, rates, calibration=calibration).fit(X[kept], y[kept])
        assert np.abs(corrected.predict_proba(X) - on_all).mean() < 0.005
    assert np.abs(wrong.predict_proba(X) - on_all).mean() > 0.1


@pytest.mark.parametrize(
    ("base_rate", "y", "message"),
    [
        (0, [0, 1, 1], "above 0 and below 1"),
        (1.5, [0, 1, 1], "above 0 and below 1"),
        ("rare", [0, 1, 1], "base_rate must be a number above 0 and below 1"),
        ({0: 0.5, 2: 0.5}, [0, 1, 1], r"names the classes \[0, 2\], and y holds \[0, 1\]"),
        ({0: 0.5, 1: 0.6}, [0, 1, 1], "have the sum 1"),
    ],
)
def test_invalid_base_rates_are_rejected(base_rate, y, message):
    with pytest.raises(ValueError, match=message):
        PriorCalibrator(base_rate).fit([0.2, 0.7, 0.9], y)


def test_three_classes_need_three_base_rates():
    with pytest.raises(ValueError, match="must name the share of each of 3 classes"):
        PriorCalibrator(0.2).fit(np.full((3, 3), 1 / 3), [0, 1, 2])


@pytest.mark.parametrize("calibrator", [QuadraticCalibrator, BetaCalibrator, SplineCalibrator, SigmoidCalibrator])
def test_equal_predictions_give_the_base_rate(calibrator):
    y = np.arange(400) % 5 < 2
    found = calibrator().fit(np.full(400, 0.3), y).predict_proba([0.01, 0.3, 0.99])[:, 1]
    np.testing.assert_allclose(found, 0.4, atol=2e-3)


def test_scores_of_three_classes_become_probabilities_by_softmax():
    scores, y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60) % 3
    found = PriorCalibrator(input="score").fit(scores, y).predict_proba(scores)
    np.testing.assert_allclose(found, softmax(scores, axis=1), rtol=1e-12)
