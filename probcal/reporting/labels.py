"""How a metric is called in a table, and which end of it is the good one.

In which order the tables stand, and their numbers.

The footnotes: what each mark means, and what is missing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from probcal._io import visible
from probcal.metrics.registry import loss_parameter
from probcal.reporting.grid import DECIMALS, INCOMPLETE, INFINITY, NOT_RUN, Grid
from probcal.store.cell_result import CellResult
from probcal.store.outline import Departure, Outline
from probcal.store.summary import Census, Summary


@dataclass(frozen=True)
class MetricName:
    short: str
    long: str
    larger_is_better: bool = False
    no_end: str = ""
    """Why neither end is the better one, where it is not; no column is then the best."""
    decimals: int = DECIMALS

    @property
    def good_end(self) -> str:
        if self.no_end:
            return self.no_end
        return "larger is better" if self.larger_is_better else "smaller is better"

    def best(self, numbers: list[float]) -> float:
        return max(numbers) if self.larger_is_better else min(numbers)


_OF_THE_DATA = "of the data, whatever the estimates"
# In the order of the tables of Langford & Zadrozny, section 5.
_KNOWN = {
    "cxe": MetricName("CXE", "Cross entropy (bits)"),
    "cxe_clipped": MetricName("CXE clipped", "Cross entropy (bits) with the estimates clipped to [.001, .999]"),
    "rms": MetricName("RMS", "Root mean squared error"),
    "auc": MetricName("AUC", "Area under the ROC curve", larger_is_better=True),
    "c_emp": MetricName("c_emp", "Empirical calibration error c_emp"),
    "ece": MetricName("ECE", "Expected calibration error (15 bins of equal width)"),
    "ks": MetricName("KS", "Kolmogorov-Smirnov calibration error"),
    "c_emp_p": MetricName("p(c_emp)", "P-value of c_emp if calibrated", larger_is_better=True),
    "l1": MetricName("l1", "Distance from the true probability (l1 error)"),
    "l1_trivial": MetricName("l1 trivial", "l1 error of the frequency of labels as estimate", no_end=_OF_THE_DATA),
    "frequency": MetricName("freq", "Frequency of labels", no_end=_OF_THE_DATA),
    "errors": MetricName("Errors", "Errors: rows whose likeliest class is not theirs", decimals=1),
    "log10_loss": MetricName("Loss", "Cumulative log loss (decimal logarithm)", decimals=1),
    "l2": MetricName("l2", "Distance from the true probability (root mean square)"),
    "l_max": MetricName("l max", "Distance from the true probability (largest)"),
    "log10_martingale": MetricName(
        "log10 S", "Martingale at the end (log10)", no_end="what each method gains over a base of its own", decimals=1
    ),
    "crossings": MetricName(
        "Crossings", "Pairs of thresholds whose boundaries cross", no_end="of the classifiers behind it", decimals=1
    ),
}
TABLES_1_TO_3 = ("cxe", "rms", "auc")


def metric_name(metric: str) -> MetricName:
    """An unknown metric goes by its own name and is a loss."""
    parameter = loss_parameter(metric)
    if parameter is not None:
        return MetricName(metric, f"Expected cost at loss parameter {parameter:g}")
    return _KNOWN.get(metric, MetricName(metric, metric))


def in_order(metrics: Iterable[str]) -> list[str]:
    """Those of Tables 1 to 3 first, as they are there; each once."""
    every = list(dict.fromkeys(metrics))
    first = [metric for metric in TABLES_1_TO_3 if metric in every]
    return first + [metric for metric in every if metric not in first]


def numbered(
    metrics: Iterable[str], of_metric: Callable[[int, str], Grid], best: Callable[[int], Grid] | None
) -> list[Grid]:
    """CXE, RMS, AUC, then the ``best`` methods unless None, then the other metrics; each is given its number."""
    ordered = in_order(metrics)
    first = [metric for metric in ordered if metric in TABLES_1_TO_3]
    grids = [of_metric(number, metric) for number, metric in enumerate(first, 1)]
    if best:
        grids.append(best(len(grids) + 1))
    for metric in ordered[len(first) :]:
        grids.append(of_metric(len(grids) + 1, metric))
    return grids


UNDEFINED = "n/a"
_LONGEST_REASON = 120


def footnotes(summaries: Sequence[Summary], found: Census) -> list[str]:
    """Only of marks that stand in the table; failed and missing cells are counted over the experiment."""
    notes = []
    if any(0 < one.infinite < one.n for one in summaries):
        notes.append(f"{INFINITY} (k/n): k of n splits gave {INFINITY}, which makes the mean {INFINITY}.")
    if partial := sum(one.partial for one in summaries):
        notes.append(f"{INCOMPLETE} mean over fewer splits than planned ({partial} in this table).")
    if undefined := sum(one.undefined for one in summaries):
        notes.append(f"{UNDEFINED}: the metric has no value ({undefined} finished cells).")
    return notes + troubles(found)


def troubles(found: Census) -> list[str]:
    notes = []
    if found.failed:
        first = found.failed[0]
        notes.append(f"failed: {len(found.failed)} of {found.planned} cells; the first is {first.id}: {_reason(first)}")
    if found.failed_since:
        first = found.failed_since[0]
        notes.append(
            f"failed when run again: {len(found.failed_since)} of {found.planned} cells, whose last finished results "
            f"are kept and shown; the first is {first.id}: {_reason(first)}"
        )
    if found.not_run:
        of_empty = f"; none was run of {', '.join(found.empty)}" if found.empty else ""
        notes.append(f"{NOT_RUN} not run: {found.not_run} of {found.planned} cells{of_empty}.")
    if found.stale:
        notes.append(
            f"stale: {found.stale.total()} of {found.planned} cells were made under other settings, data or code than "
            f"the last run had, or of data that changed since ({_by_column(found.stale)}); probcal run renews them."
        )
    for kind, columns in sorted(found.warned.items()):
        notes.append(f"{visible(kind)} in {columns.total()} of {found.planned} cells: {_by_column(columns)}.")
    return notes


def exceptions(outline: Outline) -> list[str]:
    """What departs from its row and column, each with its reason."""
    return [_exception(outline, one) for one in outline.exceptions]


def skipped(outline: Outline) -> list[str]:
    """Those of ``exceptions`` that leave cells out."""
    return [_exception(outline, one) for one in outline.exceptions if one.skip]


def _exception(outline: Outline, departure: Departure) -> str:
    titles = {row.name: row.title for row in outline.datasets}
    where = ", ".join(titles[name] for name in departure.datasets if name in titles)
    return f"{where}, {_columns(outline, departure)} ({departure.what}): {departure.why}"


def _columns(outline: Outline, departure: Departure) -> str:
    """The labels of its columns; of a group that it takes as a whole, the group's."""
    named = []
    for group in dict.fromkeys(column.group for column in outline.columns):
        columns = [column for column in outline.columns if column.group == group]
        about = [column.label for column in columns if (column.learner, column.method) in departure.columns]
        named += [group] if len(about) == len(columns) else about
    return ", ".join(named)


def _by_column(counts: Counter[str]) -> str:
    return ", ".join(f"{label} {n}" for label, n in counts.most_common())


def _reason(result: CellResult) -> str:
    first_line = ((result.message or "").strip().splitlines() or [""])[0]
    said = visible(": ".join(filter(None, [result.error_type, first_line]))) or f"{result.status}, without a message"
    return said if len(said) <= _LONGEST_REASON else said[: _LONGEST_REASON - 1] + "…"
