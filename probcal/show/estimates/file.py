"""``estimates.json``: what figures need of the estimates, small enough to be committed where predictions.bin is not."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from pydantic import ValidationError

from probcal.errors import StoreError
from probcal.links import refuse_links_out, refuse_other_kinds
from probcal.show.estimates.entry import Entry
from probcal.store import ESTIMATES
from probcal.whole_file import write_whole

_VERSION = 1
"""Of the file; one of another version is written anew from the estimates, or refused."""
_LARGEST = 50_000_000
"""Bytes; the largest of our experiments takes a million."""

Entries = dict[tuple[str, str, str], Entry]
"""By data set, learner and method."""


def read_entries(folder: Path) -> Entries:
    """None in a folder without the file. Raises StoreError for a file that is none of ours."""
    path = folder / ESTIMATES
    refuse_other_kinds(folder, [ESTIMATES])
    try:
        if path.stat().st_size > _LARGEST:
            raise ValueError("it is too large")
        content = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(content, dict) or content.get("version") != _VERSION:
            raise ValueError("it is of another version of probcal")
        if not isinstance(content.get("estimates"), list):
            raise ValueError("it holds no estimates")
        entries = [Entry.model_validate_json(json.dumps(one)) for one in content["estimates"]]
    except FileNotFoundError:
        return {}
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise StoreError(f"{path} cannot be read: {place + ': ' if place else ''}{first['msg']}") from None
    except (OSError, ValueError, RecursionError) as error:
        raise StoreError(f"{path} cannot be read: {error}") from None
    return {one.name: one for one in entries}


def write_entries(folder: Path, entries: Iterable[Entry]) -> None:
    """One line each; a file that holds the same is left alone. Raises StoreError when it cannot be written."""
    path = folder / ESTIMATES
    lines = ",\n".join(one.model_dump_json() for one in entries)
    text = f'{{"version": {_VERSION}, "estimates": [\n{lines}\n]}}\n'
    refuse_links_out(folder, (ESTIMATES, f"{ESTIMATES}.new"))
    refuse_other_kinds(folder, (ESTIMATES, f"{ESTIMATES}.new"))
    try:
        if path.is_file() and path.read_bytes() == text.encode():
            return
        write_whole(path, text)
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror or error}") from None
