"""A card may be like another, and another reading of it."""

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


def test_a_card_has_the_keys_of_the_one_that_it_is_like_but_for_its_own(tmp_path):
    card = read_card(written(tmp_path, "like: adult\nsplit: {kind: holdout, train_fraction: 0.5}\n"))
    adult = read_card(find_card("adult"))
    assert (card.name, card.folder, card.split.kind) == ("mine", "adult", "holdout")
    assert (card.files, card.openml, card.columns) == (adult.files, adult.openml, adult.columns)


def test_a_multiclass_card_may_be_like_a_binary_one_whose_positive_label_it_does_not_take_over(tmp_path):
    card = read_card(written(tmp_path, "like: digits-odd\ntask: multiclass\n"))
    assert (card.task, card.positive, len(card.expect.classes)) == ("multiclass", [], 10)


def test_a_binary_card_like_a_multiclass_one_needs_a_positive_label_of_its_own(tmp_path):
    text = "like: iris\ntask: binary\n"
    assert "positive" in the_problem(tmp_path, text)[1]
    assert read_card(written(tmp_path, text + "positive: virginica\n")).positive == ["virginica"]


def test_what_a_card_is_a_reading_of_changes_nothing_of_its_data(tmp_path):
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
def test_a_card_that_is_like_none_is_refused(tmp_path, text, line, message):
    found, said = the_problem(tmp_path, text)
    assert found == line and message in said
