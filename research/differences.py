"""How far columns of an experiment are from another one: python -m research.differences FOLDER PAIRS... [-o FILE]

PAIRS is BASE:COLUMN,COLUMN,... A column is LEARNER/METHOD. A difference is one of means over the splits of a data set.
Its interval comes from drawing the data sets anew, 10,000 times. So it speaks of data sets like these, and not of
splits, on which ``probcal compare`` has its tests. Takes seconds.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from tabulate import tabulate

from probcal.metrics.registry import metric_named
from probcal.store.folder import Store
from probcal.store.stored_experiment import StoredExperiment
from probcal.store.summary import summarise

METRICS = ("cxe", "rms", "auc")


def difference(values: np.ndarray, base: np.ndarray, smaller: bool) -> list[str]:
    """Return the mean difference, its 95 % interval, the largest one, and how many data sets are better."""
    known = np.isfinite(values) & np.isfinite(base)
    apart = (values - base)[known]
    drawn = np.random.default_rng(0).choice(apart, size=(10_000, len(apart))).mean(axis=1)
    low, high = np.quantile(drawn, [0.025, 0.975])
    largest = apart[np.abs(apart).argmax()]
    ahead = int(((apart < 0) if smaller else (apart > 0)).sum())
    return [f"{apart.mean():+.4f}", f"{low:+.4f} to {high:+.4f}", f"{largest:+.4f}", f"{ahead} of {len(apart)}"]


def lines(folder: Path, pairs: list[str]) -> list[list[str]]:
    """Return the lines of the table: metric, column, base, difference, interval, largest, ahead."""
    store = Store(folder)
    stored, results = StoredExperiment.of(store), store.results()
    columns = {f"{one.learner}/{one.method}": one for one in stored.columns}

    def means(name: str, metric: str) -> np.ndarray:
        found = [summarise(stored, results, row, columns[name], metric).mean for row in stored.datasets]
        return np.array([np.nan if one is None else one for one in found])

    rows = [["metric", "column", "minus", "mean difference", "95 % interval", "largest", "ahead"]]
    for metric in METRICS:
        about = metric_named(metric)
        for pair in pairs:
            base, _, others = pair.partition(":")
            for name in others.split(","):
                found = difference(means(name, metric), means(base, metric), not about.larger_is_better)
                rows.append([about.short, columns[name].label, columns[base].label, *found])
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("pairs", nargs="+", metavar="PAIRS")
    parser.add_argument("-o", "--out", type=Path, metavar="FILE")
    args = parser.parse_args()
    header, *body = lines(args.folder, args.pairs)
    text = tabulate(body, header, "github", disable_numparse=True)
    print(text)
    if args.out:
        args.out.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
