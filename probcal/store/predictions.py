"""The labels and probabilities behind the results, stored one after the other in one file.

One file per cell would be slower than all other work of storing a result. A replaced result leaves its predictions in
the file, where nothing refers to them.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import IO, Any

import numpy as np


@cache
def _row_type(columns: tuple[int, ...], labels: tuple[int, ...], is_weighted: bool) -> np.dtype:
    """Return the type of a test row: label or labels, the probability of each class (of each label), and weight."""
    weight = [("weight", "<f8")] if is_weighted else []
    return np.dtype([("y", "<i1", labels), ("p", "<f8", labels + columns), *weight])


class Predictions:
    """Read and write the file at ``path``. Only one process may add at a time. Reading needs no lock."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: IO[bytes] | None = None

    def add(self, y: np.ndarray, p: np.ndarray, weight: np.ndarray | None = None) -> dict[str, Any]:
        """Append labels, probabilities and weights of rows, (n_test,), and return where they are, for ``read``.

        Without label axis: y has shape (n_test,) and p has shape (n_test, n_classes). With several labels: y has shape
        (n_test, n_labels) and p has shape (n_test, n_labels, 2). Results of earlier versions hold only P(y = 1), so
        their p has no axis of classes.
        """
        if self._file is None:
            self._file = self.path.open("ab")
        labels, columns = y.shape[1:], p.shape[y.ndim :]
        rows = np.empty(len(y), _row_type(columns, labels, weight is not None))
        rows["y"], rows["p"] = y, p
        if weight is not None:
            rows["weight"] = weight
        content = rows.tobytes()
        location = {"at": self._file.tell(), "rows": len(rows), "digest": _digest(content)}
        if columns:
            location["columns"] = columns[0]
        if labels:
            location["labels"] = labels[0]
        if weight is not None:
            location["weights"] = 1
        self._file.write(content)
        self._file.flush()
        return location

    def read(self, location: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray | None] | None:
        """Return (y, p, weight), bit for bit as they were added, or None when the file does not hold them any more."""
        try:
            shape = ((location[name],) if name in location else () for name in ("columns", "labels"))
            row = _row_type(*shape, "weights" in location)
            with self.path.open("rb") as file:
                n_bytes = file.seek(0, os.SEEK_END) - location["at"]
                # Reading would allocate memory for rows that are not there.
                if location["rows"] * row.itemsize > n_bytes:
                    return None
                file.seek(location["at"])
                content = file.read(location["rows"] * row.itemsize)
        except (OSError, ValueError):  # ValueError: the row is too wide for any array
            return None
        # A later run may have written other rows here, after somebody removed the file.
        if _digest(content) != location["digest"]:
            return None
        rows = np.frombuffer(content, row)
        # Copies, because a view of bytes is read-only and its numbers are not aligned.
        return rows["y"].copy(), rows["p"].copy(), rows["weight"].copy() if "weights" in location else None

    def sync(self) -> None:
        """Sync the file to disk, so that a power cut does not lose what was added."""
        if self._file is not None:
            os.fsync(self._file.fileno())

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:12]
