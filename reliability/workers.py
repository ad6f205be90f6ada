"""What a worker costs, and from how much work on a further one pays: python reliability/workers.py

Cells that take a known time, run by one worker and by two. Writes results/reliability/workers.md.
"""

from __future__ import annotations

import os
import platform
import sys
import tempfile
import time
from multiprocessing.connection import wait
from pathlib import Path

from probcal.config.experiment import parse_experiment
from probcal.runner.cell import PlannedCell, list_cells
from probcal.runner.pool import run_cells
from probcal.runner.worker import Worker, preload_modules
from probcal.yaml_file import YamlFile

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "results" / "reliability" / "workers.md"
CONFIG = """
name: workers
repeats: {repeats}
datasets: [wisconsin]
learners: {{waits: {{type: waits.Waits}}}}
methods: [direct]
"""
WAITS = """
import time
from sklearn.dummy import DummyClassifier

class Waits(DummyClassifier):
    def fit(self, X, y, sample_weight=None):
        end = time.process_time() + 0.05
        while time.process_time() < end:
            pass
        return super().fit(X, y, sample_weight)
"""
CELLS = (2, 4, 8, 16, 32)
TRIALS = 7


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "waits.py").write_text(WAITS, encoding="utf-8")
        sys.path.insert(0, folder)
        os.environ["PROBCAL_TRUSTED"] = "waits"
        os.environ["PYTHONPATH"] = os.pathsep.join([folder, os.environ.get("PYTHONPATH", "")])
        preload_modules(["sklearn.dummy", "probcal.methods.direct"])
        first = seconds_to_start()
        further = min(seconds_to_start() for _ in range(TRIALS))
        rows = [(n, seconds_of(n, 1), seconds_of(n, 2)) for n in CELLS]
    lines = [
        f"Written by `python reliability/workers.py`. Python {platform.python_version()}, {platform.machine()},"
        f" {os.cpu_count()} processors, {os.getloadavg()[0]:.0f} processes waiting for them at the end.",
        "",
        f"The first worker of a run is ready after {first:.1f} s, because it loads the libraries. A further one is"
        f" ready after {further:.2f} s. The table has cells of 0.05 s, the best of {TRIALS} runs:",
        "",
        "| cells | work | one worker | two workers |",
        "|---:|---:|---:|---:|",
        *(f"| {n} | {n * 0.05:.1f} s | {one:.2f} s | {two:.2f} s |" for n, one, two in rows),
    ]
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    TARGET.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


def seconds_to_start() -> float:
    start = time.perf_counter()
    worker = Worker("run")
    while not worker.has_news():
        wait(worker.waitables())
    worker.receive()
    seconds = time.perf_counter() - start
    worker.end()
    return seconds


def seconds_of(n: int, jobs: int) -> float:
    """The least of some runs of ``n`` cells."""
    cells = list_cells(parse_experiment(YamlFile(Path("workers.yaml"), CONFIG.format(repeats=n))))
    planned = [PlannedCell(cell, {}, "to run") for cell in cells]
    taken = []
    for _ in range(TRIALS):
        start = time.perf_counter()
        assert all(one.result.status == "done" for one in run_cells(planned, "run", jobs))
        taken.append(time.perf_counter() - start)
    return min(taken)


if __name__ == "__main__":
    main()
