"""Support of a paper's claims by the bootstrap draws, and the whole comparison of one results folder."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
import numpy.typing as npt

from probcal.errors import ProbcalError
from probcal.papers.check.findings import CheckedResults
from probcal.papers.check.judged_claims import (
    RANK_KINDS,
    ClaimVerdict,
    MeasuredNumbers,
    Outcome,
    Tally,
    Verdict,
    find_outcomes,
    judge,
    judge_ranks_of_draws,
    judge_tallies,
)
from probcal.papers.published import Claim, PublishedPaper
from probcal.reporting.comparison.bootstrap import Bootstrap, BootstrapDraw, FirstPlace, first_places
from probcal.reporting.comparison.pairs import Pair, compare_pairs
from probcal.reporting.comparison.ranks import Ranks, rank_methods
from probcal.reporting.comparison.split_results import SAMPLES, ComparisonData, Progress, read_comparison_data
from probcal.reporting.grid import order_metrics
from probcal.store.cell_result import Results
from probcal.store.folder import Store

DECISIVE_SHARE = 0.975
"""Share of draws that decides a claim. A count then lies beyond the end of its 95 % interval."""
_CODES: dict[Outcome | None, int] = {"win": 1, "loss": -1, "tie": 0, None: 2}
_PAIRED_KINDS = ("beats", "even", "gains_most")

Codes = npt.NDArray[np.int8]


@dataclass(frozen=True)
class Count:
    """Hold how often a claim holds by one metric.

    ``known`` of the ``total`` entries in the paper have results, and the claim holds in ``wins`` of these.
    """

    wins: int
    known: int
    total: int
    splits: tuple[int, int]
    """95 % interval of the wins for these data sets."""
    datasets: tuple[int, int]
    """95 % interval of the wins when the data sets are resampled too."""
    on_all: tuple[float, int, int]
    """Mean and 95 % interval of the wins among ``total`` entries, if those without results were like the others."""
    better: int | None
    worse: int | None
    """Number of data sets with a significant difference for (``better``) and against (``worse``) the claim."""
    wilcoxon: float | None
    wilcoxon_holm: float | None


@dataclass(frozen=True)
class ResampledVerdict:
    """Hold the verdict of the draws.

    ``shares`` is verdict -> share of the draws. ``by_the_means`` is the verdict of our means alone.
    """

    verdict: Verdict
    shares: dict[Verdict, float]
    by_the_means: Verdict

    @classmethod
    def of(cls, verdicts: list[Verdict], means_verdict: Verdict) -> ResampledVerdict:
        kinds: tuple[Verdict, ...] = ("supported", "not supported", "undecided")
        shares = {verdict: verdicts.count(verdict) / len(verdicts) for verdict in kinds}
        sure_verdicts = [verdict for verdict, share in shares.items() if share >= DECISIVE_SHARE]
        return cls(sure_verdicts[0] if sure_verdicts else "undecided", shares, means_verdict)


@dataclass(frozen=True)
class ClaimSupport:
    """Hold one claim with its verdicts.

    ``means_verdict`` is the verdict of our means, as in ``probcal check``. ``draws_verdict`` is the verdict of the
    draws. It leaves a claim undecided that data sets without results could change.
    """

    claim: Claim
    means_verdict: ClaimVerdict
    draws_verdict: ResampledVerdict
    partial_verdict: ResampledVerdict | None
    """Verdict as if the data sets with results were all of the paper's. None where they are."""
    counts: dict[str, Count]
    """Metric -> count, or ``""`` -> count of all metrics together. Empty for claims that count nothing."""

    @property
    def verdict(self) -> Verdict:
        return self.draws_verdict.verdict

    @property
    def shares(self) -> dict[Verdict, float]:
        return self.draws_verdict.shares


def supported_claims(
    bootstrap: Bootstrap, pairs: Iterable[Pair], places: Iterable[FirstPlace], progress: Progress = iter
) -> list[ClaimSupport]:
    """Return how well each claim of the paper is supported by our results, where there are any.

    A claim is supported, or not supported, where 97.5 % of the draws say so. Data sets without results leave a claim
    undecided where they could change it, in each draw as in ``probcal check``. ``pairs`` of all metrics and
    ``places`` come from the same results. The list is empty without a paper.
    """
    paper = bootstrap.experiment.published
    if paper is None:
        return []
    numbers = MeasuredNumbers(bootstrap.experiment)
    tested_pairs = {(pair.metric, _published_titles(pair, paper)): pair for pair in pairs}
    first = {(place.row.paper_dataset, place.metric): place for place in reversed([*places])}
    claims = [
        claim
        for claim in paper.claims
        if set(claim.metrics) <= {*bootstrap.experiment.outline.metrics, *_UNLISTED_METRICS}
    ]
    supports = [_claim_support(claim, paper, bootstrap, numbers, tested_pairs, first) for claim in progress(claims)]
    return [support for support in supports if _has_results(support)]


_UNLISTED_METRICS = ("loss_ratio", "steepest_growth")
"""Metrics that no experiment lists, since they come from stages and curves."""


def _has_results(support: ClaimSupport) -> bool:
    return any(tally.known for tally in support.means_verdict.tallies.values())


def _published_titles(pair: Pair, paper: PublishedPaper) -> tuple[str, str]:
    """Return (later, earlier) as titles of published columns, each empty where there is none."""
    titles = {names: title for title, names in reversed(paper.columns.items())}
    later, earlier = (
        titles.get((column.paper_learner or "", column.paper_method or ""), "") for column in (pair.later, pair.earlier)
    )
    return later, earlier


def _claim_support(
    claim: Claim, paper: PublishedPaper, bootstrap: Bootstrap, numbers: MeasuredNumbers,
    tested_pairs: dict[tuple[str, tuple[str, str]], Pair], first: dict[tuple[str, str], FirstPlace],
) -> ClaimSupport:  # fmt: skip
    claim_verdict = judge(claim, paper, numbers)
    claim_outcomes = find_outcomes(claim, paper, numbers)
    part = _claim_part(claim, paper, claim_verdict, numbers)
    part_verdicts: list[Verdict] = []
    counts: dict[str, Count] = {}
    if not claim_outcomes:
        verdicts = _verdicts_of_draws(claim, paper, bootstrap)
        part_verdicts = _verdicts_of_draws(part, paper, bootstrap) if part else []
    else:
        has_places = "" in claim_outcomes and all(
            outcome is None or entry in first for entry, outcome in claim_outcomes[""].items()
        )
        codes = (
            _codes_of_places(claim, paper, claim_outcomes[""], first)
            if has_places
            else _codes(claim, paper, bootstrap, claim_outcomes)
        )
        verdicts = _verdicts_of_codes(claim, codes)
        known_codes = {metric: matrix[:, (matrix != _CODES[None]).all(axis=0)] for metric, matrix in codes.items()}
        if part:
            has_codes = all(matrix.size for matrix in known_codes.values())
            part_verdicts = _verdicts_of_codes(part, known_codes) if has_codes else ["undecided"]
        counts = {
            metric: _count_wins(
                claim_verdict.tallies[metric],
                matrix,
                [*claim_outcomes[metric]],
                _count_significant(claim, metric, [*claim_outcomes[metric]], tested_pairs),
            )
            for metric, matrix in codes.items()
        }
    part_verdict = ResampledVerdict.of(part_verdicts, judge(part, paper, numbers).verdict) if part else None
    return ClaimSupport(
        claim, claim_verdict, ResampledVerdict.of(verdicts, claim_verdict.verdict), part_verdict, counts
    )


def _claim_part(claim: Claim, paper: PublishedPaper, verdict: ClaimVerdict, numbers: MeasuredNumbers) -> Claim | None:
    """Return the claim limited to the data sets with results, or None where all have results."""
    tallies = verdict.tallies.values()
    if not any(tally.not_run for tally in tallies):
        return None
    columns = claim.columns or tuple(paper.columns)
    datasets = tuple(
        name
        for name in claim.datasets or paper.titles
        if any(numbers.splits(name, column, metric) for column in columns for metric in claim.metrics)
    )
    known = sum(tally.known for tally in tallies)
    return claim.partial_claim(datasets, known / (known + sum(tally.not_run for tally in tallies)))


def _verdicts_of_draws(claim: Claim, paper: PublishedPaper, bootstrap: Bootstrap) -> list[Verdict]:
    if claim.kind in RANK_KINDS:
        return judge_ranks_of_draws(claim, paper, SAMPLES, functools.partial(_means_of_draws, bootstrap))
    return [judge(claim, paper, BootstrapDraw(bootstrap, draw)).verdict for draw in range(SAMPLES)]


def _means_of_draws(
    bootstrap: Bootstrap, dataset: str, column: str, metric: str, stage: int | None
) -> npt.NDArray[np.float64] | None:
    place = bootstrap.experiment.place_of(dataset, column)
    draws = bootstrap.draws(*place, metric, stage) if place else None
    return draws.means if draws else None


def _codes(
    claim: Claim,
    paper: PublishedPaper,
    bootstrap: Bootstrap,
    claim_outcomes: dict[str, dict[tuple[str, str], Outcome | None]],
) -> dict[str, Codes]:
    """Return metric -> (n_draws, n_entries) outcomes, coded as in ``_CODES``."""
    draws = [find_outcomes(claim, paper, BootstrapDraw(bootstrap, draw)) for draw in range(SAMPLES)]
    return {
        metric: np.array([[_CODES[outcome] for outcome in draw[metric].values()] for draw in draws], dtype=np.int8)
        for metric in claim_outcomes
    }


def _codes_of_places(
    claim: Claim, paper: PublishedPaper, entry_outcomes: dict[tuple[str, str], Outcome | None],
    first: dict[tuple[str, str], FirstPlace],
) -> dict[str, Codes]:  # fmt: skip
    """Return the outcomes of ``best`` and ``printed_best``, where the best methods of each draw are known already."""
    codes = np.full((SAMPLES, len(entry_outcomes)), 2, dtype=np.int8)
    for place, (entry, outcome) in enumerate(entry_outcomes.items()):
        if outcome is None:
            continue
        names = {paper.columns[title] for title in claim.columns or paper.best_columns(*entry)}
        columns = [(column.paper_learner, column.paper_method) in names for column in first[entry].columns]
        codes[:, place] = np.where(first[entry].first_flags[:, columns].any(axis=1), 1, -1)
    return {"": codes}


def _verdicts_of_codes(claim: Claim, codes: dict[str, Codes]) -> list[Verdict]:
    @functools.cache
    def verdict(counts: tuple[tuple[int, int, int, int], ...]) -> Verdict:
        tallies = {metric: Tally(*count) for metric, count in zip(codes, counts, strict=True)}
        return judge_tallies(claim, tallies).verdict

    code_counts = [[(matrix == code).sum(axis=1).tolist() for code in (1, -1, 0, 2)] for matrix in codes.values()]
    return [
        verdict(tuple((win[draw], loss[draw], tie[draw], none[draw]) for win, loss, tie, none in code_counts))
        for draw in range(SAMPLES)
    ]


def _count_wins(
    tally: Tally, codes: Codes, entries: list[tuple[str, str]], significance: tuple[int, int, Pair] | None
) -> Count:
    """Return the count of one metric from its outcomes, ``codes``, (n_draws, n_entries)."""
    places = [place for place in range(len(entries)) if codes[0, place] != _CODES[None]]
    wins = codes[:, places] == _CODES["win"]
    datasets = list(dict.fromkeys(entries[place][0] for place in places))
    dataset_wins = np.array(
        [wins[:, [entries[place][0] == name for place in places]].sum(axis=1) for name in datasets]
    ).T.reshape(SAMPLES, -1)
    n_missing = len(dict.fromkeys(name for name, _ in entries)) - len(datasets)
    random = np.random.default_rng(0)

    def resampled_wins(n: int) -> npt.NDArray[np.int64]:
        if not datasets:
            return np.zeros(SAMPLES, dtype=np.int64)
        indices = random.integers(len(datasets), size=(SAMPLES, n))
        return np.asarray(np.take_along_axis(dataset_wins, indices, axis=1).sum(axis=1))

    dataset_draws, total_draws = resampled_wins(len(datasets)), wins.sum(axis=1) + resampled_wins(n_missing)
    better, worse, pair = significance or (None, None, None)
    return Count(
        tally.wins, tally.known, len(entries), _interval_95(wins.sum(axis=1)), _interval_95(dataset_draws),
        (float(total_draws.mean()), *_interval_95(total_draws)), better, worse,
        pair.p if pair else None, pair.p_holm if pair else None,
    )  # fmt: skip


def _interval_95(counts: npt.NDArray[np.int64]) -> tuple[int, int]:
    """Return the ends of the middle 95 %."""
    low, high = np.quantile(counts, [1 - DECISIVE_SHARE, DECISIVE_SHARE], method="inverted_cdf")
    return int(low), int(high)


def _count_significant(
    claim: Claim, metric: str, entries: list[tuple[str, str]], tested_pairs: dict[tuple[str, tuple[str, str]], Pair]
) -> tuple[int, int, Pair] | None:
    """Return the number of data sets for and against a claim about two columns, if this pair was tested."""
    if claim.kind not in _PAIRED_KINDS or claim.after:
        return None
    a, b = claim.columns
    names = {dataset for dataset, _ in entries}
    for columns, verdicts in (((a, b), ("better", "worse")), ((b, a), ("worse", "better"))):
        if pair := tested_pairs.get((metric, columns)):
            test_verdicts: list[str] = [test.verdict for test in pair.tests if test.row.paper_dataset in names]
            return test_verdicts.count(verdicts[0]), test_verdicts.count(verdicts[1]), pair
    return None


CLIPPED_CXE = "cxe_clipped"


class ComparisonError(ProbcalError):
    """Signal that no two methods have results for the same data set and that there are no claims."""


@dataclass(frozen=True)
class Comparison:
    """Hold all that ``probcal compare`` prints.

    ``ranks`` and ``pairs`` are by metric, in the order of the tables. Metrics without any are left out.
    """

    experiment: CheckedResults
    split_data: ComparisonData
    ranks: dict[str, Ranks]
    pairs: dict[str, list[Pair]]
    places: list[FirstPlace]
    claims: list[ClaimSupport]


def compare(store: Store, progress: Progress = iter) -> Comparison:
    """Compare all methods in one results folder.

    ``progress`` yields the items of each list of steps, and may show the progress.
    Raises StoreError and UnknownPaper as ``probcal table`` does, and ComparisonError.
    """
    experiment = CheckedResults.of(store)
    outline = experiment.outline
    split_data = read_comparison_data(store, outline, experiment.results, progress)
    experiment = replace(experiment, results=_add_clipped_cxe(experiment.results, split_data))
    bootstrap = Bootstrap(experiment, split_data)
    metrics = order_metrics([*outline.metrics, *([CLIPPED_CXE] if split_data.clipped else [])])
    metric_ranks = {metric: rank_methods(outline, experiment.results, metric) for metric in progress(metrics)}
    metric_pairs = {metric: compare_pairs(bootstrap, metric, progress) for metric in metrics}
    places = first_places(bootstrap, progress)
    claims = supported_claims(bootstrap, [*chain.from_iterable(metric_pairs.values())], places, progress)
    if not places and not claims and not any(metric_pairs.values()):
        raise ComparisonError(
            f"{store.folder}: nothing to compare: no two methods have results of one data set; probcal run makes them"
        )
    return Comparison(
        experiment, split_data,
        {metric: ranking for metric, ranking in metric_ranks.items() if ranking},
        {metric: group for metric, group in metric_pairs.items() if group},
        places, claims,
    )  # fmt: skip


def _add_clipped_cxe(results: Results, data: ComparisonData) -> Results:
    clipped_cells = {
        name: replace(results[name], metrics={**results[name].metrics, CLIPPED_CXE: number})
        for name, number in data.clipped.items()
        if name in results
    }
    return Results({**results, **clipped_cells})
