"""Test the table of best methods and the order of the tables."""
# ruff: noqa: RUF001  (the mark of a cell that was not run is an en dash)

import math

from probcal.reporting.tables import tables

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
