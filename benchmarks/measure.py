"""What commands on large files cost: python benchmarks/measure.py [-o FILE]

Each command runs in a fresh process, and its imports count. Exit code 1 where a target is missed. Linux only.

    python benchmarks/measure.py --files 2 -o -
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import speed

PROBCAL = [sys.executable, "-m", "probcal"]
HEADERS = ["command", "on", "CPU", "target", "peak", "target", ""]
MOST_CPU_OF_FILE = 6  # so that a hundred million rows take ten minutes


def main() -> None:
    parser = speed.parser(__doc__, "measure")
    parser.add_argument("--files", type=int, default=10, help="Parquet files of a million rows (%(default)s)")
    parser.add_argument("--write", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.write:
        write_files(args.write, args.files)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # another process, because a process begins with the peak of its parent
        subprocess.run([sys.executable, __file__, "--write", folder, "--files", str(args.files)], check=True)
        plan = ["try", "-t", "y", "--dry-run"]
        measure = ["measure", "-p", "p", "-t", "y", "-g", "g"]
        many = f"{args.files:,} Parquet files of a million rows"
        report = ["--report", folder / "r.html", "--force"]
        watch = ["--time", "when", "-p", "p", "-t", "y"]
        rows = [
            line("try --dry-run", "100,000 rows, 20 columns", [*plan, folder / "t100000.csv"], 2),
            line("try --dry-run", "1,000,000 rows, 20 columns", [*plan, folder / "t1000000.csv"], 10),
            line("measure --group --report", "3,000 rows", [*measure, folder / "p3000.csv", *report], 2.5),
            line("measure --group --report", "1,000,000 rows", [*measure, folder / "p1000000.csv", *report], 12, 600),
            line("measure --group", many, [*measure, folder / "parts"], MOST_CPU_OF_FILE * args.files),
            line(
                "measure --group --calibrate beta",
                many,
                [*measure, folder / "parts", "-c", "beta"],
                MOST_CPU_OF_FILE * args.files,
            ),
            line(
                "measure --group",
                f"{args.files:,} files of four classes",
                ["measure", "-p", "p_*", "-t", "y", "-g", "g", folder / "classes"],
                MOST_CPU_OF_FILE * args.files,
            ),
            line("watch", "1,000,000 rows", ["watch", folder / "log.csv", *watch], 10, 500, alarm=3),
            line(
                "watch --state",
                "a Parquet file of a million rows",
                ["watch", folder / "log.parquet", *watch, "--state", folder / "s.json"],
                10,
                500,
                alarm=3,
            ),
        ]
    speed.report(args.out, "measure.py", "CPU seconds, imports counted, and the most resident memory.", HEADERS, rows)
    sys.exit(1 if any(row[-1] != "holds" for row in rows) else 0)


def line(
    name: str, table: str, words: list[object], most_cpu: float, most_memory: float | None = None, alarm: int = 0
) -> list[str]:
    """Run a command, and return its line of the table. ``alarm`` is another exit code than 0 of a sound run."""
    process = subprocess.Popen(
        [*PROBCAL, *map(str, words)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=speed.one_blas_thread()
    )
    _, code, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(code) not in (0, alarm):
        sys.exit(f"error: {name} on {table} ended with exit code {os.waitstatus_to_exitcode(code)}")
    cpu, peak = usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024
    holds = cpu <= most_cpu and (most_memory is None or peak <= most_memory)
    memory = "" if most_memory is None else f"<= {most_memory:g} MB"
    verdict = "holds" if holds else "MISSED"
    return [name, table, speed.seconds(cpu), f"<= {most_cpu:g} s", f"{peak:,.0f} MB", memory, verdict]


def write_files(folder: Path, n_files: int) -> None:
    """Write all tables."""
    for n in (100_000, 1_000_000):
        columns(n).to_csv(folder / f"t{n}.csv", index=False)
    for n in (3_000, 1_000_000):
        predictions(n, 0).to_csv(folder / f"p{n}.csv", index=False)
    log = predictions(1_000_000, 0)
    seconds = np.sort(np.random.default_rng(1).integers(0, 365 * 86_400, len(log)))
    log["when"] = pd.to_datetime("2025-01-01") + pd.to_timedelta(seconds, "s")
    log.to_csv(folder / "log.csv", index=False)
    log.to_parquet(folder / "log.parquet", index=False)
    (folder / "parts").mkdir()
    for number in range(n_files):
        predictions(1_000_000, number).to_parquet(folder / "parts" / f"part-{number:04}.parquet", index=False)
    (folder / "classes").mkdir()
    for number in range(n_files):
        classes(1_000_000, number).to_parquet(folder / "classes" / f"part-{number:04}.parquet", index=False)


def predictions(n: int, seed: int) -> pd.DataFrame:
    """Return predictions of which no two are equal, with labels that a slope of .7 makes, and four groups."""
    random = np.random.default_rng(seed)
    z = random.normal(-1, 2, n)
    y = (random.random(n) < 1 / (1 + np.exp(-0.7 * z))).astype(int)
    return pd.DataFrame({"p": 1 / (1 + np.exp(-z)), "y": y, "g": random.choice(list("abcd"), n)})


def classes(n: int, seed: int) -> pd.DataFrame:
    """Return predictions of four classes, of which no two are equal. A slope of .7 makes the labels."""
    random = np.random.default_rng(seed)
    z = random.normal([-1, 0, 0.5, 1], 2, (n, 4))
    p, true = (np.exp(slope * z) / np.exp(slope * z).sum(axis=1, keepdims=True) for slope in (1, 0.7))
    y = (true.cumsum(axis=1) < random.random((n, 1))).sum(axis=1).clip(0, 3)
    frame = pd.DataFrame(p, columns=[f"p_{label}" for label in "abcd"])
    return frame.assign(y=np.array(list("abcd"))[y], g=random.choice(list("uvwx"), n))


def columns(n: int) -> pd.DataFrame:
    """Return 13 columns of numbers, four of categories, a date, an id and the target."""
    random = np.random.default_rng(0)
    table: dict[str, object] = {f"x{i}": random.normal(size=n) for i in range(10)}
    table |= {f"n{i}": random.integers(0, 50, n) for i in range(3)}
    table |= {f"c{i}": random.choice(list("abcdefgh"), n) for i in range(4)}
    table["day"] = pd.to_datetime("2020-01-01") + pd.to_timedelta(random.integers(0, 1000, n), "D")
    table["id"] = np.arange(n)
    frame = pd.DataFrame(table)
    is_yes = random.random(n) < 1 / (1 + np.exp(frame.x1 - frame.x0))
    return frame.assign(y=np.where(is_yes, "yes", "no"))


if __name__ == "__main__":
    main()
