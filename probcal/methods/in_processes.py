"""Fits in processes of their own."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable
from concurrent.futures import Future
from functools import lru_cache
from pathlib import Path
from typing import Any

import cloudpickle
from loky import get_reusable_executor
from threadpoolctl import threadpool_limits

_Warned = tuple[str, type[Warning], str, int]
_ENVIRONMENT = {"LOKY_MAX_MEMORY_LEAK_SIZE": "1e15"}
"""A worker that has grown is not started anew: it is a learner's memory, such as Java's, and would grow again."""


class InProcesses:
    """``fit(p)`` of thresholds in ``n`` processes."""

    in_hand = 2  # what was sent to a process cannot be taken back
    spare = 1

    def __init__(self, fit: Callable[[float], Any], n: int) -> None:
        self.n = n
        # written once: sent with every fit, the training rows would cost more than many a fit itself
        self._folder = tempfile.TemporaryDirectory(prefix="probcal-", ignore_cleanup_errors=True)
        self._path = Path(self._folder.name) / "fit"
        self._path.write_bytes(cloudpickle.dumps(fit))

    def submit(self, p: float) -> Future[Any]:
        return get_reusable_executor(max_workers=self.n, env=_ENVIRONMENT).submit(_fit, str(self._path), p)

    def result(self, fit: Future[Any]) -> Any:
        result, warned = fit.result()
        for one in warned:
            warnings.warn_explicit(*one)
        return result

    def close(self) -> None:
        self._folder.cleanup()


def _fit(path: str, p: float) -> tuple[Any, list[_Warned]]:
    with threadpool_limits(1), warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        try:
            result = _read(path)(p)
        except Exception as error:
            raise _readable(error) from None
    return result, [(str(one.message), one.category, one.filename, one.lineno) for one in given]


def _readable(error: Exception) -> Exception:
    """``error``, or what it says where it cannot be sent from one process to another."""
    try:
        cloudpickle.loads(cloudpickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


@lru_cache(maxsize=1)
def _read(path: str) -> Callable[[float], Any]:
    return cloudpickle.loads(Path(path).read_bytes())
