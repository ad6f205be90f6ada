"""Draws the answer of the arena: python -m research.arena_figures results/arena.

Writes three figures into the folder, each as .png and .svg: ``probing-by-learner``, ``elo-by-seconds`` and
``probing-by-rows``. The numbers are those of research/arena_answer.py and of ``probcal leaderboard``.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from probcal.analysis.rankings import mean_of_known
from probcal.reporting.comparison.leaderboard import Scores, leaderboard, measure_scores
from probcal.reporting.drawing import COLOURS, GREY, drawing_style, save_figure
from probcal.store.folder import Store
from probcal.store.stored_experiment import StoredExperiment
from research.arena_answer import EQUAL_FITS, Share, candidates, equal_fits, equal_seconds
from research.arena_answer import by_rows as rows_of

LABELS = {
    "logistic": "logistic regression", "nb": "naive Bayes", "svm": "linear SVM", "tree": "tree",
    "forest": "random forest", "extra": "extra trees", "hist": "HistGradientBoosting",
    "lightgbm": "LightGBM", "catboost": "CatBoost", "mlp": "neural network", "all": "all together",
}  # fmt: skip
KINDS = {
    "training": (("probing", "weight_sweep"), COLOURS[1], "s", "weighted training"),
    "ensemble": (("bagging", "reseeded"), COLOURS[2], "D", "ensembles of equal fits"),
    "nothing": (("direct", "fold_mean"), COLOURS[4], "X", "nothing, or the mean of five fits"),
    "map": ((), COLOURS[0], "o", "maps"),
}
"""Groups of methods: first words of their names, colour, mark and label. Any other method is a map."""
NAMED_MAPS = ("isotonic", "venn_abers", "platt_probs", "histogram")
LEFT_LABELS = ("probing.fits20", "isotonic", "probing.fits100", "bagging.fits100", "platt_probs", "histogram")


def main(words: Sequence[str] | None = None) -> None:
    """Write the three figures."""
    parser = argparse.ArgumentParser(prog="python -m research.arena_figures", description=__doc__.partition("\n\n")[0])
    parser.add_argument("folder", type=Path, help="results of probcal run arena")
    parser.add_argument("--metric", default="log_loss", help="(%(default)s)")
    args = parser.parse_args(words)
    store = Store(args.folder)
    arena = candidates(measure_scores(StoredExperiment.of(store), store.results(), args.metric))
    with drawing_style():
        save_figure(by_learner(arena), args.folder / "probing-by-learner")
        save_figure(by_seconds(arena), args.folder / "elo-by-seconds")
        save_figure(by_rows(arena), args.folder / "probing-by-rows")


def by_learner(arena: Scores) -> Figure:
    """Return, for each learner, how often Probing wins at equal fits and at equal seconds."""
    fits = {(row[0], row[2]): row[4] for row in equal_fits(arena) if (row[0], row[1]) in EQUAL_FITS[:2]}
    seconds = {(row[0], row[1]): row[5] for row in equal_seconds(arena)}
    figure = Figure(figsize=(7.6, 4.2), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    names = [*arena.learners, "all"]
    for axes, values, title in (
        (panels[0], fits, "Equal fits: against bagging\nwith as many fits"),
        (panels[1], seconds, "Equal seconds: against the best rival\nthat takes no longer"),
    ):
        for number, method in enumerate(("probing.fits20", "probing.fits100")):
            shares = [values.get((method, name)) for name in names]
            heights = np.arange(len(names)) + 0.28 * (0.5 - number)
            _dots(axes, shares, heights, COLOURS[number], "os"[number], f"{method[-3:].strip('s')} fits")
        axes.set_title(title)
        axes.set_xlabel("share of tables on which Probing is better, %")
    panels[0].set_yticks(range(len(names)), [LABELS.get(name, name) for name in names])
    panels[0].invert_yaxis()
    handles, _ = panels[0].get_legend_handles_labels()
    figure.legend(
        handles, ["Probing, 20 fits", "Probing, 100 fits"], loc="outside lower center", ncols=2, frameon=False
    )
    return figure


def by_seconds(arena: Scores) -> Figure:
    """Return the Elo rating of each method against its seconds, over all learners.

    Seconds are a multiple of those of ``fold_mean``, which every learner has. Not every learner has every method, so
    means of plain seconds would compare different learners.
    """
    with np.errstate(divide="ignore"):
        times = np.log(arena.seconds / arena.seconds[:, :, [arena.methods.index("fold_mean")]])
    multiples = np.exp(mean_of_known(mean_of_known(times, axis=1), axis=0))
    figure = Figure(figsize=(7.2, 4.6), layout="constrained")
    axes = figure.subplots()
    for (_, colour, mark, label), kind in zip(KINDS.values(), KINDS, strict=True):
        for standing in (standing for standing in leaderboard(arena).standings if _kind(standing.method) == kind):
            x, y = multiples[arena.methods.index(standing.method)], standing.elo.value
            bars = [[y - standing.elo.low], [standing.elo.high - y]]
            axes.errorbar(x, y, bars, fmt=mark, color=colour, markersize=5, linewidth=0.8, label=label)
            if kind != "map" or standing.method in NAMED_MAPS:
                place: Any = (
                    {"xytext": (-6, 4), "ha": "right"} if standing.method in LEFT_LABELS else {"xytext": (6, 4)}
                )
                axes.annotate(standing.method, (x, y), textcoords="offset points", fontsize=8, **place)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.set_xlabel("seconds to fit and predict, as a multiple of the mean of five fits (fold_mean)")
    axes.set_ylabel("Elo by log loss (the learner alone: 1000)")
    axes.grid(color="#dddddd", linewidth=0.5)
    axes.set_axisbelow(True)
    handles, labels = axes.get_legend_handles_labels()
    axes.legend(
        *zip(*{name: (handle, name) for handle, name in zip(handles, labels, strict=True)}.values(), strict=True)
    )
    return figure


def by_rows(arena: Scores) -> Figure:
    """Return how often Probing beats bagging and isotonic regression, for few and for many training rows."""
    figure = Figure(figsize=(7.2, 3.4), layout="constrained")
    axes = figure.subplots()
    rows = [row for row in rows_of(arena) if row[2] == "all"]
    groups = {str(row[3]): str(row[4]) for row in rows}
    for number, pair in enumerate(dict.fromkeys((str(row[0]), str(row[1])) for row in rows)):
        values = {row[3]: row[5] for row in rows if (row[0], row[1]) == pair}
        heights = np.arange(len(groups)) + 0.24 * (number - 0.5)
        _dots(
            axes,
            [values.get(name) for name in groups],
            heights,
            COLOURS[2 * number],
            "os"[number],
            " against ".join(pair),
        )
    axes.set_yticks(range(len(groups)), [f"{name} ({n} tables)" for name, n in groups.items()])
    axes.set_ylim(len(groups) - 0.5, -0.5)
    axes.set_ylabel("training rows")
    axes.set_xlabel("share of tables on which Probing is better, %")
    figure.legend(loc="outside lower center", ncols=2, frameon=False)
    return figure


def _dots(axes: Axes, shares: Sequence[object], heights: np.ndarray, colour: str, mark: str, label: str) -> None:
    points = [(share, height) for share, height in zip(shares, heights, strict=True) if isinstance(share, Share)]
    x = np.array([100 * share.value for share, _ in points])
    bars = [x - [100 * share.low for share, _ in points], [100 * share.high for share, _ in points] - x]
    axes.errorbar(x, [height for _, height in points], xerr=bars, fmt=mark, color=colour, markersize=5, label=label)
    axes.axvline(50, color=GREY, linewidth=0.8, zorder=0)
    axes.set_xlim(0, 100)
    axes.grid(axis="x", color="#dddddd", linewidth=0.5)
    axes.set_axisbelow(True)


def _kind(method: str) -> str:
    name = method.partition(".")[0]
    return next((kind for kind, (words, *_) in KINDS.items() if name in words), "map")


if __name__ == "__main__":
    main()
