"""What a trial is told about its file holds for the exported model, too, which reads new files in the same way."""

import io
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import probcal as library
from tests.commands import probcal
from tests.try_table.own_tables import customers, ran, written


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    frame = customers(200)
    frame["spend"] = frame["spend"].where(np.arange(200) % 7 > 0, -99)
    path = written(frame, folder / "plain.csv")
    (folder / "title.csv").write_text("Customers of 2024\n\n" + path.read_text())
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        result = probcal(
            "try", "title.csv", "-t", "left", "--skip-lines", 2, "--missing", -99, "-l", "logistic", "-m", "direct",
            "--splits", 2, "--export", "model",
        )  # fmt: skip
    assert result.exit_code == 0, result.output
    return folder, frame, result.stdout


def test_the_code_is_a_missing_value(model):
    _, frame, output = model
    shown = " ".join(output.split())
    assert f"'-99' is a missing value in {(frame['spend'] == -99).sum()} fields" in shown
    assert "(29 missing)" in shown


@pytest.fixture
def predicted(model, capsys):
    """Return a function that gives what ``predict.py`` prints for a file."""

    def printed(name):
        ran(model[0] / "model" / "predict.py", model[0] / name)
        return capsys.readouterr().out

    return printed


def test_predict_reads_a_new_file_like_the_training_file(model, predicted):
    folder, frame, _ = model
    empty = frame.assign(spend=frame["spend"].replace(-99, np.nan))
    new = predicted("title.csv")
    assert "-99" in new  # each row is printed as it is
    p = library.load(folder / "model").predict_proba(empty)[:, 1]
    assert np.allclose(pd.read_csv(io.StringIO(new)).iloc[:, -1], p, atol=1e-6)
    assert np.array_equal(library.load(folder / "model").predict_proba(frame)[:, 1], p)


def test_new_rows_need_no_title(model, predicted):
    folder, frame, _ = model
    loaded = library.load(folder / "model")
    p = loaded.predict_proba(frame)[:, 1]
    new = predicted("plain.csv")
    assert np.allclose(pd.read_csv(io.StringIO(new)).iloc[:, -1], p, atol=1e-6)
    script = [sys.executable, folder / "model" / "predict.py", "-"]
    piped = subprocess.run(script, stdin=(folder / "plain.csv").open(), capture_output=True, text=True)
    assert piped.stdout == new
    pytest.importorskip("openpyxl")
    frame.to_excel(folder / "plain.xlsx", index=False)
    assert np.allclose(pd.read_csv(io.StringIO(predicted("plain.xlsx"))).iloc[:, -1], p, atol=1e-6)


def test_the_rows_of_test_need_no_title(model, tmp_path, monkeypatch):
    folder, frame, _ = model
    monkeypatch.chdir(tmp_path)
    written(frame[::2], tmp_path / "new.csv")
    words = ("-t", "left", "--skip-lines", 2, "--missing", -99, "-l", "logistic", "-m", "direct", "--splits", 2)
    result = probcal("try", folder / "title.csv", *words, "--test", "new.csv")
    assert result.exit_code == 0, result.output
    assert "new.csv, 100 rows with a label" in " ".join(result.stdout.split())


def test_a_file_without_the_columns_says_what_was_tried(model):
    folder, frame, _ = model
    written(frame.drop(columns="spend"), folder / "less.csv")
    said = "neither its first line names them, nor that after 2 lines, which training skipped"
    with pytest.raises(SystemExit, match=said):
        ran(folder / "model" / "predict.py", folder / "less.csv")


def test_the_training_script_fits_the_same_model(model):
    folder, frame, _ = model
    before = library.load(folder / "model").predict_proba(frame)
    ran(folder / "model" / "train.py")
    assert np.array_equal(library.load(folder / "model").predict_proba(frame), before)


def test_apply_keeps_the_codes_of_its_rows(tmp_path):
    predictions = "p,y,age\n" + "".join(f"{(n % 10) / 10 + 0.05},{int(n % 10 > 4)},-99\n" for n in range(60))
    (tmp_path / "p.csv").write_text("A title\n" + predictions)
    exported = probcal(
        "measure", tmp_path / "p.csv", "-p", "p", "-t", "y", "-c", "sigmoid", "--export", tmp_path / "map.json",
        "--skip-lines", 1, "--missing", -99,
    )  # fmt: skip
    assert exported.exit_code == 0, exported.output
    result = probcal("apply", tmp_path / "map.json", tmp_path / "p.csv", "--skip-lines", 1, "--missing", -99)
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[1].startswith("0.05,0,-99,")
