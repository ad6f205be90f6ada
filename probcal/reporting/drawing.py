"""Common look of all figures: settings, headings, names and styles of lines, and saving."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import matplotlib
import matplotlib.style
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from probcal._io import refuse_links_out, refuse_other_kinds
from probcal.errors import StoreError
from probcal.reporting.grid import span_text

if TYPE_CHECKING:
    from probcal.store.folder import Store
    from probcal.store.stored_experiment import ResultColumn

Result = TypeVar("Result")

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9")
"""Colours of Okabe & Ito, which colour-blind people can distinguish, without yellow, which is too pale on white."""
GREY = "#555555"
"""Colour of zero lines, diagonals and notes."""
PANEL_SIZE = (3.5, 2.6)
"""Width and height in inches. Two panels fill the width of a page."""
NAME_WIDTH = 0.9
"""Inches to the right of a panel for the names of its lines."""
_LETTERS_AN_INCH = 15
_STYLE = {
    "font.size": 9,
    "axes.titlesize": 9,
    "figure.titlesize": 9,
    "text.parse_math": False,  # a title may hold two dollar signs
    # Text stays text, which can be searched.
    "svg.fonttype": "none",
    # Without it, ids in an SVG file are random.
    "svg.hashsalt": "probcal",
}
_SAVE_OPTIONS: dict[str, dict[str, Any]] = {
    # No names of versions and no dates, so that equal figures are equal files.
    "png": {"dpi": 200, "metadata": {"Software": None}},
    "svg": {"metadata": {"Date": None, "Creator": None}},
}


def drawing_style(**settings: Any) -> AbstractContextManager[None]:
    """Return a context in which matplotlib draws in our look, whatever the user's settings are."""
    return matplotlib.style.context(["default", {**_STYLE, **settings}])


def draw_styled(figures: Iterator[tuple[str, Figure]], function: Callable[[str, Figure], Result]) -> Iterator[Result]:
    """Draw the (name, figure) in our look, and yield what ``function`` makes of each.

    Outside, the user's settings apply.
    """
    while True:
        # Around each figure and not around all, because the caller's code runs between them.
        with drawing_style():
            pair = next(figures, None)
            if pair is None:
                return
            value = function(*pair)
        yield value


def figures_folder(store: Store) -> Path:
    """Return the folder inside a results folder where its figures lie."""
    return store.folder / "figures"


def save_figure(figure: Figure, stem: Path) -> list[Path]:
    """Write ``stem``.png and ``stem``.svg and return their paths. Equal figures give equal bytes.

    Raises StoreError for a link in their place, or in that of their folder, that leads out of the folder above. Raises
    StoreError too where something else than a file is in their place, and where they cannot be written.
    """
    folder = stem.parent.parent
    paths = [stem.with_name(f"{stem.name}.{kind}") for kind in _SAVE_OPTIONS]  # a name may hold a dot
    names = [str(path.relative_to(folder)) for path in paths]
    refuse_links_out(folder, [stem.parent.name, *names])
    refuse_other_kinds(folder, names, [stem.parent.name])
    try:
        stem.parent.mkdir(parents=True, exist_ok=True)
        for path, options in zip(paths, _SAVE_OPTIONS.values(), strict=True):
            figure.savefig(path, **options)
    except OSError as error:
        reason = error.strerror or error
        raise StoreError(f"cannot write figures to {stem.parent}: {reason}; choose another folder with -o") from None
    return paths


def titled_figure(title: str, width: float, height: float) -> Figure:
    """Return an empty figure. ``width`` and ``height`` are inches without the heading."""
    heading = textwrap.fill(title, int(width * _LETTERS_AN_INCH))
    figure = Figure(figsize=(width, height + 0.2 * heading.count("\n") + 0.5), layout="constrained")
    figure.suptitle(heading)
    return figure


def name_lines(axes: Axes) -> None:
    """Write the name of each line at its end, moved just far enough that names do not overlap."""
    ends = []
    for line in axes.get_lines():
        if str(line.get_label()).startswith("_"):  # a line without a name
            continue
        heights = np.asarray(line.get_ydata(), dtype=float)
        indices = np.flatnonzero(np.isfinite(heights))
        if len(indices):
            ends.append((float(heights[indices[-1]]), line))
    ends.sort(key=lambda end: end[0])
    low, high = axes.get_ylim()
    size = 0.055 * (high - low)
    for y, (end, line) in zip(_spread_places([end for end, _ in ends], size), ends, strict=True):
        axes.annotate(
            str(line.get_label()),
            xy=(1, end),
            xytext=(1.06, y),
            xycoords=("axes fraction", "data"),
            textcoords=("axes fraction", "data"),
            color=line.get_color(),
            verticalalignment="center",
            fontsize="small",
            arrowprops={"arrowstyle": "-", "color": line.get_color(), "linewidth": 0.5, "shrinkA": 0, "shrinkB": 0},
        )


def _spread_places(places: list[float], size: float) -> list[float]:
    """Move rising ``places`` as little as possible until neighbours are ``size`` apart. Runs keep their middle."""
    groups = [[place] for place in places]

    def spread(group: list[float]) -> list[float]:
        middle = sum(group) / len(group)
        return [middle + size * (index - (len(group) - 1) / 2) for index in range(len(group))]

    while overlaps := [
        i for i, (low, high) in enumerate(pairwise(groups)) if spread(high)[0] - spread(low)[-1] < size * (1 - 1e-9)
    ]:
        # One at a time, because joining two groups moves their places.
        first = overlaps[0]
        groups[first : first + 2] = [groups[first] + groups[first + 1]]
    return [place for group in groups for place in spread(group)]


def splits_text(n_splits: Iterable[int], mark: str) -> str:
    """Return the sentence that states the number of splits and that ``mark`` shows their spread."""
    counts = set(n_splits)
    larger_counts = [n for n in counts if n > 1]
    if not larger_counts:
        return "one split"
    remark = f"; no {mark}: one split" if 1 in counts else ""
    return f"mean over {span_text(larger_counts)} random splits, {mark}: ± one sd{remark}"


_SOLID: Any = "-"
_DASHES = (_SOLID, (0, (5, 1.5)), (0, (1, 1.2)), (0, (6, 1.5, 1, 1.5)), (0, (2.5, 1)))
_MARK_DISTANCE = 0.25
"""Distance of two marks of one curve, as a share of the diagonal of the axes."""
_MARKS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")


@dataclass(frozen=True)
class LineStyle:
    """Describe the look of line ``number``, counted from 0.

    The first 315 all differ, and so do any 45 in a row when printed in grey.
    """

    number: int

    @property
    def colour(self) -> str:
        return COLOURS[self.number % len(COLOURS)]

    def point_options(self) -> dict[str, Any]:
        """Return the arguments of ``Axes.plot`` for a line of a few points, each with a mark."""
        return {**self._options(), "clip_on": False}

    def curve_options(self) -> dict[str, Any]:
        """Return the arguments of ``Axes.plot`` for a line of many points, with few marks, apart between curves."""
        start = _MARK_DISTANCE * (0.1 + 0.8 * (self.number * 4 % len(_MARKS)) / len(_MARKS))
        return {**self._options(), "markevery": (start, _MARK_DISTANCE)}

    def _options(self) -> dict[str, Any]:
        return {
            "color": self.colour,
            "linestyle": _DASHES[self.number % len(_DASHES)],
            "marker": _MARKS[self.number % len(_MARKS)],
            "markersize": 3.5,
            "linewidth": 1.1,
        }


def panel_groups(columns: Sequence[ResultColumn]) -> dict[ResultColumn, str]:
    """Return the group of each column for panels. Columns alone in their group form one group without a name."""
    no_groups = len({column.group for column in columns}) == len(columns)
    return {column: "" if no_groups else column.group for column in columns}


def line_styles(groups: Mapping[ResultColumn, str]) -> dict[ResultColumn, LineStyle]:
    """Return a style for each method, the same with every learner. Columns of one group never share a style."""
    numbers: dict[Hashable, int] = {}
    styles: dict[ResultColumn, LineStyle] = {}
    group_numbers: set[tuple[str, int]] = set()
    for column, group in groups.items():
        number = numbers.setdefault(column.method, len(numbers))
        if (group, number) in group_numbers:
            # Another column of this group has the style of the method already.
            number = numbers.setdefault((column.learner, column.method), len(numbers))
        group_numbers.add((group, number))
        styles[column] = LineStyle(number)
    return styles
