"""Every method is a scikit-learn estimator, by scikit-learn's own checks."""

from __future__ import annotations

import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from probcal import (
    BaggedVoteClassifier,
    BetaCalibrationClassifier,
    IsotonicClassifier,
    ProbingClassifier,
    RescaledClassifier,
    SigmoidClassifier,
    VennAbersClassifier,
    WeightSweepClassifier,
)
from probcal.config.components import import_class
from probcal.methods.registry import METHODS

LOGISTIC = LogisticRegression()
FOLDS = {"calibration": "cross_val", "cv": 3}
DRAWN_ROWS = "rows are drawn: one of weight two is not the same draw as the row twice, as in BaggingClassifier"
SPLIT_ROWS = "a repeated row may fall on both sides of a split, which a weighted one cannot"
EXPECT_NOTHING = ""
FEW_FITS = {
    "bagging": {"n_estimators": 5},
    "probing": {"n_probes": 5, "weighting": "weight"},
    "relabelling": {"n_probes": 5},
    "temperature": {"cv": 3},
    "weight_sweep": {"levels": [0.2, 0.5, 0.8]},
}
"""Method -> settings under which it needs less time than by default."""
KNOWN = {
    **dict.fromkeys(("isotonic", "venn_abers", "beta"), SPLIT_ROWS),
    **dict.fromkeys(("relabelling", "bagging"), DRAWN_ROWS),
}
"""Method -> why one of scikit-learn's checks cannot hold."""
REGISTERED = [
    (import_class(one.path)(LOGISTIC, **FEW_FITS.get(name, {})), KNOWN.get(name, EXPECT_NOTHING), name)
    for name, one in METHODS.items()
]
QUICK = {"direct", "probing", "sigmoid"}
OTHERS = [
    (RescaledClassifier(LOGISTIC), EXPECT_NOTHING),
    (BaggedVoteClassifier(LOGISTIC, 5, voting="means"), DRAWN_ROWS),
    (ProbingClassifier(LOGISTIC, 5, multiclass="normalised", discretisation="uniform"), EXPECT_NOTHING),
    (ProbingClassifier(LOGISTIC, 5, weighting="rejection"), DRAWN_ROWS),
    (ProbingClassifier(LOGISTIC, 3, weighting="costing", n_samples=2), DRAWN_ROWS),
    (WeightSweepClassifier(LOGISTIC, [0.2, 0.5, 0.8], answer="bounds"), EXPECT_NOTHING),
    (WeightSweepClassifier(LOGISTIC, [0.2, 0.5, 0.8], multiclass="pairs"), EXPECT_NOTHING),
    (SigmoidClassifier(LOGISTIC, calibration="holdout"), SPLIT_ROWS),
    (SigmoidClassifier(LOGISTIC, **FOLDS), EXPECT_NOTHING),
    (IsotonicClassifier(LOGISTIC, calibration="train"), EXPECT_NOTHING),
    (IsotonicClassifier(LOGISTIC, **FOLDS), EXPECT_NOTHING),
    (IsotonicClassifier(LOGISTIC, scores="rescaled", calibration="train"), EXPECT_NOTHING),
    (BetaCalibrationClassifier(LOGISTIC, **FOLDS), EXPECT_NOTHING),
    (VennAbersClassifier(LOGISTIC, scheme="cross", cv=3), EXPECT_NOTHING),
]
"""Other settings, of many fits each; the contract (tests/contract) holds all methods."""
REASONS = {repr(method): reason for method, reason, *_ in [*REGISTERED, *OTHERS]}


def failing_as_scikit_learns_own(method):
    kinds = ("dense", "sparse") if (reason := REASONS[repr(method)]) else ()
    return {f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in kinds}


@parametrize_with_checks(
    [method for method, _, name in REGISTERED if name in QUICK], expected_failed_checks=failing_as_scikit_learns_own
)
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast")  # scikit-learn's own, of infinite labels
def test_scikit_learns_own_checks_pass(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    [method for method, _, name in REGISTERED if name not in QUICK] + [method for method, _ in OTHERS],
    expected_failed_checks=failing_as_scikit_learns_own,
)
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast")
def test_every_other_method_of_the_registry_passes_them_too(estimator, check):
    check(estimator)
