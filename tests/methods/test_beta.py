"""Test beta calibration against another minimiser and against the authors' package betacal."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression

from probcal import BetaCalibrator

pytestmark = pytest.mark.filterwarnings("error")


def skewed(n=2000, seed=0, c=0.3):
    """Return (p, y): uncalibrated predictions, where P(y = 1 | p) is a beta map of p with a = .5, b = 1.5 and c."""
    rng = np.random.default_rng(seed)
    p = rng.uniform(0.02, 0.98, size=n)
    return p, rng.random(n) < expit(0.5 * np.log(p) - 1.5 * np.log1p(-p) + c)


THROUGH_HALF = -np.log(2)
"""The c with which 1/2 stays 1/2. With another one the best of "ab" has a negative slope."""


def map_of(p, y, weights=None, **settings):
    """Return the probabilities (n,) of a map of labels 0 and 1 for the rows that it is fitted on."""
    return BetaCalibrator(**{"targets": "labels"} | settings).fit(p, y, weights).predict_proba(p)[:, 1]


def likeliest(p, y, columns, weights):
    """Return the same model's probabilities by another minimiser. ``columns`` of ln p, -ln (1 - p) and 1 are free."""
    x = columns(np.log(p), -np.log1p(-p))
    sign = np.where(y, -1, 1)

    def loss(beta):
        z = sign * (x @ beta)
        return (weights * np.logaddexp(0, z)).sum() / len(p), x.T @ (weights * sign * expit(z)) / len(p)

    return expit(x @ minimize(loss, np.zeros(x.shape[1]), jac=True, tol=1e-10).x)


@pytest.mark.parametrize(
    ("parameters", "columns"),
    [
        ("abm", lambda s, t: np.column_stack([s, t, np.ones_like(s)])),
        ("am", lambda s, t: np.column_stack([s + t, np.ones_like(s)])),
        # ln 2p and -ln 2(1 - p), both 0 at 1/2
        ("ab", lambda s, t: np.column_stack([s + np.log(2), t - np.log(2)])),
    ],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_map_has_the_maximum_likelihood_of_its_family(parameters, columns, weighted):
    p, y = skewed(c=THROUGH_HALF)
    weights = np.random.default_rng(1).exponential(size=len(p)) if weighted else None
    expected = likeliest(p, y, columns, np.ones(len(p)) if weights is None else weights)
    np.testing.assert_allclose(map_of(p, y, weights, parameters=parameters), expected, rtol=0, atol=1e-6)


def test_smoothed_targets_equal_weighted_rows_of_both_labels():
    p, y = skewed(300)
    p = np.clip(p, 1 / 600, 1 - 1 / 600)
    target = np.where(y, (y.sum() + 1) / (y.sum() + 2), 1 / ((~y).sum() + 2))
    both, labels = np.tile(p, 2), np.repeat([0, 1], 300)
    expected = map_of(both, labels, np.append(1 - target, target))[:300]
    np.testing.assert_allclose(map_of(p, y, targets="smoothed"), expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("parameters", ["abm", "ab"])
@pytest.mark.parametrize("falling", ["a", "b"])
def test_negative_slope_is_replaced_by_0(parameters, falling):
    rng = np.random.default_rng(0)
    p = rng.uniform(0.02, 0.98, size=3000)
    features = np.log(p), -np.log1p(-p)
    rising, sinking = features[::-1] if falling == "a" else features
    y = rng.random(3000) < expit(rising - 0.4 * sinking + (1 if falling == "a" else -1))
    fitted = BetaCalibrator(parameters=parameters, targets="labels").fit(p, y).maps_[0]
    assert getattr(fitted, falling) == 0 < getattr(fitted, "b" if falling == "a" else "a")
    shift = 0 if parameters == "abm" else np.log(2) * (-1 if falling == "a" else 1)
    regression = LogisticRegression(C=np.inf, fit_intercept=parameters == "abm", tol=1e-10)
    expected = regression.fit((rising + shift)[:, None], y).predict_proba((rising + shift)[:, None])[:, 1]
    np.testing.assert_allclose(fitted(logit(p)), expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("parameters", ["abm", "am", "ab"])
@pytest.mark.parametrize("targets", ["labels", "smoothed"])
def test_reversed_probabilities_become_a_constant(parameters, targets):
    p, y = skewed()
    found = map_of(1 - p, y, parameters=parameters, targets=targets)
    np.testing.assert_allclose(found, 0.5 if parameters == "ab" else y.mean(), atol=1e-3)


def test_certain_errors_flatten_the_map_and_stay_finite():
    p, y = skewed(50)
    sharp = map_of(p, y)
    right, wrong = (map_of(np.append(p, [0, 1]), np.append(y, says)) for says in ([0, 1], [1, 0]))
    eps = np.finfo(np.float64).eps
    same = map_of(np.append(p, [eps, 1 - eps]), np.append(y, [1, 0]))
    assert np.isfinite(right).all() and np.isfinite(wrong).all()
    np.testing.assert_allclose(wrong, same, atol=1e-12)
    assert np.ptp(wrong[:50]) < 0.5 * np.ptp(sharp) < np.ptp(right[:50])
    smoothed = map_of(np.append(p, [0, 1]), np.append(y, [1, 0]), targets="smoothed")
    assert np.ptp(smoothed[:50]) > 2 * np.ptp(wrong[:50])
