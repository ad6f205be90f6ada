"""A fitted map of two classes as an ONNX graph of float64, which onnxruntime and others run."""

from __future__ import annotations

from typing import Any

import numpy as np

from probcal._learner_output import LARGEST_SUM_ERROR
from probcal.deploy.formula_text import formula_of
from probcal.errors import require
from probcal.methods.calibrators.formula import Formula, Pieces

_OPSET, _IR_VERSION = 17, 8
"""Of ONNX 1.12 (2022). Every runtime since then runs them."""
_OPERATORS = {"+": "Add", "-": "Sub", "*": "Mul", "/": "Div", "log": "Log", "exp": "Exp"}


def map_to_onnx(calibrator: Any) -> bytes:
    """Write a fitted map of two classes as an ONNX graph.

    Parameters
    ----------
    calibrator : calibrator
        A fitted map, such as BetaCalibrator. VennAbersCalibrator has no graph.

    Returns
    -------
    bytes
        A model of ONNX. Its input ``scores`` is of type float64 and shape (n_rows, n_columns), with the columns of the
        fit. Its output ``probabilities`` is of type float64 and shape (n_rows, 2), in the order of the classes. Both
        are NaN where a row has no score that the map takes.

    Raises
    ------
    NotFittedError
        If the map is not fitted.
    ImportError
        If the package onnx is missing.
    TypeError
        If ``calibrator`` is no map of probcal.
    ValueError
        If there are more than two classes, or the map is a VennAbersCalibrator.

    See Also
    --------
    map_to_sql : Writes an SQL expression.
    map_to_python : Writes a function of plain Python.

    Examples
    --------
    >>> from probcal import BetaCalibrator
    >>> from probcal.deploy import map_to_onnx
    >>> calibrator = BetaCalibrator().fit([0.1, 0.4, 0.6, 0.9], [0, 1, 0, 1])
    >>> graph = map_to_onnx(calibrator)  # doctest: +SKIP
    """
    formula = formula_of(calibrator)
    if type(calibrator).__name__ == "VennAbersCalibrator":
        raise ValueError(
            "VennAbersCalibrator has no ONNX graph, which would compare each row with each score of the fit; write SQL "
            "or Python"
        )
    require("onnx", "an ONNX graph")
    import onnx
    from onnx import TensorProto, helper

    graph = _Graph()
    n_columns = calibrator.n_features_in_
    columns = [graph.add("Gather", ["scores", graph.constant(place, np.int64)], axis=1) for place in range(n_columns)]
    positive = graph.formula(formula, columns)
    negative = graph.add("Sub", [graph.constant(1.0), positive])
    both = graph.add("Concat", [graph.column(negative), graph.column(positive)], axis=1)
    is_valid = graph.column(_validity(graph, columns, calibrator.input == "probability"))
    graph.add("Where", [is_valid, both, graph.constant(np.nan)], output="probabilities")
    shapes = [("scores", n_columns), ("probabilities", 2)]
    inputs, outputs = (
        [helper.make_tensor_value_info(name, TensorProto.DOUBLE, ["n_rows", width])] for name, width in shapes
    )
    model = helper.make_model(
        helper.make_graph(graph.nodes, type(calibrator).__name__, inputs, outputs, graph.constants),
        opset_imports=[helper.make_opsetid("", _OPSET)],
        ir_version=_IR_VERSION,
        producer_name="probcal",
    )
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString())


def _validity(graph: _Graph, columns: list[str], of_probability: bool) -> str:
    """Add what tells whether the map takes the scores of a row. A comparison with NaN is false."""
    low, high = (0.0, 1.0) if of_probability else (-np.finfo(np.float64).max, np.finfo(np.float64).max)
    ranges = [(name, low, high) for name in columns]
    if of_probability and len(columns) == 2:
        ranges.append((graph.add("Add", columns), 1 - LARGEST_SUM_ERROR, 1 + LARGEST_SUM_ERROR))
    checks = []
    for name, low, high in ranges:
        checks.append(graph.add("GreaterOrEqual", [name, graph.constant(low)]))
        checks.append(graph.add("LessOrEqual", [name, graph.constant(high)]))
    valid, *others = checks
    for check in others:
        valid = graph.add("And", [valid, check])
    return valid


class _Graph:
    """Nodes and constants of a graph. Each method adds a node and returns the name of its output."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self._names: dict[int, str] = {}

    def add(self, operator: str, inputs: list[str], output: str | None = None, **attributes: Any) -> str:
        from onnx import helper

        name = output or f"n{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [name], **attributes))
        return name

    def constant(self, value: Any, dtype: Any = np.float64) -> str:
        from onnx import numpy_helper

        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value, dtype=dtype), name))
        return name

    def column(self, vector: str) -> str:
        return self.add("Unsqueeze", [vector, self.constant([1], np.int64)])

    def formula(self, one: Formula, columns: list[str]) -> str:
        if id(one) not in self._names:
            self._names[id(one)] = self._node(one, columns)
        return self._names[id(one)]

    def _node(self, one: Formula, columns: list[str]) -> str:
        operands = [self.formula(operand, columns) for operand in one.operands]
        match one.operation, one.value:
            case "column", int(place):
                return columns[place]
            case "number", float(value):
                return self.constant(value)
            case "clip", (low, high):
                return self.add("Clip", [operands[0], self.constant(low), self.constant(high)])
            case "pieces", Pieces() as table:
                return self._pieces(table, *operands)
            case _:
                return self.add(_OPERATORS[one.operation], operands)

    def _pieces(self, table: Pieces, where: str, of: str) -> str:
        reached = self.add("GreaterOrEqual", [self.column(where), self.constant(table.edges)])
        counted = self.add("Cast", [reached], to=7)  # the number of int64
        place = self.add("ReduceSum", [counted, self.constant([1], np.int64)], keepdims=0)
        distance = self.add("Sub", [of, self.add("Gather", [self.constant(table.origins), place])])
        *lower, total = [self.add("Gather", [self.constant(one), place]) for one in table.coefficients.T]
        for coefficient in reversed(lower):
            total = self.add("Add", [self.add("Mul", [total, distance]), coefficient])
        return total
