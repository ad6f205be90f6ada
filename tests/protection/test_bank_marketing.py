"""Check golden values on Bank Marketing, if the original data file is available.

The values for "cox_slipped" are printed in the authors' notebook (github.com/ip200/protected-calibration,
Bank_Marketing.ipynb). The values for "cox" come from the same notebook with the intended Cox calibrators.
"""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.preprocessing import StandardScaler
from streams import log10_loss

from probcal import CompositeJumper, SimpleJumper
from probcal.metrics import roc_auc

TRAINING_ROWS, TRUNCATION = 10_000, 0.01


@pytest.fixture(scope="session")
def forest(original_files):
    """Return the base predictions of the notebook for the last 35,211 rows, and their labels."""
    table = pd.read_csv(original_files / "bank-marketing" / "bank-full.csv", sep=";")
    y = (table.pop("y") == "yes").to_numpy().astype(int)
    for name in table.columns[[not pd.api.types.is_numeric_dtype(kind) for kind in table.dtypes]]:
        table[name] = np.unique(table[name].astype(str), return_inverse=True)[1]  # ordinals in alphabetical order
    X = table.to_numpy(float)
    X = StandardScaler().fit(X[:TRAINING_ROWS]).transform(X)
    model = RandomForestClassifier(random_state=2021).fit(X[:TRAINING_ROWS], y[:TRAINING_ROWS])
    return model.predict_proba(X[TRAINING_ROWS:])[:, 1], y[TRAINING_ROWS:]


@pytest.mark.slow
def test_base_forest_agrees_with_the_authors_notebook(forest):
    p, y = forest
    assert len(y) == 35_211
    assert int(((p > 0.5) != y).sum()) == 4814
    assert roc_auc(y, p) == pytest.approx(0.6916787790697674, abs=1e-9)
    assert int(((p == 0) & (y == 1)).sum() + ((p == 1) & (y == 0)).sum()) == 1492
    assert log10_loss(np.clip(p, TRUNCATION, 1 - TRUNCATION), y) == pytest.approx(7185.116696764476, abs=1e-6)


@pytest.mark.parametrize(
    ("calibrators", "final"),
    [
        ("cox_slipped", [3208.03471523, 3232.52354346, 3210.98370631]),
        ("cox", [3046.1834, 3094.5971, 3085.6504]),
    ],
)
def test_simple_jumpers_have_the_expected_final_martingales(forest, calibrators, final):
    p, y = forest
    jumpers = [SimpleJumper(calibrators, rate, "first", TRUNCATION) for rate in (1e-2, 1e-3, 1e-4)]
    digits = 5e-9 if calibrators == "cox_slipped" else 5e-5
    assert [one.protect(p, y)[1][-1] for one in jumpers] == pytest.approx(final, abs=digits)


@pytest.mark.parametrize(
    ("calibrators", "loss"), [("cox_slipped", 3974.132990456682), ("cox", 4099.466)], ids=["slipped", "intended"]
)
def test_protected_loss_at_one_rate_has_the_expected_value(forest, calibrators, loss):
    p, y = forest
    estimates, _ = SimpleJumper(calibrators, 1e-4, "first", TRUNCATION).protect(p, y)
    assert log10_loss(estimates, y) == pytest.approx(loss, abs=1e-8 if calibrators == "cox_slipped" else 5e-4)


@pytest.mark.parametrize(
    ("calibrators", "final", "loss", "errors", "auc", "digits"),
    [
        ("cox_slipped", 3231.7453922057125, 3953.3713045582786, 4433, 0.8983407628565326, 1e-8),
        ("cox", 3093.819, 4091.298, 4506, 0.9011, 5e-4),
    ],
    ids=["slipped", "intended"],
)
def test_composite_jumper_has_the_expected_results(forest, calibrators, final, loss, errors, auc, digits):
    p, y = forest
    estimates, log10 = CompositeJumper(calibrators, truncation=TRUNCATION).protect(p, y)
    assert log10[-1] == pytest.approx(final, abs=digits)
    assert log10_loss(estimates, y) == pytest.approx(loss, abs=digits)
    assert int(((estimates > 0.5) != y).sum()) == errors
    assert roc_auc(y, estimates) == pytest.approx(auc, abs=max(1e-9, digits / 10))


@pytest.mark.parametrize(
    ("calibrators", "loss"), [("cox_slipped", 4779.310700268226), ("cox", 4682.369)], ids=["slipped", "intended"]
)
def test_feedback_every_hundredth_row_gives_the_expected_loss(forest, calibrators, loss):
    p, y = forest
    estimates, log10 = CompositeJumper(calibrators, truncation=TRUNCATION).protect(p, y, every=100)
    assert log10_loss(estimates, y) == pytest.approx(loss, abs=1e-8 if calibrators == "cox_slipped" else 5e-4)
    base = log10_loss(np.clip(p, TRUNCATION, 1 - TRUNCATION), y)
    assert log10[-1] == pytest.approx(base - log10_loss(estimates, y), rel=1e-9)


@pytest.mark.parametrize(("truncation", "final"), [(0.1, 919.156484389), (0.01, 881.877760468)])
def test_quadratic_calibrators_gain_as_the_poster_says(forest, truncation, final):
    # The figure of the poster has no numbers. These numbers are ours, and their identity with the loss confirms them.
    p, y = forest
    estimates, log10 = SimpleJumper(truncation=truncation).protect(p, y)
    base = log10_loss(np.clip(p, truncation, 1 - truncation), y)
    assert log10[-1] == pytest.approx(base - log10_loss(estimates, y), rel=1e-9)
    assert log10[-1] == pytest.approx(final, abs=1e-8)
    # "the steepest growth of the logarithm of the test martingale starts towards the end of the dataset"
    steepest = int(np.argmax(log10[2000:] - log10[:-2000])) + 1000
    assert steepest > 0.75 * len(y)
