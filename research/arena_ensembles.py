"""After an ensemble, do class weights still help? Run python -m research.arena_ensembles results/arena-ensembles

Six comparisons, each for every learner with default and with searched settings. results/arena-ensembles/design.md
states them.

The difference of two methods on a table is the mean of its five splits. The mean over tables is that of a model with a
normal effect of each table, and in each table the variance of Nadeau & Bengio (2003) for overlapping training rows. The
variance of the effect is that of Paule & Mandel (1982), and the interval is that of Hartung & Knapp (2001), with
Student's t. "Best map" is the map with the smallest mean loss on the other tables, so no table chooses its own.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.stats import binom, binomtest, t
from tabulate import tabulate

from probcal.analysis.hypothesis_tests import holm
from probcal.config.experiment import find_config, read_experiment
from probcal.reporting.comparison.pairs import p_text
from probcal.store.cell_result import CellResult
from probcal.store.folder import Store

Floats = npt.NDArray[np.float64]

FAMILIES = {"logistic": "logistic regression", "tree": "tree", "lightgbm": "LightGBM", "forest": "forest",
            "mlp": "network"}  # fmt: skip
SAME_FITS = {("lightgbm", "probing_n")}
"""Learner and base fit that equal another: the fits of LightGBM do not depend on the total of the weights."""
N_SPLITS = 5
INFLATION = 1 / N_SPLITS + 1 / (N_SPLITS - 1)
"""Factor from the variance of the splits' differences to that of their mean: 1/n + test rows / training rows."""
PRIMARY = {"bounded_log_loss": "log loss", "brier": "Brier"}
PARTS = {"smece": "calibration error", "refinement": "refinement"}
BEST, NONE = "best map", "fold_mean"
MAPS = {"two": ("isotonic", "beta", "quadratic"), "several": ("isotonic", "matrix_scaling")}
"""Number of classes -> the maps. The last one exists for these tables only."""
TRUE_SHARE, LEVEL = 0.64, 0.05


@dataclass(frozen=True)
class Side:
    """One side of a comparison: a base fit, its map, and whether its settings are searched (None: both are shown)."""

    base: str
    map: str
    searched: bool | None = None


COMPARISONS: dict[str, tuple[Side, Side]] = {
    "1. Weights after a map: Probing against bags, both with their best map": (
        Side("probing", BEST),
        Side("bags", BEST),
    ),
    "2. Weights without a map: Probing against bags": (Side("probing", NONE), Side("bags", NONE)),
    "3. A map on an ensemble: bags with their best map against bags without": (Side("bags", BEST), Side("bags", NONE)),
    "4. A map alone: one model with its best map against bags with theirs": (Side("one", BEST), Side("bags", BEST)),
    "6. The total of weights: `probing_n` against Probing, both with their best map": (
        Side("probing_n", BEST),
        Side("probing", BEST),
    ),
}
"""Title -> the two sides. Comparison 5, of searched with default settings, has other rows."""


@dataclass(frozen=True)
class Effect:
    """The mean difference of two methods over tables, with its interval and p-value, and the share of wins."""

    n: int
    mean: float
    low: float
    high: float
    p: float
    wins: int
    ties: int
    table_sd: float
    """Standard deviation of the effect of a table."""
    split_sd: float
    """Root of the mean variance of a table's mean, which comes from its splits."""


class Losses:
    """Hold one metric of all cells: table -> learner entry -> method -> losses of the splits."""

    def __init__(self, store: Store, metric: str) -> None:
        self._values: dict[str, dict[str, dict[str, dict[int, float]]]] = {}
        for cell in store.results().values():
            if cell.metrics is not None and metric in cell.metrics:
                methods = self._values.setdefault(cell.dataset, {}).setdefault(cell.learner, {})
                methods.setdefault(cell.method, {})[cell.repetition] = float(cell.metrics[metric])

    def of(self, table: str, entry: str, method: str) -> Floats | None:
        """Return the losses of all splits, (5,), or None if one is missing."""
        splits = self._values.get(table, {}).get(entry, {}).get(method, {})
        return np.array([splits[number] for number in range(N_SPLITS)]) if len(splits) == N_SPLITS else None

    def tables(self) -> list[str]:
        return sorted(self._values)

    def methods(self, table: str, entry: str) -> list[str]:
        """Return the maps of a base fit on a table, none of them included."""
        found = self._values.get(table, {}).get(entry, {})
        return [method for method in found if method != "direct" and self.of(table, entry, method) is not None]


class Chooser:
    """Choose the map of each table by the mean loss on the other tables, which have the same maps."""

    def __init__(self, losses: Losses) -> None:
        self._losses = losses
        self._choices: dict[str, dict[str, str]] = {}

    def map_of(self, table: str, entry: str) -> str | None:
        if entry not in self._choices:
            self._choices[entry] = self._choose(entry)
        return self._choices[entry].get(table)

    def _choose(self, entry: str) -> dict[str, str]:
        groups: dict[frozenset[str], dict[str, dict[str, float]]] = {}
        for table in self._losses.tables():
            means = {
                name: float(values.mean())
                for name in self._losses.methods(table, entry)
                if name != NONE and (values := self._losses.of(table, entry, name)) is not None
            }
            groups.setdefault(frozenset(means), {})[table] = means
        choices = {}
        for maps, tables in groups.items():
            for table in tables if maps and len(tables) > 1 else ():
                others = [means for other, means in tables.items() if other != table]
                choices[table] = min(sorted(maps), key=lambda name: sum(means[name] for means in others))
        return choices


def entry_name(family: str, searched: bool, base: str) -> str:
    """Return the learner entry of the experiment, such as ``tree_tuned_bags``."""
    return "_".join([family, *["tuned"] * searched, *[base] * (base != "one")])


def differences(
    losses: Losses, chooser: Chooser, family: str, sides: tuple[Side, Side], searched: bool
) -> dict[str, Floats]:
    """Return table -> (first - second) of each split, of the tables that have both."""
    found = {}
    for table in losses.tables():
        values = []
        for side in sides:
            entry = entry_name(family, searched if side.searched is None else side.searched, side.base)
            method = chooser.map_of(table, entry) if side.map == BEST else side.map
            values.append(None if method is None else losses.of(table, entry, method))
        if values[0] is not None and values[1] is not None:
            found[table] = values[0] - values[1]
    return found


def effect(by_table: Mapping[str, Floats]) -> Effect | None:
    """Return the effect of a comparison, or None for fewer than five tables."""
    if len(by_table) < 5:
        return None
    rows = np.array(list(by_table.values()))
    means, variances = rows.mean(axis=1), INFLATION * rows.var(axis=1, ddof=1)
    # two methods that are equal on all splits of a table would else have all of the weight
    variances = np.maximum(variances, 1e-3 * variances.mean() + 1e-18)
    between = paule_mandel(means, variances)
    weights = 1 / (variances + between)
    mean = float((weights * means).sum() / weights.sum())
    n = len(means)
    error = np.sqrt((weights * (means - mean) ** 2).sum() / ((n - 1) * weights.sum()))
    half = float(t.ppf(1 - LEVEL / 2, n - 1) * error)
    p = float(2 * t.sf(abs(mean) / error, n - 1)) if error > 0 else 1.0
    wins, ties = int((means < 0).sum()), int((means == 0).sum())
    return Effect(n, mean, mean - half, mean + half, p, wins, ties, float(np.sqrt(between)),
                  float(np.sqrt(variances.mean())))  # fmt: skip


def paule_mandel(means: Floats, variances: Floats) -> float:
    """Return the variance between tables at which the weighted squares about the mean are as many as n - 1."""

    def excess(between: float) -> float:
        weights = 1 / (variances + between)
        mean = (weights * means).sum() / weights.sum()
        return float((weights * (means - mean) ** 2).sum() - (len(means) - 1))

    high = float(means.var() + variances.max()) + 1e-12
    while excess(high) > 0:
        high *= 4
    return 0.0 if excess(0.0) <= 0 else float(brentq(excess, 0.0, high, xtol=1e-18))


def sign_test_power(n: int, share: float = TRUE_SHARE) -> float:
    """Return how often a two-sided sign test at .05 with ``n`` tables finds a true ``share`` of wins."""
    counts = np.arange(n + 1)
    significant = np.minimum(1, 2 * np.minimum(binom.cdf(counts, n, 0.5), binom.sf(counts - 1, n, 0.5))) <= LEVEL
    return float(binom.pmf(counts, n, share)[significant].sum())


def corrected_p(effects: Mapping[tuple[str, str], Mapping[str, Effect]]) -> dict[str, dict[tuple[str, str], float]]:
    """Return primary metric -> (learner, settings) -> p-value with Holm's correction over the rows."""
    return {
        metric: {
            key: p or 0.0
            for key, p in zip(
                effects, holm([of[metric].p if metric in of else None for of in effects.values()]), strict=True
            )
        }
        for metric in PRIMARY
    }


def verdicts(effects: Mapping[tuple[str, str], Mapping[str, Effect]]) -> dict[tuple[str, str], str]:
    """Return which side of a comparison is better, ``first`` or ``second``, or ``-`` if nothing holds.

    Something holds if both losses have its sign and one of them is significant.
    """
    corrected, found = corrected_p(effects), {}
    for key, of in effects.items():
        signs = {np.sign(of[metric].mean) for metric in PRIMARY}
        decided = len(signs) == 1 and min(corrected[metric][key] for metric in PRIMARY) < LEVEL
        found[key] = ("first" if of["bounded_log_loss"].mean < 0 else "second") if decided else "-"
    return found


def interval_text(one: Effect) -> str:
    """Return the mean difference with its interval, in thousandths."""
    return f"{1000 * one.mean:+.1f} ({1000 * one.low:+.1f} to {1000 * one.high:+.1f})"


def share_text(one: Effect) -> str:
    """Return the share of tables on which the first side is better, such as ``76 % (66 to 84)``. Ties are left out."""
    n = max(1, one.n - one.ties)
    bounds = binomtest(one.wins, n).proportion_ci(method="wilson")
    return f"{100 * one.wins / n:.0f} % ({100 * bounds.low:.0f} to {100 * bounds.high:.0f})"


def comparison_table(effects: Mapping[tuple[str, str], Mapping[str, Effect]]) -> str:
    """Return the Markdown table of one comparison: (learner, settings) -> metric -> effect."""
    corrected, better = corrected_p(effects), verdicts(effects)
    rows = []
    for key, of in effects.items():
        first = of["bounded_log_loss"]
        numbers = [text for metric in PRIMARY for text in (interval_text(of[metric]), p_text(corrected[metric][key]))]
        parts = [interval_text(of[metric]) for metric in PARTS if metric in of]
        power = f"{sign_test_power(first.n):.2f}"[1:]
        rows.append([*key, first.n, *numbers, share_text(first), power, *parts, better[key]])
    header = ["learner", "settings", "n", *(text for name in PRIMARY.values() for text in (name, "p")), "first better",
              "power", *PARTS.values(), "better"]  # fmt: skip
    return tabulate(rows, header, tablefmt="pipe", disable_numparse=True)


def all_effects(losses: Mapping[str, Losses]) -> dict[str, dict[tuple[str, str], dict[str, Effect]]]:
    """Return title -> (learner, settings) -> metric -> effect. The maps are chosen by the metric itself.

    Calibration error and refinement belong to the maps that the Brier score chooses.
    """
    choosers = {metric: Chooser(losses[metric if metric in PRIMARY else "brier"]) for metric in losses}
    rows: dict[str, dict[tuple[str, str], dict[str, Effect]]] = {}

    def add(title: str, key: tuple[str, str], family: str, sides: tuple[Side, Side], searched: bool) -> None:
        found = {
            metric: one
            for metric in losses
            if (one := effect(differences(losses[metric], choosers[metric], family, sides, searched))) is not None
        }
        if found:
            rows.setdefault(title, {})[key] = found

    for title, sides in COMPARISONS.items():
        for family, name in FAMILIES.items():
            for searched in (False, True) if (family, sides[0].base) not in SAME_FITS else ():
                add(title, (name, "searched" if searched else "default"), family, sides, searched)
    title = "5. The search: searched against default settings, both with their best map"
    for family, name in FAMILIES.items():
        for base in (base for base in ("one", "bags", "probing", "probing_n") if (family, base) not in SAME_FITS):
            add(title, (name, base), family, (Side(base, BEST, True), Side(base, BEST, False)), False)
    return dict(sorted(rows.items()))


def map_effects(losses: Mapping[str, Losses], rival: str) -> dict[tuple[str, str, str, str], dict[str, Effect]]:
    """Return (learner, settings, classes, map) -> metric -> effect of the map on the scores of one model's five fits.

    The rival without a map is ``direct``, one fit of all rows, or ``fold_mean``, the mean of the same five fits.
    """
    found: dict[tuple[str, str, str, str], dict[str, Effect]] = {}
    for (family, name), searched, (classes, maps) in product(FAMILIES.items(), (False, True), MAPS.items()):
        entry = entry_name(family, searched, "one")
        for method in maps:
            effects = {}
            for metric, of in losses.items():
                by_table = differences(of, Chooser(of), family, (Side("one", method), Side("one", rival)), searched)
                alike = {table: values for table, values in by_table.items() if maps[-1] in of.methods(table, entry)}
                if (one := effect(alike)) is not None:
                    effects[metric] = one
            if effects:
                found[name, "searched" if searched else "default", classes, method] = effects
    return found


def map_table(maps: Mapping[str, Mapping[tuple[str, str, str, str], Mapping[str, Effect]]]) -> str:
    """Return the Markdown table of each map on one model, against one fit of all rows and against the five fits."""
    alone, means = maps["direct"], maps[NONE]
    rows = [
        [
            *key,
            of["bounded_log_loss"].n,
            *(interval_text(of[metric]) for metric in PRIMARY),
            *(interval_text(means[key][metric]) for metric in PRIMARY),
        ]
        for key, of in alone.items()
    ]
    header = ["learner", "settings", "classes", "map", "n", *(f"{name}, against one fit" for name in PRIMARY.values()),
              *(f"{name}, against the five" for name in PRIMARY.values())]  # fmt: skip
    return tabulate(rows, header, tablefmt="pipe", disable_numparse=True)


def map_counts(losses: Mapping[str, Losses]) -> str:
    """Return how often each map is chosen for the base fits, by log loss."""
    chooser = Chooser(losses["bounded_log_loss"])
    rows = []
    for family in FAMILIES:
        for searched in (False, True):
            for base in ("one", "bags", "reseeded", "probing", "probing_n"):
                entry = entry_name(family, searched, base)
                chosen = [
                    name for table in losses["bounded_log_loss"].tables() if (name := chooser.map_of(table, entry))
                ]
                if chosen:
                    counts = {name: chosen.count(name) for name in sorted(set(chosen), key=chosen.count, reverse=True)}
                    rows.append([entry, ", ".join(f"{name} {count}" for name, count in counts.items())])
    return tabulate(rows, ["base fit", "tables for which the other tables choose a map"], tablefmt="pipe")


def tables_table(store: Store) -> str:
    """Return the rows of each table, the copies that are left out, and its learners."""
    cells: dict[str, list[CellResult]] = {}
    for cell in store.results().values():
        cells.setdefault(cell.dataset, []).append(cell)
    rows = []
    for card in read_experiment(find_config("arena-ensembles")).cards:
        if of_table := cells.get(card.name):
            first = next(cell for cell in of_table if cell.n_train)
            n_left = (first.n_train or 0) + (first.n_test or 0)
            n_rows = card.expect.rows or n_left
            learners = [
                name for key, name in FAMILIES.items() if any(c.learner.partition("_")[0] == key for c in of_table)
            ]
            classes = len(card.expect.classes or {}) if any(c.method == "matrix_scaling" for c in of_table) else 2
            rows.append([card.name, classes, f"{n_rows:,}", f"{n_rows - n_left:,}", ", ".join(learners)])
    header = ["table", "classes", "rows", "copies left out", "learners"]
    return tabulate(rows, header, tablefmt="pipe", disable_numparse=True)


def core_hours(store: Store, family: str = "") -> float:
    """Return the core-hours of a learner, or of all. Fits that cells share are counted once."""
    return sum(cell.seconds for cell in store.results().values() if cell.learner.startswith(family)) / 3600


def price_table(store: Store) -> str:
    """Return the cells, tables and core-hours of each learner."""
    rows = []
    for family, name in FAMILIES.items():
        tables = [cell.dataset for cell in store.results().values() if cell.learner.startswith(family)]
        if tables:
            rows.append([name, f"{len(tables):,}", len({*tables}), f"{core_hours(store, family):.1f}"])
    return tabulate(rows, ["learner", "cells", "tables", "core-hours"], tablefmt="pipe", disable_numparse=True)


class Study:
    """All effects of a folder of results, computed once."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.losses = {metric: Losses(store, metric) for metric in (*PRIMARY, *PARTS)}
        self.effects = all_effects(self.losses)
        self.maps = {rival: map_effects(self.losses, rival) for rival in ("direct", NONE)}

    def comparison(self, number: str) -> Mapping[tuple[str, str], Mapping[str, Effect]]:
        """Return (learner, settings or base fit) -> metric -> effect of a comparison by its number."""
        return next(effects for title, effects in self.effects.items() if title.startswith(f"{number}."))

    @property
    def families(self) -> list[str]:
        """Return the learners that have results."""
        return [family for family, name in FAMILIES.items() if (name, "default") in self.comparison("4")]


def report(study: Study) -> str:
    """Return all tables in Markdown."""
    parts = [
        "# Ensembles, class weights and maps: the numbers\n\nWritten by `python -m research.arena_ensembles "
        "results/arena-ensembles`. Mean differences over tables (first - second, below 0: the first is better), in "
        "thousandths, with 95 % intervals. p: with Holm's correction over the rows of a table. *first better*: share "
        "of tables by log loss. *power*: how often a sign test finds a true share of 64 %. *better*: what holds by "
        "both losses."
    ]
    for title, effects in study.effects.items():
        header = "base fit" if title.startswith("5") else "settings"
        parts.append(f"## {title}\n\n" + comparison_table(effects).replace("| settings", f"| {header}", 1))
    parts.append("## Which map\n\n" + map_counts(study.losses))
    parts.append(
        "## Each map on one model (not in the design)\n\nAgainst one fit of all rows, and against the mean of the same "
        "five fits without a map.\n\n" + map_table(study.maps)
    )
    parts.append("## Price\n\n" + price_table(study.store))
    parts.append("## Tables\n\n" + tables_table(study.store))
    return "\n\n".join(parts)


def main(words: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        prog="python -m research.arena_ensembles", description=(__doc__ or "").partition("\n\n")[0]
    )
    parser.add_argument("folder", type=Path, help="results of probcal run arena-ensembles")
    print(report(Study(Store(parser.parse_args(words).folder))))


if __name__ == "__main__":
    main()
