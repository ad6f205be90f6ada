"""The export of a trial's winner: the fitted pipeline, a script that predicts new rows, and a model card."""

from __future__ import annotations

import hashlib
import os
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import joblib
import numpy as np
import numpy.typing as npt

from probcal._io import data_text, printable
from probcal.data.dataset import Dataset
from probcal.data.text_values import as_text
from probcal.errors import ProbcalError, is_installed
from probcal.reading.table_plan import card_names, probability_names, write_table_plan
from probcal.runner.cell_rows import split_rows
from probcal.store.folder import Store
from probcal.try_table.full_table import table_plan
from probcal.try_table.measures import MeasureScale
from probcal.try_table.model_card import RELIABILITY, CardFacts, card_text
from probcal.try_table.pipeline_code import PipelinePlan
from probcal.try_table.preparation import PreparedTable
from probcal.try_table.traps import is_group_name

# How the reason begins for which a column of ids is left out.
_ID_REASONS = ("an id", "a running number", "a different value in every row")
# Number of rows in all resamples of a diagram, which takes some seconds.
_MOST_RESAMPLED_ROWS = 20_000_000
PREDICT = '''"""Add predicted probabilities to new rows: python predict.py new.csv > predicted.csv{advice}"""

import sys
from pathlib import Path

from probcal.deploy.model_folder import predict_script

predict_script(Path(__file__).resolve().parent, sys.argv[1:])
'''


def refuse_export(folder: Path) -> None:
    """Raise ProbcalError where the folder exists and has something in it, or cannot be made."""
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise ProbcalError(f"--export: {folder} already exists and is not overwritten; remove it or choose another")
    parent = next((path for path in folder.resolve().parents if path.exists()), Path())
    if not parent.is_dir() or not os.access(parent, os.W_OK):
        raise ProbcalError(f"--export: {folder} cannot be made, because {parent} is not a folder to write to")


def write_export(
    folder: Path,
    plan: PipelinePlan,
    model: Any,
    prepared: PreparedTable,
    predictions: HeldOutPredictions,
    facts: CardFacts,
) -> None:
    """Write all files of the export, or none. ``model`` is the pipeline of ``plan``, fitted on all labelled rows."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    # beside the folder, because a rename in one step needs one file system
    building = Path(mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        joblib.dump(model, building / "model.joblib", compress=3)
        digest = hashlib.sha256((building / "model.joblib").read_bytes()).hexdigest()
        threshold = facts.costs.threshold if facts.costs else None
        columns = replace(table_plan(prepared, plan.is_native, plan.is_nested), model=digest, threshold=threshold)
        write_table_plan(columns, building / "columns.json")
        advice = f"\n\nTo keep the cost low, {facts.costs.advice}.\n" if facts.costs else ""
        (building / "predict.py").write_text(PREDICT.replace("{advice}", advice, 1), encoding="utf-8")
        (building / "train.py").write_text(facts.code, encoding="utf-8")
        (building / "model-card.md").write_text(card_text(prepared, facts), encoding="utf-8")
        (building / "predictions.csv").write_text(held_out_text(predictions, prepared), encoding="utf-8", newline="")
        if is_installed("matplotlib"):
            draw_reliability(predictions, f"{facts.name}, held-out rows", building / RELIABILITY)
        building.chmod(0o755)  # only its owner may read what mkdtemp makes
        if folder.exists():
            folder.rmdir()
        building.rename(folder)
    finally:
        shutil.rmtree(building, ignore_errors=True)


@dataclass(frozen=True)
class HeldOutPredictions:
    """Hold predictions of rows that did not train: class numbers ``y`` (n,), and ``p`` (n, n_classes).

    ``rows`` are the numbers of these rows in the table, (n,), counted from 0. ``weights`` are (n,), or None if all are
    1.
    """

    rows: npt.NDArray[np.intp]
    y: npt.NDArray[Any]
    p: npt.NDArray[np.float64]
    weights: npt.NDArray[np.float64] | None


def held_out_predictions(
    store: Store, ids: list[str], prepared: PreparedTable, dataset: Dataset, scale: MeasureScale, seed: int
) -> HeldOutPredictions:
    """Return the predictions of the cells ``ids``, one for each split: for each test row the mean over its splits."""
    card, results = dataset.card, store.results()
    labels = dataset.y if dataset.strata is None else dataset.strata
    total, times = np.zeros((len(dataset.y), int(dataset.y.max()) + 1)), np.zeros(len(dataset.y))
    for number, cell in enumerate(ids):
        _, test = split_rows(card.split, card.seeding_name, dataset.X, labels, number, seed)
        _, p = store.predictions(results[cell])
        total[test] += scale.clip(scale.reweight(np.column_stack([1 - p, p]) if p.ndim == 1 else p))
        times[test] += 1
    test_rows = np.flatnonzero(times)
    table_rows = np.flatnonzero(prepared.target.label_mask)[prepared.rows[test_rows]]
    y = dataset.y[test_rows]
    return HeldOutPredictions(table_rows, y, total[test_rows] / times[test_rows, None], scale.row_weights(y))


def held_out_text(predictions: HeldOutPredictions, prepared: PreparedTable) -> str:
    """Return the predictions as CSV, with row and line of the file, columns of ids, and the label.

    A column ``weight`` follows if rare classes have more rows in the sample than in the table.
    """
    table, target, classes = prepared.table, prepared.target, prepared.class_names
    frame = table.frame.set_axis(card_names(table.names), axis=1)
    ids = [
        column.name
        for column in prepared.columns
        if column.kind == "group" or column.about.startswith(_ID_REASONS) or is_group_name(column.name)
    ]
    lines = None if table.lines is None else table.lines[predictions.rows]
    header = ["row", *(["line"] if lines is not None else []), *ids, target.name, *probability_names(classes)]
    header += [] if predictions.weights is None else ["weight"]
    probabilities = predictions.p[:, 1:] if len(classes) == 2 else predictions.p
    texts = {
        name: [as_text(value) for value in frame[name].iloc[predictions.rows].astype(object).fillna("")] for name in ids
    }
    rows = [
        [
            str(row + 1),
            *([] if lines is None else [str(lines[index])]),
            *(texts[name][index] for name in ids),
            str(target.labels[row]),
            *(f"{p:.6g}" for p in probabilities[index]),
            *([] if predictions.weights is None else [f"{predictions.weights[index]:.6g}"]),
        ]
        for index, row in enumerate(predictions.rows)
    ]
    return data_text([header, *rows])


def draw_reliability(predictions: HeldOutPredictions, title: str, path: Path) -> None:
    """Write the diagram as SVG to ``path``. It needs matplotlib.

    With several classes it shows the likeliest class of each row.
    """
    from probcal.plots.reliability import ReliabilityDisplay
    from probcal.reporting.drawing import COLOURS, drawing_style, titled_figure

    p, y = predictions.p, predictions.y
    multiclass = p.shape[1] > 2
    if multiclass:
        top_class = p.argmax(axis=1)
        p_binary, y_binary = p[np.arange(len(y)), top_class], (y == top_class).astype(int)
    else:
        p_binary, y_binary = p[:, 1], (y == 1).astype(int)
    with drawing_style():
        figure = titled_figure(printable(title, 60), 4.2, 4.2)
        axes = figure.add_subplot()
        ReliabilityDisplay.from_predictions(
            y_binary, p_binary, sample_weight=predictions.weights, bands="confidence",
            n_resamples=min(200, max(40, _MOST_RESAMPLED_ROWS // len(y))), ax=axes, color=COLOURS[0],
        )  # fmt: skip
        axes.set_xlabel("Predicted probability" + (" of the likeliest class" if multiclass else ""))
        axes.spines[["top", "right"]].set_visible(False)
        # equal predictions give equal files: neither the date nor the version of matplotlib is in them
        figure.savefig(path, metadata={"Date": None, "Creator": None})
