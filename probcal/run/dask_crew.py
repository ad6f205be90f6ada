"""The workers of a Dask cluster that may have cells of a run: those that were looked at and found fit."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Callable
from typing import Any

import cloudpickle
from distributed import Client, Future
from distributed.scheduler import KilledWorker

from probcal.errors import ProbcalError
from probcal.run import dask_versions
from probcal.run.dask_jobs import Check
from probcal.run.dask_versions import differences, versions_here
from probcal.run.dask_worker import Answer, do
from probcal.run.lost import how_it_ended

PATIENCE = 60.0
"""Seconds for an answer that is there to be brought; its worker may have died since."""
_numbers = itertools.count()


class Crew:
    """``fit``: address -> cells it takes at a time, of every worker that is there and may have some.

    ``ended`` is called with the future of a check, when it has ended; it belongs to ``heard``.
    """

    def __init__(
        self,
        client: Client,
        check: Check,
        versions: dict[str, str],
        run: str,
        ended: Callable[[Future], Any],
        say: Callable[[str], None],
    ) -> None:
        self.fit: dict[str, int] = {}
        self._client, self._run, self._ended, self._say = client, run, ended, say
        self._check, self._versions = pickle.dumps(check), versions
        self._there: dict[str, int] = {}
        self._checks: dict[Future, str] = {}
        self._refused: dict[str, str] = {}
        self._told_that_none = self._had_some = False

    def look(self) -> None:
        """See who is there. Raises OSError when the scheduler does not answer, ProbcalError when none is fit."""
        self._there = dict(self._client.nthreads())
        self.fit = {address: cells for address, cells in self.fit.items() if address in self._there}
        for future, address in list(self._checks.items()):
            if address not in self._there:  # it would wait for that worker for ever
                del self._checks[future]
                self._client.cancel([future], force=True)
        known = {*self.fit, *self._refused, *self._checks.values()}
        new = [address for address in self._there if address not in known]
        for address, found in self._versions_of(new).items():
            if not isinstance(found, dict):
                continue  # it is gone again, or will be asked again
            if others := differences(found, self._versions):
                self._refuse(address, "; ".join(others))
            else:
                self._begin_check(address)
        self._see_that_some_are_fit()

    def is_check(self, future: Future) -> bool:
        return future in self._checks

    def heard(self, future: Future) -> None:
        """Take in what a check found."""
        address = self._checks.pop(future)
        if future.status == "error":
            error = future.exception()
            if not isinstance(error, KilledWorker):  # which is gone, and no longer looked at
                self._refuse(address, f"it cannot be checked: {type(error).__name__}: {error}")
            return
        answer: Answer = future.result(timeout=PATIENCE)
        if answer.how == "died":
            said = answer.printed.strip() or "its log says more"
            self._refuse(address, f"it cannot be checked: {how_it_ended(answer.exitcode)}; {said}")
        elif answer.how == "done" and (faults := pickle.loads(answer.said)):
            self._refuse(address, "; ".join(faults))
        elif answer.how == "done" and address in self._there:
            self.fit[address] = self._there[address]
        self._see_that_some_are_fit()

    def _versions_of(self, addresses: list[str]) -> dict[str, Any]:
        if not addresses:
            return {}
        cloudpickle.register_pickle_by_value(dask_versions)
        try:
            return self._client.run(versions_here, list(self._versions), workers=addresses, on_error="return")  # type: ignore[no-any-return]
        finally:
            cloudpickle.unregister_pickle_by_value(dask_versions)

    def _begin_check(self, address: str) -> None:
        key = f"probcal-check-{self._run}-{next(_numbers)}"
        future = self._client.submit(
            do, self._check, self._run, key=key, workers=[address], allow_other_workers=False, pure=False
        )
        self._checks[future] = address
        future.add_done_callback(self._ended)

    def _refuse(self, address: str, why: str) -> None:
        self._refused[address] = why
        self._say(f"worker {address} is refused: {why}")

    def _see_that_some_are_fit(self) -> None:
        if self.fit or self._checks:
            self._told_that_none, self._had_some = False, self._had_some or bool(self.fit)
        elif self._there and not self._had_some and self._there.keys() <= self._refused.keys():
            raise ProbcalError("no worker of the cluster is fit for this run; why is said above")
        elif not self._told_that_none:
            self._told_that_none = True
            self._say("no worker is there yet; waiting for one to join (Ctrl-C ends the run)")
