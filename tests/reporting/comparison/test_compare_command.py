"""Test the command ``probcal compare``."""

import csv
import io
import json
import math
from pathlib import Path

import pytest

from tests.commands import probcal, refused

COLUMNS = ("j48.direct", "j48.probing")


@pytest.fixture
def folder(small, cxe):
    cells = {("adult", "j48.direct"): cxe(0.5, 0.6, math.inf), ("adult", "j48.probing"): cxe(0.4, 0.5, 0.4),
             ("sick", "j48.direct"): cxe(0.5, 0.6, 0.55), ("sick", "j48.probing"): cxe(0.4, 0.51, 0.44)}  # fmt: skip
    return small(datasets={"adult": 3, "sick": 3}, columns=COLUMNS, metrics=("cxe",)).write(cells).folder


def test_compare_prints_ranks_pairs_and_best_methods(folder):
    result = probcal("compare", folder)
    assert result.exit_code == 0
    for title in ("Mean ranks", "Pairs of methods over the data sets", "Cross entropy (bits)", "Best methods"):
        assert title in result.output
    assert "\N{MINUS SIGN}∞ (?)" in result.output


def test_csv_has_one_line_for_each_test(folder):
    rows = list(csv.DictReader(io.StringIO(probcal("compare", folder, "-f", "csv").output)))
    assert [(row["dataset"], row["later"], row["how"]) for row in rows] == [
        ("adult", "j48/probing", "none"), ("sick", "j48/probing", "splits")
    ]  # fmt: skip
    assert rows[0]["difference"] == "-inf"


def test_json_is_strict_and_has_ranks_pairs_and_winners(folder):
    def refuse(constant):
        raise AssertionError(constant)

    [found] = json.loads(probcal("compare", folder, "-f", "json").output, parse_constant=refuse)
    assert found["ranks"]["cxe"]["labels"] == ["ProbJ48", "J48"]
    assert found["pairs"]["cxe"][0]["datasets"][0]["difference"] == "-inf"
    assert found["best"][1]["winners"] == ["ProbJ48"]


def test_one_data_set_has_pairs_but_no_ranks(small, cxe):
    cells = {("adult", "j48.direct"): cxe(0.5, 0.6), ("adult", "j48.probing"): cxe(0.4, 0.5)}
    result = probcal("compare", small(datasets={"adult": 2}, columns=COLUMNS).write(cells).folder)
    assert result.exit_code == 0
    assert "Mean ranks" not in result.output
    assert "ProbJ48 \N{MINUS SIGN} J48" in result.output


@pytest.mark.parametrize("cells", [{}, {("adult", "j48.direct"): [{"cxe": 0.5}]}, {("adult", "j48.direct"): ["no"]}])
def test_message_says_that_two_methods_are_needed(small, cells):
    result = probcal("compare", small(columns=COLUMNS).write(cells).folder)
    assert result.exit_code == 2
    assert "nothing to compare" in result.stderr


def test_one_split_without_predictions_has_no_share(small, cxe):
    cells = {("adult", "j48.direct"): cxe(0.5), ("adult", "j48.probing"): cxe(0.4)}
    folder = small(datasets={"adult": 1}, columns=COLUMNS, metrics=("cxe",)).write(cells).folder
    output = probcal("compare", folder).output
    assert "ProbJ48 (?)" in output
    assert "ProbJ48 1.00" not in output
    [found] = json.loads(probcal("compare", folder, "-f", "json").output)
    assert found["best"][0]["drawn"] is False


def test_claims_have_a_verdict_on_the_data_sets_run(small, cxe):
    cells = {("adult", "j48.direct"): cxe(0.5, 0.6), ("adult", "j48.probing"): cxe(0.4, 0.5)}
    paper = "langford-zadrozny-2005"
    folder = small(datasets={"adult": 2}, columns=COLUMNS, metrics=("cxe",), paper=paper).write(cells).folder
    assert "on those run" in probcal("compare", folder).output
    [found] = json.loads(probcal("compare", folder, "-f", "json").output)
    [infinite] = [one for one in found["claims"] if one["label"] == "j48-is-infinite"]
    assert (infinite["verdict"], infinite["on_those_run"]["verdict"]) == ("undecided", "not supported")


def test_many_pairs_of_one_data_set_have_one_line_each(small, cxe, ten_columns):
    cells = {("adult", one): cxe(0.5, 0.6) for one in ten_columns}
    lines = probcal("compare", small(datasets={"adult": 2}, columns=ten_columns).write(cells).folder).output.split("\n")
    assert not [line for line in lines if "over the data sets**" in line]
    assert sum(line.startswith("| Prob") and "\N{MINUS SIGN}" in line for line in lines) == 6


def test_titles_are_escaped(small, cxe):
    cells = {("adult", column): cxe(0.5, 0.6) for column in COLUMNS}
    store = small(datasets={"adult": 2}, columns=COLUMNS, titles={"adult": "a|b<script>\x1b[2J"}).write(cells)
    output = probcal("compare", store.folder).output
    assert "\x1b" not in output
    assert "<script>" not in output.replace("\\<script>", "")
    assert "a|b" not in output


def test_plot_draws_the_ranks(folder):
    result = probcal("plot", folder, "--kind", "ranks")
    assert result.exit_code == 0, result.output
    assert [Path(line).name for line in result.stdout.split()] == ["ranks-cxe.png", "ranks-cxe.svg"]


def test_plot_rejects_ranks_of_one_data_set_and_unknown_names(folder):
    assert "has no ranks: they need two columns" in refused("plot", folder, "--kind", "ranks", "-d", "adult")
    assert 'there is no data set "adul"; did you mean "adult"?' in refused("plot", folder, "-k", "ranks", "-d", "adul")
