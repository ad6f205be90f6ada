"""A fitted map of two classes as one SQL expression of CASE, +, -, *, /, LN and EXP, which all databases have."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any

from probcal._learner_output import LARGEST_SUM_ERROR
from probcal.deploy.two_classes import formula_of
from probcal.methods.calibrators.formula import Formula, Pieces


def map_to_sql(calibrator: Any, columns: Sequence[str] = ("probability",)) -> str:
    """Write a fitted map of two classes as one SQL expression.

    Parameters
    ----------
    calibrator : calibrator
        A fitted map, such as BetaCalibrator.
    columns : sequence of str, default=("probability",)
        Names of the columns of scores in the database, as many as the map was fitted on.

    Returns
    -------
    str
        The calibrated probability of the second class, in double precision. It is NULL where a score is NULL or no
        score that the map takes, such as a probability of 1.2.

    Raises
    ------
    NotFittedError
        If the map is not fitted.
    TypeError
        If ``calibrator`` is no map of probcal.
    ValueError
        If there are more than two classes, or the number of columns is not that of the fit.

    See Also
    --------
    map_to_python : Writes a function of plain Python.
    map_to_onnx : Writes an ONNX graph.

    Examples
    --------
    >>> from probcal import LogisticCalibrator
    >>> from probcal.deploy import map_to_sql
    >>> calibrator = LogisticCalibrator(clip=(0, 1)).fit([0.1, 0.4, 0.6, 0.9], [0, 0, 1, 1])
    >>> map_to_sql(calibrator, ["p"])[:40]
    'CASE WHEN "p" >= 0.0e0 AND "p" <= 1.0e0 '
    """
    formula = formula_of(calibrator, len(columns))
    names = ['"' + name.replace('"', '""') + '"' for name in columns]
    if calibrator.input == "probability":
        # CASE without ELSE is NULL. It is written as a condition that holds, so that NULL and NaN fail it.
        checks = [f"{name} >= 0.0e0 AND {name} <= 1.0e0" for name in names]
        if len(names) == 2:
            total, low, high = " + ".join(names), _number(1 - LARGEST_SUM_ERROR), _number(1 + LARGEST_SUM_ERROR)
            checks.append(f"{total} >= {low} AND {total} <= {high}")
    else:
        largest = sys.float_info.max
        checks = [f"{name} >= {_number(-largest)} AND {name} <= {_number(largest)}" for name in names]
    return f"CASE WHEN {' AND '.join(checks)} THEN {_text(formula, names)} END"


def _number(value: float) -> str:
    # with an exponent it is a double everywhere. Databases read .1 as a decimal number, and 1 as a whole one.
    text = repr(float(value))
    text = text if "e" in text else f"{text}e0"
    return f"({text})" if text.startswith("-") else text


def _text(one: Formula, names: Sequence[str]) -> str:
    operands = [_text(operand, names) for operand in one.operands]
    match one.operation, one.value:
        case "column", int(place):
            return names[place]
        case "number", float(value):
            return _number(value)
        case "log", _:
            return f"LN({operands[0]})"
        case "exp", _:
            return f"EXP({operands[0]})"
        case "clip", (low, high):
            bounds = [f" WHEN {operands[0]} < {_number(low)} THEN {_number(low)}"] if low > -math.inf else []
            bounds += [f" WHEN {operands[0]} > {_number(high)} THEN {_number(high)}"] if high < math.inf else []
            return f"CASE{''.join(bounds)} ELSE {operands[0]} END" if bounds else operands[0]
        case "pieces", Pieces() as table:
            return _search(table, operands[0], operands[1], 0, len(table.edges))
        case "-", _ if one.operands[0].value == 0:
            return f"(-{operands[1]})"
        case _:
            return f"({operands[0]} {one.operation} {operands[1]})"


def _search(table: Pieces, where: str, of: str, start: int, stop: int) -> str:
    """Return a binary search among the edges from ``start`` to ``stop``, as nested CASE, so that it is not deep."""
    if start == stop:
        distance = f"({of} - {_number(table.origins[start])})"
        *lower, text = [_number(value) for value in table.coefficients[start]]
        for constant in reversed(lower):
            text = f"({text} * {distance} + {constant})"
        return text
    middle = (start + stop) // 2
    low = _search(table, where, of, start, middle)
    high = _search(table, where, of, middle + 1, stop)
    return f"CASE WHEN {where} < {_number(table.edges[middle])} THEN {low} ELSE {high} END"
