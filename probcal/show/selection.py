"""A part of an experiment: the data sets, learners and methods that were asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from probcal.errors import ProbcalError, did_you_mean
from probcal.show.outline import Outline

_MOST_TOLD = 40


@dataclass(frozen=True)
class Selection:
    """Names; all of a kind where none is given. A name before the dot of a variant stands for all variants."""

    datasets: tuple[str, ...] = ()
    learners: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()

    def of(self, outline: Outline) -> Outline:
        """What is left of it, which may be nothing."""
        rows = [row for row in outline.datasets if not self.datasets or row.name in self.datasets]
        columns = [
            column
            for column in outline.columns
            if (not self.learners or set(self.learners) & _called(column.learner))
            and (not self.methods or set(self.methods) & _called(column.method))
        ]
        return outline.model_copy(update={"datasets": rows, "columns": columns})

    def refuse_unknown(self, outlines: Sequence[Outline]) -> None:
        """Raises ProbcalError for names that none of them has, all at once, and where nothing is left of any."""
        columns = [column for outline in outlines for column in outline.columns]
        known = {
            "data set": ([{row.name} for outline in outlines for row in outline.datasets], self.datasets),
            "learner": ([_called(column.learner) for column in columns], self.learners),
            "method": ([_called(column.method) for column in columns], self.methods),
        }
        wrong = []
        for kind, (names, wanted) in known.items():
            there = sorted(set().union(*names))
            told = ", ".join(there[:_MOST_TOLD]) + (", ..." if len(there) > _MOST_TOLD else "")
            wrong += [
                f'there is no {kind} "{name}"{did_you_mean(name, there)} (there are: {told})'
                for name in wanted
                if name not in there
            ]
        if wrong:
            raise ProbcalError("\n".join(wrong))
        if not any(left.datasets and left.columns for left in map(self.of, outlines)):
            asked = [", ".join(names) for names in (self.datasets, self.learners, self.methods) if names]
            raise ProbcalError(f"no experiment here has {' with '.join(asked)}")


def _called(name: str) -> set[str]:
    return {name, name.partition(".")[0]}
