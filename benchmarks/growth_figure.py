"""Draws what growth.py measured and growth_model.py made of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from growth import AT_PROBES, AT_ROWS, AT_ROWS_OF, Measurement
from growth_model import Model, is_known
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from probcal.reporting.drawing import COLOURS, look, save, titled_figure

NAMES = {
    "gaussian_nb": "Gaussian naive Bayes",
    "logistic": "logistic regression",
    "linear_svm": "linear SVM",
    "c45": "C4.5",
}
WAYS = {"loop": ("loop", COLOURS[1], "s"), "probing": ("Probing", COLOURS[0], "o")}
TITLE = "CPU seconds, 50 columns. Filled marks: the model, a line, was fitted to them; open ones it predicts."
_SMALL, _LIFTED = "0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"


def draw(models: list[Model], groups: list[list[Measurement]], stem: Path) -> list[Path]:
    """``stem``.png and .svg: a column a learner, time against rows above and against probes below; logarithmic."""
    learners = [name for name in NAMES if any(model.learner == name for model in models)]
    with look():
        figure = titled_figure(TITLE, 2.2 * len(learners) + 0.4, 4.4)
        grid = figure.subplots(2, len(learners), sharey=True, sharex="row", squeeze=False)
        for column, learner in zip(grid.T, learners, strict=True):
            both = [(one, of) for one, of in zip(models, groups, strict=True) if one.learner == learner]
            rows = AT_ROWS_OF.get(learner, AT_ROWS)
            _panel(column[0], [(one, [run for run in of if run.probes == AT_PROBES]) for one, of in both], rows=None)
            _panel(column[1], [(one, [run for run in of if run.rows == rows]) for one, of in both], rows=rows)
            column[0].set_title(NAMES[learner])
            column[0].set_xlabel(f"rows, {AT_PROBES} probes")
            column[1].set_xlabel(f"probes, {rows:,} rows")
        for axes in grid[:, 0]:
            axes.set_ylabel("CPU seconds")
        return save(figure, stem)


def _panel(axes: Axes, both: list[tuple[Model, list[Measurement]]], rows: int | None) -> None:
    """Against the probes on so many ``rows``, or against the rows."""
    along = "rows" if rows is None else "probes"
    axes.set(xscale="log", yscale="log")
    ends = [getattr(one, along) for _, measured in both for one in measured]
    line = np.geomspace(min(ends), max(ends), 51)
    seconds = [model.seconds(line, AT_PROBES) if rows is None else model.seconds(rows, line) for model, _ in both]
    for (model, measured), times in zip(both, seconds, strict=True):
        said, colour, marker = WAYS[model.way]
        for one in measured:
            axes.plot(getattr(one, along), one.cpu, marker, color=colour, fillstyle="full" if is_known(one) else "none")
        axes.plot(line, times, "-", color=colour, linewidth=0.8)
        above = times[25] >= max(other[25] for other in seconds)
        axes.annotate(
            said,
            (line[25], times[25]),
            xytext=(-4, 8) if above else (4, -8),
            textcoords="offset points",
            color=colour,
            horizontalalignment="right" if above else "left",
            verticalalignment="center",
        )
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(LogLocator(10))
        axis.set_major_formatter(FuncFormatter(lambda value, _: _said(value)))
        axis.set_minor_formatter(NullFormatter())
    axes.grid(which="major", color="#cccccc", linewidth=0.5)
    axes.set_axisbelow(True)


def _said(value: float) -> str:
    if value < 10_000:
        return f"{value:g}"
    return "10" + f"{np.log10(value):.0f}".translate(str.maketrans(_SMALL, _LIFTED))
