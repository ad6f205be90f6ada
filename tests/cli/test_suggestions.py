"""Test that a near name is suggested for a typing error and that a distant name is not."""

import pytest

from probcal.errors import did_you_mean
from tests.commands import probcal

LEARNERS = ("tree", "linear_svm", "kernel_nb", "gaussian_nb", "logistic")


@pytest.mark.parametrize(
    ("word", "near"),
    [("logisitc", "logistic"), ("Tree", "tree"), ("LINEAR-SVM", "linear_svm"), ("svm", "linear_svm"),
     ("gauss", "gaussian_nb"), ("kernelnb", "kernel_nb"), ("tre", "tree"), ("logitsic", "logistic")],
)  # fmt: skip
def test_a_typing_error_or_a_part_gives_a_suggestion(word, near):
    assert did_you_mean(word, LEARNERS) == f'; did you mean "{near}"?'


@pytest.mark.parametrize("word", ["forest", "_nb", "nb", "", "x" * 10_000])
def test_unknown_and_ambiguous_words_give_no_suggestion(word):
    assert did_you_mean(word, LEARNERS) == ""


@pytest.mark.parametrize("known", ["j48", "smo", "tree", "brier", "quickstart"])
def test_any_single_typing_error_gives_a_suggestion(known):
    swapped = [known[:at] + known[at + 1] + known[at] + known[at + 2 :] for at in range(len(known) - 1)]
    changed = [f"{known[:at]}z{known[at + 1 :]}" for at in range(len(known))]
    added = [f"{known[:at]}z{known[at:]}" for at in range(len(known) + 1)]
    left_out = [known[:at] + known[at + 1 :] for at in range(len(known))]
    for word in (*swapped, *changed, *added, *left_out):
        assert did_you_mean(word, [known]) == f'; did you mean "{known}"?', word


@pytest.mark.parametrize(
    ("word", "known"),
    [("title", "table"), ("liver", "brier"), ("digits", "weights"), ("spline", "splits"), ("list", "logistic"),
     ("weight_sweep", "weights"), ("refinement", "arena-segment")],
)  # fmt: skip
def test_a_distant_name_is_not_suggested(word, known):
    assert did_you_mean(word, [known]) == ""


def test_no_known_names_give_no_suggestion():
    assert did_you_mean("tree", ()) == ""


@pytest.mark.parametrize("command", ["try", "measure"])
def test_a_missing_table_suggests_the_file_with_a_near_name(command, tmp_path):
    (tmp_path / "tumours.csv").write_text("a,b\n1,2\n")
    result = probcal(command, tmp_path / "tumour.csv", "-t", "b")
    assert 'tumour.csv: there is no such file; did you mean "tumours.csv"?' in result.stderr
    assert result.exit_code == 2


@pytest.mark.parametrize("name", ["data.csv", "data.csv.gz", "Data.XLSX", "data.parquet"])
def test_run_suggests_try_for_a_table(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text("a,b\n1,2\n")
    result = probcal("run", name)
    assert f"{name} is a table, and an experiment is a YAML file" in result.stderr
    assert f"type: probcal try {name} --target COLUMN" in result.stderr
    assert result.exit_code == 2
