"""What the numbers of a stored result can be: tables add them up, and a file from elsewhere may hold any."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from probcal.metrics.names import metric_called

_MOST = 10**15
"""Rows, seconds and bytes; beyond it, whole numbers are no exact floats any more."""


class ImpossibleValueError(ValueError):
    """A stored result has a number that its metric can never be."""


def refuse_impossible_values(metrics: Mapping[str, float], stages: Mapping[str, list[float]]) -> None:
    """Raise ImpossibleValueError for the first number that its metric can never be.

    A metric that a stage does not have is kept as NaN. A name that is no metric of this version has no bounds.
    """
    for name, number in metrics.items():
        _refuse_impossible(name, name, number)
    for name, course in stages.items():
        for stage, number in enumerate(course, 1):
            if not math.isnan(number):
                _refuse_impossible(name, f"{name} after stage {stage}", number)


def _refuse_impossible(name: str, what: str, number: float) -> None:
    metric = metric_called(name)
    fault = metric.fault(number) if metric else None
    if fault:
        raise ImpossibleValueError(f"{what} is {number:.6g}, but {name} {fault}")


def row_fault(row: Mapping[str, Any]) -> str | None:
    """What is wrong with the first part of a stored result, as its JSON has it, that is out of bounds; None if none is.

    What is not there, or of another kind than a mapping where one is wanted, is passed over.
    """
    counts = {name: row.get(name) for name in ("repetition", "n_train", "n_test")}
    counts.update(_mapping(row, "warnings"))
    for name, number in counts.items():
        if number is not None and not _is_count(number):
            return f"{name} is no count"
    seconds = row.get("seconds")
    if isinstance(seconds, bool) or (isinstance(seconds, int | float) and not 0 <= seconds <= _MOST):
        return "seconds are no time"
    if not all(isinstance(digest, str) for digest in _mapping(row, "key").values()):
        return "its key is no mapping of texts"
    return _place_fault(_mapping(row, "predictions"))


def _place_fault(where: Mapping[str, Any]) -> str | None:
    """``where``: what ``Predictions.add`` returned; empty for none."""
    if not where:
        return None
    if not all(_is_count(where.get(name)) for name in ("at", "rows")) or not isinstance(where.get("digest"), str):
        return "the place of its predictions is none"
    shape = [where.get(name, 1) for name in ("columns", "labels")]
    if not all(_is_count(n) and n > 0 for n in shape) or math.prod(shape) * where["rows"] > _MOST:
        return "the shape of its predictions is none"
    return None


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST


def _mapping(row: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = row.get(name)
    return value if isinstance(value, dict) else {}
