"""Maps as files: ``measure --export`` writes one with a record of its data, and ``probcal apply`` uses it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from probcal import __version__
from probcal.measure.base_rate import weighting_text
from probcal.measure.measurement import Interval, MeasuredSection
from probcal.methods.calibrators.map_file import map_to_json
from probcal.reading.prediction_file import FilePredictions

_PACKAGES = ("numpy", "scipy", "scikit-learn")


def exported_map(
    calibrator: Any, predictions: FilePredictions, section: MeasuredSection, name: str, seed: int,
    base_rates: Sequence[float] | None = None,
) -> str:  # fmt: skip
    """Return the map as JSON, with an audit record: the data, and the metrics of ``section`` before and after.

    The metrics after are those of maps of the other folds, so no row was judged by a map that saw it. The map in the
    file is fitted on all rows. ``base_rates`` of the classes are those that the rows of ``section`` are weighted to.
    """
    weighting: dict[str, Any] = {}
    if base_rates is not None:
        weighting = {
            "base_rates": dict(zip(predictions.classes, base_rates, strict=True)),
            "weighting": weighting_text(predictions, base_rates),
        }
    audit = {
        "data": predictions.table.origin_name,
        "sha256": predictions.table.digest,
        "rows": section.n_rows,
        "target": predictions.target,
        "probability": [*predictions.columns],
        "shares": {label: float(share) for label, share in predictions.shares().items()},
        "map": name,
        **weighting,
        "judged_by": f"maps fitted on the other 4 of 5 stratified folds, seed {seed}; 95 % bootstrap intervals",
        "metrics": {
            line.quantity.name: {"before": _numbers(line.before), "after": _numbers(line.after)}
            for line in section.lines
            if line.after is not None
        },
        "date": datetime.now(UTC).date().isoformat(),
        "versions": {"probcal": __version__} | {package: version(package) for package in _PACKAGES},
    }
    return map_to_json(calibrator, audit)


def _numbers(interval: Interval | None) -> list[float | str | None]:
    bounds = () if interval is None else (interval.value, interval.low, interval.high)
    return [None if math.isnan(one) else one if math.isfinite(one) else str(one) for one in bounds]
