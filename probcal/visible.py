"""Text of others made safe to show: a name or a message out of somebody else's file may hold any character."""

from __future__ import annotations

import unicodedata

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
