"""Support of a paper's claims by the bootstrap draws, and the whole comparison of one results folder."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from probcal.analysis.bootstrap import Bootstrap, BootstrapDraw, FirstPlace, first_places
from probcal.analysis.pairs import Pair, pairs
from probcal.analysis.ranks import Ranks, ranks
from probcal.analysis.split_results import SAMPLES, CompareData, compare_data
from probcal.errors import ProbcalError
from probcal.papers.check.findings import CheckedResults
from probcal.papers.check.judged_claims import (
    ClaimVerdict,
    MeasuredNumbers,
    Outcome,
    Tally,
    Verdict,
    judge,
    judge_tallies,
    outcomes,
)
from probcal.papers.published import Claim, Published
from probcal.reporting.grid import in_order
from probcal.store.folder import Store
from probcal.store.summary import Results

SURE = 0.975
"""Share of draws that decides a claim. A count then lies beyond the end of its 95 % interval."""
_CODES: dict[Outcome | None, int] = {"win": 1, "loss": -1, "tie": 0, None: 2}
_PAIRED = ("beats", "even", "gains_most")

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
    def of(cls, verdicts: list[Verdict], by_the_means: Verdict) -> ResampledVerdict:
        every: tuple[Verdict, ...] = ("supported", "not supported", "undecided")
        shares = {verdict: verdicts.count(verdict) / len(verdicts) for verdict in every}
        sure = [verdict for verdict, share in shares.items() if share >= SURE]
        return cls(sure[0] if sure else "undecided", shares, by_the_means)


@dataclass(frozen=True)
class ClaimSupport:
    """Hold one claim with its verdicts.

    ``measured`` is the verdict of our means, as in ``probcal check``. ``drawn`` is the verdict of the draws. It leaves
    a claim undecided that data sets without results could change.
    """

    claim: Claim
    measured: ClaimVerdict
    drawn: ResampledVerdict
    on_those_run: ResampledVerdict | None
    """Verdict as if the data sets with results were all of the paper's. None where they are."""
    counts: dict[str, Count]
    """Metric -> count, or ``""`` -> count of all metrics together. Empty for claims that count nothing."""

    @property
    def verdict(self) -> Verdict:
        return self.drawn.verdict

    @property
    def shares(self) -> dict[Verdict, float]:
        return self.drawn.shares


def supported_claims(drawn: Bootstrap, pairs: Iterable[Pair], places: Iterable[FirstPlace]) -> list[ClaimSupport]:
    """Return how well each claim of the paper is supported by our results, where there are any.

    A claim is supported, or not supported, where 97.5 % of the draws say so. Data sets without results leave a claim
    undecided where they could change it, in each draw as in ``probcal check``. ``pairs`` of all metrics and
    ``places`` come from the same results. The list is empty without a paper.
    """
    paper = drawn.checked.published
    if paper is None:
        return []
    numbers = MeasuredNumbers(drawn.checked)
    tested = {(one.metric, _title(one, paper)): one for one in pairs}
    first = {(one.row.published, one.metric): one for one in reversed([*places])}
    claims = [one for one in paper.claims if set(one.metrics) <= {*drawn.checked.outline.metrics, *_UNLISTED_METRICS}]
    found = [_support(claim, paper, drawn, numbers, tested, first) for claim in claims]
    return [one for one in found if _has_results(one)]


_UNLISTED_METRICS = ("loss_ratio", "steepest_growth")
"""Metrics that no experiment lists, since they come from stages and curves."""


def _has_results(one: ClaimSupport) -> bool:
    return any(tally.known for tally in one.measured.tallies.values())


def _title(pair: Pair, paper: Published) -> tuple[str, str]:
    """Return (later, earlier) as titles of published columns, each empty where there is none."""
    titles = {names: title for title, names in reversed(paper.columns.items())}
    later, earlier = (
        titles.get((one.paper_learner or "", one.paper_method or ""), "") for one in (pair.later, pair.earlier)
    )
    return later, earlier


def _support(
    claim: Claim, paper: Published, drawn: Bootstrap, numbers: MeasuredNumbers,
    tested: dict[tuple[str, tuple[str, str]], Pair], first: dict[tuple[str, str], FirstPlace],
) -> ClaimSupport:  # fmt: skip
    measured = judge(claim, paper, numbers)
    here = outcomes(claim, paper, numbers)
    run = _with_results(claim, paper, measured, numbers)
    on_those_run: list[Verdict] = []
    counts: dict[str, Count] = {}
    if not here:
        verdicts = _verdicts_of_draws(claim, paper, drawn)
        on_those_run = _verdicts_of_draws(run, paper, drawn) if run else []
    else:
        counted = "" in here and all(outcome is None or entry in first for entry, outcome in here[""].items())
        codes = _codes_of_places(claim, paper, here[""], first) if counted else _codes(claim, paper, drawn, here)
        verdicts = _verdicts(claim, codes)
        known = {metric: one[:, (one != _CODES[None]).all(axis=0)] for metric, one in codes.items()}
        if run:
            on_those_run = _verdicts(run, known) if all(one.size for one in known.values()) else ["undecided"]
        counts = {
            metric: _count(
                measured.tallies[metric], one, [*here[metric]], _significant(claim, metric, [*here[metric]], tested)
            )
            for metric, one in codes.items()
        }
    of_a_part = ResampledVerdict.of(on_those_run, judge(run, paper, numbers).verdict) if run else None
    return ClaimSupport(claim, measured, ResampledVerdict.of(verdicts, measured.verdict), of_a_part, counts)


def _with_results(claim: Claim, paper: Published, measured: ClaimVerdict, numbers: MeasuredNumbers) -> Claim | None:
    """Return the claim limited to the data sets with results, or None where all have results."""
    tallies = measured.tallies.values()
    if not any(tally.not_run for tally in tallies):
        return None
    columns = claim.columns or tuple(paper.columns)
    datasets = tuple(
        name
        for name in claim.datasets or paper.titles
        if any(numbers.splits(name, column, metric) for column in columns for metric in claim.metrics)
    )
    known = sum(tally.known for tally in tallies)
    return claim.of_a_part(datasets, known / (known + sum(tally.not_run for tally in tallies)))


def _verdicts_of_draws(claim: Claim, paper: Published, drawn: Bootstrap) -> list[Verdict]:
    return [judge(claim, paper, BootstrapDraw(drawn, draw)).verdict for draw in range(SAMPLES)]


def _codes(
    claim: Claim, paper: Published, drawn: Bootstrap, here: dict[str, dict[tuple[str, str], Outcome | None]]
) -> dict[str, Codes]:
    """Return metric -> (n_draws, n_entries) outcomes, coded as in ``_CODES``."""
    every = [outcomes(claim, paper, BootstrapDraw(drawn, draw)) for draw in range(SAMPLES)]
    return {
        metric: np.array([[_CODES[one] for one in found[metric].values()] for found in every], dtype=np.int8)
        for metric in here
    }


def _codes_of_places(
    claim: Claim, paper: Published, here: dict[tuple[str, str], Outcome | None],
    first: dict[tuple[str, str], FirstPlace],
) -> dict[str, Codes]:  # fmt: skip
    """Return the outcomes of ``best`` and ``printed_best``, where the best methods of each draw are known already."""
    found = np.full((SAMPLES, len(here)), 2, dtype=np.int8)
    for place, (entry, outcome) in enumerate(here.items()):
        if outcome is None:
            continue
        wanted = {paper.columns[title] for title in claim.columns or paper.best_columns(*entry)}
        columns = [(one.paper_learner, one.paper_method) in wanted for one in first[entry].columns]
        found[:, place] = np.where(first[entry].first[:, columns].any(axis=1), 1, -1)
    return {"": found}


def _verdicts(claim: Claim, codes: dict[str, Codes]) -> list[Verdict]:
    @functools.cache
    def verdict(counts: tuple[tuple[int, int, int, int], ...]) -> Verdict:
        tallies = {metric: Tally(*one) for metric, one in zip(codes, counts, strict=True)}
        return judge_tallies(claim, tallies).verdict

    tallied = [[(one == code).sum(axis=1).tolist() for code in (1, -1, 0, 2)] for one in codes.values()]
    return [
        verdict(tuple((win[draw], loss[draw], tie[draw], none[draw]) for win, loss, tie, none in tallied))
        for draw in range(SAMPLES)
    ]


def _count(
    tally: Tally, codes: Codes, entries: list[tuple[str, str]], significant: tuple[int, int, Pair] | None
) -> Count:
    """Return the count of one metric from its outcomes, ``codes``, (n_draws, n_entries)."""
    known = [place for place in range(len(entries)) if codes[0, place] != _CODES[None]]
    wins = codes[:, known] == _CODES["win"]
    datasets = list(dict.fromkeys(entries[place][0] for place in known))
    by_dataset = np.array(
        [wins[:, [entries[place][0] == name for place in known]].sum(axis=1) for name in datasets]
    ).T.reshape(SAMPLES, -1)
    lacking = len(dict.fromkeys(name for name, _ in entries)) - len(datasets)
    random = np.random.default_rng(0)

    def others(how_many: int) -> npt.NDArray[np.int64]:
        if not datasets:
            return np.zeros(SAMPLES, dtype=np.int64)
        chosen = random.integers(len(datasets), size=(SAMPLES, how_many))
        return np.asarray(np.take_along_axis(by_dataset, chosen, axis=1).sum(axis=1))

    again, on_all = others(len(datasets)), wins.sum(axis=1) + others(lacking)
    better, worse, pair = significant or (None, None, None)
    return Count(
        tally.wins, tally.known, len(entries), _middle_95(wins.sum(axis=1)), _middle_95(again),
        (float(on_all.mean()), *_middle_95(on_all)), better, worse,
        pair.p if pair else None, pair.p_holm if pair else None,
    )  # fmt: skip


def _middle_95(counts: npt.NDArray[np.int64]) -> tuple[int, int]:
    """Return the ends of the middle 95 %."""
    low, high = np.quantile(counts, [1 - SURE, SURE], method="inverted_cdf")
    return int(low), int(high)


def _significant(
    claim: Claim, metric: str, entries: list[tuple[str, str]], tested: dict[tuple[str, tuple[str, str]], Pair]
) -> tuple[int, int, Pair] | None:
    """Return the number of data sets for and against a claim about two columns, if this pair was tested."""
    if claim.kind not in _PAIRED or claim.after:
        return None
    a, b = claim.columns
    names = {dataset for dataset, _ in entries}
    for columns, verdicts in (((a, b), ("better", "worse")), ((b, a), ("worse", "better"))):
        if pair := tested.get((metric, columns)):
            there: list[str] = [one.verdict for one in pair.tested if one.row.published in names]
            return there.count(verdicts[0]), there.count(verdicts[1]), pair
    return None


CLIPPED = "cxe_clipped"


class ComparisonError(ProbcalError):
    """Signal that no two methods have results for the same data set and that there are no claims."""


@dataclass(frozen=True)
class Comparison:
    """Hold all that ``probcal compare`` prints.

    ``ranks`` and ``pairs`` are by metric, in the order of the tables. Metrics without any are left out.
    """

    checked: CheckedResults
    split_data: CompareData
    ranks: dict[str, Ranks]
    pairs: dict[str, list[Pair]]
    places: list[FirstPlace]
    claims: list[ClaimSupport]


def compare(store: Store) -> Comparison:
    """Compare all methods in one results folder.

    Raises StoreError and UnknownPaper as ``probcal table`` does, and ComparisonError.
    """
    checked = CheckedResults.of(store)
    outline = checked.outline
    small = compare_data(store, outline, checked.results)
    checked = replace(checked, results=_with_clipped(checked.results, small))
    drawn = Bootstrap(checked, small)
    metrics = in_order([*outline.metrics, *([CLIPPED] if small.clipped else [])])
    every_rank = {metric: ranks(outline, checked.results, metric) for metric in metrics}
    every_pair = {metric: pairs(drawn, metric) for metric in metrics}
    places = first_places(drawn)
    claims = supported_claims(drawn, [one for found in every_pair.values() for one in found], places)
    if not places and not claims and not any(every_pair.values()):
        raise ComparisonError(
            f"{store.folder}: nothing to compare: no two methods have results of one data set; probcal run makes them"
        )
    return Comparison(
        checked, small,
        {metric: one for metric, one in every_rank.items() if one},
        {metric: found for metric, found in every_pair.items() if found},
        places, claims,
    )  # fmt: skip


def _with_clipped(results: Results, small: CompareData) -> Results:
    return {
        name: replace(cell, metrics={**cell.metrics, CLIPPED: small.clipped[name]}) if name in small.clipped else cell
        for name, cell in results.items()
    }
