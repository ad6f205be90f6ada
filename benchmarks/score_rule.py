"""Score the rule "which base fit and map" on tables that chose nothing: python benchmarks/score_rule.py DIR [-o FOLDER]

DIR holds CSV files with the target in the last column. For each table, the base fits and maps of the experiment
arena-ensembles run on the folds of a cross-validation. Prints what the rule and each single choice lose against the
best choice in hindsight, by log loss (probabilities in [.001, .999]) and Brier score. An interrupted
run goes on where it stopped, if FOLDER is given. results/arena-ensembles/design.md
has the protocol.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import yaml
from tabulate import tabulate

import probcal
from probcal.errors import ProbcalError
from probcal.reading.table import read_table
from probcal.try_table.experiment_files import table_files
from probcal.try_table.preparation import TableRequest, prepare

ROOT = Path(__file__).parents[1]
FOLDS = 5
LEARNERS = ("logistic", "tree", "lightgbm")
METRICS = {"bounded_log_loss": "log loss", "brier": "Brier"}
DRAWS = 2_000


def rule(learner: str, n_rows: int, n_classes: int) -> tuple[str, str]:
    """Return the learner entry and the method of arena-ensembles that we recommend for a table.

    ``n_rows`` is the number of training rows. ``python -m research.arena_rule`` chose it. docs/arena.md has its score.
    """
    if learner == "logistic":
        if n_classes > 2:
            return "logistic_tuned_bags", "matrix_scaling"
        return "logistic_tuned_probing_n", "fold_mean" if n_rows < 1_000 else "isotonic"
    if learner == "tree":
        return "tree_probing", "isotonic" if n_classes == 2 else "matrix_scaling"
    return "lightgbm_bags", "beta" if n_classes == 2 else "matrix_scaling"


def main(words: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, metavar="DIR", help="folder of CSV files, the target in the last column")
    parser.add_argument("-o", "--out", type=Path, help="folder for what is measured (default: one that is removed)")
    parser.add_argument("-j", "--jobs", type=int, default=1, help="cells at a time (%(default)s)")
    parser.add_argument("-l", "--learner", action="append", choices=LEARNERS, help="only this learner; may be repeated")
    args = parser.parse_args(words)
    paths = sorted(args.folder.glob("*.csv"))
    if not paths:
        parser.error(f"{args.folder} holds no CSV file")
    learners = args.learner or LEARNERS
    with TemporaryDirectory() as temporary:
        out = args.out or Path(temporary)
        results = []
        for number, path in enumerate(paths, 1):
            print(f"{path.name} ({number} of {len(paths)})", file=sys.stderr)
            try:
                results.append(measure(path, out / path.stem, learners, args.jobs))
            except ProbcalError as error:
                print(f"left out: {error}", file=sys.stderr)
    if not results:
        parser.error(f"no file of {args.folder} can be used")
    print(report(pd.concat(results), learners))


def measure(path: Path, out: Path, learners: Sequence[str], jobs: int) -> pd.DataFrame:
    """Return the losses of all choices on the table of ``path``, with its number of training rows and classes."""
    target = read_table(str(path)).names[-1]
    prepared = prepare(TableRequest(str(path), target), FOLDS)
    files = table_files(prepared, "table")
    out.mkdir(parents=True, exist_ok=True)
    (out / "table.csv").write_text(files.rows, encoding="utf-8", newline="")
    (out / "table.yaml").write_text(files.card, encoding="utf-8")
    n_classes = len(prepared.target.counts)
    experiment = experiment_of(out / "table.yaml", learners, n_classes)
    (out / "rule.yaml").write_text(yaml.safe_dump(experiment), encoding="utf-8")
    frame = probcal.run(out / "rule.yaml", output=out / "results", jobs=jobs).frame
    losses = (
        frame[frame["metric"].isin(METRICS)].groupby(["learner", "method", "metric"], as_index=False)["value"].mean()
    )
    n_rows = round(len(files.dataset.y) * (1 - 1 / FOLDS))
    return losses.assign(table=path.stem, n_rows=n_rows, n_classes=n_classes)


def experiment_of(card: Path, learners: Sequence[str], n_classes: int) -> dict[str, Any]:
    """Return arena-ensembles for one table: its learners, the maps for so many classes, and the same split."""
    arena = yaml.safe_load((ROOT / "configs/arena-ensembles.yaml").read_text(encoding="utf-8"))
    entries = {name: entry for name, entry in arena["learners"].items() if name.partition("_")[0] in learners}
    left_out = ("matrix_scaling",) if n_classes == 2 else ("beta", "quadratic")
    methods = {name: entry for name, entry in arena["methods"].items() if name not in left_out}
    return {
        "name": "rule",
        "title": "The rule on one table",
        "datasets": [card.name],
        "split": arena["split"],
        "learners": entries,
        "methods": methods,
        "combinations": {
            name: [method for method in arena["combinations"][name] if method in methods] for name in entries
        },
        "metrics": list(METRICS),
    }


def report(results: pd.DataFrame, learners: Sequence[str]) -> str:
    """Return a table for each learner, number of classes and metric: each choice beside the best in hindsight."""
    parts = []
    for learner in learners:
        of_learner = results[results["learner"].str.partition("_")[0] == learner]
        for several, of_classes in of_learner.groupby(of_learner["n_classes"] > 2):
            for metric, label in METRICS.items():
                rows = of_classes[of_classes["metric"] == metric]
                n_tables = rows["table"].nunique()
                title = f"{learner}, {'several' if several else 'two'} classes, {label}, tables: {n_tables}"
                parts.append(f"## {title}\n\n" + score_table(rows, learner))
    return "\n\n".join(parts)


def above_best(rows: pd.DataFrame, learner: str) -> dict[str, np.ndarray]:
    """Return choice -> thousandths above the best choice in hindsight of each table, (n_tables,), the rule first.

    ``rows`` have one metric of one learner. A choice that a table lacks is left out.
    """
    losses = rows.pivot(index="table", columns=["learner", "method"], values="value")
    above = 1000 * losses.sub(losses.min(axis=1), axis=0)
    sizes = rows.groupby("table")[["n_rows", "n_classes"]].first()
    ruled = [
        above.loc[name, rule(learner, int(n_rows), int(n_classes))] for name, n_rows, n_classes in sizes.itertuples()
    ]
    return {"the rule": np.asarray(ruled)} | {
        f"{entry}, {method}": above[entry, method].to_numpy() for entry, method in above.dropna(axis=1).columns
    }


def interval(values: np.ndarray) -> tuple[float, float]:
    """Return the 95 % interval of the mean over tables, by tables drawn again."""
    draws = values[np.random.default_rng(0).integers(len(values), size=(DRAWS, len(values)))].mean(axis=1)
    low, high = np.quantile(draws, [0.025, 0.975])
    return float(low), float(high)


def score_table(results: pd.DataFrame, learner: str) -> str:
    """Return the Markdown table of the rule and the single choices, with a sentence."""
    rows: list[list[Any]] = []
    for name, above in above_best(results, learner).items():
        low, high = interval(above)
        rows.append([name, f"{above.mean():.1f}", f"{low:.1f} to {high:.1f}", int((above == 0).sum())])
    singles = sorted(rows[1:], key=lambda row: float(row[1]))
    table = tabulate(
        [rows[0], *singles],
        ["choice", "above the best", "95 %", "tables on which it is the best"],
        tablefmt="pipe",
        colalign=("left", "right", "left", "right"),
    )
    return (
        "Thousandths above the best choice in hindsight of each table (smaller is better): the rule "
        f"{rows[0][1]}, the best single choice {singles[0][1]} ({singles[0][0]}).\n\n{table}"
    )


if __name__ == "__main__":
    main()
