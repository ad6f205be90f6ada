"""Locks that one process holds at a time, on this machine or another, and that end with their process.

The kernel keeps a lock (``flock``) on an open file. Whatever ends the process ends the lock, and the file stays. Its
text names the holder. Where a file system has no such locks, a second file is the lock. It ends only when its holder
removes it, so a message names it and says when you may remove it.
"""

from __future__ import annotations

import errno
import json
import os
import socket
import sys
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

if sys.platform == "win32":
    import msvcrt
else:
    try:
        import fcntl
    except ModuleNotFoundError:  # a system without such locks
        fcntl = None  # type: ignore[assignment]

_NO_LOCKS = (errno.ENOSYS, errno.EOPNOTSUPP)
"""Answers of a file system that has no locks. ENOLCK is no such answer: others may hold locks there."""
_HELD = (errno.EDEADLK, errno.EACCES) if sys.platform == "win32" else (errno.EWOULDBLOCK, errno.EAGAIN)
_FLAGS = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
"""Never wait for the other end of a pipe, and never follow a link."""
_PROBE_SECONDS, _POLL_SECONDS = 0.3, 0.02
"""``FileLock.holder`` holds a free lock for an instant, so a lock that seems held is tried again for a while."""
_LOCKED_BYTE, _MOST_BYTES = 1 << 30, 1000
"""Windows locks this byte, far behind the text, so that others can read the text."""
_MARKER = ".held"


class Holder(NamedTuple):
    """Name the process that holds a lock. All parts are empty where it could not write them."""

    pid: int = 0
    host: str = ""
    since: str = ""

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host} since {self.since}" if self.pid else "a process of unknown name"


class HeldError(Exception):
    """Report that another process holds the lock."""

    def __init__(self, holder: Holder, marker: Path | None = None) -> None:
        super().__init__(str(holder))
        self.holder = holder
        self.marker = marker
        """The file to remove once the holder has ended, None where the lock ends with its process."""


class FileLock:
    """Hold the lock of the file ``path`` from ``acquire`` to ``release``. The folder of ``path`` must exist."""

    def __init__(self, path: Path) -> None:
        self._path, self._marker = path, path.with_name(path.name + _MARKER)
        self._descriptor: int | None = None
        self._has_marker = False

    def acquire(self, seconds: float = _PROBE_SECONDS, *, markers: bool = True) -> None:
        """Take the lock, and try for ``seconds``. Without ``markers``, no second file replaces missing locks.

        Raises HeldError when another process has it, and OSError with the path when the file cannot be made or locked.
        """
        deadline = time.monotonic() + seconds
        while not self._try_once(markers, is_last_try=time.monotonic() >= deadline):
            time.sleep(_POLL_SECONDS)

    def release(self) -> None:
        """Give the lock back. Without a lock this does nothing."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            # Who finds the lock taken again must not read this name before the new holder has written its own.
            with suppress(OSError):
                os.ftruncate(descriptor, 0)
            with suppress(OSError):
                # A fork of this process may have the file open for longer, and the lock would end with it only.
                _unlock(descriptor)
            os.close(descriptor)
        self._remove_marker()

    def holder(self) -> Holder | None:
        """Return who holds the lock now, and None where nobody does. Nothing is written.

        Raises OSError when this cannot be told: without the file, or where the file system has no locks.
        """
        descriptor = os.open(self._path, os.O_RDONLY | _FLAGS)
        try:
            _lock(descriptor, shared=True)
        except OSError as error:
            if error.errno not in _HELD:
                raise
            return _read_holder(descriptor)
        finally:
            os.close(descriptor)
        return None

    def _try_once(self, markers: bool, *, is_last_try: bool) -> bool:
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | _FLAGS, 0o666)
        try:
            try:
                _lock(descriptor)
            except OSError as error:
                if error.errno in _HELD:
                    if is_last_try:
                        raise HeldError(_read_holder(descriptor)) from None
                    os.close(descriptor)
                    return False
                if error.errno not in _NO_LOCKS or not markers:
                    # The error of a descriptor does not name the file.
                    raise OSError(error.errno, error.strerror, str(self._path)) from None
                self._make_marker()
            # The file was removed after it was opened. Others make a new one and lock that.
            if os.fstat(descriptor).st_nlink == 0:
                self._remove_marker()
                os.close(descriptor)
                return False
            if not self._has_marker and self._marker.exists():  # of a machine that sees no locks here
                self._refuse_marker()
            with suppress(OSError):  # a full disk
                os.ftruncate(descriptor, 0)
                os.write(descriptor, _own_text())
        except BaseException:
            # An interruption, too, must not leave a marker, which nothing else removes.
            self._remove_marker()
            os.close(descriptor)
            raise
        self._descriptor = descriptor
        return True

    def _remove_marker(self) -> None:
        if self._has_marker:
            self._has_marker = False
            self._marker.unlink(missing_ok=True)

    def _make_marker(self) -> None:
        try:
            descriptor = os.open(self._marker, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FLAGS, 0o666)
        except FileExistsError:
            self._refuse_marker()
        self._has_marker = True
        with suppress(OSError):
            os.write(descriptor, _own_text())
        os.close(descriptor)

    def _refuse_marker(self) -> None:
        holder = Holder()
        with suppress(OSError):
            descriptor = os.open(self._marker, os.O_RDONLY | _FLAGS)
            holder = _read_holder(descriptor)
            os.close(descriptor)
        raise HeldError(holder, self._marker)


def _lock(descriptor: int, *, shared: bool = False) -> None:
    """Lock an open file without waiting. Raises OSError, with one of ``_HELD`` where another process has the lock."""
    if sys.platform == "win32":
        os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        os.lseek(descriptor, 0, os.SEEK_SET)
    elif fcntl is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    else:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)


def _unlock(descriptor: int) -> None:
    if sys.platform == "win32":
        os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)
    elif fcntl is not None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)


def _own_text() -> bytes:
    since = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
    return json.dumps(Holder(os.getpid(), socket.gethostname(), since)._asdict()).encode() + b"\n"


def _read_holder(descriptor: int) -> Holder:
    """Return whom the text names. The text may be anything, because anybody may have written it."""
    with suppress(OSError, ValueError, TypeError, AttributeError, RecursionError):
        os.lseek(descriptor, 0, os.SEEK_SET)
        parts = json.loads(os.read(descriptor, _MOST_BYTES))
        return Holder(int(parts["pid"]), str(parts["host"])[:100], str(parts["since"])[:30])
    return Holder()
