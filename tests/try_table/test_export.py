"""Test that the exported model predicts new rows as the trial does, and that all its files exist."""

import csv
import io
import json
import runpy
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from probcal.cli.main import main
from probcal.deploy.model_folder import load
from probcal.errors import DataError
from probcal.reading.table_plan import load_table_plan, read_inputs
from probcal.try_table.new_rows import read_labelled_rows
from tests.commands import probcal, refused
from tests.try_table.own_tables import customers, exported_messy, ran, written

FEW = ("-l", "logistic", "-m", "direct", "-m", "isotonic", "--splits", 2)


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """Return (folder, frame, output) of a messy table whose best method is exported to ``model``."""
    folder = tmp_path_factory.mktemp("export")

    def age(frame):
        return frame["age"].mask(frame.index % 9 == 0)

    def left(frame):
        return frame["left"].mask(frame.index % 11 == 0, "")

    return folder, *exported_messy(folder, *FEW, age=age, left=left)


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_every_file_of_the_export_is_written(exported):
    folder, _, _ = exported
    names = {path.name for path in (folder / "model").iterdir()}
    assert names == {
        "model.joblib", "columns.json", "predict.py", "train.py", "model-card.md", "predictions.csv", "reliability.svg",
    }  # fmt: skip
    assert (folder / "model" / "train.py").read_text() in (folder / "model" / "model-card.md").read_text()
    card = (folder / "model" / "model-card.md").read_text()
    for said in ("fitted on all 181 labelled rows", "95 % interval", "reliability.svg", "scikit-learn ", "sha256"):
        assert said in card


def test_the_few_printed_lines_fit_the_same_model(exported, monkeypatch):
    folder, _, text = exported
    monkeypatch.chdir(folder)
    code = "\n".join(line[4:] for line in text.partition("train.py):\n")[2].splitlines())
    assert len([line for line in code.splitlines() if line]) <= 12
    names = {}
    exec(code.replace('joblib.dump(model.fit(X, y), "model/model.joblib", compress=3)', "model.fit(X, y)"), names)
    X, y = read_labelled_rows("c.csv", "model/columns.json")
    exported_model = joblib.load("model/model.joblib")
    assert np.array_equal(exported_model.predict_proba(X), names["model"].predict_proba(X))
    assert len(y) == 181


@pytest.mark.slow
def test_train_py_fits_the_same_model_from_any_folder(exported, tmp_path):
    folder, _, _ = exported
    moved = shutil.copytree(folder / "model", tmp_path / "a model")
    (moved / "model.joblib").unlink()
    (tmp_path / "elsewhere").mkdir()
    subprocess.run([sys.executable, moved / "train.py"], cwd=tmp_path / "elsewhere", check=True)
    frame = pd.read_csv(folder / "c.csv", sep=";")
    assert np.array_equal(load(moved).predict_proba(frame), load(folder / "model").predict_proba(frame))


@pytest.mark.slow
def test_printed_command_works_with_a_blank_in_the_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = written(customers(60), tmp_path / "c.csv")
    result = probcal("try", table, "-t", "left", "-l", "tree", "-m", "direct", "--splits", 2, "--export", "my model")
    [line] = [line for line in result.stdout.splitlines() if line.startswith("new rows: ")]
    words = shlex.split(line.removeprefix("new rows: python "))
    assert words == ["my model/predict.py", "new.csv", ">", "predicted.csv"]
    subprocess.run([sys.executable, words[0], "c.csv"], stdout=subprocess.DEVNULL, check=True)


def test_predict_adds_probabilities_to_every_row_and_keeps_its_ids(exported, monkeypatch, capsys):
    folder, frame, _ = exported
    monkeypatch.chdir(folder)
    ran(Path("model/predict.py"), "c.csv")
    rows = rows_of(capsys.readouterr().out)
    assert [row["id"] for row in rows] == list(frame["id"])
    assert [int(row["row"]) for row in rows] == list(range(1, 201))
    p = [float(row["p(yes)"]) for row in rows]
    X = read_inputs("c.csv", load_table_plan(Path("model/columns.json"))).X
    assert p == pytest.approx(joblib.load("model/model.joblib").predict_proba(X)[:, 1], abs=2e-3)


def test_predict_on_its_own_output_replaces_the_columns_it_added(exported, tmp_path):
    folder, _, _ = exported
    first, warnings = load(folder / "model").with_probabilities(folder / "c.csv")
    assert not any("earlier run" in warning for warning in warnings)
    (tmp_path / "predicted.csv").write_text(first, encoding="utf-8", newline="")
    again, warnings = load(folder / "model").with_probabilities(tmp_path / "predicted.csv")
    assert again == first
    assert 'the columns "row", "p(yes)" of an earlier run of predict.py are replaced' in warnings


def test_own_column_named_row_is_kept(exported, tmp_path):
    folder, _, _ = exported
    table = tmp_path / "own.csv"
    table.write_text('row,since,spend,plan,age\n17,03.01.2020,"€ 9,00",pro,30\n', encoding="utf-8")
    for _ in range(2):
        text, _ = load(folder / "model").with_probabilities(table)
        assert text.splitlines()[0] == "row.1,row,since,spend,plan,age,p(yes)"
        assert [(row["row.1"], row["row"]) for row in rows_of(text)] == [("1", "17")]
        table.write_text(text, encoding="utf-8", newline="")


def test_texts_of_other_columns_stay_as_they_are(exported, tmp_path):
    folder, _, _ = exported
    notes = ["A  1", 'a "b"', "l1\nl2", "NA"]
    rows = pd.DataFrame({"note": notes, "since": "03.01.2020", "spend": "€ 9", "plan": "pro", "age": 30})
    rows.to_csv(tmp_path / "own.csv", index=False)
    text, _ = load(folder / "model").with_probabilities(tmp_path / "own.csv")
    assert [row["note"] for row in rows_of(text)] == notes


def test_single_new_row_is_read_like_the_table(exported, monkeypatch):
    folder, frame, _ = exported
    monkeypatch.chdir(folder)
    written(frame.loc[[2], ["since", "spend", "plan", "age"]], folder / "one.csv", sep=";")
    single, whole = (read_inputs(name, load_table_plan(Path("model/columns.json"))).X for name in ("one.csv", "c.csv"))
    assert single.iloc[0].tolist() == whole.iloc[2].tolist()  # 03.01.2020 alone is ambiguous in day and month


def test_unknown_level_in_new_rows_gives_a_warning(exported, monkeypatch):
    folder, _, _ = exported
    monkeypatch.chdir(folder)
    (folder / "odd.csv").write_text('since;spend;plan;age\n03.01.2020;"€ 9,50";gold;30\n')
    text, warnings = load(folder / "model").with_probabilities("odd.csv")
    assert len(rows_of(text)) == 1
    assert any("'gold' in 1 row did not occur when the model was fitted" in warning for warning in warnings)


@pytest.mark.parametrize(
    ("column", "value", "fault"),
    [
        ("spend", "lots", "'lots' in 1 row, and the model reads numbers written like '€ 12,5'"),
        ("spend", "$ 9,50", "'$ 9,50' in 1 row, and the model reads numbers written like '€ 12,5'"),
        ("spend", "9,50", "'9,50' in 1 row"),
        ("age", "30 years", "'30 years' in 1 row"),
        ("since", "01/03/20", "'01/03/20' in 1 row, and the model reads dates in the order day month year"),
        ("plan", "Pro", "'Pro' in 1 row, and the training rows have 'pro'; write it as there"),
    ],
)
def test_new_value_in_another_form_is_refused(exported, tmp_path, column, value, fault):
    folder, _, _ = exported
    row = {"since": "03.01.2020", "spend": "€ 9,50", "plan": "pro", "age": "30"} | {column: value}
    new = tmp_path / "new.csv"
    new.write_text(f"{';'.join(row)}\n{';'.join(row.values())}\n", encoding="utf-8")
    with pytest.raises(DataError) as refusal:
        read_inputs(new, load_table_plan(folder / "model" / "columns.json"))
    assert f'new.csv:2: column "{column}" holds {fault}' in str(refusal.value)


def test_rows_without_a_needed_column_are_rejected(exported):
    folder, _, _ = exported
    (folder / "short.csv").write_text("since;spent;plan;age\n03.01.2020;1;pro;30\n")
    with pytest.raises(SystemExit, match='the model needs the column "spend"; did you mean "spent"'):
        ran(folder / "model" / "predict.py", folder / "short.csv")


def test_held_out_predictions_match_the_rows_of_the_file(exported):
    folder, frame, _ = exported
    rows = rows_of((folder / "model" / "predictions.csv").read_text())
    assert len(rows) == 181
    for row in rows:
        index = int(row["row"]) - 1
        assert (int(row["line"]), row["id"], row["left"]) == (index + 2, frame["id"][index], frame["left"][index])
    assert json.loads((folder / "model" / "columns.json").read_text())["classes"] == ["no", "yes"]


def test_predictions_of_a_sample_have_correcting_weights(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = written(customers(3_000).assign(left=["yes"] * 60 + ["no"] * 2_940), tmp_path / "c.csv")
    done = probcal("try", path, "-t", "left", *FEW, "--rows", 500, "--export", "model")
    assert done.exit_code == 0, done.output
    rows = pd.read_csv(tmp_path / "model" / "predictions.csv")
    assert (rows["left"] == "yes").sum() == 60
    assert np.average(rows["left"] == "yes", weights=rows["weight"]) == pytest.approx(60 / 3_000, rel=0.05)


@pytest.mark.slow
def test_model_from_standard_input_can_be_trained_again(exported, tmp_path, monkeypatch):
    _, frame, _ = exported
    monkeypatch.chdir(tmp_path)
    words = ("-t", "left", "-l", "logistic", "-m", "direct", "--splits", 2, "--export", "model")
    result = CliRunner().invoke(main, ["try", "-", *map(str, words)], input=frame.to_csv(index=False))
    assert result.exit_code == 0, result.output
    code = (tmp_path / "model" / "train.py").read_text()
    assert "# the table came from standard input: python train.py < TABLE.csv" in code
    train = [sys.executable, str(tmp_path / "model" / "train.py")]
    (tmp_path / "model" / "model.joblib").unlink()
    subprocess.run(train, input=frame.to_csv(index=False), text=True, check=True, cwd=tmp_path)
    assert (tmp_path / "model" / "model.joblib").is_file()
    assert "# predict.py then keeps probabilities in 0.001 to 0.999, and divides each row by its sum" in code


def test_model_with_a_missing_package_names_the_module(exported, tmp_path):
    folder, frame, _ = exported
    model = tmp_path / "model"
    shutil.copytree(folder / "model", model)
    (model / "model.joblib").write_bytes(b"cno_such_package.parts\nMine\n.")  # a pickle that asks for this class
    frame.drop(columns="left").head(3).to_csv(tmp_path / "new.csv", index=False)
    with pytest.raises(DataError, match="needs the module no_such_package; install the package that has it"):
        load(model).with_probabilities(str(tmp_path / "new.csv"))


def test_card_states_one_bound_for_measures_and_predict(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = customers(600)
    frame["left"] = ["yes" if row < 20 else "no" for row in range(600)]
    rare = pd.concat([frame, *[frame[20:]] * 4], ignore_index=True)
    path = written(rare, tmp_path / "c.csv")
    call = ("try", path, "-t", "left", "-l", "logistic", "-m", "direct", "--splits", 2, "--rows", 1000)
    result = probcal(*call, "--export", "model")
    assert result.exit_code == 0, result.output
    card = (tmp_path / "model" / "model-card.md").read_text()
    assert "within 0.00017 and 0.999829, for the log loss here and in `predict.py`" in card
    assert "measure them with `--weight weight`" in card
    assert "kept within 0.00017 and 0.999829" in " ".join(result.output.split())


def test_an_existing_export_is_never_overwritten(exported):
    folder, _, _ = exported
    said = refused("try", folder / "c.csv", "-t", "left", *FEW, "--export", folder / "model")
    assert "already exists and is not overwritten" in said


@pytest.mark.parametrize("learner", ["boosting", "nb", "tree"])
@pytest.mark.slow
def test_different_learners_can_be_exported(tmp_path, monkeypatch, learner):
    monkeypatch.chdir(tmp_path)
    target = "left" if learner == "nb" else "plan"
    path = written(customers(150), tmp_path / "c.csv")
    call = ("try", path, "-t", target, "-l", learner, "-m", "sigmoid", "--splits", 2, "--metric", "accuracy")
    assert probcal(*call, "--export", "model").exit_code == 0
    text, _ = load(tmp_path / "model").with_probabilities("c.csv")
    names = ["p(yes)"] if target == "left" else ["p(basic)", "p(plus)", "p(pro)"]
    rows = rows_of(text)
    assert [name for name in rows[0] if name.startswith("p(")] == names


def test_export_calibrates_on_other_groups_and_says_so(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = customers(120)
    frame.insert(0, "family", [f"F{row // 3}" for row in range(120)])
    words = ("-l", "logistic", "-m", "isotonic", "--splits", 2, "--group", "family", "--export", "model")
    result = probcal("try", written(frame, tmp_path / "c.csv"), "-t", "left", *words)
    assert result.exit_code == 0, result.output
    said = 'A method calibrates on rows of another "family" than those from which it learned'
    assert "isotonicclassifier__groups=groups" in result.stdout
    for text in (result.stdout, *((tmp_path / "model" / name).read_text() for name in ("train.py", "model-card.md"))):
        assert said in " ".join(text.replace("\n#", "\n").split())
    runpy.run_path(str(tmp_path / "model" / "train.py"))
