"""A suggestion is made where it is likely right, and not otherwise."""

import pytest

from probcal.errors import did_you_mean

LEARNERS = ("tree", "linear_svm", "kernel_nb", "gaussian_nb", "logistic")


@pytest.mark.parametrize(
    ("word", "near"),
    [("logisitc", "logistic"), ("Tree", "tree"), ("LINEAR-SVM", "linear_svm"), ("svm", "linear_svm"),
     ("gauss", "gaussian_nb"), ("kernelnb", "kernel_nb")],
)  # fmt: skip
def test_a_slip_or_a_part_of_one_name_is_answered_with_that_name(word, near):
    assert did_you_mean(word, LEARNERS) == f'; did you mean "{near}"?'


@pytest.mark.parametrize("word", ["forest", "_nb", "nb", "", "x" * 10_000])
def test_a_word_near_to_none_or_part_of_several_is_not_answered(word):
    assert did_you_mean(word, LEARNERS) == ""


def test_nothing_known_gives_no_suggestion():
    assert did_you_mean("tree", ()) == ""
