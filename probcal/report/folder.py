"""A results folder as it was at one moment: a run may go on writing to it while the page is made."""

from __future__ import annotations

import functools
from typing import Any

from probcal.show.summary import Results
from probcal.store import Store


class AsItWas(Store):
    """Reads each file once, so that every part of the page tells of the same cells."""

    @functools.cached_property
    def _experiment(self) -> dict[str, Any]:
        return super().experiment()

    @functools.cached_property
    def _results(self) -> Results:
        return super().results()

    def experiment(self) -> dict[str, Any]:
        return self._experiment

    def results(self) -> Results:
        return self._results
