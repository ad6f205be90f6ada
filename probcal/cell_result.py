"""What one cell gave, as an object and as a line of ``cells.jsonl``."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from probcal import __version__
from probcal.curves import curves_fault
from probcal.row_faults import refuse_impossible_values, row_fault

_LARGEST = 1e100


@dataclass(frozen=True)
class CellResult:
    """What one cell gave. ``key`` holds a digest of everything that can change its numbers."""

    dataset: str
    repetition: int
    learner: str
    method: str
    status: str
    """One of ``STATUSES``."""
    run: str
    seconds: float
    key: dict[str, str] = field(default_factory=dict)
    metrics: dict[str, float] = field(default_factory=dict)
    stages: dict[str, list[float]] = field(default_factory=dict)
    """Metric -> its value after every stage of the method, for the metrics that the experiment asked for so."""
    curves: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """Lines for figures: name -> lines, each of ``x``, ``y`` and what tells it from the others."""
    n_train: int | None = None
    n_test: int | None = None
    warnings: dict[str, int] = field(default_factory=dict)
    """Kind of warning -> how often it was given while the cell ran."""
    error_type: str | None = None
    message: str | None = None
    traceback: str | None = None
    predictions: dict[str, Any] | None = None
    """Where the labels and probabilities behind it are; None where none were kept."""
    failed_since: CellResult | None = field(default=None, compare=False, repr=False)
    """The last attempt to make a finished result anew, where it failed; the store tells it, no line holds it."""

    @property
    def id(self) -> str:
        return cell_id(self.dataset, self.repetition, self.learner, self.method)

    def to_json(self) -> str:
        row = {name: value for name, value in vars(self).items() if value not in (None, {})}
        row.pop("failed_since", None)
        row[WRITER] = __version__
        if self.metrics:
            row["metrics"] = {name: _plain(value) for name, value in self.metrics.items()}
        if self.stages:
            row["stages"] = {name: [_plain(value) for value in values] for name, values in self.stages.items()}
        # a message may hold half of a surrogate pair, as file names do that are not UTF-8
        return json.dumps(row, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace").decode()

    @classmethod
    def from_json(cls, line: str, *, any_values: bool = False) -> CellResult:
        """Read a row. Raises ValueError, TypeError, AttributeError, OverflowError or RecursionError if it is none.

        Of these, UnknownParts is for what only another version knows, and ImpossibleValueError for a number that its
        metric can never be; ``any_values`` lets that pass.
        """
        row = json.loads(line)
        if fault := row_fault(row):
            raise ValueError(fault)
        if not isinstance(row.pop(WRITER, ""), str):
            raise TypeError(f"{WRITER} is no version")
        if unknown := sorted(row.keys() - _PARTS):
            raise UnknownParts(unknown)
        if isinstance(status := row.get("status"), str) and status not in STATUSES:
            raise UnknownParts([f"status: {status}"])
        row["metrics"] = {name: _number(value) for name, value in row.get("metrics", {}).items()}
        row["stages"] = {name: [_number(value) for value in values] for name, values in row.get("stages", {}).items()}
        result = cls(**row)
        if wrong := [name for name, kind in _KINDS.items() if not isinstance(getattr(result, name), kind)]:
            raise TypeError(f"{wrong[0]} is of another kind")
        if fault := curves_fault(result.curves):
            raise ValueError(fault)
        if not any_values:
            refuse_impossible_values(result.metrics, result.stages)
        return result


class UnknownParts(ValueError):
    """A result has ``parts`` that this version does not know."""

    def __init__(self, parts: list[str]) -> None:
        super().__init__(f"unknown: {', '.join(parts)}")
        self.parts = parts


STATUSES = ("done", "failed", "timeout")
WRITER = "probcal"
"""The part of a line that names the version that wrote it."""
_PARTS = {one.name for one in fields(CellResult)} - {"failed_since"}
_KINDS = {
    **dict.fromkeys(("dataset", "learner", "method", "status", "run"), str),
    **dict.fromkeys(("error_type", "message", "traceback"), str | None),
    **dict.fromkeys(("n_train", "n_test"), int | None),
    **dict.fromkeys(("key", "warnings", "curves"), dict),
    "predictions": dict | None,
    "repetition": int,
    "seconds": int | float,
}


def cell_id(dataset: str, repetition: int, learner: str, method: str) -> str:
    return f"{dataset}/{repetition}/{learner}/{method}"


def key_digest(key: Mapping[str, str]) -> str:
    """One digest for a whole key; stages and curves change nothing else, so they do not count."""
    key = {part: digest for part, digest in key.items() if part not in ("stages", "curves")}
    return hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:12]


def _number(value: Any) -> float:
    """As a float; infinite beyond 1e100, where sums and squares of several would be too large for one."""
    number = float(value)
    return math.copysign(math.inf, number) if abs(number) > _LARGEST else number


def _plain(value: float) -> float | str:
    """JSON has no infinity: ``inf`` and ``nan`` are kept as text, which ``float`` reads back."""
    return value if math.isfinite(value) else str(value)
