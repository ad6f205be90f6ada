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
from typing import Any, NamedTuple

import cloudpickle
from loky import get_reusable_executor
from sklearn import get_config, set_config
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier
from threadpoolctl import threadpool_limits


class Step(NamedTuple):
    """Hold a threshold that will be needed. ``guessed`` is True if that depends on the predictions of earlier fits."""

    p: float
    guessed: bool


_Warned = tuple[str, type[Warning], str, int]
# Stop loky from restarting a worker that has grown. The memory belongs to a learner, such as Java's, and would grow
# again.
_ENVIRONMENT = {"LOKY_MAX_MEMORY_LEAK_SIZE": "1e15"}


class InProcesses:
    """Run ``fit(p)`` of thresholds in ``n_workers`` processes.

    ``fits_per_worker`` is the maximum number of fits started early for each worker. ``extra_guesses`` is the number of
    guessed fits beyond ``n_workers``. They keep a worker busy while the next step waits for another fit.
    """

    fits_per_worker = 2  # a fit that was sent to a process cannot be taken back
    extra_guesses = 1

    def __init__(self, fit: Callable[[float], Any], n_workers: int) -> None:
        self.n_workers = n_workers
        # written once: sending the training rows with every fit would often cost more than the fit
        self._folder = tempfile.TemporaryDirectory(prefix="probcal-", ignore_cleanup_errors=True)
        self._path = Path(self._folder.name) / "fit"
        self._path.write_bytes(cloudpickle.dumps(fit))

    def submit(self, p: float) -> Future[Any]:
        executor = get_reusable_executor(max_workers=self.n_workers, env=_ENVIRONMENT)
        future: Future[Any] = executor.submit(_fit, str(self._path), p)
        return future

    def result(self, fit: Future[Any]) -> Any:
        """Return the result of ``fit`` when it has ended. Its warnings and errors are raised again here."""
        result, warned = fit.result()
        for record in warned:
            warnings.warn_explicit(*record)
        return result

    def close(self) -> None:
        self._folder.cleanup()


def _fit(path: str, p: float) -> tuple[Any, list[_Warned]]:
    # the workers share the cores, so each has one thread of BLAS. All warnings are recorded, because the filters of the
    # calling process decide which of them are shown.
    with threadpool_limits(1), warnings.catch_warnings(record=True) as records:
        warnings.simplefilter("always")
        try:
            result = _load_function(path)(p)
        except Exception as error:
            raise _picklable(error) from None
    return result, [(str(record.message), record.category, record.filename, record.lineno) for record in records]


def _picklable(error: Exception) -> Exception:
    """Return ``error``, or a RuntimeError with its message if it cannot be pickled."""
    try:
        # also read back: an error whose __init__ takes other arguments is written without complaint
        cloudpickle.loads(cloudpickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


# a worker fits many thresholds of one problem, and then those of the next
@lru_cache(maxsize=1)
def _load_function(path: str) -> Callable[[float], Any]:
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
    """Run ``call`` on many arguments in ``n_workers`` threads. Fits are started early as in ``InProcesses``."""

    fits_per_worker = 5  # some fits take ten times as long as others, and no thread should be idle
    extra_guesses = 2

    def __init__(self, call: Callable[[Any], Any], n_workers: int) -> None:
        self.n_workers = n_workers
        self._call = call
        # each thread has its own scikit-learn settings
        self._pool = ThreadPoolExecutor(n_workers, "probcal", initializer=partial(set_config, **get_config()))
        self._exit_stack = ExitStack()
        # scikit-learn changes the filters for a moment, and with two threads the later one would leave them changed
        self._exit_stack.enter_context(warnings.catch_warnings())

    def submit(self, argument: Any) -> Future[Any]:
        return self._pool.submit(self._call, argument)

    def result(self, fit: Future[Any]) -> Any:
        return fit.result()

    def map(self, arguments: Iterable[Any]) -> Iterator[Any]:
        """Yield the results in order. Only a few results wait at a time, to save memory."""
        waiting: deque[Future[Any]] = deque()
        for argument in arguments:
            waiting.append(self.submit(argument))
            if len(waiting) > 2 * self.n_workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()

    def close(self) -> None:
        """Drop the waiting fits, and wait for the running ones to end."""
        self._pool.shutdown(cancel_futures=True)
        self._exit_stack.close()

    def __exit__(self, *_: object) -> None:
        self.close()


class SpeculativeFits:
    """Start fits in ``workers`` before they are needed. Fits that nobody takes are dropped."""

    def __init__(self, workers: InProcesses | InThreads) -> None:
        self._workers = workers
        self._started: dict[float, Future[Any]] = {}

    def start(self, steps: Iterable[Step]) -> None:
        """Start the first of ``steps``, and enough of the others to keep the workers busy.

        Fewer guessed steps are started.
        """
        workers = self._workers
        max_fits = workers.n_workers * workers.fits_per_worker
        # waiting fits were ordered with less knowledge, so the new steps go first
        self._started = {p: fit for p, fit in self._started.items() if not fit.cancel()}
        n_started = 0
        for number, (p, guessed) in enumerate(islice(steps, max_fits)):
            most = workers.n_workers + workers.extra_guesses if guessed else max_fits
            if p not in self._started and (number == 0 or n_started < most):
                self._started[p] = workers.submit(p)
            # A fit that runs already counts, or each call would start further ones.
            n_started += p in self._started

    def take(self, p: float) -> Any:
        """Return the fit of ``p``. Its warnings and errors are raised again here."""
        if p not in self._started:
            self.start([Step(p, guessed=False)])
        return self._workers.result(self._started.pop(p))

    def close(self) -> None:
        """Drop the fits that were not taken."""
        for fit in self._started.values():
            fit.cancel()
        self._workers.close()
