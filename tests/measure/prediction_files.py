"""Provide small prediction files and a function that reads them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from probcal.reading.prediction_file import FilePredictions, PredictionsRequest, read_predictions


def two_classes(n: int = 200, seed: int = 0) -> pd.DataFrame:
    """Return overconfident predictions ``p`` of ``y``, with a group and a weight."""
    random = np.random.default_rng(seed)
    z = random.normal(size=n)
    return pd.DataFrame(
        {
            "id": [f"r{number}" for number in range(n)],
            "p": (1 / (1 + np.exp(-2.5 * z))).round(6),
            "y": (random.random(n) < 1 / (1 + np.exp(-z))).astype(int),
            "sex": random.choice(["F", "M"], n),
            "w": random.integers(1, 4, n),
        }
    )


def three_classes(n: int = 150, seed: int = 0) -> pd.DataFrame:
    """Return probabilities of three labels with three digits, so that some rows do not sum to 1."""
    random = np.random.default_rng(seed)
    p = random.dirichlet([1, 1, 1], n)
    labels = [random.choice(["cat", "cow", "dog"], p=row) for row in p]
    return pd.DataFrame({"p_dog": p[:, 2], "p_cat": p[:, 0], "p_cow": p[:, 1], "y": labels}).round(3)


def written(frame: pd.DataFrame | str, path: Path, **how: object) -> Path:
    if isinstance(frame, str):
        path.write_text(frame, encoding="utf-8")
    else:
        frame.to_csv(path, index=False, **how)
    return path


def read(path: Path, *probability: str, target: str = "y", **more: object) -> FilePredictions:
    return read_predictions(PredictionsRequest(str(path), probability or ("p",), target, **more))


def read_table(table: pd.DataFrame | str, folder: Path, *probability: str, **more: object) -> FilePredictions:
    """Return what is read from a table that is written to ``a.csv`` in a folder."""
    return read(written(table, folder / "a.csv"), *probability, **more)
