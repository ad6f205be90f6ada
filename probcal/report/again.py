"""How to make the results again: the experiment's file and the commands."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import PurePosixPath

from probcal.show.outline import Outline


@dataclass(frozen=True)
class Again:
    file: str
    """What the text is to be saved as."""
    config: str
    commands: str
    """A line each."""


def again(outline: Outline) -> Again:
    """Paths are those of a fresh start: where the results lie here is nobody else's matter."""
    name = PurePosixPath(outline.name).name or "experiment"
    file, folder = shlex.quote(f"{name}.yaml"), shlex.quote(f"results/{name}")
    commands = [f"probcal run {file}", f"probcal table {folder}"]
    commands += [f"probcal check {folder}"] if outline.paper else []
    return Again(f"{name}.yaml", outline.config, "\n".join([*commands, f"probcal report {folder}"]))
