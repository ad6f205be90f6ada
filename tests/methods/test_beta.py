"""Beta calibration: the map of the paper, by betacal, which must change nothing but its own result."""

import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, logit
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.naive_bayes import GaussianNB

from probcal import BetaCalibrationClassifier
from probcal.methods.calibrators._calibrator import silenced
from tests.methods.calibrating import Given, blobs

pytestmark = pytest.mark.filterwarnings("error")
ROOT = Path(__file__).parents[2]


def skewed(n=2000, seed=0):
    """(p, y): estimates that are not calibrated, P(y = 1 | p) being a beta map of p with a = .5, b = 1.5, c = .3."""
    rng = np.random.default_rng(seed)
    p = rng.uniform(0.02, 0.98, size=n)
    return p, rng.random(n) < expit(0.5 * np.log(p) - 1.5 * np.log1p(-p) + 0.3)


def map_of(p, y, weights=None, **settings):
    """The fitted method's estimates of the same rows."""
    X = np.column_stack([np.zeros(len(p)), 1 - np.asarray(p), p])
    fitted = BetaCalibrationClassifier(Given(), calibration="train", **settings).fit(X, y, weights)
    return fitted.predict_proba(X)[:, 1]


def likeliest(p, y, columns, weights):
    """The same model by another minimiser; ``columns`` of ln p, -ln (1 - p) and 1 that are free."""
    x = columns(np.log(p), -np.log1p(-p))
    sign = np.where(y, -1, 1)
    found = minimize(lambda beta: (weights * np.logaddexp(0, sign * (x @ beta))).sum(), np.zeros(x.shape[1]), tol=1e-12)
    return expit(x @ found.x)


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
def test_the_map_is_the_likeliest_of_its_family(parameters, columns, weighted):
    p, y = skewed()
    weights = np.random.default_rng(1).exponential(size=len(p)) if weighted else None
    expected = likeliest(p, y, columns, np.ones(len(p)) if weights is None else weights)
    np.testing.assert_allclose(map_of(p, y, weights, parameters=parameters), expected, atol=2e-3)


def test_what_the_data_were_made_with_is_found_again():
    p, y = skewed(200_000)
    expected = expit(0.5 * np.log(p) - 1.5 * np.log1p(-p) + 0.3)
    assert np.abs(map_of(p, y) - expected).max() < 0.02


def test_ab_leaves_one_half_where_it_is():
    p, y = skewed()
    p[0] = 0.5
    assert map_of(p, y, parameters="ab")[0] == pytest.approx(0.5, abs=1e-9)


def test_exactly_0_and_1_are_next_to_it_and_certain_mistakes_flatten_the_map():
    p, y = skewed(50)
    sharp = map_of(p, y)
    right, wrong = (map_of(np.append(p, [0, 1]), np.append(y, says)) for says in ([0, 1], [1, 0]))
    eps = np.finfo(np.float64).eps
    same = map_of(np.append(p, [eps, 1 - eps]), np.append(y, [1, 0]))
    assert np.isfinite(right).all() and np.isfinite(wrong).all()
    np.testing.assert_allclose(wrong, same, atol=1e-12)
    assert np.ptp(wrong[:50]) < 0.5 * np.ptp(sharp) < np.ptp(right[:50])


def test_single_precision_estimates_are_treated_as_double_precision():
    p, y = skewed(300)
    p = np.append(np.round(p, 2), [0, 1, 0, 1]).astype(np.float32)
    y = np.append(y, [0, 1, 0, 1])
    assert map_of(p, y).tolist() == map_of(p.astype(np.float64), y).tolist()


def test_each_of_several_classes_has_a_map_and_rows_are_divided_by_their_sum():
    X, y = blobs(600, 3)
    fitted = BetaCalibrationClassifier(GaussianNB(), calibration="train").fit(X, y)
    p = fitted.estimator_.predict_proba(X)
    raw = np.column_stack([map_of(p[:, k], y == k) for k in range(3)])
    np.testing.assert_allclose(fitted.predict_proba(X), raw / raw.sum(axis=1, keepdims=True), atol=1e-12)


def test_a_regression_that_stops_early_warns_though_betacal_switches_warnings_off(monkeypatch):
    import betacal.beta_calibration as theirs

    regression = theirs.LogisticRegression
    monkeypatch.setattr(theirs, "LogisticRegression", lambda C: regression(C=C, max_iter=1))
    with pytest.warns(ConvergenceWarning, match="did not converge"):
        map_of(*skewed())


LOOK = """
import warnings
import numpy as np
np.seterr(divide="warn", over="raise")
warnings.filterwarnings("error", message="mine")
import sklearn.linear_model, probcal
from sklearn.naive_bayes import GaussianNB
before = np.geterr(), list(warnings.filters)
method = probcal.{method}(GaussianNB(), random_state=0)
rng = np.random.default_rng(0)
X = rng.normal(size=(60, 2))
method.fit(X, X[:, 0] > 0)
method.predict_proba(X)
after = np.geterr(), list(warnings.filters)
import sys
assert "{module}" in sys.modules
assert before == after, (before, after)
"""


@pytest.mark.parametrize(
    ("method", "module"), [("BetaCalibrationClassifier", "betacal"), ("VennAbersClassifier", "venn_abers")]
)
@pytest.mark.slow
def test_neither_numpys_error_state_nor_the_warning_filters_change(method, module):
    code = LOOK.format(method=method, module=module)
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert (done.returncode, done.stderr) == (0, "")


def test_what_is_contained_ends_with_an_error_too():
    before = np.geterr(), list(warnings.filters)
    with pytest.raises(RuntimeError), silenced():
        np.seterr(all="ignore")
        warnings.filterwarnings("ignore")
        raise RuntimeError
    assert (np.geterr(), list(warnings.filters)) == before


def test_the_log_odds_of_am_are_a_line():
    p, y = skewed()
    found = logit(map_of(p, y, parameters="am"))
    order = np.argsort(p)
    slopes = np.diff(found[order]) / np.diff(logit(p[order]))
    np.testing.assert_allclose(slopes, np.median(slopes), rtol=1e-3)


@pytest.mark.parametrize("calibration", ["train", "holdout", "cross_val"])
def test_a_learner_that_always_says_the_same_gets_the_rate(calibration):
    X, y = np.zeros((200, 2)), np.arange(200) % 4 == 0
    for strategy in ("uniform", "prior"):
        fitted = BetaCalibrationClassifier(DummyClassifier(strategy=strategy), calibration=calibration, random_state=0)
        np.testing.assert_allclose(fitted.fit(X, y).predict_proba(X)[:, 1], 0.25, atol=0.011)  # 13 of 50 rows held out


@pytest.mark.parametrize("bad", [{"parameters": "a"}, {"parameters": None}, {"calibration": "ensemble"}])
def test_a_parameter_that_is_not_as_documented_is_refused(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        BetaCalibrationClassifier(GaussianNB(), **bad).fit(*blobs(30, 2))
