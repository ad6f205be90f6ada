"""Find classes among others by value or by name, so that columns can be put in the order of the classes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np


def places_among(known: Iterable[Any], wanted: Iterable[Any]) -> list[int]:
    """Return the place of each of the ``wanted`` classes among the ``known`` ones, and -1 where there is none.

    Classes match by value, as 9 and 9.0 do. Where more of them match by name, as 9 and "9" do, names decide.
    """
    known, wanted = _values(known), _values(wanted)
    readings: list[Callable[[Any], Any]] = [lambda one: one, str, _name]
    found = [_places([read(one) for one in known], [read(one) for one in wanted]) for read in readings]
    return min(found, key=lambda places: places.count(-1))


def column_names(frame: Any) -> list[Any]:
    """Return the names of the columns of a frame. Those that pandas gives by default, from 0 on, name nothing."""
    names = list(getattr(frame, "columns", []))
    default = type(getattr(frame, "columns", None)).__name__ == "RangeIndex" and names == list(range(len(names)))
    return [] if default else names


def _values(classes: Iterable[Any]) -> list[Any]:
    return [one.item() if isinstance(one, np.generic) else one for one in classes]


def _places(known: list[Any], wanted: list[Any]) -> list[int]:
    place = {one: number for number, one in enumerate(known)}
    return [place.get(one, -1) for one in wanted] if len(place) == len(known) else [-1] * len(wanted)


def _name(one: Any) -> str:
    return str(int(one)) if isinstance(one, float) and one.is_integer() else str(one)
