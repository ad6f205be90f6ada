"""One witness: what it stores, how it is compared with a new computation, and their file."""

from __future__ import annotations

import hashlib
import json
import math
import platform
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from probcal._io import write_atomic
from probcal.components.numerics import numerics
from probcal.metrics.registry import NAMED
from probcal.runner.execute import Outcome
from probcal.runner.instruction_set import LEVEL
from probcal.store.cell_result import CellResult, cell_id

Floats = np.ndarray
STORED_ROWS = 64
"""Number of test rows whose predictions a witness stores. They are spread evenly over the test rows."""
ROUNDING = 1e-9
"""Largest difference of a probability, or relative difference of a metric, that counts as rounding."""
State = Literal["equal", "rounding", "changed", "failed", "not computed"]


class Failure(str):
    """Say with which error a cell failed, unlike a cell that needs what is not installed."""


@dataclass(frozen=True)
class Witness:
    """Hold what a cell predicted.

    ``predictions`` has shape (rows, columns): at most ``STORED_ROWS`` test rows. The digests are of all test rows.
    """

    experiment: str
    dataset: str
    repetition: int
    learner: str
    method: str
    setting: str
    """Digest of the setting. Overrides give columns of the same names several settings."""
    predictions: Floats
    digest: str
    """First 16 hexadecimal digits of the SHA-256 of all predictions."""
    label_digest: str
    """The same of the most probable label of each row."""
    metrics: dict[str, float]
    """Metrics, and a few numbers by which other curves and stages are noticed."""
    seconds: float = 0.0
    """Seconds that the cell took. They are not compared."""

    @property
    def cell(self) -> str:
        return cell_id(self.dataset, self.repetition, self.learner, self.method)

    @property
    def name(self) -> str:
        return witness_name(self.experiment, self.cell, self.setting)

    @classmethod
    def of(cls, experiment: str, setting: str, outcome: Outcome) -> Witness:
        """Return the witness of a done cell."""
        assert outcome.p is not None
        # One order of bytes, so that digests are the same on every machine.
        result, p = outcome.result, np.ascontiguousarray(outcome.p, dtype="<f8")
        table = p.reshape(len(p), -1)
        row_numbers = np.unique(np.linspace(0, len(p) - 1, min(STORED_ROWS, len(p))).round().astype(int))
        return cls(
            experiment, result.dataset, result.repetition, result.learner, result.method, setting, table[row_numbers],
            short_digest(p.tobytes()), short_digest(p.argmax(axis=-1).astype("<i4").tobytes()),
            {name: float(value) for name, value in result.metrics.items()} | _curve_numbers(result),
            round(result.seconds, 3),
        )  # fmt: skip

    def compare(self, new: Witness) -> tuple[State, float]:
        """Return whether ``new`` is equal, differs by rounding or is changed, and the largest difference.

        A metric that ``new`` lacks is a change, and one that it has in addition is none.
        """
        if self.metrics.keys() - new.metrics.keys():
            return "changed", math.inf
        if self.digest == new.digest and metric_gap(self.metrics, new.metrics) == 0:
            return "equal", 0.0
        if self.predictions.shape != new.predictions.shape:
            return "changed", math.inf
        gap = float(np.max(np.abs(self.predictions - new.predictions), initial=0.0))
        same_labels = self.label_digest == new.label_digest
        is_rounding = gap <= ROUNDING and same_labels and metric_gap(self.metrics, new.metrics) <= ROUNDING
        return ("rounding" if is_rounding else "changed"), gap

    def changed_metrics(self, new: Witness) -> list[str]:
        """Return the metrics that differ although the predictions are equal. They are empty if predictions differ."""
        if self.digest != new.digest:
            return []
        other = {name for name, value in self.metrics.items() if metric_gap({name: value}, new.metrics) > 0}
        other |= self.metrics.keys() - new.metrics.keys()
        return sorted({name.partition("(")[0] for name in other} & {*NAMED, "cost"})


def _curve_numbers(result: CellResult) -> dict[str, float]:
    """Return the number of points and the mean of each axis of each curve, and the mean over the stages."""
    numbers = {f"mean of the stages of {name}": float(np.mean(values)) for name, values in result.stages.items()}
    for name, lines in result.curves.items():
        for axis in ("x", "y"):
            values = [value for line in lines for value in line[axis]]
            numbers[f"points of curve {name}"] = float(len(values))
            numbers[f"mean {axis} of curve {name}"] = float(np.mean(values)) if values else math.nan
    return numbers


def witness_name(experiment: str, cell: str, setting: str) -> str:
    return f"{experiment}: {cell} ({setting})"


def short_digest(content: bytes) -> str:
    """Return the first 16 hexadecimal digits of the SHA-256."""
    return hashlib.sha256(content).hexdigest()[:16]


def metric_gap(old: Mapping[str, float], new: Mapping[str, float]) -> float:
    """Return the largest relative difference of the metrics that both have.

    It is 0 where they are equal, NaN or infinite alike, and infinite where only one of two values is finite.
    """
    return max((_relative_gap(old[name], new[name]) for name in old.keys() & new.keys()), default=0.0)


def _relative_gap(old: float, new: float) -> float:
    if old == new or (math.isnan(old) and math.isnan(new)):
        return 0.0
    # Below 1 the difference itself counts, since rounding near 0 can be a large share of a metric.
    gap = abs(old - new) / max(1.0, abs(old))
    return gap if math.isfinite(gap) else math.inf


PACKAGES = ("numpy", "scipy", "pandas", "scikit-learn", "numba", "lightgbm", "catboost", "python-weka-wrapper3")
"""Packages that compute."""


def package_versions() -> dict[str, str]:
    """Return package -> installed version, and Python's. A missing package has no entry."""
    versions = {"python": platform.python_version().rpartition(".")[0]}
    for package in PACKAGES:
        with suppress(PackageNotFoundError):
            versions[package] = version(package)
    return versions


def other_versions(path: Path) -> str:
    """Return which versions differ from those that computed the witnesses at ``path``, or an empty text."""
    recorded, versions = _read_about(path)["versions"], package_versions()
    names = sorted(recorded.keys() | versions.keys())
    return ", ".join(
        f"{name} {recorded.get(name, 'missing')} -> {versions.get(name, 'missing')}"
        for name in names
        if recorded.get(name) != versions.get(name)
    )


def reasons_not_computed(path: Path) -> dict[str, str]:
    """Return cell -> why it has no witness, as ``save`` stored it beside ``path``."""
    reasons: dict[str, str] = _read_about(path)["not computed"]
    return reasons


def _read_about(path: Path) -> dict[str, Any]:
    """Return what ``save`` wrote beside the witnesses at ``path``."""
    about: dict[str, Any] = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    return about


_NAMES = ("experiment", "dataset", "repetition", "learner", "method", "setting")


def declared_versions() -> dict[str, int]:
    """Return component or metric -> its present numerics version, for those past version 1."""
    declared = (*numerics().components.values(), *numerics().metrics.values())
    return {component.name: component.version for component in declared if component.version > 1}


def risen_since(path: Path) -> set[str]:
    """Return the components and metrics whose version is another one than when ``path`` was written."""
    before, now = _read_about(path).get("numerics", {}), declared_versions()
    return {name for name in before.keys() | now.keys() if before.get(name) != now.get(name)}


def save(witnesses: Iterable[Witness], path: Path, not_computed: Mapping[str, str] | None = None) -> None:
    """Write witnesses as a Parquet file, sorted by name. One row is one witness.

    A JSON file beside it has the versions, and the reasons why cells were ``not_computed`` (cell -> reason).
    """
    rows = [
        {
            **{name: getattr(witness, name) for name in _NAMES},
            "columns": witness.predictions.shape[1],
            "predictions": witness.predictions.ravel(),
            "digest": witness.digest,
            "label_digest": witness.label_digest,
            "metrics": json.dumps(witness.metrics, sort_keys=True),
            "seconds": witness.seconds,
        }
        for witness in sorted(witnesses, key=lambda witness: witness.name)
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(rows).to_parquet(path, compression="zstd", index=False)
    record = {
        "processor": LEVEL,
        "versions": package_versions(),
        "numerics": declared_versions(),
        "not computed": dict(not_computed or {}),
    }
    write_atomic(path.with_suffix(".json"), json.dumps(record, indent=1) + "\n")


def load(path: Path) -> list[Witness]:
    """Read the witnesses of a file that ``save`` wrote."""
    rows = pd.read_parquet(path).itertuples(index=False)
    return [
        Witness(
            row.experiment,
            row.dataset,
            int(row.repetition),
            row.learner,
            row.method,
            row.setting,
            np.asarray(row.predictions, dtype=float).reshape(-1, int(row.columns)),
            row.digest,
            row.label_digest,
            json.loads(row.metrics),
            float(row.seconds),
        )
        for row in rows
    ]
