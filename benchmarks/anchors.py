"""From the winner to a decision, beside other packages: python benchmarks/anchors.py [--python-of ...]

Both sides have the same file of predictions and the same table, made by scikit-learn. Each anchor runs in its own
environment, which you make by `python -m venv` and `pip install`, and name by its python:

    python benchmarks/anchors.py --python-of namesake=/tmp/a/bin/python --python-of autogluon=/tmp/b/bin/python

namesake needs probcal (the other project of this name) and pandas; mcgrad: MCGrad; skl2onnx: skl2onnx, onnxruntime and
pandas; m2cgen: m2cgen and pandas; autogluon: autogluon.tabular[lightgbm]; skore: skore; mapie: MAPIE and pandas.
Anchors without a python are said to be absent. Takes four minutes of CPU time, half of them for skore.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anchors_data as data
import numpy as np
import one_row
import pandas as pd
import speed
from anchors_peers import ANCHORS

import probcal
from probcal.deploy import map_to_onnx, map_to_python, map_to_sql
from probcal.errors import ProbcalError
from probcal.try_table.warning_codes import CODES

POINTS = {
    "1": "maps as files", "2": "a map on a file of new rows", "3": "a map for another program",
    "4": "a model that loads", "5": "one row at a time", "6": "decisions",
}  # fmt: skip
LEARNER = "logistic"
"""Of the classifiers in ``one_row.py``."""
MAPS = [getattr(probcal, name) for name in probcal.__all__ if name.endswith("Calibrator")]


def main() -> None:
    warnings.simplefilter("ignore")
    parser = speed.parser(__doc__, "anchors")
    parser.add_argument("--python-of", action="append", default=[], metavar="ANCHOR=PYTHON", help="may be repeated")
    parser.add_argument("--point", action="append", choices=POINTS, help="all unless given")
    args = parser.parse_args()
    pythons = dict(one.split("=", 1) for one in args.python_of) | {"scikit-learn": sys.executable}
    if unknown := [*(pythons.keys() - ANCHORS.keys())]:
        parser.error(f"--python-of: there is no anchor {unknown[0]} (there are: {', '.join(ANCHORS)})")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        data.write_files(folder)
        anchors = [answers_of(anchor, python, folder) for anchor, python in pythons.items()]
        asked = [point for point in args.point or POINTS if any(point in one["points"] for one in anchors)]
        ours = {point: OURS[point](folder) for point in asked}
        if "5" in (args.point or POINTS):
            ours["5"], beside = one_row_answers()
            anchors.append({"anchor": "CalibratedClassifierCV of scikit-learn", "points": {"5": beside}})
    rows = [
        [f"{point}. {POINTS[point]}", question, one["anchor"], answer, ours[point].get(question, "")]
        for point in sorted(ours)
        for one in anchors
        for question, answer in one["points"].get(point, {}).items()
    ]
    absent = [ANCHORS[anchor][0] for anchor in ANCHORS if anchor not in pythons]
    absent += [] if shutil.which("Rscript") else ["probably of tidymodels (there is no Rscript)"]
    description = (
        f"{data.N_FIT:,} rows to fit and {data.N_LATER:,} later rows, as predictions and as a table with dates, "
        f"amounts of money and `?` for a missing value. Absent: {', '.join(absent) or 'none'}. Times are CPU time."
    )
    headers = ["point", "question", "anchor", "what it gives", "what probcal gives"]
    speed.report(args.out, "anchors.py", description, headers, rows, "probcal-runner")
    sys.exit(0)


def answers_of(anchor: str, python: str, folder: Path) -> dict[str, Any]:
    """What an anchor answers in its own environment, which must not see our package."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [python, Path(__file__).with_name("anchors_peers.py"), anchor, folder]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=environment, cwd=folder)
    if done.returncode:
        sys.exit(f"error: {anchor} ended with exit code {done.returncode}")
    answers: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answers


def command(folder: Path, *words: Any) -> subprocess.CompletedProcess[str]:
    """Run the command ``probcal`` in ``folder``. Raise ProbcalError with its message if it refuses."""
    program = Path(sys.executable).with_name("probcal")
    done = subprocess.run([program, *map(str, words)], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise ProbcalError(done.stderr.strip().removeprefix("error: "))
    return done


def map_files(folder: Path) -> data.Answers:
    p, y = data.read_predictions(folder)
    later, y_later = data.read_predictions(folder, "predictions_later")
    one = probcal.BetaCalibrator().fit(p, y)
    three = np.random.default_rng(0).dirichlet([1, 1, 1], 300)
    y_three = np.arange(300) % 3
    audit = json.loads(exported_map(folder))["audit"]
    return data.map_answers(one, one.to_json(), probcal.BetaCalibrator.from_json, lambda m: m.predict_proba(p)) | {
        "maps of two classes that read the same": f"{sum(reads_the_same(kind, p, y) for kind in MAPS)} of {len(MAPS)}",
        "maps of three classes": f"{sum(reads_the_same(kind, three, y_three) for kind in MAPS)} of {len(MAPS)}",
        "maps with an inverse": str(sum(data.has_inverse(kind().fit(p, y).inverse) for kind in MAPS)),
        "maps with an inverse of an interval": str(sum(hasattr(kind, "interval_inverse") for kind in MAPS)),
        "what the file tells beside the map": ", ".join(audit),
        "log loss on later rows, bits": data.bits(y_later, one.predict_proba(later)[:, 1]),
        "calibrated less observed on later rows": data.errors_of_sites(
            folder, lambda rows: one.predict_proba(rows["p"])[:, 1]
        ),
    }


def exported_map(folder: Path) -> str:
    words = ["-p", "p", "-t", "y", "--calibrate", "beta", "--export", "map.json", "--force"]
    command(folder, "measure", "predictions.csv", *words)
    return (folder / "map.json").read_text()


def reads_the_same(kind: Any, scores: np.ndarray, y: np.ndarray) -> bool:
    one = kind().fit(scores, y)
    return np.array_equal(kind.from_json(one.to_json()).predict_proba(scores), one.predict_proba(scores))


def new_files(folder: Path) -> data.Answers:
    one = probcal.BetaCalibrator.from_json(exported_map(folder))
    program = Path(sys.executable).with_name("probcal")
    call = [program, "apply", "map.json", "million.csv", "-o", "million-out.csv", "--force"]

    def route(source: Path, output: Path) -> None:
        command(folder, "apply", "map.json", source.name, "-o", output.name)

    return {
        "what a person writes": shlex.join(["probcal", *call[1:-1]]),
        "CPU s for a million rows": data.cpu_seconds(call, folder),
    } | (data.file_answers(folder, route, lambda p: one.predict_proba(p)[:, 1]))


def map_forms(folder: Path) -> data.Answers:
    import onnxruntime

    p, y = data.read_predictions(folder)
    # each later row, the ends, and the rows of the fit, where a map has its steps
    scores = np.concatenate([data.read_predictions(folder, "predictions_later")[0], [0, 1], p])
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE rows (p DOUBLE)")
    connection.executemany("INSERT INTO rows VALUES (?)", [(value,) for value in scores.tolist()])

    def in_sql(one: Any) -> np.ndarray:
        return np.array([value for (value,) in connection.execute(f"SELECT {map_to_sql(one, ['p'])} FROM rows")])

    def in_python(one: Any) -> np.ndarray:
        space: dict[str, Any] = {}
        exec(map_to_python(one), space)
        return np.array([space["calibrate"](value) for value in scores.tolist()])

    def in_onnx(one: Any) -> np.ndarray:
        session = onnxruntime.InferenceSession(map_to_onnx(one), providers=["CPUExecutionProvider"])
        return np.asarray(session.run(None, {session.get_inputs()[0].name: scores[:, None]})[-1])[:, -1]

    maps = [kind().fit(p, y) for kind in MAPS]
    answers = {}
    for form, run in {"SQL": in_sql, "Python": in_python, "ONNX": in_onnx}.items():
        apart = []
        for one in maps:
            try:
                apart.append(np.abs(run(one) - one.predict_proba(scores)[:, 1]).max())
            except ValueError:  # a Venn-Abers map has no graph
                continue
        answers[form] = f"{len(apart)} of {len(maps)} maps, at most {max(apart):.0e} apart on {len(scores):,} rows"
    for one in maps:
        name = type(one).__name__.removesuffix("Calibrator").lower()
        if name in ("sigmoid", "isotonic", "temperature"):
            difference = np.abs(in_onnx(one) - one.predict_proba(scores)[:, 1])
            answers[f"ONNX, {name}"] = (
                f"{len(map_to_onnx(one)):,} bytes, the map alone; {difference.max():.0e} apart, above 1e-6 in "
                f"{(difference > 1e-6).sum()} of {len(scores):,}"
            )
    return answers


def loaded_model(folder: Path) -> data.Answers:
    words = ["-t", "left", "-l", "lightgbm", "-m", "beta", "-m", "direct", "--splits", 5]
    printed = command(folder, "try", "table.csv", *words, "--test", "table_later.csv", "--export", "model").stdout
    later = pd.read_csv(folder / "table_later.csv")
    model, rows = probcal.load(folder / "model"), later.drop(columns="left")

    def predict(rows: pd.DataFrame) -> np.ndarray:
        return model.predict_proba(rows)[:, list(model.classes_).index("yes")]

    def codes_of(table: pd.DataFrame, *words: str) -> set[str]:
        table.to_csv(folder / "trap.csv", index=False)
        text = command(folder, "try", "trap.csv", "-t", "left", "--dry-run", *words).stdout
        found = re.findall(r"\[([a-z]+(?:-[a-z]+)*)\]|^  \w+ +(left out)", text, re.MULTILINE)
        return {code or note for code, note in found}

    program = "import pandas, probcal; probcal.load('model').predict_proba(pandas.read_csv('table_later.csv', nrows=1))"
    [winner] = re.findall(r"predicted once by (.*?),", " ".join(printed.split()))
    measures = re.findall(r"^(\w[\w ]*?)  +[\d.]+ +[\d.]+ to [\d.]+", printed.rpartition("test rows")[2], re.MULTILINE)
    answers = data.trap_answers(folder, codes_of)
    [silenced, *_] = answers["codes of the table"].split(", ")
    left = codes_of(pd.read_csv(folder / "table.csv"), "--ignore", silenced)
    return (
        {
            "log loss on later rows, bits": data.bits((later["left"] == "yes").to_numpy(), predict(rows)),
            "columns that it uses": data.used_columns(rows, predict),
            "on disk": data.folder_size(folder / "model"),
            "ms to load": data.milliseconds(lambda: probcal.load(folder / "model")),
            "ms of one row": data.milliseconds(lambda: predict(rows[:1])),
            "ms of 1,000 rows": data.milliseconds(lambda: predict(rows[:1000])),
            "CPU s from the start of Python to one row": data.cpu_seconds([sys.executable, "-c", program], folder),
            "all models on a labelled file": f"1 model, the winner: {winner}",
            "measures of a labelled file": f"{', '.join(measures)}, each with an interval",
            "codes that exist": str(len(CODES)),
            "a code is silenced": f"--ignore {silenced}: {'gone' if silenced not in left else 'still there'}",
        }
        | answers
        | data.frame_answers(folder, predict)
    )


def one_row_answers() -> tuple[data.Answers, data.Answers]:
    """Ours and scikit-learn's, which were measured in turn."""
    ours, theirs = {}, {}
    for figures in one_row.measure(LEARNER, n_rows=2000, n_calls=300, n_rounds=3):
        if figures["theirs"] is None:
            continue
        name = f"{LEARNER}, {figures['map']}, {'five fits' if figures['ensemble'] else 'one fit'}"
        for side, times, size in ((ours, "ours", "pickle"), (theirs, "theirs", "their_pickle")):
            side[f"{name}: ms of one row, p50 and p99"] = " and ".join(f"{value:.2f}" for value in figures[times])
            side[f"{name}: pickle, KB"] = f"{1000 * figures[size]:.1f}"
    return ours, theirs


def itself(rows: np.ndarray) -> np.ndarray:
    """The probability that is the only column of the rows."""
    return np.asarray(rows)[:, 0]


def decisions(folder: Path) -> data.Answers:
    p, y = data.read_predictions(folder)
    later, y_later = data.read_predictions(folder, "predictions_later")
    given = probcal.PrefitClassifier(itself, classes=[0, 1])

    def fitted(rate: Any, level: Any) -> Any:
        return probcal.GuaranteedRateClassifier(given, rate=rate, at_least=level, confidence=0.95).fit(p[:, None], y)

    def threshold_of(rate: Any, level: Any) -> float:
        return float(fitted(rate, level).threshold_)

    answers = data.promise_answers(threshold_of, later, y_later)
    answers["precision and recall together"] = data.tried(lambda: threshold_of(["precision", "recall"], [0.7, 0.3]))
    answers["what is stated"] = fitted("precision", 0.8).guarantee_
    for costs in data.COSTS:
        model = probcal.CostSensitiveClassifier(probcal.BetaCalibrationClassifier(given), costs=costs).fit(
            p[:, None], y
        )
        answers[data.cost_question(costs)] = f"{data.mean_cost(y_later, model.predict(later[:, None]), costs):.4f}"
    return answers


OURS: dict[str, Callable[[Path], data.Answers]] = {
    "1": map_files, "2": new_files, "3": map_forms, "4": loaded_model, "6": decisions,
}  # fmt: skip

if __name__ == "__main__":
    main()
