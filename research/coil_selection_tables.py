"""Scores of the candidates of research/coil_selection.py, and the tables that it writes."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np
from tabulate import tabulate

from probcal.papers.published import PublishedPaper

Numbers = dict[tuple[str, str], tuple[float, ...]]
"""(candidate, column) -> RMS, CXE in bits and AUC."""
METRICS = ("rms", "cxe", "auc")
EXACT_COLUMNS = ("J48", "SigSVM", "NB", "SigNB", "Log", "BagJ48")
"""The columns that draw nothing."""
RANDOM_COLUMNS = ("ProbLog", "ProbJ48", "ProbNB", "ProbSVM")
UNIT = 0.001
"""The last digit that the paper prints."""
MOST_UNITS = 20.0
"""Units beyond which a number is no worse: it is wrong, and how much says little."""
SEED = 2005
N_CANDIDATES = 15
"""Number of candidates in the table."""
NOTE = """# Which inputs of COIL did Langford & Zadrozny (2005) use?

Written by `PROBCAL_WEKA_JAR=.../weka-3.4.1/weka.jar python -m research.coil_selection --data-dir DIR`.

{n} candidates, each a subset of the 85 inputs. Of the six columns that draw nothing, three choose ({score}; drawn with
the seed {seed}), and the other three confirm ({confirm}). The columns are halved and not the single numbers, because
RMS, CXE and AUC of a column come from the same predictions. A distance is the mean difference from the printed
numbers, in units of the last printed digit (.001), and no number counts for more than {most:.0f}. `J48` is one leaf for
most candidates and then tells nothing.

This is post hoc. All columns were seen before the halves were drawn. The candidates without PBYSTAND and another input
were added because the one without PBYSTAND came near.
"""
HALVES = """## Every other choice of the half

The six columns have 20 halves. Each of them chooses a candidate, and its other half confirms. The means are over the
20 halves. A choice pays only if the chosen candidates are confirmed better than `{default}`, the inputs of the card
`coil-selected`. These were not chosen here. They were found earlier among about 25 subsets, with all numbers in view.
The {n_random} random subsets show how near a choice comes by chance.

Chosen: {chosen}.
"""
SUBSETS = """## The numbers

RMS / CXE (bits) / AUC. `--drawn` adds the columns that draw, which choose nothing.
"""


def published_numbers(column: str) -> tuple[float, ...]:
    """Return RMS, CXE and AUC of COIL as the paper prints them."""
    paper = PublishedPaper.read("langford-zadrozny-2005")
    learner, method = paper.columns[column]
    return tuple(float(paper.tables[metric].numbers["coil", learner, method]) for metric in METRICS)


def distance(numbers: Numbers, candidate: str, columns: Iterable[str]) -> float:
    """Return the mean distance of a candidate's numbers from the printed ones, in units of the last digit."""
    return statistics.mean(
        min(abs(value - reference) / UNIT, MOST_UNITS)
        for column in columns
        for value, reference in zip(numbers[candidate, column], published_numbers(column), strict=True)
    )


def halves() -> list[tuple[str, ...]]:
    """Return every choice of half of the exact columns."""
    return list(combinations(EXACT_COLUMNS, len(EXACT_COLUMNS) // 2))


def random_half() -> tuple[str, ...]:
    """Return the half of the exact columns that chooses, drawn with the seed."""
    return halves()[int(np.random.default_rng(SEED).integers(len(halves())))]


def other_half(half: Sequence[str]) -> tuple[str, ...]:
    """Return the half of the exact columns that confirms."""
    return tuple(column for column in EXACT_COLUMNS if column not in half)


def best_candidate(numbers: Numbers, candidates: Iterable[str]) -> str:
    """Return the candidate that the drawn half finds best."""
    return min(candidates, key=lambda name: distance(numbers, name, random_half()))


def tables(numbers: Numbers, input_sets: dict[str, list[str]], default: str) -> str:
    """Return the page of tables. ``input_sets`` is candidate -> inputs, all with numbers of the exact columns."""
    half, best = random_half(), best_candidate(numbers, input_sets)
    note = NOTE.format(
        n=len(input_sets), seed=SEED, score=", ".join(half), confirm=", ".join(other_half(half)), most=MOST_UNITS
    )
    return "\n".join([
        note,
        _candidates(numbers, input_sets, default),
        "",
        _halves(numbers, input_sets, default),
        "",
        SUBSETS,
        _columns(numbers, list(dict.fromkeys([default, best]))),
        "",
    ])  # fmt: skip


def _candidates(numbers: Numbers, input_sets: dict[str, list[str]], default: str) -> str:
    half = random_half()
    score, check = (
        {name: distance(numbers, name, columns) for name in input_sets} for columns in (half, other_half(half))
    )  # fmt: skip
    order, check_order = (sorted(input_sets, key=distances.__getitem__) for distances in (score, check))
    random = [name for name in order if name.startswith("random")][:1]
    names = order[:N_CANDIDATES] + [name for name in (default, *random) if name not in order[:N_CANDIDATES]]
    rows = [
        [order.index(name) + 1, name, f"{score[name]:.2f}", f"{check[name]:.2f}", check_order.index(name) + 1,
         " ".join(input_sets[name])]
        for name in names
    ]  # fmt: skip
    header = ["place", "candidate", "distance, choosing", "distance, confirming", "place, confirming", "inputs"]
    return tabulate(rows, header, "github", disable_numparse=True)


def _halves(numbers: Numbers, input_sets: dict[str, list[str]], default: str) -> str:
    random = [name for name in input_sets if name.startswith("random")]
    all_choices, random_choices = (
        [_choice(numbers, names, half) for half in halves()] for names in (list(input_sets), random)
    )
    picks = [name for name, _, _ in all_choices]
    ranking = sorted(dict.fromkeys(picks), key=picks.count, reverse=True)
    text = ", ".join(f"{name} ({picks.count(name)})" for name in ranking)
    rows = [["chosen", *_means(all_choices)], ["chosen from the random subsets", *_means(random_choices)]]
    rows.append([default, *_means([_choice(numbers, [default], half) for half in halves()])])
    header = ["", "distance, choosing", "distance, confirming"]
    return HALVES.format(chosen=text, n_random=len(random), default=default) + "\n" + tabulate(
        rows, header, "github", disable_numparse=True
    )  # fmt: skip


def _choice(numbers: Numbers, names: list[str], half: tuple[str, ...]) -> tuple[str, float, float]:
    """Return the candidate that a half chooses, with its distances in this half and in the other."""
    name = min(names, key=lambda candidate: distance(numbers, candidate, half))
    return name, distance(numbers, name, half), distance(numbers, name, other_half(half))


def _means(choices: list[tuple[str, float, float]]) -> list[str]:
    return [
        f"{statistics.mean(values):.2f}"
        for values in ([choice[1] for choice in choices], [choice[2] for choice in choices])
    ]


def _columns(numbers: Numbers, names: list[str]) -> str:
    columns = [
        *EXACT_COLUMNS,
        *(column for column in RANDOM_COLUMNS if any((name, column) in numbers for name in names)),
    ]
    rows = [
        [column, _text(published_numbers(column)), *(_text(numbers.get((name, column), ())) for name in names)]
        for column in columns
    ]
    return tabulate(rows, ["column", "published", *names], "github", disable_numparse=True)


def _text(numbers: Iterable[float]) -> str:
    return " / ".join("\N{INFINITY}" if np.isinf(number) else f"{number:.3f}".lstrip("0") for number in numbers)
