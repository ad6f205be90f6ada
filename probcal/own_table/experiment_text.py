"""The experiment on one table, as the YAML file that would run it again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from probcal.own_table.choices import Entry
from probcal.own_table.yaml_text import flow, key, quoted

METRICS = ("cxe", "rms", "auc", "c_emp", "ece")


@dataclass(frozen=True)
class Plan:
    """What is run on the table."""

    learners: Mapping[str, Entry]
    methods: Mapping[str, Entry]
    combinations: Mapping[str, Sequence[str]]
    splits: int
    seed: int
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Learner that others are run with unasked -> why not here."""

    @property
    def pairs(self) -> dict[str, list[str]]:
        """Learner -> the methods it is run with."""
        return {learner: list(self.combinations.get(learner, self.methods)) for learner in self.learners}

    @property
    def n_cells(self) -> int:
        return self.splits * sum(map(len, self.pairs.values()))


def experiment_text(plan: Plan, name: str, title: str, card: str, heading: str) -> str:
    """The file of the experiment ``name``; ``card``: the path of its card from there, ``heading``: its first line."""
    lines = [
        f"# {heading}",
        f"name: {quoted(name)}",
        f"title: {quoted(title)}",
        f"seed: {plan.seed}",
        f"repeats: {plan.splits}",
        f"datasets: [{quoted(card)}]",
        "learners:",
        *(f"  {key(learner)}: {flow(entry)}" for learner, entry in plan.learners.items()),
        "methods:",
        *(f"  {key(method)}: {flow(entry)}" for method, entry in plan.methods.items()),
    ]
    if plan.combinations:
        lines += ["combinations:", *(f"  {key(one)}: {flow(list(some))}" for one, some in plan.combinations.items())]
    lines.append(f"metrics: {flow(METRICS)}")
    return "\n".join(lines) + "\n"
