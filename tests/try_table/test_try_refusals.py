"""Test tables that ``probcal try`` rejects with one clear message and exit code 2. It writes nothing."""

import numpy as np
import pandas as pd
import pytest

from tests.commands import contents, refused
from tests.try_table.own_tables import customers, shown, written


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Run the test in an empty folder, and check that it stays empty."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    yield
    assert contents(tmp_path / "here") == {}


def frame_with(labels):
    return customers(len(labels)).assign(left=labels)


@pytest.mark.parametrize(
    ("labels", "reason"),
    [
        (["yes"] * 50, 'column "left" holds only one class, "yes", in 50 rows; two are needed'),
        ([None] * 50, 'column "left" is empty: no row has a label'),
        (range(50), 'column "left" has as many values as rows (50): an id, not classes; is it the right column?'),
        ([f"u{i}" for i in range(50)], "has as many values as rows (50): an id"),
        (np.linspace(0, 1, 50), "is a continuous number (50 different values from 0 to 1), not classes;"),
        ([i % 40 for i in range(90)], "is a continuous number (40 different values from 0 to 39)"),
        ([f"u{i % 30}" for i in range(50)], "holds 30 different labels in 50 rows, more than classes have"),
        (["a" * 300, "b"] * 25, "holds text of up to 300 letters, not classes; is it the right column?"),
        (["yes", "no", "no"], "holds 2 different labels in 3 rows, which are too few (at least 16 are needed); is"),
        (["yes"], 'holds only one class, "yes", in 1 row; two are needed'),
        (["a"] * 46 + ["b"] * 4, 'too few rows of "b" (4) in column "left" to split: 8 of each class are needed, and'),
        (["a"] * 24 + ["b"] * 23 + ["c"] * 3, 'of "c" (3) in column "left" to split: 8 of each class are needed; re'),
    ],
)
def test_column_without_classes_is_rejected_as_target(tmp_path, labels, reason):
    said = refused("try", written(frame_with(list(labels)), tmp_path / "c.csv"), "--target", "left")
    assert reason in said
    assert len(said.splitlines()) == 1


@pytest.mark.parametrize(
    ("content", "target", "reason"),
    [
        ("id,age,left\n1,2,3\n", "Left", 'there is no column "Left"; did you mean "left"? (it has: id, age, left)'),
        ("id,left\n1,2\n", None, "no target is given; name it with --target; there are: id, left"),
        ("a,left,left\n1,2,3\n", "left", '2 columns are called "left"; give the target another name'),
        ("1,2,3\n4,5,6\n", "y", '"y"; the first line must hold the names of the columns (it has'),
        ("1,2,red\n4,5,blue\n", "y", '"y"; the first line must hold the names of the columns (it has'),
        ("1,5;2,25\n3,5;4\n", "y", '"y"; the first line must hold the names of the columns (it has'),
        ("left\n" + "yes\nno\n" * 20, "left", "no column is left to learn from: it has one column, the target"),
        (
            "id,left\n" + "".join(f"u{row},{'yes' if row % 2 else 'no'}\n" for row in range(40)),
            "left",
            "no column is left to learn from (id: a different value in every row",
        ),
    ],
)
def test_missing_or_doubled_columns_are_rejected(tmp_path, content, target, reason):
    (tmp_path / "c.csv").write_text(content)
    said = refused("try", tmp_path / "c.csv", *(() if target is None else ("-t", target)))
    assert said.startswith("c.csv: ") and reason in said


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ("--drop agee", '--drop: c.csv has no column "agee"; did you mean "age"?'),
        ("--category left", '--category: "left" is the target'),
        ("--category age --drop age", 'column "age" is given with --category and with --drop; give one'),
        ("--positive Yes", '--positive: c.csv: column "left" holds no "Yes"; did you mean "yes"? (it has: no, yes)'),
        ("--label NA", 'holds no "NA"'),
        ("--group nobody", '--group: c.csv has no column "nobody"'),
        ("--group plan", "has 3 different values, too few for 5 folds"),
        ("--group left", '"left" is the target'),
        ("--time plan", 'column "plan" holds no dates and no numbers'),
        ("--time since --group plan", "rows are split by groups or in order of time"),
        ("--metric auc --cost 1:5", "both name what ranks"),
        ("--cost 5", "give two costs above 0"),
        ("-t plan --cost 1:5", "--cost needs two classes, and plan has 3; choose one with --positive"),
        ("-l forrest", 'there is no learner "forrest"; did you mean "forest"? (there are: shares, logistic,'),
        ("-m isotone", 'there is no method "isotone"; did you mean "isotonic"?'),
        ("-l sklearn.no.Such", '"sklearn.no.Such"'),
        ("-l svm -l tree -m direct", "svm by itself gives scores and no probabilities"),
    ],
)
def test_unsuitable_options_are_rejected(tmp_path, options, reason):
    assert reason in refused("try", written(customers(), tmp_path / "c.csv"), "-t", "left", *options.split())


def test_an_import_path_needs_trust(tmp_path, monkeypatch):
    monkeypatch.delenv("PROBCAL_TRUSTED")
    path = written(customers(), tmp_path / "c.csv")
    said = refused("try", path, "-t", "left", "-l", "tests.stubs.learners.Anything")
    assert "is not imported: an import runs code" in said
    assert "--trust tests" in said


def test_existing_file_is_not_overwritten(tmp_path):
    path = written(customers(), tmp_path / "c.csv")
    (tmp_path / "my.yaml").write_text("mine: true\n")
    said = refused("try", path, "-t", "left", "--save", tmp_path / "my.yaml")
    assert "already exists and is not overwritten" in said
    assert "end its name in .yaml" in refused("try", path, "-t", "left", "--save", tmp_path / "my.txt")
    assert (tmp_path / "my.yaml").read_text() == "mine: true\n"


def test_positive_option_selects_the_positive_class(tmp_path):
    path = written(customers(), tmp_path / "c.csv")
    assert "<- positive\n" in shown(path, "left", "--positive", "no")
    text = shown(path, "plan", "--positive", "pro")
    assert "target: plan, 3 classes" in text
    assert "<- positive\n" in text
    assert "logistic, nb, forest" in text
    assert "  without nb (takes two classes only)\n" in shown(path, "plan")


def test_rows_without_a_label_are_left_out_with_note(tmp_path):
    frame = customers()
    frame.loc[frame.index % 10 == 0, "left"] = None
    assert "note: 12 of 120 rows have no left and are left out" in shown(written(frame, tmp_path / "c.csv"))


def test_labels_that_are_the_same_number_are_one_label(tmp_path):
    frame = pd.DataFrame({"a": [i % 7 for i in range(60)], "left": ["1", "1.0", "0"] * 20})
    assert "1  40 rows (66.7 %)" in shown(written(frame, tmp_path / "c.csv"))


def test_numbers_beyond_float32_are_accepted(tmp_path):
    frame = customers(120).assign(large=np.where(np.arange(120) == 7, 1e39, np.arange(120) % 5 + 0.5))
    assert "0.5 to 1e+39" in shown(written(frame, tmp_path / "c.csv"))


@pytest.mark.parametrize(
    ("labels", "n_classes", "note"),
    [
        (["yes", "NA"], 2, 'note: "NA" is read as a label of left (60 rows)'),
        (["yes", "nan"], 2, 'note: "nan" is read as a label of left (60 rows)'),
        (["yes", "None"], 2, 'note: "None" is read as a label of left (60 rows)'),
        (["yes", "NULL"], 2, 'note: "NULL" is read as a label of left (60 rows)'),
        (["None", "mild", "severe"], 3, 'note: "None" is read as a label'),
        (["None", "0", "1"], 2, "is read as a missing value"),
        (["NA", "mild", "severe"], 2, "if it is a label, add --label NA"),
    ],
)
def test_words_for_missing_are_labels_where_there_is_no_other_reading(tmp_path, labels, n_classes, note):
    path = written(frame_with(labels * (120 // len(labels))), tmp_path / "c.csv")
    text = " ".join(shown(path).split())
    assert f"target: left, {n_classes} classes" in text and note in text
    if "--label" in note:
        assert "target: left, 3 classes" in shown(path, "left", "--label", "NA")
