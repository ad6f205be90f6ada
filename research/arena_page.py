"""Draw the figures of docs/arena.md and fill its numbers in: python -m research.arena_page results/arena-ensembles

Writes ``answer.md``, ``rule.md`` and three figures into the folder. What stands in a page between
``<!-- arena WORDS -->`` and ``<!-- end -->`` becomes what WORDS ask:

``effect NUMBER LEARNER SETTINGS``    mean difference of log loss of comparison NUMBER with its interval, in thousandths
``map CLASSES,MAP LEARNER SETTINGS``  what a map changes against one fit without, with two classes or several
``five CLASSES,MAP LEARNER SETTINGS`` the same against the mean of five fits
``rule LEARNER [ENTRY,MAP]``          thousandths above the best, on the tables of two classes of the half that scores
``fresh LEARNER [ENTRY,MAP]``         the same on fresh splits
``scored LEARNER``                    number of tables of two classes that score the rule
``tables LEARNER``, ``power LEARNER`` number of tables, and power of a sign test for a true share of 64 %
``hours [LEARNER]``                   core-hours
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import matplotlib.axes
import numpy as np
from matplotlib.figure import Figure

from benchmarks.score_rule import LEARNERS, above_best, interval
from probcal.reporting.drawing import COLOURS, GREY, drawing_style, save_figure
from probcal.store.folder import Store
from research.arena_ensembles import (
    FAMILIES,
    NONE,
    SAME_FITS,
    Chooser,
    Study,
    core_hours,
    entry_name,
    interval_text,
    report,
    sign_test_power,
)
from research.arena_rule import chosen_rule, fresh_store, halves, losses_of, page

ROOT = Path(__file__).parents[1]
PAGES = ("docs/arena.md", "docs/which-method.md")
BLOCK = re.compile(r"<!-- arena ([^>]+?) -->(.*?)<!-- end -->", re.DOTALL)
SETTINGS = {"default": COLOURS[1], "searched": COLOURS[0]}
BASES = {"one": "one model", "bags": "20 bags", "reseeded": "20 seeds", "probing": "Probing", "probing_n": "Probing, n"}
SHIFTS = {"default": -0.14, "searched": 0.14}
RIVALS = {"map": "direct", "five": NONE}


class PageNumbers:
    """What pages can ask of a folder of results."""

    def __init__(self, folder: Path) -> None:
        self.study = Study(Store(folder))
        self.frame = losses_of(self.study.store)
        self.fresh = losses_of(fresh_store(folder))

    def text(self, words: str) -> str:
        """Return what a page asks for. Raises KeyError if the results have no such number."""
        kind, *rest = words.split()
        if kind == "hours":
            return f"{core_hours(self.study.store, *rest):.1f}"
        if kind in ("rule", "fresh", "scored"):
            learner, choice = [*rest, "the rule"][:2]
            values = self.above_best(learner, is_fresh=kind == "fresh")[choice.replace(",", ", ")]
            low, high = interval(values)
            return str(len(values)) if kind == "scored" else f"{values.mean():.1f} ({low:.1f} to {high:.1f})"
        if kind in ("tables", "power"):
            n = self.study.comparison("4")[FAMILIES[rest[0]], "default"]["bounded_log_loss"].n
            return str(n) if kind == "tables" else f"{sign_test_power(n):.2f}".removeprefix("0")
        name, learner, settings = rest
        if kind == "effect":
            of = self.study.comparison(name)[FAMILIES[learner], settings]
        else:
            classes, method = name.split(",")
            of = self.study.maps[RIVALS[kind]][FAMILIES[learner], settings, classes, method]
        return interval_text(of["bounded_log_loss"])

    def above_best(self, learner: str, *, is_fresh: bool = False) -> dict[str, np.ndarray]:
        """Return what ``above_best`` of the rule's script does, for the tables of two classes that score."""
        losses = self.fresh if is_fresh else halves(self.frame)[1]
        is_chosen = (losses["metric"] == "bounded_log_loss") & (losses["n_classes"] == 2)
        return above_best(losses[is_chosen & (losses["learner"].str.partition("_")[0] == learner)], learner)


def effects_figure(study: Study) -> Figure:
    """Return the effects of the comparisons 1, 3, 4 and 5, a panel for each and a row for each learner."""
    panels = {
        "1": "Class weights: Probing against bags,\nboth with a map",
        "3": "A map: bags with a map\nagainst bags without",
        "4": "The ensemble: bags against\none model, both with a map",
        "5": "The search: against default settings,\none model with a map",
    }
    learners = study.families
    figure = Figure(figsize=(7.6, 1.2 + 1.1 * len(learners)), layout="constrained")
    axes = figure.subplots(2, 2, sharey=True)
    for axis, (number, title) in zip(axes.ravel(), panels.items(), strict=True):
        # the search has one row, of one model; bags against one model is the other way round than in the table
        rows = [("searched", "one", 0.0)] if number == "5" else [(name, name, shift) for name, shift in SHIFTS.items()]
        sign = -1 if number == "4" else 1
        for place, learner in enumerate(learners):
            for settings, key, shift in rows:
                if (of := study.comparison(number).get((FAMILIES[learner], key))) is None:
                    continue
                one = of["bounded_log_loss"]
                axis.errorbar(1000 * sign * one.mean, place + shift, xerr=1000 * (one.high - one.mean), fmt="o",
                              color=SETTINGS[settings], markersize=5, label=f"{settings} settings")  # fmt: skip
        axis.axvline(0, color=GREY, linewidth=0.8, zorder=0)
        axis.set_title(title)
        axis.set_ylim(len(learners) - 0.5, -0.5)
        axis.set_yticks(range(len(learners)), [FAMILIES[learner] for learner in learners])
    for axis in axes[1]:
        axis.set_xlabel("log loss, thousandths of a nat (left: it helps)")
    _legend(figure, axes.ravel())
    return figure


def _mean_losses(study: Study, chooser: Chooser, family: str) -> tuple[dict[tuple[str, str, bool], float], int]:
    """Return (base fit, settings, with its best map) -> mean log loss, and the number of tables that have all.

    Base fits that equal another are left out.
    """
    losses, tables = study.losses["bounded_log_loss"], study.losses["bounded_log_loss"].tables()
    points: dict[tuple[str, str, bool], np.ndarray] = {}
    bases = [base for base in BASES if (family, base) not in SAME_FITS]
    for base, (settings, mapped) in product(bases, product(SETTINGS, (False, True))):
        entry = entry_name(family, settings == "searched", base)
        methods = [chooser.map_of(table, entry) if mapped else NONE for table in tables]
        chosen = zip(tables, methods, strict=True)
        found = [losses.of(table, entry, method) if method else None for table, method in chosen]
        means = np.array([np.nan if values is None else values.mean() for values in found])
        if not np.isnan(means).all():
            points[base, settings, mapped] = means
    complete = np.all([~np.isnan(values) for values in points.values()], axis=0)
    return {key: 1000 * float(values[complete].mean()) for key, values in points.items()}, int(complete.sum())


def steps_figure(study: Study) -> Figure:
    """Return the mean log loss of each base fit without a map and with its best map, above the best of each learner."""
    chooser = Chooser(study.losses["bounded_log_loss"])
    figure = Figure(figsize=(7.6, 3.2), layout="constrained")
    axes = np.atleast_1d(figure.subplots(1, len(study.families)))
    for axis, family in zip(axes, study.families, strict=True):
        means, n_tables = _mean_losses(study, chooser, family)
        best, bases = min(means.values()), list(dict.fromkeys(base for base, _, _ in means))
        for base, settings in dict.fromkeys((base, settings) for base, settings, _ in means):
            place = bases.index(base) + SHIFTS[settings]
            low, high = (means[base, settings, mapped] - best for mapped in (True, False))
            colour = SETTINGS[settings]
            axis.plot([place] * 2, [low, high], color=colour, linewidth=1)
            axis.plot(place, high, "o", mfc="white", color=colour, label=f"{settings} settings, no map")
            axis.plot(place, low, "o", color=colour, label=f"{settings} settings, best map")
        axis.set_xticks(range(len(bases)), [BASES[base] for base in bases], rotation=60, ha="right")
        axis.set_xlim(-0.5, len(bases) - 0.5)
        axis.set_ylim(bottom=-1)
        axis.set_title(f"{FAMILIES[family]} ({n_tables} tables)")
    axes[0].set_ylabel("mean log loss above the best,\nthousandths of a nat")
    _legend(figure, axes)
    return figure


def rule_figure(numbers: PageNumbers) -> Figure:
    """Return what the rule and single choices lose against the best in hindsight, on the half that scores."""
    learners = [learner for learner in LEARNERS if learner in numbers.study.families]
    figure = Figure(figsize=(7.6, 3.0), layout="constrained")
    axes = np.atleast_1d(figure.subplots(1, len(learners)))
    for axis, learner in zip(axes, learners, strict=True):
        values = numbers.above_best(learner)
        tuned = f"{learner}_tuned"
        shown = {"the rule": "the rule", f"{tuned}, isotonic": "searched, isotonic", f"{tuned}_bags, quadratic":
                 "searched bags, quadratic", f"{tuned}_probing, isotonic": "searched Probing, isotonic",
                 f"{learner}, isotonic": "default, isotonic", f"{learner}, direct": "default, no map"}  # fmt: skip
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


def fill(text: str, numbers: PageNumbers) -> str:
    """Return the text of a page with the numbers of the study."""
    return BLOCK.sub(lambda block: f"<!-- arena {block[1]} -->{numbers.text(block[1])}<!-- end -->", text)


def main(words: Sequence[str] | None = None) -> None:
    """Write the tables, the figures and the numbers of the pages."""
    parser = argparse.ArgumentParser(
        prog="python -m research.arena_page", description=(__doc__ or "").partition("\n\n")[0]
    )
    parser.add_argument("folder", type=Path, help="results of probcal run arena-ensembles")
    folder = parser.parse_args(words).folder
    numbers = PageNumbers(folder)
    rule_page = page(numbers.frame, chosen_rule(numbers.frame), numbers.fresh)
    (folder / "answer.md").write_text(report(numbers.study) + "\n", encoding="utf-8")
    (folder / "rule.md").write_text(rule_page + "\n", encoding="utf-8")
    with drawing_style():
        save_figure(effects_figure(numbers.study), folder / "effects")
        save_figure(steps_figure(numbers.study), folder / "steps")
        save_figure(rule_figure(numbers), folder / "rule")
    for name in PAGES:
        path = ROOT / name
        path.write_text(fill(path.read_text(encoding="utf-8"), numbers), encoding="utf-8")


def _legend(figure: Figure, axes: Sequence[matplotlib.axes.Axes]) -> None:
    pairs = {label: handle for axis in axes for handle, label in zip(*axis.get_legend_handles_labels(), strict=True)}
    figure.legend(pairs.values(), pairs.keys(), loc="outside lower center", ncols=min(2, len(pairs)), frameon=False)


if __name__ == "__main__":
    main()
