"""Provide a small experiment file and the faults that changes of it cause."""

from __future__ import annotations

from pathlib import Path

import pytest

from probcal.config.experiment import Experiment, read_experiment
from probcal.errors import FileProblems

SOUND = """\
name: small
datasets: [wine-first]
learners:
  tree: {params: {max_depth: 3}}
  nb: {type: kernel_nb}
methods: [direct, probing]
combinations:
  tree: [direct, {probing: {weighting: rejection}}]
metrics: [rms, auc]
"""

Faults = list[tuple[int, str]]


def written(tmp_path: Path, *changes: tuple[str, str], more: str = "") -> Path:
    """Write the sound file with each ``(old, new)`` changed and with ``more`` at its end."""
    text = SOUND
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    path = tmp_path / "small.yaml"
    path.write_text(text + more, encoding="utf-8")
    return path


def experiment(tmp_path: Path, *changes: tuple[str, str], more: str = "") -> Experiment:
    """Return the experiment of the changed file."""
    return read_experiment(written(tmp_path, *changes, more=more))


def faults(tmp_path: Path, *changes: tuple[str, str], more: str = "") -> Faults:
    """Return line and message of each fault of the changed file."""
    with pytest.raises(FileProblems) as caught:
        experiment(tmp_path, *changes, more=more)
    return [(problem.line, problem.message) for problem in caught.value.problems]


def the_fault(tmp_path: Path, *changes: tuple[str, str], more: str = "") -> tuple[int, str]:
    """Return the only fault. More than one would report the same thing twice."""
    [fault] = faults(tmp_path, *changes, more=more)
    return fault
