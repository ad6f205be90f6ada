"""Whether a method without options is as good as what a person had: python benchmarks/defaults.py, after the runs.

Run `probcal run` with defaults, defaults-labels and defaults-digits first. For each data set, learner and method this
takes the mean log loss over the splits. It may be at most .01 bits above the better of two others on the same splits:
the learner alone, and scikit-learn's CalibratedClassifierCV with the same kind of map. It must never be infinite.
Writes gate.md. Exit code 1 if a method fails.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from tabulate import tabulate

from probcal.store.folder import Store

FOLDERS = [Path(f"results/{name}") for name in ("defaults", "defaults-labels", "defaults-digits")]
TOLERANCE = 0.01
"""Bits."""
COUNTERPARTS = {"sigmoid": "sk_sigmoid", "isotonic": "sk_isotonic", "temperature": "sk_temperature"}
BASELINES = ("direct", "sk_sigmoid", "sk_isotonic", "sk_temperature")
NOTE = """# Every method without options

{judged} combinations of {datasets} data sets, {learners} learners and {methods} methods: **{failures} failures**,
{infinite} of them infinite. A method fails if its mean log loss is infinite, or more than {allowed} bits above the
better of the learner alone and scikit-learn's `CalibratedClassifierCV()` with the same kind of map, on the same splits.
Written by `python benchmarks/defaults.py`.

{experiments}

## The worst difference to the better of the two, in bits

A number above {allowed} is a failure. `-` means that nothing finite was there to compare with.

{worst}

## Failures

{failed}

{means}
"""
MEANS = """## {experiment}: the mean log loss on {rows}, in bits

The lowest of each learner is bold. `inf` means that a row of a class got the probability 0.

{table}"""
ROWS = {True: "data sets with fewer than 1,000 training rows", False: "data sets with up to 3,000 training rows"}
FEW_ROWS = ("australian", "breast", "credit-g", "diabetes", "ionosphere", "qsar-biodeg")
"""Data sets with fewer than 1,000 training rows."""


def main(words: Sequence[str] | None = None) -> None:
    """Write the table of the gate."""
    parser = argparse.ArgumentParser(prog="python benchmarks/defaults.py", description=__doc__)
    parser.add_argument(
        "folders", nargs="*", type=Path, default=FOLDERS, help="results (results/defaults, -labels and -digits)"
    )
    parser.add_argument("-o", "--out", type=Path, default=FOLDERS[0] / "gate.md", help="file to write (%(default)s)")
    args = parser.parse_args(words)
    losses = {folder.name: mean_losses([folder]) for folder in args.folders}
    verdicts = pd.concat([judge(table) for table in losses.values()], ignore_index=True)
    args.out.write_text(report(losses, verdicts), encoding="utf-8")
    failures = int(verdicts["failed"].sum())
    print(f"{len(verdicts)} combinations, {failures} failures: {args.out}")
    sys.exit(1 if failures else 0)


def mean_losses(folders: Iterable[Path]) -> pd.DataFrame:
    """Return the mean log loss in bits over splits and the number of splits, by data set, learner and method.

    The loss of a failed cell is infinite.
    """
    losses = pd.DataFrame(
        [
            (result.dataset, result.learner, result.method, result.repetition, float(result.metrics.get("cxe", np.inf)))
            for folder in folders
            for result in Store(folder).results().values()
        ],
        columns=["dataset", "learner", "method", "repetition", "loss"],
    )
    groups = losses.groupby(["dataset", "learner", "method"], sort=False)["loss"]
    return groups.agg(loss="mean", splits="size").reset_index()


def judge(losses: pd.DataFrame) -> pd.DataFrame:
    """Return each method's difference to the better of what a person had, in bits, and whether it fails.

    The difference is infinite if the method's loss is, and missing if there is nothing finite to compare with.
    """
    table = losses.pivot(index=["dataset", "learner"], columns="method", values="loss")
    verdicts = losses[~losses["method"].isin(BASELINES)].copy()
    verdicts["had"] = [
        min(table.loc[(dataset, learner), names].min(), np.inf)
        for dataset, learner, names in zip(
            verdicts["dataset"],
            verdicts["learner"],
            [[name for name in ("direct", COUNTERPARTS.get(method)) if name in table] for method in verdicts["method"]],
            strict=True,
        )
    ]
    verdicts["difference"] = np.where(np.isinf(verdicts["loss"]), np.inf, verdicts["loss"] - verdicts["had"])
    verdicts.loc[np.isinf(verdicts["had"]) & np.isfinite(verdicts["loss"]), "difference"] = np.nan
    verdicts["failed"] = verdicts["difference"] > TOLERANCE
    return verdicts


def report(losses: dict[str, pd.DataFrame], verdicts: pd.DataFrame) -> str:
    """Return the page: the worst difference of each method and learner, the failures, and the mean losses.

    ``losses`` are those of each experiment, by its name.
    """
    worst = verdicts.pivot_table(index="method", columns="learner", values="difference", aggfunc="max", sort=False)
    failures = verdicts[verdicts["failed"]].sort_values("difference", ascending=False)
    all_losses = pd.concat(losses.values())
    return NOTE.format(
        judged=len(verdicts),
        datasets=all_losses["dataset"].nunique(),
        learners=all_losses["learner"].nunique(),
        methods=verdicts["method"].nunique(),
        failures=len(failures),
        infinite=int(np.isinf(failures["loss"]).sum()),
        allowed=TOLERANCE,
        experiments="\n".join(f"- {_experiment(name, table)}" for name, table in losses.items()),
        worst=_table(worst.map(lambda value: "-" if pd.isna(value) else f"{value:+.4f}")),
        failed=_table(
            failures[["dataset", "learner", "method", "loss", "had", "difference"]]
            .set_index("dataset")
            .map(lambda value: f"{value:.4f}" if isinstance(value, float) else value)
        )
        if len(failures)
        else "None.",
        means="\n\n".join(
            MEANS.format(experiment=name, rows=ROWS[is_few], table=mean_table(table[mask == is_few]))
            for name, table in losses.items()
            for mask in [table["dataset"].isin(FEW_ROWS)]
            for is_few in ROWS
            if (mask == is_few).any()
        ),
    )


def _experiment(name: str, losses: pd.DataFrame) -> str:
    splits = sorted(set(losses["splits"]))
    return f"`{name}`: {losses['dataset'].nunique()} data sets, {' or '.join(map(str, splits))} splits"


def mean_table(losses: pd.DataFrame) -> str:
    """Return the mean loss over the data sets, with a row for each method and a column for each learner."""
    means = losses.pivot_table(index="method", columns="learner", values="loss", sort=False)
    minimum = means.min()
    return _table(
        means.apply(
            lambda column: [
                "-" if pd.isna(value) else f"**{value:.4f}**" if value == minimum[column.name] else f"{value:.4f}"
                for value in column
            ]
        )
    )


def _table(frame: pd.DataFrame) -> str:
    return tabulate(frame.reset_index(), headers="keys", tablefmt="github", showindex=False, disable_numparse=True)


if __name__ == "__main__":
    main()
