"""Standard streams that a command can use, however it was started."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress

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
