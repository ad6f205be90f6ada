"""How a command ends on Ctrl-C, SIGTERM and SIGHUP: once, and within two seconds, whatever it is doing.

The first signal raises ``KeyboardInterrupt``; the command unwinds, ends its workers and says that it was interrupted.
Every further signal is ignored, so nothing interrupts the ending itself. Three things stand behind that, one for each
way in which the unwinding can take too long:

``_CLEAN`` seconds after the first signal  a thread ends the process with the same exit code: for an exception that
                                           was swallowed, a long call of native code, a stream that takes no more
``_LAST`` seconds after it                 another process kills this one: for native code that lets no thread run
the end of this process                    the kernel kills the workers (``probcal.runner.pool``)

All of them first kill every process that this one started. A result is on the disk before the next one is waited for,
so none of this loses a finished cell.

This module is imported before any other of probcal, so it imports nothing heavy.

Standard streams that a command can use, however it was started.
"""

from __future__ import annotations

import _thread
import atexit
import io
import os
import select
import signal
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Any, NoReturn

MESSAGE = "interrupted; finished cells are kept, the same command goes on from there"
EXIT_CODE = 130
SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
_CLEAN, _LAST = 0.8, 1.2
_OF_A_TERMINAL = ("SIGQUIT", "SIGTSTP", "SIGTTIN", "SIGTTOU", "SIGPIPE")
"""What else a terminal sends to every process of a command, and the watchdog does not heed."""


class _State:
    """``first``: the signal that ended the command; ``over``: whether its exit code is decided already."""

    installed = False
    over = False
    first: int | None = None
    said = False
    spared: tuple[int, ...] = ()
    """Children that we did not start for the command: the watchdog, and those of the program that became us."""


def handle_signals() -> None:
    """Have SIGINT, SIGTERM and SIGHUP end this process as the module says. A second call does nothing.

    A SIGINT or SIGHUP that is ignored when the process starts stays ignored: that is what ``nohup`` asks for, and a
    shell for what it starts in the background.
    """
    if _State.installed or threading.current_thread() is not threading.main_thread():
        return
    _State.installed, _State.spared = True, _children()
    sys.excepthook = _on_uncaught
    _start_watchdog()
    for number in SIGNALS:
        if number == signal.SIGTERM or signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _on_signal)


@contextmanager
def ending_once() -> Iterator[None]:
    """Turn whatever an interruption made of the code within into the end of the process.

    Once the code within has ended by itself, a signal changes nothing about how the process ends.
    """
    try:
        yield
    finally:
        _State.over = _State.installed
        if _State.first is not None:
            end()


def interrupted() -> bool:
    """Return whether a signal has come that ends this process."""
    return _State.first is not None


def say() -> None:
    """Tell the user once that the command was interrupted; without a word where stderr takes none."""
    if _State.said:
        return
    _State.said = True
    with suppress(Exception):
        if os.name == "nt" or select.select([], [2], [], 0)[1]:  # a full pipe would hold us up
            os.write(2, f"\n{MESSAGE}\n".encode())


def end() -> NoReturn:
    """End the process in good order: its children, what it registered for its exit, its streams."""
    kill_descendants()
    say()
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):
            stream.flush()
    with suppress(BaseException):  # temporary folders, and the processes of multiprocessing
        atexit._run_exitfuncs()
    _leave()


def kill_descendants(of: int | None = None) -> None:
    """Kill every process below ``of`` (this one) and the groups that they lead, but for the watchdog and us."""
    for one in _descendants(of or os.getpid(), {os.getpid(), *_State.spared}):
        with suppress(OSError):
            if os.getpgid(one) == one:  # a worker, with the programs that its learner started
                os.killpg(one, signal.SIGKILL)
        with suppress(OSError):
            os.kill(one, signal.SIGKILL)


def heeded() -> tuple[int, ...]:
    """Return ``SIGNALS`` without a SIGHUP that this process was started to ignore, as under ``nohup``."""
    return tuple(one for one in SIGNALS if one.name != "SIGHUP" or signal.getsignal(one) != signal.SIG_IGN)


@contextmanager
def held() -> Iterator[None]:
    """Let no signal of ``SIGNALS`` arrive meanwhile, and have what is started begin with them blocked."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _on_signal(number: int, _: object) -> None:
    if _State.first is not None:
        return
    _State.first = number
    sys.unraisablehook = threading.excepthook = _silent  # what an interruption breaks is nothing to tell of
    with suppress(RuntimeError):  # no thread to be had: the watchdog is left
        _thread.start_new_thread(_end_soon, ())
    if not _State.over:
        raise KeyboardInterrupt


def _end_soon() -> None:
    time.sleep(_CLEAN)
    kill_descendants()
    say()
    _leave()


def _leave() -> NoReturn:
    """End at once: after SIGHUP by that signal, or with what a shell makes of it."""
    code = EXIT_CODE
    if hasattr(signal, "SIGHUP") and _State.first == signal.SIGHUP:
        code = 128 + signal.SIGHUP
        with suppress(ValueError):  # only the main thread may
            signal.signal(signal.SIGHUP, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGHUP)
    os._exit(code)


def _on_uncaught(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    if _State.first is not None:  # it came between the last two lines
        end()
    sys.__excepthook__(kind, error, traceback)


def _silent(_: Any) -> None:
    pass


def _descendants(of: int, spared: set[int]) -> list[int]:
    """The processes below ``of`` without those below ``spared``; none where there is no /proc."""
    children = defaultdict(list)
    for name in os.listdir("/proc") if os.path.isdir("/proc") else ():
        if name.isdigit():
            # one may be gone by now
            with suppress(OSError, IndexError), open(f"/proc/{name}/stat", "rb") as file:
                children[int(file.read().rpartition(b")")[2].split()[1])].append(int(name))
    found, waiting = [], [of]
    while waiting:
        new = [one for one in children.pop(waiting.pop(), ()) if one not in spared]
        found += new
        waiting += new
    return found


def _children() -> tuple[int, ...]:
    """The processes that the program before us had started, in a shell's ``exec probcal``."""
    try:
        with open(f"/proc/self/task/{os.getpid()}/children", "rb") as file:
            return tuple(map(int, file.read().split()))
    except OSError:
        return ()


def _start_watchdog() -> None:
    """Fork the process that has the last word. The kernel itself tells it of a signal, whatever this one does."""
    if not hasattr(os, "fork"):
        return
    with suppress(OSError):  # no more processes to be had: we go without
        heard, told = os.pipe()
        of = os.getpid()
        watchdog = os.fork()
        if watchdog == 0:
            _watch(of, heard, told)
        _State.spared += (watchdog,)
        os.close(heard)
        os.set_blocking(told, False)
        signal.set_wakeup_fd(told, warn_on_full_buffer=False)


def _watch(of: int, heard: int, told: int) -> NoReturn:
    """Read the signals of process ``of`` and kill it where it outlives one; end with it."""
    try:
        for number in (*SIGNALS, *(getattr(signal, name) for name in _OF_A_TERMINAL)):
            signal.signal(number, signal.SIG_IGN)
        os.close(told)
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):  # whoever reads them is to see their end when the command ends
            os.dup2(nothing, stream)
        while number := os.read(heard, 1):
            if number[0] in SIGNALS:
                break
        end = time.monotonic() + _LAST
        while number and time.monotonic() < end:
            if select.select([heard], [], [], max(0.0, end - time.monotonic()))[0]:
                number = os.read(heard, 64)
        if number:
            kill_descendants(of)
            os.kill(of, signal.SIGKILL)
    finally:
        os._exit(0)


_STREAMS = (("stdin", "r"), ("stdout", "w"), ("stderr", "w"))


def prepare_streams() -> None:
    """Open the streams that are closed, and let no command end because its stderr takes nothing any more.

    A second call changes nothing."""
    open_closed_streams()
    if isinstance(sys.stderr, io.TextIOWrapper) and not isinstance(sys.stderr, _Forgiving):
        options = {"encoding": sys.stderr.encoding, "line_buffering": True}
        sys.stderr = sys.__stderr__ = _Forgiving(sys.stderr.detach(), errors="backslashreplace", **options)  # type: ignore[misc, arg-type]


def open_closed_streams() -> None:
    """Open the null device as each of stdin, stdout and stderr that is closed, as after ``2>&-``.

    Python has None for such a stream, and the next file that is opened would get its number, so that what is said
    would go into that file.
    """
    for number, (name, mode) in enumerate(_STREAMS):
        if getattr(sys, name) is None:
            null = os.open(os.devnull, os.O_RDWR)
            if null != number:
                os.dup2(null, number)
                os.close(null)
            os.set_inheritable(number, True)
            stream = open(number, mode, encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
            setattr(sys, name, stream)
            setattr(sys, f"__{name}__", stream)


class _Forgiving(io.TextIOWrapper):
    """A stream of messages, of which a full disk, a closed pipe or a lost terminal may take the rest.

    A run of hours is not to end because nobody reads how far it is.
    """

    def write(self, text: str) -> int:
        with suppress(OSError):
            super().write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError):
            super().flush()

    def close(self) -> None:
        with suppress(OSError):
            super().close()
