"""Test the table of one data set with many columns: it has a row for each column of the experiment."""

import math

import pytest

from probcal.reporting.grid import NOT_RUN
from tests.commands import probcal
from tests.reporting.streams import COLUMNS, write

PAPER = "vovk-petej-gammerman-2021"
CELLS = {
    "base.untruncated": [{"auc": 0.6917, "errors": 4814, "log10_loss": math.inf}, {"auc": 0.7017, "errors": 4818}],
    "base.0.1": [{"auc": 0.65, "errors": 4814, "log10_loss": 5684.25}] * 2,
    "base.0.01": [{"auc": 0.687, "errors": 4814, "log10_loss": 7185.1167}, {"auc": 0.687, "log10_loss": 7200.0}],
    "jumper.0.1": [{"auc": 0.88, "errors": 4768, "log10_loss": 4765.0, "log10_martingale": 919.25}] * 2,
    "jumper.0.01": [{"auc": 0.84, "errors": 4657, "log10_loss": 6303.0, "log10_martingale": 882.0}],
}


@pytest.fixture
def table(tmp_path):
    return lambda format="markdown", **changes: (
        probcal("table", write(tmp_path / "small", CELLS, **changes).folder, "-f", format).stdout
    )


def lines(text):
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("|")]
    return {title: cells for title, *cells in rows}


def test_methods_are_rows_and_metrics_are_columns(table):
    text = table()
    assert text.count("**Table") == 1
    rows = lines(text)
    assert rows[""] == ["AUC ↑", "Errors ↓", "Loss ↓", "log10 S"]
    assert [name for name in rows if name.startswith("RF")] == [f"RF {one}" for one in COLUMNS]
    assert rows["RF jumper.0.1"] == ["**0.880** ± 0.000", "4768.0 ± 0.0", "**4765.0** ± 0.0", "919.2 ± 0.0"]


def test_missing_values_have_the_usual_marks(table):
    rows = lines(table())
    assert rows["RF jumper.0.01"] == ["0.840†", "**4657.0**†", "6303.0†", "882.0†"]
    assert rows["RF sigmoid"] == [NOT_RUN] * 4
    assert rows["RF base.0.1"][3] == "n/a"
    assert rows["RF base.untruncated"][2] == "∞†"


def test_heading_explains_the_table(table):
    assert (
        "**Table 1. Bank marketing**; mean ± sd over 2 seeds on one split; ↑ larger is better; ↓ smaller is better; "
        "best in bold.\n"
    ) in table()
    assert "- AUC: area under the ROC curve; Errors: rows whose most probable class is wrong; Loss:" in table()
    assert "log10 S: martingale at the end (log10), what each method gains over a base of its own." in table()


def test_published_numbers_are_compared_with_their_seed_only(table):
    text = table(paper=PAPER)
    assert lines(text)["RF base.untruncated"][:2] == ["0.697 ± 0.007 [0.6917]", "4816.0 ± 2.8 [4814]"]
    assert lines(text)["RF base.0.01"][2] == "7192.6 ± 10.5 [7185.117]"
    assert "in brackets the authors' notebook of Vovk, Petej & Gammerman (2021) (only seed 2021)." in text
    compared = "only our run of seed 2021, not the mean"
    assert f"- Agreement with the published numbers ({compared}): AUC 1 of 1, Errors 1 of 1, Loss 1 of 1." in text


@pytest.mark.parametrize(("seed", "counts"), [(2020, "AUC 0 of 1, Errors 0 of 1, Loss 0 of 1"), (2022, None)])
def test_first_seed_selects_the_compared_repetition(table, seed, counts):
    text = table(paper=PAPER, seed=seed)
    assert f"seed 2021, not the mean): {counts}." in text if counts else "Agreement" not in text


def test_five_columns_give_one_table_per_metric(table):
    assert table(columns=COLUMNS[:5]).count("**Table") == 5


def test_every_format_shows_the_table(table):
    latex, page, csv = (table(format) for format in ("latex", "html", "csv"))
    assert r"AUC $\uparrow$" in latex and r"\textbf{0.880} $\pm$ 0.000" in latex and latex.count("begin{table}") == 1
    assert "AUC ↑" in page and "<b>0.880</b> ± 0.000" in page and page.count("<table>") == 1
    assert len(csv.splitlines()) == 1 + 4 * len(COLUMNS), "a line a metric and column, as ever"
