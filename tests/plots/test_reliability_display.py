"""Test ``ReliabilityDisplay`` against scikit-learn's ``CalibrationDisplay`` and against simulations."""

import subprocess
import sys
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text
from scipy.stats import binom
from sklearn.calibration import CalibrationDisplay
from sklearn.datasets import load_iris, make_classification
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from probcal import DecisionCurveDisplay, ReliabilityDisplay
from probcal.metrics import isotonic_curve, reliability_curve

X, Y = make_classification(600, n_redundant=8, flip_y=0.2, random_state=0)
MODEL = GaussianNB().fit(X[:300], Y[:300])
P = MODEL.predict_proba(X[300:])[:, 1]
EACH = pytest.mark.parametrize("display", [ReliabilityDisplay, DecisionCurveDisplay])
QUICK = {"n_resamples": 20}


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_points_agree_with_scikit_learn(strategy):
    ours = ReliabilityDisplay.from_estimator(MODEL, X[300:], Y[300:], n_bins=5, strategy=strategy, bands=None)
    theirs = CalibrationDisplay.from_estimator(MODEL, X[300:], Y[300:], n_bins=5, strategy=strategy)
    assert ours.prob_true == pytest.approx(theirs.prob_true) and ours.prob_pred == pytest.approx(theirs.prob_pred)
    assert ours.line_.get_ydata() == pytest.approx(theirs.prob_true)
    assert ours.line_.get_label() == "GaussianNB"
    assert ours.ax_.get_xlabel() == "Predicted probability (positive class: 1)"


def test_estimator_and_predictions_give_the_same_diagram():
    one = ReliabilityDisplay.from_estimator(MODEL, X[300:], Y[300:], **QUICK)
    other = ReliabilityDisplay.from_predictions(Y[300:], P, **QUICK)
    assert np.array_equal(one.curve.band.high, other.curve.band.high)
    assert one.curve_line_.get_xydata() == pytest.approx(np.column_stack(isotonic_curve(Y[300:], P)))


def test_several_models_share_the_diagonal_and_the_legend():
    first = ReliabilityDisplay.from_estimator(MODEL, X[300:], Y[300:], **QUICK)
    second = ReliabilityDisplay.from_predictions(Y[300:], 1 - P, name="upside down", ax=first.ax_, **QUICK)
    assert second.ax_ is first.ax_
    texts = [one.get_text() for one in first.ax_.get_legend().get_texts()]
    assert texts == ["Perfectly calibrated", "GaussianNB", "upside down"]
    assert first.line_.get_color() != second.line_.get_color()


@EACH
def test_the_legend_hides_no_curve(display):
    rng = np.random.default_rng(0)
    p = rng.random(2000)
    for powers in ((1,), (0.2,), (5,), (1, 0.5, 2)):  # calibrated, too low, too high, and all three
        axes = None
        for power in powers:
            axes = display.from_predictions(rng.random(2000) < p**power, p, name=f"to the {power}", ax=axes).ax_
        axes.figure.canvas.draw()
        box = axes.get_legend().get_window_extent()
        for line in axes.get_lines():
            points = line.get_xydata()
            dense = np.column_stack(
                [np.interp(np.linspace(0, 1, 500), np.linspace(0, 1, len(points)), one) for one in points.T]
            )
            inside = [box.contains(*one) for one in line.get_transform().transform(dense)]
            assert line.get_linestyle() == "None" or not any(inside), (powers, line.get_label())


@EACH
def test_default_name_of_predictions_is_classifier(display):
    first = display.from_predictions(Y[300:], P)
    second = display.from_predictions(Y[300:], P, name="mine", ax=first.ax_)
    texts = [one.get_text() for one in first.ax_.get_legend().get_texts()]
    assert texts[-2:] == ["Classifier", "mine"] and second.line_.get_label() == "mine"


def test_parts_can_be_left_out():
    display = ReliabilityDisplay.from_predictions(
        Y[300:], P, name="", isotonic=False, bands=None, histogram=False, ref_line=False, color="red", linestyle="--"
    )
    assert [display.curve_line_, display.bars_, display.band_, display.histogram_] == [None] * 4
    assert display.ax_.get_legend() is None and len(display.ax_.get_lines()) == 1
    assert (display.line_.get_color(), display.line_.get_linestyle()) == ("red", "--")


def test_display_can_be_plotted_again_on_other_axes():
    display = ReliabilityDisplay(reliability_curve(Y[300:], P, **QUICK), estimator_name="again")
    figure, axes = plt.subplots(1, 2)
    assert display.plot(ax=axes[0]).ax_ is axes[0]
    assert display.plot(ax=axes[1], name="other").line_.get_label() == "other" and display.figure_ is figure


def test_decision_curves_of_several_classes_need_pos_label():
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression(max_iter=500).fit(X, y)
    assert DecisionCurveDisplay.from_estimator(model, X, y, pos_label=0).pos_label == 0
    with pytest.raises(ValueError, match="LogisticRegression has 3 classes: give pos_label"):
        DecisionCurveDisplay.from_estimator(model, X, y)


@EACH
def test_text_labels_and_data_frames_are_accepted(display):
    labels = pd.Series(np.where(Y, "yes", "no"))
    frame = pd.DataFrame(X).rename(columns=str)
    model = GaussianNB().fit(frame[:300], labels[:300])
    one = display.from_estimator(model, frame[300:], labels[300:], pos_label="no")
    other = display.from_predictions(labels[300:], 1 - P, pos_label="no")
    assert one.line_.get_xydata() == pytest.approx(other.line_.get_xydata())
    assert "(positive class: no)" in one.ax_.get_xlabel()


@EACH
@pytest.mark.parametrize(
    ("estimator", "y", "options", "error", "message"),
    [
        (LinearSVC().fit(X, Y), Y, {}, TypeError, "LinearSVC has no predict_proba"),
        (GaussianNB(), Y, {}, NotFittedError, "not fitted"),
        (MODEL, Y, {"pos_label": 7}, ValueError, "pos_label 7 is no class of GaussianNB"),
        (MODEL, Y + 1, {}, ValueError, "y holds the label 2, which is no class of GaussianNB"),
    ],
)
def test_invalid_estimators_and_labels_are_rejected(display, estimator, y, options, error, message):
    with pytest.raises(error, match=message):
        display.from_estimator(estimator, X, y, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [({"bands": "both"}, "bands must be"), ({"level": 95}, "level must be"), ({"n_resamples": 0}, "n_resamples must")],
)
def test_invalid_options_of_bands_are_rejected(options, message):
    with pytest.raises(ValueError, match=message):
        reliability_curve(Y[300:], P, **options)


def test_random_state_determines_the_bands():
    drawn = [reliability_curve(Y[300:], P, random_state=seed, **QUICK).band.low for seed in (0, 0, 1)]
    assert np.array_equal(drawn[0], drawn[1]) and not np.array_equal(drawn[0], drawn[2])


def test_consistency_bars_of_one_prediction_are_binomial_quantiles():
    y, p = np.arange(200) % 2, np.full(200, 0.3)
    bars = reliability_curve(y, p, n_resamples=4000).bars
    assert bars.low[0] == pytest.approx(binom.ppf(0.025, 200, 0.3) / 200, abs=0.006)
    assert bars.high[0] == pytest.approx(binom.ppf(0.975, 200, 0.3) / 200, abs=0.006)


@pytest.mark.parametrize("bands", ["consistency", "confidence"])
def test_band_of_calibrated_predictions_contains_the_true_curve(bands):
    p = np.random.default_rng(0).random(3000)
    curve = reliability_curve(np.random.default_rng(1).random(3000) < p, p, bands=bands, n_resamples=60)
    truth = curve.band.p if bands == "confidence" else np.interp(curve.band.p, *curve.isotonic)
    assert ((curve.band.low <= truth) & (truth <= curve.band.high)).mean() > 0.85
    assert (curve.band.low <= curve.band.high).all() and len(curve.band.p) == 400
    assert curve.counts.sum() == 3000


def test_weights_and_repeated_rows_give_the_same_diagram():
    weight = np.arange(300) % 3 + 1
    one = reliability_curve(Y[300:], P, sample_weight=weight, bands=None)
    other = reliability_curve(np.repeat(Y[300:], weight), np.repeat(P, weight), bands=None)
    assert one.bins.observed == pytest.approx(other.bins.observed)
    assert one.isotonic.observed == pytest.approx(other.isotonic.observed)
    assert one.counts / one.counts.sum() == pytest.approx(other.counts / other.counts.sum())


@pytest.mark.slow
def test_import_of_public_names_does_not_load_matplotlib():
    code = "import sys, probcal; [getattr(probcal, one) for one in probcal.__all__]; print('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"


def test_long_names_of_classes_stay_within_their_panel():
    names = np.array(["Credit reporting, credit repair services, or other personal consumer reports", "Loan", "Other"])
    random = np.random.default_rng(0)
    p = random.dirichlet([1, 1, 1], 300)
    y = names[[random.choice(3, p=row) for row in p]]
    shown = ReliabilityDisplay.from_predictions(y, p, labels=names, name="a model that has a rather long name")
    one = ReliabilityDisplay.from_predictions(y == names[0], p[:, 0])
    one.pos_label = names[0]
    one = one.plot()
    for display in (shown, one):
        figure = display.figure_
        figure.canvas.draw()
        for axes in figure.axes:
            for text in filter(Text.get_text, (axes.title, axes.xaxis.label, axes.yaxis.label)):
                box = text.get_window_extent()
                assert box.x0 >= 0 and box.y0 >= 0 and box.x1 <= figure.bbox.x1 and box.y1 <= figure.bbox.y1, text
    titles = [axes.title.get_window_extent() for axes in shown.figure_.axes[1:]]
    assert not any(a.overlaps(b) for a, b in pairwise(titles))
    assert shown.figure_.axes[1].get_title() == "Credit reporting, credit\nrepair services, or other …"
