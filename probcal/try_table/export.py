"""The export of a trial's winner: the fitted pipeline, a script that predicts new rows, and a model card."""

from __future__ import annotations

import hashlib
import os
import shutil
from dataclasses import replace
from pathlib import Path
from tempfile import mkdtemp

import joblib
import numpy as np
import pandas as pd

from probcal.config.columns import ExperimentColumn
from probcal.data.card_split import Split
from probcal.errors import ProbcalError, is_installed
from probcal.reading.column_plan import ColumnPlan
from probcal.runner.nested_rows import calibration_cv
from probcal.try_table import choices
from probcal.try_table.held_out import HeldOutPredictions, draw_reliability, held_out_text
from probcal.try_table.model_card import RELIABILITY, CardFacts, card_lines, card_text
from probcal.try_table.new_rows import TableReading, write_reading
from probcal.try_table.pipeline_code import PipelinePlan
from probcal.try_table.preparation import PreparedTable

PREDICT = '''"""Add predicted probabilities to new rows: python predict.py new.csv > predicted.csv{advice}"""

import sys
from pathlib import Path

from probcal.errors import ProbcalError
from probcal.try_table.new_rows import with_probabilities

if len(sys.argv) != 2 or sys.argv[1] in ("-h", "--help"):
    sys.exit("usage: python predict.py new.csv > predicted.csv    (- reads standard input)")
try:
    text, warnings = with_probabilities(sys.argv[1], Path(__file__).resolve().parent)
except ProbcalError as error:
    sys.exit(f"error: {error}")
for warning in warnings:
    print(f"warning: {warning}", file=sys.stderr)
sys.stdout.reconfigure(encoding="utf-8", newline="")
sys.stdout.write(text)
'''


def refuse_export(folder: Path) -> None:
    """Raise ProbcalError where the folder exists and has something in it, or cannot be made."""
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise ProbcalError(f"--export: {folder} already exists and is not overwritten; remove it or choose another")
    parent = next((path for path in folder.resolve().parents if path.exists()), Path())
    if not parent.is_dir() or not os.access(parent, os.W_OK):
        raise ProbcalError(f"--export: {folder} cannot be made, because {parent} is not a folder to write to")


def classes_of(prepared: PreparedTable) -> list[str]:
    """Return the name of each class, in the order of the class numbers. The second of two is the positive one."""
    names = list(prepared.target.class_counts)
    return names if prepared.target.positive is None else names[::-1]


def pipeline_plan(column: ExperimentColumn, prepared: PreparedTable, split: Split, seed: int) -> PipelinePlan:
    """Return the pipeline of a column of the experiment. A bound in it is that of the whole table.

    Its method calibrates on rows as in the experiment, which has this ``split``.
    """
    method = column.method
    if "clip" in method.params:
        eps = full_bound(prepared)
        method = replace(method, params={**method.params, "clip": (eps, 1 - eps)})
    cv = calibration_cv(method, split) if split.nested else None
    return PipelinePlan(column.learner, method, seed, cv)


def full_bound(prepared: PreparedTable) -> float:
    """Return the bound of probabilities for all labelled rows."""
    return choices.bound(replace(prepared.target, counts=prepared.counts).class_counts.values())


def write_export(
    folder: Path,
    plan: PipelinePlan,
    prepared: PreparedTable,
    predictions: HeldOutPredictions,
    facts: CardFacts,
) -> None:
    """Fit the pipeline on all labelled rows and write all files of the export, or none."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    building = Path(mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        model = plan.fit(*training_rows(prepared), group_values(prepared))
        joblib.dump(model, building / "model.joblib", compress=3)
        digest = hashlib.sha256((building / "model.joblib").read_bytes()).hexdigest()
        write_reading(replace(reading_of(prepared, plan), model=digest), building / "columns.json")
        advice = f"\n\nTo keep the cost low, {facts.costs.advice}.\n" if facts.costs else ""
        (building / "predict.py").write_text(PREDICT.replace("{advice}", advice, 1), encoding="utf-8")
        (building / "train.py").write_text(facts.code, encoding="utf-8")
        (building / "model-card.md").write_text(card_text(card_lines(prepared, facts)), encoding="utf-8")
        text = held_out_text(predictions, prepared, classes_of(prepared))
        (building / "predictions.csv").write_text(text, encoding="utf-8", newline="")
        if is_installed("matplotlib"):
            draw_reliability(predictions, f"{facts.name}, held-out rows", building / RELIABILITY)
        building.chmod(0o755)
        if folder.exists():
            folder.rmdir()
        building.rename(folder)
    finally:
        shutil.rmtree(building, ignore_errors=True)


def training_rows(prepared: PreparedTable) -> tuple[pd.DataFrame, np.ndarray]:
    """Return the input columns of all labelled rows, and their class numbers, (n_rows,)."""
    X = pd.DataFrame({column.name: column.values for column in prepared.inputs})
    places = {name: place for place, name in enumerate(classes_of(prepared))}
    y = np.array([places[label] for label in prepared.target.classes[prepared.target.label_mask]])
    return X, y


def group_values(prepared: PreparedTable) -> np.ndarray | None:
    """Return the group or the time of each labelled row, (n_rows,), or None without such a column."""
    for column in prepared.columns:
        if column.kind in ("group", "time"):
            assert column.values is not None
            return np.asarray(column.values.cat.codes if column.kind == "group" else column.values)
    return None


def reading_of(prepared: PreparedTable, plan: PipelinePlan) -> TableReading:
    """Return how the table was read, for new rows."""
    target = prepared.target
    places = {name: place for place, name in enumerate(classes_of(prepared))}
    labels = dict(zip(target.labels[target.label_mask], target.classes[target.label_mask], strict=True))
    return TableReading(
        inputs=tuple(column.plan for column in prepared.inputs if column.plan is not None),
        target=target.name,
        classes=tuple(places),
        labels={label: places[name] for label, name in labels.items()},
        target_mark=prepared.target_mark,
        native=plan.is_native,
        bound=full_bound(prepared),
        groups=_groups(prepared) if plan.is_nested else None,
    )



def _groups(prepared: PreparedTable) -> ColumnPlan:
    """Return how the column of groups or of time was read."""
    [column] = [column for column in prepared.columns if column.kind in ("group", "time")]
    return ColumnPlan(column.name, "category") if column.plan is None else column.plan
