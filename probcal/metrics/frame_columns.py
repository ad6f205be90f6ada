"""Columns of a frame of probabilities that are named after the classes: matched by name, and not by place."""

from __future__ import annotations

from typing import Any

import numpy as np


def match_names(y: Any, p: Any, pos_label: Any = None) -> tuple[Any, Any]:
    """Return (y, p) with the columns of ``p`` in the sorted order of the labels that they are named after.

    Labels become the numbers of their columns, from 0, unless ``pos_label`` is given. Then the column that is named
    after it comes second. Whatever is no frame, or has other names, is returned as it is. Raises ValueError if only
    some of the labels have a column.
    """
    names = getattr(p, "columns", None)
    if names is None or np.ndim(p) != 2 or np.ndim(y) != 1:
        return y, p
    texts = [_text(name) for name in names]
    labels = np.asarray(y, dtype=object)
    found = sorted({_text(label) for label in labels.tolist() if label == label})
    matched = [text for text in found if text in texts]
    if not matched:
        return y, p
    if len(matched) < len(found) or len(set(texts)) < len(texts):
        raise ValueError(
            f"y holds the labels {', '.join(found[:5])}, and the columns of p are {', '.join(texts[:5])}; name each "
            "column after its label, or give an array"
        )
    order = sorted(range(len(texts)), key=lambda place: _rank(texts[place]))
    values = np.asarray(p)
    if pos_label is not None:
        if len(texts) == 2 and _text(pos_label) in texts:
            second = texts.index(_text(pos_label))
            return y, values[:, [1 - second, second]]
        return y, values
    places = {texts[place]: number for number, place in enumerate(order)}
    numbers = np.array([places.get(_text(label), np.nan) for label in labels.tolist()], dtype=np.float64)
    return numbers, values[:, order]


def _text(label: Any) -> str:
    """Return a label as text. The whole number 1.0 is the text 1, as a column of a file may be named."""
    if isinstance(label, (float, np.floating)) and float(label).is_integer():
        return str(int(label))
    return str(label)


def _rank(text: str) -> tuple[int, float, str]:
    """Return what sorts texts as their labels: numbers by value, before texts."""
    try:
        return 0, float(text), text
    except ValueError:
        return 1, 0.0, text
