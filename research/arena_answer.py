"""Does training beat a map? What the arena says: python -m research.arena_answer results/arena

Five answers by one metric, with intervals over tables drawn again:

- at equal fits: Probing against bagging with as many fits, per learner;
- at equal seconds: Probing against the best map or baseline that takes no longer, which is chosen on other tables;
- against one rule: Probing against isotonic regression on all tables, with a sign test for each learner;
- by training rows: Probing against isotonic regression and bagging, for few and for many rows;
- a held-out check: the method that does best on half of the tables, scored on the other half.

A table counts once. With several learners it counts the share of its learners.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.stats import binomtest
from tabulate import tabulate

from probcal.analysis.hypothesis_tests import holm
from probcal.analysis.rankings import mean_of_known, pairwise_wins, weighted_mean
from probcal.reporting.comparison.leaderboard import Scores, measure_scores
from probcal.reporting.comparison.pairs import p_text
from probcal.store.folder import Store
from probcal.store.stored_experiment import StoredExperiment

Floats = npt.NDArray[np.float64]

TRAINING = ("probing.fits100", "probing.fits20", "weight_sweep")
EQUAL_FITS = (
    ("probing.fits100", "bagging.fits100"),
    ("probing.fits20", "bagging.fits20"),
    ("weight_sweep", "bagging.fits20"),
    ("probing.fits20", "reseeded"),
)
"""Pairs of a training-time method and an ensemble with as many fits. The weight sweep has 19."""
BY_ROWS = (
    ("probing.fits20", "bagging.fits20", ""),
    ("probing.fits20", "isotonic", ""),
    ("probing.fits100", "isotonic", "logistic"),
    ("probing.fits100", "isotonic", "tree"),
)
"""Pairs that are compared by training rows, and the learner, or all of them."""
ROWS = (
    ("under 300", 0, 300),
    ("300 to 999", 300, 1_000),
    ("1,000 to 2,999", 1_000, 3_000),
    ("3,000", 3_000, 3_001),
    ("over 3,000", 3_001, 10**9),
)
"""Groups of tables by their training rows: name, fewest, and one more than the most."""
COMPARISON_METHOD = "as_calarena"
"""Variants of this method only repeat an earlier study, so nobody is advised to use them."""
FIXED_METHODS = ("direct", "fold_mean", "sigmoid", "isotonic", "beta", "quadratic", "spline", "probing.fits20",
                 "bagging.fits20")  # fmt: skip
"""Methods that the held-out check scores beside its recommendation."""
FEWEST_SHARE = 0.8
"""Share of the tables on which a method must exist to be recommended."""
DRAWS = 1000


@dataclass(frozen=True)
class Share:
    """Hold a share with the bounds of its interval. All three may be NaN."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        if np.isnan(self.value):
            return "-"
        return f"{100 * self.value:.0f} % ({100 * self.low:.0f} to {100 * self.high:.0f})"


def main(words: Sequence[str] | None = None) -> None:
    """Print the answers in Markdown."""
    parser = argparse.ArgumentParser(prog="python -m research.arena_answer", description=__doc__.partition("\n\n")[0])
    parser.add_argument("folder", type=Path, help="results of probcal run arena")
    parser.add_argument("--metric", default="log_loss", help="(%(default)s)")
    args = parser.parse_args(words)
    store = Store(args.folder)
    arena = candidates(measure_scores(StoredExperiment.of(store), store.results(), args.metric))
    print(report(arena))


def candidates(arena: Scores) -> Scores:
    """Return the scores without the variants that only repeat an earlier study."""
    places = [place for place, name in enumerate(arena.methods) if name.partition(".")[0] != COMPARISON_METHOD]
    baseline = arena.methods[arena.baseline] if arena.baseline is not None else None
    methods = tuple(arena.methods[place] for place in places)
    return Scores(
        arena.metric, arena.tables, arena.learners, methods, arena.losses[:, :, places], arena.seconds[:, :, places],
        methods.index(baseline) if baseline in methods else None,
    )  # fmt: skip


def report(arena: Scores) -> str:
    """Return the tables in Markdown."""
    parts = [
        f"# Training against maps: the answer\n\n{len(arena.tables)} tables, {len(arena.learners)} learners, "
        f"{arena.metric}.",
        "## At equal fits\n\nShare of tables on which the first is better, and the median difference of the loss "
        "(below 0: the first is better). In parentheses: 95 % of 1,000 draws of the tables.",
        _pipe(equal_fits(arena), ["first", "second", "learner", "tables", "better", "difference"]),
        "## At equal seconds\n\nThe rival takes no longer than Probing with that learner, and is the best such method "
        "on a random half of the tables. The share is of the other half. Mean and middle 95 % of 1,000 halves.",
        _pipe(equal_seconds(arena), ["first", "learner", "seconds", "rival most often", "its seconds", "first better"]),
        "## Against one rule\n\nTables on which Probing with a hundred fits is better than isotonic regression. Tables "
        "with equal losses do not count. p: two-sided sign test, with Holm's correction for all learners.",
        _pipe(sign_tests(arena), ["first", "second", "learner", "better", "p", "p (Holm)"]),
        "## By training rows\n\nShare of tables on which the first is better. In parentheses: 95 % of 1,000 draws.",
        _pipe(by_rows(arena), ["first", "second", "learner", "training rows", "tables", "better"]),
        "## Held-out check\n\nOn a random half of the tables, the method with the highest win rate is recommended for "
        "each learner. The numbers are of the other half. Mean and middle 95 % of 1,000 halves.",
        _pipe(held_out(arena), ["method", "win rate", "better than the learner alone", "median difference to it"]),
    ]
    return "\n\n".join(parts)


def equal_fits(arena: Scores) -> list[list[str | Share]]:
    """Return a row for each pair and learner, and one for all learners together."""
    rows: list[list[str | Share]] = []
    for method, rival in EQUAL_FITS:
        if method not in arena.methods or rival not in arena.methods:
            continue
        first, second = (arena.losses[:, :, arena.methods.index(name)] for name in (method, rival))
        groups = [
            *((name, [place]) for place, name in enumerate(arena.learners)),
            ("all", [*range(len(arena.learners))]),
        ]
        for name, places in groups:
            difference = first[:, places] - second[:, places]
            differences = difference[~np.isnan(difference).all(axis=1)]
            if not len(differences):
                continue
            better = mean_of_known(np.where(np.isnan(differences), np.nan, (np.sign(-differences) + 1) / 2), axis=1)
            row_medians = np.nanmedian(differences, axis=1)
            weights = _weights(len(differences))
            share = weighted_mean(weights, better)
            medians = np.array([np.median(row_medians[row]) for row in _bootstrap_places(len(differences))])
            numbers = (_share(better.mean(), share), _number(np.median(row_medians), medians))
            rows.append([method, rival, name, str(len(differences)), *numbers])
    return rows


def equal_seconds(arena: Scores) -> list[list[str | Share]]:
    """Return a row for each training-time method and learner: how often it beats the best rival of its price."""
    rows: list[list[str | Share]] = []
    cost = np.exp(mean_of_known(np.log(arena.seconds), axis=0))
    for name in (name for name in TRAINING if name in arena.methods):
        place = arena.methods.index(name)
        for number, learner in enumerate(arena.learners):
            tables = np.flatnonzero(~np.isnan(arena.losses[:, number, place]))
            rivals = [
                rival
                for rival, name in enumerate(arena.methods)
                if name not in TRAINING
                and cost[number, rival] <= cost[number, place]
                and _is_frequent(arena.losses[tables, number, rival])
            ]
            if len(tables) < 2 or not rivals:
                continue
            losses = arena.losses[tables, number]
            rates = np.ones((len(tables), 1))
            if len(rivals) > 1:
                rates = mean_of_known(pairwise_wins(losses[:, rivals]), axis=2)
            win_rates, best_rivals = [], []
            for half, rest in _halves(len(tables)):
                rival = rivals[int(np.nanargmax(mean_of_known(rates[half], axis=0)))]
                win_rates.append(float(np.nanmean(pairwise_wins(losses[rest][:, [place, rival]])[:, 0, 1])))
                best_rivals.append(rival)
            mode = max(set(best_rivals), key=best_rivals.count)
            seconds = (f"{cost[number, method]:.3g}" for method in (place, mode))
            rows.append(
                [
                    name,
                    learner,
                    next(seconds),
                    arena.methods[mode],
                    next(seconds),
                    _share(np.mean(win_rates), win_rates),
                ]
            )
    return rows


def sign_tests(arena: Scores) -> list[list[str | Share]]:
    """Return a row for each learner: Probing with a hundred fits against isotonic regression."""
    first, second = "probing.fits100", "isotonic"
    difference = arena.losses[:, :, arena.methods.index(first)] - arena.losses[:, :, arena.methods.index(second)]
    wins, counts = (difference < 0).sum(axis=0), ((difference < 0) | (difference > 0)).sum(axis=0)
    p = [float(binomtest(int(n_wins), int(n)).pvalue) for n_wins, n in zip(wins, counts, strict=True)]
    return [
        [first, second, learner, f"{n_wins} of {n}", p_text(value), p_text(corrected or 0.0)]
        for learner, n_wins, n, value, corrected in zip(arena.learners, wins, counts, p, holm(p), strict=True)
    ]


def by_rows(arena: Scores) -> list[list[str | Share]]:
    """Return a row for each pair of ``BY_ROWS`` and each group of tables."""
    rows: list[list[str | Share]] = []
    for method, rival, learner in BY_ROWS:
        if method not in arena.methods or rival not in arena.methods or (learner and learner not in arena.learners):
            continue
        first, second = (arena.losses[:, :, arena.methods.index(name)] for name in (method, rival))
        places = [arena.learners.index(learner)] if learner else [*range(len(arena.learners))]
        difference = (first - second)[:, places]
        better = mean_of_known(np.where(np.isnan(difference), np.nan, (np.sign(-difference) + 1) / 2), axis=1)
        for name, low, high in ROWS:
            mask = np.array([low <= (table.n_train or -1) < high for table in arena.tables])
            values = better[mask & ~np.isnan(better)]
            if len(values):
                share = _share(values.mean(), weighted_mean(_weights(len(values)), values))
                rows.append([method, rival, learner or "all", name, str(len(values)), share])
    return rows


def held_out(arena: Scores) -> list[list[str | Share]]:
    """Return a row for the recommendation, for the best method in hindsight, and for each of ``FIXED_METHODS``."""
    win_matrix = pairwise_wins(arena.losses)
    rates = mean_of_known(win_matrix, axis=3)
    penalty = np.where(np.apply_along_axis(_is_frequent, 0, rates), 0.0, np.nan)
    constant_rules = {f"always {name}": arena.methods.index(name) for name in FIXED_METHODS if name in arena.methods}
    results: dict[str, list[tuple[float, float, float]]] = {}
    for half, rest in _halves(len(arena.tables)):
        rules = {
            "recommended for each learner": _best(mean_of_known(rates[half], axis=0) + penalty),
            "best in hindsight": _best(mean_of_known(rates[rest], axis=0) + penalty),
            **{name: np.full(len(arena.learners), method) for name, method in constant_rules.items()},
        }
        for name, rule in rules.items():
            results.setdefault(name, []).append(_rule_scores(arena, win_matrix, rates, rest, rule))
    rows: list[list[str | Share]] = []
    for name, values in results.items():
        rate, better, difference = np.array(values).T
        shares = (_share(rate.mean(), rate), _share(better.mean(), better))
        rows.append([name, *shares, _number(float(np.median(difference)), difference)])
    return rows


def _rule_scores(
    arena: Scores, win_matrix: Floats, rates: Floats, tables: npt.NDArray[np.intp], rule: npt.NDArray[np.intp]
) -> tuple[float, float, float]:
    """Return the win rate of a rule, how often it beats the learner alone, and the median difference of the loss."""
    learners = np.arange(len(rule))
    rate = _mean(rates[tables][:, learners, rule])
    if arena.baseline is None:
        return rate, np.nan, np.nan
    has_rival = rule != arena.baseline  # the learner alone cannot beat itself
    better = _mean(win_matrix[tables][:, learners[has_rival], rule[has_rival], arena.baseline])
    with np.errstate(invalid="ignore"):  # two infinite losses have no known difference
        difference = arena.losses[tables][:, learners, rule] - arena.losses[tables][:, :, arena.baseline]
    has_difference = ~np.isnan(difference).all(axis=1)
    median = float(np.median(np.nanmedian(difference[has_difference], axis=1))) if has_difference.any() else np.nan
    return rate, better, median


def _mean(values: Floats) -> float:
    """Return the mean over tables of the mean over learners of (n_tables, n_learners) values, without NaN."""
    if not values.size or np.isnan(values).all():
        return np.nan
    return float(np.nanmean(mean_of_known(values, axis=1)))


def _best(means: Floats) -> npt.NDArray[np.intp]:
    return np.argmax(np.where(np.isnan(means), -np.inf, means), axis=1)


def _is_frequent(values: Floats) -> bool:
    return bool((~np.isnan(values)).mean() >= FEWEST_SHARE)


def _halves(n: int) -> list[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]]:
    """Return random halves of n tables and the rest of each, the same ones each time."""
    generator = np.random.default_rng(0)
    orders = [generator.permutation(n) for _ in range(DRAWS)]
    return [(order[: n // 2], order[n // 2 :]) for order in orders]


def _weights(n: int) -> Floats:
    return np.array([np.bincount(row, minlength=n) for row in _bootstrap_places(n)], dtype=np.float64)


def _bootstrap_places(n: int) -> npt.NDArray[np.int64]:
    return np.random.default_rng(0).integers(n, size=(DRAWS, n))


def _share(value: float, draws: Floats | list[float]) -> Share:
    low, high = np.quantile(draws, [0.025, 0.975])
    return Share(float(value), float(low), float(high))


def _number(value: float, draws: Floats) -> str:
    if np.isnan(value):
        return "-"
    low, high = np.quantile(draws, [0.025, 0.975])
    return f"{value:+.4f} ({low:+.4f} to {high:+.4f})"


def _pipe(rows: list[list[str | Share]], header: list[str]) -> str:
    return tabulate(rows, header, tablefmt="pipe", disable_numparse=True)


if __name__ == "__main__":
    main()
