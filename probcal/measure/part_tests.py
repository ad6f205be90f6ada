"""Tests of calibration for each part of a file, with Holm's correction, and the verdict on all rows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from probcal._io import counted
from probcal.analysis.hypothesis_tests import holm
from probcal.measure.measured_part import MeasuredSection
from probcal.measure.measurement import class_rows, in_order, shown_classes
from probcal.measure.summary import Summary
from probcal.metrics.calibration_tests import CalibrationTests, calibration_tests
from probcal.metrics.curves import bin_numbers
from probcal.metrics.reliability import top_label
from probcal.reading.prediction_file import FilePredictions

Floats = npt.NDArray[np.float64]

ALL, GROUP, GRADE, CLASS = "all", "group", "grade", "class"
_TWO_SIDED = ("exact_p", "spiegelhalter_p")
_OF_CLUSTERS = ("robust_p", "spiegelhalter_p")
_ONE_SIDED = ("binomial_p", "jeffreys_p")
# The exact test of a million rows takes three seconds. For so many rows its normal limit differs by less than .003.
_MOST_EXACT_ROWS = 200_000
LEVEL = 0.05
"""Probability that a star marks any part of a family whose predictions are calibrated."""


@dataclass(frozen=True)
class PartTests:
    """Hold the tests of all rows, of a group, of a grade or of a class."""

    kind: str
    """``ALL``, ``GROUP``, ``GRADE`` or ``CLASS``."""
    column: str
    """Column of the groups or grades, otherwise empty."""
    name: str
    """Name of the group, grade or class, empty for all rows."""
    tests: CalibrationTests
    corrected: dict[str, float]
    """The p-values that the tables show, with Holm's correction for the other parts of the same kind and column."""


def part_tests(predictions: FilePredictions) -> list[PartTests]:
    """Return the tests of all rows, each class of several, each group and each grade.

    The tests of several classes are about the likeliest class of each row: its probability, and whether it is right.
    The list is empty where the rows have weights or are summarised, because the number of positive rows then has no
    known distribution. Without any other part, many rows have the normal limit in place of the exact test.
    """
    if predictions.has_weights or isinstance(predictions, Summary):
        return []
    y, p = _event(predictions)
    cluster = None if predictions.cluster is None else predictions.cluster[1]
    is_alone = predictions.is_binary and not predictions.groups and predictions.grades is None
    of_all = np.arange(len(y)) if cluster is None and is_alone and len(y) > _MOST_EXACT_ROWS else cluster
    parts = _family(ALL, "", [("", y, p)], [of_all])
    if not predictions.is_binary:
        classes = shown_classes(predictions)
        rows = [(predictions.classes[one], *class_rows(predictions, one)) for one in classes]
        parts += _family(CLASS, "", rows, [cluster] * len(rows))
    for column, groups in predictions.groups.items():
        names = in_order(groups)
        rows = [(one, y[groups == one], p[groups == one]) for one in names]
        parts += _family(GROUP, column, rows, [None if cluster is None else cluster[groups == one] for one in names])
    if predictions.grades is not None:
        column, rows = _grades(predictions.grades, y, p)
        parts += _family(GRADE, column, rows, [None] * len(rows))
    return parts


def _event(predictions: FilePredictions) -> tuple[npt.NDArray[Any], Floats]:
    """Return the labels and probabilities, (n_rows,) each, that are tested."""
    y, p = predictions.y, predictions.p
    if p.ndim == 1:
        return y, p
    if predictions.is_binary:
        return y, p[:, 1]
    return top_label(y, p)


def _grades(
    given: tuple[str, npt.NDArray[np.object_]] | int, y: npt.NDArray[Any], p: Floats
) -> tuple[str, list[tuple[str, npt.NDArray[Any], Floats]]]:
    """Return the column of the grades, and name, labels and probabilities of each, in rising order of probability."""
    if isinstance(given, int):
        numbers = bin_numbers(p, np.ones(len(p)), given)
        rows = [numbers == number for number in np.unique(numbers)]
        return "", [(" to ".join(f"{end:.3g}" for end in (p[one].min(), p[one].max())), y[one], p[one]) for one in rows]
    column, grades = given
    parts = [(one, y[grades == one], p[grades == one]) for one in in_order(grades)]
    return column, sorted(parts, key=lambda part: float(part[2].mean()))


def _family(
    kind: str, column: str, rows: Sequence[tuple[str, npt.NDArray[Any], Floats]],
    clusters: Sequence[npt.NDArray[np.intp] | None],
) -> list[PartTests]:  # fmt: skip
    """Return the tests of the parts of one kind and column, over all of which Holm's correction goes.

    ``clusters`` are those of the rows of each part, None where all rows are independent.
    """
    tests = [calibration_tests(y, p, groups=own) for (_, y, p), own in zip(rows, clusters, strict=True)]
    two_sided = _TWO_SIDED if clusters[0] is None else _OF_CLUSTERS
    corrected: dict[str, list[float]] = {}
    # The two tests of a group ask for different faults, so they share one family. Those of a grade ask for the same.
    for names in [two_sided] if kind != GRADE else [(name,) for name in _ONE_SIDED]:
        p = [getattr(one, name) for name in names for one in tests]
        numbers = [math.nan if value is None else value for value in holm([None if math.isnan(q) else q for q in p])]
        corrected |= {name: numbers[at * len(tests) : (at + 1) * len(tests)] for at, name in enumerate(names)}
    return [
        PartTests(kind, column, name, tests[at], {test: values[at] for test, values in corrected.items()})
        for at, (name, _, _) in enumerate(rows)
    ]


def part_title(part: PartTests, is_binary: bool) -> str:
    """Return what a table calls a part."""
    if part.kind == ALL:
        return "all rows" if is_binary else "likeliest class"
    return f"class {part.name}" if part.kind == CLASS else f"{part.column} = {part.name}" if part.column else part.name


def families(parts: Sequence[PartTests]) -> Iterator[list[PartTests]]:
    """Yield the parts that share a header: all rows, classes and groups, then the grades."""
    for is_grade in (False, True):
        if chosen := [part for part in parts if (part.kind == GRADE) == is_grade]:
            yield chosen


_NAMES = {
    "exact_p": "exact test of the number of positive rows",
    "robust_p": "test of the mean by its normal limit",
    "spiegelhalter_p": "Spiegelhalter's test",
    "c_emp_p": "test of c_emp",
}
_TESTS_OF_THE_MEAN = {"exact_p", "robust_p"}


@dataclass(frozen=True)
class Verdict:
    """Hold the answer for the probabilities in the file."""

    rejected: bool | None
    """None if calibration could not be tested."""
    sentence: str


def calibration_verdict(section: MeasuredSection, tests: Sequence[PartTests], predictions: FilePredictions) -> Verdict:
    """Return whether calibration is rejected at the 5 % level.

    ``section`` is that of all rows, and ``tests`` have theirs. Those and p(c_emp) have Holm's correction together. A
    row whose observed class had probability 0 needs no test.
    """
    if section.impossible_rows:
        rows = counted(len(section.impossible_rows))
        return Verdict(
            True,
            f"Calibration is rejected over all rows: in {rows} the observed class had predicted probability 0, which "
            "never happens to calibrated predictions, unless a file has rounded them.",
        )
    part = next((one for one in tests if one.kind == ALL), None)
    if part is None:
        reason = "single rows, and these are summarised" if isinstance(predictions, Summary) else "rows without weights"
        return Verdict(None, f"Calibration is not tested over all rows: the tests need {reason}.")
    p = _corrected(section, part)
    if not p:
        unit = "rows" if predictions.cluster is None else "clusters"
        return Verdict(None, f"Calibration is not tested over all rows: there are too few {unit}.")
    said = {name: f"{_name_of(name, predictions)} {_p_text(value)}" for name, value in p.items()}
    rejected = [name for name, value in p.items() if value <= LEVEL]
    # A wrong mean moves Spiegelhalter's statistic, too. Its sign then says how extreme they are only if the slope
    # agrees, which is that of a regression with an intercept.
    is_sign_known = _TESTS_OF_THE_MEAN.isdisjoint(rejected) or _agrees_with_slope(part.tests.spiegelhalter_z, section)
    faults = [f"{_fault(name, part, predictions, is_sign_known)} ({said[name]})" for name in rejected]
    holm_note = " The p-values have Holm's correction." if len(p) > 1 else ""
    if faults:
        return Verdict(True, f"Calibration is rejected over all rows: {', '.join(faults)}.{holm_note}")
    return Verdict(
        False,
        f"Calibration is not rejected over all rows: {', '.join(said.values())}.{holm_note} This is no proof, because "
        "few rows hide large errors.",
    )


def _agrees_with_slope(z: float, section: MeasuredSection) -> bool:
    """Return whether the interval of the calibration slope lies on the side of 1 that Spiegelhalter's z says."""
    line = section.line("slope")
    return line is not None and ((z > 0 and line.before.high < 1) or (z < 0 and line.before.low > 1))


def _corrected(section: MeasuredSection, part: PartTests) -> dict[str, float]:
    """Return the p-values of all rows that have a value, with Holm's correction."""
    line = section.line("c_emp_p")
    values = {name: getattr(part.tests, name) for name in part.corrected}
    values |= {} if line is None else {"c_emp_p": line.before.value}
    known = {name: value for name, value in values.items() if not math.isnan(value)}
    return {name: p for name, p in zip(known, holm([*known.values()]), strict=True) if p is not None}


def _name_of(test: str, predictions: FilePredictions) -> str:
    name = _NAMES[test]
    return name if predictions.is_binary else name.replace("positive rows", "rows whose likeliest class is right")


def _fault(test: str, part: PartTests, predictions: FilePredictions, is_sign_known: bool) -> str:
    tests = part.tests
    subject = "predictions" if predictions.is_binary else "probabilities of the likeliest class"
    if test == "c_emp_p":
        return "some interval of predictions has too large an error"
    if test == "spiegelhalter_p" and not is_sign_known:
        return f"the Brier score of the {subject} is not that of calibrated ones"
    if test == "spiegelhalter_p":
        return f"{subject} are {'too extreme' if tests.spiegelhalter_z > 0 else 'not extreme enough'}"
    direction = "low" if tests.mean < tests.observed else "high"
    return f"{subject} are too {direction} on average, {tests.mean:.4g} where {tests.observed:.4g} is observed"


def _p_text(p: float) -> str:
    return "p < .0001" if p < 0.0001 else f"p = {p:.4f}".replace("= 0.", "= .").replace("1.0000", "1")
