"""Two folders with one card, other files and one cache: python reliability/data_race.py

A run in folder A goes on while folder B, whose card says the same and whose CSV has other labels, is fetched and run
with the same cache, again and again; or while the CSV of A is edited, fetched and restored. Every result of A must be
that of an undisturbed run of A, to the last bit. Exit code 1 where one is not. Writes results/reliability/data_race.md.

    python reliability/data_race.py --trials 10 --seed 2
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Self

from trial import ROOT, Tried, finish, report_tried, run, start, wait_for

CELLS = 12
CONFIG = """
name: race
seed: 3
repeats: 3
datasets: [coins.yaml, stamps.yaml]
learners: {tree: {params: {max_depth: 3}}, gaussian_nb: {}}
methods: [direct]
"""
CARD = """
name: %s
title: Race
columns: {a: numeric, b: nominal, y: target}
positive: "1"
split: {kind: holdout, train_fraction: 0.5}
expect: {rows: 400, columns: 2}
files: [{format: delimited, header: true, files: [{name: rows.csv}]}]
"""
NAMES = ("coins", "stamps")
FETCHES = """
import sys
from click.testing import CliRunner
from probcal.cli.main import main
for line in sys.stdin:
    done = CliRunner().invoke(main, line.split())
    assert done.exit_code == 0, done.output
    print("done", flush=True)
"""
"""Calls of ``probcal`` one after the other in one process, for a call alone takes a second to start."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("--trials", type=int, default=50, help="in all (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the moments (%(default)s)")
    parser.add_argument("--jobs", type=int, default=4, help="ways at a time (%(default)s)")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for place, flip in (("A", False), ("B", True)):
            write(folder / "clean" / place, flip)
            code, said = run(folder / "clean" / place, *words())
            if code:
                sys.exit(said)
        ways: list[Way] = [fetched, run_too, edited, edited_unseen]
        with ThreadPoolExecutor(asked.jobs) as pool:
            begun = [
                pool.submit(tries, folder, way, len(range(number, asked.trials, len(ways))), asked.seed)
                for number, way in enumerate(ways)
            ]
            found = [one.result() for one in begun]
    about = (
        f"A run of {CELLS} cells, `-j 2`, of two data sets, A and B. A trial fails on: a cell of A that is missing,"
        " failed, or not equal to an undisturbed run of A to the last bit (metrics, predictions and key), an exit code"
        " other than 0, or a traceback. The same holds for B if it is run."
    )
    report_tried("data_race", "runs with replaced data", about, found)


def tries(folder: Path, way: Way, times: int, seed: int) -> Tried:
    tried = Tried((way.__doc__ or "").rstrip("."))
    place, chance = folder / way.__name__, random.Random(f"{seed} {way.__name__}")
    write(place / "A", flip=False)
    write(place / "B", flip=True)
    exchanged = 0
    with Fetcher(place) as fetcher:
        for number in range(times):
            for one in "AB":
                shutil.rmtree(place / one / "results", ignore_errors=True)
            if number % 2 == 0:  # each is new to the cache every other time
                shutil.rmtree(place / "cache", ignore_errors=True)
            way(place, tried, number, chance, fetcher)
            tried.times += 1
            tried.compare(place / "A" / "results", folder / "clean" / "A" / "results")
            if (place / "B" / "results").exists():
                tried.compare(place / "B" / "results", folder / "clean" / "B" / "results")
            print(way.__name__, number, tried.wrong[-1:], flush=True)
        exchanged = fetcher.times
    tried.notes.append(f"{exchanged} fetches meanwhile")
    return tried


class Fetcher:
    """Another process with the same cache. ``times``: what it has fetched."""

    def __init__(self, place: Path) -> None:
        self._place, self.times = place, 0
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "PROBCAL_CACHE_DIR": str(place / "cache")}
        environment.pop("PROBCAL_DATA_DIR", None)
        self._process = subprocess.Popen(
            [sys.executable, "-c", FETCHES], env=environment, cwd=place, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *of: object) -> None:
        self._process.stdin.close()
        self._process.wait(60)

    def fetch(self, one: str) -> None:
        self._process.stdin.write(f"fetch {self._place / one / 'race.yaml'}\n")
        self._process.stdin.flush()
        if self._process.stdout.readline() != "done\n":
            raise AssertionError("a fetch failed; what it said is above")
        self.times += 1


Way = Callable[[Path, Tried, int, random.Random, Fetcher], None]


def fetched(place: Path, tried: Tried, number: int, chance: random.Random, fetcher: Fetcher) -> None:
    """`probcal fetch` in B, then in A, and so on, from the start of a run in A to its end."""
    fetcher.fetch("B")
    process = begin(place, "A")
    while process.poll() is None:
        fetcher.fetch("BA"[fetcher.times % 2])
        time.sleep(chance.uniform(0, 0.6))
    end(process, tried)


def run_too(place: Path, tried: Tried, number: int, chance: random.Random, fetcher: Fetcher) -> None:
    """A run in B at the same time as one in A, which starts first by turns, and fetches in B."""
    first, second = ("A", "B") if number % 2 else ("B", "A")
    processes = [begin(place, first)]
    fetcher.fetch(second)
    processes.append(begin(place, second))
    while any(process.poll() is None for process in processes):
        fetcher.fetch("BA"[fetcher.times % 2])
        time.sleep(chance.uniform(0, 0.6))
    for process in processes:
        end(process, tried)


def edited(place: Path, tried: Tried, number: int, chance: random.Random, fetcher: Fetcher) -> None:
    """The files of A edited, fetched and restored once its run has been planned."""
    exchange(place, tried, chance, fetcher, same_time=False)


def edited_unseen(place: Path, tried: Tried, number: int, chance: random.Random, fetcher: Fetcher) -> None:
    """The same, each time with the size and the time of change that the files had."""
    exchange(place, tried, chance, fetcher, same_time=True)


def exchange(place: Path, tried: Tried, chance: random.Random, fetcher: Fetcher, same_time: bool) -> None:
    process = begin(place, "A")
    wait_for(lambda: process.poll() is not None or (place / "A" / "results" / "running.json").exists())
    while process.poll() is None:
        for name in NAMES:
            put(place / "B" / name / "rows.csv", place / "A" / name / "rows.csv", same_time)
        fetcher.fetch("A")
        for name in NAMES:
            put(place / "A" / "original" / name / "rows.csv", place / "A" / name / "rows.csv", same_time)
        time.sleep(chance.uniform(0, 0.6))
    end(process, tried)


def put(source: Path, target: Path, same_time: bool) -> None:
    before = target.stat()
    shutil.copyfile(source, target.with_suffix(".new"))
    if same_time:
        os.utime(target.with_suffix(".new"), ns=(before.st_atime_ns, before.st_mtime_ns))
    os.replace(target.with_suffix(".new"), target)


def begin(place: Path, one: str) -> subprocess.Popen[str]:
    return start(place / one, *words(), environment={"PROBCAL_CACHE_DIR": str(place / "cache")})


def end(process: subprocess.Popen[str], tried: Tried) -> None:
    tried.expect(finish(process), 0)


def words() -> list[str]:
    return ["run", "race.yaml", "-j", "2", "-o", "results"]


def write(folder: Path, flip: bool) -> None:
    """An experiment, two cards and their files beside them; ``flip``: the same bytes with 0 for 1 as labels."""
    folder.mkdir(parents=True)
    (folder / "race.yaml").write_text(CONFIG)
    for seed, name in enumerate(NAMES):
        random_numbers = random.Random(seed)
        lines = ["a,b,y"]
        for _ in range(400):
            a, b = random_numbers.randint(100, 999), random_numbers.choice("uvw")
            label = a + 200 * (b == "u") + random_numbers.randint(0, 400) > 800
            lines.append(f"{a},{b},{int(label != flip)}")
        (folder / f"{name}.yaml").write_text(CARD % name)
        for place in (folder / name, folder / "original" / name):
            place.mkdir(parents=True)
            (place / "rows.csv").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
