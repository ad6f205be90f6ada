"""Labels of a data set: their order, and the one that most rows have."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

MAJORITY = "majority"
"""The word on a card for the most frequent label, under ``positive``."""
NUMBER = re.compile(r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?")
"""The spelling of a number on a card and in its files."""


def in_order(labels: Iterable[str]) -> list[str]:
    """Return the distinct labels in order: by number where all are numbers ("10" after "9"), otherwise as text."""
    distinct = sorted(set(labels))
    return sorted(distinct, key=float) if all(map(NUMBER.fullmatch, distinct)) else distinct


def most_frequent(counts: Mapping[str, int]) -> str:
    """Return the label with the largest count, the first in order of several. Raises ValueError for no label."""
    return max(in_order(counts), key=lambda label: counts[label])
