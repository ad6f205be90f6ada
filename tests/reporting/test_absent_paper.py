"""Test what the commands do with results of a paper whose numbers are not installed, as a stranger's may be."""

from __future__ import annotations

import pytest

from tests.commands import probcal, refused

UNKNOWN = 'there are no published numbers of a paper "our-report"'


@pytest.fixture
def absent(small, cxe):
    """Write the results of an experiment that follows an unknown paper."""
    columns = ("nb.direct", "nb.sigmoid")
    cells = {("adult", column): cxe(0.4 + number / 10) for number, column in enumerate(columns)}
    return small(paper="our-report", columns=columns, metrics=("cxe",)).write(cells).folder


@pytest.mark.parametrize("words", [("table",), ("table", "-d", "adult"), ("table", "-f", "csv"), ("compare",)])
def test_results_are_shown_without_published_numbers_and_with_a_warning(absent, words):
    result = probcal(*words, absent)
    assert result.exit_code == 0
    assert result.stderr.startswith(f"warning: {absent} is shown without published numbers: {UNKNOWN}")
    assert "if another package has them, install it" in result.stderr
    assert "NB" in result.stdout


def test_the_tables_equal_those_of_an_experiment_without_paper(absent, small, cxe):
    shown = probcal("table", absent).stdout
    path = absent / "experiment.json"
    path.write_text(path.read_text(encoding="utf-8").replace('"our-report"', "null"), encoding="utf-8")
    result = probcal("table", absent)
    assert (result.stdout, result.stderr) == (shown, "")


def test_the_page_shows_them_too(absent, tmp_path):
    result = probcal("report", absent, "-o", tmp_path / "page.html")
    assert result.exit_code == 0 and UNKNOWN in result.stderr
    assert "SigNB" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_check_refuses_them_and_names_the_command_that_shows_them(absent):
    message = refused("check", absent)
    assert message.startswith(UNKNOWN)
    assert message.endswith(f"; without them, this command shows the results: probcal table {absent}")


def test_experiments_of_an_absent_paper_cannot_stand_side_by_side(absent):
    assert refused("table", absent, "--together").startswith(UNKNOWN)
