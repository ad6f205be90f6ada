"""Test trials with groups or a time: what calibrates, and that the script of the export fits the exported model."""

import runpy

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification

from probcal.store.folder import Store
from tests.commands import probcal
from tests.try_table.own_tables import written


def log_losses(folder):
    """Return method -> the mean log loss of the forest."""
    losses = {}
    for result in Store(folder).results().values():
        if result.learner == "forest":
            losses.setdefault(result.method, []).append(result.metrics["cxe"])
    return {method: np.mean(values) for method, values in losses.items()}


@pytest.mark.slow
def test_maps_do_not_trust_scores_of_known_patients(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    X_patient, y_patient = make_classification(100, n_informative=4, flip_y=0.3, random_state=0)
    patient = np.repeat(np.arange(100), 8)
    X = X_patient[patient] + random.normal(scale=0.1, size=(800, 20))
    frame = pd.DataFrame(X).add_prefix("x").assign(patient=patient, ill=np.where(y_patient[patient], "yes", "no"))
    path = written(frame, tmp_path / "visits.csv")
    call = ("try", path, "-t", "ill", "-l", "forest", "-m", "direct", "-m", "sigmoid", "--splits", 5)
    result = probcal(*call, "--group", "patient", "-o", "nested", "--save", "mine.yaml")
    assert result.exit_code == 0, result.output
    card = tmp_path / "mine-data" / "visits.yaml"
    card.write_text(card.read_text().replace("  nested: true\n", ""))
    assert probcal("run", "mine.yaml", "-o", "leaking").exit_code == 0
    nested, leaking = log_losses(tmp_path / "nested"), log_losses(tmp_path / "leaking")
    assert nested["direct"] == leaking["direct"]
    assert nested["sigmoid"] < leaking["sigmoid"] - 0.1


@pytest.mark.parametrize("method", ["isotonic", "sklearn.calibration.CalibratedClassifierCV"])
@pytest.mark.parametrize("option", ["--time", "--group"])
@pytest.mark.slow
def test_script_of_the_export_fits_the_exported_model(tmp_path, monkeypatch, option, method):
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    x = random.normal(size=300)
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(random.integers(0, 60, 300), "D")
    frame = pd.DataFrame(
        {"x": x, "day": days.strftime("%Y-%m-%d"), "y": np.where(x + random.normal(size=300) > 0, 1, 0)}
    )
    call = ("try", written(frame, tmp_path / "c.csv"), "-t", "y", "-l", "logistic", "-m", method, "--splits", 2)
    result = probcal(*call, option, "day", "--metric", "brier", "--export", "model")
    assert result.exit_code == 0, result.output
    exported = (tmp_path / "model" / "model.joblib").read_bytes()
    (tmp_path / "model" / "model.joblib").unlink()
    runpy.run_path(str(tmp_path / "model" / "train.py"))
    assert (tmp_path / "model" / "model.joblib").read_bytes() == exported


def test_costs_are_in_the_card_and_the_script(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    x = random.normal(size=120)
    frame = pd.DataFrame({"x": x, "y": np.where(x + random.normal(size=120) > 0, "yes", "no")})
    call = ("try", written(frame, tmp_path / "c.csv"), "-t", "y", "-l", "logistic", "-m", "direct", "--splits", 2)
    result = probcal(*call, "--cost", "1:5", "--export", "model")
    assert result.exit_code == 0, result.output
    said = "decide for the positive label from probability 0.1667 up, because a false positive costs 1"
    card = (tmp_path / "model" / "model-card.md").read_text()
    assert said in card and "| mean cost of a row, deciding for the positive label from probability 0.167 up |" in card
    assert "| net benefit (true positives per row less FP/FN times the false positives per row) |" in card
    assert " net benefit " in result.stdout
    assert said in (tmp_path / "model" / "predict.py").read_text() and said in " ".join(result.stdout.split())
