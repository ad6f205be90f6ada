"""Text and JSON of the agreement with a paper and of the power of the check."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from tabulate import tabulate

from probcal.metrics.metric import INFINITY
from probcal.metrics.registry import metric_named
from probcal.papers.check.agreement import SHUFFLES, Agreement, AgreementFigures
from probcal.papers.check.checked_experiment import Report

MISSING_MARK = "-"
"""Mark of a figure that nothing can be counted for."""


def agreement_lines(agreement: Agreement) -> list[str]:
    """Return the figures of agreement, with those of shuffled columns and of the plain column beside them."""
    note = f" ({agreement.misprints} misprints left out)" if agreement.misprints else ""
    heading = f"agreement with {agreement.numbers} published numbers{note}"
    table = table_lines(agreement_rows(agreement), [f"{heading}:", "ours", "shuffled", *_plain_header(agreement.plain)])
    return [*table, *(f"  {line}" for line in order_lines(agreement))]


def order_lines(agreement: Agreement) -> list[str]:
    """Return what the share of pairs in the same order must exceed, and what it can hardly exceed."""
    lines = []
    if (null := agreement.other_datasets.pairs_kept) is not None:
        lines.append(f"pairs in the order that our columns have on the other data sets: {percent_text(null)}")
    if (ceiling := agreement.one_split.pairs_kept) is not None:
        lines.append(f"pairs of one of our splits in the order of our other splits: {percent_text(ceiling)}")
    return lines


def agreement_rows(agreement: Agreement) -> list[list[str]]:
    """Return one row per figure: its name, and its values for ours, shuffled columns and the plain column."""
    figures = [figure for figure in (agreement.ours, agreement.shuffled, agreement.wrong) if figure is not None]
    columns = [_figure_texts(figure) for figure in figures]
    return [[name, *(column[name] for column in columns)] for name in columns[0]]


def _figure_texts(figures: AgreementFigures) -> dict[str, str]:
    medians = {
        f"median absolute difference, {metric_named(metric).short}": _number_text(median)
        for metric, median in figures.median_difference.items()
    }
    return {
        "digits identical": percent_text(figures.identical),
        "within one unit of the last digit": percent_text(figures.within_one_unit),
        **medians,
        "order of the columns, Kendall's tau": _number_text(figures.tau, 2),
        "pairs of columns in the same order": percent_text(figures.pairs_kept),
        "in band": percent_text(figures.in_band),
    }


def power_text(report: Report) -> str:
    """Return what the check would let pass, as two tables."""
    stored = report.experiment.stored
    lines = [f"{stored.title} ({report.experiment.store.folder})", ""]
    if report.agreement is None:
        return "\n".join([*lines, "no published number to compare with our results\n"])
    plain = report.agreement.plain
    header = ["numbers that pass the check, by rule:", "numbers", "excused", "ours", "shuffled", *_plain_header(plain)]
    rows = [
        [gate.name, str(gate.numbers), str(gate.excused), *map(percent_text, (gate.ours, gate.shuffled))]
        + ([percent_text(gate.wrong)] if plain else [])
        for gate in report.gates
    ]
    lines += [*agreement_lines(report.agreement), "", *table_lines(rows, header), ""]
    notes = [f"shuffled: our columns in a random order within each data set, the mean of {SHUFFLES} orders"]
    notes += [f"{plain} everywhere: our {plain} stands in every column"] if plain else []
    notes += ["excused: a known deviation lets any number pass; a number that cannot be judged passes too"]
    return "\n".join([*lines, *(f"  {note}" for note in notes), ""])


def _plain_header(plain: str | None) -> list[str]:
    return [f"{plain} everywhere"] if plain else []


def power_json(report: Report) -> dict[str, Any]:
    """Return the same figures as a mapping, with shares from 0 to 1."""
    return {
        "experiment": report.experiment.stored.name,
        "folder": str(report.experiment.store.folder),
        "agreement": asdict(report.agreement) if report.agreement else None,
        "passes": [asdict(gate) for gate in report.gates],
    }


def table_lines(rows: list[list[str]], header: list[str]) -> list[str]:
    """Return a table whose first column is text and whose others are numbers, aligned at the right."""
    align = ("left", *["right"] * (len(header) - 1))
    table = tabulate([["  " + row[0], *row[1:]] for row in rows], header, "plain", disable_numparse=True,
                     preserve_whitespace=True, colalign=align)  # fmt: skip
    return [line.rstrip() for line in table.splitlines()]


def percent_text(share: float | None) -> str:
    return MISSING_MARK if share is None else f"{100 * share:.0f} %"


def _number_text(number: float | None, decimals: int = 3) -> str:
    if number is None:
        return MISSING_MARK
    # Adding 0.0 turns -0.0 into 0.0, which has no sign.
    return f"{round(number, decimals) + 0.0:.{decimals}f}".replace("inf", INFINITY)
