"""Fitted maps and models outside of the program that fitted them: SQL, Python, ONNX, and a folder that loads."""

from probcal.deploy.formula_text import map_to_python, map_to_sql
from probcal.deploy.model_folder import ExportedModel, load
from probcal.deploy.onnx_graph import map_to_onnx

__all__ = ["ExportedModel", "load", "map_to_onnx", "map_to_python", "map_to_sql"]
