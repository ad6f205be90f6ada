"""Each method and metric against its peer on the same data: python benchmarks/peers.py [DATASET ...] [-o FILE]

A peer is scikit-learn, SciPy, the package that a method is built on, or a few lines that do the same slowly. For every
pair the largest difference on each data set goes to the screen and to a Markdown file, beside the bound that it has to
keep. A pair above its bound makes the exit code 1. Takes about a minute.

    python benchmarks/peers.py                    # four data sets; breast and adult from PROBCAL_DATA_DIR or OpenML
    python benchmarks/peers.py wine-first -o -    # one of them, to the screen only
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import peers_of_calibrators
import peers_of_metrics
import peers_of_votes
import speed
from peers_data import Peer, Rows, read_rows
from tabulate import tabulate

from probcal.errors import ProbcalError

DATASETS = ("breast", "digits-odd", "wine-first", "adult")
PEERS: list[Peer] = [*peers_of_votes.PEERS, *peers_of_calibrators.PEERS, *peers_of_metrics.PEERS]


def main() -> None:
    args = arguments()
    sets = {}
    for name in args.datasets:
        try:
            sets[name] = read_rows(name)
        except ProbcalError as error:
            print(f"{name} is left out: {error}", file=sys.stderr)
    if not sets:
        sys.exit("error: none of the data sets is at hand")
    differences = [[difference(peer, rows) for rows in sets.values()] for peer in PEERS]
    text = table(list(sets), differences)
    print(text)
    if args.out != "-":
        path = Path(args.out)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{heading(sets)}\n\n{text}\n", encoding="utf-8")
    sys.exit(1 if any(not holds(peer, values) for peer, values in zip(PEERS, differences, strict=True)) else 0)


def arguments() -> argparse.Namespace:
    parser = speed.parser(__doc__, "peers")
    parser.set_defaults(out="results/peers.md")
    parser.add_argument("datasets", nargs="*", default=DATASETS, metavar="DATASET", help=", ".join(DATASETS))
    return parser.parse_args()


def difference(peer: Peer, rows: Rows) -> float | None:
    """None where the package that it needs is not installed."""
    try:
        return float(peer.difference(rows))
    except ImportError as error:
        print(f"{peer.name} is left out: {error}", file=sys.stderr)
        return None


def holds(peer: Peer, values: list[float | None]) -> bool:
    # "not above" would let NaN pass
    return all(value is None or value <= peer.bound for value in values)


def heading(sets: dict[str, Rows]) -> str:
    sizes = ", ".join(f"{name} {len(rows.y):,} + {len(rows.y_test):,}" for name, rows in sets.items())
    return (
        "Largest absolute difference between each method or metric and its peer, both given the same data. Written by\n"
        f"`python benchmarks/peers.py`. Training + test rows: {sizes}."
    )


def table(names: list[str], differences: list[list[float | None]]) -> str:
    lines = [
        [
            peer.name,
            peer.reference,
            *map(number, values),
            number(peer.bound),
            "holds" if holds(peer, values) else "ABOVE",
        ]
        for peer, values in zip(PEERS, differences, strict=True)
    ]
    return tabulate(lines, ["ours", "peer", *names, "at most", ""], tablefmt="github", disable_numparse=True)


def number(value: float | None) -> str:
    return "not installed" if value is None else "0" if value == 0 else f"{value:.1e}"


if __name__ == "__main__":
    main()
