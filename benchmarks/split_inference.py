"""What the printed numbers say about the unknown splits: python benchmarks/split_inference.py

Naive Bayes and its sigmoid run on random splits of each data set. The page results/split-search/inference.md compares
their numbers with the printed ones: are these the numbers of a random split at all, of which size, and what do they tell
about single rows? Takes some minutes; ``--draws`` makes it shorter.
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
from split_confirm import METRICS, printed
from split_data import Rows, read_rows
from split_scores import UNIT, Bayes, Numbers, measured, naive_bayes, sigmoid_on_training_rows
from split_search import FOLDER, PASSES
from tabulate import tabulate

from probcal.errors import ProbcalError

DATASETS = ("ionosphere", "kr-vs-kp", "liver", "mushroom", "sick", "sick-all")
SHARES = (0.5, 0.6, 0.66, 0.7, 0.75, 0.8)
SHARE = 0.66
NOTE = """# The splits that are not known: what the numbers say

Random splits of each data set, and NB and SigNB of Weka 3.4.1 on each. Written by `python benchmarks/split_inference.py`.
`sick` has the 2,800 rows of sick.data, `sick-all` those and the 972 of sick.test.
"""


@dataclass(frozen=True)
class Draws:
    """Hold random splits of one size. ``numbers``: (n_draws, n_numbers), the columns of ``names``."""

    test: np.ndarray
    numbers: np.ndarray
    names: list[str]


def draw(rows: Rows, bayes: Bayes, share: float, n_draws: int, seed: int = 0) -> Draws:
    """Return random splits that train on this share of the rows, with all finite printed numbers of NB and SigNB."""
    rng = np.random.default_rng([seed, round(1000 * share)])
    size = round(share * rows.n)
    columns = [(column, printed(rows.name, column)) for column in ("NB", "SigNB")]
    # SigNB keeps the AUC of NB
    names = [f"{column} {metric}" for column, of in columns for metric in of if (column, metric) != ("SigNB", "auc")]
    tests, lines = [], []
    for _ in range(n_draws):
        train = np.zeros(rows.n, bool)
        train[rng.permutation(rows.n)[:size]] = True
        odds = bayes.log_odds(train[None], everywhere=True)[0]
        sigmoid = sigmoid_on_training_rows(odds, rows.y, train)
        found = {
            f"{column} {metric}": value
            for column, one in (("NB", odds), ("SigNB", sigmoid))
            for metric, value in measured(one[~train], rows.y[~train]).items()
        }
        tests.append(~train)
        lines.append([found[name] for name in names])
    return Draws(np.array(tests), np.array(lines), names)


def targets(name: str, names: list[str]) -> np.ndarray:
    """Return the printed numbers in the order of ``names``."""
    of: dict[str, Numbers] = {column: printed(name, column) for column in ("NB", "SigNB")}
    return np.array([of[column][metric] for column, metric in map(str.split, names)])


def distance_to(draws: Draws, point: np.ndarray) -> tuple[float, float]:
    """Return Mahalanobis' squared distance of ``point`` from the draws, and the log density of a normal fit there."""
    gap = point - draws.numbers.mean(axis=0)
    covariance = np.cov(draws.numbers, rowvar=False)
    squared = float(gap @ np.linalg.solve(covariance, gap))
    return squared, -0.5 * (squared + np.linalg.slogdet(2 * np.pi * covariance)[1])


def typical(rows: Rows, draws: Draws) -> Iterator[list[str]]:
    """Yield how the printed numbers lie among those of random splits: mean and sd, and the place of each."""
    wanted = targets(rows.name, draws.names)
    for name, value, column in zip(draws.names, wanted, draws.numbers.T, strict=True):
        below = float((column < value).mean())
        mean, sd = column.mean(), column.std(ddof=1)
        yield [rows.name, name, f"{value:.3f}", f"{mean:.3f} ± {sd:.3f}", f"{(value - mean) / sd:+.1f}", f"{below:.0%}"]


def joint(rows: Rows, by_share: dict[float, Draws]) -> list[str]:
    """Return the joint p-value at 66 %, and the log density at each share less the largest."""
    found = {share: distance_to(draws, targets(rows.name, draws.names)) for share, draws in by_share.items()}
    squared = found[SHARE][0]
    n_numbers = len(by_share[SHARE].names)
    most = max(density for _, density in found.values())
    relative = [f"{density - most:.1f}" for _, density in found.values()]
    return [rows.name, str(n_numbers), f"{squared:.1f}", f"{chi2.sf(squared, n_numbers):.2f}", *relative]


def bits(rows: Rows, draws: Draws) -> list[str]:
    """Return how often random splits agree with NB and with SigNB, against the number of splits there are."""
    off = np.abs(draws.numbers - targets(rows.name, draws.names)) / UNIT
    of_nb = np.array([name.startswith("NB") for name in draws.names])
    nb, both = off[:, of_nb].max(axis=1) <= PASSES, off.max(axis=1) <= PASSES
    size = round(SHARE * rows.n)
    splits = (math.lgamma(rows.n + 1) - math.lgamma(size + 1) - math.lgamma(rows.n - size + 1)) / math.log(2)
    return [
        rows.name,
        f"{len(off):,}",
        *(
            f"{hits.mean():.2%} (1 in {1 / hits.mean():,.0f})" if hits.any() else f"below 1 in {len(off):,}"
            for hits in (nb, both)
        ),
        f"2^{splits:,.0f}",
    ]


def rows_of_hits(rows: Rows, draws: Draws) -> list[str]:
    """Return what the splits that agree with NB have in common: positives, and whether rows are in it unusually often."""
    off = np.abs(draws.numbers - targets(rows.name, draws.names)) / UNIT
    hits = off[:, [name.startswith("NB") for name in draws.names]].max(axis=1) <= 3 * PASSES
    positives = draws.test @ rows.y
    if hits.sum() < 20:
        return [rows.name, str(hits.sum()), "too few", "", ""]
    share = draws.test.mean(axis=0)
    z = (draws.test[hits].mean(axis=0) - share) / np.sqrt(share * (1 - share) / hits.sum())
    return [
        rows.name,
        str(hits.sum()),
        f"{positives.mean():.1f} ± {positives.std():.1f}",
        f"{positives[hits].mean():.1f} ± {positives[hits].std():.1f}",
        f"{z.std():.2f}",
    ]


def page(datasets: list[str], n_draws: int, folder: str | None) -> str:
    """Return the text of inference.md."""
    tables: dict[str, list[list[str]]] = {"typical": [], "joint": [], "bits": [], "rows": []}
    for name in datasets:
        rows = read_rows(name, folder)
        bayes = naive_bayes(rows.X, rows.y)
        few = max(n_draws // 5, 50)
        by_share = {share: draw(rows, bayes, share, n_draws if share == SHARE else few) for share in SHARES}
        tables["typical"] += typical(rows, by_share[SHARE])
        tables["joint"].append(joint(rows, by_share))
        tables["bits"].append(bits(rows, by_share[SHARE]))
        tables["rows"].append(rows_of_hits(rows, by_share[SHARE]))
        print(f"{name}: done", file=sys.stderr, flush=True)
    parts = [
        NOTE,
        "## Are they numbers of a random split?\n",
        f"{n_draws:,} random splits, 66 % train. **below** is the share of them with a smaller number.\n",
        _table(tables["typical"], ["data set", "number", "printed", "random splits", "z", "below"]),
        "\nAll numbers of a data set together: Mahalanobis' squared distance, its p-value, and the log density of a normal "
        f"fit for other shares of training rows, less the largest. {max(n_draws // 5, 50):,} splits for each share but 66 %.\n",
        _table(tables["joint"], ["data set", "numbers", "distance", "p", *(f"{share:.0%}" for share in SHARES)]),
        "\n## How many splits have these numbers?\n",
        "Share of random splits whose NB, and whose NB and SigNB, are within one unit of the printed digits, and how many "
        "splits of that size there are.\n",
        _table(tables["bits"], ["data set", "draws", "NB", "NB and SigNB", "splits"]),
        "\n## Which rows tested?\n",
        "The splits whose NB is within three units of the printed digits, against all. **spread of rows** is the standard "
        "deviation over the rows of how much more often a row tests among them, in standard errors: 1 is chance.\n",
        _table(tables["rows"], ["data set", "splits", "positives that test", "among these splits", "spread of rows"]),
        "",
    ]
    return "\n".join(parts)


def _table(body: list[list[str]], header: list[str]) -> str:
    return tabulate(body, header, "github", disable_numparse=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", nargs="*", default=DATASETS, metavar="DATASET", help="cards (all six)")
    parser.add_argument("--draws", type=int, default=2000, metavar="N", help="random splits that train on 66 %% (2000)")
    parser.add_argument("--data-dir", metavar="DIR", help="original data files (PROBCAL_DATA_DIR)")
    parser.add_argument("--out", type=Path, default=FOLDER, metavar="DIR", help="(%(default)s)")
    asked = parser.parse_args()
    try:
        text = page(list(asked.datasets), asked.draws, asked.data_dir)
    except ProbcalError as error:
        sys.exit(f"error: {error}")
    asked.out.mkdir(parents=True, exist_ok=True)
    (asked.out / "inference.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
