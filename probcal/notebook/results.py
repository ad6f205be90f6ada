"""The results of an experiment in a notebook: a tidy frame, the tables, the comparison of methods and figures."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from probcal._io import printable
from probcal.errors import StoreError, require
from probcal.reporting.grid import Grid, html_table, markdown
from probcal.reporting.tables import tables
from probcal.store.folder import Store
from probcal.store.stored_experiment import Selection, StoredExperiment
from probcal.store.summary import cell_counts, done_cells

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLUMNS = ["dataset", "learner", "method", "label", "repetition", "metric", "value"]
_DOTS_PER_INCH = 100
_FAILED_COLUMNS = ["dataset", "learner", "method", "repetition", "status", "error_type", "message"]


def load_results(folder: Path | str) -> ExperimentResults:
    """Return the results that ``probcal run`` stored in a folder.

    Parameters
    ----------
    folder : Path or str
        Folder of one experiment, such as ``results/uci``.

    Returns
    -------
    ExperimentResults
        Frame, tables and figures of the results.

    Raises
    ------
    ProbcalError
        If the folder holds no results, or a file in it cannot be read.
    """
    return ExperimentResults(folder)


@dataclass(frozen=True)
class Tables:
    """Hold tables with a title. A notebook shows them as HTML, and ``print`` as Markdown.

    Parameters
    ----------
    title : str
        Title of all tables.
    grids : list of Grid
        Header, rows and notes of each table.
    """

    title: str
    grids: list[Grid]

    def __str__(self) -> str:
        return printable(markdown(self.title, self.grids))

    def _repr_html_(self) -> str:
        return f"<h3>{html.escape(self.title)}</h3>\n" + "\n".join(map(html_table, self.grids))


@dataclass(frozen=True)
class Figures:
    """Hold figures of matplotlib, which a notebook shows below one another.

    Parameters
    ----------
    figures : list of matplotlib Figure
        The figures, over which you can iterate.
    """

    figures: list[Figure]

    def __iter__(self) -> Iterator[Figure]:
        return iter(self.figures)

    def __len__(self) -> int:
        return len(self.figures)

    def _repr_html_(self) -> str:
        return "\n".join(map(_image_html, self.figures))


class ExperimentResults:
    """Read the results of one experiment. A notebook shows how many cells are done, and the tables.

    Parameters
    ----------
    folder : Path or str
        Folder of one experiment, such as ``results/uci``.

    Attributes
    ----------
    folder : Path
        The folder.

    Raises
    ------
    ProbcalError
        If the folder holds no results, or a file in it cannot be read.
    """

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        if self.folder.is_file():
            raise StoreError(f"{folder} is a file; give the folder of an experiment, such as results/uci")
        self._store = Store(self.folder)
        self._stored = StoredExperiment.of(self._store)

    @property
    def name(self) -> str:
        """Return the name of the experiment."""
        return self._stored.name

    @property
    def title(self) -> str:
        """Return the title of the experiment."""
        return self._stored.title

    @property
    def frame(self) -> pd.DataFrame:
        """Return one row for each metric of each done cell that the experiment plans.

        Returns
        -------
        DataFrame
            The columns are ``dataset``, ``learner``, ``method``, ``label`` (the header of the column in tables),
            ``repetition`` (the number of the split, from 0), ``metric`` and ``value``. ``value`` may be infinite or
            NaN.
        """
        stored, results = self._stored, self._store.results()
        rows = [
            (row.name, column.learner, column.method, column.label, cell.repetition, metric, value)
            for row in stored.datasets
            for column in stored.columns
            for cell in done_cells(stored, results, row, column)
            for metric, value in cell.metrics.items()
        ]
        return pd.DataFrame(rows, columns=_COLUMNS)

    @property
    def failed(self) -> pd.DataFrame:
        """Return one row for each planned cell that failed.

        Returns
        -------
        DataFrame
            The columns are ``dataset``, ``learner``, ``method``, ``repetition``, ``status``, and ``error_type`` and
            ``message`` of the error.
        """
        cells = cell_counts(self._stored, self._store.results()).failed
        rows = [[getattr(cell, name) for name in _FAILED_COLUMNS] for cell in cells]
        return pd.DataFrame(rows, columns=_FAILED_COLUMNS)

    def table(self) -> Tables:
        """Return the tables of ``probcal table``.

        Returns
        -------
        Tables
            A table for each metric, with published numbers where there are any.
        """
        return Tables(self.title, tables(self._store))

    def compare(self) -> Tables:
        """Return the ranks and tests of ``probcal compare``.

        Returns
        -------
        Tables
            Ranks and tests.

        Raises
        ------
        ProbcalError
            If no two methods have results of one data set.
        """
        from probcal.reporting.comparison.claim_support import compare
        from probcal.reporting.comparison.comparison_tables import comparison_grids

        return Tables(self.title, comparison_grids(compare(self._store)))

    def reliability(
        self, datasets: str | Sequence[str] = (), learners: str | Sequence[str] = (), methods: str | Sequence[str] = ()
    ) -> Figures:
        """Return a reliability diagram for each data set: observed frequency against predicted probability.

        Parameters
        ----------
        datasets, learners, methods : str or sequence of str, default=()
            Names of those to draw, one or several. An empty sequence selects all.

        Returns
        -------
        Figures
            Iterate over it for the ``matplotlib.figure.Figure`` of each data set.

        Raises
        ------
        ProbcalError
            If a name is unknown, or neither predictions nor a summary of them are stored. Also if matplotlib is not
            installed.
        """
        require("matplotlib", "a reliability diagram")
        from probcal.reporting.figures import build_prediction_figures

        selection = Selection(*map(as_names, (datasets, learners, methods)))
        return Figures(build_prediction_figures(self._store, "reliability", selection))

    def __repr__(self) -> str:
        return f"ExperimentResults({str(self.folder)!r}): {self._state_text()}"

    def _repr_html_(self) -> str:
        state = f"<p>{html.escape(printable(str(self.folder)))}: {html.escape(self._state_text())}</p>"
        return state + "\n" + self.table()._repr_html_()

    def _state_text(self) -> str:
        counts = cell_counts(self._stored, self._store.results())
        parts = [f"{counts.planned - len(counts.failed) - counts.not_run} done"]
        parts += [f"{len(counts.failed)} failed"] if counts.failed else []
        parts += [f"{counts.not_run} not run"] if counts.not_run else []
        parts += [f"{stale} of them stale"] if (stale := counts.stale.total()) else []
        return f"{counts.planned} cells: {', '.join(parts)}"


def _image_html(figure: Figure) -> str:
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=_DOTS_PER_INCH)
    return f'<img alt="" src="data:image/png;base64,{base64.b64encode(content.getvalue()).decode()}">'


def as_names(names: str | Sequence[str]) -> tuple[str, ...]:
    """Return the names as a tuple, also if ``names`` is a single one."""
    return (names,) if isinstance(names, str) else tuple(names)
