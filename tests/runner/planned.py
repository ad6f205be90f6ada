"""Provide planned cells of a real experiment, for tests that count and time cells."""

from __future__ import annotations

from pathlib import Path

from probcal.config.experiment import parse_experiment
from probcal.runner.cell import PlannedCell, list_cells
from probcal.yaml_file import YamlFile

CONFIG = """
name: timed
repeats: 50
datasets: [wine-first, digits-odd]
learners: [tree, gaussian_nb]
methods: [direct, sigmoid]
"""


def planned(*expected: float | None, dataset: str = "wine-first", learner: str = "tree", method: str = "direct"):
    """Return one repetition for each of the ``expected`` seconds. None is a cell that was never timed."""
    cells = [
        cell
        for cell in list_cells(parse_experiment(YamlFile(Path("timed.yaml"), CONFIG)))
        if (cell.dataset, cell.column.learner.name, cell.column.method.name) == (dataset, learner, method)
    ]
    return [
        PlannedCell(cell, {}, "to run", expected_seconds=seconds)
        for cell, seconds in zip(cells, expected, strict=False)
    ]
