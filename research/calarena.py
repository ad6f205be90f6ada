"""How well our order of the calibrators agrees with that of CalArena: python -m research.calarena results/defaults

CalArena (Berta, Holzmueller, Bach & Jordan, arXiv 2605.30188, 2026) published the losses of 24 calibrators on tables of
TabRepo and TabArena. ``calarena.csv`` has their mean ranks. This takes the maps that both have, ranks ours on the
tables of a results folder, and computes Kendall's tau between the two orders. The interval comes from tables drawn
again.

``--reading as_calarena`` takes the methods that calibrate as CalArena does, such as as_calarena.beta, and fold_mean as
the base model. A learner is compared with their order for the same kind of model, too.

``--all METHOD`` prints both, of two classes and of several, and a held-out tau: a random half of our tables chooses
between our maps and those of METHOD, and the other half has its tau.

``--published FOLDER`` writes calarena.csv again, from the result files of github.com/probkit/CalArena.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import kendalltau
from tabulate import tabulate

from probcal.analysis.rankings import mean_of_known, pairwise_wins, weighted_mean
from probcal.papers import berta_holzmueller_bach_jordan_2026 as paper
from probcal.reporting.comparison.leaderboard import Scores, measure_scores
from probcal.store.folder import Store
from probcal.store.stored_experiment import StoredExperiment

PUBLISHED = Path(paper.__file__).with_name("calarena.csv")
SOURCE = """\
# Mean losses, mean ranks (1 is the best calibrator of an experiment) and mean seconds of the calibrators of CalArena:
# E. Berta, D. Holzmueller, F. Bach and M. Jordan, arXiv 2605.30188 (2026).
# Computed by research/calarena.py from the result files of github.com/probkit/CalArena at a0afa1544d4b.
# These are under the Apache License 2.0 (apache.org/licenses/LICENSE-2.0). Changed: means over tables, no single rows.
# An experiment is a table with a model. Log loss is in nats. Without a number a calibrator takes no part in a rank.
"""
MAPS = {
    "direct": "Base-model",
    "sigmoid": "Platt-logits",
    "isotonic": "Isotonic",
    "venn_abers": "Venn-Abers",
    "beta": "Beta",
    "quadratic": "Quadratic",
    "spline": "Spline",
    "temperature": "TS",
    "vector_scaling": "VS",
    "matrix_scaling": "MS",
    "dirichlet": "Dirichlet",
    "histogram": "Hist-quantile",
}
"""Our method -> their calibrator of the same kind. ``--map`` adds others, such as variants."""
MAP_NAMES = {
    "platt_logits": "Platt-logits",
    "platt_probs": "Platt-probs",
    "temperature": "TS",
    "beta": "Beta",
    "quadratic": "Quadratic",
    "spline": "Spline",
    "isotonic": "Isotonic",
    "centered": "CIR",
    "venn_abers": "Venn-Abers",
    "histogram": "Hist-quantile",
    "vector_scaling": "VS",
    "matrix_scaling": "MS",
    "dirichlet": "Dirichlet",
}
"""The variants of ``--reading`` -> their calibrators."""
MODELS = {
    "forest": "RandomForest",
    "extra": "ExtraTrees",
    "lightgbm": "LightGBM",
    "catboost": "CatBoost",
    "logistic": "LinearModel",
    "mlp": "NeuralNetTorch",
}
"""Our learner -> their model of TabRepo of the same kind. All of theirs are tuned."""
LOSSES = {"log_loss": ("log_loss", "cxe"), "brier": ("brier", "rms")}
"""Their loss -> our metrics, of which the first that was measured counts."""
DRAWS = 1000


def main(words: Sequence[str] | None = None) -> None:
    """Print the table of ranks and Kendall's tau."""
    parser = argparse.ArgumentParser(prog="python -m research.calarena", description=__doc__.partition("\n\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, help="results of probcal run")
    parser.add_argument("--task", choices=("binary", "multiclass"), default="binary")
    parser.add_argument("--loss", choices=tuple(LOSSES), default="log_loss")
    parser.add_argument("--reading", metavar="METHOD", help="the method whose variants calibrate as CalArena does")
    parser.add_argument("--all", metavar="METHOD", help="all tables with the maps as ours and as those of METHOD")
    parser.add_argument("--map", action="append", default=[], metavar="OURS=THEIRS", help="one more pair of maps")
    parser.add_argument("--without", action="append", default=[], metavar="OURS", help="leave out a method of ours")
    parser.add_argument("--published", type=Path, metavar="FOLDER", help="write calarena.csv from their result files")
    args = parser.parse_args(words)
    if args.published:
        PUBLISHED.write_text(SOURCE + summary(args.published).to_csv(index=False), encoding="utf-8")
        return
    if not args.folder:
        parser.error("name a results folder")
    if args.all:
        print(full_report(Store(args.folder), reading_maps(args.all), args.loss))
        return
    maps = {**(reading_maps(args.reading) if args.reading else MAPS), **dict(pair.split("=") for pair in args.map)}
    maps = {method: peer for method, peer in maps.items() if method not in args.without}
    print(report(Store(args.folder), maps, args.task, args.loss))


def reading_maps(method: str) -> dict[str, str]:
    """Return the variants of a method that calibrates as CalArena does -> their calibrators."""
    return {f"{method}.{name}": peer for name, peer in MAP_NAMES.items()} | {"fold_mean": "Base-model"}


def summary(folder: Path) -> pd.DataFrame:
    """Return the mean losses, ranks and seconds of each collection, task, model and calibrator."""
    rows = []
    for place in sorted(path for path in folder.iterdir() if path.is_dir()):
        collection, task = place.name.rsplit("-", 1)
        runs = {}
        for file in sorted(place.glob("*.csv")):
            table = pd.read_csv(file).set_index(["dataset", "model"])
            runs[file.stem] = table.rename(columns=lambda name, stem=file.stem: name.removeprefix(f"{stem}_"))
        losses = {
            name: pd.DataFrame({calibrator: run[column] for calibrator, run in runs.items()})
            for name, column in (("log_loss", "logloss"), ("brier", "brier"))
        }
        ranks = {name: table.rank(axis=1) for name, table in losses.items()}
        for calibrator, run in runs.items():
            for model in sorted(run.index.get_level_values("model").unique()):
                is_model = run.index.get_level_values("model") == model
                index = run[is_model & run["logloss"].notna()].index
                means = {name: losses[name].loc[index, calibrator].mean() for name in losses}
                means |= {f"{name}_rank": ranks[name].loc[index, calibrator].mean() for name in ranks}
                rows.append(
                    {"collection": collection, "task": task, "model": model, "calibrator": calibrator,
                     "tables": len(index), **{name: round(float(value), 4) for name, value in means.items()},
                     "seconds": round(float(run.loc[index, "time"].mean()), 4)}
                )  # fmt: skip
    return pd.DataFrame(rows)


def published_ranks(task: str, loss: str, maps: Mapping[str, str], models: Sequence[str] = ()) -> pd.DataFrame:
    """Return their mean ranks, a column for each collection and ``all``, a row for each map of ours.

    The mean is over the experiments, or over those of ``models``.
    """
    table = pd.read_csv(PUBLISHED, comment="#")
    table = table[(table["task"] == task) & table["calibrator"].isin([*maps.values()])]
    table = table[table["model"].isin(models)] if models else table
    table = table.assign(total=table[f"{loss}_rank"] * table["tables"])
    sums = table.groupby(["calibrator", "collection"])[["total", "tables"]].sum().unstack("collection")
    ranks = sums["total"] / sums["tables"]
    ranks["all"] = sums["total"].sum(axis=1) / sums["tables"].sum(axis=1)
    return ranks.reindex([*maps.values()]).set_axis([*maps], axis=0).dropna(how="all")


def win_rates(arena: Scores) -> np.ndarray:
    """Return the share of the other maps that each map beats on each table, (n_tables, n_methods)."""
    return mean_of_known(mean_of_known(pairwise_wins(arena.losses), axis=1), axis=2)


def tau_alone(ranks: np.ndarray, rates: np.ndarray) -> float:
    """Return Kendall's tau between their ranks, (k,), and our rates, (n_tables, k)."""
    mean = weighted_mean(np.ones((1, len(rates))), rates)[0]
    return float(kendalltau(ranks, -mean, nan_policy="omit").statistic)


def tau(ranks: np.ndarray, rates: np.ndarray) -> tuple[float, float, float]:
    """Return Kendall's tau between their ranks, (k,), and our rates, (n_tables, k), with its 95 % interval."""
    n = len(rates)
    weights = np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), size=DRAWS).astype(float)
    taus = [kendalltau(ranks, -row, nan_policy="omit").statistic for row in weighted_mean(weights, rates)]
    return tau_alone(ranks, rates), *(float(bound) for bound in np.nanquantile(taus, [0.025, 0.975]))


def ranked_maps(
    store: Store, maps: Mapping[str, str], task: str, loss: str
) -> tuple[Scores, list[int], np.ndarray, pd.DataFrame]:
    """Return our losses, the places of the methods that both have, their rates and their published ranks."""
    arena = _common_losses(store, maps, task, loss)
    published = published_ranks(task, loss, {method: maps[method] for method in arena.methods})
    places = [place for place, method in enumerate(arena.methods) if method in published.index]
    if len(places) < 3 or not arena.tables:
        raise SystemExit(f"{store.folder} has fewer than three of the maps of CalArena on {task} tables")
    return arena, places, win_rates(arena)[:, places], published.loc[[arena.methods[place] for place in places]]


def report(store: Store, maps: Mapping[str, str], task: str, loss: str) -> str:
    """Return the ranks of both as a table, and the taus against each collection, of all learners and of each."""
    arena, places, rates, published = ranked_maps(store, maps, task, loss)
    common = {method: maps[method] for method in arena.methods}
    our_ranks = 1 + (len(places) - 1) * (1 - weighted_mean(np.ones((1, len(rates))), rates)[0])
    rows = [
        [
            method,
            common[method],
            *(f"{published.loc[method, collection]:.2f}" for collection in published.columns),
            f"{rank:.2f}",
        ]
        for rank, method in sorted(zip(our_ranks, published.index, strict=True))
    ]
    lines = [
        f"{loss} of {task} tables: mean ranks, among all calibrators of CalArena and among these maps of ours"
        f" ({len(rates)} tables, {len(arena.learners)} learners)\n",
        _table(rows, ["our method", "their calibrator", *published.columns, "ours"]),
        "",
    ]
    taus: list[list[Any]] = []
    learner_rates = _by_learner(arena, places)
    for name in published.columns:
        for learner, part in [("all", rates), *learner_rates]:
            taus.append([name, learner, *_tau_texts(published[name], part)])
    learners = [name for name, _ in learner_rates if name in MODELS]
    groups = [(MODELS[name], name, [name]) for name in learners] + [("all of these", "all of these", learners)]
    for model, learner, names in groups if learners else []:
        arena_part = arena.select(list(range(len(arena.tables))), [arena.learners.index(name) for name in names])
        order = published_ranks(task, loss, common, [MODELS[name] for name in names]).reindex(published.index)["all"]
        taus.append([model, learner, *_tau_texts(order, win_rates(arena_part)[:, places])])
    lines.append(_table(taus, ["their tables", "our learner", "Kendall's tau", "95 %"]))
    return "\n".join(lines)


def full_report(store: Store, reading: Mapping[str, str], loss: str) -> str:
    """Return the reports of both kinds of maps for both tasks, with a held-out tau of each task."""
    parts = ["# Our order of the maps, and CalArena's\n\nWritten by `python -m research.calarena FOLDER --all METHOD`."]
    for task, classes in (("binary", "Two classes"), ("multiclass", "Several classes")):
        parts += [
            f"## {classes}: the maps as CalArena fits them\n\n" + report(store, reading, task, loss),
            f"## {classes}: our own maps, as we recommend them\n\n" + report(store, MAPS, task, loss),
            f"## {classes}: held-out tau\n\n" + held_out_table(store, reading, task, loss),
        ]
    return "\n\n".join(parts)


def held_out_table(store: Store, reading: Mapping[str, str], task: str, loss: str) -> str:
    """Return the tau of one half of our tables, of the kind of maps that has the higher tau on the other half.

    The choice is made on each of 200 random halves. The interval has 95 % of the halves.
    """
    kinds = []
    for maps in (reading, MAPS):
        arena, _, rates, published = ranked_maps(store, maps, task, loss)
        kinds.append((arena.tables, rates, published))
    if kinds[0][0] != kinds[1][0]:
        raise SystemExit("the two kinds of maps have other tables")
    draw = np.random.default_rng(0)
    n = len(kinds[0][0])
    rows = []
    for collection in kinds[0][2].columns:
        taus, chosen = [], []
        for _ in range(200):
            order = draw.permutation(n)
            first, second = (
                [tau_alone(published[collection].to_numpy(), rates[part]) for _, rates, published in kinds]
                for part in (order[: n // 2], order[n // 2 :])
            )
            chosen.append(int(np.argmax(first)))
            taus.append(second[chosen[-1]])
        low, high = np.quantile(taus, [0.025, 0.975])
        rows.append(
            [
                collection,
                f"{np.mean(taus):.2f}",
                f"{low:.2f} to {high:.2f}",
                f"{100 * np.mean(np.equal(chosen, 0)):.0f} %",
            ]
        )
    return _table(rows, ["their tables", "held-out tau", "95 % of halves", "halves that choose the maps as CalArena's"])


def _tau_texts(ranks: pd.Series, rates: np.ndarray) -> list[str]:
    value, low, high = tau(ranks.to_numpy(), rates)
    return [f"{value:.2f}", f"{low:.2f} to {high:.2f}"]


def _table(rows: list[list[Any]], header: list[str]) -> str:
    return tabulate(rows, header, tablefmt="pipe", disable_numparse=True)


def _by_learner(arena: Scores, places: Sequence[int]) -> list[tuple[str, np.ndarray]]:
    """Return the rates of each learner that has all of the maps."""
    all_tables = list(range(len(arena.tables)))
    learner_rates = [
        (name, win_rates(arena.select(all_tables, [place]))[:, places]) for place, name in enumerate(arena.learners)
    ]
    return [(name, rates) for name, rates in learner_rates if not np.isnan(rates).all(axis=0).any()]


def _common_losses(store: Store, maps: Mapping[str, str], task: str, loss: str) -> Scores:
    """Return our losses of the maps that both have, on the tables of the task."""
    stored, results = StoredExperiment.of(store), store.results()
    columns = [column for column in stored.columns if column.method in maps]
    stored = stored.model_copy(update={"columns": columns})
    metrics = {name for result in results.values() for name in result.metrics}
    metric = next((name for name in LOSSES[loss] if name in metrics), None)
    if metric is None:
        raise SystemExit(f"{store.folder} has none of the metrics {', '.join(LOSSES[loss])}")
    arena = measure_scores(stored, results, metric)
    tables = [
        place for place, table in enumerate(arena.tables) if ((table.n_classes or 2) > 2) == (task == "multiclass")
    ]
    return arena.select(tables, list(range(len(arena.learners))))


if __name__ == "__main__":
    main()
