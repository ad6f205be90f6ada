"""Run the tests marked ``java`` in a second process of pytest, so that a crash of Java ends one test and no others.

The second process starts at the first such test, gets one test at a time, and is started anew after a crash. The
fixtures of these tests are set up there only. Those of a session are set up once, and all others for each test.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any

import pytest

_VARIABLE = "PROBCAL_JAVA_TESTS"
"""Variable of the second process: the file number of its connection to the first one."""
_GRACE_SECONDS = 30
"""How much longer than a test's limit the first process waits. The second process knows where its test hangs."""
_LONGEST_OUTPUT = 10_000

_second = pytest.StashKey["SecondProcess"]()
_limit = pytest.StashKey[float]()
_blamed = pytest.StashKey[bool]()


class SecondProcess:
    """Hold the process of the Java tests. ``run`` starts it where it does not run."""

    def __init__(self) -> None:
        self._environment = dict(os.environ)  # before fixtures change it
        self._process: subprocess.Popen[bytes] | None = None

    def run(self, item: pytest.Item) -> None:
        """Run one test there. Raise here what became of it there."""
        if self._process is None:
            self._start(item.session)
        start, reports = os.fstat(self._output.fileno()).st_size, None
        try:
            self._connection.send(item.nodeid)
            limit = item.stash.get(_limit, None)
            if self._connection.poll(limit and limit + _GRACE_SECONDS):
                reports = self._connection.recv()
        except (EOFError, OSError):
            pass
        finally:
            if reports is None:
                how = self.end(start)
        if reports is None:
            pytest.fail(f"the process of the Java tests was lost in this test: {how}", pytrace=False)
        for data in reports:
            report = item.config.hook.pytest_report_from_serializable(config=item.config, data=data)
            if hasattr(report, "wasxfail"):
                pytest.xfail(report.wasxfail)
            if report.skipped:
                pytest.skip(report.longrepr[2].removeprefix("Skipped: "))
            if report.failed:
                pytest.fail(f"{report.when} in the process of the Java tests\n{report.longreprtext}", pytrace=False)

    def end(self, start: int = 0) -> str:
        """End the process. Return how it ended, and its output from ``start`` on."""
        if self._process is None:
            return ""
        self._connection.close()  # which ends a process that waits for a test
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(10)
        self._process.kill()
        code, self._process = self._process.wait(), None
        with self._output:
            text = os.pread(self._output.fileno(), _LONGEST_OUTPUT, start).decode(errors="replace")
        return f"{signal.Signals(-code).name if code < 0 else f'exit code {code}'}\n{text}"

    def _start(self, session: pytest.Session) -> None:
        config = session.config
        files = dict.fromkeys(str(item.path) for item in session.items if item.get_closest_marker("java"))
        plugins = ["-p", "no:xdist", "-p", "no:cacheprovider"]
        limit = config.getoption("timeout", None)
        self._connection, theirs = Pipe()
        self._output = tempfile.TemporaryFile()  # noqa: SIM115  # until the process has ended
        self._process = subprocess.Popen(
            [sys.executable, "-m", "pytest", *plugins, "-s", "-m", "java", "-c", str(config.inipath)]
            + ([] if limit is None else ["--timeout", str(limit)])
            + list(files),
            cwd=config.rootpath,
            env=self._environment | {_VARIABLE: str(theirs.fileno()), "PYTEST_ADDOPTS": ""},
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=self._output,
            stderr=self._output,
        )
        theirs.close()


class Server:
    """Run the tests that the first process names, and send it their reports."""

    def __init__(self, connection: Connection) -> None:
        os.set_inheritable(connection.fileno(), False)  # so that the first process notices the end of this one
        self._connection = connection
        self._reports: list[dict[str, Any]] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._reports.append(self._config.hook.pytest_report_to_serializable(config=self._config, report=report))

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self._config = session.config
        items = {item.nodeid: item for item in session.items}
        with suppress(EOFError):  # the first process has no more tests
            while True:
                item = items[self._connection.recv()]
                self._reports = []
                # fixtures of the whole session stay
                item.ihook.pytest_runtest_protocol(item=item, nextitem=session)
                self._connection.send(self._reports)
        return True


def pytest_configure(config: pytest.Config) -> None:
    if number := os.environ.pop(_VARIABLE, None):
        config.pluginmanager.register(Server(Connection(int(number))))
    elif sys.platform != "win32":  # where a process inherits no connection, Java runs beside the other tests
        config.stash[_second] = SecondProcess()


def _runs_there(item: pytest.Item) -> bool:
    return _second in item.config.stash and item.get_closest_marker("java") is not None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if _runs_there(item):
            item.setup = lambda: None  # type: ignore[method-assign]
            item.runtest = partial(config.stash[_second].run, item)  # type: ignore[method-assign]


@pytest.hookimpl(tryfirst=True, optionalhook=True)
def pytest_timeout_set_timer(item: pytest.Item, settings: Any) -> bool | None:
    if not _runs_there(item):
        return None
    item.stash[_limit] = settings.timeout
    return True  # no timer here


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    yield
    jpype = sys.modules.get("jpype")
    if _second in item.config.stash and not item.config.stash.get(_blamed, False) and jpype and jpype.isJVMStarted():
        item.config.stash[_blamed] = True
        pytest.fail("it starts Java in the process of other tests; mark it with pytest.mark.java", pytrace=False)


def pytest_sessionfinish(session: pytest.Session) -> None:
    if second := session.config.stash.get(_second, None):
        second.end()
