"""Run the fits of thresholds in threads or processes, and start them before they are needed."""

from __future__ import annotations

import tempfile
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import cloudpickle
from loky import get_reusable_executor
from sklearn import get_config, set_config
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier
from threadpoolctl import threadpool_limits


class Step(NamedTuple):
    """Hold a threshold that will be needed. ``guessed`` is True if that depends on the predictions of earlier fits."""

    p: float
    guessed: bool


class Workers(Protocol):
    """Run ``n`` fits in parallel.

    ``in_hand`` is the maximum number of fits started early for each worker. ``spare`` is the number of guessed fits
    beyond ``n``. They keep a worker busy while the next step waits for another fit.
    """

    n: int
    in_hand: int
    spare: int

    def submit(self, p: float, /) -> Future[Any]:
        """Submit the fit of threshold ``p`` behind those submitted before."""
        ...

    def result(self, fit: Future[Any], /) -> Any:
        """Return the result of ``fit`` when it has ended. Its warnings and errors are raised again here."""
        ...

    def close(self) -> None:
        """Drop the waiting fits."""
        ...


class SpeculativeFits:
    """Start fits in ``workers`` before they are needed. Fits that nobody takes are dropped."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._started: dict[float, Future[Any]] = {}

    def start(self, steps: Iterable[Step]) -> None:
        """Start the first of ``steps``, and enough of the others to keep the workers busy.

        Fewer guessed steps are started.
        """
        n, in_hand, spare = self._workers.n, self._workers.in_hand, self._workers.spare
        # waiting fits were ordered with less knowledge, so the new steps go first
        self._started = {p: one for p, one in self._started.items() if not one.cancel()}
        begun = 0
        for place, (p, guessed) in enumerate(islice(steps, n * in_hand)):
            most = n + spare if guessed else n * in_hand
            if p not in self._started and (place == 0 or begun < most):
                self._started[p] = self._workers.submit(p)
            begun += p in self._started

    def take(self, p: float) -> Any:
        """Return the fit of ``p``. Its warnings and errors are raised again here."""
        if p not in self._started:
            self.start([Step(p, guessed=False)])
        return self._workers.result(self._started.pop(p))

    def close(self) -> None:
        """Drop the fits that were not taken."""
        for one in self._started.values():
            one.cancel()
        self._workers.close()


_Warned = tuple[str, type[Warning], str, int]
_ENVIRONMENT = {"LOKY_MAX_MEMORY_LEAK_SIZE": "1e15"}
"""Stop loky from restarting a worker that has grown. The memory belongs to a learner, such as Java's, and would grow
again.
"""


class InProcesses:
    """Run ``fit(p)`` of thresholds in ``n`` processes."""

    in_hand = 2  # a fit that was sent to a process cannot be taken back
    spare = 1

    def __init__(self, fit: Callable[[float], Any], n: int) -> None:
        self.n = n
        # written once: sending the training rows with every fit would often cost more than the fit
        self._folder = tempfile.TemporaryDirectory(prefix="probcal-", ignore_cleanup_errors=True)
        self._path = Path(self._folder.name) / "fit"
        self._path.write_bytes(cloudpickle.dumps(fit))

    def submit(self, p: float) -> Future[Any]:
        executor = get_reusable_executor(max_workers=self.n, env=_ENVIRONMENT)
        future: Future[Any] = executor.submit(_fit, str(self._path), p)
        return future

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
    """Return ``error``, or a RuntimeError with its message if it cannot be pickled."""
    try:
        cloudpickle.loads(cloudpickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


@lru_cache(maxsize=1)
def _read(path: str) -> Callable[[float], Any]:
    function: Callable[[float], Any] = cloudpickle.loads(Path(path).read_bytes())
    return function


_TREES = (DecisionTreeClassifier, ExtraTreeClassifier)


def learns_in_threads(estimator: Any) -> bool:
    """Return whether fits of ``estimator`` run in parallel in threads without disturbing each other.

    That holds for scikit-learn's trees, which release Python's lock while they grow and keep no state outside the tree.
    A learner can declare it by an attribute ``learns_in_threads``. A subclass must declare it again.
    """
    kind = type(estimator)
    return kind in _TREES or bool("learns_in_threads" in vars(kind) and estimator.learns_in_threads)


class InThreads(AbstractContextManager["InThreads"]):
    """Run ``call`` on many arguments in ``n`` threads."""

    in_hand = 5  # some fits take ten times as long as others, and no thread should be idle
    spare = 2

    def __init__(self, call: Callable[[Any], Any], n: int) -> None:
        self.n = n
        self._call = call
        # each thread has its own scikit-learn settings
        self._pool = ThreadPoolExecutor(n, "probcal", initializer=partial(set_config, **get_config()))
        self._held = ExitStack()
        # scikit-learn changes the filters for a moment, and with two threads the later one would leave them changed
        self._held.enter_context(warnings.catch_warnings())

    def submit(self, one: Any) -> Future[Any]:
        return self._pool.submit(self._call, one)

    def result(self, fit: Future[Any]) -> Any:
        return fit.result()

    def map(self, many: Iterable[Any]) -> Iterator[Any]:
        """Yield the results in order. Only a few results wait at a time, to save memory."""
        waiting: deque[Future[Any]] = deque()
        for one in many:
            waiting.append(self.submit(one))
            if len(waiting) > 2 * self.n:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()

    def close(self) -> None:
        """Drop the waiting fits, and wait for the running ones to end."""
        self._pool.shutdown(cancel_futures=True)
        self._held.close()

    def __exit__(self, *_: object) -> None:
        self.close()
