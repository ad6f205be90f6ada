"""Links in a results folder: one that leads out of it would have a run write somewhere else."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from probcal.errors import StoreError


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
