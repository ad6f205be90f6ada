"""Measurements of predictions: the quantities of all rows and of each group, with their intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from probcal.data.text_values import sort_labels
from probcal.measure.measured_part import ClassesPart, MeasuredSection, Part
from probcal.measure.quantities import quantities
from probcal.measure.summary import SummarisedClasses, Summary
from probcal.metrics.bootstrap import FEWEST_DRAWS, MOST_DRAWS, Quantity
from probcal.metrics.decisions import Costs
from probcal.metrics.reliability import top_label
from probcal.reading.file_columns import MISSING_GROUP
from probcal.reading.prediction_file import FilePredictions

Floats = npt.NDArray[np.float64]

# Number of rows in all draws, which takes about half a minute, and twice that with calibration.
_MOST_RESAMPLED_ROWS = 100_000_000
# Number of draws of all tables, each of which takes a millisecond however small the group is.
_MOST_TABLE_DRAWS = 20_000

MOST_CLASSES = 12
"""Number of classes that are shown one by one."""
_CLASS_QUANTITIES = ("base_rate", "mean_probability", "ece", "slope", "intercept")
_LIKELIEST_QUANTITIES = ("base_rate", "mean_probability", "c_emp", "ece", "smece")
# The share of rows whose likeliest class is right, which a map may change.
_ACCURACY: dict[str, Any] = {"name": "accuracy", "label": "accuracy", "has_calibration": True}


def measure_sections(
    predictions: FilePredictions, calibrated: Floats | None, draws: int, seed: int,
    show_values: Callable[[list[MeasuredSection]], None] | None = None,
    progress: Callable[[list[Any]], Iterable[Part | ClassesPart]] = iter, costs: Costs | None = None,
) -> list[MeasuredSection]:  # fmt: skip
    """Measure all rows, then each group. ``calibrated``, (n_rows, n_classes), is measured beside if it is not None.

    ``costs`` of wrong decisions, for two classes only, add lines on decisions.

    ``show_values`` gets the sections before they have intervals, which take most of the time. ``progress`` wraps the
    list of parts of the table while their intervals are drawn.
    """
    table_quantities = quantities(predictions.is_binary, costs)
    parts: Sequence[Part | ClassesPart]
    if isinstance(predictions, Summary):
        kind = ClassesPart if isinstance(predictions, SummarisedClasses) else Part
        parts = [kind.of_cells(*part, predictions.classes, table_quantities) for part in _cells_of(predictions)]
    else:
        has_forms = show_values is not None or not draws
        parts = [
            Part.of_rows(*part, predictions, calibrated, table_quantities, has_forms) for part in _rows_of(predictions)
        ]
    if show_values is not None:
        show_values([part.section(table_quantities, 0, seed) for part in parts])
    return [part.section(table_quantities, draws, seed) for part in progress([*parts])]


def likeliest_section(
    predictions: FilePredictions, calibrated: Floats | None, draws: int, seed: int
) -> MeasuredSection | None:
    """Measure whether the likeliest of several classes is right, against its probability. Two classes have None."""
    if predictions.is_binary:
        return None
    chosen = [replace(one, **_ACCURACY) if one.name == "base_rate" else one for one in _chosen(_LIKELIEST_QUANTITIES)]
    names, classes = ("likeliest class", "", ""), ("wrong", "right")
    if isinstance(predictions, SummarisedClasses):
        return Part.of_cells(names, predictions.cells.likeliest, classes, chosen).section(chosen, draws, seed)
    stages = [predictions.p] if calibrated is None else [predictions.p, calibrated]
    labels, highest = zip(*(top_label(predictions.y, stage) for stage in stages), strict=True)
    is_right = np.array(labels, np.int64)
    top = replace(predictions, classes=classes, y=is_right[0], p=highest[0])
    after = (None, None) if calibrated is None else (highest[1], is_right[1])
    part = Part.of_rows(names, np.flatnonzero(predictions.weight > 0), top, after[0], chosen, not draws, after[1])
    return part.section(chosen, draws, seed)


def class_sections(
    predictions: FilePredictions, calibrated: Floats | None, draws: int, seed: int
) -> list[MeasuredSection]:
    """Measure each of several classes against all others, with the quantities of a reliability diagram.

    Two classes have none, because one is the mirror image of the other. Of many classes, see ``shown_classes``.
    """
    if predictions.is_binary:
        return []
    chosen = _chosen(_CLASS_QUANTITIES)
    has_weight = np.flatnonzero(predictions.weight > 0)
    sections = []
    for number in shown_classes(predictions):
        label = predictions.classes[number]
        names, classes = (f"class {label}", "", label), (f"not {label}", label)
        if isinstance(predictions, SummarisedClasses):
            part = Part.of_cells(names, predictions.cells.against[number], classes, chosen)
        else:
            y, p = class_rows(predictions, number)
            against = replace(predictions, classes=classes, y=y, p=p)
            after = None if calibrated is None else calibrated[:, number]
            part = Part.of_rows(names, has_weight, against, after, chosen, not draws)
        sections.append(part.section(chosen, draws, seed))
    return sections


def _chosen(names: Sequence[str]) -> list[Quantity]:
    return [quantity for quantity in quantities(True) if quantity.name in names]


def shown_classes(predictions: FilePredictions) -> list[int]:
    """Return the numbers of the classes that are shown one by one: at most the ``MOST_CLASSES`` most frequent."""
    counts = np.array([*predictions.counts().values()])
    return sorted(np.argsort(-counts, kind="stable")[:MOST_CLASSES].tolist())


def class_rows(predictions: FilePredictions, number: int) -> tuple[npt.NDArray[np.int64], Floats]:
    """Return the labels and probabilities of one of several classes against all others, (n_rows,) each."""
    return (predictions.y == number).astype(np.int64), predictions.p[:, number]


def default_draws(predictions: FilePredictions) -> int:
    """Return the number of draws without an option: 1000, and fewer for more than 100,000 rows or 20 groups."""
    sections = 1 + sum(len(set(groups)) for groups in predictions.groups.values())
    return max(FEWEST_DRAWS, min(MOST_DRAWS, _MOST_RESAMPLED_ROWS // predictions.n_rows, _MOST_TABLE_DRAWS // sections))


def _cells_of(predictions: Summary) -> Iterator[tuple[tuple[str, str, str], Any]]:
    """Yield the names and cells of each section."""
    yield ("all rows", "", ""), predictions.cells
    for column in dict.fromkeys(column for column, _ in predictions.group_cells):
        groups = {group: cells for (other, group), cells in predictions.group_cells.items() if other == column}
        for group in in_order(groups):
            yield (f"{column} = {group}", column, group), groups[group]


def _rows_of(predictions: FilePredictions) -> Iterator[tuple[tuple[str, str, str], npt.NDArray[np.intp]]]:
    """Yield the names and rows of each section. Rows of weight 0 are in none."""
    has_weight = predictions.weight > 0
    yield ("all rows", "", ""), np.flatnonzero(has_weight)
    for column, groups in predictions.groups.items():
        for group in in_order(groups[has_weight]):
            yield (f"{column} = {group}", column, group), np.flatnonzero(has_weight & (groups == group))


def in_order(groups: Iterable[str]) -> list[str]:
    """Return each group once in the order of a table, that of the rows without a value last."""
    names = set(groups)
    return [*sort_labels(names - {MISSING_GROUP}), *({MISSING_GROUP} & names)]
