"""A fitted map of two classes as a function of plain Python, which needs no package."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from probcal._learner_output import LARGEST_SUM_ERROR
from probcal.deploy.two_classes import formula_of
from probcal.methods.calibrators.formula import Formula, Pieces

_HEAD = """\
# {map}: the calibrated probability of class {positive}
import math
from bisect import bisect_right
from math import exp, inf, log

"""
_FUNCTION = '''
def calibrate({arguments}):
    """Return the calibrated probability of a row. {meaning}."""
    if not ({condition}):
        raise ValueError(f"the map takes no such score: {shown}")
{assignments}    return {result}


def _clip(x, low, high):
    return low if x < low else high if x > high else x


def _polynomial(where, x, edges, origins, coefficients):
    place = bisect_right(edges, where)
    total = 0.0
    for coefficient in reversed(coefficients[place]):
        total = total * (x - origins[place]) + coefficient
    return total
'''


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
    return head + "".join(f"{line}\n" for line in body.constants) + function


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
