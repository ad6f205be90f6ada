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
from probcal.papers.claims import Claim
from probcal.papers.published import PublishedPaper
from probcal.reporting.comparison.bootstrap import Bootstrap, BootstrapDraw, FirstPlace, first_places
from probcal.reporting.comparison.pairs import Pair, compare_pairs
from probcal.reporting.comparison.ranks import Ranks, rank_methods
from probcal.reporting.comparison.split_results import SAMPLES, ComparisonData, Progress, read_comparison_data
from probcal.reporting.grid import order_metrics
from probcal.store.cell_result import Results
from probcal.store.folder import Store
from probcal.store.stored_experiment import ResultColumn

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

    @property
    def verdict_of_known(self) -> ResampledVerdict:
        """Return the verdict as if the data sets with results were all."""
        return self.partial_verdict or self.draws_verdict

    @property
    def tested_counts(self) -> list[Count]:
        """Return the counts of the metrics for which the pair was tested."""
        return [count for count in self.counts.values() if count.better is not None]


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
    titles = {names: title for title, names in reversed(paper.columns.items())}

    def title_of(column: ResultColumn) -> str:
        return titles.get((column.paper_learner or "", column.paper_method or ""), "")

    judge_of = _ClaimJudge(
        paper,
        bootstrap,
        MeasuredNumbers(bootstrap.experiment),
        {(pair.metric, title_of(pair.later), title_of(pair.earlier)): pair for pair in pairs},
        {(place.row.paper_dataset, place.metric): place for place in reversed([*places])},
    )
    metrics = {*bootstrap.experiment.stored.metrics, *_UNLISTED_METRICS}
    supports = map(judge_of.support, progress([claim for claim in paper.claims if set(claim.metrics) <= metrics]))
    return [support for support in supports if any(tally.known for tally in support.means_verdict.tallies.values())]


_UNLISTED_METRICS = ("loss_ratio", "steepest_growth")
"""Metrics that no experiment lists, since they come from stages and curves."""


@dataclass(frozen=True, eq=False)
class _ClaimJudge:
    """Judge the claims of a paper by our means and by the draws."""

    paper: PublishedPaper
    bootstrap: Bootstrap
    numbers: MeasuredNumbers
    pairs: dict[tuple[str, str, str], Pair]
    """(metric, later, earlier) -> pair, with the titles of published columns, empty where there is none."""
    first: dict[tuple[str, str], FirstPlace]
    """(data set, metric) -> how often each method is the best."""

    def support(self, claim: Claim) -> ClaimSupport:
        claim_verdict = judge(claim, self.paper, self.numbers)
        outcomes = find_outcomes(claim, self.paper, self.numbers)
        part = self._part(claim, claim_verdict)
        part_verdicts: list[Verdict] = []
        counts: dict[str, Count] = {}
        if not outcomes:
            verdicts = self._verdicts_of_draws(claim)
            part_verdicts = self._verdicts_of_draws(part) if part else []
        else:
            codes = self._codes(claim, outcomes)
            verdicts = _verdicts_of_codes(claim, codes)
            known_codes = {metric: matrix[:, (matrix != _CODES[None]).all(axis=0)] for metric, matrix in codes.items()}
            if part:
                has_codes = all(matrix.size for matrix in known_codes.values())
                part_verdicts = _verdicts_of_codes(part, known_codes) if has_codes else ["undecided"]
            for metric, matrix in codes.items():
                entries = [*outcomes[metric]]
                significance = self._count_significant(claim, metric, entries)
                counts[metric] = _count_wins(claim_verdict.tallies[metric], matrix, entries, significance)
        return ClaimSupport(
            claim,
            claim_verdict,
            ResampledVerdict.of(verdicts, claim_verdict.verdict),
            ResampledVerdict.of(part_verdicts, judge(part, self.paper, self.numbers).verdict) if part else None,
            counts,
        )

    def _part(self, claim: Claim, verdict: ClaimVerdict) -> Claim | None:
        """Return the claim limited to the data sets with results, or None where all have results."""
        n_missing = sum(tally.not_run for tally in verdict.tallies.values())
        if not n_missing:
            return None
        columns = claim.columns or tuple(self.paper.columns)
        datasets = tuple(
            name
            for name in claim.datasets or self.paper.titles
            if any(self.numbers.splits(name, column, metric) for column in columns for metric in claim.metrics)
        )
        n_known = sum(tally.known for tally in verdict.tallies.values())
        return claim.partial_claim(datasets, n_known / (n_known + n_missing))

    def _verdicts_of_draws(self, claim: Claim) -> list[Verdict]:
        def means_of(dataset: str, column: str, metric: str, stage: int | None) -> npt.NDArray[np.float64] | None:
            found = self.bootstrap.experiment.row_and_column(dataset, column)
            draws = self.bootstrap.draws(*found, metric, stage) if found else None
            return draws.means if draws else None

        if claim.kind in RANK_KINDS:
            return judge_ranks_of_draws(claim, self.paper, SAMPLES, means_of)
        return [judge(claim, self.paper, BootstrapDraw(self.bootstrap, draw)).verdict for draw in range(SAMPLES)]

    def _codes(self, claim: Claim, outcomes: dict[str, dict[tuple[str, str], Outcome | None]]) -> dict[str, Codes]:
        """Return metric -> (n_draws, n_entries) outcomes, coded as in ``_CODES``."""
        if "" not in outcomes or any(outcome and entry not in self.first for entry, outcome in outcomes[""].items()):
            draws = [find_outcomes(claim, self.paper, BootstrapDraw(self.bootstrap, draw)) for draw in range(SAMPLES)]
            return {
                metric: np.array([[_CODES[outcome] for outcome in draw[metric].values()] for draw in draws], np.int8)
                for metric in outcomes
            }
        # best and printed_best: the best methods of each draw are known already
        codes = np.full((SAMPLES, len(outcomes[""])), _CODES[None], dtype=np.int8)
        for index, (entry, outcome) in enumerate(outcomes[""].items()):
            if outcome is not None:
                names = {self.paper.columns[title] for title in claim.columns or self.paper.best_columns(*entry)}
                first = self.first[entry]
                is_named = [(column.paper_learner, column.paper_method) in names for column in first.columns]
                codes[:, index] = np.where(first.first_flags[:, is_named].any(axis=1), 1, -1)
        return {"": codes}

    def _count_significant(
        self, claim: Claim, metric: str, entries: list[tuple[str, str]]
    ) -> tuple[int, int, Pair] | None:
        """Return the number of data sets for and against a claim about two columns, if this pair was tested."""
        if claim.kind not in _PAIRED_KINDS or claim.after:
            return None
        a, b = claim.columns
        names = {dataset for dataset, _ in entries}
        for columns, (favourable, contrary) in (((a, b), ("better", "worse")), ((b, a), ("worse", "better"))):
            if pair := self.pairs.get((metric, *columns)):
                verdicts: list[str] = [test.verdict for test in pair.tests if test.row.paper_dataset in names]
                return verdicts.count(favourable), verdicts.count(contrary), pair
        return None


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
    judged = [index for index in range(len(entries)) if codes[0, index] != _CODES[None]]
    wins = codes[:, judged] == _CODES["win"]
    datasets = list(dict.fromkeys(entries[index][0] for index in judged))
    dataset_wins = np.array(
        [wins[:, [entries[index][0] == name for index in judged]].sum(axis=1) for name in datasets]
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
    low, high = np.quantile(counts, [1 - DECISIVE_SHARE, DECISIVE_SHARE], method="inverted_cdf")
    return int(low), int(high)


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
    stored = experiment.stored
    split_data = read_comparison_data(store, stored, experiment.results, progress)
    results = dict(experiment.results)
    for name, loss in split_data.clipped.items():
        if cell := results.get(name):
            results[name] = replace(cell, metrics={**cell.metrics, CLIPPED_CXE: loss})
    experiment = replace(experiment, results=Results(results))
    bootstrap = Bootstrap(experiment, split_data)
    metrics = order_metrics([*stored.metrics, *([CLIPPED_CXE] if split_data.clipped else [])])
    metric_ranks = {metric: rank_methods(stored, experiment.results, metric) for metric in progress(metrics)}
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
