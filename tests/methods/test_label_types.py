"""Test that methods, maps and learners keep labels of every type exactly, or name what they cannot use."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from probcal import BetaCalibrator, ProtectedClassifier, SigmoidClassifier
from probcal.learners import HingeSVM, KernelNaiveBayes
from probcal.methods.direct import DirectClassifier
from probcal.methods.protected import RetrainedClassifier

BIG = 2**53
CODES = np.arange(40) % 2
SCORES = CODES + np.random.default_rng(0).normal(size=40)
X = SCORES[:, None]


def labels(*two):
    return [two[code] for code in CODES]


TYPES = {
    "objects of 0 and 1": (np.array(labels(0, 1), dtype=object), [0, 1]),
    "objects of booleans": (np.array(labels(False, True), dtype=object), [False, True]),
    "one column of objects": (pd.DataFrame({"y": labels(0, 1)}, dtype=object), [0, 1]),
    "pandas boolean": (pd.Series(labels(False, True), dtype="boolean"), [False, True]),
    "pandas Int8": (pd.Series(labels(0, 1), dtype="Int8"), [0, 1]),
    "pandas Int64, large": (pd.Series(labels(BIG, BIG + 1), dtype="Int64"), [BIG, BIG + 1]),
    "one nullable column": (pd.DataFrame({"y": labels(BIG, BIG + 1)}, dtype="Int64"), [BIG, BIG + 1]),
    "pandas Float64": (pd.Series(labels(0.0, 1.0), dtype="Float64"), [0, 1]),
    "pandas string": (pd.Series(labels("a", "b"), dtype="string"), ["a", "b"]),
    "pandas category": (pd.Series(labels(BIG, BIG + 1)).astype("category"), [BIG, BIG + 1]),
    "large objects": (np.array(labels(BIG, BIG + 1), dtype=object), [BIG, BIG + 1]),
    "large, without sign": (np.array(labels(2**63, 2**63 + 1)), [2**63, 2**63 + 1]),
    "large, big-endian": (np.array(labels(BIG, BIG + 1), dtype=">i8"), [BIG, BIG + 1]),
    "float16": (np.array(labels(0, 1), dtype=np.float16), [0, 1]),
    "NumPy's texts": (np.array(labels("a", "b"), dtype=np.dtypes.StringDType()), ["a", "b"]),
}


@pytest.mark.parametrize("kind", TYPES)
def test_classes_are_the_labels_that_were_given(kind):
    y, classes = TYPES[kind]
    plain = DirectClassifier(LogisticRegression()).fit(X, CODES).predict_proba(X)
    for model in (DirectClassifier(LogisticRegression()), SigmoidClassifier(GaussianNB()), KernelNaiveBayes()):
        assert model.fit(X, y).classes_.tolist() == classes
        assert type(model.classes_.tolist()[0]) is type(classes[0]) or kind in ("pandas Float64", "float16")
        assert set(model.predict(X).tolist()) == set(classes)
    assert BetaCalibrator("score").fit(SCORES, y).classes_.tolist() == classes
    np.testing.assert_array_equal(DirectClassifier(LogisticRegression()).fit(X, y).predict_proba(X), plain)


def test_labels_of_polars_and_pyarrow_are_kept():
    polars = pytest.importorskip("polars", reason="polars is optional")
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is optional")
    big = labels(BIG, BIG + 1)
    for y in (polars.Series(big), polars.DataFrame({"y": big}), pyarrow.array(big)):
        assert HingeSVM().fit(X, y).classes_.tolist() == [BIG, BIG + 1]
    assert BetaCalibrator("score").fit(SCORES, polars.Series(labels(False, True))).classes_.tolist() == [False, True]
    with pytest.raises(ValueError, match="1 of 41 labels are missing, the first in row 40"):
        HingeSVM().fit(np.append(X, [[0]], axis=0), polars.Series([*big, None]))


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (pd.Series([*labels(0, 1)[1:], None], dtype="Int64"), "1 of 40 labels are missing, the first in row 39"),
        (np.ma.array(CODES, mask=CODES == 0), "20 of 40 labels are missing, the first in row 0"),
        (labels("a", 1), "y mixes labels of the types int and str; give labels of one type"),
        (np.array(labels(True, 1), dtype=object), "y mixes labels of the types bool and int"),
        (labels(2**64, 2**64 + 1), "y holds whole numbers that have more than 64 bits; give each label as a text"),
        ([BIG, BIG + 1, *labels(0.0, 1.0)[2:]], "y holds floats beside whole numbers too large for floats"),
        (np.array(labels(b"a", b"b")), "y holds bytes; give texts"),
        (labels(Decimal(0), Decimal(1)), "y holds labels of the type Decimal; give texts"),
        (np.zeros((40, 2)), r"y must be of shape \(n_rows,\), with one label for each row, not \(40, 2\)"),
    ],
)
def test_labels_that_cannot_be_learned_are_refused_with_the_reason(y, message):
    for fit in (DirectClassifier(GaussianNB()).fit, HingeSVM().fit, BetaCalibrator("score").fit):
        with pytest.raises(ValueError, match=message):
            fit(X, y)


def test_large_labels_of_a_stream_are_those_of_the_training_rows():
    y = np.array(labels(BIG, BIG + 1))
    for model in (ProtectedClassifier(GaussianNB()), RetrainedClassifier(GaussianNB(), every=7)):
        expected = model.fit(X, CODES).predict_proba_online(X, CODES)
        for stream in (y.astype(np.uint64), pd.Series(y, dtype="Int64")):
            np.testing.assert_array_equal(model.fit(X, y).predict_proba_online(X, stream), expected)
        with pytest.raises(ValueError, match=f"labels that no training row has, such as {BIG + 2}"):
            model.predict_proba_online(X, y + 1)


@pytest.mark.parametrize("weights", [pd.Series(1 + CODES, dtype="Int8"), (1 + CODES).astype(object), 1 + CODES])
def test_weights_of_every_type_give_the_same_model(weights):
    expected = BetaCalibrator("score").fit(SCORES, CODES, 1.0 + CODES).predict_proba(SCORES)
    fitted = BetaCalibrator("score").fit(pd.Series(SCORES, dtype="Float64"), CODES, weights)
    np.testing.assert_array_equal(fitted.predict_proba(SCORES), expected)


@pytest.mark.parametrize(
    "weights",
    [pd.Series([None, *CODES[1:]], dtype="Int8"), ["heavy"] * 40, np.ma.array(1 + CODES, mask=CODES), [None] * 40],
)
def test_weights_that_are_no_numbers_are_refused(weights):
    for fit in (DirectClassifier(GaussianNB()).fit, HingeSVM().fit, BetaCalibrator("score").fit):
        with pytest.raises(ValueError, match=r"sample_weight (must hold numbers, and no missing|holds missing)"):
            fit(X, CODES, sample_weight=weights)
