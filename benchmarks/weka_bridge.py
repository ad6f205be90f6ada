"""What the crossing to Weka costs: python benchmarks/weka_bridge.py

Whole tables, as WekaClassifier sends them, against one Java call a row, as a loop over DenseInstance does it:
medians of the same run. ZeroR answers without looking at the row, so what is timed is the crossing. Seconds
are the processor's, Java's threads included: on a shared machine wall time says more about the neighbours.
Memory is the resident size of a process of its own. Linux only.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import probing_data
import speed
from tabulate import tabulate

from probcal.errors import ProbcalError
from probcal.learners.weka import WekaClassifier
from probcal.learners.weka.classifier import Header, distributions
from probcal.learners.weka.jvm import java_class, start

ROWS, COLUMNS = 32_561, 105  # the training rows of Adult, its columns as indicators
RUNS = 7


def main() -> None:
    argparse.ArgumentParser(description="What the crossing to Weka costs: whole tables against rows.").parse_args()
    try:
        start()
    except ProbcalError as error:
        sys.exit(f"error: {error}")
    table, y = numbers()
    mixed, y_mixed, kind = adult()
    rows = [*crossing("doubles", table, y), *crossing(kind, mixed, y_mixed)]
    print(tabulate(rows, headers=["", "rows x columns", "whole table", "row by row", "ratio"], tablefmt="github"))
    # a fresh process each: a fork would bring the Java of this one
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        print("\n" + tabulate(process.submit(memory).result(), headers=["", "CPU", "resident"], tablefmt="github"))


def numbers() -> tuple[pd.DataFrame, np.ndarray]:
    random = np.random.default_rng(0)
    table = random.normal(size=(ROWS, COLUMNS))
    y = (table[:, :3].sum(axis=1) + random.normal(size=ROWS) > 1).astype(int)
    return pd.DataFrame(table), y


def adult() -> tuple[pd.DataFrame, np.ndarray, str]:
    """Adult's training rows, or rows of the same kinds where Adult is not at hand."""
    try:
        return *probing_data.adult(), "Adult, mixed"
    except ProbcalError:
        table, y = numbers()
        codes = np.random.default_rng(1).integers(-1, 10, (ROWS, 8))
        nominal = {f"c{n}": pd.Categorical.from_codes(codes[:, n], list("abcdefghij")) for n in range(8)}
        return table.iloc[:, :6].assign(**nominal), y, "generated, mixed"


def crossing(name: str, X: pd.DataFrame, y: np.ndarray) -> list[list[str]]:
    header = Header.of(X, np.unique(y))
    table = header.instances(X, y)
    zero = java_class("weka.classifiers.rules.ZeroR")()
    zero.buildClassifier(table)
    values = encode_rows(X, y)
    assert np.array_equal(distributions(zero, table), predict_row_by_row(zero, table))
    shape = f"{len(X):,} x {X.shape[1]}"
    return [
        row(f"{name}: to Instances", shape, lambda: header.instances(X, y), lambda: build_row_by_row(header, values)),
        row(
            f"{name}: distributions back",
            shape,
            lambda: distributions(zero, table),
            lambda: predict_row_by_row(zero, table),
        ),
    ]


def encode_rows(X: pd.DataFrame, y: np.ndarray) -> np.ndarray:
    """The doubles that Weka holds, made beforehand: the naive way is not charged for pandas."""
    columns = [
        np.where(column.cat.codes < 0, np.nan, column.cat.codes)
        if isinstance(column.dtype, pd.CategoricalDtype)
        else column.to_numpy(np.float64)
        for _, column in X.items()
    ]
    return np.column_stack([*columns, y])


def build_row_by_row(header: Header, values: np.ndarray) -> Any:
    instance = java_class("weka.core.DenseInstance")
    rows = java_class("weka.core.Instances")("naive", header._attributes(), len(values))
    rows.setClassIndex(values.shape[1] - 1)
    for row_values in values:
        rows.add(instance(1.0, row_values))
    return rows


def predict_row_by_row(classifier: Any, rows: Any) -> np.ndarray:
    return np.array([list(classifier.distributionForInstance(rows.get(n))) for n in range(rows.numInstances())])


def row(name: str, shape: str, bridge: Callable[[], Any], naive: Callable[[], Any]) -> list[str]:
    fast, slow = median(bridge), median(naive)
    return [name, shape, f"{fast:.3f} s", f"{slow:.3f} s", f"{slow / fast:.1f}x"]


def median(work: Callable[[], Any]) -> float:
    work()  # Java compiles what it meets for the first time
    return statistics.median(cpu(work) for _ in range(RUNS))


def cpu(work: Callable[[], Any]) -> float:
    return speed.costs_of(work)[1].cpu


def memory() -> list[list[str]]:
    """Of this process before Java, with Java started, and after a tree was learned."""
    table, y = numbers()
    rows = [["Python, probcal and the table of doubles", "", resident_memory()]]
    rows.append(["Java started", f"{cpu(start):.2f} s", resident_memory()])
    rows.append(
        ["J48 learned from it", f"{cpu(lambda: WekaClassifier('trees.J48').fit(table, y)):.1f} s", resident_memory()]
    )
    return rows


def resident_memory() -> str:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return f"{pages * os.sysconf('SC_PAGE_SIZE') / 2**20:.0f} MB"


if __name__ == "__main__":
    main()
