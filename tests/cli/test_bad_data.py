"""Test that messages for wrong cards and data files of a user name the file and its line, and that nothing is lost."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.commands import probcal, refused

CONFIG = "name: small\ndatasets: [mine.yaml]\nlearners: [tree]\nmethods: [direct]\n"
CARD = """\
name: mine
title: Mine
columns: {a: numeric, b: nominal, y: target}
positive: 1
split: {kind: standard, train: 4}
expect: {rows: 6, columns: 2}
files:
  - format: delimited
    files: [{name: mine.csv}]
"""
ROWS = ["1,x,0", "2,y,1", "3,x,0", "4,y,1", "5,x,0", "6,y,1"]


@pytest.fixture
def here(tmp_path, monkeypatch) -> Path:
    """Write a sound experiment on a sound user data set; the current folder is the data folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROBCAL_CACHE_DIR", "cache")
    monkeypatch.setenv("PROBCAL_DATA_DIR", ".")
    Path("mine").mkdir()
    Path("small.yaml").write_text(CONFIG)
    Path("mine.yaml").write_text(CARD)
    Path("mine/mine.csv").write_text("\n".join(ROWS) + "\n")
    return tmp_path


def with_card(old: str, new: str) -> None:
    assert CARD.count(old) == 1
    Path("mine.yaml").write_text(CARD.replace(old, new))


def with_rows(*changes: tuple[str, str]) -> None:
    text = "\n".join(ROWS) + "\n"
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    Path("mine/mine.csv").write_text(text)


def test_a_sound_data_set_is_fetched(here):
    assert probcal("fetch", "small.yaml").stdout == "mine: original files\n"


def test_fetch_prints_the_fingerprint_that_a_card_lacks(here):
    done = probcal("fetch", "small.yaml")
    [fingerprint] = re.findall("^mine: fingerprint ([0-9a-f]{64}),", done.stderr, re.MULTILINE)
    with_card("expect: {", f"expect: {{fingerprint: {fingerprint}, ")
    assert (again := probcal("fetch", "small.yaml")).exit_code == 0 and "fingerprint" not in again.stderr


# --- the card ------------------------------------------------------------------------------------


def test_message_names_every_fault_of_a_card_with_its_line(here):
    text = CARD.replace("title:", "titel:").replace("a: numeric", "a: number").replace("rows: 6", "rows: six")
    Path("mine.yaml").write_text(text.replace("name: mine\n", "name: yours\n").replace("delimited", "csv"))
    assert refused("validate", "small.yaml").splitlines() == [
        'small.yaml:2: the card of "mine.yaml" is wrong:',
        '  mine.yaml:1: the key "title" is missing',
        '  mine.yaml:1: the name must be that of the file, "mine"',
        '  mine.yaml:2: unknown key "titel"; did you mean "title"?',
        '  mine.yaml:3: columns.a must be "numeric", "nominal", "infer", "ignore", "target" or "weight", not '
        "'number'; did you mean \"numeric\"?",
        "  mine.yaml:6: expect.rows must be a whole number, not 'six'",
        '  mine.yaml:8: files[1].format must be "delimited", "arff" or "mat", not \'csv\'',
    ]


def test_message_names_a_missing_card_and_its_config_line(here):
    Path("mine.yaml").unlink()
    said = 'small.yaml:2: the card of "mine.yaml" is wrong:\n  mine.yaml: there is no such file'
    assert refused("validate", "small.yaml") == said


@pytest.mark.parametrize(
    ("split", "rows", "message"),
    [
        ("{kind: standard, train: 6}", 6, "6 training rows of 6 leave none to test on"),
        ("{kind: chronological, train: 7}", 6, "7 training rows of 6 leave none to test on"),
        ("{kind: holdout, train_fraction: 0.99}", 6, "6 training rows of 6 leave none to test on"),
        ("{kind: holdout, train_fraction: 0.01}", 6, "of 6 rows, the split leaves none to train on"),
        ("{kind: holdout, train_fraction: 0.5}", 1, "of 1 rows, the split leaves none to train on"),
    ],
)
def test_an_empty_split_is_rejected_without_reading_data(here, split, rows, message):
    text = CARD.replace("{kind: standard, train: 4}", split).replace("rows: 6", f"rows: {rows}")
    Path("mine.yaml").write_text(text)
    Path("mine/mine.csv").unlink()
    assert refused("validate", "small.yaml").endswith(f"\n  mine.yaml:6: expect: {message}")


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("kind: standard", "kind: standart", 5, 'did you mean "standard"?'),
        ("train: 4", "train_fraction: 0.5", 5, 'a standard split takes "train" and not "train_fraction"'),
        ("y: target", "y: nominal", 3, "exactly one must be the target, 0 are"),
        ("a: numeric, b: nominal", "a: ignore, b: ignore", 3, "nothing to learn from"),
        ("b: nominal", "f1..f999999999: nominal", 3, "at most 100,000 columns"),
        ("b: nominal", "f9..f1: nominal", 3, 'the range "f9..f1" must rise'),
        ("columns: 2", "columns: 2, classes: {0: 3, 1: 4}", 6, "the classes add up to 7 of 6 rows"),
        ("columns: 2", "columns: 2, classes: {0: 6}", 6, 'the positive label "1" is not among'),
        ("columns: 2", "columns: 2, classes: {1: 6}", 6, "a positive and a negative label are needed"),
        ("positive: 1", "positive: []", 4, "positive must not be empty"),
        ("positive: 1", "positive: true", 4, "positive must be text, not true; put it in quotes"),
        ("[{name: mine.csv}]", "[]", 9, "files[1].files must not be empty"),
        ("[{name: mine.csv}]", "[mine.csv]", 9, "files[1].files[1] must be a mapping"),
        ("delimited\n", 'delimited\n    separator: "::"\n', 9, 'separator: "::" is not one of'),
        ("delimited\n", "delimited\n    column_names: 5\n", 9, 'as in {a: b} or "by position", not 5'),
        ("delimited\n", "delimited\n    column_names: {q: a, r: a}\n", 7, 'two columns would be called "a"'),
        ("title: Mine\n", "title: Mine\nmissing_codes: {a: [many]}\n", 3, '"many" of a is not a number'),
        (CARD[CARD.index("files:") :], "", 1, 'a card needs a source: "files", "openml" or "bundled"'),
        (CARD[CARD.index("files:") :], "bundled: {loader: load_diabetes}\n", 7, "bundled.loader must be"),
    ],
)  # fmt: skip
def test_message_names_a_card_fault_once_with_its_line(here, old, new, line, message):
    with_card(old, new)
    head, *faults = refused("validate", "small.yaml").splitlines()
    assert head == 'small.yaml:2: the card of "mine.yaml" is wrong:'
    [fault] = faults
    assert fault.startswith(f"  mine.yaml:{line}: ") and message in fault


def test_labels_yes_and_no_are_labels(here):
    with_card("positive: 1", "positive: yes")
    with_rows((",0\n", ",no\n"), (",1\n", ",yes\n"))
    assert probcal("fetch", "small.yaml").exit_code == 0


# --- the data ------------------------------------------------------------------------------------


@pytest.mark.parametrize("only", ["0", "1"])
def test_message_names_the_file_of_a_single_class(here, only):
    with_rows((",0\n", f",{only}\n"), (",1\n", f",{only}\n"))
    assert refused("fetch", "small.yaml") == (
        f"mine/mine.csv: mine: column 'y' holds only the label '{only}'; two classes are needed"
    )


@pytest.mark.parametrize("blank", ["", "?", " "])
def test_message_names_the_line_of_the_first_missing_label(here, blank):
    with_rows(("3,x,0", f"3,x,{blank}"), ("5,x,0", f"5,x,{blank}"))
    said = refused("fetch", "small.yaml")
    assert said.startswith("mine/mine.csv:3: mine: 2 rows have no label in column 'y'")
    assert "set drop_unlabelled on the card" in said


@pytest.mark.parametrize("word", ["NaN", "nan", "NA", "null", "None"])
def test_a_label_that_means_missing_elsewhere_is_rejected(here, word):
    with_rows(("3,x,0", f"3,x,{word}"))
    assert refused("fetch", "small.yaml").startswith(f"mine/mine.csv: mine: 1 rows have the label '{word}'")


def test_message_names_the_file_line_of_a_non_numeric_value(here):
    with_card("delimited\n", 'delimited\n    header: true\n    comment: "#"\n')
    Path("mine/mine.csv").write_text("# by hand\na,b,y\n\n" + "\n".join(ROWS).replace("3,x", "three,x"))
    assert refused("fetch", "small.yaml") == (
        "mine/mine.csv:6: mine: column 'a' is numeric on the card, but row 3 holds 'three'"
    )


def test_message_names_the_faults_of_several_data_sets(here):
    Path("small.yaml").write_text(CONFIG.replace("[mine.yaml]", "[mine.yaml, yours.yaml]"))
    Path("yours.yaml").write_text(CARD.replace("name: mine\n", "name: yours\nfolder: mine\n"))
    with_rows(("3,x,0", "3,x,?"))
    lines = refused("fetch", "small.yaml").splitlines()
    assert [line[:22] for line in lines] == ["mine/mine.csv:3: mine:", "mine/mine.csv:3: yours"]


def test_message_for_an_unwritable_cache_names_the_remedy(here, monkeypatch):
    monkeypatch.setenv("PROBCAL_CACHE_DIR", "small.yaml")
    said = refused("fetch", "small.yaml")
    assert said.startswith("mine: cannot be kept in the cache small.yaml")
    assert said.endswith("choose another folder with PROBCAL_CACHE_DIR")
