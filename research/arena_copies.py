"""Count rows that occur more than once in the tables of the experiment ``arena``, and rows that two tables share.

    python -m research.arena_copies --data-dir DIR

A copy has the same columns and the same label as another row. A random split puts copies on both sides.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from probcal.config.experiment import find_config, read_experiment
from probcal.data.card import Card
from probcal.data.load import fetch_into_cache, load

LEAST_SHARE = 0.4
"""Tables with a smaller share of copies are not printed."""
FLAGS = ("on thyroxine", "query on thyroxine", "on antithyroid medication", "sick", "pregnant", "thyroid surgery",
         "I131 treatment", "query hypothyroid", "query hyperthyroid", "lithium", "goitre", "tumor", "hypopituitary",
         "psych")  # fmt: skip
SCALES = {"age": 100, "TSH": 1000, "T3": 100, "TT4": 1000, "T4U": 10, "FTI": 1000}
"""Numeric column of ``sick`` -> its factor in ``arena-ann-thyroid``, which has the same columns in the same order."""


def main() -> None:
    """Print both counts."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data-dir", type=Path, required=True, help="the folder of original files")
    folder = parser.parse_args().data_dir
    cards = {card.name: card for card in read_experiment(find_config("arena")).cards}
    shares = {name: share_of_copies(rows_of(card, folder)) for name, card in cards.items()}
    for name, share in sorted(shares.items(), key=lambda item: -item[1]):
        if share >= LEAST_SHARE:
            print(f"{name}: {100 * share:.0f} % of the rows occur more than once")
    shared, complete = shared_thyroid_rows(rows_of(cards["sick"], folder), raw_thyroid_rows(folder))
    print(f"{shared:,} of {complete:,} complete rows of sick stand in the file of arena-ann-thyroid")


def rows_of(card: Card, folder: Path) -> pd.DataFrame:
    """Return the columns and the label of a table, (n_rows, n_columns + 1)."""
    fetch_into_cache(card, folder)
    data = load(card)
    return pd.DataFrame(data.X).assign(**{"\0label": data.y})


def share_of_copies(rows: pd.DataFrame) -> float:
    """Return the share of rows that equal at least one other row. Missing values are equal to each other."""
    return float(rows.astype(str).duplicated(keep=False).mean())


def raw_thyroid_rows(folder: Path) -> pd.DataFrame:
    """Return all rows of the file. The card of the experiment draws 6,000 of them."""
    [path] = folder.glob("arena/ann-thyroid.csv*")
    return pd.read_csv(path)


def shared_thyroid_rows(sick: pd.DataFrame, thyroid: pd.DataFrame) -> tuple[int, int]:
    """Return how many complete rows of ``sick`` stand in ``thyroid``, and how many are complete."""
    complete = sick[["sex", *FLAGS, *SCALES]].dropna()
    flags = (complete[list(FLAGS)] == "t").to_numpy(dtype=float)
    numbers = complete[list(SCALES)].to_numpy(dtype=float)
    left = np.column_stack([complete["sex"] == "M", flags, numbers]).round(2)
    order = [thyroid.columns[place] for place in (1, *range(2, 16))]
    scaled = np.column_stack([thyroid[name] * scale for name, scale in SCALES.items()])
    right = np.column_stack([thyroid[order], scaled]).round(2)
    known_rows = set(map(tuple, right))
    return sum(row in known_rows for row in map(tuple, left)), len(complete)


if __name__ == "__main__":
    main()
