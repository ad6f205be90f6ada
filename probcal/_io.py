"""A file that is there as a whole or as it was before, whenever its writing is cut short.

The lines of a file of JSON: read one at a time, however long somebody made them, and added to its end.

What may stand in a results folder: no link out of it, and no pipe, which a reader waits for without end.

Text of others made safe to show: a name or a message out of somebody else's file may hold any character.

The one place that writes CSV: tables for other programs, and rows of data that are read back.

Where the files shipped with probcal are: in a checkout beside the package, in a wheel inside it.
"""

from __future__ import annotations

import csv
import os
import re
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

from probcal.errors import StoreError


def write_whole(path: Path, text: str) -> None:
    """Write ``text`` beside ``path`` and put it in its place; half of a surrogate pair becomes a question mark.

    Raises OSError where that cannot be done; ``path`` is then as it was.
    """
    new = path.with_name(f"{path.name}.new")
    try:
        new.write_text(text, encoding="utf-8", errors="replace", newline="\n")
        os.replace(new, path)
    except OSError:
        new.unlink(missing_ok=True)
        raise


_LONGEST = 50_000_000
"""Bytes of a line; the curves of a cell take some thousands, of the largest experiments a million."""
_PIECE = 1 << 20


def lines_of(path: Path) -> Iterator[tuple[int, str | None]]:
    """(number, text) of every line of ``path`` that has its end, counted from 1; None for text of more than 50 MB.

    What has no newline behind it was cut off by a kill, even where it reads well. Nothing where there is no such file.
    """
    if not path.is_file():
        return
    with path.open("rb") as file:
        number = 0
        while line := file.readline(_LONGEST):
            number += 1
            too_long = len(line) == _LONGEST and not line.endswith(b"\n")
            while too_long and line and not line.endswith(b"\n"):
                line = file.readline(_PIECE)
            if line.endswith(b"\n"):
                yield number, None if too_long else line[:-1].decode("utf-8", "replace")


def appending(path: Path) -> IO[str]:
    """``path`` opened to append whole lines; a line torn by an earlier kill is cut off first."""
    if path.is_file() and path.stat().st_size:
        with path.open("rb+") as file:
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                content = path.read_bytes()
                file.truncate(content.rfind(b"\n") + 1)
    return path.open("a", encoding="utf-8")


def what_became_of(file: IO[str]) -> str:
    """``removed`` or ``moved`` when ``file``, which is open, is no longer where it was opened; empty when it is."""
    held = os.fstat(file.fileno())
    if held.st_nlink == 0:
        return "removed"
    try:
        return "" if os.path.samestat(held, os.stat(file.name)) else "moved"
    except (FileNotFoundError, NotADirectoryError):
        return "moved"


def refuse_links_out(folder: Path, names: Iterable[str]) -> None:
    """Raises StoreError when one of ``names`` in ``folder`` is a link to outside; the folder itself may be a link."""
    inside = folder.resolve()
    for name in names:
        path = folder / name
        if path.is_symlink() and not (target := path.resolve()).is_relative_to(inside):
            raise StoreError(
                f"{path} is a link that leads out of the folder, to {target}, and nothing is written there; remove it"
                " (a link in place of the whole folder is fine)"
            )


def refuse_other_kinds(folder: Path, files: Iterable[str], folders: Iterable[str] = ()) -> None:
    """Raises StoreError when one of ``files`` that is in ``folder`` is no regular file, or of ``folders`` no folder."""
    for names, is_right, right in ((files, Path.is_file, "file"), (folders, Path.is_dir, "folder")):
        for path in (folder / name for name in names):
            if path.exists() and not is_right(path):
                kind = "file" if path.is_file() else "folder" if path.is_dir() else "pipe, socket or device"
                raise StoreError(f"{path} is a {kind}, not a {right}; remove it")


LONGEST = 4000
"""Letters of a line; a file can make a message as long as it likes."""
_UNSEEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Control characters, marks that turn the direction of writing, half characters, other ends of lines."""


def visible(text: str, longest: int = LONGEST) -> str:
    r"""``text`` with what a terminal obeys, or nobody sees, spelt out: ``\x1b``; long lines cut in the middle."""
    return "\n".join(_line(line, longest) for line in text.split("\n"))


def _line(line: str, longest: int) -> str:
    if len(line) > longest:  # what a message says of a name stands before and behind it
        line = line[: longest // 2] + "…" + line[-(longest // 2) :]
    if line.isascii() and line.isprintable():
        return line
    return "".join(_spelt(one) if unicodedata.category(one) in _UNSEEN else one for one in line)


def _spelt(character: str) -> str:
    number = ord(character)
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


Field = str | float | None
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""What a spreadsheet takes for the beginning of a formula, the last four as East Asian keyboards write them."""
_NUMBER = r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|[-+]?(?:inf|nan)"
_NUMBERS = re.compile(rf"(?:(?:{_NUMBER}|-)(?: |$))+")
"""A number, or several with blanks between them; - alone stands for one that is missing."""
_QUOTE = "'"


def csv_text(rows: Iterable[Iterable[Field]]) -> str:
    """Return ``rows`` as lines of CSV for a program or a spreadsheet; no field can be taken for a formula.

    A text that begins like one gets ``'`` in front; ``as_it_was`` takes it away again. Numbers stay as they are.
    """
    return _written([_without_formula(field) for field in row] for row in rows)


def data_text(rows: Iterable[Iterable[Field]]) -> str:
    """Return ``rows`` of a data set as lines of CSV, every field as it is.

    What learns from them must read the very values again: ``-`` and ``=1`` may be categories or labels. Show people
    ``csv_text`` instead.
    """
    return _written(rows)


def as_it_was(field: str) -> str:
    """Return the text that ``csv_text`` wrote as ``field``."""
    return field[1:] if field[:1] == _QUOTE and _begins_a_formula(field[1:].lstrip(_QUOTE)) else field


def _without_formula(field: Field) -> Field:
    # a text that has the quote already gets another, so that it comes back as it was
    if isinstance(field, str) and _begins_a_formula(field.lstrip(_QUOTE)):
        return _QUOTE + field
    return field


def _begins_a_formula(text: str) -> bool:
    return text.lstrip(" ").startswith(_FORMULA) and not _NUMBERS.fullmatch(text)


def _written(rows: Iterable[Iterable[Field]]) -> str:
    lines = _Lines()
    csv.writer(lines, lineterminator=_END).writerows(rows)
    return "".join(line.removesuffix(_END) + "\n" for line in lines)


_END = "\r\n"
"""Of a line while it is written: a field is quoted for what the end of a line holds, and \\r alone ends one too."""


class _Lines(list[str]):
    """What ``csv.writer`` writes a row at a time."""

    write = list.append


_PACKAGE = Path(__file__).parent


def shipped(kind: str) -> Path:
    """The folder of shipped files of one ``kind``: ``"configs"`` or ``"datasets"``."""
    inside = _PACKAGE / kind
    return inside if inside.is_dir() else _PACKAGE.parent / kind
