"""``probcal verify``"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from probcal._io import visible
from probcal.cli.options import (
    MISTAKE,
    TRUST,
    folders_argument,
    format_option,
    manual,
    selection,
    stores_at,
    trusted_imports,
)


@click.command(
    short_help="Measure results once more from their stored predictions.",
    epilog=manual(
        "probcal verify results/quickstart\nprobcal verify results/uci -d adult -l nb\nprobcal verify results/ -f json",
        environment=TRUST,
        exits={
            0: "every done row was measured once more and agrees",
            1: "a row differs, or a done row could not be verified, or no row is done",
            **MISTAKE,
        },
    ),
)
@folders_argument
@selection
@format_option("text", "json", help="json has every difference and count.")
@trusted_imports
def verify(
    folders: tuple[Path, ...],
    datasets: tuple[str, ...],
    learners: tuple[str, ...],
    methods: tuple[str, ...],
    format_: str,
) -> None:
    """Measure every done row of each results FOLDER once more from its stored predictions, and print what differs.

    This finds results that were edited by hand, and a predictions.bin that is another than the run wrote. A row
    without stored predictions cannot be verified and is never counted as verified. Nothing is fitted or changed.
    """
    from probcal.runner.verify import json_text, text
    from probcal.runner.verify import verify as verify_one
    from probcal.store.outline import Outline
    from probcal.store.selection import Selection

    stores, asked = [store for folder in folders for store in stores_at(folder)], Selection(datasets, learners, methods)
    asked.refuse_unknown([Outline.of(store) for store in stores])
    found = [verify_one(store, asked, _bar) for store in stores]
    click.echo(json_text(found) if format_ == "json" else visible("\n".join(map(text, found))), nl=False)
    sys.exit(0 if all(one.ok for one in found) else 1)


def _bar(rows: list[Any]) -> Iterable[Any]:
    """A bar on a terminal, nothing elsewhere."""
    from tqdm import tqdm

    return tqdm(rows, unit=" rows", leave=False, disable=None)
