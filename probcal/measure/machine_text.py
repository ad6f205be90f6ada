"""Measurements for other programs: every number with all its digits, as CSV and as strict JSON."""

from __future__ import annotations

import json
import math
from typing import Any

from probcal import __version__
from probcal._io import csv_text
from probcal.measure.measured_part import MeasuredSection
from probcal.measure.part_tests import ALL, CLASS, PartTests
from probcal.measure.text import Measurement, findings
from probcal.metrics.bootstrap import Interval

HEADER = ["group_column", "group", "rows", "stage", "metric", "value", "low", "high"]
_BEFORE = "before"
# Columns of the groups that are not in the file.
_CLASSES, _LIKELIEST, _BINS = "(class)", "(likeliest class)", "(bin)"
_P_VALUES = ("exact_p", "spiegelhalter_p", "binomial_p", "jeffreys_p", "robust_p")


def csv_text_of(measurement: Measurement) -> str:
    """Return every number with all its digits as CSV. ``value`` may be ``inf``, and is empty where it is undefined."""
    rows = [HEADER]
    for section in measurement.tables:
        column = _column_of_table(measurement, section)
        first = [column, section.group, str(section.n_rows)]
        for line in section.lines:
            stages = [(_BEFORE, line.before), (measurement.map, line.after), ("change", line.change)]
            for stage, interval in stages:
                if interval is not None:
                    numbers = [_text(n) for n in (interval.value, interval.low, interval.high)]
                    rows.append([*first, str(stage), line.quantity.name, *numbers])
    for part in measurement.tests:
        first = [_column_of(part), part.name, str(part.tests.n_rows), _BEFORE]
        rows.append([*first, "observed", *map(_text, (part.tests.observed, part.tests.low, part.tests.high))])
        values = {name: getattr(part.tests, name) for name in ("mean", "spiegelhalter_z", *_P_VALUES)}
        values |= {f"{name}_holm": value for name, value in part.corrected.items()}
        rows += [[*first, f"test_{name}", _text(value), "", ""] for name, value in values.items()]
    return csv_text(rows).rstrip("\n")


def _text(value: float) -> str:
    return "" if math.isnan(value) else repr(value)


def _column_of_table(measurement: Measurement, section: MeasuredSection) -> str:
    if section is measurement.likeliest:
        return _LIKELIEST
    return _CLASSES if section in measurement.classes else section.column


def _column_of(part: PartTests) -> str:
    return _CLASSES if part.kind == CLASS else part.column or ("" if part.kind == ALL else _BINS)


def json_text_of(measurement: Measurement) -> str:
    """Return all numbers as one JSON object. An undefined number is null, and an infinite one is the text ``inf``."""
    predictions = measurement.predictions
    described = {
        "probcal": __version__,
        "data": {
            "file": predictions.table.origin_name,
            "sha256": predictions.table.digest,
            "rows": predictions.n_rows,
            "target": predictions.target,
            "probability": [*predictions.columns],
            "shares": predictions.shares(),
            "cluster": None if predictions.cluster is None else predictions.cluster[0],
            "notes": [*predictions.table.notes, *predictions.notes],
        },
        "map": measurement.map,
        "draws": measurement.draws,
        "seed": measurement.seed,
        "tables": [
            {
                "class" if section in measurement.classes else "group": section.group or None,
                "column": (_LIKELIEST if section is measurement.likeliest else section.column) or None,
                "rows": section.n_rows,
                "metrics": {
                    line.quantity.name: {
                        stage: named_interval(interval)
                        for stage, interval in ((_BEFORE, line.before), ("after", line.after), ("change", line.change))
                        if interval is not None
                    }
                    for line in section.lines
                },
            }
            for section in measurement.tables
        ],
        "tests": [
            {
                "kind": part.kind,
                "column": part.column or None,
                "name": part.name or None,
                **{name: _number(value) for name, value in part.tests._asdict().items()},
                "holm": {name: _number(value) for name, value in part.corrected.items()},
            }
            for part in measurement.tests
        ],
        "calibration_rejected": measurement.verdict.rejected,
        "findings": findings(measurement),
    }
    return json.dumps(described, indent=1, ensure_ascii=False, allow_nan=False)


def named_interval(interval: Interval) -> dict[str, Any]:
    """Return the value and the ends of an interval for strict JSON."""
    return {name: _number(getattr(interval, name)) for name in ("value", "low", "high")}


def _number(value: float) -> Any:
    return None if math.isnan(value) else value if math.isfinite(value) else str(value)
