"""What status, a dry run, table and run say once data or a card has changed: python reliability/changed_data.py

A finished experiment of four cells has one thing changed: a file, its card, where it lies, what is in the cache. Then
`probcal status`, `probcal run --dry-run` and `probcal table` have to count as done and stale what `probcal run` then
keeps and runs. Exit code 1 where one says something else. Writes results/reliability/changed_data.md.
"""

from __future__ import annotations

import argparse
import gzip
import os
import random
import re
import shutil
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from data_race import CARD
from trial import Tried, cells_told, finish, report_tried, rows, run, start, wait_for

CELLS = 4
CONFIG = """
name: changed
seed: 3
repeats: 2
datasets: [coins.yaml]
learners: {tree: {params: {max_depth: 3}}, gaussian_nb: {}}
methods: [direct]
"""
BUNDLED = """
name: coins
title: Wine
columns: {"*": numeric, class: target}
positive: class_0
split: {kind: holdout, train_fraction: 0.5}
expect: {rows: 178, columns: 13}
bundled: {loader: load_wine}
"""


@dataclass(frozen=True)
class Change:
    """``stale``: how many of the cells run anew; None where all four commands have to refuse with ``says``."""

    what: str
    do: Callable[[Path], object]
    stale: int | None
    says: str = ""
    words: tuple[str, ...] = ()
    first: Callable[[Path], object] = lambda place: None
    """Done before the first run."""
    first_words: tuple[str, ...] = ()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("--jobs", type=int, default=4, help="changes at a time (%(default)s)")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(asked.jobs) as pool:
        begun = [pool.submit(tries, Path(name) / str(number), change) for number, change in enumerate(CHANGES)]
        found = [pool.submit(edited_while_it_runs, Path(name) / "running", time) for time in (False, True)]
        tried = [one.result() for one in begun] + [one.result() for one in found]
    about = (
        f"{CELLS} finished cells, then the change, then `probcal status`, `probcal run --dry-run`, `probcal table -f"
        " csv` and `probcal run`. The table has the number of cells that each of the four calls stale. A trial fails"
        " on: a number that differs from the cells that have to run again, another exit code, or a traceback."
    )
    report_tried("changed_data", "changes", about, tried)


def tries(place: Path, change: Change) -> Tried:
    tried = Tried(change.what, times=1)
    write(place)
    change.first(place)
    tried.expect(run(place, *of_run(), *change.first_words), 0)
    change.do(place)
    if change.stale is None:
        for words in (("status", "results"), (*of_run(), "--dry-run"), of_run()):
            tried.expect(run(place, *words, *change.words), 2, change.says)
        tried.expect(run(place, "table", "results", *change.words), 0, change.says)
        tried.notes.append("all four say why the data cannot be used")
    else:
        told = [
            counted(place, tried, "status", "results", *change.words),
            counted(place, tried, *of_run(), "--dry-run", *change.words),
            in_table(place, tried, *change.words),
            run_now(place, tried, *change.words),
        ]
        tried.notes.append(", ".join(map(str, told)))
        tried.wrong += [f"{told}, not {change.stale} each"] * (told != [change.stale] * 4)
    print(change.what, tried.notes, tried.wrong, flush=True)
    return tried


def counted(place: Path, tried: Tried, *words: str) -> int:
    """How many cells are said to be stale."""
    process = start(place, *words, stdout=-1)
    out, said = process.communicate()
    tried.expect((process.returncode, said), 0)
    [line] = [line for line in out.splitlines() if line.startswith(f"{CELLS} cells: ")] or [f"{CELLS} cells: 0 done"]
    counts = dict(reversed(one.split(" ", 1)) for one in line.removeprefix(f"{CELLS} cells: ").split(", "))
    if sum(map(int, counts.values())) != CELLS or counts.keys() - {"done", "stale"}:
        tried.wrong.append(f"{words[0]}: {line}")
    return int(counts.get("stale", 0))


def in_table(place: Path, tried: Tried, *words: str) -> int:
    """How many the CSV of ``probcal table`` counts as stale; a warning has to stand beside it."""
    process = start(place, "table", "results", "-f", "csv", *words, stdout=-1)
    out, said = process.communicate()
    stale = sum(int(line.split(",")[10]) for line in out.splitlines() if line.split(",")[5] == "rms")
    warned = "warning: coins: " in said and "made of other data" in said
    tried.expect((process.returncode, said), 0)
    tried.wrong += [f"table warns: {said}"] * (warned != bool(stale))
    return stale


def run_now(place: Path, tried: Tried, *words: str) -> int:
    """How many cells run."""
    results = place / "results"
    before = cells_told(results)
    tried.expect(run(place, *of_run(), *words), 0)
    told = {name: cells for name, cells in cells_told(results).items() if name not in before}
    have = sum(row["run"] in told for row in rows(results))
    tried.wrong += [f"{sum(told.values())} cells were run, {have} were stored"] * (sum(told.values()) != have)
    return have


def edited_while_it_runs(place: Path, same_time: bool) -> Tried:
    """The file edited and fetched once the run was planned, and restored when it has ended."""
    time = ", with the size and time that it had" if same_time else ""
    tried = Tried(f"the file edited, and fetched, while a run goes on, and restored afterwards{time}", times=1)
    place = place.with_name(f"{place.name}-{same_time}")
    write(place)
    tried.expect(run(place, "run", "changed.yaml", "-o", "undisturbed"), 0)
    shutil.rmtree(place / "cache")
    process = start(place, *of_run(), "-j", "2")
    wait_for(lambda: process.poll() is not None or (place / "results" / "running.json").exists())
    (flip_unseen if same_time else flip)(place)
    tried.expect(run(place, "fetch", "changed.yaml"), 0)
    tried.expect(finish(process), 0)
    (flip_unseen if same_time else flip)(place)
    tried.compare(place / "results", place / "undisturbed")
    told = [
        counted(place, tried, "status", "results"),
        counted(place, tried, *of_run(), "--dry-run"),
        in_table(place, tried),
        run_now(place, tried),
    ]
    tried.notes.append(", ".join(map(str, told)))
    tried.wrong += [f"{told}, not 0 each"] * any(told)
    tried.wrong += [f"{len(rows(place / 'results'))} rows"] * (len(rows(place / "results")) != CELLS)
    print(tried.way, tried.notes, tried.wrong, flush=True)
    return tried


def of_run() -> tuple[str, ...]:
    return "run", "changed.yaml", "-o", "results"


def write(place: Path) -> None:
    (place / "coins").mkdir(parents=True)
    (place / "changed.yaml").write_text(CONFIG)
    (place / "coins.yaml").write_text(CARD % "coins")
    chance, table = random.Random(1), ["a,b,y"]
    for _ in range(400):
        a, b = chance.randint(100, 999), chance.choice("uvw")
        table.append(f"{a},{b},{int(a + chance.randint(0, 400) > 800)}")
    (place / "coins" / "rows.csv").write_text("\n".join(table) + "\n")


def flip(place: Path, file: str = "coins/rows.csv") -> None:
    """The other label in every row: as many bytes."""
    path = place / file
    head, *body = path.read_text().splitlines()
    path.write_text("\n".join([head, *(f"{line[:-1]}{1 - int(line[-1])}" for line in body)]) + "\n")


def flip_unseen(place: Path) -> None:
    before = (place / "coins" / "rows.csv").stat()
    flip(place)
    os.utime(place / "coins" / "rows.csv", ns=(before.st_atime_ns, before.st_mtime_ns))


def card(old: str, new: str) -> Callable[[Path], object]:
    def change(place: Path) -> None:
        text = (place / "coins.yaml").read_text()
        assert text.count(old) == 1, old
        (place / "coins.yaml").write_text(text.replace(old, new))

    return change


def take_for_missing(place: Path) -> None:
    """The number in the first row of the file."""
    number = (place / "coins" / "rows.csv").read_text().splitlines()[1].split(",")[0]
    card("split:", f'missing_codes: {{a: ["{number}"]}}\nsplit:')(place)


def table(old: str, new: str) -> Callable[[Path], object]:
    def change(place: Path) -> None:
        path = place / "coins" / "rows.csv"
        path.write_text(path.read_text().replace(old, new))

    return change


def spell_otherwise(place: Path) -> None:
    path = place / "coins" / "rows.csv"
    path.write_text(re.sub(r"^(\d+),", r"\1.0,", path.read_text(), flags=re.MULTILINE))


def pack(place: Path) -> None:
    path = place / "coins" / "rows.csv"
    path.with_name("rows.csv.gz").write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()


def fetch(place: Path, *words: str) -> None:
    code, said = run(place, "fetch", "changed.yaml", *words)
    if code:
        sys.exit(said)


def edit_and_restore(place: Path) -> None:
    flip_unseen(place)
    fetch(place)
    flip_unseen(place)


def into_a_data_directory(place: Path) -> None:
    (place / "data").mkdir()
    (place / "coins").rename(place / "data" / "coins")


def into_two_data_directories(place: Path) -> None:
    into_a_data_directory(place)
    shutil.copytree(place / "data", place / "other")
    flip(place, "other/coins/rows.csv")


def say_the_fingerprint(place: Path) -> None:
    fetch(place)
    [kept] = (place / "cache" / "data").iterdir()
    card("columns: 2}", f"columns: 2, fingerprint: {kept.name}}}")(place)


def bundled(place: Path) -> None:
    (place / "coins.yaml").write_text(BUNDLED)


_DATA = {"first": into_a_data_directory, "first_words": ("--data-dir", "data")}
_CHANGED = "the values are not those the card expects"
CHANGES = [
    Change("nothing", lambda place: None, 0),
    Change("a line of the file", table("\n1", "\n2"), CELLS),
    Change("all labels of the file, in as many bytes", flip, CELLS),
    Change("the same, with the time of change that it had", flip_unseen, CELLS),
    Change("the spelling of numbers (7.0 for 7)", spell_otherwise, 0),
    Change("the file is packed", pack, 0),
    Change("the file is edited, fetched and restored", edit_and_restore, 0),
    Change("the file is gone, its copy is in the cache", lambda place: (place / "coins" / "rows.csv").unlink(), 0),
    Change("the cache is emptied", lambda place: shutil.rmtree(place / "cache"), 0),
    Change("the positive label", card('positive: "1"', 'positive: "0"'), CELLS),
    Change("a column is nominal", card("a: numeric", "a: nominal"), CELLS),
    Change("a number means missing", take_for_missing, CELLS),
    Change("the title of the card", card("title: Race", "title: Another"), 0),
    Change("the positive label of a bundled set", card("class_0", "class_1"), CELLS, first=bundled),
    Change("the file in the data directory of the last run, which is not named again",
           lambda place: flip(place, "data/coins/rows.csv"), CELLS, **_DATA),
    Change("another data directory is named", lambda place: None, CELLS, words=("--data-dir", "other"),
           first=into_two_data_directories, first_words=("--data-dir", "data")),
    Change("the same one is named, another one was fetched since",
           lambda place: fetch(place, "--data-dir", "other"), 0, words=("--data-dir", "data"),
           first=into_two_data_directories, first_words=("--data-dir", "data")),
    Change("another one was fetched since, and none is named", lambda place: fetch(place, "--data-dir", "other"), None,
           "the cache has several data sets of this card", first=into_two_data_directories,
           first_words=("--data-dir", "data")),
    Change("the file, whose fingerprint the card says", flip_unseen, None, _CHANGED, first=say_the_fingerprint),
    Change("the positive label, where the card says the fingerprint", card('positive: "1"', 'positive: "0"'), None,
           _CHANGED, first=say_the_fingerprint),
]  # fmt: skip


if __name__ == "__main__":
    main()
