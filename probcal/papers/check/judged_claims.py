"""Verdicts on a paper's claims, by the same rules for its own tables and for our results."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from probcal.analysis.rankings import critical_difference, p_of_friedman, rank_table
from probcal.metrics.registry import metric_named
from probcal.papers.bands import ROUNDING
from probcal.papers.check.comparison import LOG10_MARTINGALE, STEEPEST_GROWTH, largest_gap
from probcal.papers.check.findings import CheckedResults, Splits
from probcal.papers.claims import Claim
from probcal.papers.published import PublishedPaper
from probcal.store.summary import best_names

Verdict = Literal["supported", "not supported", "undecided"]
_EPSILON = 1e-9
_SIGNIFICANCE_LEVEL = 0.05
RANK_KINDS = ("ranked", "ranks_apart")


class ClaimNumbers(Protocol):
    """Provide the numbers that a claim is judged by."""

    def splits(self, dataset: str, column: str, metric: str, stage: int | None = None) -> Splits:
        """Return the splits of a published column, given by its title.

        The result is empty where it was not run or where its stages are not known.
        """

    def rounding(self, metric: str) -> float:
        """Return the largest rounding error of a number."""


@dataclass(frozen=True)
class PublishedNumbers:
    """Provide the numbers of the paper's own tables, as one split each."""

    paper: PublishedPaper

    def splits(self, dataset: str, column: str, metric: str, stage: int | None = None) -> Splits:
        if stage is not None:
            return {}
        number = self.paper.number(dataset, *self.paper.columns[column], metric)
        return {} if number is None else {0: number}

    def rounding(self, metric: str) -> float:
        return self.paper.tables[metric].rounding


@dataclass(frozen=True)
class MeasuredNumbers:
    """Provide our results. Of several rows or columns that stand for a published one, the first counts."""

    experiment: CheckedResults

    def splits(self, dataset: str, column: str, metric: str, stage: int | None = None) -> Splits:
        found = self.experiment.row_and_column(dataset, column)
        return self.experiment.splits(*found, metric, stage) if found else {}

    def rounding(self, metric: str) -> float:
        return 0.0


@dataclass(frozen=True)
class Tally:
    """Count how often a claim holds (``wins``), its contrary holds (``losses``), or neither (``ties``).

    ``not_run`` counts the entries without results.
    """

    wins: int
    losses: int
    ties: int
    not_run: int

    @property
    def known(self) -> int:
        return self.wins + self.losses + self.ties


@dataclass(frozen=True)
class ClaimVerdict:
    """Hold the verdict on a claim.

    ``tallies`` is metric -> tally, or ``""`` -> tally of all metrics together.
    """

    verdict: Verdict
    tallies: dict[str, Tally]
    said: str = ""
    """Our number, where the claim is about a single number."""


Outcome = Literal["win", "loss", "tie"]


def judge(claim: Claim, paper: PublishedPaper, numbers: ClaimNumbers) -> ClaimVerdict:
    """Judge a claim. Data sets without results leave it undecided where they could change the verdict."""
    datasets = _datasets(claim, paper)
    if claim.kind == "saves":
        return _judge_savings(claim, numbers, datasets)
    if claim.kind in RANK_KINDS:
        return _judge_ranks(claim, numbers, datasets)
    if claim.kind in _STREAM_OUTCOMES:
        return _judge_streams(claim, numbers, datasets)
    claim_outcomes = find_outcomes(claim, paper, numbers)
    tallies = {metric: _tally_outcomes(entries.values()) for metric, entries in claim_outcomes.items()}
    return judge_tallies(claim, tallies)


def _datasets(claim: Claim, paper: PublishedPaper) -> list[str]:
    return [name for name in claim.datasets or paper.titles if name not in claim.all_but]


def find_outcomes(
    claim: Claim, paper: PublishedPaper, numbers: ClaimNumbers
) -> dict[str, dict[tuple[str, str], Outcome | None]]:
    """Return metric -> (data set, metric) -> outcome, with None where nothing is known.

    Claims about all metrics together have the single key ``""``. Claims that do not count data sets (``saves``,
    ``gains``, ``grows_most``, ``ranked``, ``ranks_apart``) have no outcomes.
    """
    entries = {metric: [(dataset, metric) for dataset in _datasets(claim, paper)] for metric in claim.metrics}
    if claim.kind in ("best", "printed_best"):
        all_entries = [entry for group in entries.values() for entry in group]
        return {"": {entry: _best_outcome(claim, paper, numbers, *entry) for entry in all_entries}}
    if claim.kind not in _OUTCOMES:
        return {}
    outcome = _OUTCOMES[claim.kind]
    return {metric: {entry: outcome(claim, numbers, *entry) for entry in group} for metric, group in entries.items()}


def published_tallies(claim: Claim, paper: PublishedPaper, numbers: ClaimNumbers) -> dict[str, Tally]:
    """Return the tallies of the paper's own tables over the entries that we have, as ``ClaimVerdict`` has them.

    Together with ours, they tell whether the paper's own count comes back.
    """
    paper_outcomes = find_outcomes(claim, paper, PublishedNumbers(paper))
    return {
        metric: _tally_outcomes(
            paper_outcomes[metric][entry] for entry, outcome in entries.items() if outcome is not None
        )
        for metric, entries in find_outcomes(claim, paper, numbers).items()
    }


def published_rank_text(claim: Claim, paper: PublishedPaper, numbers: ClaimNumbers) -> str:
    """Return the mean ranks of the paper's own tables over the data sets that we have, in words.

    Empty for a claim that is not about ranks, and with fewer than two data sets.
    """
    if claim.kind not in RANK_KINDS:
        return ""
    datasets = [
        dataset
        for dataset in _datasets(claim, paper)
        if all(_common_means(claim, numbers, dataset, metric) for metric in claim.metrics)
    ]
    return _judge_ranks(claim, PublishedNumbers(paper), datasets).said


def judge_tallies(claim: Claim, tallies: dict[str, Tally]) -> ClaimVerdict:
    """Judge a claim of a kind that counts, as ``judge`` does."""
    if claim.kind == "gains_most":
        return ClaimVerdict(_judge_leads(list(tallies.values())), tallies)
    return ClaimVerdict(_combine_verdicts(_tally_verdict(claim, tally) for tally in tallies.values()), tallies)


# Outcomes of one data set


def _beats_outcome(claim: Claim, numbers: ClaimNumbers, dataset: str, metric: str) -> Outcome | None:
    """Compare the means over the common splits. A difference below the rounding of printed numbers is a tie."""
    a, b = _common_values(claim, numbers, dataset, metric)
    if not a:
        return None
    mean_a, mean_b = _mean(a), _mean(b)
    # Equality is asked first, because the difference of two infinite means is NaN.
    if mean_a == mean_b or abs(mean_a - mean_b) < ROUNDING:
        return "tie"
    return "win" if metric_named(metric).best([mean_a, mean_b]) == mean_a else "loss"


def _same_outcome(claim: Claim, numbers: ClaimNumbers, dataset: str, metric: str) -> Outcome | None:
    a, b = _common_values(claim, numbers, dataset, metric)
    if not a:
        return None
    mean_a, mean_b = _mean(a), _mean(b)
    return "win" if mean_a == mean_b or abs(mean_a - mean_b) <= claim.within + _EPSILON else "loss"


def _converges_outcome(claim: Claim, numbers: ClaimNumbers, dataset: str, metric: str) -> Outcome | None:
    early, late = (numbers.splits(dataset, claim.columns[0], metric, stage) for stage in (claim.after, None))
    if not early:
        return None
    return "win" if abs(_mean([*early.values()]) - _mean([*late.values()])) <= claim.within + _EPSILON else "loss"


def _infinite_outcome(claim: Claim, numbers: ClaimNumbers, dataset: str, metric: str) -> Outcome | None:
    values = numbers.splits(dataset, claim.columns[0], metric).values()
    return None if not values else "win" if 2 * sum(map(math.isinf, values)) >= len(values) else "loss"


def _finite_outcome(claim: Claim, numbers: ClaimNumbers, dataset: str, metric: str) -> Outcome | None:
    values = numbers.splits(dataset, claim.columns[0], metric).values()
    return None if not values else "loss" if any(map(math.isinf, values)) else "win"


_OUTCOMES: dict[str, Callable[[Claim, ClaimNumbers, str, str], Outcome | None]] = {
    "beats": _beats_outcome, "even": _beats_outcome, "gains_most": _beats_outcome,
    "same": _same_outcome, "infinite": _infinite_outcome, "finite": _finite_outcome, "converges": _converges_outcome,
}  # fmt: skip


def _gains_outcome(claim: Claim, numbers: ClaimNumbers, dataset: str) -> tuple[Outcome | None, str]:
    [metric], (base, protected) = claim.metrics, claim.columns
    base_splits, protected_splits = numbers.splits(dataset, base, metric), numbers.splits(dataset, protected, metric)
    rounding = 2 * numbers.rounding(metric) + numbers.rounding(LOG10_MARTINGALE)
    gap, n = largest_gap(base_splits, protected_splits, numbers.splits(dataset, protected, LOG10_MARTINGALE), rounding)
    return (None, "") if not n else ("win" if gap <= claim.within else "loss", f"misses by {gap:.1e} of it at most")


def _grows_most_outcome(claim: Claim, numbers: ClaimNumbers, dataset: str) -> tuple[Outcome | None, str]:
    starts = [*numbers.splits(dataset, claim.columns[0], STEEPEST_GROWTH).values()]
    if not starts:
        return None, ""
    low, high = claim.between
    text = ", ".join(f"begins after {_percent_text(start)} of the rows" for start in starts)
    return "win" if all(low - _EPSILON <= start <= high + _EPSILON for start in starts) else "loss", text


_STREAM_OUTCOMES = {"gains": _gains_outcome, "grows_most": _grows_most_outcome}


def _judge_streams(claim: Claim, numbers: ClaimNumbers, datasets: Sequence[str]) -> ClaimVerdict:
    outcomes = {dataset: _STREAM_OUTCOMES[claim.kind](claim, numbers, dataset) for dataset in datasets}
    tally = _tally_outcomes(outcome for outcome, _ in outcomes.values())
    text = "; ".join(f"{dataset} {text}" for dataset, (_, text) in outcomes.items() if text)
    return ClaimVerdict(_tally_verdict(claim, tally), {claim.metrics[0]: tally}, text)


def _best_outcome(
    claim: Claim, paper: PublishedPaper, numbers: ClaimNumbers, dataset: str, metric: str
) -> Outcome | None:
    """Return the outcome by the table of best methods: three decimals, a shared place counts. Needs all columns."""
    means = {title: _mean(list(numbers.splits(dataset, title, metric).values())) for title in paper.columns}
    if any(math.isnan(mean) for mean in means.values()):
        return None
    titles = claim.columns or paper.best_columns(dataset, metric)
    return "win" if best_names(means, metric) & set(titles) else "loss"


def _common_values(claim: Claim, numbers: ClaimNumbers, dataset: str, metric: str) -> tuple[list[float], list[float]]:
    a, b = (numbers.splits(dataset, title, metric, claim.after or None) for title in claim.columns)
    splits = sorted(a.keys() & b.keys())
    return [a[split] for split in splits], [b[split] for split in splits]


def _mean(values: Sequence[float]) -> float:
    if not values:
        return math.nan
    # As the tables print it: infinite as soon as one split is.
    return math.inf if any(map(math.isinf, values)) else statistics.fmean(values)


# Verdicts over all data sets


def _tally_outcomes(outcomes: Iterable[Outcome | None]) -> Tally:
    values = list(outcomes)
    return Tally(values.count("win"), values.count("loss"), values.count("tie"), values.count(None))


def _tally_verdict(claim: Claim, tally: Tally) -> Verdict:
    """Return "undecided" if data sets without results could change the verdict, otherwise the verdict."""
    n_needed, n_unknown = claim.required_count(tally.known + tally.not_run), tally.not_run
    if claim.kind != "even":
        return _verdict_of_flags([tally.wins + extra >= n_needed for extra in (0, n_unknown)])
    return _verdict_of_flags(
        _p_of_sign_test(tally.wins + wins, tally.losses + losses) >= _SIGNIFICANCE_LEVEL
        for wins in range(n_unknown + 1)
        # Each data set without a result may be a win, a loss or a tie.
        for losses in range(n_unknown + 1 - wins)
    )


def _judge_leads(tallies: Sequence[Tally]) -> Verdict:
    first, *rest = tallies
    leads = [(first.wins - first.losses) - (tally.wins - tally.losses) for tally in rest]
    n_unknown = [first.not_run + tally.not_run for tally in rest]
    return _combine_verdicts(
        _verdict_of_flags([lead - n > 0, lead + n > 0]) for lead, n in zip(leads, n_unknown, strict=True)
    )


def _judge_savings(claim: Claim, numbers: ClaimNumbers, datasets: Sequence[str]) -> ClaimVerdict:
    """Judge the mean saving over the data sets. The claim is undecided until all data sets have results."""
    [metric], [column] = claim.metrics, claim.columns
    low, high = claim.between[0] - claim.within - _EPSILON, claim.between[1] + claim.within + _EPSILON
    splits = {dataset: numbers.splits(dataset, column, metric) for dataset in datasets}
    savings = {
        dataset: 1 - _mean([*dataset_splits.values()]) for dataset, dataset_splits in splits.items() if dataset_splits
    }
    tally = _tally_outcomes(
        None if name not in savings else "win" if low <= savings[name] <= high else "loss" for name in datasets
    )
    if not savings:
        return ClaimVerdict("undecided", {metric: tally})
    mean = _mean([*savings.values()])
    saving_texts = [f"{dataset} {_percent_text(saving)}" for dataset, saving in savings.items()]
    text = f"{_percent_text(mean)} ({', '.join(saving_texts)})"
    if len(savings) < len(datasets):
        return ClaimVerdict("undecided", {metric: tally}, text)
    return ClaimVerdict("supported" if low <= mean <= high else "not supported", {metric: tally}, text)


def _judge_ranks(claim: Claim, numbers: ClaimNumbers, datasets: Sequence[str]) -> ClaimVerdict:
    """Judge mean ranks over the data sets, undecided until all have results.

    The tally counts the data sets in which the first column is the best.
    """
    tallies: dict[str, Tally] = {}
    verdicts: list[Verdict] = []
    texts = []
    for metric in claim.metrics:
        dataset_means = {dataset: _common_means(claim, numbers, dataset, metric) for dataset in datasets}
        known_means = [means for means in dataset_means.values() if means]
        best = metric_named(metric).best
        tallies[metric] = _tally_outcomes(
            None if not means else "win" if best(means) == means[0] else "loss" for means in dataset_means.values()
        )
        if len(known_means) < 2:
            verdicts.append("undecided")
            continue
        table = rank_table(np.array(known_means), metric_named(metric).larger_is_better)
        is_met, words = _check_ranks(claim, table)
        verdicts.append("undecided" if len(known_means) < len(datasets) else "supported" if is_met else "not supported")
        texts.append(words)
    return ClaimVerdict(_combine_verdicts(verdicts), tallies, "; ".join(texts))


def judge_ranks_of_draws(
    claim: Claim, paper: PublishedPaper, n_draws: int,
    means_of: Callable[[str, str, str, int | None], NDArray[np.float64] | None],
) -> list[Verdict]:  # fmt: skip
    """Judge mean ranks in each of ``n_draws`` bootstrap draws, as ``judge`` does for one set of numbers.

    ``means_of`` returns the means of a data set, column, metric and stage, (n_draws,), or None without results.
    """
    datasets, verdicts = _datasets(claim, paper), []
    for metric in claim.metrics:
        means = [[means_of(name, title, metric, claim.after or None) for title in claim.columns] for name in datasets]
        known = np.array([row for row in means if not any(column is None for column in row)], dtype=np.float64)
        if len(known) < 2 or len(known) < len(datasets):
            verdicts.append(["undecided"] * n_draws)
            continue
        ranks = rank_table(known.transpose(2, 0, 1), metric_named(metric).larger_is_better)
        verdicts.append(["supported" if _check_ranks(claim, table)[0] else "not supported" for table in ranks])
    return [_combine_verdicts(draw) for draw in zip(*verdicts, strict=True)]


def _check_ranks(claim: Claim, table: NDArray[np.float64]) -> tuple[bool, str]:
    """Return whether the claim holds for ranks, (n_datasets, n_columns), and the numbers in words."""
    means = table.mean(axis=0).tolist()
    words = "mean ranks " + ", ".join(f"{title} {rank:.2f}" for title, rank in zip(claim.columns, means, strict=True))
    if claim.kind == "ranked":
        return all(earlier < later for earlier, later in itertools.pairwise(means)), words
    critical, (p, _) = critical_difference(table.shape[1], len(table)), p_of_friedman(table)
    is_apart = p <= _SIGNIFICANCE_LEVEL and means[1] - means[0] > critical
    return is_apart, f"{words}, critical difference {critical:.2f}, Friedman's p {p:.2g}"


def _common_means(claim: Claim, numbers: ClaimNumbers, dataset: str, metric: str) -> list[float]:
    """Return the means of all columns of the claim over their common splits, or none without such a split."""
    column_splits = [numbers.splits(dataset, title, metric, claim.after or None) for title in claim.columns]
    common = set.intersection(*(set(splits) for splits in column_splits))
    return [_mean([splits[split] for split in sorted(common)]) for splits in column_splits] if common else []


def _percent_text(share: float) -> str:
    return f"{100 * share:.1f} %"


def _verdict_of_flags(flags: Iterable[bool]) -> Verdict:
    values = list(flags)
    return "supported" if all(values) else "undecided" if any(values) else "not supported"


def _combine_verdicts(verdicts: Iterable[Verdict]) -> Verdict:
    kinds = set(verdicts)
    return "not supported" if "not supported" in kinds else "undecided" if "undecided" in kinds else "supported"


def _p_of_sign_test(wins: int, losses: int) -> float:
    n, n_fewer = wins + losses, min(wins, losses)
    return min(1.0, 2 * sum(math.comb(n, k) for k in range(n_fewer + 1)) / (1 << n))
