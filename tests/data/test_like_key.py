"""Test the keys ``like`` and ``reading_of``, by which a card inherits from another card."""

from __future__ import annotations

from pathlib import Path

import pytest

from probcal.data.card import find_card, read_card
from probcal.errors import FileProblems


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
