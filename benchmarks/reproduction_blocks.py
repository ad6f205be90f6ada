"""What the pages of docs can ask of a folder of results."""

from __future__ import annotations

import csv
import functools
import math
import statistics
from collections.abc import Callable
from typing import Any

import defaults
import pandas as pd
from reproduction_tables import TABLES
from speed import ROOT

from probcal.metrics.registry import metric_named
from probcal.papers.bands import ROUNDING
from probcal.papers.check.checked_experiment import Report, check
from probcal.papers.check.findings import CheckedResults
from probcal.papers.check.judged_claims import PublishedNumbers, judge
from probcal.reporting.check.audit import Audit, audit
from probcal.reporting.check.check_text import percent_text
from probcal.reporting.comparison.claim_support import ClaimSupport, Comparison, compare
from probcal.reporting.comparison.comparison_tables import wins_text
from probcal.reporting.comparison.pairs import Pair, p_text
from probcal.store.folder import Store


def block_text(folder: str, words: str) -> str:
    """``words``: the name of a function below, with its arguments, or that of a table. Raises KeyError for another."""
    name, *arguments = words.split()
    return TABLES[name](Results(folder)) if name in TABLES else str(_NUMBERS[name](Results(folder), *arguments))


class Results:
    """A folder of results; what is read of it is read once."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    @property
    def checked(self) -> CheckedResults:
        return _report(self.folder).experiment

    @property
    def report(self) -> Report:
        return _report(self.folder)

    @property
    def comparison(self) -> Comparison:
        return _comparison(self.folder)

    def claim(self, label: str) -> ClaimSupport:
        return next(claim for claim in self.comparison.claims if claim.claim.label == label)

    def printed(self, label: str) -> str:
        """The paper's own count, as ``wins_text`` writes ours."""
        paper = self.checked.published
        claim = next(claim for claim in paper.claims if claim.label == label)
        tallies = judge(claim, paper, PublishedNumbers(paper)).tallies.values()
        totals = {tally.known for tally in tallies}
        return f"{', '.join(str(tally.wins) for tally in tallies)} of {max(totals)}" if max(totals, default=0) else ""


@functools.cache
def _report(folder: str) -> Report:
    return check(CheckedResults.of(Store(ROOT / "results" / folder)))


@functools.cache
def _comparison(folder: str) -> Comparison:
    return compare(Store(ROOT / "results" / folder))


@functools.cache
def _losses(folder: str) -> pd.DataFrame:
    return defaults.mean_losses([ROOT / "results" / folder])


@functools.cache
def _audit(folder: str) -> Audit:
    return audit([Store(ROOT / "results" / folder)])


def short(number: float) -> str:
    """As the paper prints: three decimals and no 0 before the point."""
    return "∞" if math.isinf(number) else f"{number:.3f}".removeprefix("0")


def at(run: Results, dataset: str, column: str, *metrics: str) -> str:
    """Our means, RMS / CXE / AUC unless others are named; ∞ as soon as one split is.

    ``column`` is ``learner/method``, or the paper's name, such as ProbSVM.
    """
    row = next(row for row in run.checked.stored.datasets if row.name == dataset)
    entry = next(
        candidate
        for candidate in run.checked.stored.columns
        if column in (f"{candidate.learner}/{candidate.method}", candidate.label)
    )
    values = (run.checked.splits(row, entry, metric).values() for metric in metrics or ("rms", "cxe", "auc"))
    return " / ".join(short(statistics.fmean(value)) for value in values)


def infinite_on(run: Results, dataset: str, column: str) -> str:
    """On how many splits CXE is ∞: ``2 of 10``."""
    row = next(row for row in run.checked.stored.datasets if row.name == dataset)
    entry = next(
        candidate for candidate in run.checked.stored.columns if f"{candidate.learner}/{candidate.method}" == column
    )
    values = run.checked.splits(row, entry, "cxe").values()
    return f"{sum(map(math.isinf, values))} of {len(values)}"


def infinite_in(run: Results, column: str) -> str:
    """Every data set on which CXE is ∞ on some split: ``Adult (1 of 1) and Kr-vs-kp (1 of 10)``."""
    pairs = [(row, infinite_on(run, row.name, column)) for row in run.checked.stored.datasets]
    return join_names([f"{row.title} ({text})" for row, text in pairs if not text.startswith("0 ")])


def in_band(run: Results, dataset: str = "") -> str:
    numbers = [number for number in run.report.numbers.all if number.state in ("in band", "out of band")]
    subset = [number for number in numbers if dataset in ("", number.paper_dataset)]
    return f"{sum(number.state == 'in band' for number in subset)} of {len(subset)}"


def share_in_band(run: Results) -> str:
    count, total = map(int, in_band(run).split(" of "))
    return f"{100 * count / total:.0f} %"


def figure(run: Results, name: str, kind: str) -> str:
    """A figure of agreement: ``in-band shuffled`` is ``73 %``.

    Of ``ours``, ``shuffled`` and ``wrong`` columns, and of the orders ``other_datasets`` and ``one_split``.
    """
    value = getattr(getattr(run.report.agreement, kind), name.replace("-", "_"))
    return f"{value:.2f}".removeprefix("0") if name == "tau" else percent_text(value)


def gate(run: Results, place: str, kind: str) -> str:
    """The share of ``ours``, ``shuffled`` or ``wrong`` columns that the rule at this place lets pass."""
    return percent_text(getattr(run.report.gates[int(place)], kind))


def compared(run: Results) -> str:
    """How many published numbers have results of ours, without misprints."""
    return str(run.report.agreement.numbers)


def digits_same(run: Results, *datasets: str) -> str:
    """How many numbers of exact columns on published splits are the printed digits: ``84 of 90``."""
    numbers = [number for number in run.report.digits.all if not datasets or number.paper_dataset in datasets]
    return f"{sum(number.distance == 0 for number in numbers)} of {len(numbers)}"


def identical_digits(run: Results) -> str:
    """How many numbers of exact columns on published splits are the printed digits, on all data sets."""
    return digits_same(run).partition(" ")[0]


def digits_in_band(run: Results, *datasets: str) -> str:
    """How many numbers of exact columns on published splits are within one unit of the last digit."""
    numbers = [number for number in run.report.digits.all if not datasets or number.paper_dataset in datasets]
    return f"{sum(number.state == 'in band' for number in numbers)} of {len(numbers)}"


def out_of_band(run: Results, dataset: str = "") -> str:
    numbers = run.report.numbers.all
    return str(sum(number.state == "out of band" and dataset in ("", number.paper_dataset) for number in numbers))


def differences_in_band(run: Results, dataset: str = "") -> str:
    differences = [
        difference
        for difference in run.report.differences.all
        if difference.state in ("in band", "out of band") and dataset in ("", difference.paper_dataset)
    ]
    return f"{sum(difference.state == 'in band' for difference in differences)} of {len(differences)}"


def first_repetition_minutes(run: Results, *columns: str) -> str:
    """Minutes of one processor for the first repetition of all data sets, without the columns ``LEARNER/METHOD``."""
    results = Store(ROOT / "results" / run.folder).results().values()
    cells = [cell for cell in results if cell.repetition == 0 and f"{cell.learner}/{cell.method}" not in columns]
    return f"{sum(cell.seconds for cell in cells) / 60:.0f}"


def splits(run: Results) -> str:
    return str(max(run.checked.stored.repetitions.values()))


def ranked(run: Results, variant: str) -> str:
    entry = next(row for column in _audit(run.folder).columns for row in column.settings if row.name == variant)
    return f"{entry.in_band} of {entry.compared}"


def median(run: Results, variant: str) -> str:
    entry = next(row for column in _audit(run.folder).columns for row in column.settings if row.name == variant)
    return f"{entry.median:.2f}".removeprefix("0")


def reading(run: Results, dataset: str, row: str) -> str:
    entry = next(candidate for candidate in _audit(run.folder).readings[dataset][1] if candidate.name == row)
    return f"{entry.in_band} of {entry.compared}"


def median_of_reading(run: Results, dataset: str, row: str) -> str:
    entry = next(candidate for candidate in _audit(run.folder).readings[dataset][1] if candidate.name == row)
    return f"{entry.median:.2f}".removeprefix("0")


def printed(run: Results, label: str) -> str:
    """By the paper's own tables, one number a metric."""
    return run.printed(label)


def count(run: Results, label: str) -> str:
    """``16 of 36``."""
    [result] = run.claim(label).counts.values()
    return f"{result.wins} of {result.known}"


def interval(run: Results, label: str) -> str:
    [result] = run.claim(label).counts.values()
    return f"{result.splits[0]} to {result.splits[1]}"


def on_all(run: Results, label: str) -> str:
    """``19.5 of 45 (12 to 28)``."""
    [result] = run.claim(label).counts.values()
    mean, low, high = result.on_all
    return f"{mean:.1f} of {result.total} ({low} to {high})"


def tally(run: Results, label: str) -> str:
    """``5, 3, 5 of 12``, one number a metric."""
    return wins_text(run.claim(label))


def wilcoxon(run: Results, label: str, metric: str) -> str:
    """Holm's p over the pairs of methods."""
    return p_text(run.claim(label).counts[metric].wilcoxon_holm).replace("<", "&lt;")


def verdict(run: Results, label: str) -> str:
    return run.claim(label).verdict


def verdicts(run: Results, name: str) -> str:
    """How many claims came to a verdict, ``not-supported`` with a hyphen."""
    return str(sum(claim.verdict == name.replace("-", " ") for claim in run.comparison.claims))


def partial_verdict(run: Results, label: str) -> str:
    """Of the data sets that were run, as if they were all."""
    return (run.claim(label).partial_verdict or run.claim(label).draws_verdict).verdict


def partial_verdicts(run: Results, name: str) -> str:
    claims = run.comparison.claims
    verdict = name.replace("-", " ")
    return str(sum((claim.partial_verdict or claim.draws_verdict).verdict == verdict for claim in claims))


def partial_mean_verdicts(run: Results, name: str) -> str:
    """``12 of 17``."""
    values = [(claim.partial_verdict or claim.draws_verdict).by_the_means for claim in run.comparison.claims]
    return f"{values.count(name.replace('-', ' '))} of {len(values)}"


def pair_p(run: Results, metric: str, later: str, earlier: str) -> str:
    """Wilcoxon's, after Holm, of two labels."""
    return p_text(_pair(run, metric, later, earlier).p_holm).replace("<", "&lt;")


def _pair(run: Results, metric: str, later: str, earlier: str) -> Pair:
    all_pairs = run.comparison.pairs[metric]
    return next(pair for pair in all_pairs if (pair.later.label, pair.earlier.label) == (later, earlier))


def worse_datasets(run: Results, later: str, earlier: str, metric: str) -> str:
    """Titles of the data sets in which the first of two labels has the worse mean."""
    pair = _pair(run, metric, later, earlier)
    sign = 1 if metric_named(metric).larger_is_better else -1
    return join_names([row.row.title for row in pair.tests if sign * row.difference < 0])


def separated_labels(run: Results, metric: str, label: str) -> str:
    """Labels that Nemenyi's test tells from this one."""
    ranks = run.comparison.ranks[metric]
    neighbours = {name for group in ranks.groups for name in group if label in group}
    return join_names([name for name in ranks.labels if name not in neighbours and name != label])


def own_infinite(run: Results) -> str:
    """Where ours is ∞ and the published number is not in its band."""
    return _number_names(
        run,
        lambda number: number.state == "out of band" and number.infinite > 0 and not math.isinf(number.published),
    )


def published_infinite(run: Results) -> str:
    """Where the published number is ∞ and ours is finite on every split, whether that can be judged or not."""
    return _number_names(
        run, lambda number: math.isinf(number.published) and bool(number.values) and not number.infinite
    )


def not_judged(run: Results) -> str:
    return str(sum(number.state == "cannot be judged" for number in run.report.numbers.all))


def _number_names(run: Results, condition: Callable[[Any], bool]) -> str:
    titles = {row.name: row.title for row in run.checked.stored.datasets}
    numbers = [number for number in run.report.numbers.all if condition(number)]
    return join_names([f"{number.label} on {titles[number.dataset]}" for number in numbers])


def published_below(run: Results, dataset: str, metric: str) -> str:
    """How many published numbers of a data set are below our mean: ``10 of 10``."""
    numbers = [
        number
        for number in run.report.numbers.all
        if (number.dataset, number.metric) == (dataset, metric) and number.values
    ]
    return f"{sum(number.published < number.mean for number in numbers)} of {len(numbers)}"


def join_names(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1])] * (len(names) > 1) + names[-1:]) or "none"


def rank_of(run: Results, metric: str, label: str) -> str:
    ranks = run.comparison.ranks[metric]
    return f"{ranks.mean_ranks[ranks.labels.index(label)]:.2f}"


def critical_difference(run: Results, metric: str) -> str:
    return f"{run.comparison.ranks[metric].critical_difference:.2f}"


def sure_places(run: Results, share: str) -> str:
    """Of how many first places one method has at least that share of the draws to itself or shared."""
    places = [place for place in run.comparison.places if place.published_winner is not None]
    return f"{sum(max(place.shares.values(), default=0) >= float(share) for place in places)} of {len(places)}"


def loss(run: Results, rows: str, learner: str, method: str) -> str:
    """The mean log loss in bits over the data sets with ``few`` training rows, or with ``many``."""
    losses = _losses(run.folder)
    subset = losses[(losses["learner"] == learner) & (losses["method"] == method)]
    return short(float(subset.loc[subset["dataset"].isin(defaults.FEW_ROWS) == (rows == "few"), "loss"].mean()))


def near_the_best(run: Results, method: str, bits: str) -> str:
    """With how many learners the mean loss is at most ``bits`` above that of the best map: ``12 of 14``.

    The learners count twice, with few training rows and with many.
    """
    data = _losses(run.folder).assign(few=lambda table: table["dataset"].isin(defaults.FEW_ROWS))
    maps = data[~data["method"].isin(defaults.BASELINES)]
    means = maps.groupby(["few", "learner", "method"])["loss"].mean().unstack()
    is_near = means[method] <= means.min(axis=1) + float(bits)
    return f"{int(is_near.sum())} of {len(is_near)}"


def failures(run: Results) -> str:
    """How many combinations fail the gate: ``15 of 1,000``."""
    verdicts = defaults.judge(_losses(run.folder))
    return f"{int(verdicts['failed'].sum())} of {len(verdicts):,}"


def normalised(run: Results, metric: str, kind: str) -> str:
    """How many ``pairs`` of data set and learner; in how many is normalised Probing ``better``, ``worse``."""
    with (ROOT / "results" / run.folder / "tables.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["metric"] == metric and row["mean"] not in ("", "nan")]
    means: dict[tuple[str, str], dict[str, float]] = {}
    for row in rows:
        means.setdefault((row["dataset"], row["learner"]), {})[row["method"]] = float(row["mean"])
    sign = -1 if metric == "auc" else 1
    gains = [sign * (values["probing.difference"] - values["probing.normalised"]) for values in means.values()]
    if kind == "pairs":
        return str(len(gains))
    return str(sum((gain if kind == "better" else -gain) >= ROUNDING for gain in gains))


def best_of_multiclass(run: Results, metric: str, method: str) -> str:
    with (ROOT / "results" / run.folder / "tables.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["metric"] == metric and row["mean"]]
    means: dict[tuple[str, str], dict[str, float]] = {}
    for row in rows:
        means.setdefault((row["dataset"], row["learner"]), {})[row["method"]] = round(float(row["mean"]), 3)
    return str(sum(values.get(method) == min(values.values()) for values in means.values()))


_NUMBERS = {
    function.__name__.replace("_", "-"): function
    for function in (
        at, infinite_on, in_band, share_in_band, out_of_band, differences_in_band, splits, ranked, median, reading,
        first_repetition_minutes,
        median_of_reading, printed, count, interval, on_all, tally, wilcoxon, verdict, verdicts, rank_of,
        critical_difference, sure_places, partial_verdict, partial_verdicts, partial_mean_verdicts, pair_p,
        worse_datasets, separated_labels, figure, gate, compared, digits_in_band, digits_same, identical_digits, loss,
        near_the_best, failures, own_infinite, published_infinite, not_judged, infinite_in, published_below, normalised,
        best_of_multiclass,
    )
}  # fmt: skip
