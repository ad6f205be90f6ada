"""The splits of an experiment: whether they fit its data sets, and how many there are."""

from __future__ import annotations

from collections.abc import Callable

from pydantic import ValidationError

from probcal.config.experiment_file import MOST_SPLITS
from probcal.config.yaml_file import Place, YamlFile, texts
from probcal.data.card import Card
from probcal.data.card_split import Split
from probcal.errors import ProbcalError


def check_splits(file: YamlFile, malformed: list[Place], card_of: Callable[[str], Card]) -> None:
    """Report to ``file`` each data set that its ``split`` does not fit, and too many splits.

    Parts at ``malformed`` places are skipped, because pydantic reports them. ``card_of`` reads a card.
    """
    data = file.data
    if {place[:1] for place in malformed} & {("split",), ("repeats",), ("repeat_fixed_splits",), ("datasets",)}:
        return
    try:
        of_experiment = Split.model_validate(data["split"]) if data.get("split") else None
    except ValidationError:
        return
    repeats, fixed_too = data.get("repeats", 1), data.get("repeat_fixed_splits", False)
    most = 0
    for index, name in enumerate(texts(data.get("datasets"))):
        try:
            card = card_of(name)
        except ProbcalError:
            continue  # reported at the data set's own line
        if of_experiment and (fault := _misfit(of_experiment, card)):
            file.report(("datasets", index), f"{card.name}: the split of the experiment does not fit: {fault}")
        most = max(most, (of_experiment or card.split).n_splits(repeats, fixed_too))
    if most > MOST_SPLITS:
        file.report(
            ("repeats",), f"repeats: {repeats} repetitions have {most:,} splits, at most {MOST_SPLITS:,} can be run"
        )


def _misfit(split: Split, card: Card) -> str | None:
    if card.generator:
        return "its rows are drawn anew in every repetition"
    return split.fault(card.columns, card.expect.rows)
