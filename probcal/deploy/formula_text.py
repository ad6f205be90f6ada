"""A fitted map of two classes as text: an SQL expression, or a function of plain Python.

The SQL has only CASE, +, -, *, /, LN and EXP, which all databases have. The function needs no package.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any

from sklearn.utils.validation import check_is_fitted

from probcal._learner_output import LARGEST_SUM_ERROR
from probcal.methods.calibrators._calibrator import Calibrator
from probcal.methods.calibrators.formula import Formula, Pieces

_HEAD = """\
# {map}: the calibrated probability of class {positive}
"""
_FUNCTION = '''
def calibrate({arguments}):
    """Return the calibrated probability of a row. {meaning}."""
    if not ({condition}):
        raise ValueError(f"the map takes no such score: {shown}")
{assignments}    return {result}
'''
_CLIP = """

def _clip(x, low, high):
    return low if x < low else high if x > high else x
"""
_POLYNOMIAL = """

def _polynomial(where, x, edges, origins, coefficients):
    place = bisect_right(edges, where)
    total = 0.0
    for coefficient in reversed(coefficients[place]):
        total = total * (x - origins[place]) + coefficient
    return total
"""


def formula_of(calibrator: Any, n_columns: int | None = None) -> Formula:
    """Return the probability of the second class as a formula of the columns of scores.

    Raises NotFittedError, TypeError for what is no map of probcal, and ValueError for more than two classes or another
    number of columns.
    """
    if not isinstance(calibrator, Calibrator):
        raise TypeError(f"{type(calibrator).__name__} is no map of probcal, so it has no formula")
    check_is_fitted(calibrator)
    if len(calibrator.classes_) > 2:
        raise ValueError(
            f"the map has {len(calibrator.classes_)} classes, and formulas are for two; use to_json and `probcal apply`"
        )
    if n_columns is not None and n_columns != calibrator.n_features_in_:
        raise ValueError(
            f"the map was fitted on {calibrator.n_features_in_} column(s) of scores, not {n_columns}; name so many"
        )
    return calibrator._formula()


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
            total, low, high = " + ".join(names), _sql_number(1 - LARGEST_SUM_ERROR), _sql_number(1 + LARGEST_SUM_ERROR)
            checks.append(f"{total} >= {low} AND {total} <= {high}")
    else:
        largest = sys.float_info.max
        checks = [f"{name} >= {_sql_number(-largest)} AND {name} <= {_sql_number(largest)}" for name in names]
    return f"CASE WHEN {' AND '.join(checks)} THEN {_sql_text(formula, names)} END"


def _sql_number(value: float) -> str:
    # with an exponent it is a double everywhere. Databases read .1 as a decimal number, and 1 as a whole one.
    text = repr(float(value))
    text = text if "e" in text else f"{text}e0"
    return f"({text})" if text.startswith("-") else text


def _sql_text(one: Formula, names: Sequence[str]) -> str:
    operands = [_sql_text(operand, names) for operand in one.operands]
    match one.operation, one.value:
        case "column", int(place):
            return names[place]
        case "number", float(value):
            return _sql_number(value)
        case "log", _:
            return f"LN({operands[0]})"
        case "exp", _:
            return f"EXP({operands[0]})"
        case "clip", (low, high):
            bounds = [f" WHEN {operands[0]} < {_sql_number(low)} THEN {_sql_number(low)}"] if low > -math.inf else []
            bounds += [f" WHEN {operands[0]} > {_sql_number(high)} THEN {_sql_number(high)}"] if high < math.inf else []
            return f"CASE{''.join(bounds)} ELSE {operands[0]} END" if bounds else operands[0]
        case "pieces", Pieces() as table:
            return _sql_search(table, operands[0], operands[1], 0, len(table.edges))
        case "-", _ if one.operands[0].value == 0:
            return f"(-{operands[1]})"
        case _:
            return f"({operands[0]} {one.operation} {operands[1]})"


def _sql_search(table: Pieces, where: str, of: str, start: int, stop: int) -> str:
    """Return a binary search among the edges from ``start`` to ``stop``, as nested CASE, so that it is not deep."""
    if start == stop:
        distance = f"({of} - {_sql_number(table.origins[start])})"
        *lower, text = [_sql_number(value) for value in table.coefficients[start]]
        for constant in reversed(lower):
            text = f"({text} * {distance} + {constant})"
        return text
    middle = (start + stop) // 2
    low = _sql_search(table, where, of, start, middle)
    high = _sql_search(table, where, of, middle + 1, stop)
    return f"CASE WHEN {where} < {_sql_number(table.edges[middle])} THEN {low} ELSE {high} END"


def map_to_python(calibrator: Any) -> str:
    """Write a fitted map of two classes as a module of plain Python with the function ``calibrate``.

    Parameters
    ----------
    calibrator : calibrator
        A fitted map, such as BetaCalibrator.

    Returns
    -------
    str
        Source text. ``calibrate`` takes the score of a row, or its two scores if the map was fitted on two columns. It
        returns the calibrated probability of the second class, and raises ValueError for what is no score of the map.

    Raises
    ------
    NotFittedError
        If the map is not fitted.
    TypeError
        If ``calibrator`` is no map of probcal.
    ValueError
        If there are more than two classes.

    See Also
    --------
    map_to_sql : Writes an SQL expression.
    map_to_onnx : Writes an ONNX graph.

    Examples
    --------
    >>> from probcal import BetaCalibrator
    >>> from probcal.deploy import map_to_python
    >>> calibrator = BetaCalibrator().fit([0.1, 0.4, 0.6, 0.9], [0, 1, 0, 1])
    >>> code = map_to_python(calibrator)
    >>> functions = {}
    >>> exec(code, functions)
    >>> abs(functions["calibrate"](0.8) - calibrator.predict_proba([0.8])[0, 1]) < 1e-12
    True
    """
    formula = formula_of(calibrator)
    two_columns = calibrator.n_features_in_ == 2
    names = ["first", "second"] if two_columns else ["score"]
    if calibrator.input == "probability":
        conditions = [f"0 <= {name} <= 1" for name in names]
        conditions += [f"abs(first + second - 1) <= {LARGEST_SUM_ERROR}"] if two_columns else []
        meaning = "The arguments are its predicted probabilities" if two_columns else "``score`` is its probability"
    else:
        conditions = [f"math.isfinite({name})" for name in names]
        meaning = "The arguments are the scores of its classes" if two_columns else "``score`` is any real number"
    body = _Body(formula, names)
    result = body.text(formula)
    # a class may be named by a stranger. As JSON its name has no line break, so it cannot end the comment.
    head = _HEAD.format(map=type(calibrator).__name__, positive=json.dumps(str(calibrator.classes_[1])))
    function = _FUNCTION.format(
        arguments=", ".join(names),
        meaning=meaning,
        condition=" and ".join(conditions),
        shown=", ".join(f"{{{name}!r}}" for name in names),
        assignments="".join(f"    {line}\n" for line in body.assignments),
        result=result,
    )
    # a reader, such as an auditor, finds nothing that the map does not use
    used = [text for name, text in (("_clip(", _CLIP), ("_polynomial(", _POLYNOMIAL)) if name in function]
    code = "".join(f"{line}\n" for line in body.constants) + "".join([function, *used])
    return head + _imports(code) + code


def _imports(code: str) -> str:
    """Return the lines that import what ``code`` uses."""
    names = [name for name in ("exp", "inf", "log") if re.search(rf"\b{name}\b", code)]
    lines = ["import math"] if "math." in code else []
    lines += ["from bisect import bisect_right"] if "bisect_right" in code else []
    lines += [f"from math import {', '.join(names)}"] if names else []
    return "".join(f"{line}\n" for line in lines) + "\n" * bool(lines)


class _Body:
    """Lines that compute a formula. What is used more than once has a variable."""

    def __init__(self, formula: Formula, names: list[str]) -> None:
        self.names = names
        self.assignments: list[str] = []
        self.constants: list[str] = []
        self._texts: dict[int, str] = {}
        self._uses: Counter[int] = Counter()
        self._count(formula)

    def _count(self, one: Formula) -> None:
        self._uses[id(one)] += 1
        if self._uses[id(one)] == 1:
            for operand in one.operands:
                self._count(operand)

    def text(self, one: Formula) -> str:
        if id(one) not in self._texts:
            text = self._written(one)
            if self._uses[id(one)] > 1 and one.operands:
                name = f"x{len(self.assignments) + 1}"
                self.assignments.append(f"{name} = {text}")
                text = name
            self._texts[id(one)] = text
        return self._texts[id(one)]

    def _written(self, one: Formula) -> str:
        operands = [self.text(operand) for operand in one.operands]
        match one.operation, one.value:
            case "column", int(place):
                return self.names[place]
            case "number", float(value):
                return repr(value) if value >= 0 else f"({value!r})"
            case "log" | "exp", _:
                return f"{one.operation}({operands[0]})"
            case "clip", (low, high):
                return f"_clip({operands[0]}, {low!r}, {high!r})"
            case "pieces", Pieces() as table:
                number = len(self.constants) // 3 + 1
                parts = {"EDGES": table.edges, "ORIGINS": table.origins, "COEFFICIENTS": table.coefficients}
                names = [f"{part}_{number}" for part in parts]
                self.constants += [
                    f"{name} = {values.tolist()!r}" for name, values in zip(names, parts.values(), strict=True)
                ]
                return f"_polynomial({', '.join([*operands, *names])})"
            case "-", _ if one.operands[0].value == 0:
                return f"(-{operands[1]})"
            case _:
                return f"({operands[0]} {one.operation} {operands[1]})"
