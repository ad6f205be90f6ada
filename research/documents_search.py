"""What Gao, Parameswaran & Peng (2017) leave unstated of Table 1, tried: results/documents/surface.csv and its figure.

    python -m research.documents_search

Every reading of the experiment is tried with every exponent, on a few topics and runs; those near the published
numbers once more on all topics and five runs. A quarter of an hour on one core, after the experiment itself.
docs/calibration.md says what came out.
"""

from __future__ import annotations

import csv
import statistics
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import normalize

from probcal._io import csv_text
from probcal.data.card import find_card, read_card
from probcal.data.sources.generators import GeneratorSource
from probcal.data.splits import stream_seed
from probcal.metrics import means_over_labels
from probcal.papers.published import PublishedPaper
from probcal.reporting.drawing import drawing_style, save_figure
from probcal.runner.fit_predict import limit_blas_threads

SURFACE = Path("results/documents/surface.csv")
_METRICS = ("l1", "c_emp")
HEADER = ["reading", "exponent", "topics", "runs", "l1", "l1_sd", "c_emp", "c_emp_sd", "l1_trivial", "frequency"]
EXPONENTS = (0.8, 0.9, 1.0, 1.1, 1.25)
SMALL_SIZES, FULL_SIZES = (4, 2), (20, 5)
"""(topics, runs): for all readings; for those near the published numbers, as the paper has it."""


def _frequencies(counts: csr_matrix) -> csr_matrix:
    return normalize(counts, norm="l1")


def _presence(counts: csr_matrix) -> csr_matrix:
    return (counts > 0).astype(np.float64)


@dataclass(frozen=True)
class Reading:
    """``train``: share of the rows that train. ``tests_training_rows``: tested on those, else on the others."""

    name: str
    C: float = 1.0
    inputs: Callable[[csr_matrix], csr_matrix] = csr_matrix
    train: float = 1.0
    tests_training_rows: bool = True
    lengths: Callable[[np.random.Generator, int], np.ndarray] = lambda rng, n: rng.poisson(200, n)


SAME_ROWS, MOST_ROWS = Reading("same rows"), Reading("80 %, same rows", train=0.8)
READINGS = [
    SAME_ROWS,
    Reading("same rows, C = 0.01", C=0.01),
    Reading("same rows, no penalty", C=np.inf),
    Reading("same rows, frequencies", inputs=_frequencies),
    Reading("same rows, frequencies, next to no penalty", C=1e5, inputs=_frequencies),
    Reading("same rows, words there or not", inputs=_presence),
    Reading("same rows, all documents of 200 words", lengths=lambda rng, n: np.full(n, 200)),
    Reading("same rows, lengths uniform in 100 to 300", lengths=lambda rng, n: rng.integers(100, 301, n)),
    MOST_ROWS,
    Reading("80 %, other rows", train=0.8, tests_training_rows=False),
    Reading("80 %, other rows, C = 0.001", C=0.001, train=0.8, tests_training_rows=False),
    Reading("half, same rows", train=0.5),
    Reading("half, other rows", train=0.5, tests_training_rows=False),
    Reading("half, other rows, C = 0.001", C=0.001, train=0.5, tests_training_rows=False),
]
NEAR_READINGS = [(SAME_ROWS, exponent) for exponent in (0.92, 0.94, 0.96)] + [
    (MOST_ROWS, exponent) for exponent in (0.98, 1.0)
]


def main() -> int:
    """A row is written as soon as it is known; what is there already is not run again."""
    limit_blas_threads()
    keys = _done_rows()
    with SURFACE.open("a", newline="", encoding="utf-8") as file:
        if not keys:
            file.write(csv_text([HEADER]))
        for reading, *setting in _settings():
            if (reading.name, *map(str, setting)) not in keys:
                file.write(csv_text([[reading.name, *setting, *_measure(reading, *setting)]]))
                file.flush()
    with drawing_style(**{"font.size": 8}):
        save_figure(_figure(), SURFACE.with_suffix(""))
    return 0


def _figure() -> Figure:
    """Draw a line for each reading, a point for each exponent, and the published pair with its spread."""
    with SURFACE.open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["topics"] != str(FULL_SIZES[0])]
    exponents = dict.fromkeys(row["exponent"] for row in rows)
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.add_subplot()
    for number, reading in enumerate(dict.fromkeys(row["reading"] for row in rows)):
        l1, c_emp = ([float(row[metric]) for row in rows if row["reading"] == reading] for metric in _METRICS)
        axes.plot(l1, c_emp, "-" if number < 10 else "--", marker=".", color=f"C{number % 10}", label=reading)
    tables = PublishedPaper.read("gao-parameswaran-peng-2017-documents").tables
    (x, dx), (y, dy) = ((*tables[metric].numbers.values(), *tables[metric].spreads.values()) for metric in _METRICS)
    axes.errorbar([x], [y], [dy], [dx], fmt="k*", markersize=10, label="published, ± sd")
    axes.set(xlabel="l1 error", ylabel="c_emp", yscale="log")
    figure.legend(loc="outside right upper", title=f"reading, exponents {' '.join(exponents)} right to left")
    return figure


def _done_rows() -> set[tuple[str, ...]]:
    """(reading, exponent, topics, runs) of the rows that are there."""
    if not SURFACE.is_file():
        return set()
    with SURFACE.open(newline="", encoding="utf-8") as file:
        return {tuple(row[:4]) for row in csv.reader(file)}


def _settings() -> Iterator[tuple[Reading, float, int, int]]:
    yield from ((reading, exponent, *SMALL_SIZES) for reading in READINGS for exponent in EXPONENTS)
    yield from ((reading, exponent, *FULL_SIZES) for reading, exponent in NEAR_READINGS)


def _measure(reading: Reading, exponent: float, topics: int, runs: int) -> list[str]:
    """Means and standard deviations over the runs, as ``HEADER`` has them."""
    source = read_card(find_card("documents")).generator
    source = source.model_copy(update={"exponent": exponent})
    results = [_run(reading, source, topics, run) for run in range(runs)]
    l1, c_emp, trivial, frequency = (
        [result[name] for result in results] for name in ("l1", "c_emp", "l1_trivial", "frequency")
    )
    numbers = [_mean(l1), _sd(l1), _mean(c_emp), _sd(c_emp), _mean(trivial), _mean(frequency)]
    return [f"{number:.5f}" for number in numbers]


def _run(reading: Reading, source: GeneratorSource, topics: int, run: int) -> dict[str, float]:
    rng = np.random.default_rng(stream_seed(2017, "search", run))  # the same mixes whatever the exponent
    counts, labels, truth = source.draw(rng, reading.lengths(rng, source.documents))
    X, size = reading.inputs(counts), round(reading.train * source.documents)
    test = slice(0, size) if reading.tests_training_rows else slice(size, None)
    p = [_estimates(reading.C, X[:size], labels[:size, topic], X[test]) for topic in range(topics)]
    return means_over_labels(labels[test, :topics], np.column_stack(p), truth[test, :topics])


def _estimates(C: float, X: csr_matrix, y: np.ndarray, X_test: csr_matrix) -> np.ndarray:
    return LogisticRegression(C=C, max_iter=1000).fit(X, y).predict_proba(X_test)[:, 1]


_mean, _sd = statistics.fmean, statistics.stdev

if __name__ == "__main__":
    sys.exit(main())
