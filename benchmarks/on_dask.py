"""What a run on Dask costs: python benchmarks/on_dask.py [-o FILE]

Cells that take next to no time, in two processes: by -j 2 and by --workers 2. The time of the fewest cells is that of
starting; what more cells take beyond it is the time of a cell. Only on an idle machine do wall times say something.
Exit code 1 where the results differ.

    python benchmarks/on_dask.py --cells 40 -o -
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import speed

from probcal.store.folder import Store

CONFIG = """
name: trivial
repeats: {repeats}
datasets: [wine-first]
learners: {{dummy: {{type: sklearn.dummy.DummyClassifier}}}}
methods: [direct]
"""
FEWEST_RUNS = 2
WAYS = {"-j 2": ("-j", "2"), "--workers 2": ("--workers", "2")}


def main() -> None:
    parser = speed.parser(__doc__, "dask")
    parser.add_argument("--cells", type=int, default=1000, help="(%(default)s)")
    args = parser.parse_args()
    rows, outputs = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for way, words in WAYS.items():
            start_seconds, _ = run(folder, FEWEST_RUNS, words)
            total, results = run(folder, args.cells, words)
            outputs.append(results)
            cell_seconds = (total - start_seconds) / (args.cells - FEWEST_RUNS)
            verdict = "the same" if results == outputs[0] else "DIFFER"
            rows.append(
                [
                    way,
                    speed.seconds(start_seconds),
                    speed.seconds(total),
                    f"{cell_seconds * 1000:.1f} ms",
                    f"{1 / cell_seconds:.0f}",
                    verdict,
                ]
            )
    headers = ["", f"{FEWEST_RUNS} cells", f"{args.cells} cells", "each more", "cells/s", "results"]
    speed.report(args.out, "on_dask.py", "Wall time of one run each, in a fresh process.", headers, rows)
    sys.exit(1 if any(row[-1] == "DIFFER" for row in rows) else 0)


def run(folder: Path, cells: int, words: tuple[str, ...]) -> tuple[float, dict[str, dict[str, float]]]:
    """(seconds, cell -> its metrics)."""
    config, out = folder / "trivial.yaml", folder / f"{cells}{words[0]}"
    config.write_text(CONFIG.format(repeats=cells), encoding="utf-8")
    command = [sys.executable, "-m", "probcal", "run", config, "-o", out, *words]
    start = time.perf_counter()
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL, env=speed.one_blas_thread())
    return time.perf_counter() - start, {cell: result.metrics for cell, result in Store(out).results().items()}


if __name__ == "__main__":
    main()
