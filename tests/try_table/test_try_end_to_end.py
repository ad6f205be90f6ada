"""Test ``probcal try`` from a file to the verdict, and the YAML that runs it again."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from probcal.data.card import read_card
from probcal.data.load import load, obtain
from probcal.store.folder import Store
from probcal.try_table.preparation import TableRequest
from probcal.try_table.trial import TrialOptions, try_table
from tests.commands import contents, probcal, refused
from tests.try_table.own_tables import customers, shown, written

FEW = ("-l", "logistic", "-l", "tree", "-m", "direct", "-m", "isotonic", "--splits", 3, "--seed", 3)


@pytest.fixture(scope="module")
def tried(tmp_path_factory):
    """Return (folder, output) of a table with everything that users' tables have."""
    folder = tmp_path_factory.mktemp("a folder")
    frame = customers(200).rename(columns={"spend": "spend, in €", "plan": 'the "plan"'})
    frame.loc[frame.index % 9 == 0, "age"] = np.nan
    frame.loc[frame.index % 11 == 0, "left"] = ""
    frame["left"] = frame["left"].replace({"yes": "ja, weg", "no": "neé"})
    path = written(frame, folder / "Kunden 2026.csv", sep=";", encoding="utf-8-sig")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        result = probcal("try", path, "-t", "left", *FEW, "--save", "sub/my.yaml")
    assert result.exit_code == 0, result.output
    return folder, result.stdout


def results_of(folder):
    """Return the metrics of each cell."""
    return {name: result.metrics for name, result in Store(folder).results().items()}


def test_output_shows_columns_ranking_and_verdict(tried):
    _, text = tried
    assert "Kunden 2026.csv: 200 rows, 7 columns; separated by ';'" in text
    assert "note: 19 of 200 rows have no left and are left out" in text
    assert "ja, weg" in text and "<- positive, the rarer" in text
    assert "saved, with the rows: sub/my.yaml, sub/my-data\n" in text
    assert "95 % interval" in text
    assert "logistic alone has the best log loss" in text
    assert max(map(len, text.splitlines())) <= 80


@pytest.fixture(scope="module")
def report(tried):
    """Return the page of the trial."""
    folder, text = tried
    assert "report: results/try-kunden-2026-left/report.html" in text
    return (folder / "results" / "try-kunden-2026-left" / "report.html").read_text(encoding="utf-8")


def test_report_shows_findings_and_table(report):
    first = report.split("What was found</h2>")[1].split("</section>")[0]
    assert all(said in first for said in ("not significantly different", "95 % interval", "--time since"))
    assert all(said in report.split("The table</h2>")[1] for said in ("200 rows, 7 columns", "ja, weg"))


def test_report_shows_the_printed_ranking(tried, report):
    _, text = tried
    printed = [line.split() for line in text.splitlines() if re.match(r" ?[0-9]+[* ] ", line)]
    table = report.split("<tbody>", 1)[1].split("</table>")[0]
    shown = [re.findall(r">([^<>]+)<", row) for row in re.findall(r"<tr>.*?</tr>", table, re.DOTALL)]
    assert [row[1:4] for row in shown] == [row[1:4] for row in printed]
    assert len(printed) > 2 and "CXE" not in report
    charts = json.loads(report.split('id="data">')[1].split("</script>")[0])["trial"]
    names = [
        f"{learner} alone" if method == "direct" else f"{method} on {learner}" for _, learner, method, *_ in printed
    ]
    assert [column["label"] for column in charts["columns"]] == names
    means = [number[3] for number in charts["numbers"][: len(printed)]]
    assert means == pytest.approx([float(row[3]) for row in printed], abs=1e-4)
    ends = [f"{low:.3f} to {high:.3f}" for *_, (low, high) in charts["numbers"][: len(printed)]]
    assert ends == [" ".join(row[4:7]) for row in printed]


def test_report_names_an_existing_experiment(tried, report):
    results = tried[0] / "results" / "try-kunden-2026-left"
    [named] = re.findall(r"probcal run (\S+) -o again", report)
    assert (results / named).is_file() and probcal("validate", results / named).exit_code == 0


@pytest.mark.parametrize("cache", ["the same cache", "an empty cache"])
def test_saved_yaml_gives_exactly_the_same_numbers(tried, monkeypatch, tmp_path, cache):
    folder, _ = tried
    monkeypatch.chdir(tmp_path)
    if cache == "an empty cache":
        monkeypatch.setenv("PROBCAL_CACHE_DIR", str(tmp_path / "cache"))
    again = probcal("run", folder / "sub" / "my.yaml")
    assert again.exit_code == 0, again.output
    assert results_of(tmp_path / "results" / "my") == results_of(folder / "results" / "try-kunden-2026-left")


def test_repeated_command_runs_nothing_and_prints_the_same(tried, monkeypatch):
    folder, text = tried
    monkeypatch.chdir(folder)
    again = probcal("try", folder / "Kunden 2026.csv", "-t", "left", *FEW)
    assert "15 cells: 15 done" in again.stderr
    assert again.stdout.splitlines()[-8:] == text.splitlines()[-8:]
    assert "15 cells: 15 done" in probcal("status", "results").stdout
    assert "Kunden 2026: left" in probcal("table", "results/try-kunden-2026-left").stdout


OTHERS = {
    "another table": ["other/c.csv"],
    "other rows, columns or splits": ["c.csv", "--drop", "spend"],
    "another seed": ["c.csv", "--seed", 4],
}


@pytest.mark.parametrize(
    "what", [pytest.param(one, marks=pytest.mark.slow if "table" not in one else ()) for one in OTHERS]
)
def test_trial_of_other_settings_keeps_the_results_of_a_model(tmp_path, monkeypatch, what):
    monkeypatch.chdir(tmp_path)
    for name, seed in (("c.csv", 0), ("other/c.csv", 1)):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        written(customers(150, seed), tmp_path / name)
    words = ["-t", "left", "-l", "logistic", "-m", "direct", "--splits", 2]
    assert probcal("try", "c.csv", *words, "--export", "model").exit_code == 0
    card = (tmp_path / "model" / "model-card.md").read_text(encoding="utf-8")
    [folder] = re.findall(r"- Results: `(.*)`, learner `logistic`, method `direct`\n", card)
    before = contents(Path(folder))
    other = [*OTHERS[what], *words]
    refusal = refused("try", *other, "-o", folder)
    assert refusal.startswith(f"{folder} holds results of {what}") and refusal.endswith("another folder with -o")
    done = probcal("try", *other)
    assert done.exit_code == 0, done.output
    assert f"results/try-c-left keeps its results of {what}" in " ".join(done.stdout.split())
    assert "report: results/try-c-left-2/report.html" in done.stdout and contents(Path(folder)) == before
    assert "4 cells: 4 done" in probcal("try", *other).stderr  # goes on in its own folder
    assert "4 cells: 4 done" in probcal("try", "c.csv", *words).stderr


def test_further_methods_share_the_folder_and_verify_names_the_others(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(customers(150), tmp_path / "c.csv")
    words = ["try", "c.csv", "-t", "left", "-l", "logistic", "--splits", 2]
    assert probcal(*words, "-m", "direct", "-m", "sigmoid").exit_code == 0
    assert "6 cells: 4 done, 2 to run" in probcal(*words, "-m", "direct", "-m", "beta").stderr
    verified = probcal("verify", "results/try-c-left")
    assert verified.exit_code == 0 and "8 rows agree" in verified.stdout
    assert "2 rows are of an earlier plan" in verified.stdout
    [told] = json.loads(probcal("verify", "results/try-c-left", "-f", "json").stdout)
    assert told["unplanned"] == 2


def test_saved_rows_equal_the_file_without_imputation(tried):
    folder, _ = tried
    card = read_card(folder / "sub" / "my-data" / "kunden-2026.yaml")
    obtain(card)
    X, frame = load(card).X, customers(200)
    labelled = frame[frame.index % 11 != 0]
    assert sorted(X["spend, in €"]) == sorted(labelled["spend"])
    assert X["age"].isna().sum() == (labelled.index % 9 == 0).sum()  # each cell imputes from its training rows
    assert load(card).y.sum() == (labelled["left"] == "yes").sum()
    assert list(X.columns) == ["age", 'the "plan"', "spend, in €", "since"]


def test_target_with_several_classes_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = written(customers(150), tmp_path / "c.csv")
    result = probcal("try", path, "-t", "plan", "-l", "logistic", "-m", "direct", "-m", "sigmoid", "--splits", 2)
    assert result.exit_code == 0, result.output
    assert "target: plan, 3 classes" in result.stdout


def test_learner_that_always_fails_is_ranked_last(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = written(customers(150), tmp_path / "c.csv")
    call = ("try", path, "-t", "plan", "-l", "nb", "-l", "logistic", "-m", "direct", "--splits", 2)
    result = probcal(*call)
    assert result.exit_code == 1
    assert "2 cells failed (--retry-failed runs them again)" in result.stderr
    assert "2/2 cells: 2 failed" in probcal(*call, "--retry-failed").stderr
    [last] = [line for line in result.stdout.splitlines() if line.split()[1:3] == ["nb", "direct"]]
    assert last.split()[0] == "3"
    assert "failed" in last
    said = " ".join(result.stdout.split())
    assert "nb alone failed on 2 of 2 splits: ValueError: two classes are needed" in said


@pytest.mark.parametrize(
    ("options", "plan"),
    [
        (("-l", "svm", "-m", "isotonic"), "  shares: direct\n  svm: isotonic\n20 cells"),
        (
            ("-l", "tree", "-m", "direct", "-m", "sklearn.calibration.CalibratedClassifierCV"),
            "  tree: direct, calibratedclassifiercv\n",
        ),
    ],
)
def test_plan_has_the_baseline_and_what_the_options_name(tmp_path, options, plan):
    assert plan in shown(written(customers(150), tmp_path / "c.csv"), "left", *options)


def test_second_trial_keeps_the_finished_cells(tried, monkeypatch):
    folder, _ = tried
    monkeypatch.chdir(folder)
    more = probcal("try", folder / "Kunden 2026.csv", "-t", "left", *FEW, "-l", "nb")
    assert "21 cells: 15 done, 6 to run" in more.stderr


@pytest.mark.parametrize("change", ["replaced", "touched", "removed"])
@pytest.mark.slow
def test_table_replaced_during_the_run_gives_a_warning(tmp_path, monkeypatch, change):
    monkeypatch.chdir(tmp_path)
    path, lines = written(customers(), tmp_path / "mine.csv"), []

    def meddle(line):
        lines.append(line)
        if len(lines) == 1:  # the table was read, and the run continues
            written(customers(seed=1 if change == "replaced" else 0), path)
            if change == "removed":
                path.unlink()

    options = TrialOptions(("tree",), ("direct",), splits=2, command="probcal try mine.csv -t left")
    assert try_table(TableRequest("mine.csv", "left"), options, lambda line: None, meddle) == 0
    warning = (
        f"warning: {path} changed during the run, so these results are those of its earlier content; "
        "to run its present content, type: probcal try mine.csv -t left"
    )
    assert [line for line in lines if line.startswith("warning")] == [warning] * (change == "replaced")
    assert (lines[-1] == warning) == (change == "replaced")
