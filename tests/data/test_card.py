"""Test that a card with a fault is rejected with its line and the remedy, and that a card inherits from another."""

from __future__ import annotations

from pathlib import Path

import pytest

from probcal.data.card import find_card, read_card
from probcal.errors import DataError, FileProblems

SOUND = """\
name: mine
title: Mine
columns:
  a: numeric
  b01..b03: nominal
  y: target
positive: 1
split: {kind: holdout, train_fraction: 0.66}
expect:
  rows: 10
  columns: 4
  classes: {0: 7, 1: 3}
files:
  - format: delimited
    rename: {a: {x: 1}}
    files:
      - {name: mine.csv}
"""


def problems(tmp_path, old: str, new: str) -> list[tuple[int, str]]:
    assert SOUND.count(old) == 1
    path = tmp_path / "mine.yaml"
    path.write_text(SOUND.replace(old, new))
    with pytest.raises(FileProblems) as caught:
        read_card(path)
    return [(problem.line, problem.message) for problem in caught.value.problems]


def test_a_sound_card_is_read(tmp_path):
    (tmp_path / "mine.yaml").write_text(SOUND)
    card = read_card(tmp_path / "mine.yaml")
    assert list(card.columns) == ["a", "b01", "b02", "b03", "y"]
    assert (card.target, card.positive, card.expect.classes) == ("y", ["1"], {"0": 7, "1": 3})


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("name: mine\n", "name: yours\n", 1, 'the name must be that of the file, "mine"'),
        ("  y: target\n", "  y: nominal\n", 3, "columns: exactly one must be the target, 0 are"),
        ("  a: numeric\n", "  a: target\n", 3, "columns: exactly one must be the target, 2 are"),
        ("positive: 1", "positive: yes!", 9, 'the positive label "yes!" is not among [\'0\', \'1\']'),
        ("rows: 10", "rows: 11", 9, "the classes add up to 10 of 11 rows"),
        ("holdout, train_fraction: 0.66", "standard, train: 10", 9, "10 training rows of 10 leave none to test"),
        ("rename: {a:", "rename: {b04:", 13, 'rename: the card has no column "b04"; did you mean "b03"?'),
        ("  a: numeric\n", '  "*": numeric\n', 13, 'the column "*" needs a file with a header'),
        ("positive: 1\n", "", 1, 'the key "positive" is missing; name the labels that make y = 1, or say "task: multi'),
        ("positive: 1\n", "positive: 1\ntask: multiclass\n", 7, 'with "task: multiclass" every label is a class of'),
        ("positive: 1\n", "task: multiclass\n", 9, "a multiclass card needs three labels, the classes are ['0', '1']"),
        ("positive: 1\n", "task: multi\n", 7,
         'task must be "binary", "multiclass" or "multilabel", not \'multi\''),
        ("positive: 1\n", "task: multilabel\n", 7, 'task: only a "generator" makes rows of several labels'),
        ("title: Mine", "titel: Mine", 2, 'unknown key "titel"; did you mean "title"?'),
        ("{name: mine.csv}", "{name: mine.csv, labels: {name: t, keys: id}}", 17, 'unknown key "keys"'),
        ("rename: {a: {x: 1}}", 'separator: "::"', 15, "separator"),
        ("rename: {a: {x: 1}}", "first_rows: 0", 15, "first_rows"),
        ("split: {", "missing_codes: {c: [9]}\nsplit: {", 8, 'missing_codes: the card has no column "c"'),
        ("positive: 1", "positive: 1\nno_openml: no\nopenml: {id: 1, version: 1, name: m, target: y}", 8,
         '"openml" or "no_openml", not both'),
    ],
)  # fmt: skip
def test_message_names_the_fault_and_its_line(tmp_path, old, new, line, message):
    found = problems(tmp_path, old, new)
    assert any(number == line and message in text for number, text in found), found


def test_a_multiclass_card_names_no_positive_label(tmp_path):
    several = SOUND.replace("positive: 1\n", "task: multiclass\n").replace("{0: 7, 1: 3}", "{a: 5, b: 3, c: 2}")
    (tmp_path / "mine.yaml").write_text(several)
    card = read_card(tmp_path / "mine.yaml")
    assert (card.task, card.positive) == ("multiclass", [])


def test_the_digest_of_a_binary_card_never_changes():
    # With another digest, every data set in a user's cache is fetched again
    assert read_card(find_card("wine-first")).digest == "40859e47254e13b5"


def test_message_for_an_unknown_name_suggests_the_nearest():
    with pytest.raises(DataError, match=r'there is no data set "adlut"; did you mean "adult"\?'):
        find_card("adlut")


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "mine.yaml"
    path.write_text("name: mine\ntitle: Mine\n" + text)
    return path


def the_problem(tmp_path: Path, text: str) -> tuple[int, str]:
    with pytest.raises(FileProblems) as caught:
        read_card(written(tmp_path, text))
    [problem] = caught.value.problems
    return problem.line, problem.message


def test_a_card_inherits_keys_that_it_does_not_state(tmp_path):
    card = read_card(written(tmp_path, "like: adult\nsplit: {kind: holdout, train_fraction: 0.5}\n"))
    adult = read_card(find_card("adult"))
    assert (card.name, card.folder, card.split.kind) == ("mine", "adult", "holdout")
    assert (card.files, card.openml, card.columns) == (adult.files, adult.openml, adult.columns)


def test_a_multiclass_card_does_not_inherit_a_positive_label(tmp_path):
    card = read_card(written(tmp_path, "like: digits-odd\ntask: multiclass\n"))
    assert (card.task, card.positive, len(card.expect.classes)) == ("multiclass", [], 10)


def test_a_binary_card_like_multiclass_needs_a_positive_label(tmp_path):
    text = "like: iris\ntask: binary\n"
    assert "positive" in the_problem(tmp_path, text)[1]
    assert read_card(written(tmp_path, text + "positive: virginica\n")).positive == ["virginica"]


def test_reading_of_does_not_change_the_digest(tmp_path):
    plain = read_card(written(tmp_path, "like: sick\n")).digest
    assert read_card(written(tmp_path, "like: sick\nreading_of: sick\n")).digest == plain


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("like: adutl\n", 3, 'like: there is no other shipped data set "adutl"; did you mean "adult"?'),
        ("like: sick-all\n", 3, 'like: "sick-all" has this key itself; write "like: sick"'),
        ("like: coil\nreading_of: colt\n", 4, 'no other shipped data set "colt"; did you mean "coil"?'),
        ("like: coil\npositve: 0\n", 4, 'unknown key "positve"; did you mean "positive"?'),
    ],
)
def test_an_unknown_like_or_reading_of_is_rejected(tmp_path, text, line, message):
    found, said = the_problem(tmp_path, text)
    assert found == line and message in said
