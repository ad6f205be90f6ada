"""Test what ``probcal measure`` prints and writes, and that it writes nothing after a mistake."""

from __future__ import annotations

import csv
import io
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from probcal import IsotonicCalibrator
from probcal.cli.main import main
from probcal.metrics import ASKED_METRICS, METRICS, metric_named
from tests.commands import contents, probcal, refused
from tests.measure.prediction_files import three_classes, two_classes, written

WITHOUT_INTERVAL = ("cxe", "rms", "accuracy", "log_loss", "bounded_log_loss", "brier", "c_emp_p", "errors",
                    "log10_loss")  # fmt: skip
"""Shown under other names, without an interval, or left out: they grow with the number of rows, or repeat a line."""
CALL = ("--probability", "p", "--target", "y", "--draws", 20)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(two_classes(), tmp_path / "a.csv")
    return tmp_path


def measured(*words):
    result = probcal("measure", *words)
    assert result.exit_code == 0, result.output
    return result.stdout


def row(name, text):
    return next(line for line in text.splitlines() if line.startswith(name))


def test_the_table_has_every_metric_with_an_interval(here):
    text = measured("a.csv", *CALL)
    metrics = [metric_named(name) for name in (*METRICS, *ASKED_METRICS)]
    own = [one.short for one in metrics if not one.of_the_truth and one.name not in WITHOUT_INTERVAL]
    for name in ("base rate", "mean probability", "log loss (bits)", "log loss (nats)", "Brier score", *own):
        assert re.search(r" -?\d\.\d{3,4} +-?\d\.\d{3,4} to -?\d\.\d{3,4}$", row(name, text)), name
    assert "rows                 200\n" in text
    assert "Intervals: 20 bootstrap draws of the rows, seed 0." in text
    assert max(map(len, text.splitlines())) <= 80


def test_the_table_compares_values_before_and_after_calibration(here):
    text = measured("a.csv", *CALL, "--calibrate", "beta", "--group", "sex")
    assert " ".join(row("all rows", text).split()) == "all rows before 95 % interval after 95 % interval change"
    assert re.search(r"-0\.\d{4}\*$", row("log loss (bits)", text))
    assert text.count("log loss (bits)") == 4  # all rows, two groups and the legend
    assert "With beta the log loss is" in text and "\nAfter: beta; each row by a map fitted on the other" in text
    assert max(map(len, text.splitlines())) <= 80


def test_several_classes_have_one_calibrated_column_each(here):
    written(three_classes(), here / "t.csv")
    text = measured("t.csv", "-p", "p_*", "-t", "y", "--draws", 20, "-c", "dirichlet", "-o", "o.csv")
    assert "target y: 3 classes; their probabilities: p_cat, p_cow, p_dog" in text
    found = pd.read_csv("o.csv")
    everything, classes = text[: text.index("class cat")], text[text.index("class cat") : text.index("tests ")]
    assert "Slope" not in everything and "Sharpness" in everything
    assert classes.count("Slope") == 3 and re.search(r"ECE( +0\.\d{4} +0\.\d{4} to 0\.\d{4}){2}", classes)
    np.testing.assert_allclose(found[["p_cat_dirichlet", "p_cow_dirichlet", "p_dog_dirichlet"]].sum(axis=1), 1)


def test_the_written_column_is_from_a_map_of_all_rows(here):
    measured("a.csv", *CALL, "-c", "isotonic", "-o", "o.csv")
    before, after = pd.read_csv("a.csv"), pd.read_csv("o.csv")
    pd.testing.assert_frame_equal(after.drop(columns="p_isotonic"), before)
    by_hand = IsotonicCalibrator().fit(before.p, before.y).predict_proba(before.p)[:, 1]
    np.testing.assert_array_equal(after.p_isotonic, by_hand)


def test_a_european_file_is_written_in_its_own_format(here):
    written(two_classes(), here / "e.csv", sep=";", decimal=",")
    measured("e.csv", *CALL, "-c", "sigmoid", "-o", "o.csv")
    after = pd.read_csv("o.csv", sep=";", decimal=",")
    np.testing.assert_array_equal(after.p, two_classes().p)
    measured("a.csv", *CALL, "-c", "sigmoid", "-o", "points.csv")
    np.testing.assert_array_equal(after.p_sigmoid, pd.read_csv("points.csv").p_sigmoid)


def test_files_are_overwritten_only_with_force(here):
    for option, name in (("-o", "o.csv"), ("--report", "r.html")):
        (here / name).write_text("mine")
        said = refused("measure", "a.csv", *CALL, "-c", "beta", option, name)
        assert said == f"{option}: {name} already exists and is not overwritten; add --force or choose another"
        assert (here / name).read_text() == "mine"
        measured("a.csv", *CALL, "-c", "beta", option, name, "--force")
        assert (here / name).read_text() != "mine"


@pytest.mark.slow
def test_the_page_is_self_contained_with_table_and_figures(here):
    measured("a.csv", *CALL, "-c", "beta", "-g", "sex", "--report", "r.html")
    page = (here / "r.html").read_text(encoding="utf-8")
    assert page.lstrip().lower().startswith("<!doctype html>")
    assert "default-src 'none'" in page and "<script" not in page
    assert page.count('<img src="data:image/svg+xml,') == 3
    assert "With beta the log loss is" in page and "sex = F" in page
    assert not re.search(r"(?:src|href)=\"(?!data:)", page)


def test_names_from_the_file_are_escaped_on_the_page(here):
    frame = two_classes(60).assign(sex="<b>x</b>")
    written(frame, here / "b.csv")
    measured("b.csv", *CALL, "-g", "sex", "--report", "r.html")
    assert "<b>x</b>" not in (here / "r.html").read_text(encoding="utf-8")


def test_csv_has_all_digits_of_every_stage(here):
    lines = list(csv.DictReader(io.StringIO(measured("a.csv", *CALL, "-c", "beta", "-g", "sex", "-f", "csv"))))
    assert {one["stage"] for one in lines} == {"before", "beta", "change"}
    assert {one["group"] for one in lines} == {"", "F", "M"}
    stages = {one["stage"]: float(one["value"]) for one in lines if one["metric"] == "brier" and not one["group"]}
    assert stages["change"] == pytest.approx(stages["beta"] - stages["before"], abs=1e-15)


def test_an_infinite_log_loss_is_explained(here):
    frame = two_classes()
    frame.loc[3, ["p", "y"]] = [0, 1]
    frame.loc[8, ["p", "y"]] = [1, 0]
    written(frame, here / "b.csv")
    text = " ".join(measured("b.csv", *CALL, "-c", "isotonic").split())
    assert "2 rows had predicted probability 0 for the observed class (first: line 5)." in text
    assert "With isotonic the log loss is 0." in text
    assert "Slope and intercept have no value: 2 rows have a predicted probability of 0 or 1" in text


def test_message_suspects_swapped_labels(here):
    assert 'The AUC is below .5. Is "0" the label' in " ".join(measured("a.csv", *CALL, "--positive", "0").split())


def test_standard_input_is_measured_like_a_file(here):
    words = ["measure", "-", *map(str, CALL)]
    piped = CliRunner().invoke(main, words, input=(here / "a.csv").read_bytes())
    assert piped.exit_code == 0, piped.output
    assert piped.stdout.splitlines()[1:] == measured("a.csv", *CALL).splitlines()[1:]
    assert piped.stdout.startswith("standard input: 200 rows")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("missing.csv", *CALL), "missing.csv: there is no such file"),
        (("a.csv", "-p", "prob", "-t", "y"), 'a.csv has no column "prob"'),
        (("a.csv", *CALL, "-o", "o.csv"), "-o writes calibrated probabilities; name a map with --calibrate"),
        (("a.csv", *CALL, "-c", "betta", "-o", "o.csv"), 'there is no map "betta"; did you mean "beta"?'),
        (("a.csv", *CALL, "-c", "beta", "-o", "no/o.csv"), "-o: the folder no does not exist"),
        (("a.csv", *CALL, "-c", "beta", "-o", "o.parquet"), "-o writes delimited text, but o.parquet has"),
        (("a.csv", *CALL, "--report", "."), "--report: . is a folder; name a file"),
        (("a.csv", *CALL, "-c", "beta", "-o", "o", "--report", "o"), "-o and --report both name o; give two files"),
        (("one.csv", *CALL, "--report", "r.html"), 'holds only one class, "1", in 20 rows; two are needed'),
        (("few.csv", *CALL, "-c", "beta", "-o", "o.csv"), "5 folds need at least 5 rows of each class"),
        (("done.csv", *CALL, "-c", "beta", "-o", "o.csv"), 'the table already has a column "p_beta"'),
    ],
)
def test_a_mistake_gives_one_message_and_writes_nothing(here, words, said):
    written(two_classes(20).assign(y=1), here / "one.csv")
    written(two_classes(20).assign(y=[1] * 3 + [0] * 17), here / "few.csv")
    written(two_classes(20).assign(p_beta=0), here / "done.csv")
    before = contents(here)
    assert said in refused("measure", *words)
    assert contents(here) == before


def test_no_draws_are_allowed_and_few_are_refused(here):
    assert "Intervals in closed form" in measured("a.csv", *CALL[:4], "--draws", 0)
    assert "--draws 7: an interval needs at least 20 draws" in refused("measure", "a.csv", *CALL[:4], "--draws", 7)


@pytest.mark.slow
def test_a_report_imports_no_experiment_and_no_scikit_learn(here):
    """They take a second of the three that a small report would need."""
    written(two_classes(), here / "t.csv")
    words = ["measure", "t.csv", "-p", "p", "-t", "y", "-g", "sex", "--draws", "20", "--report", "r.html"]
    heavy = ("sklearn", "scipy.stats", "narwhals", "probcal.papers", "probcal.store", "probcal.data.card")
    code = f"""
import sys
from probcal.cli.main import main
try:
    main({words})
finally:
    print([name for name in {heavy} if name in sys.modules], file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (here / "r.html").exists(), done.stderr
    assert done.stderr.endswith("[]\n")
