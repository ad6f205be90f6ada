"""Draws what growth.py measured and growth_model.py made of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from growth import Measurement
from growth_model import Model, is_small
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from probcal.show.drawing import COLOURS, look, save

NAMES = {
    "gaussian_nb": "Gaussian naive Bayes",
    "logistic": "logistic regression",
    "linear_svm": "linear SVM",
    "tree": "decision tree",
}
WAYS = {"loop": ("loop", COLOURS[1], "s"), "probing": ("Probing", COLOURS[0], "o")}


def draw(models: list[Model], groups: list[list[Measurement]], stem: Path) -> list[Path]:
    """``stem``.png and .svg: a column a learner, time against rows above and against probes below; logarithmic."""
    learners = [name for name in NAMES if any(model.learner == name for model in models)]
    with look():
        figure = Figure(figsize=(2.3 * len(learners) + 0.6, 5), layout="constrained")
        grid = figure.subplots(2, len(learners), sharey=True, sharex="row", squeeze=False)
        for model, measured in zip(models, groups, strict=True):
            column = grid[:, learners.index(model.learner)]
            _panel(column[0], model, [one for one in measured if one.probes == 100], "rows")
            _panel(column[1], model, [one for one in measured if one.rows == 30_000], "probes")
        for axes, name in zip(grid[0], learners, strict=True):
            axes.set_title(NAMES[name])
        for row, said in zip(grid, ("rows, with 100 probes", "probes, on 30,000 rows"), strict=True):
            row[0].set_ylabel("CPU seconds")
            for axes in row:
                axes.set_xlabel(said)
        figure.suptitle("Measured (filled: the model was fitted to it, open: not) and the model, line; 50 columns")
        return save(figure, stem)


def _panel(axes: Axes, model: Model, measured: list[Measurement], along: str) -> None:
    said, colour, marker = WAYS[model.way]
    axes.set(xscale="log", yscale="log")
    for one in measured:
        axes.plot(getattr(one, along), one.cpu, marker, color=colour, fillstyle="full" if is_small(one) else "none")
    ends = [getattr(one, along) for one in measured] or [10, 400]
    line = np.geomspace(min(ends), max(ends), 50)
    seconds = model.seconds(line, 100) if along == "rows" else model.seconds(30_000, line)
    axes.plot(line, seconds, "-", color=colour, linewidth=0.8)
    above = model.way == "loop"
    axes.annotate(
        said,
        (line[25], seconds[25]),
        xytext=(0, 9 if above else -9),
        textcoords="offset points",
        color=colour,
        horizontalalignment="right" if above else "left",
        verticalalignment="center",
    )
    axes.yaxis.set_major_locator(LogLocator(10))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}" if value >= 1 else f"{value:g}"))
        axis.set_minor_formatter(NullFormatter())
    axes.grid(which="major", color="#cccccc", linewidth=0.5)
    axes.set_axisbelow(True)
