"""Search for the splits of Langford & Zadrozny (2005) that are not known: python -m research.split_search DATASET

    python -m research.split_search kr-vs-kp --generator java --seeds 0:4000
    python -m research.split_search --table

The columns of the paper that draw nothing follow from the rows of the split (Weka 3.4.1). So a candidate is tested by
naive Bayes first, which is quick, then by its sigmoid (SigNB). Those that come within one unit of the last digit in all
their numbers are tested by Weka: J48, then Logistic. Name Weka 3.4.1 in PROBCAL_WEKA_JAR for that.

What was tried goes to results/split-search/tried.csv, and is not tried again. Candidates that pass go to passed.csv.
``--table`` writes table.md from both. Add a generator to split_generators.py.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path

import numpy as np

from probcal.errors import ProbcalError
from research.split_confirm import confirmations, printed_numbers
from research.split_data import Rows, read_rows
from research.split_generators import GENERATORS
from research.split_scores import Bayes, distances, largest_difference, measure, naive_bayes, sigmoid_on_training_rows

FOLDER = Path("results/split-search")
CHUNK = 100
"""Seeds per line of tried.csv. A line is written when all its candidates were tested."""
PASS_UNITS = 1.0
"""Units of the last digit within which a column counts as found. On the known splits the worst differs by one."""


@dataclass(frozen=True)
class BlockResult:
    """Result of the candidates of one generator and a range of seeds. ``nearest`` is by naive Bayes alone."""

    dataset: str
    generator: str
    first_seed: int
    last_seed: int
    candidates: int
    nb: int
    sig_nb: int
    j48: int
    all_columns: int
    distance: float
    nearest: str
    seconds: float


@dataclass(frozen=True)
class Candidate:
    """A candidate that NB, SigNB and J48 let pass. ``missed`` is the first column that does not, or empty.

    ``tested`` has the distances of Weka's columns, and is empty where Weka was not at hand.
    """

    dataset: str
    generator: str
    variant: str
    seed: int
    nb: float
    sig_nb: float
    tested: str
    missed: str


class Search:
    """Test candidates of one data set."""

    def __init__(self, rows: Rows, out: Path) -> None:
        self.rows, self.out = rows, out
        self.bayes: Bayes = naive_bayes(rows.X, rows.y)
        self.nb, self.sig_nb = printed_numbers(rows.name, "NB"), printed_numbers(rows.name, "SigNB")

    def run(self, name: str, seeds: np.ndarray) -> BlockResult:
        """Return what the candidates of the generator ``name`` gave for these seeds, and list those that pass."""
        begin, passes = time.process_time(), []
        summary = BlockResult(self.rows.name, name, int(seeds[0]), int(seeds[-1]), 0, 0, 0, 0, 0, np.inf, "", 0.0)
        for variant, train in GENERATORS[name].candidates(self.rows, seeds):
            odds = self.bayes.log_odds(train)
            units = distances(odds, self.rows.y, ~train, self.nb, limit=max(PASS_UNITS, summary.distance))
            best = int(np.argmin(units))
            if units[best] < summary.distance:
                seed = f", seed {seeds[best]}" if GENERATORS[name].seeded else ""
                summary = replace(summary, distance=float(units[best]), nearest=variant + seed)
            summary = replace(summary, candidates=summary.candidates + len(train))
            for i in np.flatnonzero(units <= PASS_UNITS):
                candidate = Candidate(self.rows.name, name, variant, int(seeds[i]), 0, 0, "", "")
                candidate = self.test_columns(candidate, train[i])
                if max(candidate.nb, candidate.sig_nb) <= PASS_UNITS and candidate.missed != "J48":
                    passes.append(candidate)
                summary = replace(
                    summary,
                    nb=summary.nb + (candidate.nb <= PASS_UNITS),
                    sig_nb=summary.sig_nb + (max(candidate.nb, candidate.sig_nb) <= PASS_UNITS),
                    j48=summary.j48 + bool(candidate.tested and candidate.missed != "J48"),
                    all_columns=summary.all_columns + bool(candidate.tested and not candidate.missed),
                )
        for candidate in passes:  # only now, so that a search that was stopped finds them once
            append(self.out / "passed.csv", candidate)
        return replace(summary, seconds=time.process_time() - begin)

    def test_columns(self, candidate: Candidate, train: np.ndarray) -> Candidate:
        """Return ``candidate`` with the columns that were tested: Weka's only if NB and SigNB let it pass."""
        odds = self.bayes.log_odds(train[None], all_rows=True)[0]
        sigmoid = sigmoid_on_training_rows(odds, self.rows.y, train)
        nb, sig_nb = (
            largest_difference(measure(values[~train], self.rows.y[~train]), numbers)
            for values, numbers in ((odds, self.nb), (sigmoid, self.sig_nb))
        )
        candidate = replace(candidate, nb=nb, sig_nb=sig_nb)
        if max(nb, sig_nb) > PASS_UNITS:
            return candidate
        try:
            for column, distance in confirmations(self.rows, train):
                candidate = replace(candidate, tested=f"{candidate.tested} {column} {distance:.1f}".strip())
                if distance > PASS_UNITS:
                    candidate = replace(candidate, missed=column)
                    break
        except ProbcalError as error:
            print(f"not tested by Weka: {error}", file=sys.stderr)
        return candidate


def append(path: Path, line: BlockResult | Candidate) -> None:
    """Write a line at the end of a CSV file, after its header where it is new."""
    path.parent.mkdir(parents=True, exist_ok=True)
    is_new = not path.exists()
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        if is_new:
            writer.writerow([field.name for field in fields(line)])
        writer.writerow([f"{value:.4g}" if isinstance(value, float) else value for value in asdict(line).values()])


def read(path: Path) -> list[dict[str, str]]:
    """Return the lines of a CSV file, or none where it is not there."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def chunks(name: str, seeds: range) -> Iterator[np.ndarray]:
    """Yield the seeds in blocks with fixed borders, so that overlapping ranges share their blocks."""
    if not GENERATORS[name].seeded:
        yield np.array([0])
        return
    for start in range(seeds.start - seeds.start % CHUNK, seeds.stop, CHUNK):
        yield np.arange(max(start, seeds.start), min(start + CHUNK, seeds.stop))


def seed_range(text: str) -> range:
    """Return the seeds of ``text``, such as 0:4000, the end not included."""
    try:
        first, end = map(int, text.split(":"))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no range of seeds; write it as 0:4000") from None
    if not 0 <= first < end:
        raise argparse.ArgumentTypeError(f"{text!r} is empty or negative; write it as 0:4000")
    return range(first, end)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", nargs="?", help="card, such as kr-vs-kp")
    parser.add_argument("--generator", action="append", choices=GENERATORS, help="all unless given; may be repeated")
    parser.add_argument("--seeds", type=seed_range, default=range(1000), metavar="FIRST:END", help="(0:1000)")
    parser.add_argument("--data-dir", metavar="DIR", help="original data files (PROBCAL_DATA_DIR)")
    parser.add_argument("--mlc", type=Path, metavar="DIR", help="MLC++ files NAME.data and NAME.test")
    parser.add_argument("--out", type=Path, default=FOLDER, metavar="DIR", help="(%(default)s)")
    parser.add_argument("--table", action="store_true", help="only write table.md")
    args = parser.parse_args()
    if not args.table:
        if not args.dataset:
            parser.error("name a data set, such as kr-vs-kp, or ask for the --table")
        if not printed_numbers(args.dataset, "NB"):
            parser.error(f"the paper prints no numbers of {args.dataset}; name one of its data sets, such as kr-vs-kp")
        try:
            search = Search(read_rows(args.dataset, args.data_dir, args.mlc), args.out)
        except (ProbcalError, OSError) as error:
            sys.exit(f"error: {error}")
        for name in args.generator or GENERATORS:
            run(search, name, args.seeds)
    from research.split_report import write

    write(args.out)
    print(f"written: {args.out / 'table.md'}")


def run(search: Search, name: str, seeds: range) -> None:
    """Try a generator on the seeds that were not tried yet, and tell of each block."""
    old_seeds: set[int] = set()
    for line in read(search.out / "tried.csv"):
        if (line["dataset"], line["generator"]) == (search.rows.name, name):
            old_seeds.update(range(int(line["first_seed"]), int(line["last_seed"]) + 1))
    has_new = False
    for block in chunks(name, seeds):
        for new_seeds in gaps(block, old_seeds):
            summary = search.run(name, new_seeds)
            if not summary.candidates:
                continue
            has_new = True
            append(search.out / "tried.csv", summary)
            text = f"{summary.candidates:,} candidates, {summary.nb} pass NB, {summary.sig_nb} SigNB, {summary.j48} J48"
            print(
                f"{summary.dataset} {name} {new_seeds[0]}:{new_seeds[-1] + 1}: {text}; "
                f"nearest {summary.distance:.1f}",
                flush=True,
            )
    if not has_new:
        print(f"{search.rows.name} {name}: nothing new to try; {search.out / 'tried.csv'} lists what was tried")


def gaps(block: np.ndarray, old_seeds: set[int]) -> list[np.ndarray]:
    """Return the seeds of ``block`` that are not in ``old_seeds``, as ranges without a gap."""
    new_seeds = np.array([seed for seed in block.tolist() if seed not in old_seeds], dtype=block.dtype)
    return [part for part in np.split(new_seeds, np.flatnonzero(np.diff(new_seeds) > 1) + 1) if len(part)]


if __name__ == "__main__":
    main()
