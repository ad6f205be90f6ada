"""Test the sentence of ``probcal measure`` on whether calibration is rejected over all rows."""

import json

import numpy as np
import pandas as pd
import pytest

from tests.commands import probcal
from tests.measure.prediction_files import three_classes, two_classes, written

NOT_REJECTED = "Calibration is not rejected over all rows: "


def drawn(n=2000, shift=0.0, slope=1.0, seed=0, center=-1.0):
    """Return predictions whose log-odds are ``slope`` times the true ones, of mean ``center``, plus ``shift``."""
    random = np.random.default_rng(seed)
    z = random.normal(center, 1.5, n)
    return pd.DataFrame(
        {"p": 1 / (1 + np.exp(-slope * z - shift)), "y": (random.random(n) < 1 / (1 + np.exp(-z))).astype(int)}
    )


@pytest.fixture
def verdict(tmp_path):
    """Return a function that measures a frame: (whether calibration is rejected, the sentence), as JSON."""

    def measured(frame, *words):
        call = ("measure", written(frame, tmp_path / "a.csv"), "-t", "y", "--draws", 0, *(words or ("-p", "p")))
        told = json.loads(probcal(*call, "-f", "json").stdout)
        return told["calibration_rejected"], told["findings"][0]

    return measured


def test_text_json_and_page_have_the_same_sentence(verdict, tmp_path):
    _, sentence = verdict(drawn(shift=0.7))
    text = probcal("measure", tmp_path / "a.csv", "-t", "y", "-p", "p", "--report", tmp_path / "page.html").stdout
    page = (tmp_path / "page.html").read_text(encoding="utf-8").replace("&#39;", "'").replace("&lt;", "<")
    assert sentence in " ".join(text.split()) and sentence in " ".join(page.split())


def test_calibrated_predictions_are_not_rejected(verdict):
    rejected, sentence = verdict(drawn())
    assert rejected is False and sentence.startswith(NOT_REJECTED)
    assert "exact test of the number of positive rows p = " in sentence and "Spiegelhalter's test p = " in sentence


@pytest.mark.parametrize(
    ("how", "fault"),
    [
        ({"shift": 0.7}, "predictions are too high on average, "),
        ({"shift": -0.7}, "predictions are too low on average, "),
        ({"slope": 2, "center": 0}, "predictions are too extreme (Spiegelhalter's test p < .0001)"),
        ({"slope": 0.5, "center": 0}, "predictions are not extreme enough (Spiegelhalter's test p < .0001)"),
    ],
)
def test_the_fault_of_the_predictions_is_named(verdict, how, fault):
    rejected, sentence = verdict(drawn(**how))
    assert rejected is True and sentence.startswith("Calibration is rejected over all rows: ") and fault in sentence


@pytest.mark.parametrize("slope", [0.5, 1, 2])
def test_a_wrong_mean_leaves_spiegelhalter_without_a_direction(verdict, slope):
    sentence = verdict(drawn(center=-3, shift=2, slope=slope))[1]
    assert "predictions are too high on average, " in sentence and "extreme" not in sentence
    assert "the Brier score of the predictions is not that of calibrated ones (Spiegelhalter's test p " in sentence


@pytest.mark.parametrize(("slope", "fault"), [(2, "too extreme"), (1, None), (0.5, None)])
def test_with_a_wrong_mean_the_slope_confirms_the_direction(verdict, slope, fault):
    sentence = verdict(drawn(center=-3, shift=2, slope=slope), "-p", "p", "--draws", 40)[1]
    assert (f"predictions are {fault} (Spiegelhalter" in sentence) if fault else "extreme" not in sentence


def test_an_error_that_only_c_emp_sees_is_rejected(verdict):
    random = np.random.default_rng(0)
    p = random.uniform(0.02, 0.98, 4000)
    y = random.random(4000) < p + 0.1 * np.cos(4 * np.pi * p) * (p > 0.1) * (p < 0.9)
    rejected, sentence = verdict(pd.DataFrame({"p": p, "y": y.astype(int)}))
    assert rejected is True
    assert sentence.startswith(
        "Calibration is rejected over all rows: some interval of predictions has too large an error (test of c_emp p"
    )


def test_an_observed_class_of_probability_0_is_enough(verdict):
    frame = drawn(200)
    frame.loc[frame.index[frame.y == 1][0], "p"] = 0
    assert verdict(frame) == (
        True,
        "Calibration is rejected over all rows: in 1 row the observed class had predicted probability 0, which never "
        "happens to calibrated predictions, unless a file has rounded them.",
    )


def test_rows_of_a_cluster_do_not_count_as_independent(verdict):
    frame = drawn(200, seed=2).assign(patient=range(200))
    copies = pd.concat([frame] * 30)
    assert verdict(copies)[0] is True
    rejected, sentence = verdict(copies, "-p", "p", "--cluster", "patient")
    assert rejected is False and sentence.startswith(f"{NOT_REJECTED}test of the mean by its normal limit p = ")
    assert verdict(copies[copies.patient < 10], "-p", "p", "--cluster", "patient") == (
        None,
        "Calibration is not tested over all rows: there are too few clusters.",
    )


@pytest.mark.parametrize(
    ("words", "calibration"),
    [(("-w", "w"), "Calibration"), (("--calibrate", "prior", "--base-rate", ".2"), "Without prior, calibration")],
    ids=["weights", "another base rate"],
)
def test_weighted_rows_have_no_test(verdict, words, calibration):
    assert verdict(two_classes(), "-p", "p", *words) == (
        None,
        f"{calibration} is not tested over all rows: the tests need rows without weights.",
    )


def test_several_classes_are_tested_by_the_likeliest(verdict):
    rejected, sentence = verdict(three_classes(400), "-p", "p_*")
    assert rejected is False
    assert "exact test of the number of rows whose likeliest class is right p = " in sentence
    frame = three_classes(400).assign(y=np.random.default_rng(1).choice(["cat", "cow", "dog"], 400))
    frame = frame[(frame[["p_cat", "p_cow", "p_dog"]] > 0).all(axis=1)]
    rejected, sentence = verdict(frame, "-p", "p_*")
    assert rejected is True and "probabilities of the likeliest class are too high on average" in sentence


def test_many_rows_have_the_normal_limit_of_the_exact_test(verdict):
    sentence = verdict(drawn(200_001))[1]
    assert sentence.startswith(f"{NOT_REJECTED}test of the mean by its normal limit p = ")


def test_tables_of_tests_stay_where_groups_are_asked_for(tmp_path):
    file = written(two_classes(), tmp_path / "a.csv")
    call = ("measure", file, "-p", "p", "-t", "y", "--draws", 0)
    assert "exact p" not in probcal(*call).stdout and "exact p" in probcal(*call, "--group", "sex").stdout
