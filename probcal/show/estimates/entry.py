"""What is kept of the estimates of one data set and column: the counts that every figure of them follows from."""

from __future__ import annotations

from itertools import accumulate
from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

from probcal.show.estimates.kept import Estimates
from probcal.show.estimates.reliability import Reliability, reliability
from probcal.show.estimates.roc import RocCurve, roc_curve
from probcal.show.estimates.scores import ScoreHistogram, score_histogram

_MOST = 1000
"""Bins and points; ours are fewer, and a file from elsewhere may hold any number."""
Count = Annotated[int, Field(ge=0, le=10**12)]
Counts = Annotated[list[Count], Field(min_length=1, max_length=_MOST)]
Share = Annotated[float, Field(ge=0, le=1)]


class Entry(BaseModel):
    """A line of ``estimates.json``. Figures are drawn from it even when the estimates are there: they cannot differ."""

    model_config = ConfigDict(frozen=True, strict=True, allow_inf_nan=False)

    dataset: str
    learner: str
    method: str
    digest: str
    """Of the estimates that it is about."""
    splits: Annotated[int, Field(ge=1, le=10**6)]
    appearances: Annotated[float, Field(ge=1, le=10**6)]
    top_label: bool
    mean: Annotated[list[Share], Field(min_length=1, max_length=_MOST)]
    """Of each bin of the reliability diagram, as ``counts`` and ``positive`` are."""
    counts: Counts
    positive: Counts
    scores: tuple[Counts, Counts]
    """Of negative and positive rows."""
    roc: tuple[Counts, Counts] | None
    """How many negative and positive rows each point is further than the one before."""

    @model_validator(mode="after")
    def _fits_together(self) -> Entry:
        if not len(self.mean) == len(self.counts) == len(self.positive):
            raise ValueError("mean, counts and positive are not equally long")
        if not all(0 <= k <= n and n for k, n in zip(self.positive, self.counts, strict=True)):
            raise ValueError("more positive rows than rows, or no rows, in a bin")
        if len(self.scores[0]) != len(self.scores[1]):
            raise ValueError("scores are not equally long")
        if self.roc and not (len(self.roc[0]) == len(self.roc[1]) and all(map(any, zip(*self.roc, strict=True)))):
            raise ValueError("roc has steps that lead nowhere")
        if self.roc and not all(map(any, self.roc)):
            raise ValueError("roc has rows of one class only")
        return self

    @classmethod
    def of(cls, one: Estimates, digest: str) -> Entry:
        curve, histogram, roc = reliability(one), score_histogram(one), roc_curve(one)
        steps = None if roc is None else (np.diff(roc.negative).tolist(), np.diff(roc.positive).tolist())
        return cls(
            dataset=one.row.name,
            learner=one.column.learner,
            method=one.column.method,
            digest=digest,
            splits=one.n_splits,
            appearances=one.appearances,
            top_label=one.top_label,
            mean=curve.mean.tolist(),
            counts=list(curve.counts),
            positive=list(curve.positive),
            scores=(histogram.negative.tolist(), histogram.positive.tolist()),
            roc=steps,
        )

    @property
    def name(self) -> tuple[str, str, str]:
        return self.dataset, self.learner, self.method

    @property
    def reliability(self) -> Reliability:
        return Reliability.of(self.mean, self.counts, self.positive, self.appearances)

    @property
    def histogram(self) -> ScoreHistogram:
        return ScoreHistogram.of(*self.scores)

    @property
    def roc_curve(self) -> RocCurve | None:
        return None if self.roc is None else RocCurve(*(_from_zero(steps) for steps in self.roc))


def _from_zero(steps: list[int]) -> Any:
    return np.array(list(accumulate(steps, initial=0)), np.int64)
