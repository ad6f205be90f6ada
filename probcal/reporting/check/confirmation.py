"""Variants chosen by the printed digits of some data sets, and confirmed on those of the others.

The best of many variants agrees with the numbers that chose it, also where it agrees by luck. The numbers of other data
sets tell the two apart. Only data sets on the paper's own split count, since only these can bring back digits.
"""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from probcal.errors import ProbcalError
from probcal.metrics.metric import INFINITY
from probcal.metrics.registry import metric_named
from probcal.papers.bands import difference_in_units
from probcal.papers.check.agreement import measured_number
from probcal.papers.check.findings import LARGEST_DISTANCE
from probcal.reporting.check.audit import NumberPair, Ranking, audit
from probcal.reporting.grid import Columns, Grid, Text, group_by, markdown, number_tables, table_of
from probcal.store.folder import Store


class TooFewDataSetsError(ProbcalError):
    """Signal that no published column has variants on more data sets than those to score on."""


@dataclass(frozen=True)
class Score:
    """Hold how near a variant comes to the printed digits."""

    identical: int
    """Numbers with the printed digits."""
    compared: int
    median: float
    """Median units of the last printed digit. A number counts ``LARGEST_DISTANCE`` units at most."""

    @property
    def key(self) -> tuple[int, float]:
        """Return what scores are sorted by. The best comes first."""
        return -self.identical, self.median


@dataclass(frozen=True)
class Choice:
    """Hold the variant chosen on the ``scored_datasets``, and how it does on the ``other_datasets``."""

    scored_datasets: tuple[str, ...]
    other_datasets: tuple[str, ...]
    best_variant: str
    """Variant with the best score. The first of several, by their order in the experiment."""
    n_tied: int
    """Number of variants that share that score, itself included."""
    score: Score
    confirmation_score: Score
    rank: int
    """Rank of the chosen variant among all on the others. It counts from 1, and ties share the best rank."""
    average: float
    """Numbers of the others with the printed digits, mean of all variants: what a variant chosen at random has."""


def pair_units(pair: NumberPair) -> float:
    """Return the units of the last printed digit between the two numbers."""
    table, key = pair.paper.tables[pair.metric], (pair.dataset, *pair.paper.columns[pair.column])
    return abs(difference_in_units(measured_number(pair.summary.values), pair.published, table.printed_decimals[key]))


def score_numbers(numbers: Iterable[NumberPair]) -> Score:
    distances = [min(pair_units(pair), LARGEST_DISTANCE) for pair in numbers]
    return Score(distances.count(0), len(distances), statistics.median(distances))


def numbers_on_published_splits(ranking: Ranking) -> list[NumberPair]:
    """Return the counted numbers of data sets on the paper's own split."""
    return [pair for pair in ranking.common_numbers if pair.summary.is_published_split]


def choose_variants(numbers: Sequence[NumberPair], n_scored: int) -> list[Choice]:
    """Return one choice for each set of ``n_scored`` data sets, with the others to confirm it on."""
    variants = group_by(numbers, lambda pair: pair.variant)
    datasets = list(dict.fromkeys(pair.dataset for pair in numbers))
    return [_choose_variant(variants, datasets, subset) for subset in itertools.combinations(datasets, n_scored)]


def _choose_variant(variants: dict[str, list[NumberPair]], datasets: list[str], subset: tuple[str, ...]) -> Choice:
    scores = {name: score_numbers(pair for pair in group if pair.dataset in subset) for name, group in variants.items()}
    rest = {
        name: score_numbers(pair for pair in group if pair.dataset not in subset) for name, group in variants.items()
    }
    best = min(scores, key=lambda name: scores[name].key)
    return Choice(
        scored_datasets=subset,
        other_datasets=tuple(name for name in datasets if name not in subset),
        best_variant=best,
        n_tied=sum(result.key == scores[best].key for result in scores.values()),
        score=scores[best],
        confirmation_score=rest[best],
        rank=1 + sum(result.key < rest[best].key for result in rest.values()),
        average=statistics.fmean(result.identical for result in rest.values()),
    )


_RULE = f"""\
Variants by the printed digits, on data sets with the paper's own split. A variant is scored by the numbers with the
printed digits, then by the median units of the last digit (at most {LARGEST_DISTANCE:g} each). \
Each choice of data sets has its
best variant. Its digits on the other data sets stand beside those of a variant chosen at random.
"""


def confirmation_text(*stores: Store, scored: int) -> str:
    """Return all choices of ``scored`` data sets for each published column, as Markdown.

    Raises TooFewDataSetsError, and what ``audit`` raises.
    """
    columns = {ranking.title: (ranking, numbers_on_published_splits(ranking)) for ranking in audit(stores).columns}
    largest = max((_count_datasets(numbers) for _, numbers in columns.values()), default=0)
    usable_columns = {title: column for title, column in columns.items() if _count_datasets(column[1]) > scored}
    if not usable_columns:
        raise TooFewDataSetsError(
            f"--confirm {scored} needs variants on at least {scored + 1} data sets with the paper's own split, and "
            f"there are {largest}; name fewer data sets to score on, or run more"
        )
    grids = [
        grid
        for title, (ranking, numbers) in usable_columns.items()
        for grid in (_units_grid(title, ranking, numbers), _choice_grid(title, choose_variants(numbers, scored)))
    ]
    return _RULE + "\n" + markdown(f"Chosen on {scored} data sets, confirmed on the others", number_tables(grids))


def _count_datasets(numbers: Sequence[NumberPair]) -> int:
    return len({pair.dataset for pair in numbers})


def _units_grid(title: str, ranking: Ranking, numbers: list[NumberPair]) -> Grid:
    metrics = [metric_named(metric).short for metric in ranking.settings[0].metric_counts]
    datasets = list(dict.fromkeys(pair.dataset for pair in numbers))
    variants = group_by(numbers, lambda pair: pair.variant)
    scores = {name: score_numbers(group) for name, group in variants.items()}
    rows = []
    for name in sorted(variants, key=lambda name: scores[name].key):
        dataset_pairs = group_by(variants[name], lambda pair: pair.dataset)
        units = [
            [f"{pair_units(pair):.0f}".replace("inf", INFINITY) for pair in dataset_pairs[dataset]]
            for dataset in datasets
        ]
        texts = [Text(" / ".join(dataset_units)) for dataset_units in units]
        rows.append([Text(name), Text(_share_text(scores[name])), Text(f"{scores[name].median:g}"), *texts])
    explanation = f"units of the last printed digit, {' / '.join(metrics)}."
    return Grid(title, explanation, ["variant", "digits", "median", *datasets], rows)


def _choice_grid(title: str, choices: list[Choice]) -> Grid:
    columns: Columns[Choice] = [
        ("scored on", lambda choice: ", ".join(choice.scored_datasets)),
        ("best", lambda one: Text(one.best_variant, "" if one.n_tied == 1 else f" and {one.n_tied - 1} tied")),
        ("digits there", lambda choice: _share_text(choice.score)),
        ("confirmed on", lambda choice: ", ".join(choice.other_datasets)),
        ("digits there", lambda choice: _share_text(choice.confirmation_score)),
        ("at random", lambda choice: f"{choice.average:.1f}"),
        ("place", lambda choice: f"{choice.rank}"),
    ]
    mean = statistics.fmean(choice.confirmation_score.identical for choice in choices)
    average = statistics.fmean(choice.average for choice in choices)
    note = f"mean digits on the others: {mean:.1f} for the chosen variant, {average:.1f} for one at random."
    return table_of(title, "the best variant of each choice of data sets, on the others.", columns, choices, [note])


def _share_text(score: Score) -> str:
    return f"{score.identical}/{score.compared}"
