"""The labels and probabilities behind the results, one after the other in one file.

A file for each cell would cost more than all else that is done to keep a result. What a later result of
the same cell leaves behind stays in the file; nothing refers to it.
"""

from __future__ import annotations

import hashlib
import os
from functools import cache
from pathlib import Path
from typing import IO, Any

import numpy as np


@cache
def _row(columns: tuple[int, ...], labels: tuple[int, ...]) -> np.dtype:
    """Return the type of a test row: its label or labels, and the probability of each class (of each label)."""
    return np.dtype([("y", "<i1", labels), ("p", "<f8", labels + columns)])


class Predictions:
    """The file at ``path``. Adding is for one process at a time; reading needs no lock."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: IO[bytes] | None = None

    def add(self, y: np.ndarray, p: np.ndarray) -> dict[str, Any]:
        """Append y, (n_test,), and p, (n_test, n_classes); return where they are, for ``read``.

        With several labels: y, (n_test, n_labels), and p, (n_test, n_labels, 2). Results of earlier versions have
        P(y = 1) alone, with no axis of classes.
        """
        if self._file is None:
            self._file = self.path.open("ab")
        labels, columns = y.shape[1:], p.shape[y.ndim :]
        rows = np.empty(len(y), _row(columns, labels))
        rows["y"], rows["p"] = y, p
        content = rows.tobytes()
        where = {"at": self._file.tell(), "rows": len(rows), "digest": _digest(content)}
        if columns:
            where["columns"] = columns[0]
        if labels:
            where["labels"] = labels[0]
        self._file.write(content)
        self._file.flush()
        return where

    def read(self, where: dict[str, Any]) -> tuple[np.ndarray, np.ndarray] | None:
        """(y, p), bit for bit as they were added; None when they are not there any more."""
        try:
            row = _row(*((where[name],) if name in where else () for name in ("columns", "labels")))
            with self.path.open("rb") as file:
                left = file.seek(0, os.SEEK_END) - where["at"]
                if where["rows"] * row.itemsize > left:  # else so much memory would be taken first
                    return None
                file.seek(where["at"])
                content = file.read(where["rows"] * row.itemsize)
        except (OSError, ValueError):  # ValueError: of a row too wide for any array
            return None
        if _digest(content) != where["digest"]:
            return None
        rows = np.frombuffer(content, row)
        return rows["y"].copy(), rows["p"].copy()

    def sync(self) -> None:
        """Have what was added on the disk, so that a power cut does not lose it."""
        if self._file is not None:
            os.fsync(self._file.fileno())

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:12]
