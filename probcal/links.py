"""What may stand in a results folder: no link out of it, and no pipe, which a reader waits for without end."""

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


def refuse_other_kinds(folder: Path, files: Iterable[str], folders: Iterable[str] = ()) -> None:
    """Raises StoreError when one of ``files`` that is in ``folder`` is no regular file, or of ``folders`` no folder."""
    for names, is_right, right in ((files, Path.is_file, "file"), (folders, Path.is_dir, "folder")):
        for path in (folder / name for name in names):
            if path.exists() and not is_right(path):
                kind = "file" if path.is_file() else "folder" if path.is_dir() else "pipe, socket or device"
                raise StoreError(f"{path} is a {kind}, not a {right}; remove it")
