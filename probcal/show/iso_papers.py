"""The figures of papers on sweeps over class weights, and what results they are of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from probcal.errors import FileProblems
from probcal.resources import shipped
from probcal.show.outline import Outline
from probcal.show.plane_panels import number_of
from probcal.show.sweeps import Sweep
from probcal.yaml_file import YamlFile


@dataclass(frozen=True)
class Panel:
    """One sweep in a figure; no ``levels`` are all of them."""

    dataset: str
    learner: str
    method: str = "weight_sweep"
    title: str = ""
    levels: tuple[float, ...] = ()
    names: dict[float, str] = field(default_factory=dict)
    scores: bool = False

    def shows(self, sweep: Sweep) -> bool:
        return (sweep.row.name, sweep.column.learner, sweep.column.method) == (self.dataset, self.learner, self.method)


_LINES = "Surfaces of equal probability, "

PAPERS: dict[str, dict[str, tuple[str, tuple[Panel, ...]]]] = {
    # Nalbantov & Ivanov (2019), sections 3 and 4
    "isoprobability": {
        "figure-2": (
            f"Figure 2. {_LINES}linear support vector machine, C = 1",
            (
                Panel("gaussians", "svm", title="All rows"),
                Panel("gaussians", "svc", "support_vectors", title="Support vectors only"),
            ),
        ),
        "figure-3": (f"Figure 3. {_LINES}logistic regression", (Panel("gaussians", "logistic", title="All rows"),)),
        "figure-4": (
            f"Figure 4. {_LINES}pruned decision tree",
            tuple(
                Panel("gaussians", "tree", title="Levels " + ", ".join(map(number_of, levels)), levels=levels)
                for levels in ((0.1, 0.7, 0.9), (0.05, 0.55), (0.25, 0.8, 0.95))
            ),
        ),
        "figure-5": (
            "Figure 5. Raw score and estimated probability, by steps of .05",
            (
                Panel("gaussians", "svm", title="Support vector machine", scores=True),
                Panel("gaussians", "logistic", title="Logistic regression", scores=True),
            ),
        ),
        "figure-6": (
            "Figure 6. Two surfaces of one learner that cross",
            (
                Panel(
                    "gaussians-14",
                    "svc",
                    "two_weights",
                    title="Linear support vector machine, 14 rows of each class",
                    names={0.5: "w₊ = 1.5, w₋ = 1.5 (p = 1/2)", 0.6667: "w₊ = 1, w₋ = 2 (p = 2/3)"},
                ),
            ),
        ),
    }
}
"""Name of a shipped experiment -> name of a file -> heading and panels. Sweeps in none of them have a figure each."""


def of_a_paper(outline: Outline) -> Callable[[Sweep], bool]:
    """Tells of which sweeps the shipped experiment of the same name has the data set, the learner and the method."""
    name = outline.name.removesuffix("-quick")
    if name not in PAPERS:
        return lambda sweep: False
    theirs = _parsed((shipped("configs") / f"{name}.yaml").read_text(encoding="utf-8"))
    ours = _parsed(outline.config)

    def is_theirs(sweep: Sweep) -> bool:
        row, column = sweep.row, sweep.column
        entries = (("learners", column.learner), ("methods", column.method))
        return (
            all(_entry(ours, *one) == _entry(theirs, *one) for one in entries)
            and all(row.name in config["datasets"] for config in (ours, theirs))
            and not any(one.is_about(row, column) for one in outline.exceptions if not one.skip)
        )

    return is_theirs


def _parsed(text: str) -> dict[str, Any]:
    try:
        config = YamlFile(Path("config"), text).data
    except FileProblems:  # the folder's copy, which somebody has edited
        config = {}
    datasets = config.get("datasets")
    return {**config, "datasets": datasets if isinstance(datasets, list) else []}


def _entry(config: dict[str, Any], section: str, name: str) -> Any:
    """That of ``name``, None where nothing is set, and ``name`` itself where there is none."""
    entries = config.get(section)
    return entries.get(name, name) if isinstance(entries, dict) else name
