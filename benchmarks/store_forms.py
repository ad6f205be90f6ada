"""Compare forms of stored results: python benchmarks/store_forms.py [results/beta-calibration]

Writes the results of a folder as lines of JSON, as a compact SQLite file (names, keys and splits stored once, metrics
in columns) and as the table of probcal, and reads each again. Then stores results one by one as a run does: as synced
or unsynced lines, and as transactions of SQLite. Prints Markdown tables.
"""

from __future__ import annotations

import json
import os
import sqlite3
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from probcal.store.cell_result import CellResult
from probcal.store.folder import Store
from probcal.store.table_file import read_table, write_table

REPEATS, N_ADDED = 3, 1000


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "results/beta-calibration")
    results = list(Store(folder).results().values())
    lines = [result.to_json() for result in results]
    with tempfile.TemporaryDirectory() as place:
        path = Path(place, "results")
        print(f"{len(results):,} results of {folder}\n")
        print("| form | MB | seconds to write | seconds to read |\n|---|---|---|---|")
        for name, write, read in (
            ("lines of JSON", write_lines, read_lines),
            ("SQLite", write_sqlite, read_sqlite),
            ("Parquet", write_table, read_table),
        ):
            to_write = timed(partial(write, path, results))
            to_read = statistics.median(timed(partial(read, path)) for _ in range(REPEATS))
            print(f"| {name} | {path.stat().st_size / 1e6:.1f} | {to_write:.2f} | {to_read:.2f} |")
            path.unlink()
        print(f"\n| {N_ADDED:,} results, one by one | ms for each |\n|---|---|")
        for name, add in (
            ("a line, given to the system", partial(add_lines, synced=False)),
            ("a line, synced", partial(add_lines, synced=True)),
            ("SQLite, WAL, synchronous=NORMAL", partial(add_sqlite, level="NORMAL")),
            ("SQLite, WAL, synchronous=FULL", partial(add_sqlite, level="FULL")),
        ):
            seconds = timed(partial(add, path, lines[:N_ADDED]))
            print(f"| {name} | {1000 * seconds / N_ADDED:.3f} |")
            path.unlink()


def timed(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def write_lines(path: Path, results: list[CellResult]) -> None:
    path.write_text("".join(f"{result.to_json()}\n" for result in results))


def read_lines(path: Path) -> list[CellResult]:
    return [CellResult.from_json(line) for line in path.read_text().splitlines()]


def write_sqlite(path: Path, results: list[CellResult]) -> None:
    metrics = list(dict.fromkeys(name for result in results for name in result.metrics))
    numbers: defaultdict[str, dict[Any, int]] = defaultdict(dict)

    def number(kind: str, value: Any) -> int:
        return numbers[kind].setdefault(value, len(numbers[kind]))

    def rows() -> Iterator[list[Any]]:
        for result in results:
            key = json.dumps({part: text for part, text in result.key.items() if part != "split"})
            place = result.predictions or {}
            yield [
                number("name", result.dataset), result.repetition, number("name", result.learner),
                number("name", result.method), number("name", result.run), number("key", key),
                number("split", result.key.get("split")), result.seconds, result.shared_seconds, result.n_train,
                result.n_test, place.get("at"), place.get("digest"), json.dumps(result.warnings),
                *(result.metrics.get(name) for name in metrics),
            ]  # fmt: skip

    with sqlite3.connect(path) as database:
        columns = ["dataset", "repetition", "learner", "method", "run", "key", "split", "seconds", "shared_seconds",
                   "n_train", "n_test", "place", "digest", "warnings", *(f'"{name}"' for name in metrics)]  # fmt: skip
        database.execute(f"CREATE TABLE cells ({', '.join(columns)})")
        database.executemany(f"INSERT INTO cells VALUES ({', '.join('?' * len(columns))})", rows())
        for kind, values in numbers.items():
            database.execute(f"CREATE TABLE {kind}s (id INTEGER PRIMARY KEY, text)")
            database.executemany(f"INSERT INTO {kind}s VALUES (?, ?)", [(i, text) for text, i in values.items()])
    with sqlite3.connect(path, isolation_level=None) as database:
        database.execute("VACUUM")


def read_sqlite(path: Path) -> list[Any]:
    with sqlite3.connect(path) as database:
        return database.execute("SELECT * FROM cells").fetchall()


def add_lines(path: Path, lines: list[str], *, synced: bool) -> None:
    with path.open("a") as file:
        for line in lines:
            file.write(f"{line}\n")
            file.flush()
            if synced:
                os.fsync(file.fileno())


def add_sqlite(path: Path, lines: list[str], *, level: str) -> None:
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("PRAGMA journal_mode=WAL")
    database.execute(f"PRAGMA synchronous={level}")
    database.execute("CREATE TABLE log (line TEXT)")
    for line in lines:
        database.execute("INSERT INTO log VALUES (?)", [line])
    database.close()


if __name__ == "__main__":
    main()
