"""Test the tables that show several experiments of one paper side by side."""
# ruff: noqa: RUF001  (the mark of a cell that was not run is an en dash)

import csv
import io
import json
import math
import re

import pytest

from probcal.reporting.side_by_side import SideBySideError, side_by_side_tables
from probcal.reporting.tables import tables_text
from tests.commands import probcal, refused

PAPER = "langford-zadrozny-2005"
CXE = "Cross entropy (bits)"


def grid_of(*stores, name=CXE):
    return next(grid for grid in side_by_side_tables(*stores)[1] if grid.name == name)


def lines_of(grid):
    return [[(f"*{cell.main}*" if cell.bold else cell.main) + cell.rest for cell in row] for row in grid.rows]


@pytest.fixture
def weka(small, cxe):
    """Write Adult with one split and Breast with two."""
    columns = ("log.direct", "j48.direct", "j48.probing")
    return small("weka", paper=PAPER, datasets={"adult": 1, "breast": 2}, columns=columns).write({
        ("adult", "j48.direct"): cxe(math.inf),
        ("adult", "j48.probing"): cxe(0.434),
        ("breast", "j48.probing"): cxe(0.7, 0.8),
    })  # fmt: skip


@pytest.fixture
def native(small, cxe):
    return small("native", paper=PAPER, columns=("nb.direct", "j48.probing", "j48.direct")).write({
        ("adult", "j48.direct"): cxe(0.4),
        ("adult", "j48.probing"): cxe(0.6),
    })  # fmt: skip


def relabelled(store, index, **changes):
    """Return ``store`` with one column of its experiment changed."""
    path = store.folder / "experiment.json"
    experiment = json.loads(path.read_text(encoding="utf-8"))
    experiment["columns"][index] |= changes
    path.write_text(json.dumps(experiment), encoding="utf-8")
    return store


def test_blocks_list_experiments_and_paper_per_data_set(weka, native):
    grid = grid_of(weka, native)
    assert grid.header == ["", "J48", "ProbJ48", "NB", "Log"], "the paper's order, whatever the experiments' is"
    assert lines_of(grid) == [
        ["Adult", "", "", "", ""],
        ["weka", "∞", "*0.434*", "", "–"],
        ["units off", "0", "-2", "", ""],
        ["native", "*0.400*", "0.600", "–", ""],
        ["units off", "-∞", "+164", "", ""],
        ["[paper]", "[∞]", "[0.436]", "[0.949]", "[∞]"],
        ["Breast", "", "", "", ""],
        ["weka", "–", "0.750", "", "–"],
        ["± sd", "", "±0.071", "", ""],
        ["[paper]", "[∞]", "[0.791]", "[0.840]", "[1.070]"],
    ]


def test_readings_of_a_data_set_share_its_block(small, cxe):
    reading = {"titles": {"echo-2": "Still alive"}, "readings": {"echo-2": "echocardiogram"}}
    alive = small("alive", paper=PAPER, datasets={"echo-2": 1}, **reading).write({("echo-2", "j48.direct"): cxe(0.9)})
    original = small("original", paper=PAPER, datasets={"echocardiogram": 1}).write({})
    grid = grid_of(alive, original)
    assert [line[0] for line in lines_of(grid)] == ["Echocardio", "alive", "units off", "original", "[paper]"]
    assert "alive: here Echocardio is echo-2." in grid.notes


def test_data_sets_follow_the_order_of_the_paper(small):
    one = small("one", paper=PAPER, datasets={"mine": 1, "sick": 1}).write({})
    two = small("two", paper=PAPER, datasets={"breast": 1}).write({})
    assert [row[0].main for row in grid_of(one, two).rows if row[0].main.istitle()] == ["Breast", "Sick", "Mine"]


def test_columns_have_the_papers_titles_and_a_note(weka, native):
    store = relabelled(native, 1, label="ProbTree", group="Tree")
    grid = grid_of(weka, store)
    assert "ProbTree" not in grid.header
    assert "native: here ProbJ48 is ProbTree." in grid.notes
    assert lines_of(grid)[3][1:3] == ["*0.400*", "0.600"], "groups are the paper's"


def test_column_missing_in_the_paper_is_omitted_with_note(weka, native):
    grid = grid_of(weka, relabelled(native, 0, label="Forest", paper_learner=None, paper_method=None))
    assert grid.header == ["", "J48", "ProbJ48", "Log"]
    assert "native: not shown, since the paper has no such column: Forest." in grid.notes


def test_best_methods_table_lists_experiments_and_paper(weka, native):
    assert lines_of(grid_of(weka, native, name="Best method"))[:4] == [
        ["Adult", "", "", "", ""],
        ["weka", "n/a", "ProbJ48†", "n/a", "n/a"],
        ["native", "n/a", "J48†", "n/a", "n/a"],
        ["[paper]", "[ProbJ48]", "[ProbJ48]", "[ProbJ48]", ""],
    ]


def test_metric_missing_in_the_paper_has_no_published_line(weka, native):
    grid = grid_of(weka, native, name="Empirical calibration error c_emp")
    assert [line[0] for line in lines_of(grid)] == ["Adult", "weka", "native", "Breast", "weka"]


def test_metric_of_one_experiment_shows_only_its_lines(weka, small):
    store = small("other", paper=PAPER, metrics=("rms",)).write({})
    assert [line[0] for line in lines_of(grid_of(weka, store))][:4] == ["Adult", "weka", "units off", "[paper]"]


def test_common_notes_appear_once_and_others_name_their_experiment(small):
    why = {"datasets": ["adult"], "columns": [["j48", "probing"]], "what": "card a", "why": "of a reason"}
    stores = [
        small(name, paper=PAPER, datasets=datasets, exceptions=(why,)).write({})
        for name, datasets in (("one", {"adult": 1}), ("two", {"adult": 1, "breast": 1}))
    ]
    notes = grid_of(*stores).notes
    assert "Adult, ProbJ48 (card a): of a reason" in notes
    assert "one: – not run: 3 of 3 cells; none for Adult." in notes
    assert "two: – not run: 6 of 6 cells; none for Adult, Breast." in notes


def test_every_format_has_all_lines_and_csv_is_unchanged(weka, native):
    for format in ("markdown", "latex", "html"):
        text = tables_text(weka, native, format=format, side_by_side=True)
        assert all(word in text for word in ("Langford", "weka", "native", "0.434", "0.600", "0.436"))
        assert len(re.findall(r"<figure>|\\begin\{table\}|^\*\*Table", text, re.MULTILINE)) == 5
    csv_text = tables_text(weka, native, format="csv", side_by_side=True)
    assert csv_text == tables_text(weka, native, format="csv")
    assert {line["experiment"] for line in csv.DictReader(io.StringIO(csv_text))} == {"weka", "native"}


def test_variants_of_one_column_are_rejected_by_name(weka, native):
    with pytest.raises(SideBySideError, match=r"more than one column .*: ProbJ48, J48 \(ProbJ48\)"):
        side_by_side_tables(weka, relabelled(native, 2, paper_method="probing"))


def test_two_readings_of_one_experiment_have_named_lines(small, cxe):
    readings = {"datasets": {"adult": 1, "adult-2": 1}, "readings": {"adult-2": "adult"}}
    both = small("both", paper=PAPER, **readings).write({("adult", "j48.direct"): cxe(0.4)})
    one = small("one", paper=PAPER, datasets={"adult": 1}).write({})
    grid = grid_of(one, both)
    labels = [line[0] for line in lines_of(grid)]
    assert labels == ["Adult", "one", "both: adult", "units off", "both: adult-2", "[paper]"]
    assert not [note for note in grid.notes if "here Adult" in note]


def test_experiments_without_a_common_paper_are_rejected(weka, small):
    with pytest.raises(SideBySideError, match="lone follows no paper"):
        side_by_side_tables(weka, small("lone").write({}))
    with pytest.raises(SideBySideError, match=f"weka follows {PAPER}, other follows nobody-1900"):
        side_by_side_tables(weka, small("other", paper="nobody-1900").write({}))


def test_experiments_of_one_name_are_named_by_folder(weka, native):
    path = native.folder / "experiment.json"
    path.write_text(path.read_text(encoding="utf-8").replace('"native"', '"weka"'), encoding="utf-8")
    assert [line[0] for line in lines_of(grid_of(weka, native))][1:5:2] == ["weka", "native"]
    with pytest.raises(SideBySideError, match="have distinct names"):
        side_by_side_tables(weka, weka)


def test_the_command_line_takes_several_folders(weka, native, small):
    side_by_side = probcal("table", weka.folder, native.folder, "--together").stdout
    assert side_by_side == tables_text(weka, native, side_by_side=True)
    assert side_by_side.startswith("# Langford & Zadrozny (2005): weka, native\n")
    assert probcal("table", weka.folder, native.folder).stdout == tables_text(weka, native)
    lone = small("lone").write({})
    said = refused("table", weka.folder, lone.folder, "--together")
    assert "follows no paper" in said and said.endswith(f": probcal compare {weka.folder} {lone.folder}")
