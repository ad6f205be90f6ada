"""Ending of a command on Ctrl-C, SIGTERM and SIGHUP: once, and within two seconds, whatever it is doing.

The first signal raises ``KeyboardInterrupt``. The command unwinds, ends its workers and says that it was interrupted.
Every further signal is ignored, so nothing interrupts the ending itself. The unwinding can take too long in three ways,
and each has its own remedy:

``_CLEANUP_SECONDS`` after the first signal  a thread ends the process with the same exit code: for an exception that
                                             was swallowed, a long call of native code, a blocked output stream
``_KILL_SECONDS`` after it                   another process kills this one: for native code that lets no thread run
the end of this process                      the kernel kills the workers (``probcal.runner.worker_process``)

All of them first kill every process that this one started. Each result is on the disk before the next one is awaited,
so no cell that ended is lost. What a command keeps differs, so each declares its own message (``set_message``).

This module also repairs standard streams that are closed or broken. It is imported before any other module of probcal,
so it imports nothing heavy.
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
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Any, NoReturn

INTERRUPTED = "interrupted"
EXIT_CODE = 130
SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
_CLEANUP_SECONDS, _KILL_SECONDS = 0.8, 1.2
_TERMINAL_SIGNALS = ("SIGQUIT", "SIGTSTP", "SIGTTIN", "SIGTTOU", "SIGPIPE")
"""Other signals that a terminal sends to every process of a command. The watchdog ignores them."""


class _State:
    """Hold the signal that ended the command (``first_signal``), and whether its exit code is decided (``is_over``)."""

    is_installed = False
    is_restarted = False
    is_over = False
    first_signal: int | None = None
    is_reported = False
    message = INTERRUPTED
    protected_pids: tuple[int, ...] = ()
    """Children that must not be killed: the watchdog, and those of the program that ran ``exec probcal``."""


def handle_signals() -> None:
    """Make SIGINT, SIGTERM and SIGHUP end this process as the module describes. A second call does nothing.

    A SIGINT or SIGHUP that is ignored when the process starts stays ignored. ``nohup`` asks for that, and a shell does
    for background jobs.
    """
    if _State.is_installed or threading.current_thread() is not threading.main_thread():
        return
    _State.is_restarted = os.environ.pop(_RESTARTED, None) is not None
    _State.is_installed, _State.protected_pids = True, _children()
    sys.excepthook = _handle_exception
    _start_watchdog()
    for number in SIGNALS:
        if number == signal.SIGTERM or signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _handle_signal)
    if _State.is_restarted:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)


_RESTARTED = "_PROBCAL_RESTARTED"
"""Environment variable of a command that ``restart`` started."""


def is_command() -> bool:
    """Return whether this process is the program ``probcal``, and no program that uses the library."""
    return _State.is_installed


def restart(variables: Mapping[str, str]) -> None:
    """Start the command again with environment ``variables``, in this process.

    Return where that is impossible, and in a command that was started again already. Signals that come meanwhile are
    answered by the new program.
    """
    if not _State.is_installed or _State.is_restarted or not sys.executable:
        return
    with block_signals():  # which the new program inherits
        _end_watchdog()
        with suppress(OSError):
            arguments = [sys.executable, *sys.orig_argv[1:]]
            os.execve(sys.executable, arguments, {**os.environ, **variables, _RESTARTED: "1"})  # noqa: S606
        _start_watchdog()


def forget_command() -> None:
    """Handle signals as a new program does, in a process that the command has forked."""
    signal.set_wakeup_fd(-1)
    for number in SIGNALS:
        if signal.getsignal(number) is _handle_signal:  # and not ignored from the start
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    sys.excepthook = sys.__excepthook__
    _State.is_installed, _State.protected_pids = False, ()


@contextmanager
def end_once() -> Iterator[None]:
    """End the process after an interruption of the code inside, whatever became of the exception.

    Once the code inside has ended by itself, a signal no longer changes how the process ends.
    """
    try:
        yield
    finally:
        _State.is_over = _State.is_installed
        if _State.first_signal is not None:
            end_process()


def is_interrupted() -> bool:
    """Return whether a signal has arrived that ends this process."""
    return _State.first_signal is not None


def set_message(text: str) -> None:
    """Set what the user reads after an interruption."""
    _State.message = text


def report_interruption() -> None:
    """Tell the user once that the command was interrupted, unless stderr is blocked."""
    if _State.is_reported:
        return
    _State.is_reported = True
    with suppress(Exception):
        # os.write and not print, because the interruption may have come while a stream held its lock.
        if os.name == "nt" or select.select([], [2], [], 0)[1]:  # a full pipe would block
            os.write(2, f"\n{_State.message}\n".encode())


def end_process() -> NoReturn:
    """End the process in order: kill its children, run its exit functions, flush its streams."""
    kill_descendants()
    report_interruption()
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):
            stream.flush()
    with suppress(BaseException):  # temporary folders, and the processes of multiprocessing
        atexit._run_exitfuncs()
    _exit_process()


def kill_descendants(pid: int | None = None) -> None:
    """Kill every process below ``pid`` (default: this process) and the groups that they lead.

    The watchdog and this process survive.
    """
    for process in _descendants(pid or os.getpid(), {os.getpid(), *_State.protected_pids}):
        with suppress(OSError):
            if os.getpgid(process) == process:  # a worker and the programs that its learner started
                os.killpg(process, signal.SIGKILL)
        with suppress(OSError):
            os.kill(process, signal.SIGKILL)


def handled_signals() -> tuple[int, ...]:
    """Return ``SIGNALS`` without a SIGHUP that this process was started to ignore, as under ``nohup``."""
    return tuple(number for number in SIGNALS if number.name != "SIGHUP" or signal.getsignal(number) != signal.SIG_IGN)


@contextmanager
def block_signals() -> Iterator[None]:
    """Block ``SIGNALS`` inside the context. Processes started inside begin with them blocked."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    old_mask = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, old_mask)


def _handle_signal(number: int, _: object) -> None:
    if _State.first_signal is not None:
        return
    _State.first_signal = number
    # Faults that the interruption causes are not reported.
    sys.unraisablehook = threading.excepthook = _ignore
    with suppress(RuntimeError):  # no thread can be started, but the watchdog remains
        _thread.start_new_thread(_end_soon, ())
    if not _State.is_over:
        raise KeyboardInterrupt


def _end_soon() -> None:
    time.sleep(_CLEANUP_SECONDS)
    kill_descendants()
    report_interruption()
    _exit_process()


def _exit_process() -> NoReturn:
    """End at once: after SIGHUP by that signal, otherwise with the exit code."""
    code = EXIT_CODE
    if hasattr(signal, "SIGHUP") and _State.first_signal == signal.SIGHUP:
        code = 128 + signal.SIGHUP
        with suppress(ValueError):  # only the main thread may set a handler
            signal.signal(signal.SIGHUP, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGHUP)
    os._exit(code)


def _handle_exception(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    if _State.first_signal is not None:  # the signal arrived between the last two lines of the command
        end_process()
    sys.__excepthook__(kind, error, traceback)


def _ignore(_: Any) -> None:
    pass


def _descendants(pid: int, protected_pids: set[int]) -> list[int]:
    """Return the processes below ``pid`` without those below ``protected_pids``. Without /proc there are none."""
    children = defaultdict(list)
    for name in os.listdir("/proc") if os.path.isdir("/proc") else ():
        if name.isdigit():
            # a process may have ended meanwhile
            with suppress(OSError, IndexError), open(f"/proc/{name}/stat", "rb") as file:
                # The name of a program may hold parentheses. The number of the parent is the second field after it.
                children[int(file.read().rpartition(b")")[2].split()[1])].append(int(name))
    pids, queue = [], [pid]
    while queue:
        new_pids = [child for child in children.pop(queue.pop(), ()) if child not in protected_pids]
        pids += new_pids
        queue += new_pids
    return pids


def _children() -> tuple[int, ...]:
    """Return the processes that an earlier program of this process started, before a shell's ``exec probcal``."""
    try:
        with open(f"/proc/self/task/{os.getpid()}/children", "rb") as file:
            return tuple(map(int, file.read().split()))
    except OSError:
        return ()


def _start_watchdog() -> None:
    """Fork the watchdog, the process that kills this process if nothing else does."""
    if not hasattr(os, "fork"):
        return
    with suppress(OSError):  # go without a watchdog if no process can be started
        reader, writer = os.pipe()
        pid = os.getpid()
        watchdog = os.fork()
        if watchdog == 0:
            _watch(pid, reader, writer)
        _State.protected_pids += (watchdog,)
        os.close(reader)
        os.set_blocking(writer, False)
        # Python's C code writes the number of each signal there, also while native code lets no Python code run.
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)


def _end_watchdog() -> None:
    writer = signal.set_wakeup_fd(-1)
    if writer < 0:
        return
    os.close(writer)  # which ends it
    with suppress(OSError):
        os.waitpid(_State.protected_pids[-1], 0)
    _State.protected_pids = _State.protected_pids[:-1]


def _watch(pid: int, reader: int, writer: int) -> NoReturn:
    """Read the signals of the process ``pid``, and kill it if it outlives one. End when it ends."""
    try:
        for number in (*SIGNALS, *(getattr(signal, name) for name in _TERMINAL_SIGNALS)):
            signal.signal(number, signal.SIG_IGN)
        # With an end of its own, the watchdog would never see that the process has ended.
        os.close(writer)
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):  # readers of these streams must see their end when the command ends
            os.dup2(null, stream)
        while number := os.read(reader, 1):
            if number[0] in SIGNALS:
                break
        deadline = time.monotonic() + _KILL_SECONDS
        # It goes on reading, because the end of the pipe means that the process ended in time.
        while number and time.monotonic() < deadline:
            if select.select([reader], [], [], max(0.0, deadline - time.monotonic()))[0]:
                number = os.read(reader, 64)
        if number:
            kill_descendants(pid)
            os.kill(pid, signal.SIGKILL)
    finally:
        os._exit(0)


_STREAMS = (("stdin", "r"), ("stdout", "w"), ("stderr", "w"))


def prepare_streams() -> None:
    """Open closed streams, and let no command end because its stderr is blocked. A second call changes nothing."""
    open_closed_streams()
    if isinstance(sys.stderr, io.TextIOWrapper) and not isinstance(sys.stderr, _ForgivingStream):
        # A character that the terminal lacks is shown by its number instead of ending the command.
        options = {"encoding": sys.stderr.encoding, "line_buffering": True}
        stream = _ForgivingStream(sys.stderr.detach(), errors="backslashreplace", **options)  # type: ignore[arg-type]  # options are mixed
        sys.stderr = sys.__stderr__ = stream  # type: ignore[misc]  # sys.__stderr__ is declared final


def open_closed_streams() -> None:
    """Open the null device for each of stdin, stdout and stderr that is closed, as after ``2>&-``.

    Python has None for such a stream, and the next opened file would get its number. Then messages would go into that
    file.
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


class _ForgivingStream(io.TextIOWrapper):
    """Write messages to a stream, and ignore a full disk, a closed pipe or a lost terminal.

    A long run must not end because nobody reads its progress.
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
