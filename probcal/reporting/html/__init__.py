"""``probcal report``: experiments as one self-contained web page, with their tables, charts and pictures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from probcal.store.folder import Store


def write_report(stores: Sequence[Store], path: Path) -> Path:
    """Write the experiments in ``stores`` as one web page to ``path`` and return the path.

    The same results always give the same bytes. Raises ReportError when nothing has been run or ``path`` cannot be
    written. Raises StoreError when a folder cannot be shown or ``path`` is a link out of it, and UnknownPaper when an
    experiment follows a paper that probcal does not have.
    """
    # imported on first use: the pages of measure and watch need no part of an experiment
    from probcal.reporting.html.page import ReportError, refuse_page, render_charts, write_page
    from probcal.reporting.html.sections import ExperimentSections

    refuse_page(path)
    experiments = [ExperimentSections(store, f"e{number}") for number, store in enumerate(stores, 1)]
    if not any(experiment.results for experiment in experiments):
        folders = ", ".join(str(store.folder) for store in stores)
        raise ReportError(f"nothing has been run yet in {folders}; probcal run fills a folder of results")
    names = ", ".join(experiment.stored.name for experiment in experiments)
    text = render_charts(
        "page.html",
        {one.id: {**one.charts.data, "reliability": one.reliable.lines} for one in experiments},
        title=f"Results of {names}" if len(experiments) > 1 else experiments[0].stored.title,
        experiments=experiments,
        several=len(experiments) > 1,
    )
    return write_page(text, path)
