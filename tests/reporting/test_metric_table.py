"""Test tables of one metric: the text of each cell and the notes below the table."""
# ruff: noqa: RUF001  (the mark of a cell that was not run is an en dash)

import math

import pytest

from probcal.reporting.tables import tables, tables_text
from probcal.store.cell_result import CellResult

PAPER = "langford-zadrozny-2005"


def grid_of(store, metric_title="Cross entropy (bits)"):
    return next(grid for grid in tables(store) if grid.name == metric_title)


def row_of(store, title, line=0):
    """Return the cells of a data set: ``main`` in stars if bold, then the rest. ``line`` 1 is the line below."""
    rows = grid_of(store).rows
    index = next(i for i, row in enumerate(rows) if row[0].main == title) + line
    return [(f"*{cell.main}*" if cell.bold else cell.main) + cell.rest for cell in rows[index]]


@pytest.mark.parametrize(
    ("numbers", "shown"),
    [
        # mean .5, deviations -.1 0 .1: sd = sqrt(.02 / 2) = .1
        ({"j48.direct": (0.4, 0.5, 0.6)}, ["0.500 ± 0.100", "–", "–"]),
        ({"j48.direct": (0.5,), "j48.probing": (0.4,)}, ["0.500", "*0.400*", "–"]),
        ({"j48.direct": (0.40041,), "j48.probing": (0.40049,)}, ["*0.400*", "*0.400*", "–"]),
        ({"j48.direct": (0.5,), "log.direct": (0.1,)}, ["0.500", "–", "0.100"]),  # each is alone in its group
        ({"j48.direct": (math.inf,), "j48.probing": (0.9,)}, ["∞", "*0.900*", "–"]),
        ({"j48.direct": (math.inf,), "j48.probing": (math.inf,)}, ["∞", "∞", "–"]),
        ({"j48.direct": (0.4, math.inf, 0.6)}, ["∞ (1/3)", "–", "–"]),
        ({"j48.direct": (math.inf, math.inf)}, ["∞", "–", "–"]),
    ],
)
def test_cell_shows_mean_sd_infinities_and_the_best_of_its_group(small, cxe, numbers, shown):
    splits = max(map(len, numbers.values()))
    store = small(datasets={"adult": splits}).write({("adult", name): cxe(*of) for name, of in numbers.items()})
    assert row_of(store, "Adult")[1:] == shown
    assert any("k of n splits are ∞" in note for note in grid_of(store).notes) == ("(1/3)" in shown[0])


def test_larger_auc_is_bold(small):
    store = small().write({("adult", "j48.direct"): [{"auc": 0.7}], ("adult", "j48.probing"): [{"auc": 0.6}]})
    auc = grid_of(store, "Area under the ROC curve").rows[0]
    assert [cell.bold for cell in auc[1:3]] == [True, False]


def test_title_states_splits_seeds_and_the_published_table(small):
    assert "one split" in grid_of(small().write({})).explanation
    several = small(datasets={"adult": 1, "breast": 10, "sick": 5}).write({})
    assert "mean ± sd over 5 to 10 random splits (no sd: one split)" in grid_of(several).explanation
    fixed = {"adult": "standard", "breast": "holdout"}
    store = small(paper=PAPER, datasets={"adult": 3, "breast": 1}, splits=fixed).write({})
    assert "mean ± sd over 3 seeds on one split (no sd: one split)" in grid_of(store).explanation
    assert "in brackets Table 1 of Langford & Zadrozny (2005)" in grid_of(store).explanation


def test_failed_cells_are_marked_and_counted_with_a_reason(small, cxe):
    store = small(datasets={"adult": 2}).write({
        ("adult", "j48.direct"): ["no room left\nline two", "another"],
        ("adult", "j48.probing"): [{"cxe": 0.5}, "third"],
    })  # fmt: skip
    assert row_of(store, "Adult")[1:] == ["failed", "0.500†", "–"]
    notes = grid_of(store).notes
    assert "failed: 3 of 6 cells; the first is adult/0/j48/direct: ValueError: no room left" in notes
    assert "† mean over fewer splits than planned (1 in this table)." in notes
    assert "– not run: 2 of 6 cells." in notes


def test_a_very_long_reason_is_cut(small):
    store = small().write({("adult", "j48.direct"): ["x" * 500]})
    note = next(note for note in grid_of(store).notes if note.startswith("failed"))
    assert len(note) < 200
    assert note.endswith("…")


def test_cell_that_succeeds_later_is_not_failed(small, cxe):
    writer = small()
    writer.write({("adult", "j48.direct"): ["out of memory"]})
    store = writer.write({("adult", "j48.direct"): cxe(0.5)})
    assert row_of(store, "Adult")[1] == "0.500"
    assert not any(note.startswith("failed") for note in grid_of(store).notes)


def test_a_metric_without_a_value_is_not_a_failure(small):
    store = small(metrics=("cxe",)).write({("adult", "j48.direct"): [{"rms": 0.3}]})
    assert row_of(store, "Adult")[1] == "n/a"
    assert "n/a: the metric has no value (1 done cells)." in grid_of(store).notes


def test_repetitions_beyond_the_plan_do_not_count(small, cxe):
    writer = small(datasets={"adult": 3})
    writer.write({("adult", "j48.direct"): cxe(0.4, 0.5, 0.9)})
    writer.datasets = {"adult": 2}
    store = writer.write({})
    assert row_of(store, "Adult")[1] == "0.450 ± 0.071"


def test_published_number_follows_ours(small, cxe):
    store = small(paper=PAPER).write({("adult", "j48.probing"): cxe(0.441)})
    assert row_of(store, "Adult")[1:] == ["– [∞]", "0.441 [0.436]", "– [∞]"]


def test_a_data_set_without_results_keeps_its_published_numbers(small, cxe):
    writer = small(paper=PAPER, datasets={"adult": 1, "physics": 4})
    store = writer.write({("adult", "j48.probing"): cxe(0.4)})
    assert row_of(store, "Physics")[1:] == ["– [∞]", "– [0.762]", "– [0.792]"]
    assert "– not run: 14 of 15 cells; none for Physics." in grid_of(store).notes


def test_many_columns_stack_mean_sd_and_published_number(small, cxe):
    columns = ("j48.direct", "j48.bagging", "j48.probing", "svm.sigmoid", "svm.probing", "log.direct")
    store = small(paper=PAPER, columns=columns, datasets={"breast": 2, "adult": 1}).write({
        ("breast", "j48.direct"): cxe(math.inf, math.inf),
        ("breast", "j48.bagging"): cxe(0.7, 0.8),
        ("adult", "j48.bagging"): cxe(0.5),
    })  # fmt: skip
    assert row_of(store, "Breast")[:4] == ["Breast", "∞", "*0.750*", "–"]
    assert row_of(store, "Breast", 1)[:4] == ["± sd", "", "±0.071", ""]
    assert row_of(store, "Breast", 2)[:4] == ["[paper]", "[∞]", "[0.793]", "[0.791]"]
    assert row_of(store, "Adult", 1)[0] == "[paper]", "no line of sd where there is one split"


def test_metric_missing_in_the_paper_has_no_published_column(small):
    store = small(paper=PAPER).write({("adult", "j48.direct"): [{"c_emp": 0.01}]})
    grid = grid_of(store, "Empirical calibration error c_emp")
    assert not any("[" in cell.main + cell.rest for row in grid.rows for cell in row)
    assert "in brackets" not in grid.explanation


def agreement_of(store):
    return next((note for note in grid_of(store).notes if note.startswith("Agreement")), None)


def test_one_split_is_compared_within_the_tolerance(small, cxe):
    # Published .436 (tolerance .010 inclusive) and infinity, which no finite number matches.
    cells = {("adult", "j48.direct"): cxe(0.9), ("adult", "j48.probing"): cxe(0.446)}
    store = small(paper=PAPER).write(cells)
    assert "with one split, 1 of 2 means are within 0.010" in agreement_of(store)
    assert "random splits" not in agreement_of(store)


@pytest.mark.parametrize(
    ("numbers", "hits"),
    [((0.8, 0.82, 0.81, 0.8, 0.82), 1), ((0.9, 0.92, 0.91, 0.9, 0.92), 0), ((0.8, 0.82, 0.81, 0.8, 0.82, math.inf), 1)],
)
def test_random_splits_are_compared_within_the_prediction_band(small, cxe, numbers, hits):
    # Published .791; the five have an sd of .01, so that the band reaches 6.62 * .01 * sqrt(1 + 1/5) = .073.
    store = small(paper=PAPER, datasets={"breast": len(numbers)}).write({("breast", "j48.probing"): cxe(*numbers)})
    said = f"with random splits, {hits} of 1 published numbers are within the band of one more split (t with n - 1"
    assert said in agreement_of(store)


def test_few_random_splits_are_not_judged(small, cxe):
    for numbers in ((0.791,), (0.791, 0.792), (5.0, 5.1, 5.2, 5.3)):
        store = small(paper=PAPER, datasets={"breast": 4}).write({("breast", "j48.probing"): cxe(*numbers)})
        assert agreement_of(store) == "Agreement: 1 cannot be judged, with too few splits or no spread."


def test_table_without_a_paper_has_no_published_numbers(small, cxe):
    store = small().write({("adult", "j48.probing"): cxe(0.436)})
    text = tables_text(store)
    assert "[" not in text
    assert "Agreement" not in text


def test_cells_that_gave_a_warning_are_counted_by_column(small):
    store = small(datasets={"adult": 2}, columns=("svm.probing", "log.direct")).write({})
    rest = {"learner": "svm", "method": "probing", "status": "done", "run": "r", "seconds": 1.0}
    with store.writing("small"):
        for repetition in range(2):
            metrics = {"cxe": 0.5, "rms": 0.3, "auc": 0.9, "c_emp": 0.1}
            warnings = {"ConvergenceWarning": 98}
            store.add(CellResult("adult", repetition, **rest, metrics=metrics, warnings=warnings))
    assert "ConvergenceWarning in 2 of 4 cells: ProbSVM 2." in tables_text(store)
