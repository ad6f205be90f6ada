"""Limit every test in time, and fail the run that loses a process. So each run ends, whatever a test does.

``pytest-timeout`` fails a test after its limit by a signal, and the process goes on. A signal waits for native code.
So after ``_GRACE_SECONDS`` more, ``faulthandler`` prints where each thread is and ends the process, which needs no
thread of Python. The run then names the test and starts another process.
"""

from __future__ import annotations

import faulthandler
import os
from collections.abc import Iterator
from subprocess import TimeoutExpired
from typing import Any

import pytest

_SLOW_SECONDS = 900
_GRACE_SECONDS = 10
_COLLECTION_SECONDS = 600

_limit = pytest.StashKey[float]()
_stderr = pytest.StashKey[int]()
_lost = pytest.StashKey[list[str]]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_stderr] = os.dup(2)  # now, because pytest captures the stream during a test
    config.stash[_lost] = []


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[Any]:
    faulthandler.dump_traceback_later(_COLLECTION_SECONDS, exit=True, file=session.config.stash[_stderr])
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.get_closest_marker("slow") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(_SLOW_SECONDS))


@pytest.hookimpl(optionalhook=True)
def pytest_timeout_set_timer(item: pytest.Item, settings: Any) -> None:
    item.stash[_limit] = settings.timeout


# Before each phase, because pytest lifts all limits when a phase fails
@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    _end_process_after_limit(item)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    _end_process_after_limit(item)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    _end_process_after_limit(item)


def _end_process_after_limit(item: pytest.Item) -> None:
    if limit := item.stash.get(_limit, None):
        file = item.config.stash[_stderr]
        faulthandler.dump_traceback_later(limit + _GRACE_SECONDS, exit=True, file=file)


def pytest_runtest_logfinish() -> None:
    faulthandler.cancel_dump_traceback_later()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """Note how a process of pytest-xdist ended, if it was lost."""
    if error is None:
        return
    try:
        code = node.gateway._io.popen.wait(_GRACE_SECONDS)
    except TimeoutExpired:
        code = None
    how = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
    node.config.stash[_lost].append(f"{node.gateway.id} was lost ({how})")


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    for line in config.stash[_lost]:
        terminalreporter.write_line(line)


def pytest_sessionfinish(session: pytest.Session) -> None:
    if session.config.stash[_lost] and not session.exitstatus:  # lost between two tests
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
