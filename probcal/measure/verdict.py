"""Whether calibration is rejected over all rows: one answer and one sentence, from the tests of all rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from probcal._io import counted
from probcal.analysis.hypothesis_tests import holm
from probcal.measure.measured_part import MeasuredSection
from probcal.measure.part_tests import ALL, LEVEL, PartTests
from probcal.measure.summary import Summary
from probcal.reading.prediction_file import FilePredictions

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
