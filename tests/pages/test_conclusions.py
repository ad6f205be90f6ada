"""Check docs/conclusions.csv, the pages and the defaults against results/arena-ensembles."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from benchmarks.score_rule import rule
from probcal.try_table import choices
from research.arena_ensembles import FAMILIES, MAPS, PRIMARY, verdicts
from research.arena_page import PAGES, PageNumbers, fill
from research.arena_rule import chosen_rule

ROOT = Path(__file__).parents[2]
with (ROOT / "docs" / "conclusions.csv").open(encoding="utf-8", newline="") as file:
    CONCLUSIONS = list(csv.DictReader(file))


@pytest.fixture(scope="module")
def numbers():
    return PageNumbers(ROOT / "results" / "arena-ensembles")


@pytest.fixture(scope="module")
def study(numbers):
    return numbers.study


def test_each_conclusion_follows_from_the_results(study):
    wrong = []
    for row in CONCLUSIONS:
        found = verdicts(study.comparison(row["comparison"]))[FAMILIES[row["learner"]], row["settings"]]
        if found != row["better"]:
            wrong.append((row, found))
    assert wrong == []


@pytest.mark.parametrize("row", CONCLUSIONS, ids=lambda row: f"{row['comparison']}-{row['learner']}-{row['settings']}")
def test_pages_state_the_conclusion(row):
    for page in row["pages"].split():
        text = re.sub(r"<!--.*?-->", "", (ROOT / page).read_text(encoding="utf-8"))
        assert row["words"] in " ".join(text.replace("**", "").split()), page


def test_pages_have_the_numbers_of_the_results(numbers):
    texts = {page: (ROOT / page).read_text(encoding="utf-8") for page in PAGES}
    assert [page for page, text in texts.items() if fill(text, numbers) != text] == []


def test_rule_is_the_choice_of_one_half_of_the_tables(numbers):
    chosen = chosen_rule(numbers.frame)
    assert {key: rule(*key) for key in chosen} == chosen


@pytest.mark.parametrize("classes", ["two", "several"])
def test_try_runs_each_map_that_helps_most_learners(study, classes):
    defaults = choices.methods((), False, 20, (500,) * (2 if classes == "two" else 3), [0.001, 0.999])
    for name in MAPS[classes]:
        means = [
            [of[metric].mean for metric in PRIMARY]
            for (*_, kind, method), of in study.maps["direct"].items()
            if (kind, method) == (classes, name)
        ]
        if sum(max(pair) < 0 for pair in means) > len(means) / 2:
            assert name in defaults


@pytest.mark.parametrize(("n_classes", "classes"), [(2, "two"), (3, "several")])
def test_reason_of_the_maps_of_try_has_the_numbers_of_the_study(study, n_classes, classes):
    reason = choices.reason_of_methods(n_classes)
    for method in MAPS[classes]:
        one = study.maps["direct"][FAMILIES["logistic"], "searched", classes, method]["bounded_log_loss"]
        assert f"{-1000 * one.mean:.1f}" in reason
        assert f"on {one.n} tables" in reason
