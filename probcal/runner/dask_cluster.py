"""Where the cells of a run go: a Dask cluster that runs already, or one started here for this run alone.

The address of a Dask scheduler: refused before anything tries it, for to some Dask answers with pages of its own.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from probcal.errors import ProbcalError

if TYPE_CHECKING:
    from distributed import Client


_ADDRESS = re.compile(r"(?:([a-z]+)://)?(?:\[[0-9a-fA-F:.]+\]|[^\s:/]+):\d+")
_USUAL = 'write "tcp://host:8786"'


def address_fault(address: str) -> str:
    """Why no scheduler can be reached at ``address`` from here, and what to do; empty when one can be tried."""
    found = _ADDRESS.fullmatch(address)
    if found is None:
        return f"is not an address; {_USUAL}"
    scheme = found[1] or "tcp"
    return _scheme_fault(scheme) or _security_fault(scheme)


def _scheme_fault(scheme: str) -> str:
    from distributed.comm.registry import get_backend

    if scheme == "inproc":
        return f"is an address within one process; {_USUAL}"
    try:
        get_backend(scheme).get_connector()
    except Exception as error:  # of a package that brings this way: one that is not there fails as it likes
        return f"cannot be used: Dask here has no way of talking by {scheme}:// ({error}); {_USUAL}"
    return ""


def _security_fault(scheme: str) -> str:
    from distributed.security import Security

    try:
        known = Security().get_connection_args("client")
    except (OSError, ValueError) as error:
        return f"cannot be used: the certificates that Dask's configuration names cannot be read ({error})"
    if scheme == "tls" and known["ssl_context"] is None:
        return (
            "needs certificates: name them in Dask's configuration, as ca-file and client.cert and client.key of"
            " distributed.comm.tls"
        )
    if scheme == "tcp" and known["require_encryption"]:
        return "is without encryption, which Dask's configuration requires; write tls:// for tcp://"
    return ""


_AT_FIRST, _AGAIN = 5.0, 60.0
"""Seconds to wait for a scheduler: one that was never seen, and one that was there before."""


@dataclass(frozen=True)
class Cluster:
    """``scheduler``: the address of one that runs; None: one of ``workers`` processes here."""

    scheduler: str | None
    workers: int = 0

    @classmethod
    def asked_for(cls, scheduler: str | None, workers: int | None, jobs: int | None) -> Cluster | None:
        """What the flags of the command line ask for; None is one that was not given.

        Raises ProbcalError when more than one was given, Dask is not installed or the address cannot be one.
        """
        ways = {"-j": jobs, "--workers": workers, "--scheduler": scheduler}
        given = [flag for flag, value in ways.items() if value is not None]
        if len(given) > 1:
            raise ProbcalError(f"{' and '.join(given)} are different ways to run cells; give one of them")
        if scheduler is None and workers is None:
            return None
        cluster = cls(scheduler, workers or 0)
        cluster.refuse_if_it_cannot_be()
        return cluster

    def refuse_if_it_cannot_be(self) -> None:
        """Raises ProbcalError when Dask is not installed or the address cannot be one."""
        try:
            import distributed  # noqa: F401
        except ImportError as error:
            flag = "--scheduler" if self.scheduler else "--workers"
            raise ProbcalError(f'{flag} needs Dask ({error}): pip install "probcal[dask]"') from None
        if self.scheduler is not None and (fault := address_fault(self.scheduler)):
            raise ProbcalError(f"--scheduler {self.scheduler!r} {fault}")

    def told(self) -> dict[str, Any]:
        """For the record of the run."""
        return {"scheduler": self.scheduler} if self.scheduler else {"workers": self.workers}

    @contextmanager
    def running(self) -> Iterator[Running]:
        """The cluster at work; one of our own ends with it. Raises ProbcalError when it is not to be reached."""
        _silence()
        if self.scheduler is not None:
            with self._client(self.scheduler, _AT_FIRST) as client:
                cells = sum(client.nthreads().values())
            yield Running(self.scheduler, cells, self._client)
            return
        from distributed import LocalCluster

        # Its workers are threads of this process, for each has its cells run in a process of their own
        with (
            TemporaryDirectory() as folder,
            LocalCluster(
                n_workers=self.workers,
                threads_per_worker=1,
                processes=False,
                dashboard_address=None,
                memory_limit=0,
                local_directory=folder,
                silence_logs=logging.CRITICAL,
            ) as ours,
        ):
            yield Running(ours.scheduler_address, self.workers, self._client)

    @contextmanager
    def _client(self, address: str, patience: float) -> Iterator[Client]:
        from distributed import Client

        try:
            client = Client(address, timeout=patience, set_as_default=False)
        except (OSError, ValueError) as error:
            after = "" if patience == _AT_FIRST else "; finished cells are kept, the same command goes on from there"
            raise ProbcalError(f"no Dask scheduler answers at {address}: {error}{after}") from None
        try:
            yield client
        finally:
            with suppress(Exception):  # of a scheduler that is gone
                client.close(timeout=5)


def _silence() -> None:
    """A cluster that goes is nothing out of the way here: what there is to say of it we say ourselves."""
    of_dask = [name for name in logging.root.manager.loggerDict if name.partition(".")[0] == "distributed"]
    for name in ("distributed", *of_dask, "tornado.application", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL)


@dataclass(frozen=True)
class Running:
    """A cluster that was reached at ``address``, and could take ``cells`` at a time then."""

    address: str
    cells: int
    _client: Callable[[str, float], AbstractContextManager[Client]]

    def connected(self, before: bool) -> AbstractContextManager[Client]:
        """A client of it. ``before``: it was connected before and may be starting again."""
        return self._client(self.address, _AGAIN if before else _AT_FIRST)
