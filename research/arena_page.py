"""Draw the figures of docs/arena.md and fill its numbers in: python -m research.arena_page results/arena-ensembles

Writes ``answer.md``, ``rule.md`` and three figures into the folder. What stands in a page between
``<!-- arena WORDS -->`` and ``<!-- end -->`` becomes what WORDS ask:

``effect NUMBER LEARNER SETTINGS [METRIC]``   mean difference of comparison NUMBER with its interval, in thousandths
``share NUMBER LEARNER SETTINGS``             share of tables on which the first side is better, with its interval
``map CLASSES,MAP LEARNER SETTINGS [METRIC]`` what a map changes against one fit without, with two classes or several
``five CLASSES,MAP LEARNER SETTINGS [METRIC]`` the same against the mean of five fits
``rule LEARNER CLASSES [CHOICE]``             thousandths of a nat above the best, on the half that scores
``fresh LEARNER CLASSES [CHOICE]``            the same on fresh splits
``scored LEARNER``                            number of tables of two classes that score the rule
``tables LEARNER``, ``power LEARNER``         number of tables, and power of a sign test for a true share of 64 %
``hours [LEARNER]``                           core-hours
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

import matplotlib.axes
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from benchmarks.score_rule import rule
from probcal.reporting.drawing import COLOURS, GREY, drawing_style, save_figure
from probcal.store.folder import Store
from research.arena_ensembles import (
    FAMILIES,
    NONE,
    PARTS,
    PRIMARY,
    Chooser,
    Effect,
    Losses,
    all_effects,
    entry_name,
    map_effects,
    report,
    share_text,
    sign_test_power,
)
from research.arena_rule import chosen_rule, fresh_store, halves, losses_of, page

ROOT = Path(__file__).parents[1]
PAGES = ("docs/arena.md", "docs/which-method.md", "docs/own-table.md", "README.md", "research/README.md")
BLOCK = re.compile(r"<!-- arena ([^>]+?) -->(.*?)<!-- end -->", re.DOTALL)
SETTINGS = {"default": COLOURS[1], "searched": COLOURS[0]}
BASES = {"one": "one model", "bags": "20 bags", "reseeded": "20 seeds", "probing": "Probing", "probing_n": "Probing, n"}
METRIC_NAMES = {"log": "bounded_log_loss", "brier": "brier", "calibration": "smece", "refinement": "refinement"}


class Study:
    """All that the page says of a folder of results, computed once."""

    def __init__(self, folder: Path) -> None:
        self.store = Store(folder)
        self.losses = {metric: Losses(self.store, metric) for metric in (*PRIMARY, *PARTS)}
        self.effects = all_effects(self.losses)
        self.maps = {"map": map_effects(self.losses, "direct"), "five": map_effects(self.losses, NONE)}

    @cached_property
    def frame(self) -> pd.DataFrame:
        return losses_of(self.store)

    def effect(self, number: str, learner: str, settings: str) -> Mapping[str, Effect]:
        """Return metric -> effect of a comparison by its number. Comparison 5 has base fits for ``settings``."""
        [effects] = [effects for title, effects in self.effects.items() if title.startswith(f"{number}.")]
        return effects[FAMILIES[learner], settings]

    def text(self, words: str) -> str:
        """Return what a page asks for. Raises KeyError if the results have no such number."""
        kind, *rest = words.split()
        if kind in ("rule", "fresh"):
            return self._rule_text(self.scoring if kind == "rule" else self.fresh, *rest)
        if kind in ("tables", "power"):
            n = self.effect("4", rest[0], "default")["bounded_log_loss"].n
            return str(n) if kind == "tables" else f"{sign_test_power(n):.2f}".removeprefix("0")
        if kind == "scored":
            return str(len(above_best(self.scoring, rest[0], several=False)["the rule"]))
        if kind == "hours":
            return self._hours(*rest)
        name, learner, settings, *metric = rest
        of: Mapping[str, Effect]
        if kind in self.maps:
            classes, method = name.split(",")
            of = self.maps[kind][FAMILIES[learner], settings, classes, method]
        else:
            of = self.effect(name, learner, settings)
        if kind == "share":
            return share_text(of["bounded_log_loss"])
        one = of[METRIC_NAMES[metric[0] if metric else "log"]]
        return f"{_number(one.mean)} ({_number(one.low)} to {_number(one.high)})"

    @cached_property
    def scoring(self) -> pd.DataFrame:
        """The losses of the half of the tables that scores the rule."""
        return self.frame[self.frame["table"].isin(halves(self.frame["table"].unique().tolist())[1])]

    @cached_property
    def fresh(self) -> pd.DataFrame:
        return losses_of(fresh_store(self.store.folder))

    def _rule_text(self, losses: pd.DataFrame, learner: str, classes: str, choice: str = "the rule") -> str:
        values = above_best(losses, learner, classes == "several")[choice]
        low, high = interval(values)
        return f"{values.mean():.1f} ({low:.1f} to {high:.1f})"

    def _hours(self, learner: str = "") -> str:
        cells = self.store.results().values()
        return f"{sum(cell.seconds for cell in cells if cell.learner.startswith(learner)) / 3600:.1f}"


def above_best(losses: pd.DataFrame, learner: str, several: bool) -> dict[str, np.ndarray]:
    """Return choice -> thousandths of a nat above the best choice of each table."""
    rows = losses[
        (losses["metric"] == "bounded_log_loss")
        & ((losses["n_classes"] > 2) == several)
        & (losses["learner"].str.partition("_")[0] == learner)
    ]
    table = rows.pivot(index=["table", "n_rows"], columns=["learner", "method"], values="value").dropna(axis=1)
    above = 1000 * table.sub(table.min(axis=1), axis=0)
    n_classes = 3 if several else 2
    ruled = [above.loc[key, rule(learner, int(key[1]), n_classes)] for key in above.index]
    return {"the rule": np.array(ruled)} | {
        f"{entry},{method}": above[entry, method].to_numpy() for entry, method in above.columns
    }


def interval(values: np.ndarray) -> tuple[float, float]:
    """Return the 95 % interval of the mean over tables, by tables drawn again."""
    draws = values[np.random.default_rng(0).integers(len(values), size=(2_000, len(values)))].mean(axis=1)
    low, high = np.quantile(draws, [0.025, 0.975])
    return float(low), float(high)


def effects_figure(study: Study) -> Figure:
    """Return the effects of the comparisons 1, 3, 4 and 5, a panel for each and a row for each learner."""
    panels = {
        "1": "Class weights: Probing against bags,\nboth with a map",
        "3": "A map: bags with a map\nagainst bags without",
        "4": "The ensemble: bags against\none model, both with a map",
        "5": "The search: against default settings,\none model with a map",
    }
    learners = [family for family, name in FAMILIES.items() if (name, "default") in study.effects[_title(study, "4")]]
    figure = Figure(figsize=(7.6, 1.2 + 1.1 * len(learners)), layout="constrained")
    axes = figure.subplots(2, 2, sharey=True)
    for axis, (number, title) in zip(axes.ravel(), panels.items(), strict=True):
        for place, learner in enumerate(learners):
            for shift, (settings, colour) in zip((-0.14, 0.14), SETTINGS.items(), strict=True):
                key = settings if number != "5" else "one"
                of = study.effects[_title(study, number)].get((FAMILIES[learner], key))
                if of is None or (number == "5" and settings == "default"):
                    continue
                one, sign = of["bounded_log_loss"], -1 if number == "4" else 1
                x = 1000 * sign * one.mean
                error = 1000 * (one.high - one.mean)
                axis.errorbar(x, place + (shift if number != "5" else 0), xerr=error, fmt="o", color=colour,
                              markersize=5, label=f"{settings} settings")  # fmt: skip
        axis.axvline(0, color=GREY, linewidth=0.8, zorder=0)
        axis.set_title(title)
        axis.set_ylim(len(learners) - 0.5, -0.5)
        axis.set_yticks(range(len(learners)), [FAMILIES[learner] for learner in learners])
    for axis in axes[1]:
        axis.set_xlabel("log loss, thousandths of a nat (left: it helps)")
    _legend(figure, axes.ravel())
    return figure


def steps_figure(study: Study) -> Figure:
    """Return the mean log loss of each base fit without a map and with its best map, above the best of each learner."""
    losses = study.losses["bounded_log_loss"]
    chooser = Chooser(losses)
    learners = [family for family, name in FAMILIES.items() if (name, "default") in study.effects[_title(study, "4")]]
    figure = Figure(figsize=(7.6, 3.2), layout="constrained")
    axes = np.atleast_1d(figure.subplots(1, len(learners)))
    for axis, family in zip(axes, learners, strict=True):
        points: dict[tuple[str, str, bool], np.ndarray] = {}
        for searched in (False, True):
            for base in BASES:
                entry = entry_name(family, searched, base)
                for mapped in (False, True):
                    methods = {t: chooser.map_of(t, entry) if mapped else NONE for t in losses.tables()}
                    found = [losses.of(t, entry, method) if method else None for t, method in methods.items()]
                    points[base, "searched" if searched else "default", mapped] = np.array(
                        [np.nan if values is None else values.mean() for values in found]
                    )
        complete = ~np.isnan(points["one", "default", True])
        for values in points.values():
            complete &= np.isnan(values).all() | ~np.isnan(values)
        means = {key: 1000 * values[complete].mean() for key, values in points.items() if not np.isnan(values).all()}
        best = min(means.values())
        bases = [base for base in BASES if any(key[0] == base for key in means)]
        for place, base in enumerate(bases):
            for shift, (settings, colour) in zip((-0.12, 0.12), SETTINGS.items(), strict=True):
                if (base, settings, True) not in means:
                    continue
                low, high = means[base, settings, True] - best, means[base, settings, False] - best
                axis.plot([place + shift] * 2, [low, high], color=colour, linewidth=1)
                axis.plot(place + shift, high, "o", mfc="white", color=colour, label=f"{settings} settings, no map")
                axis.plot(place + shift, low, "o", color=colour, label=f"{settings} settings, best map")
        axis.set_xticks(range(len(bases)), [BASES[base] for base in bases], rotation=60, ha="right")
        axis.set_xlim(-0.5, len(bases) - 0.5)
        axis.set_ylim(bottom=-1)
        axis.set_title(f"{FAMILIES[family]} ({int(complete.sum())} tables)")
    axes[0].set_ylabel("mean log loss above the best,\nthousandths of a nat")
    _legend(figure, axes)
    return figure


def rule_figure(study: Study) -> Figure:
    """Return what the rule and single choices lose against the best in hindsight, on the half that scores."""
    learners = list(dict.fromkeys(learner for learner, _, _ in chosen_rule(study.frame)))
    figure = Figure(figsize=(7.6, 3.0), layout="constrained")
    axes = np.atleast_1d(figure.subplots(1, len(learners)))
    for axis, learner in zip(axes, learners, strict=True):
        values = above_best(study.scoring, learner, several=False)
        tuned = f"{learner}_tuned"
        shown = {"the rule": "the rule", f"{tuned},isotonic": "searched, isotonic", f"{tuned}_bags,quadratic":
                 "searched bags, quadratic", f"{tuned}_probing,isotonic": "searched Probing, isotonic",
                 f"{learner},isotonic": "default, isotonic", f"{learner},direct": "default, no map"}  # fmt: skip
        shown = {choice: label for choice, label in shown.items() if choice in values}
        for place, choice in enumerate(shown):
            mean, (low, high) = values[choice].mean(), interval(values[choice])
            axis.errorbar(mean, place, xerr=[[mean - low], [high - mean]], fmt="o", markersize=5,
                          color=COLOURS[1] if choice == "the rule" else COLOURS[0])  # fmt: skip
        axis.set_yticks(range(len(shown)), [*shown.values()] if learner == learners[0] else [""] * len(shown))
        axis.set_ylim(len(shown) - 0.5, -0.5)
        axis.set_xlim(left=0)
        axis.set_title(f"{FAMILIES[learner]} ({len(values['the rule'])} tables)")
    axes[len(axes) // 2].set_xlabel("log loss above the best choice in hindsight, thousandths of a nat")
    return figure


def fill(text: str, study: Study) -> str:
    """Return the text of a page with the numbers of the study."""
    return BLOCK.sub(lambda block: f"<!-- arena {block[1]} -->{study.text(block[1])}<!-- end -->", text)


def main(words: Sequence[str] | None = None) -> None:
    """Write the tables, the figures and the numbers of the pages."""
    parser = argparse.ArgumentParser(
        prog="python -m research.arena_page", description=(__doc__ or "").partition("\n\n")[0]
    )
    parser.add_argument("folder", type=Path, help="results of probcal run arena-ensembles")
    folder = parser.parse_args(words).folder
    study = Study(folder)
    (folder / "answer.md").write_text(report(study.store) + "\n", encoding="utf-8")
    (folder / "rule.md").write_text(
        page(study.frame, chosen_rule(study.frame), losses_of(fresh_store(folder))) + "\n", encoding="utf-8"
    )
    with drawing_style():
        for name, draw in (("effects", effects_figure), ("steps", steps_figure), ("rule", rule_figure)):
            save_figure(draw(study), folder / name)
    for name in PAGES:
        path = ROOT / name
        path.write_text(fill(path.read_text(encoding="utf-8"), study), encoding="utf-8")


def _title(study: Study, number: str) -> str:
    return next(title for title in study.effects if title.startswith(f"{number}."))


def _number(value: float) -> str:
    return f"{1000 * value:+.1f}"


def _legend(figure: Figure, axes: Sequence[matplotlib.axes.Axes]) -> None:
    pairs = {label: handle for axis in axes for handle, label in zip(*axis.get_legend_handles_labels(), strict=True)}
    figure.legend(pairs.values(), pairs.keys(), loc="outside lower center", ncols=min(2, len(pairs)), frameon=False)


if __name__ == "__main__":
    main()
