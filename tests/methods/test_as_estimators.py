"""Every method is a scikit-learn estimator, by scikit-learn's own checks."""

from __future__ import annotations

from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from probcal import BaggedVoteClassifier, ProbingClassifier, RelabelingClassifier, WeightSweepClassifier
from probcal.methods.direct import DirectClassifier

LOGISTIC = LogisticRegression()
DRAWS = "rows are drawn: a weight of two is not the same draw as the row twice, as in scikit-learn's BaggingClassifier"
WEIGHTS_ARE_ROWS = (
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
)
METHODS = [
    ProbingClassifier(LOGISTIC, n_probes=5, weighting="weight"),
    ProbingClassifier(LOGISTIC, n_probes=5, weighting="weight", multiclass="normalised", discretisation="uniform"),
    ProbingClassifier(LOGISTIC, n_probes=5, weighting="rejection"),
    ProbingClassifier(LOGISTIC, n_probes=5, weighting="costing", n_samples=3),
    BaggedVoteClassifier(LOGISTIC, n_estimators=5),
    BaggedVoteClassifier(LOGISTIC, n_estimators=5, voting="means"),
    DirectClassifier(LOGISTIC),
    RelabelingClassifier(LOGISTIC, n_probes=5),
    WeightSweepClassifier(LOGISTIC),
    WeightSweepClassifier(LOGISTIC, answer="bounds"),
]


def failing_as_scikit_learns_own(method):
    draws = isinstance(method, BaggedVoteClassifier | RelabelingClassifier) or (
        getattr(method, "weighting", "") in ("rejection", "costing")
    )
    return dict.fromkeys(WEIGHTS_ARE_ROWS, DRAWS) if draws else {}


@parametrize_with_checks(METHODS, expected_failed_checks=failing_as_scikit_learns_own)
def test_scikit_learns_own_checks_pass(estimator, check):
    check(estimator)
