"""The export of a trial's winner: the fitted pipeline, a script that predicts new rows, and a model card."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import joblib
import numpy as np
import numpy.typing as npt

from probcal import __version__
from probcal._io import counted, data_text, printable
from probcal.data.dataset import Dataset
from probcal.data.text_values import as_text
from probcal.distribution import NAME
from probcal.errors import ProbcalError, installation, is_installed
from probcal.metrics.decisions import Costs
from probcal.reading.table import UserTable
from probcal.reading.table_plan import card_names, probability_names, write_table_plan
from probcal.runner.cell_rows import split_rows
from probcal.store.folder import Store
from probcal.try_table.importance import HEADER as IMPORTANCE_HEADER
from probcal.try_table.importance import Importance
from probcal.try_table.measures import Measure, MeasureScale
from probcal.try_table.pipeline_code import PipelinePlan
from probcal.try_table.preparation import PreparedTable
from probcal.try_table.ranked_methods import interval_of
from probcal.try_table.traps import is_group_name
from probcal.try_table.unseen_result import HEADER, UnseenResult

# How the reason begins for which a column of ids is left out.
_ID_REASONS = ("an id", "a running number", "a different value in every row")
_PACKAGES = ("scikit-learn", "numpy", "pandas", "joblib")
RELIABILITY = "reliability.svg"
PREDICT = '''"""Add predicted probabilities to new rows: python predict.py new.csv > predicted.csv{advice}"""

import sys
from pathlib import Path

from probcal.deploy.model_folder import predict_script

predict_script(Path(__file__).resolve().parent, sys.argv[1:])
'''


@dataclass(frozen=True)
class CardFacts:
    """Hold what the card says besides the table."""

    name: str
    """The method and learner, such as ``sigmoid on forest``."""
    verdict: str
    values: Mapping[Measure, Sequence[float]]
    """Measure -> its value on each split."""
    baseline: Mapping[Measure, Sequence[float]]
    """The same of the base rate."""
    traps: Sequence[str]
    notes: Sequence[str]
    """What else to know about the splits."""
    code: str
    results: str
    """Folder of the results, learner and method, in words."""
    costs: Costs | None = None
    """What wrong decisions cost, where the user said so."""
    unseen: UnseenResult | None = None
    """What the winner reached on the file of ``--test``, if there is one."""
    importance: Importance | None = None
    """What drives the winner. None for the base rate."""


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
        columns = replace(prepared.plan_of_new_rows(plan.is_native, plan.is_nested), model=digest, threshold=threshold)
        write_table_plan(columns, building / "columns.json")
        advice = f"\n\nTo keep the cost low, {facts.costs.advice}.\n" if facts.costs else ""
        (building / "predict.py").write_text(PREDICT.replace("{advice}", advice, 1), encoding="utf-8")
        (building / "train.py").write_text(facts.code, encoding="utf-8")
        card = "".join(f"{line}\n" for line in _card_lines(prepared, facts))
        (building / "model-card.md").write_text(card, encoding="utf-8")
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
    weights = scale.row_weights(y) if dataset.weight is None else dataset.weight[test_rows]
    return HeldOutPredictions(table_rows, y, total[test_rows] / times[test_rows, None], weights)


def held_out_text(predictions: HeldOutPredictions, prepared: PreparedTable) -> str:
    """Return the predictions as CSV, with row and line of the file, columns of ids, and the label.

    A column ``weight`` follows if rows have weights, as those of rare classes in a large table have.
    """
    table, target, classes = prepared.table, prepared.target, prepared.class_names
    places = {name: place for place, name in enumerate(card_names(table.names))}
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
        name: [
            as_text(value)
            for value in table.pandas_column(places[name]).iloc[predictions.rows].astype(object).fillna("")
        ]
        for name in ids
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
    """Write the diagram as SVG to ``path``."""
    from probcal.reporting.drawing import drawing_style
    from probcal.reporting.reliability_figure import reliability_figure  # needs matplotlib

    with drawing_style():
        figure = reliability_figure(printable(title, 60), predictions.y, {"": predictions.p}, predictions.weights)
        # equal predictions give equal files: neither the date nor the version of matplotlib is in them
        figure.savefig(path, metadata={"Date": None, "Creator": None})


def _card_lines(prepared: PreparedTable, facts: CardFacts) -> Iterator[str]:
    """Yield the lines of the model card, as Markdown."""
    target = prepared.target
    yield from (f"# {printable(facts.name)}, for `{printable(target.name)}`", "", printable(facts.verdict), "")
    outcome = f"the positive label `{printable(target.positive)}`" if target.positive else "each label"
    n_rows = prepared.n_labelled
    yield f"The model predicts the probability of {outcome}. It was fitted on all {n_rows:,} labelled rows."
    if facts.costs:
        yield from ("", f"To keep the cost low, {facts.costs.advice}: FP / (FP + FN).")
    yield from ("", "## Data", "")
    yield _file_text("Table", prepared.table)
    yield f"- Rows: {len(target.labels):,}, of which {prepared.n_labelled:,} have a label"
    yield from (f"- `{printable(label)}`: {counted(rows)}" for label, rows in prepared.counts.items())
    if prepared.weight is not None:
        shares = zip(prepared.class_names, prepared.class_shares, strict=True)
        listing = ", ".join(f"`{printable(name)}` {100 * share:.3g} %" for name, share in shares)
        yield "- Every fit and every measure is weighted by the column of weights. Only ratios of weights count"
        yield f"- Weighted shares: {listing}"
    yield from (f"- {printable(note)}" for note in prepared.notes)
    yield from ("", "## How it was measured", "", f"- {printable(prepared.split.sentence(len(prepared.rows)))}")
    yield f"- Results: {printable(facts.results)}"
    if len(prepared.rows) < prepared.n_labelled:
        sampling = ", with more rows of rare classes and weights to make up for it" if prepared.enriched_classes else ""
        yield f"- A sample of {len(prepared.rows):,} rows{sampling}"
    limits = f"{prepared.bound:.2g} and {1 - prepared.bound:.6g}"
    yield f"- Probabilities are kept within {limits}, for the log loss here and in `predict.py`"
    yield from (f"- {printable(note)}" for note in facts.notes)
    yield from ("", "| measure | mean | 95 % interval | base rate |", "|---|---|---|---|")
    for measure, values in facts.values.items():
        yield f"| {measure.about} | {_cells(measure, values, facts.baseline[measure], prepared.split.test_share)} |"
    yield from (
        "",
        "The intervals are those of Nadeau & Bengio (2003). The winner was chosen on the same splits, so its",
    )
    yield from ("means are a little too good.", "")
    if is_installed("matplotlib"):
        yield f"![Reliability of held-out rows]({RELIABILITY})"
    else:
        hint = "The reliability diagram needs matplotlib, which was not installed; install it with"
        yield f"{hint}: {installation('matplotlib')}"
    if facts.importance:
        yield from ("", "## What drives it", "", f"{printable(facts.importance.basis.capitalize())}.", "")
        yield from (f"| {' | '.join(IMPORTANCE_HEADER)} |", "|---" * len(IMPORTANCE_HEADER) + "|")
        yield from (f"| {' | '.join(map(_cell, one.cells))} |" for one in facts.importance.columns)
    if facts.unseen:
        yield from _unseen_lines(facts.unseen)
    if facts.traps:
        yield from ("", "## Before you trust it", "", *(f"- {printable(trap)}." for trap in facts.traps))
    if prepared.ignored:
        yield from ("", f"Warnings that were not shown (`--ignore`): {', '.join(prepared.ignored)}.")
    yield from ("", "## Columns", "", "| column | type | values |", "|---|---|---|")
    yield from (f"| {_cell(column.name)} | {column.kind} | {_cell(column.about)} |" for column in prepared.columns)
    yield from ("", "## Files", "")
    yield "- `predict.py`: `python predict.py new.csv > predicted.csv` adds the probabilities to new rows"
    weights = ""
    if prepared.weight is not None or prepared.enriched_classes:
        reason = "the rows have weights" if prepared.weight is not None else "rare classes have more rows"
        weights = f"; measure them with `--weight weight`, because {reason}"
    yield f"- `predictions.csv`: the probabilities of held-out rows, with row, line and ids of the table{weights}"
    yield "- `train.py`: fits the same model again"
    yield "- `columns.json`: how the columns are read"
    yield "- `model.joblib`: the fitted scikit-learn pipeline. joblib stores every estimator; skops would be one more"
    yield "  package, and needs a list of every type to trust. Loading runs code from the file, so load only files"
    yield "  that you trust. `predict.py` warns you if it is not the exported file"
    yield from ("", "```python", facts.code.rstrip(), "```", "", "## Versions", "")
    yield f"- Python {platform.python_version()}"
    yield f"- {NAME} {__version__}"
    yield from (f"- {name} {version(name)}" for name in _PACKAGES)


def _file_text(name: str, table: UserTable) -> str:
    return f"- {name}: `{printable(table.origin)}`" + (f", sha256 `{table.digest}`" if table.digest else "")


def _unseen_lines(unseen: UnseenResult) -> Iterator[str]:
    yield from ("", "## The test file", "", f"- {printable(unseen.sentence)}")
    yield _file_text("File", unseen.rows.table)
    yield from (f"- {note}" for note in unseen.notes)
    yield from ("", f"| {' | '.join(HEADER)} |", "|---" * len(HEADER) + "|")
    yield from (f"| {' | '.join(map(_cell, row))} |" for row in unseen.table())
    yield from (
        "",
        "Each test row was predicted once. In the column base rate, it gets the class shares of the training",
    )
    yield "rows."


def _cells(measure: Measure, values: Sequence[float], baseline: Sequence[float], test_share: float) -> str:
    mean, is_finite = np.mean(values), bool(np.isfinite(values).all())
    interval = "{:.4f} to {:.4f}".format(*interval_of(values, test_share, measure)) if is_finite else ""
    return f"{mean:.4f} | {interval} | {np.mean(baseline):.4f}" if is_finite else " | | "


def _cell(text: str) -> str:
    return printable(text).replace("|", "\\|")
