"""Read and write files safely: atomic writes, JSON lines, CSV, link checks and escaping of untrusted text."""

from __future__ import annotations

import csv
import math
import os
import re
import stat
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from textwrap import wrap
from typing import IO, Any

from probcal.errors import FileProblems, Problem, StoreError


def write_atomic(path: Path, content: str | bytes) -> None:
    """Write ``content`` to ``path`` in one atomic step.

    It goes to a new file beside ``path``, which then replaces it. Half of a surrogate pair becomes a question mark.
    Raises OSError when the file cannot be written. ``path`` is then unchanged.
    """
    new = path.with_name(f"{path.name}.new")
    try:
        new.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "replace"))
        os.replace(new, path)
    except OSError:
        new.unlink(missing_ok=True)
        raise


def sync_file(file: IO[Any]) -> None:
    """Sync what was written to ``file``, so that a power cut does not lose it."""
    file.flush()
    os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Sync the names in ``folder`` to disk, so that a power cut keeps the order of a rename and a later change.

    Windows and some network drives cannot, and order these themselves.
    """
    with suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


_LONGEST = 50_000_000
"""Largest line in bytes. The curves of a cell take some thousands, those of the largest experiments a million."""
_PIECE = 1 << 20


def numbered_lines(path: Path) -> Iterator[tuple[int, str | None]]:
    """Yield (number, text) of every complete line of ``path``, counted from 1. The text of a line over 50 MB is None.

    A kill cut off a last line without a newline, so it is left out even when it looks complete. A missing file has no
    lines.
    """
    if not path.is_file():
        return
    with path.open("rb") as file:
        number = 0
        while line := file.readline(_LONGEST):
            number += 1
            too_long = len(line) == _LONGEST and not line.endswith(b"\n")
            # In pieces, so that a file without line breaks takes no more memory than a piece.
            while too_long and line and not line.endswith(b"\n"):
                line = file.readline(_PIECE)
            if line.endswith(b"\n"):
                yield number, None if too_long else line[:-1].decode("utf-8", "replace")


def refuse_cut_off(path: Path, text: str, advice: str = "") -> None:
    """Raise FileProblems for the ``text`` of ``path`` whose last line has no line break.

    ``advice`` ends the message.
    Every file of ours ends with one. In a file that was cut off, half a number may look like a whole one.
    """
    if text and not text.endswith("\n"):
        message = f"is cut off: its last line has no line break at the end; get the whole file{advice}"
        raise FileProblems(path, [Problem(len(text.splitlines()), message)])


def appending(path: Path) -> IO[str]:
    """Open ``path`` to append whole lines. A line torn by an earlier kill is removed first."""
    if path.is_file() and path.stat().st_size:
        with path.open("rb+") as file:
            # Only the last byte is read, since most files end well and some are large.
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                content = path.read_bytes()
                file.truncate(content.rfind(b"\n") + 1)
    return path.open("a", encoding="utf-8")


def file_displacement(file: IO[str]) -> str:
    """Return ``removed`` or ``moved`` when the open ``file`` is no longer at its path, otherwise an empty string."""
    held = os.fstat(file.fileno())
    if held.st_nlink == 0:
        return "removed"
    try:
        return "" if os.path.samestat(held, os.stat(file.name)) else "moved"
    except (FileNotFoundError, NotADirectoryError):
        return "moved"


def refuse_links_out(folder: Path, names: Iterable[str]) -> None:
    """Raise StoreError when one of ``names`` in ``folder`` links to outside. The folder itself may be a link."""
    inside = folder.resolve()
    for name in names:
        path = folder / name
        if path.is_symlink() and not (target := path.resolve()).is_relative_to(inside):
            raise StoreError(
                f"{path} is a link that leads out of the folder, to {target}, and nothing is written there; remove it"
                " (a link in place of the whole folder is fine)"
            )


def refuse_other_kinds(folder: Path, files: Iterable[str], folders: Iterable[str] = ()) -> None:
    """Raise StoreError when one of ``files`` is not a regular file, or one of ``folders`` is not a folder.

    Names that do not exist in ``folder`` are fine.
    """
    for names, right in ((files, "file"), (folders, "folder")):
        for path in (folder / name for name in names):
            try:
                mode = path.stat().st_mode  # once, because a run may remove the file meanwhile
            except OSError:
                continue
            kind = "file" if stat.S_ISREG(mode) else "folder" if stat.S_ISDIR(mode) else "pipe, socket or device"
            if kind != right:
                raise StoreError(f"{path} is a {kind}, not a {right}; remove it")


LONGEST = 4000
"""Largest number of characters of a line. A name in a file could make a message as long as it likes."""
_UNSEEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Unicode categories: control characters, direction marks, surrogates, line and paragraph separators."""


def printable(text: str, longest: int = LONGEST) -> str:
    r"""Escape what a terminal obeys or nobody sees, as in ``\x1b``. Lines over ``longest`` are cut in the middle."""
    # Nearly every text, and quicker than asking for the category of each letter. A line break is not printable, nor is
    # any letter of ``_UNSEEN``.
    if len(text) <= longest and text.isprintable():
        return text
    return "\n".join(_line(line, longest) for line in text.split("\n"))


def _line(line: str, longest: int) -> str:
    if len(line) > longest:  # the words of a message stand before and after the long name
        line = line[: longest // 2] + "…" + line[-(longest // 2) :]
    if line.isprintable():
        return line
    return "".join(_escaped(char) if unicodedata.category(char) in _UNSEEN else char for char in line)


def shortened(text: str, longest: int) -> str:
    """Return ``text``, cut off with an ellipsis after ``longest`` characters."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def join_first(names: Iterable[str], most: int) -> str:
    """Return at most the first ``most`` of ``names`` with commas between them, and an ellipsis for the others."""
    listed = list(names)
    return ", ".join(listed[:most] + ["…"] * (len(listed) > most))


TERMINAL_WIDTH = 80
"""Letters in a line of a terminal."""


def wrap_line(line: str, hang: int = 2) -> list[str]:
    """Return ``line`` in lines of at most 80 letters. Lines after the first are indented by ``hang`` more blanks."""
    indent = " " * (len(line) - len(line.lstrip()) + hang)
    lines = wrap(line, TERMINAL_WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return lines or [line]


def aligned_lines(rows: Sequence[Sequence[str]], left: Collection[int] = (0,)) -> Iterator[str]:
    """Yield the rows of a table for a terminal. The columns ``left`` are flush left, and the others flush right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (
            text.ljust(width) if number in left else text.rjust(width)
            for number, (text, width) in enumerate(zip(row, widths, strict=True))
        )
        yield "  ".join(cells).rstrip()


def counted(n: int, one: str = "row", several: str | None = None) -> str:
    """Return the number ``n`` and its noun, such as "1 row" or "2,000 rows"."""
    return f"{n:,} {one if n == 1 else several or one + 's'}"


def _escaped(character: str) -> str:
    number = ord(character)
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


Field = str | float | None
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""What a spreadsheet takes for the beginning of a formula. The last four come from East Asian keyboards."""
_NUMBER = r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|[-+]?(?:inf|nan)"
_NUMBERS = re.compile(rf"(?:(?:{_NUMBER}|-)(?: |$))+")
"""One number, or several separated by blanks. A lone - stands for a missing number."""
_QUOTE = "'"


def csv_text(rows: Iterable[Iterable[Field]]) -> str:
    """Return ``rows`` as lines of CSV for a program or a spreadsheet. No field can be taken for a formula.

    A text that begins like a formula gets ``'`` in front, which ``unescape_formula`` removes. Numbers are unchanged.
    """
    return _csv_lines([_without_formula(field) for field in row] for row in rows)


def csv_number(number: float | None) -> str:
    """Return the number for a CSV file: six digits, ``inf``, or nothing where it is unknown."""
    return "" if number is None or math.isnan(number) else f"{number:.6g}"


def data_text(rows: Iterable[Iterable[Field]], separator: str = ",") -> str:
    """Return ``rows`` of a data set as lines of CSV, with every field unchanged.

    Learners must read the same values again: ``-`` and ``=1`` may be categories or labels. Use ``csv_text`` for people.
    """
    return _csv_lines(rows, separator)


def unescape_formula(field: str) -> str:
    """Return the text that ``csv_text`` wrote as ``field``."""
    return field[1:] if field[:1] == _QUOTE and _begins_a_formula(field[1:].lstrip(_QUOTE)) else field


def _without_formula(field: Field) -> Field:
    # a text that begins with the quote already gets another one, so that ``unescape_formula`` restores it
    if isinstance(field, str) and _begins_a_formula(field.lstrip(_QUOTE)):
        return _QUOTE + field
    return field


def _begins_a_formula(text: str) -> bool:
    return text.lstrip(" ").startswith(_FORMULA) and not _NUMBERS.fullmatch(text)


def _csv_lines(rows: Iterable[Iterable[Field]], separator: str = ",") -> str:
    lines = _Lines()
    csv.writer(lines, delimiter=separator, lineterminator=_END).writerows(rows)
    return "".join(line.removesuffix(_END) + "\n" for line in lines)


_END = "\r\n"
"""End of a line while it is written. ``csv.writer`` quotes fields that hold one of its characters, so \\r too."""


class _Lines(list[str]):
    """Collect what ``csv.writer`` writes, one row at a time."""

    write = list.append


_PACKAGE = Path(__file__).parent


def shipped(kind: str) -> Path:
    """Return the folder of shipped files: ``kind`` is ``"configs"`` or ``"datasets"``.

    In a checkout it lies beside the package, in a wheel inside it.
    """
    inside = _PACKAGE / kind
    return inside if inside.is_dir() else _PACKAGE.parent / kind


def is_shipped(path: Path) -> bool:
    """Return whether a file came with probcal: a card, an experiment or the known deviations of a paper."""
    folders = (shipped("configs"), shipped("datasets"), _PACKAGE / "papers")
    return any(path.absolute().is_relative_to(folder) for folder in folders)
