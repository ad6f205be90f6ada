"""Fits in other processes, started before they are needed."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import cloudpickle
from loky import get_reusable_executor
from threadpoolctl import threadpool_limits


class Step(NamedTuple):
    """A threshold that will be needed; ``guessed``: unless the rows fall elsewhere than was assumed."""

    p: float
    guessed: bool


_Warned = tuple[str, type[Warning], str, int]
_IN_HAND = 2
"""Fits a worker that are under way or waiting, so that none is idle while the next step is worked out."""
_SPARE = 1
"""Guesses that wait, for a worker that ends before the fit that the next step hangs on."""


class Ahead:
    """``fit(p)`` of thresholds in ``n_workers`` processes. What is never taken is dropped."""

    def __init__(self, fit: Callable[[float], Any], n_workers: int) -> None:
        self._n_workers = n_workers
        # written once: sent with every fit, the training rows would cost more than many a fit itself
        self._folder = tempfile.TemporaryDirectory(prefix="probcal-", ignore_cleanup_errors=True)
        self._path = Path(self._folder.name) / "fit"
        self._path.write_bytes(cloudpickle.dumps(fit))
        self._started: dict[float, Future[Any]] = {}

    def start(self, steps: Iterable[Step]) -> None:
        """Start the first of ``steps``, and as many more as keep the workers busy; of guesses fewer."""
        executor = get_reusable_executor(max_workers=self._n_workers)
        under_way = sum(not one.done() for one in self._started.values())
        for place, (p, guessed) in enumerate(islice(steps, _IN_HAND * self._n_workers)):
            most = self._n_workers + _SPARE if guessed else _IN_HAND * self._n_workers
            if p not in self._started and (place == 0 or under_way < most):
                self._started[p] = executor.submit(_fit, str(self._path), p)
                under_way += 1

    def take(self, p: float) -> Any:
        """``fit(p)``. Warns of what the fit warned of, and raises what it raised."""
        if p not in self._started:
            self.start([Step(p, guessed=False)])
        result, warned = self._started.pop(p).result()
        for one in warned:
            warnings.warn_explicit(*one)
        return result

    def close(self) -> None:
        """Drop what was not taken."""
        for one in self._started.values():
            one.cancel()
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
