"""Check every method and map with scikit-learn's checks of estimators."""

from __future__ import annotations

import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import SkipTestWarning
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import (
    check_estimator,
    check_sample_weight_equivalence_on_dense_data,
    parametrize_with_checks,
)

from probcal import (
    CostSensitiveClassifier,
    GuaranteedRateClassifier,
    IsotonicClassifier,
    ProbingClassifier,
    RescaledClassifier,
    TunedBoostingClassifier,
    TunedClassifier,
    WeightSweepClassifier,
)
from probcal.components.classes import import_class
from probcal.methods.calibrators._calibrated_classifier import CalibratedMethod
from probcal.methods.registry import FAMILIES, METHODS

LOGISTIC = LogisticRegression()
BOOSTING = HistGradientBoostingClassifier(max_leaf_nodes=4)
CALIBRATED = [
    name for name, one in METHODS.items() if name != "prior" and issubclass(import_class(one.path), CalibratedMethod)
]
DRAWN_ROWS = "rows are drawn: one of weight two is not the same draw as the row twice, as in BaggingClassifier"
SPLIT_ROWS = "a repeated row may fall on both sides of a split, which a weighted one cannot"
RELATIVE = "only the ratios of weights count; with frequency_weights=True the check holds, as another test shows"
FEW_FITS = {
    "bagging": {"n_estimators": 5},
    "probing": {"n_probes": 5, "weighting": "weight"},
    "relabeling": {"n_probes": 5},
    **{name: {"cv": 2} for name in CALIBRATED},
    "weight_sweep": {"levels": [0.2, 0.5, 0.8]},
}
"""Method -> settings under which it needs less time than by default."""
KNOWN = {
    **dict.fromkeys(CALIBRATED, SPLIT_ROWS),
    **dict.fromkeys(("relabeling", "bagging"), DRAWN_ROWS),
}
"""Method -> why one of scikit-learn's checks cannot hold."""
REGISTERED = [
    (import_class(one.path)(LOGISTIC, **FEW_FITS.get(name, {})), KNOWN.get(name, RELATIVE), name)
    for name, one in METHODS.items()
] + [
    (RescaledClassifier(LOGISTIC), RELATIVE, "rescaled"),
    (TunedBoostingClassifier(BOOSTING, cv=2, n_settings=2), SPLIT_ROWS, "tuned"),
    (TunedClassifier(LOGISTIC, {"C": [0.1, 1]}, cv=2), SPLIT_ROWS, "searched"),
    (CostSensitiveClassifier(LOGISTIC), RELATIVE, "costs"),
    (GuaranteedRateClassifier(LOGISTIC), "it takes no weights", "guarantee"),
]
QUICK = {"probing", "sigmoid"}
MAPS = [import_class(path)(input="score") for path, family in FAMILIES.items() if family == "maps"]
"""The calibrators are estimators of their own. Any numbers are scores."""
OTHERS = [
    ProbingClassifier(LOGISTIC, 5, multiclass="normalised", discretisation="uniform"),
    WeightSweepClassifier(LOGISTIC, [0.2, 0.5, 0.8], answer="bounds"),
    WeightSweepClassifier(LOGISTIC, [0.2, 0.5, 0.8], multiclass="pairs"),
    IsotonicClassifier(LOGISTIC, calibration="train"),
    IsotonicClassifier(LOGISTIC, scores="rescaled", calibration="train"),
]
"""Other settings under which a frequency weight is a number of rows."""
REASONS = {repr(method): reason for method, reason, _ in REGISTERED}


def failing_as_scikit_learns_own(method):
    failing = {f"check_sample_weight_equivalence_on_{kind}_data": REASONS[repr(method)] for kind in ("dense", "sparse")}
    if isinstance(method, GuaranteedRateClassifier):
        failing["check_classifiers_train"] = "it decides at a threshold, and not for the most probable class"
    return failing


def counting(method):
    """Return a method of a subclass that takes weights for frequencies."""

    class Counting(type(method)):
        def fit(self, X, y, sample_weight=None):
            return super().fit(X, y, sample_weight, frequency_weights=True)

    return Counting(**method.get_params(deep=False))


@pytest.mark.parametrize(
    "method", [*(method for method, reason, _ in REGISTERED if reason == RELATIVE), *OTHERS], ids=str
)
def test_frequency_weights_equal_repeated_rows(method):
    check_sample_weight_equivalence_on_dense_data(type(method).__name__, counting(method))


@parametrize_with_checks(
    [method for method, _, name in REGISTERED if name in QUICK], expected_failed_checks=failing_as_scikit_learns_own
)
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast")  # of scikit-learn, for infinite labels
def test_quick_methods_pass_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    [method for method, _, name in REGISTERED if name not in QUICK],
    expected_failed_checks=failing_as_scikit_learns_own,
)
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast")
def test_other_methods_pass_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("method", MAPS, ids=lambda method: type(method).__name__)
def test_calibrators_pass_the_checks_of_scikit_learn(method):
    # most checks use any number of columns, which scores cannot have. Other tests check the same properties
    with pytest.warns(SkipTestWarning, match="requires input"):
        check_estimator(method)
