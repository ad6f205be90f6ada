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
from probcal.papers.check.audit import Audit, audit
from probcal.papers.check.checked_experiment import Report, check
from probcal.papers.check.findings import CheckedResults
from probcal.papers.check.judged_claims import PublishedNumbers, judge
from probcal.papers.check.power_text import percent
from probcal.reporting.comparison.claim_support import ClaimSupport, Comparison, compare
from probcal.reporting.comparison.comparison_tables import wins_text
from probcal.reporting.comparison.pairs import Pair, p_text
from probcal.store.folder import Store


def asked(folder: str, words: str) -> str:
    """``words``: the name of a function below, with its arguments, or that of a table. Raises KeyError for another."""
    name, *arguments = words.split()
    return TABLES[name](Asked(folder)) if name in TABLES else str(_ASKED[name](Asked(folder), *arguments))


class Asked:
    """A folder of results; what is read of it is read once."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    @property
    def checked(self) -> CheckedResults:
        return _report(self.folder).checked

    @property
    def report(self) -> Report:
        return _report(self.folder)

    @property
    def comparison(self) -> Comparison:
        return _comparison(self.folder)

    def claim(self, label: str) -> ClaimSupport:
        return next(one for one in self.comparison.claims if one.claim.label == label)

    def printed(self, label: str) -> str:
        """The paper's own count, as ``wins_text`` writes ours."""
        paper = self.checked.published
        claim = next(one for one in paper.claims if one.label == label)
        tallies = judge(claim, paper, PublishedNumbers(paper)).tallies.values()
        known = {tally.known for tally in tallies}
        return f"{', '.join(str(tally.wins) for tally in tallies)} of {max(known)}" if max(known, default=0) else ""


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


def at(asked: Asked, dataset: str, column: str, *metrics: str) -> str:
    """Our means, RMS / CXE / AUC unless others are named; ∞ as soon as one split is.

    ``column`` is ``learner/method``, or the paper's name, such as ProbSVM.
    """
    row = next(one for one in asked.checked.outline.datasets if one.name == dataset)
    found = next(one for one in asked.checked.outline.columns if column in (f"{one.learner}/{one.method}", one.label))
    values = (asked.checked.splits(row, found, metric).values() for metric in metrics or ("rms", "cxe", "auc"))
    return " / ".join(short(statistics.fmean(one)) for one in values)


def infinite_on(asked: Asked, dataset: str, column: str) -> str:
    """On how many splits CXE is ∞: ``2 of 10``."""
    row = next(one for one in asked.checked.outline.datasets if one.name == dataset)
    found = next(one for one in asked.checked.outline.columns if f"{one.learner}/{one.method}" == column)
    values = asked.checked.splits(row, found, "cxe").values()
    return f"{sum(map(math.isinf, values))} of {len(values)}"


def infinite_in(asked: Asked, column: str) -> str:
    """Every data set on which CXE is ∞ on some split: ``Adult (1 of 1) and Kr-vs-kp (1 of 10)``."""
    every = [(row, infinite_on(asked, row.name, column)) for row in asked.checked.outline.datasets]
    return listed([f"{row.title} ({said})" for row, said in every if not said.startswith("0 ")])


def in_band(asked: Asked, dataset: str = "") -> str:
    compared = [one for one in asked.report.numbers.all if one.state in ("in band", "out of band")]
    of = [one for one in compared if dataset in ("", one.of)]
    return f"{sum(one.state == 'in band' for one in of)} of {len(of)}"


def share_in_band(asked: Asked) -> str:
    some, every = map(int, in_band(asked).split(" of "))
    return f"{100 * some / every:.0f} %"


def figure(asked: Asked, name: str, which: str) -> str:
    """A figure of agreement: ``in-band shuffled`` is ``73 %``. Of ``ours``, ``shuffled`` and ``wrong`` columns."""
    value = getattr(getattr(asked.report.agreement, which), name.replace("-", "_"))
    return f"{value:.2f}".removeprefix("0") if name == "tau" else percent(value)


def gate(asked: Asked, place: str, which: str) -> str:
    """The share of ``ours``, ``shuffled`` or ``wrong`` columns that the rule at this place lets pass."""
    return percent(getattr(asked.report.gates[int(place)], which))


def compared(asked: Asked) -> str:
    """How many published numbers have results of ours, without misprints."""
    return str(asked.report.agreement.numbers)


def digits_same(asked: Asked, *datasets: str) -> str:
    """How many numbers of exact columns on published splits are the printed digits: ``84 of 90``."""
    every = [one for one in asked.report.digits.all if not datasets or one.of in datasets]
    return f"{sum(one.distance == 0 for one in every)} of {len(every)}"


def digits_in_band(asked: Asked, *datasets: str) -> str:
    """How many numbers of exact columns on published splits are within one unit of the last digit."""
    every = [one for one in asked.report.digits.all if not datasets or one.of in datasets]
    return f"{sum(one.state == 'in band' for one in every)} of {len(every)}"


def out_of_band(asked: Asked, dataset: str = "") -> str:
    return str(sum(one.state == "out of band" and dataset in ("", one.of) for one in asked.report.numbers.all))


def differences_in_band(asked: Asked, dataset: str = "") -> str:
    compared = [
        one
        for one in asked.report.differences.all
        if one.state in ("in band", "out of band") and dataset in ("", one.of)
    ]
    return f"{sum(one.state == 'in band' for one in compared)} of {len(compared)}"


def first_repetition_minutes(asked: Asked, *left_out: str) -> str:
    """Minutes of one processor for the first repetition of all data sets, without the columns ``LEARNER/METHOD``."""
    results = Store(ROOT / "results" / asked.folder).results().values()
    cells = [one for one in results if one.repetition == 0 and f"{one.learner}/{one.method}" not in left_out]
    return f"{sum(one.seconds for one in cells) / 60:.0f}"


def splits(asked: Asked) -> str:
    return str(max(asked.checked.outline.repetitions.values()))


def ranked(asked: Asked, variant: str) -> str:
    found = next(one for each in _audit(asked.folder).columns for one in each.ranked if one.name == variant)
    return f"{found.in_band} of {found.compared}"


def median(asked: Asked, variant: str) -> str:
    found = next(one for each in _audit(asked.folder).columns for one in each.ranked if one.name == variant)
    return f"{found.median:.2f}".removeprefix("0")


def reading(asked: Asked, dataset: str, row: str) -> str:
    found = next(one for one in _audit(asked.folder).readings[dataset][1] if one.name == row)
    return f"{found.in_band} of {found.compared}"


def median_of_reading(asked: Asked, dataset: str, row: str) -> str:
    found = next(one for one in _audit(asked.folder).readings[dataset][1] if one.name == row)
    return f"{found.median:.2f}".removeprefix("0")


def printed(asked: Asked, label: str) -> str:
    """By the paper's own tables, one number a metric."""
    return asked.printed(label)


def count(asked: Asked, label: str) -> str:
    """``16 of 36``."""
    [one] = asked.claim(label).counts.values()
    return f"{one.wins} of {one.known}"


def interval(asked: Asked, label: str) -> str:
    [one] = asked.claim(label).counts.values()
    return f"{one.splits[0]} to {one.splits[1]}"


def on_all(asked: Asked, label: str) -> str:
    """``19.5 of 45 (12 to 28)``."""
    [one] = asked.claim(label).counts.values()
    mean, low, high = one.on_all
    return f"{mean:.1f} of {one.total} ({low} to {high})"


def tally(asked: Asked, label: str) -> str:
    """``5, 3, 5 of 12``, one number a metric."""
    return wins_text(asked.claim(label))


def wilcoxon(asked: Asked, label: str, metric: str) -> str:
    """Holm's p over the pairs of methods."""
    return p_text(asked.claim(label).counts[metric].wilcoxon_holm).replace("<", "&lt;")


def verdict(asked: Asked, label: str) -> str:
    return asked.claim(label).verdict


def verdicts(asked: Asked, which: str) -> str:
    """How many claims came to a verdict, ``not-supported`` with a hyphen."""
    return str(sum(one.verdict == which.replace("-", " ") for one in asked.comparison.claims))


def verdict_there(asked: Asked, label: str) -> str:
    """Of the data sets that were run, as if they were all."""
    return (asked.claim(label).on_those_run or asked.claim(label).drawn).verdict


def verdicts_there(asked: Asked, which: str) -> str:
    claims = asked.comparison.claims
    return str(sum((one.on_those_run or one.drawn).verdict == which.replace("-", " ") for one in claims))


def by_the_means_there(asked: Asked, which: str) -> str:
    """``12 of 17``."""
    every = [(one.on_those_run or one.drawn).by_the_means for one in asked.comparison.claims]
    return f"{every.count(which.replace('-', ' '))} of {len(every)}"


def pair_p(asked: Asked, metric: str, later: str, earlier: str) -> str:
    """Wilcoxon's, after Holm, of two labels."""
    return p_text(_pair(asked, metric, later, earlier).p_holm).replace("<", "&lt;")


def _pair(asked: Asked, metric: str, later: str, earlier: str) -> Pair:
    every = asked.comparison.pairs[metric]
    return next(one for one in every if (one.later.label, one.earlier.label) == (later, earlier))


def behind(asked: Asked, later: str, earlier: str, metric: str) -> str:
    """Titles of the data sets in which the first of two labels has the worse mean."""
    found = _pair(asked, metric, later, earlier)
    sign = 1 if metric_named(metric).larger_is_better else -1
    return listed([one.row.title for one in found.tested if sign * one.difference < 0])


def told_apart(asked: Asked, metric: str, label: str) -> str:
    """Labels that Nemenyi's test tells from this one."""
    found = asked.comparison.ranks[metric]
    near = {one for group in found.groups for one in group if label in group}
    return listed([one for one in found.labels if one not in near and one != label])


def infinite_here(asked: Asked) -> str:
    """Where ours is ∞ and the published number is not in its band."""
    return _where(asked, lambda one: one.state == "out of band" and one.infinite > 0 and not math.isinf(one.published))


def infinite_there(asked: Asked) -> str:
    """Where the published number is ∞ and ours is finite on every split, whether that can be judged or not."""
    return _where(asked, lambda one: math.isinf(one.published) and bool(one.values) and not one.infinite)


def not_judged(asked: Asked) -> str:
    return str(sum(one.state == "cannot be judged" for one in asked.report.numbers.all))


def _where(asked: Asked, wanted: Callable[[Any], bool]) -> str:
    titles = {row.name: row.title for row in asked.checked.outline.datasets}
    found = [one for one in asked.report.numbers.all if wanted(one)]
    return listed([f"{one.what} on {titles[one.dataset]}" for one in found])


def published_below(asked: Asked, dataset: str, metric: str) -> str:
    """How many published numbers of a data set are below our mean: ``10 of 10``."""
    found = [one for one in asked.report.numbers.all if (one.dataset, one.metric) == (dataset, metric) and one.values]
    return f"{sum(one.published < one.mean for one in found)} of {len(found)}"


def listed(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1])] * (len(names) > 1) + names[-1:]) or "none"


def rank_of(asked: Asked, metric: str, label: str) -> str:
    found = asked.comparison.ranks[metric]
    return f"{found.mean_ranks[found.labels.index(label)]:.2f}"


def critical_difference(asked: Asked, metric: str) -> str:
    return f"{asked.comparison.ranks[metric].critical_difference:.2f}"


def sure_places(asked: Asked, share: str) -> str:
    """Of how many first places one method has at least that share of the draws to itself or shared."""
    every = [one for one in asked.comparison.places if one.printed is not None]
    return f"{sum(max(one.shares.values(), default=0) >= float(share) for one in every)} of {len(every)}"


def loss(asked: Asked, rows: str, learner: str, method: str) -> str:
    """The mean log loss in bits over the data sets with ``few`` training rows, or with ``many``."""
    found = _losses(asked.folder)
    of = found[(found["learner"] == learner) & (found["method"] == method)]
    return short(float(of.loc[of["dataset"].isin(defaults.FEW_ROWS) == (rows == "few"), "loss"].mean()))


def near_the_best(asked: Asked, method: str, bits: str) -> str:
    """With how many learners the mean loss is at most ``bits`` above that of the best map: ``12 of 14``.

    The learners count twice, with few training rows and with many.
    """
    found = _losses(asked.folder).assign(few=lambda each: each["dataset"].isin(defaults.FEW_ROWS))
    means = found[~found["method"].isin(defaults.OTHERS)].groupby(["few", "learner", "method"])["loss"].mean().unstack()
    near = means[method] <= means.min(axis=1) + float(bits)
    return f"{int(near.sum())} of {len(near)}"


def failures(asked: Asked) -> str:
    """How many combinations fail the gate: ``15 of 1,000``."""
    judged = defaults.judge(_losses(asked.folder))
    return f"{int(judged['failed'].sum())} of {len(judged):,}"


def normalised(asked: Asked, metric: str, which: str) -> str:
    """How many ``pairs`` of data set and learner; in how many is normalised Probing ``better``, ``worse``."""
    with (ROOT / "results" / asked.folder / "tables.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["metric"] == metric and row["mean"] not in ("", "nan")]
    by_pair: dict[tuple[str, str], dict[str, float]] = {}
    for row in rows:
        by_pair.setdefault((row["dataset"], row["learner"]), {})[row["method"]] = float(row["mean"])
    sign = -1 if metric == "auc" else 1
    gains = [sign * (of["probing.difference"] - of["probing.normalised"]) for of in by_pair.values()]
    if which == "pairs":
        return str(len(gains))
    return str(sum((gain if which == "better" else -gain) >= ROUNDING for gain in gains))


def best_of_multiclass(asked: Asked, metric: str, method: str) -> str:
    with (ROOT / "results" / asked.folder / "tables.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["metric"] == metric and row["mean"]]
    by_pair: dict[tuple[str, str], dict[str, float]] = {}
    for row in rows:
        by_pair.setdefault((row["dataset"], row["learner"]), {})[row["method"]] = round(float(row["mean"]), 3)
    return str(sum(of.get(method) == min(of.values()) for of in by_pair.values()))


_ASKED = {
    one.__name__.replace("_", "-"): one
    for one in (
        at, infinite_on, in_band, share_in_band, out_of_band, differences_in_band, splits, ranked, median, reading,
        first_repetition_minutes,
        median_of_reading, printed, count, interval, on_all, tally, wilcoxon, verdict, verdicts, rank_of,
        critical_difference, sure_places, verdict_there, verdicts_there, by_the_means_there, pair_p, behind, told_apart,
        figure, gate, compared, digits_in_band, digits_same, loss, near_the_best, failures,
        infinite_here, infinite_there, not_judged, infinite_in, published_below, normalised, best_of_multiclass,
    )
}  # fmt: skip
