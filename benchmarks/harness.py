"""What the harness costs, in three figures: python benchmarks/harness.py [-o FILE]

Every figure is CPU seconds, user and system, of a command and of every process it started, as the
system accounts for them: on a shared machine wall time says more about the neighbours. They only ever
add to it, so the least of several runs is the figure. Exit code 1 where a target is missed. Linux only.
"""

from __future__ import annotations

import ctypes
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import speed
from sklearn.dummy import DummyClassifier

from probcal.data.card import find_card, read_card
from probcal.data.encode import NumericEncoder
from probcal.data.load import load
from probcal.data.splits import split_rows
from probcal.methods.direct import DirectClassifier

PROBCAL = [sys.executable, "-m", "probcal"]
RUNS = 5
COLUMNS = 10  # as many as the papers' tables have: they share a split and its encoding
FEW_REPEATS, MANY_REPEATS = 1, 151
FINISHED_REPEATS = 4001
_PR_SET_CHILD_SUBREAPER = 36


def main() -> None:
    out = speed.parser(__doc__, "harness").parse_args().out
    adopt_workers()
    with tempfile.TemporaryDirectory() as folder:
        rows = [help_seconds(), cell_seconds(Path(folder)), recognise_seconds(Path(folder))]
    speed.report(out, "harness.py", "CPU seconds.", ["figure", "measured", "target", "", "how"], rows)
    sys.exit(1 if any(row[3] != "holds" for row in rows) else 0)


def adopt_workers() -> None:
    """Let ``cpu`` count the workers of a command, which outlive it by moments."""
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        sys.exit("this system cannot count the time of a command's workers")


def help_seconds() -> list[str]:
    seconds = min(cpu([*PROBCAL, "--help"]) for _ in range(RUNS))
    return row("probcal --help", seconds, 0.1, "s", f"least of {RUNS} processes")


def cell_seconds(folder: Path) -> list[str]:
    """A cell with its part of the split and encoding, its metrics, its flushed line and kept prediction."""
    low, high = (
        min(cpu([*PROBCAL, "run", config(folder, n, COLUMNS), "-o", str(folder / f"{n}-{i}")]) for i in range(RUNS))
        for n in (FEW_REPEATS, MANY_REPEATS)
    )
    slope, base = (high - low) / (COLUMNS * (MANY_REPEATS - FEW_REPEATS)), min(bare_seconds() for _ in range(RUNS))
    note = (
        f"slope from {FEW_REPEATS} to {MANY_REPEATS} repetitions of {COLUMNS} columns of wine-first, DummyClassifier,"
        f" direct, -j 1: {slope * 1e3:.2f} ms, less DirectClassifier(DummyClassifier()) in a plain loop,"
        f" {base * 1e3:.2f} ms; least of {RUNS} runs"
    )
    return row("harness, per trivial cell", (slope - base) * 1e3, 1.0, "ms", note)


def bare_seconds(n: int = 500) -> float:
    """The cell's own estimator in a plain loop, on rows split and encoded beforehand."""
    card = read_card(find_card("wine-first"))
    dataset = load(card)
    train, test = split_rows(card, len(dataset.y), 0, 0)
    encoder = NumericEncoder().fit(dataset.X.iloc[train])
    y_train = dataset.y[train]
    X_train, X_test = encoder.transform(dataset.X.iloc[train]), encoder.transform(dataset.X.iloc[test])
    start = time.process_time()
    for _ in range(n):
        DirectClassifier(DummyClassifier(), random_state=0).fit(X_train, y_train).predict_proba(X_test)
    return (time.process_time() - start) / n


def recognise_seconds(folder: Path) -> list[str]:
    """From many more than 1,000 cells, for start-up varies by as much as those take."""
    commands = {
        n: [*PROBCAL, "run", config(folder, n, columns=1), "-o", str(folder / f"all-{n}")]
        for n in (1, FINISHED_REPEATS)
    }
    for command in commands.values():
        cpu(command)
    base, total = (min(cpu(command) for _ in range(RUNS)) for command in commands.values())
    note = (
        f"the same command again on {FINISHED_REPEATS:,} finished cells, {total:.2f} s, less on 1, {base:.2f} s, over"
        f" {FINISHED_REPEATS // 1000}; least of {RUNS} runs"
    )
    return row("recognise 1,000 finished cells", (total - base) * 1000 / (FINISHED_REPEATS - 1), 0.2, "s", note)


def config(folder: Path, repeats: int, columns: int) -> str:
    path = folder / f"trivial-{repeats}.yaml"
    learners = ", ".join(f"dummy{n}: {{type: sklearn.dummy.DummyClassifier}}" for n in range(columns))
    path.write_text(
        f"name: trivial-{repeats}\nrepeats: {repeats}\ndatasets: [wine-first]\n"
        f"learners: {{{learners}}}\nmethods: [direct]\n"
    )
    return str(path)


def cpu(command: list[str]) -> float:
    """CPU seconds of ``command`` and of all it started, adopted and waited for."""
    before = _children()
    subprocess.run(command, check=True, capture_output=True)
    while True:
        try:
            os.wait()
        except ChildProcessError:
            return _children() - before


def _children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def row(name: str, value: float, target: float, unit: str, note: str) -> list[str]:
    verdict = "holds" if value <= target else "MISSED"
    return [name, f"{value:.2f} {unit}", f"<= {target:g} {unit}", verdict, note]


if __name__ == "__main__":
    main()
