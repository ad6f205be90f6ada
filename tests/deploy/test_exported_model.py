"""Test the model of ``probcal try --export`` in a program: frames as the file had them, and decisions."""

import shutil
import warnings

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import is_classifier
from sklearn.frozen import FrozenEstimator

import probcal as package
from probcal.errors import DataError
from probcal.reading.table_plan import load_table_plan, read_inputs
from tests.commands import probcal
from tests.try_table.own_tables import exported_messy

OPTIONS = ("-l", "logistic", "-m", "direct", "--splits", 2, "--cost", "1:4")


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """Return (folder, frame) of a messy table: German dates, amounts with a sign, words for missing values."""
    folder = tmp_path_factory.mktemp("model")

    def age(frame):
        return frame["age"].astype(object).mask(frame.index % 9 == 0, "unknown")

    frame, _ = exported_messy(folder, *OPTIONS, age=age)
    return folder, frame


def test_a_frame_of_the_file_and_the_file_are_predicted_alike(exported):
    folder, frame = exported
    model = package.load(folder / "model")
    expected = model.predict_proba(folder / "c.csv")
    X = read_inputs(folder / "c.csv", load_table_plan(folder / "model" / "columns.json")).X
    bare = joblib.load(folder / "model" / "model.joblib").predict_proba(X)
    np.testing.assert_allclose(expected, bare, atol=2e-3)
    texts = pd.read_csv(folder / "c.csv", sep=";", dtype=str, keep_default_na=False)
    typed = frame.assign(since=pd.to_datetime(frame["since"], format="%d.%m.%Y"))
    typed["spend"] = [float(text[2:].replace(",", ".")) for text in frame["spend"]]
    typed["age"] = pd.to_numeric(frame["age"], errors="coerce")
    for same in (texts, frame.iloc[:, ::-1], pl.from_pandas(texts), texts.astype("category")):
        np.testing.assert_array_equal(model.predict_proba(same), expected)
    known = frame["age"] != "unknown"  # a number for each age says nothing about the word
    np.testing.assert_allclose(model.predict_proba(typed)[known], expected[known], atol=1e-12)


def test_single_rows_are_predicted_as_among_others(exported):
    folder, frame = exported
    model = package.load(folder / "model")
    expected = model.predict_proba(frame)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        single = np.vstack([model.predict_proba(frame.iloc[[row]]) for row in range(20)])
    np.testing.assert_allclose(single, expected[:20], rtol=1e-12)
    for missing in (None, np.nan, pd.NA):
        one = frame.iloc[[0]].assign(plan=missing)
        np.testing.assert_array_equal(model.predict_proba(one), model.predict_proba(frame.iloc[[0]].assign(plan="")))


def test_decisions_use_the_costs_of_the_trial(exported):
    folder, frame = exported
    model = package.load(folder / "model")
    p = model.predict_proba(frame)[:, 1]
    assert model.threshold_ == 0.2  # 1 / (1 + 4)
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.decide(frame).tolist() == np.where(p >= 0.2, "yes", "no").tolist()
    assert model.decide(frame, threshold=0.5).tolist() == np.where(p >= 0.5, "yes", "no").tolist()
    with pytest.raises(ValueError, match="threshold must be a probability from 0 to 1, not 20"):
        model.decide(frame, threshold=20)
    for threshold in ("a", True, [0.5], float("nan"), 1 + 0j):
        with pytest.raises(ValueError, match="threshold must be a probability from 0 to 1, not"):
            model.decide(frame, threshold=threshold)


def test_several_classes_are_decided_by_the_most_probable_number(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    x = np.arange(150)
    frame = pd.DataFrame({"x": x % 50, "z": x % 7, "grade": [10, 20, 30] * 50})
    frame["x"] += frame["grade"]
    frame.to_csv("grades.csv", index=False)
    assert probcal("try", "grades.csv", "-t", "grade", "-l", "tree", "-m", "direct", "--export", "model").exit_code == 0
    model = package.load("model")
    assert model.classes_.tolist() == [10, 20, 30]
    assert model.threshold_ is None
    np.testing.assert_array_equal(model.decide(frame), model.classes_[model.predict_proba(frame).argmax(axis=1)])
    with pytest.raises(ValueError, match="a threshold is for two classes, and the model has 3"):
        model.decide(frame, threshold=0.3)


def test_rows_that_do_not_fit_say_which_column(exported):
    folder, frame = exported
    model = package.load(folder / "model")
    with pytest.raises(DataError, match='the model needs the column "age"'):
        model.predict_proba(frame.drop(columns="age"))
    with pytest.raises(DataError, match=r'the frame, row 3: column "spend" holds .*about nine'):
        model.predict_proba(frame.assign(spend=["€ 1,00", "€ 2,00", "about nine", *frame["spend"][3:]]))
    with pytest.raises(DataError, match="the frame has 0 rows"):
        model.predict_proba(frame[:0])
    with pytest.raises(TypeError, match="a frame with named columns or the path of a file, not ndarray"):
        model.predict_proba(frame.to_numpy())
    with pytest.warns(UserWarning, match='column "plan": .*gold.* did not occur when the model was fitted'):
        model.predict_proba(frame.assign(plan="gold"))


def test_another_model_file_gives_a_warning_and_none_an_error(exported, tmp_path):
    folder, frame = exported
    shutil.copytree(folder / "model", tmp_path / "model")
    joblib.dump(joblib.load(folder / "model" / "model.joblib"), tmp_path / "model" / "model.joblib", compress=1)
    with pytest.warns(UserWarning, match="is not the file that was exported"):
        model = package.load(tmp_path / "model")
    np.testing.assert_array_equal(model.predict_proba(frame), package.load(folder / "model").predict_proba(frame))
    (tmp_path / "model" / "model.joblib").write_bytes(b"no pickle")
    with (
        pytest.warns(UserWarning, match="is not the file that was exported"),
        pytest.raises(
            DataError, match=r"model.joblib: cannot be loaded \(.*\); install the versions of its model card"
        ),
    ):
        package.load(tmp_path / "model")
    (tmp_path / "model" / "model.joblib").unlink()
    with pytest.raises(
        DataError, match=r"holds no exported model, because model.joblib is missing; name the folder of"
    ):
        package.load(tmp_path / "model")
    with pytest.raises(
        DataError, match=r"holds no exported model, because columns.json is missing; name the folder of"
    ):
        package.load(tmp_path)
    with pytest.raises(DataError, match=r"c.csv: is a file, not a folder"):
        package.load(folder / "c.csv")


def test_an_exported_model_is_calibrated_and_decided_on_like_any_classifier(exported):
    folder, frame = exported
    model = package.load(folder / "model")
    y = model.predict(frame)
    assert y.tolist() == model.classes_[model.predict_proba(frame).argmax(axis=1)].tolist()
    noisy = np.where(np.random.default_rng(0).random(len(y)) < 0.3, model.classes_[0], y)
    assert is_classifier(model)
    calibrated = package.SigmoidClassifier(FrozenEstimator(model)).fit(frame, noisy)
    by_hand = package.SigmoidClassifier(package.PrefitClassifier(model.predict_proba, classes=model.classes_))
    np.testing.assert_array_equal(calibrated.classes_, model.classes_)
    expected = by_hand.fit(frame, noisy).predict_proba(frame)
    np.testing.assert_allclose(calibrated.predict_proba(frame), expected, atol=1e-12)
    decider = package.CostSensitiveClassifier(FrozenEstimator(model), costs=(1, 4)).fit(frame, noisy)
    assert set(decider.predict(frame)) <= set(model.classes_)
    with pytest.raises(TypeError, match=r"fitted by the train.py of its folder; wrap it in FrozenEstimator"):
        model.fit(frame, noisy)
