"""Test the table of tests of ``probcal measure``: groups, grades and classes, and its CSV and JSON forms."""

import csv
import io
import json

import numpy as np
import pandas as pd
import pytest

from probcal.analysis.hypothesis_tests import holm
from probcal.measure.part_tests import ALL, CLASS, GRADE, part_tests
from probcal.metrics import calibration_tests
from tests.commands import probcal, refused
from tests.measure.prediction_files import read_table, three_classes, two_classes, written

CALL = ("measure", "a.csv", "-p", "p", "-t", "y", "--draws", 20)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = two_classes()
    frame["grade"] = np.where(frame.p < 0.3, "B", np.where(frame.p < 0.7, "C", "A"))  # A has the highest probability
    written(frame, tmp_path / "a.csv")
    return tmp_path


def of_kind(parts, kind):
    return [part for part in parts if part.kind == kind]


def test_each_group_has_the_tests_of_its_rows_and_one_family(tmp_path):
    frame = two_classes()
    parts = part_tests(read_table(frame, tmp_path, groups=("sex",)))
    everything, *groups = parts
    assert everything.tests == calibration_tests(frame.y, frame.p)
    assert [(one.column, one.name) for one in groups] == [("sex", "F"), ("sex", "M")]
    for one in groups:
        rows = frame[frame.sex == one.name]
        assert one.tests == calibration_tests(rows.y, rows.p)
    names = ("exact_p", "spiegelhalter_p")
    raw = [getattr(one.tests, name) for name in names for one in groups]
    assert [one.corrected[name] for name in names for one in groups] == holm(raw)


def test_grades_are_in_order_of_probability_and_each_test_is_a_family(tmp_path):
    frame = two_classes().assign(grade=lambda table: np.where(table.p < 0.5, "z", "a"))
    grades = of_kind(part_tests(read_table(frame, tmp_path, grades="grade")), GRADE)
    assert [one.name for one in grades] == ["z", "a"]
    for name in ("binomial_p", "jeffreys_p"):
        assert [one.corrected[name] for one in grades] == holm([getattr(one.tests, name) for one in grades])


def test_a_number_of_grades_means_bins_of_equal_size(tmp_path):
    frame = two_classes()
    grades = of_kind(part_tests(read_table(frame, tmp_path, grades="4")), GRADE)
    assert [one.tests.n_rows for one in grades] == [50] * 4
    third = frame.sort_values("p")[100:150]
    assert grades[2].tests == pytest.approx(calibration_tests(third.y, third.p), nan_ok=True)
    named = of_kind(part_tests(read_table(frame.rename(columns={"sex": "4"}), tmp_path, grades="4")), GRADE)
    assert {one.name for one in named} == {"F", "M"}  # a column of this name comes first


def test_several_classes_test_the_likeliest_class_and_each_class(tmp_path):
    predictions = read_table(three_classes(), tmp_path, "p_*")
    top, *classes = part_tests(predictions)
    likeliest = predictions.p.argmax(axis=1)
    assert top.tests == calibration_tests(predictions.y == likeliest, predictions.p.max(axis=1))
    assert [one.name for one in of_kind(classes, CLASS)] == ["cat", "cow", "dog"]
    for number, one in enumerate(classes):
        assert one.tests == calibration_tests(predictions.y == number, predictions.p[:, number])


def test_of_many_classes_the_most_frequent_are_shown(tmp_path):
    names = "abcdefghijklmn"
    y = np.repeat([*names], np.arange(14, 0, -1))
    p = np.random.default_rng(0).dirichlet(np.ones(14), len(y))
    predictions = read_table(pd.DataFrame(p, columns=[f"p_{one}" for one in names]).assign(y=y), tmp_path, "p_*")
    assert [one.name for one in of_kind(part_tests(predictions), CLASS)] == [*names[:12]]


def test_all_rows_are_tested_where_nothing_is_asked_and_nothing_where_rows_have_weights(tmp_path):
    assert [part.kind for part in part_tests(read_table(two_classes(), tmp_path))] == [ALL]
    assert part_tests(read_table(two_classes(), tmp_path, groups=("sex",), weight="w")) == []


def test_the_table_stands_below_the_metrics_in_eighty_columns(here):
    text = probcal(*CALL, "-g", "sex", "--grades", "grade").stdout
    table = text[text.index("\ntests ") :].splitlines()[1:9]
    assert [line.split()[0] for line in table] == ["tests", "all", "sex", "sex", "grade", "B", "C", "A"]
    assert table[0].split()[-2:] == ["p", "Spiegelhalter"] and table[4].split()[-2:] == ["binomial", "Jeffreys"]
    assert max(map(len, text.splitlines())) <= 84
    assert "All these p-values have Holm's correction" in " ".join(text.split())


def test_csv_has_every_p_value_with_and_without_correction(here):
    rows = list(csv.DictReader(io.StringIO(probcal(*CALL, "-g", "sex", "--grades", "5", "-f", "csv").stdout)))
    found = {(row["group_column"], row["group"], row["metric"]): row for row in rows}
    tests = calibration_tests(*two_classes().query("sex == 'F'")[["y", "p"]].to_numpy().T)
    assert float(found["sex", "F", "test_exact_p"]["value"]) == tests.exact_p
    assert float(found["sex", "F", "test_exact_p_holm"]["value"]) >= tests.exact_p
    observed = found["sex", "F", "observed"]
    assert [float(observed[one]) for one in ("value", "low", "high")] == [tests.observed, tests.low, tests.high]
    assert len([key for key in found if key[0] == "(bin)" and key[2] == "test_jeffreys_p_holm"]) == 5


def refuse_constant(text):
    raise AssertionError(f"{text} is not strict JSON")


def test_json_is_strict_and_has_all_that_csv_has(here):
    words = (*CALL, "-g", "sex", "--grades", "grade", "-c", "beta")
    found = json.loads(probcal(*words, "-f", "json").stdout, parse_constant=refuse_constant)
    assert (found["data"]["rows"], found["map"], found["draws"], found["seed"]) == (200, "beta", 20, 0)
    rows = list(csv.DictReader(io.StringIO(probcal(*words, "-f", "csv").stdout)))
    tables = {(one["column"] or "", one["group"] or ""): one["metrics"] for one in found["tables"]}
    for row in rows:
        if row["metric"].startswith("test_") or row["metric"] == "observed":
            continue
        stage = row["stage"].replace("beta", "after")
        numbers = tables[row["group_column"], row["group"]][row["metric"]][stage]
        assert [row[one] for one in ("value", "low", "high")] == [
            "" if numbers[one] is None else repr(numbers[one]) for one in ("value", "low", "high")
        ]
    assert [one["kind"] for one in found["tests"]] == ["all", "group", "group", "grade", "grade", "grade"]
    assert found["tests"][3]["holm"].keys() == {"binomial_p", "jeffreys_p"}
    assert any("With beta the log loss is" in sentence for sentence in found["findings"])


def test_json_of_infinite_and_undefined_numbers_is_strict(here):
    written(pd.DataFrame({"p": [0, 1, 0.5, 0.5] * 5, "y": [1, 0, 1, 0] * 5}), here / "a.csv")
    found = json.loads(probcal(*CALL, "-f", "json").stdout, parse_constant=refuse_constant)
    metrics = found["tables"][0]["metrics"]
    assert metrics["log_loss_bits"]["before"]["value"] == "inf" and metrics["slope"]["before"]["value"] is None


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--grades", "0"), "--grades 0: name a column, or a number of bins from 1 to 50"),
        (("--grades", "grad"), '--grades: a.csv has no column "grad"; did you mean "grade"?'),
        (("--grades", "id"), '--grades: column "id" of a.csv has 200 different values'),
        (("--grades", "4", "-w", "w"), "--grades: the tests need rows that count alike"),
        (("--grades", "4", "-c", "prior", "--base-rate", ".1"), "--grades: the tests need rows that count alike"),
        (("--scale", "logit"), "--scale is for the diagrams of --report"),
    ],
)
def test_what_cannot_be_tested_is_refused(here, words, said):
    assert refused(*CALL, *words).startswith(said)


def test_groups_of_weighted_rows_have_a_sentence_instead(here):
    for words in (("-w", "w"), ("-c", "prior", "--base-rate", ".1")):
        text = " ".join(probcal(*CALL, "-g", "sex", *words).stdout.split())
        assert "The groups have no tests, which need single rows that count alike." in text


def test_the_page_has_a_panel_for_each_class_and_the_tests(here):
    written(three_classes(), here / "t.csv")
    words = ("measure", "t.csv", "-p", "p_*", "-t", "y", "--draws", 20, "--report")
    assert probcal(*words, "r.html", "--grades", "3").exit_code == 0
    page = (here / "r.html").read_text(encoding="utf-8")
    panels = page[page.index('class="panels"') : page.index('id="tests-name"')]
    assert panels.count("<img ") == 3 and panels.count("Slope") == 3
    assert "likeliest class" in page[page.index('id="tests-name"') :] and "Jeffreys" in page


def test_the_scale_of_the_page_can_be_chosen(here):
    pages = {}
    for scale in ("linear", "logit"):
        assert probcal(*CALL, "--report", f"{scale}.html", "--scale", scale).exit_code == 0
        pages[scale] = (here / f"{scale}.html").read_text(encoding="utf-8")
    assert probcal(*CALL, "--report", "r.html").exit_code == 0
    assert (here / "r.html").read_text(encoding="utf-8") == pages["linear"] != pages["logit"]
