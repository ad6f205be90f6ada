"""Test the table of best methods, and the table of one data set with a row for each column."""

import math

import pytest

from probcal.reporting.grid import NOT_RUN
from probcal.reporting.tables import tables
from tests.commands import probcal
from tests.reporting.streams import COLUMNS, write

# ruff: noqa: RUF001  (the mark of a cell that was not run is an en dash)


PAPER = "langford-zadrozny-2005"


def best_table(store):
    return next(grid for grid in tables(store) if grid.name == "Best method")


def entries(store):
    grid = best_table(store)
    return {
        (row[0].main, metric): cell.main + cell.rest
        for row in grid.rows
        for metric, cell in zip(grid.header[1:], row[1:], strict=True)
    }


def all_metrics(cxe, rms, auc):
    return [{"cxe": cxe, "rms": rms, "auc": auc, "c_emp": min(cxe, 1.0)}]


def test_best_column_is_named_for_each_metric(small):
    store = small(paper=PAPER).write({
        ("adult", "j48.direct"): all_metrics(math.inf, 0.3, 0.80),
        ("adult", "j48.probing"): all_metrics(0.5, 0.4, 0.85),
        ("adult", "log.direct"): all_metrics(0.4, 0.5, 0.90),
    })  # fmt: skip
    assert entries(store) == {
        ("Adult", "RMS"): "J48 [ProbJ48]",
        ("Adult", "CXE"): "Log [ProbJ48]",
        ("Adult", "AUC"): "Log [ProbJ48]",
        ("Adult", "c_emp"): "Log",
    }


def test_ties_at_three_decimals_are_joined(small):
    store = small(datasets={"mushroom": 1}).write({
        ("mushroom", "j48.direct"): all_metrics(0.0, 0.0001, 1.0),
        ("mushroom", "j48.probing"): all_metrics(0.006, 0.012, 1.0),
        ("mushroom", "log.direct"): all_metrics(0.0, 0.0, 0.99999),
    })  # fmt: skip
    found = entries(store)
    assert found["Mushroom", "RMS"] == "J48/Log"
    assert found["Mushroom", "AUC"] == "J48/ProbJ48/Log"


def test_best_of_incomplete_results_is_marked(small):
    store = small().write({("adult", "j48.direct"): all_metrics(0.4, 0.3, 0.8)})
    assert entries(store)["Adult", "RMS"] == "J48†"
    assert any(note.startswith("†") for note in best_table(store).notes)


def test_data_set_without_results_shows_only_the_published_winner(small):
    store = small(paper=PAPER, datasets={"physics": 1}).write({})
    assert entries(store)["Physics", "AUC"] == "– [ProbJ48]"


def test_tables_are_numbered_in_the_order_of_the_paper(small):
    grids = tables(small(metrics=("c_emp", "auc", "rms", "regret", "cxe")).write({}))
    assert [(grid.number, grid.name) for grid in grids] == [
        (1, "Cross entropy (bits)"),
        (2, "Root mean squared error"),
        (3, "Area under the ROC curve"),
        (4, "Best method"),
        (5, "Empirical calibration error c_emp"),
        (6, "regret"),
    ]


def test_single_column_has_no_best_methods_table(small):
    grids = tables(small(columns=("j48.probing",), metrics=("rms",)).write({}))
    assert [grid.name for grid in grids] == ["Root mean squared error"]


def test_metrics_without_a_direction_have_no_best_methods(small):
    crossings = [{"crossings": 3.0, "frequency": 0.2, "cxe": 0.5}]
    store = small(metrics=("crossings", "frequency")).write({("adult", "j48.probing"): crossings})
    assert [grid.name for grid in tables(store)] == [
        "Pairs of thresholds whose boundaries cross", "Base rate",
    ]  # fmt: skip
    assert [grid.number for grid in tables(store)] == [1, 2]


STREAMS_PAPER = "vovk-petej-gammerman-2021"
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
    text = table(paper=STREAMS_PAPER)
    assert lines(text)["RF base.untruncated"][:2] == ["0.697 ± 0.007 [0.6917]", "4816.0 ± 2.8 [4814]"]
    assert lines(text)["RF base.0.01"][2] == "7192.6 ± 10.5 [7185.117]"
    assert "in brackets the authors' notebook of Vovk, Petej & Gammerman (2021) (only seed 2021)." in text
    compared = "only our run of seed 2021, not the mean"
    assert f"- Agreement with the published numbers ({compared}): AUC 1 of 1, Errors 1 of 1, Loss 1 of 1." in text


@pytest.mark.parametrize(("seed", "counts"), [(2020, "AUC 0 of 1, Errors 0 of 1, Loss 0 of 1"), (2022, None)])
def test_first_seed_selects_the_compared_repetition(table, seed, counts):
    text = table(paper=STREAMS_PAPER, seed=seed)
    assert f"seed 2021, not the mean): {counts}." in text if counts else "Agreement" not in text


def test_five_columns_give_one_table_per_metric(table):
    assert table(columns=COLUMNS[:5]).count("**Table") == 5


def test_every_format_shows_the_table(table):
    latex, page, csv = (table(format) for format in ("latex", "html", "csv"))
    assert r"AUC $\uparrow$" in latex and r"\textbf{0.880} $\pm$ 0.000" in latex and latex.count("begin{table}") == 1
    assert "AUC ↑" in page and "<b>0.880</b> ± 0.000" in page and page.count("<table>") == 1
    assert len(csv.splitlines()) == 1 + 4 * len(COLUMNS), "a line a metric and column, as ever"
