"""Words written on lines, inside the picture and clear of each other."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

_STEP = 2.0
"""Points of the page between places that are tried along a line."""
_EDGE = 5.0
"""Points of the page that a label stays clear of the picture's edge."""
_ENOUGH = 30.0
"""Points of the page: further apart than this, labels gain nothing."""


def label_lines(axes: Axes, lines: list[tuple[np.ndarray, str, str]], size: float, rows: np.ndarray) -> list[str]:
    """Write each (line, text, colour) on its (n, 2) line, along it; the texts for which there is no room.

    A text stands where its line is straightest, other texts are farthest and least of other lines and of ``rows``,
    (n, 2), is covered. The limits and the layout of the figure must stand: call this last.
    """
    axes.figure.draw_without_rendering()  # type: ignore[union-attr]  # of a figure, not of a part of one
    scale = 72 / axes.figure.dpi
    window = axes.get_window_extent()
    low, high = np.array(window.min) * scale, np.array(window.max) * scale
    on_page = [axes.transData.transform(line) * scale for line, _, _ in lines]
    samples = [_along(line, 2 * _STEP) for line in on_page]
    rows = axes.transData.transform(rows) * scale
    taken: list[np.ndarray] = []
    unwritten = []
    for number, (_, text, colour) in enumerate(lines):
        half = np.array([0.34 * size * len(text) + 1, 0.62 * size])
        avoid = np.concatenate([rows, *samples[:number], *samples[number + 1 :]])
        place = _place(on_page[number], half, low, high, taken, avoid)
        if place is None:
            unwritten.append(text)
            continue
        middle, angle = place
        taken.append(_cover(middle, angle, half))
        written = axes.text(  # type: ignore[call-arg]  # two coordinates
            *axes.transData.inverted().transform(middle / scale),
            text,
            color=colour,
            fontsize=size,
            rotation=np.degrees(angle),
            rotation_mode="anchor",
            horizontalalignment="center",
            verticalalignment="center_baseline",
            bbox={"boxstyle": "square,pad=0.08", "facecolor": "white", "edgecolor": "none"},
            zorder=5,
        )
        written.set_in_layout(False)
    return unwritten


def _place(
    line: np.ndarray,
    half: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    taken: list[np.ndarray],
    avoid: np.ndarray,
) -> tuple[np.ndarray, float] | None:
    """The middle of a label and its angle in radians; None where there is no room on the line."""
    lengths = _lengths(line)

    def at(along: float) -> np.ndarray:
        return np.array([np.interp(along, lengths, line[:, k]) for k in (0, 1)])

    best, best_worth = None, -np.inf
    for along in np.arange(half[0], lengths[-1] - half[0] + 1e-9, _STEP):
        middle, run = at(along), at(along + half[0]) - at(along - half[0])
        straight = np.linalg.norm(run) / (2 * half[0])
        angle = np.arctan2(run[1], run[0])
        angle = (angle + np.pi / 2) % np.pi - np.pi / 2  # never upside down
        cover = _cover(middle, angle, half)
        if (cover < low + _EDGE).any() or (cover > high - _EDGE).any():
            continue
        away = min((np.linalg.norm(cover[:, None] - other[None], axis=2).min() for other in taken), default=_ENOUGH)
        if away < 1.3 * half[1]:
            continue
        apart = np.linalg.norm(avoid[:, None] - cover[None], axis=2).min(axis=1, initial=np.inf)
        hidden = np.count_nonzero(apart < 1.5 * half[1])
        off_centre = np.linalg.norm(middle - (low + high) / 2)
        worth = min(away, _ENOUGH) + 40 * min(straight - 1, 0) - 0.02 * off_centre - 2 * hidden
        if worth > best_worth:
            best, best_worth = (middle, float(angle)), worth
    return best


def _cover(middle: np.ndarray, angle: float, half: np.ndarray) -> np.ndarray:
    """(n, 2) places along the middle of a label, about as far apart as it is high."""
    along = np.linspace(-half[0], half[0], max(3, int(np.ceil(2 * half[0] / half[1]))))
    return np.asarray(middle + np.column_stack([along * np.cos(angle), along * np.sin(angle)]))


def _lengths(line: np.ndarray) -> np.ndarray:
    """(n,) how far along the line each of its points lies."""
    return np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(line, axis=0), axis=1))])


def _along(line: np.ndarray, step: float) -> np.ndarray:
    """(m, 2) points along the line, ``step`` apart."""
    lengths = _lengths(line)
    places = np.arange(0, lengths[-1], step)
    return np.column_stack([np.interp(places, lengths, line[:, k]) for k in (0, 1)])
