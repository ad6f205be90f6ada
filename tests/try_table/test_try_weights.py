"""``--weight``: weights reach the ranking, the base rate, the test file and the export. Bad ones name their line."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import log_loss

import probcal as library
from tests.commands import probcal
from tests.try_table.own_tables import customers, ran, written

CALL = ("-t", "left", "-w", "w", "-l", "tree", "-l", "logistic", "-m", "direct", "-m", "isotonic", "--splits", 2)


def weighted(n: int = 160, seed: int = 0) -> pd.DataFrame:
    return customers(n, seed).assign(w=np.random.default_rng(seed).integers(1, 5, n))


def ranking(folder, frame: pd.DataFrame, *words: object) -> list[list[str]]:
    """Return the rows of the ranking without their seconds."""
    folder.mkdir(exist_ok=True)
    result = probcal("try", written(frame, folder / "c.csv"), *CALL, "-o", folder / "results", *words)
    assert result.exit_code == 0, result.output
    lines = result.stdout.split("learner   method")[1].splitlines()[1:6]
    return [line.split()[:-1] for line in lines]


def test_a_row_of_weight_0_is_as_a_row_left_out(tmp_path):
    frame = weighted()
    zero = frame.assign(w=frame["w"].where(frame.index % 10 > 0, 0))
    assert ranking(tmp_path / "zero", zero) == ranking(tmp_path / "out", frame[frame.index % 10 > 0])
    assert ranking(tmp_path / "zero", zero) != ranking(tmp_path / "all", frame)


def test_only_ratios_of_weights_count(tmp_path):
    frame = weighted()
    assert ranking(tmp_path / "a", frame) == ranking(tmp_path / "b", frame.assign(w=frame["w"] * 8.0))


def test_equal_weights_are_no_weights(tmp_path):
    frame = customers(160)
    plain = probcal("try", written(frame, tmp_path / "c.csv"), *CALL[:2], *CALL[4:], "-o", tmp_path / "plain")
    expected = [line.split()[:-1] for line in plain.stdout.split("learner   method")[1].splitlines()[1:6]]
    assert ranking(tmp_path / "equal", frame.assign(w=2.5)) == expected


@pytest.fixture(scope="module")
def trial(tmp_path_factory):
    folder = tmp_path_factory.mktemp("weighted")
    frame, test = weighted(), weighted(80, seed=4)
    written(test, folder / "test.csv")
    written(test.loc[test.index.repeat(test["w"])].assign(w=1), folder / "repeated.csv")
    shown = []
    for name in ("test", "repeated"):
        result = probcal(
            "try", written(frame, folder / "c.csv"), *CALL, "--test", folder / f"{name}.csv", "-o", folder / name,
            "--export", folder / f"model-{name}", "--drop", "since",
        )  # fmt: skip
        assert result.exit_code == 0, result.output
        shown.append(result.stdout)
    return folder, frame, test, shown


def test_integer_weights_of_a_test_file_measure_as_repeated_rows(trial):
    *_, shown = trial
    tables = [text.split("base rate\n")[1].splitlines()[:6] for text in shown]
    # the value, and the base rate: the intervals know that repeated rows are no new ones
    values, others = ([re.findall(r"[0-9]\.[0-9]{4}\b", line) for line in table] for table in tables)
    assert len(values) == 6
    assert values == others


def test_the_base_rate_is_the_weighted_one(trial):
    folder, frame, test, shown = trial
    share = frame["w"][frame["left"] == "yes"].sum() / frame["w"].sum()
    y = (test["left"] == "yes").to_numpy(int)
    expected = log_loss(y, np.full(len(y), share), sample_weight=test["w"]) / np.log(2)
    row = next(line for line in shown[0].split("cross-val.")[1].splitlines() if line.startswith("log loss"))
    assert row.split()[-1] == f"{expected:.4f}"
    assert f"`yes` {100 * share:.3g} %" in (folder / "model-test" / "model-card.md").read_text()


def test_the_training_script_fits_the_same_model_and_predict_needs_no_weights(trial):
    folder, frame, _, _ = trial
    before = library.load(folder / "model-test").predict_proba(frame.drop(columns="w"))
    ran(folder / "model-test" / "train.py")
    assert np.array_equal(library.load(folder / "model-test").predict_proba(frame), before)


def test_held_out_predictions_have_the_weights(trial):
    folder, frame, _, _ = trial
    predictions = pd.read_csv(folder / "model-test" / "predictions.csv")
    assert np.array_equal(predictions["weight"], frame["w"].iloc[predictions["row"] - 1])


@pytest.mark.parametrize(
    ("value", "message"),
    [(-1, 'c.csv:6: column "w" holds the weight -1'), ("heavy", 'c.csv:6: column "w" holds "heavy", no number'),
     (None, 'c.csv:6: column "w" has no value'), ("inf", 'c.csv:6: column "w" holds')],
)  # fmt: skip
def test_a_row_without_a_usable_weight_names_its_line(tmp_path, value, message):
    frame = weighted().astype({"w": object})
    frame.loc[4, "w"] = value
    result = probcal("try", written(frame, tmp_path / "c.csv"), *CALL)
    assert message in result.stderr
    assert result.exit_code == 2


def test_a_learner_without_weights_is_refused(tmp_path):
    result = probcal(
        "try", written(weighted(), tmp_path / "c.csv"), "-t", "left", "-w", "w",
        "-l", "sklearn.neighbors.KNeighborsClassifier",
    )  # fmt: skip
    assert "--weight: the learner kneighborsclassifier takes no weights" in result.stderr
    assert result.exit_code == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [(("-w", "spent"), 'has no column "spent"; did you mean "spend"?'), (("-w", "left"), '"left" is the target'),
     (("--group", "w"), "given with --group and with --weight")],
)  # fmt: skip
def test_an_impossible_column_of_weights_is_refused(tmp_path, words, message):
    call = words if words[0] == "-w" else ("-w", "w", *words)
    result = probcal("try", written(weighted(), tmp_path / "c.csv"), "-t", "left", *call)
    assert message in result.stderr
    assert result.exit_code == 2


def test_uneven_weights_are_told_with_the_effective_number_of_rows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = weighted().assign(w=1)
    frame.to_csv("even.csv", index=False)
    frame.assign(w=[1000] * 4 + [1] * (len(frame) - 4)).to_csv("uneven.csv", index=False)
    words = ("-t", "left", "-w", "w", "-l", "tree", "-m", "direct", "--dry-run")
    assert "uneven" not in probcal("try", "even.csv", *words).stdout
    # Kish: (4,000 + 156)^2 / (4 million + 156)
    assert "160 rows count like 4 of equal weight" in " ".join(probcal("try", "uneven.csv", *words).stdout.split())
