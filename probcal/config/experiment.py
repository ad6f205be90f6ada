"""An experiment: its data sets, learners and methods, read from one YAML file and checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import ValidationError

from probcal.config.columns import ExperimentColumn, Override, Resolution
from probcal.config.config_files import config_names, find_config
from probcal.config.entries import Component
from probcal.config.experiment_file import MOST_SPLITS, ExperimentFile, card_reader
from probcal.data.card import Card
from probcal.data.splits import Split, repetitions_of
from probcal.errors import ProbcalError, did_you_mean
from probcal.yaml_file import KeyPath, YamlFile, texts
from probcal.yaml_validation import Validation

__all__ = [
    "Component",
    "Experiment",
    "ExperimentColumn",
    "config_names",
    "find_config",
    "parse_experiment",
    "read_experiment",
]


@dataclass(frozen=True)
class Experiment:
    """Hold a checked experiment with every name resolved."""

    name: str
    title: str
    paper: str | None
    seed: int
    repeats: int
    cards: tuple[Card, ...]
    columns: tuple[ExperimentColumn, ...]
    metrics: tuple[str, ...]
    path: Path
    text: str
    overrides: tuple[Override, ...] = ()
    stages: tuple[str, ...] = ()
    """The metrics that are also measured after every stage, where a method has stages."""
    curves: tuple[str, ...] = ()
    repeat_fixed_splits: bool = False
    weka: str | None = None
    """The release of Weka that the numbers are of. None means the Weka that is installed, whichever it is."""
    processor: str | None = None
    """The level of instructions that compute. None means all that the processor has."""
    split: Split | None = None
    """The split that replaces those of the cards."""
    max_rows: int | None = None
    """The largest number of training and of test rows (``--quick``). None means all rows."""

    def repetitions_of(self, card: Card) -> int:
        """Return how often a data set is split, drawn, or fitted with another seed. Each fold is a split."""
        split = self.split or card.split
        if self.split or split.folds:
            return split.n_splits(self.repeats, self.repeat_fixed_splits)
        return repetitions_of(card, self.repeats, self.repeat_fixed_splits)

    def with_overrides(self, card: Card, column: ExperimentColumn) -> tuple[Card, ExperimentColumn] | None:
        """Return the card and column of these cells with exceptions applied, or None where they are skipped."""
        learner, method, dataset = column.learner, column.method, card.name
        # all that apply, one after the other: two of them never set the same thing
        for override in self.overrides:
            if not override.applies_to(dataset, learner.name, method.name):
                continue
            if override.skip:
                return None
            card = override.card or card
            if override.use:
                learner = replace(
                    learner, path=override.use.path, params=dict(override.use.params), encoding=override.use.encoding
                )
            learner = replace(learner, params={**learner.params, **override.params})
            method = replace(method, params={**method.params, **override.method_params})
            column = replace(column, learner=learner, method=method)
        return card, column  # the same object for all cards, so that what follows from it is computed once

    def used_cards(self) -> tuple[Card, ...]:
        """Return the cards that the cells read: those of the data sets and of exceptions."""
        pairs = [self.with_overrides(card, column) for card in self.cards for column in self.columns]
        # By equality and not by name, because two cards may have the same name.
        return tuple(dict.fromkeys(card for card, _ in filter(None, pairs)))

    def select(
        self, datasets: tuple[str, ...] = (), learners: tuple[str, ...] = (), methods: tuple[str, ...] = ()
    ) -> Experiment:
        """Return the experiment with only the named data sets, learners and methods. No name selects all of its kind.

        Raises one ProbcalError for all names that the experiment does not have, and when no learner keeps a method.
        """
        choices = {
            "data set": ({card.name for card in self.cards}, datasets),
            "learner": ({name for column in self.columns for name in column.learner.selectable_names}, learners),
            "method": ({name for column in self.columns for name in column.method.selectable_names}, methods),
        }
        messages = [
            f'{self.name} has no {kind} "{name}"{did_you_mean(name, names)} (it has: {", ".join(sorted(names))})'
            for kind, (names, selection) in choices.items()
            for name in selection
            if name not in names
        ]
        if messages:
            raise ProbcalError("\n".join(messages))
        columns = tuple(
            column
            for column in self.columns
            if (not learners or set(learners) & {*column.learner.selectable_names})
            and (not methods or set(methods) & {*column.method.selectable_names})
        )
        if not columns:
            raise ProbcalError(f"{self.name} does not combine {', '.join(learners)} with {', '.join(methods)}")
        cards = tuple(card for card in self.cards if not datasets or card.name in datasets)
        return replace(self, cards=cards, columns=columns)


def read_experiment(path: Path) -> Experiment:
    """Return the experiment in ``path``. Raise FileProblems with all its faults, each with its line."""
    return parse_experiment(YamlFile.read(path))


def parse_experiment(file: YamlFile, *, check_classes: bool = True) -> Experiment:
    """Return the experiment in a file already read. Raise FileProblems with all its faults.

    Without ``check_classes``, classes of probcal and scikit-learn are not imported, and parameters are as given.
    """
    card_of = card_reader(file.path.parent)
    validation = Validation(ExperimentFile, file, card_of)
    resolution = Resolution(file, validation.faulty_paths, card_of, check_classes=check_classes)
    check_splits(file, validation.faulty_paths, card_of)
    # Raises last, so that the faults of columns and splits are reported together with those of the model.
    content = validation.finish()
    return Experiment(
        name=content.name,
        title=content.title or content.name,
        paper=content.paper,
        seed=content.seed,
        repeats=content.repeats,
        cards=tuple(map(card_of, content.datasets)),
        columns=tuple(resolution.columns),
        metrics=tuple(content.metrics),
        stages=tuple(content.stages),
        curves=tuple(content.curves),
        repeat_fixed_splits=content.repeat_fixed_splits,
        weka=content.weka,
        processor=content.processor,
        split=content.split,
        path=file.path,
        text=file.text,
        overrides=tuple(resolution.overrides),
    )


def check_splits(file: YamlFile, faulty_paths: list[KeyPath], card_of: Callable[[str], Card]) -> None:
    """Report to ``file`` each data set that its ``split`` does not fit, and too many splits.

    Parts at ``faulty_paths`` are skipped, because pydantic reports them. ``card_of`` reads a card.
    """
    data = file.data
    if {path[:1] for path in faulty_paths} & {("split",), ("repeats",), ("repeat_fixed_splits",), ("datasets",)}:
        return
    try:
        experiment_split = Split.model_validate(data["split"]) if data.get("split") else None
    except ValidationError:
        return
    repeats, repeat_fixed = data.get("repeats", 1), data.get("repeat_fixed_splits", False)
    n_splits = 0
    for index, name in enumerate(texts(data.get("datasets"))):
        try:
            card = card_of(name)
        except ProbcalError:
            continue  # reported at the data set's own line
        fault = experiment_split.fault(card.columns, card.expect.rows) if experiment_split else None
        if experiment_split and card.generator:
            fault = "its rows are drawn anew in every repetition"
        if fault:
            file.report(("datasets", index), f"{card.name}: the split of the experiment does not fit: {fault}")
        n_splits = max(n_splits, (experiment_split or card.split).n_splits(repeats, repeat_fixed))
    if n_splits > MOST_SPLITS:
        file.report(
            ("repeats",), f"repeats: {repeats} repetitions have {n_splits:,} splits, at most {MOST_SPLITS:,} can be run"
        )
