"""Fitted maps where the scores are: SQL, plain Python and ONNX, and tables that ``probcal apply`` calibrates."""

from probcal.deploy.onnx_graph import map_to_onnx
from probcal.deploy.python_code import map_to_python
from probcal.deploy.sql import map_to_sql

__all__ = ["map_to_onnx", "map_to_python", "map_to_sql"]
