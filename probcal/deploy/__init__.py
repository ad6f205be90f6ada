"""Fitted maps and models outside of the program that fitted them: SQL, Python, ONNX, and a folder that loads."""

from probcal.deploy.model_folder import ExportedModel, load
from probcal.deploy.onnx_graph import map_to_onnx
from probcal.deploy.python_code import map_to_python
from probcal.deploy.sql import map_to_sql

__all__ = ["ExportedModel", "load", "map_to_onnx", "map_to_python", "map_to_sql"]
