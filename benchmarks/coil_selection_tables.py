"""Scores of the candidates of benchmarks/coil_selection.py, and the tables that it writes."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np
from tabulate import tabulate

from probcal.papers.published import Published

Numbers = dict[tuple[str, str], tuple[float, ...]]
"""(candidate, column) -> RMS, CXE in bits and AUC."""
METRICS = ("rms", "cxe", "auc")
EXACT = ("J48", "SigSVM", "NB", "SigNB", "Log", "BagJ48")
"""The columns that draw nothing."""
DRAWN = ("ProbLog", "ProbJ48", "ProbNB", "ProbSVM")
UNIT = 0.001
"""The last digit that the paper prints."""
MOST = 20.0
"""Units beyond which a number is no worse: it is wrong, and how much says little."""
SEED = 2005
TOP = 15
"""Number of candidates in the table."""
NOTE = """# Which inputs of COIL did Langford & Zadrozny (2005) use?

Written by `PROBCAL_WEKA_JAR=.../weka-3.4.1/weka.jar python -m benchmarks.coil_selection --data-dir DIR`.

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


def published(column: str) -> tuple[float, ...]:
    """Return RMS, CXE and AUC of COIL as the paper prints them."""
    paper = Published.read("langford-zadrozny-2005")
    learner, method = paper.columns[column]
    return tuple(float(paper.tables[metric].numbers["coil", learner, method]) for metric in METRICS)


def distance(numbers: Numbers, candidate: str, columns: Iterable[str]) -> float:
    """Return the mean distance of a candidate's numbers from the printed ones, in units of the last digit."""
    return statistics.mean(
        min(abs(found - printed) / UNIT, MOST)
        for column in columns
        for found, printed in zip(numbers[candidate, column], published(column), strict=True)
    )


def halves() -> list[tuple[str, ...]]:
    """Return every choice of half of the exact columns."""
    return list(combinations(EXACT, len(EXACT) // 2))


def drawn_half() -> tuple[str, ...]:
    """Return the half of the exact columns that chooses, drawn with the seed."""
    return halves()[int(np.random.default_rng(SEED).integers(len(halves())))]


def others(half: Sequence[str]) -> tuple[str, ...]:
    """Return the half of the exact columns that confirms."""
    return tuple(column for column in EXACT if column not in half)


def best_candidate(numbers: Numbers, tried: Iterable[str]) -> str:
    """Return the candidate that the drawn half finds best."""
    return min(tried, key=lambda name: distance(numbers, name, drawn_half()))


def tables(numbers: Numbers, tried: dict[str, list[str]], default: str) -> str:
    """Return the page of tables. ``tried`` is candidate -> inputs, all with numbers of the exact columns."""
    half, best = drawn_half(), best_candidate(numbers, tried)
    note = NOTE.format(n=len(tried), seed=SEED, score=", ".join(half), confirm=", ".join(others(half)), most=MOST)
    return "\n".join([
        note,
        _candidates(numbers, tried, default),
        "",
        _halves(numbers, tried, default),
        "",
        SUBSETS,
        _columns(numbers, list(dict.fromkeys([default, best]))),
        "",
    ])  # fmt: skip


def _candidates(numbers: Numbers, tried: dict[str, list[str]], default: str) -> str:
    half = drawn_half()
    score, confirm = (
        {name: distance(numbers, name, columns) for name in tried} for columns in (half, others(half))
    )  # fmt: skip
    order, confirmed = (sorted(tried, key=by.__getitem__) for by in (score, confirm))
    random = [name for name in order if name.startswith("random")][:1]
    shown = order[:TOP] + [name for name in (default, *random) if name not in order[:TOP]]
    rows = [
        [order.index(name) + 1, name, f"{score[name]:.2f}", f"{confirm[name]:.2f}", confirmed.index(name) + 1,
         " ".join(tried[name])]
        for name in shown
    ]  # fmt: skip
    header = ["place", "candidate", "distance, choosing", "distance, confirming", "place, confirming", "inputs"]
    return tabulate(rows, header, "github", disable_numparse=True)


def _halves(numbers: Numbers, tried: dict[str, list[str]], default: str) -> str:
    random = [name for name in tried if name.startswith("random")]
    of_all, of_random = ([_chosen(numbers, names, half) for half in halves()] for names in (list(tried), random))
    picks = [name for name, _, _ in of_all]
    often = sorted(dict.fromkeys(picks), key=picks.count, reverse=True)
    chosen = ", ".join(f"{name} ({picks.count(name)})" for name in often)
    rows = [["chosen", *_means(of_all)], ["chosen from the random subsets", *_means(of_random)]]
    rows.append([default, *_means([_chosen(numbers, [default], half) for half in halves()])])
    header = ["", "distance, choosing", "distance, confirming"]
    return HALVES.format(chosen=chosen, n_random=len(random), default=default) + "\n" + tabulate(
        rows, header, "github", disable_numparse=True
    )  # fmt: skip


def _chosen(numbers: Numbers, names: list[str], half: tuple[str, ...]) -> tuple[str, float, float]:
    """Return the candidate that a half chooses, with its distances in this half and in the other."""
    name = min(names, key=lambda one: distance(numbers, one, half))
    return name, distance(numbers, name, half), distance(numbers, name, others(half))


def _means(found: list[tuple[str, float, float]]) -> list[str]:
    return [f"{statistics.mean(values):.2f}" for values in ([one[1] for one in found], [one[2] for one in found])]


def _columns(numbers: Numbers, names: list[str]) -> str:
    columns = [*EXACT, *(column for column in DRAWN if any((name, column) in numbers for name in names))]
    rows = [
        [column, _text(published(column)), *(_text(numbers.get((name, column), ())) for name in names)]
        for column in columns
    ]
    return tabulate(rows, ["column", "published", *names], "github", disable_numparse=True)


def _text(numbers: Iterable[float]) -> str:
    return " / ".join("\N{INFINITY}" if np.isinf(one) else f"{one:.3f}".lstrip("0") for one in numbers)
