"""The metrics of a cell once more, from the predictions that were kept: no fit is needed for that."""

from __future__ import annotations

from dataclasses import replace

from probcal.errors import StoreError
from probcal.metrics import ABOUT_METHODS
from probcal.run.execute import Outcome, measured, truth_of
from probcal.run.plan import Planned
from probcal.store import Store


def measured_again(planned: Planned, store: Store, run: str) -> Outcome | None:
    """The outcome when only the metrics changed; None when the cell has to be fitted again."""
    if planned.kept is None:
        return None
    told = {name: planned.kept.metrics.get(name) for name in planned.cell.asked if name in ABOUT_METHODS}
    if None in told.values():  # only the fitted method can tell
        return None
    try:
        metrics = measured(*store.predictions(planned.kept), truth_of(planned.cell), planned.cell.asked)
    except (StoreError, ValueError):
        return None
    metrics |= told  # type: ignore[arg-type]  # none is None, as was just asked
    return Outcome(replace(planned.kept, metrics=metrics, stages={}, curves={}, key=planned.key, run=run))
