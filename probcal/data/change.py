"""How the law of a generated stream changes along its test rows, as a card says it."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

Real = Annotated[float, Field(allow_inf_nan=False)]
TestRows = Annotated[int, Field(ge=0, strict=True)]


class _Change(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    at: TestRows
    """So many test rows come before it."""


class _OtherLaw(_Change):
    """The law once the change is complete: log-odds of intercept + slope w'x. Before, the slope is 1."""

    intercept: Real
    """Of its log-odds."""
    slope: Real
    """What its weighted sum is multiplied by."""


class NoChange(BaseModel):
    """The law of the training rows holds to the end."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["none"]
    """The law stays as it is."""


class Sudden(_OtherLaw):
    """The other law holds from one row on."""

    kind: Literal["sudden"]
    """The other law holds from one row on."""

    def share(self, rows: np.ndarray, n: int) -> np.ndarray:
        """How far the law of each of the test ``rows``, (n_rows,) numbers below ``n``, is the other one, in [0, 1]."""
        return (rows >= self.at).astype(np.float64)


class Drift(_OtherLaw):
    """The law moves towards the other one in equal steps, and is there at the last row."""

    kind: Literal["drift"]
    """The law moves to the other one in equal steps."""

    def share(self, rows: np.ndarray, n: int) -> np.ndarray:
        """As that of ``Sudden``."""
        return np.clip((rows + 1 - self.at) / (n - self.at), 0, 1)


class Recurring(_OtherLaw):
    """The other law holds for ``every`` rows, the first one for as many, and so on."""

    kind: Literal["recurring"]
    """The two laws take turns."""
    every: Annotated[int, Field(ge=1, strict=True)]
    """So many rows at a time."""

    def share(self, rows: np.ndarray, n: int) -> np.ndarray:
        """As that of ``Sudden``."""
        return ((rows >= self.at) & ((rows - self.at) // self.every % 2 == 0)).astype(np.float64)


class Adversary(_Change):
    """Every label is the one that the law of the training rows holds to be less likely."""

    kind: Literal["adversarial"]
    """Labels become those held to be less likely."""


Change = Annotated[NoChange | Sudden | Drift | Recurring | Adversary, Field(discriminator="kind")]
