"""Read and edit the stored results of a folder as lines of text, as a kill or a person would leave them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from probcal.store.folder import Store


def unpack(folder: Path) -> Path:
    """Move the results from the table to lines of ``cells.jsonl``, in the order of the table, and return its path.

    A folder has this form while a run goes on, and after a run was killed.
    """
    store, log = Store(folder), folder / "cells.jsonl"
    results = store.results_with_any_values().values()
    lines = [one.to_json() for result in results for one in (result, result.later_failure) if one is not None]
    (folder / "cells.parquet").unlink(missing_ok=True)
    log.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return log


def stored_rows(folder: Path) -> list[dict[str, Any]]:
    """Return the stored results, each as the mapping of its line. The folder stays as it is."""
    results = Store(folder).results_with_any_values().values()
    return [
        json.loads(one.to_json()) for result in results for one in (result, result.later_failure) if one is not None
    ]


def write_rows(folder: Path, rows: list[dict[str, Any]]) -> None:
    """Replace all stored results by ``rows``, which are lines of ``cells.jsonl``."""
    (folder / "cells.parquet").unlink(missing_ok=True)
    text = "".join(f"{json.dumps(row)}\n" for row in rows)
    (folder / "cells.jsonl").write_text(text, encoding="utf-8")
