"""Test ``probcal audit --confirm``: the best variant of some data sets is scored on the others."""

from __future__ import annotations

import pytest

from probcal.papers.published import PublishedPaper
from probcal.reporting.check.audit import audit
from probcal.reporting.check.confirmation import (
    choose_variants,
    confirmation_text,
    numbers_on_published_splits,
    score_numbers,
)
from probcal.store.folder import Store
from tests.commands import probcal, refused

PAPER = PublishedPaper.read("langford-zadrozny-2005")
METRICS = ("cxe", "rms", "auc")
UNIT = 0.001
FOUR = ("adult", "coil", "liver", "sick")


@pytest.fixture
def made(small):
    """Return ``made({(data set, variant): units, ...})``: NB's published numbers, increased by ``units``.

    Every data set has one fixed split, except those of ``random``.
    """

    def make(cells: dict[tuple[str, str], float], random: tuple[str, ...] = ()) -> Store:
        def numbers(row, units):
            return {metric: PAPER.number(row, "NB", "sigmoid", metric) + units * UNIT for metric in METRICS}

        found = {
            (row, f"{variant}.direct"): [numbers(row, units)] * (2 if row in random else 1)
            for (row, variant), units in cells.items()
        }
        return small(
            metrics=METRICS, paper="langford-zadrozny-2005", counterpart=("NB", "sigmoid"),
            datasets={row: len(of) for (row, _), of in found.items()},
            columns=tuple(dict.fromkeys(column for _, column in found)),
            splits={row: "holdout" if row in random else "rows" for row, _ in found},
        ).write(found)  # fmt: skip

    return make


def numbers_of(store: Store):
    [ranking] = audit([store]).columns
    return numbers_on_published_splits(ranking)


def test_chosen_variant_is_confirmed_on_the_other_data_sets(made):
    right, lucky = dict.fromkeys(((row, "right") for row in FOUR), 0.2), {("adult", "lucky"): 0}
    lucky |= {(row, "lucky"): 7 for row in FOUR[1:]}
    right["adult", "right"] = 1
    found = {one.scored_datasets: one for one in choose_variants(numbers_of(made(right | lucky)), 1)}
    assert {one.best_variant for scored, one in found.items() if scored != ("adult",)} == {"right/direct"}
    chosen = found["adult",]
    assert (chosen.best_variant, chosen.other_datasets) == ("lucky/direct", FOUR[1:])
    assert (chosen.score.identical, chosen.confirmation_score.identical, chosen.confirmation_score.median) == (3, 0, 7)
    assert (chosen.rank, chosen.average) == (2, 4.5)


def test_every_subset_of_the_given_size_is_a_choice(made):
    numbers = numbers_of(made({(row, variant): 0 for row in FOUR for variant in "ab"}))
    assert [len(choose_variants(numbers, scored)) for scored in (1, 2, 3)] == [4, 6, 4]
    assert {(one.best_variant, one.n_tied, one.rank) for one in choose_variants(numbers, 2)} == {("a/direct", 2, 1)}


def test_score_uses_digits_then_median_with_limit_ten(made):
    cells = {("adult", "a"): 60, ("adult", "b"): 30, ("coil", "a"): 0, ("coil", "b"): 1}
    numbers = numbers_of(made(cells))
    of_a, of_b = (score_numbers(one for one in numbers if one.variant == f"{name}/direct") for name in "ab")
    assert (of_a.identical, of_a.compared, of_a.median) == (3, 6, 5)
    assert (of_b.identical, of_b.median) == (0, 5.5)
    assert of_a.key < of_b.key


def test_data_sets_with_random_splits_are_left_out(made):
    store = made({(row, variant): 0 for row in FOUR for variant in "ab"}, random=("liver", "sick"))
    assert {one.dataset for one in numbers_of(store)} == {"adult", "coil"}


def test_command_shows_units_per_data_set_and_mean_of_choices(made):
    store = made({(row, "a"): 0 for row in FOUR} | {(row, "b"): 2 for row in FOUR})
    text = probcal("audit", store.folder, "--confirm", "3").stdout
    assert text == confirmation_text(store, scored=3)
    lines = [[part.strip() for part in line.strip("|").split("|")] for line in text.splitlines()]
    assert ["b/direct", "0/12", "2", *["2 / 2 / 2"] * 4] in lines
    assert ["adult, coil, liver", "a/direct", "9/9", "sick", "3/3", "1.5", "1"] in lines
    assert "mean digits on the others: 3.0 for the chosen variant, 1.5 for one at random" in text


def test_too_few_data_sets_are_rejected_with_advice(made):
    store = made({(row, variant): 0 for row in FOUR for variant in "ab"})
    assert "at least 5 data sets with the paper's own split, and there are 4" in refused(
        "audit", store.folder, "--confirm", "4"
    )
    assert "leave --format and --cells out" in refused("audit", store.folder, "--confirm", "2", "--cells")
