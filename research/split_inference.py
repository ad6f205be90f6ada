"""What the printed numbers say about the unknown splits: python -m research.split_inference

Naive Bayes and its sigmoid run on random splits of each data set. The page results/split-search/inference.md compares
their numbers with the printed ones. Are these the numbers of a random split at all, and of which size? How many splits
have them? Which rows tested? Takes some minutes. ``--draws`` makes it shorter.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.stats import chi2
from tabulate import tabulate

from probcal.errors import ProbcalError
from research.split_confirm import printed_numbers
from research.split_data import MLC_PART, Rows, read_rows
from research.split_scores import UNIT, Bayes, largest_difference, measure, naive_bayes, sigmoid_on_training_rows
from research.split_search import FOLDER, PASS_UNITS

DATASETS = ("ionosphere", "kr-vs-kp", "liver", "mushroom", "sick", "sick-all")
SHARES = (0.33, 0.5, 0.66, 0.75, 0.9)
SHARE = 0.66
BLOCK = 50
NEAR_UNITS = 3 * PASS_UNITS
"""Units of the last digit within which a split counts as one of those that agree, where rows are looked at."""


@dataclass(frozen=True)
class Draws:
    """Hold random splits of one size. ``numbers``: (n_draws, n_numbers), the columns of ``names``.

    ``published``: (n_numbers,), the printed ones.
    """

    test: np.ndarray
    numbers: np.ndarray
    names: list[str]
    published: np.ndarray

    @property
    def units_off(self) -> np.ndarray:
        """Return the differences from the printed numbers in units of the last digit, (n_draws, n_numbers)."""
        units: np.ndarray = np.abs(self.numbers - self.published) / UNIT
        return units

    def nb_mask(self) -> np.ndarray:
        """Return which numbers are those of NB, (n_numbers,) bool."""
        return np.array([name.startswith("NB") for name in self.names])


def draw(rows: Rows, bayes: Bayes, share: float, n_draws: int) -> Draws:
    """Return random splits that train on this share of the rows. SigNB keeps the AUC of NB, which counts once."""
    rng = np.random.default_rng(round(1000 * share))
    size = round(share * rows.n)
    targets = {f"NB {metric}": value for metric, value in printed_numbers(rows.name, "NB").items()}
    targets |= {
        f"SigNB {metric}": value for metric, value in printed_numbers(rows.name, "SigNB").items() if metric != "auc"
    }
    tests, lines = [], []
    for start in range(0, n_draws, BLOCK):
        block = [rng.permutation(rows.n) < size for _ in range(min(BLOCK, n_draws - start))]
        for train, odds in zip(block, bayes.log_odds(np.array(block), all_rows=True), strict=True):
            sigmoid, test = sigmoid_on_training_rows(odds, rows.y, train), ~train
            values = {f"NB {metric}": value for metric, value in measure(odds[test], rows.y[test]).items()}
            values |= {f"SigNB {metric}": value for metric, value in measure(sigmoid[test], rows.y[test]).items()}
            tests.append(test)
            lines.append([values[name] for name in targets])
    return Draws(np.array(tests), np.array(lines), list(targets), np.array(list(targets.values())))


def distance(draws: Draws) -> tuple[float, float]:
    """Return Mahalanobis' squared distance of the printed numbers, and their log density by a normal fit, in nats.

    CXE enters by its logarithm, because some splits have a very large one.
    """
    logs = np.array([name.endswith("cxe") for name in draws.names])
    numbers, targets = (np.where(logs, np.log(values), values) for values in (draws.numbers, draws.published))
    gap, covariance = targets - numbers.mean(axis=0), np.cov(numbers, rowvar=False)
    squared = float(gap @ np.linalg.solve(covariance, gap))
    return squared, -0.5 * (squared + np.linalg.slogdet(2 * np.pi * covariance)[1])


def single_lines(rows: Rows, draws: Draws) -> Iterator[list[str]]:
    """Yield each printed number with mean, sd and quantile among those of random splits."""
    for name, target, column in zip(draws.names, draws.published, draws.numbers.T, strict=True):
        quartiles = "{:.3f} to {:.3f}".format(*np.quantile(column, [0.25, 0.75]))
        yield [
            rows.name,
            name,
            f"{target:.3f}",
            f"{np.median(column):.3f}",
            quartiles,
            f"{(column < target).mean():.0%}",
        ]


def joint_line(rows: Rows, share_draws: dict[float, Draws]) -> list[str]:
    """Return the joint p-value at 66 %, and the log density at each share less the largest."""
    distances = {share: distance(draws) for share, draws in share_draws.items()}
    squared, n_numbers = distances[SHARE][0], len(share_draws[SHARE].names)
    maximum = max(density for _, density in distances.values())
    relative = [f"{density - maximum:.1f}" for _, density in distances.values()]
    p_value = chi2.sf(squared, n_numbers)
    return [rows.name, str(n_numbers), f"{squared:.1f}", f"{p_value:.2f}", f"{distances[SHARE][1]:.1f}", *relative]


def count_line(rows: Rows, draws: Draws) -> list[str]:
    """Return how many random splits agree with NB and with SigNB, and how many splits there are."""
    units = draws.units_off
    hits = [units[:, draws.nb_mask()].max(axis=1) <= PASS_UNITS, units.max(axis=1) <= PASS_UNITS]
    size = round(SHARE * rows.n)
    bits = (math.lgamma(rows.n + 1) - math.lgamma(size + 1) - math.lgamma(rows.n - size + 1)) / math.log(2)
    return [rows.name, *(f"{hit.sum()} of {len(units):,}" for hit in hits), f"2^{bits:,.0f}"]


def mlc_line(rows: Rows, bayes: Bayes, draws: Draws) -> list[str]:
    """Return how near the MLC++ split comes to the printed NB, and how many random splits are as near."""
    [train] = [train for name, train in rows.parts.items() if name == MLC_PART]
    odds = bayes.log_odds(train[None])[0, ~train]
    limit = largest_difference(measure(odds, rows.y[~train]), printed_numbers(rows.name, "NB"))
    is_near = draws.units_off[:, draws.nb_mask()].max(axis=1) <= limit
    return [rows.name, f"{limit:.1f}", f"{is_near.sum()} of {len(is_near):,}"]


def row_line(rows: Rows, draws: Draws) -> list[str]:
    """Return what the splits near the printed NB have in common: positives that test, and single rows."""
    hits = draws.units_off[:, draws.nb_mask()].max(axis=1) <= NEAR_UNITS
    positives, share = draws.test @ rows.y, draws.test.mean(axis=0)
    line = [rows.name, str(hits.sum()), f"{positives.mean():.1f} ± {positives.std():.1f}"]
    if hits.sum() < 10:
        return [*line, "too few", "too few"]
    z = (draws.test[hits].mean(axis=0) - share) / np.sqrt(share * (1 - share) / hits.sum())
    return [*line, f"{positives[hits].mean():.1f} ± {positives[hits].std():.1f}", f"{z.std():.2f}"]


def page(datasets: list[str], n_draws: int, folder: str | None, mlc: Path | None) -> str:
    """Return the text of inference.md."""
    n_few = max(n_draws // 4, 10)
    single, joint, counts, row_lines, mlc_lines = [], [], [], [], []
    for name in datasets:
        rows = read_rows(name, folder, mlc)
        bayes = naive_bayes(rows.X, rows.y)
        share_draws = {share: draw(rows, bayes, share, n_draws if share == SHARE else n_few) for share in SHARES}
        single += list(single_lines(rows, share_draws[SHARE]))
        joint.append(joint_line(rows, share_draws))
        counts.append(count_line(rows, share_draws[SHARE]))
        row_lines.append(row_line(rows, share_draws[SHARE]))
        if rows.parts:
            mlc_lines.append(mlc_line(rows, bayes, share_draws[SHARE]))
        print(f"{name}: done", file=sys.stderr, flush=True)
    shares = [f"{share:.0%}" for share in SHARES]
    return TEXT.format(
        draws=f"{n_draws:,}",
        few=n_few,
        near=f"{NEAR_UNITS:.0f}",
        single=_table(single, ["data set", "number", "printed", "median", "middle half", "below"]),
        joint=_table(joint, ["data set", "numbers", "distance", "p", "log density", *shares]),
        counts=_table(counts, ["data set", "NB", "NB and SigNB", "splits"]),
        mlc=_table(mlc_lines, ["data set", "distance of MLC++", "random splits as near"])
        if mlc_lines
        else "(Not at hand.)",
        rows=_table(row_lines, ["data set", "near", "positives that test", "of those near", "spread of rows"]),
    )


TEXT = """# The splits that are not known: what the numbers say

NB and SigNB, as in Weka 3.4.1, on random splits of each data set. `sick` has the 2,800 rows of sick.data, `sick-all`
those and the 972 of sick.test. Written by `python -m research.split_inference`.

## Are they the numbers of a random split?

{draws} random splits, 66 % train. **below** is the share of them with a smaller number.

{single}

All numbers of a data set together: Mahalanobis' squared distance from the random splits, and its p-value. A small p
says that the paper's rows or columns are others than those of the card. The last columns have the log density (nats) of
the printed numbers if this share of the rows trains, less the largest one. {few} splits each but for 66 %. **log
density** is the one at 66 %, to compare readings of the same data set.

{joint}

## How many splits have these numbers?

Random splits whose NB, and whose NB and SigNB, are at most one unit of the last digit off. The last column is the
number of ways to choose 66 % of the rows.

{counts}

## Which rows tested?

Random splits whose NB is at most {near} units off, against all of them. **positives that test** has mean and sd over
all random splits, the next column over those near. **spread of rows**: how much more often each row tests among those
near, in standard errors, and the sd of this over the rows. Chance alone gives 1.

{rows}

## Is it nearly the split of MLC++?

Five of the paper's splits are those of MLC++. Of these data sets it is not the split. The largest difference of NB on
the MLC++ split from the printed numbers, in units of the last digit, and the random splits that come as near.

{mlc}
"""


def _table(body: list[list[str]], header: list[str]) -> str:
    return tabulate(body, header, "github", disable_numparse=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", nargs="*", default=DATASETS, metavar="DATASET", help="cards (all six)")
    parser.add_argument("--draws", type=int, default=500, metavar="N", help="random splits that train on 66 %% (500)")
    parser.add_argument("--data-dir", metavar="DIR", help="original data files (PROBCAL_DATA_DIR)")
    parser.add_argument("--mlc", type=Path, metavar="DIR", help="MLC++ files NAME.data and NAME.test")
    parser.add_argument("--out", type=Path, default=FOLDER, metavar="DIR", help="(%(default)s)")
    args = parser.parse_args()
    try:
        text = page(list(args.datasets), args.draws, args.data_dir, args.mlc)
    except ProbcalError as error:
        sys.exit(f"error: {error}")
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "inference.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
