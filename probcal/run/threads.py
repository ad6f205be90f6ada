"""How many threads a cell has for its sums."""

from __future__ import annotations

import os

from threadpoolctl import threadpool_limits

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


def one_thread_each() -> None:
    """One thread for linear algebra, so that the number of processes never changes a sum's order."""
    threadpool_limits(1)
    os.environ.update(dict.fromkeys(_THREADS, "1"))  # for what a learner loads later
