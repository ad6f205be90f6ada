"""How far a stream has come: all that changes from row to row."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self

from probcal.protection.checks import listed, number, whole
from probcal.protection.feedback import Feedback
from probcal.protection.jumper import Jumper
from probcal.protection.long_sum import LongSum


@dataclass(slots=True)
class Progress:
    """``log10`` is log10 S and ``highest`` the most that it has been; there are no ``jumpers`` before the first row."""

    n_classes: int | None = None
    log10: LongSum = field(default_factory=LongSum)
    highest: float = 0.0
    jumpers: list[Jumper] = field(default_factory=list)
    feedback: Feedback = field(default_factory=Feedback)

    def state(self) -> dict[str, Any]:
        return {
            "n_classes": self.n_classes,
            "log10_martingale": self.log10.state(),
            "highest": self.highest,
            "jumpers": [one.state() for one in self.jumpers],
            "feedback": self.feedback.state(),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any], fresh: Callable[[int], list[Jumper]]) -> Self:
        """``fresh`` makes the Jumpers for a number of classes.

        Raises ValueError, which says where, for what ``state`` does not return.
        """
        n_classes = state["n_classes"]
        jumpers = [] if n_classes is None else fresh(whole(n_classes, "n_classes", 2))
        saved = listed(state["jumpers"], "jumpers", len(jumpers))
        for place, (jumper, one) in enumerate(zip(jumpers, saved, strict=True)):
            jumper.restore(one, f"jumpers[{place}]")
        return cls(
            n_classes,
            LongSum.from_state(state["log10_martingale"], "log10_martingale"),
            number(state["highest"], "highest", 0, math.inf),
            jumpers,
            Feedback.from_state(state["feedback"], len(jumpers[0].capital) if jumpers else 0),
        )
