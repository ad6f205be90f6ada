"""A small experiment file, and what is wrong with it once it is changed."""

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
    """The sound file with each ``(old, new)`` changed and ``more`` at its end."""
    text = SOUND
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    path = tmp_path / "small.yaml"
    path.write_text(text + more, encoding="utf-8")
    return path


def experiment(tmp_path: Path, *changes: tuple[str, str], more: str = "") -> Experiment:
    return read_experiment(written(tmp_path, *changes, more=more))


def faults(tmp_path: Path, *changes: tuple[str, str], more: str = "") -> Faults:
    with pytest.raises(FileProblems) as caught:
        experiment(tmp_path, *changes, more=more)
    return [(problem.line, problem.message) for problem in caught.value.problems]


def the_fault(tmp_path: Path, *changes: tuple[str, str], more: str = "") -> tuple[int, str]:
    """The one fault: more than one would be the same thing told twice."""
    [fault] = faults(tmp_path, *changes, more=more)
    return fault
