"""Provide small tables of the kinds that users have, as files."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.commands import probcal


def customers(n: int = 120, seed: int = 0) -> pd.DataFrame:
    """Return mixed columns. ``age`` and ``plan`` are related to ``left``."""
    random = np.random.default_rng(seed)
    age, plan = random.integers(18, 80, n), random.choice(["basic", "plus", "pro"], n)
    chance = 1 / (1 + np.exp(-(age - 60) / 8 + (plan == "basic")))
    return pd.DataFrame(
        {
            "id": [f"C{number:05d}" for number in range(n)],
            "age": age,
            "plan": plan,
            "spend": random.normal(50, 20, n).round(2),
            "since": pd.date_range("2020-01-01", periods=n).strftime("%Y-%m-%d"),
            "country": "NL",
            "left": np.where(random.random(n) < chance, "yes", "no"),
        }
    )


def exported_messy(folder: Path, *words: object, **columns: object) -> tuple[pd.DataFrame, str]:
    """Export a model of customers with German dates and amounts with a sign. Return the frame and what is printed.

    The table is ``c.csv`` in ``folder``, and the model ``model``. ``columns`` replace those of the frame.
    """
    frame = customers(200)
    frame["spend"] = [f"€ {amount:.2f}".replace(".", ",") for amount in frame["spend"]]
    frame["since"] = [f"{day[8:]}.{day[5:7]}.{day[:4]}" for day in frame["since"]]
    frame = frame.assign(**columns)
    path = written(frame, folder / "c.csv", sep=";")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        result = probcal("try", path, "-t", "left", *words, "--export", "model")
    assert result.exit_code == 0, result.output
    return frame, result.stdout


def written(frame: pd.DataFrame, path: Path, **how: object) -> Path:
    """Write the frame as CSV and return its path."""
    frame.to_csv(path, index=False, **how)
    return path


def ran(script: Path, *words: object) -> None:
    """Run a script of an export in this process, which takes a tenth of the time of another one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", [str(script), *map(str, words)])
        runpy.run_path(str(script), run_name="__main__")


def shown(path: Path, target: str = "left", *more: object) -> str:
    """Return what ``--dry-run`` prints about a table: columns and plan."""
    result = probcal("try", path, "--target", target, "--dry-run", *more)
    assert result.exit_code == 0, result.output
    return result.stdout


def line_of(column: str, text: str) -> str:
    """Return the line of one column with single blanks."""
    [line] = [line for line in text.splitlines() if line.startswith(f"  {column}  ")]
    return " ".join(line.split())
