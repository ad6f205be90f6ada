"""The description of an experiment in its results folder: what tables need, what is stale, and the text of its file.

Commands that only have the folder read the experiment back from it.
"""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from probcal.components.classes import import_class
from probcal.config.experiment import Component, Experiment, parse_experiment
from probcal.data.card import NO_INPUTS, Card
from probcal.data.splits import Split
from probcal.errors import ProbcalError, StoreError
from probcal.runner.cell import list_cells
from probcal.runner.failure_advice import short_path
from probcal.runner.identity import Identities, changed_parts, has_same_metrics
from probcal.runner.plan import find_missing_metrics
from probcal.store.cell_result import CellResult
from probcal.store.folder import Store, by_run
from probcal.store.stored_experiment import StoredExperiment
from probcal.yaml_file import YamlFile

FILE_PARTS = ("config", "config_path")
"""Parts of the description that change no table, such as a comment."""


def describe(experiment: Experiment, folder: Path) -> dict[str, Any]:
    """Return the experiment as plain values: everything that tables need, and the text of its file.

    ``folder`` is where it will be stored. The path of the config is relative to it.
    """
    return {
        "name": experiment.name,
        "title": experiment.title,
        "paper": experiment.paper,
        "metrics": list(experiment.metrics),
        "curves": list(experiment.curves),
        "seed": experiment.seed,
        "datasets": [
            {"name": card.name, "title": card.title, "reading_of": card.reading_of}
            | _split(experiment.split or card.split)
            | ({"drawn": True} if card.generator else {})
            | _plane_labels(card)
            | _class_counts(card)
            for card in experiment.cards
        ],
        "repetitions": {card.name: experiment.repetitions_of(card) for card in experiment.cards},
        "columns": [
            {
                "learner": column.learner.name,
                "method": column.method.name,
                "label": column.label,
                "group": column.group,
                "paper_learner": column.learner.paper,
                "paper_method": column.method.paper,
                "encoding": column.learner.encoding,
                # YAML also has dates, which become texts.
                "settings": json.loads(
                    json.dumps({"type": column.method.path, "params": column.method.params}, default=str)
                ),
                **(
                    {"before_and_after": True}
                    if experiment.stages and getattr(import_class(column.method.path), "before_and_after", False)
                    else {}
                ),
            }
            for column in experiment.columns
        ],
        "exceptions": [
            {
                "datasets": override.datasets,
                "columns": override.columns,
                "skip": override.skip,
                "what": override.description,
                "why": override.why,
            }
            for override in experiment.overrides
        ],
        "quick": experiment.max_rows is not None,
        "config_path": os.path.relpath(experiment.path, folder),
        "config": experiment.text,
    }


def _split(split: Split) -> dict[str, Any]:
    return {"split": split.kind} | ({"folds": split.folds} if split.folds else {})


def _plane_labels(card: Card) -> dict[str, Any]:
    """Return the labels of the axes and marks in a picture of two columns."""
    inputs = [name for name, kind in card.columns.items() if kind not in NO_INPUTS]
    names = {"inputs": inputs} if len(inputs) == 2 and "*" not in inputs else {}
    return names | ({"positive": card.positive_labels[0]} if len(card.positive) == 1 else {})


def _class_counts(card: Card) -> dict[str, Any]:
    """Return the number of rows of each class, smallest first, where the card tells it."""
    counts = dict(card.expect.classes or {})
    if card.task == "binary":
        positive = sum(counts.pop(label, 0) for label in card.positive_labels)
        counts = {"positive": positive, "negative": sum(counts.values())}
    is_complete = card.task != "multilabel" and len(counts) > 1 and min(counts.values()) > 0
    return {"class_counts": sorted(counts.values())} if is_complete else {}


def describe_with_stale_results(experiment: Experiment, store: Store) -> dict[str, Any]:
    """Return the description to store. Results whose data are not at hand keep their earlier mark."""
    # Through JSON, so that the values compare equal to those that are read from the file.
    description: dict[str, Any] = json.loads(json.dumps(describe(experiment, store.folder)))
    description["stale"] = by_run(_stale_results(experiment, store)) if store.exists() else {}
    return description


def _stale_results(experiment: Experiment, store: Store) -> Iterator[CellResult]:
    """Yield the results with another identity than their cell has now."""
    identities, results, stored = Identities(experiment.weka), store.results(), None
    with suppress(StoreError):  # a run writes an unsound file anew
        stored = StoredExperiment.of(store)
    for cell in list_cells(experiment):
        result = results.get(cell.id)
        if result is None:
            continue
        key = identities.key(cell)
        if "data" not in key:
            is_stale = stored is not None and stored.is_stale(result)
        elif {*changed_parts(key, result)} - {"stages", "curves"}:  # these two change no other number
            is_stale = True
        else:
            # a failed cell has no metrics, and without stored predictions, a run cannot measure a result again
            is_stale = (result.status == "done" and not has_same_metrics(key, result)) and (
                store.has_predictions(result) or bool(find_missing_metrics(cell, key, result))
            )
        if is_stale:
            yield result


def other_file_notes(experiment: Experiment, store: Store) -> Iterator[str]:
    """Yield a note if the stored results are of another experiment file of the same name, whose folder is taken over.

    A copy of the file is no other one, and neither is the same file with new content.
    """
    try:
        description = store.experiment()
        path, text = store.folder / description["config_path"], description["config"]
        is_other = path.resolve() != experiment.path.resolve()
        if not is_other or YamlFile(path, text).data == YamlFile(experiment.path, experiment.text).data:
            return
    except (ProbcalError, OSError, KeyError, TypeError, ValueError):  # no results, or a file that this run writes anew
        return
    old_name, name = short_path(path), short_path(experiment.path)
    yield (
        f'note: {store.folder} holds the results of {old_name}, and {name} has the same name "{experiment.name}"; from'
        f" now on, tables and checks of the folder show {name} alone; to keep both, choose another name or folder (-o)"
    )


def load_experiment(store: Store, *, check_classes: bool = True) -> Experiment:
    """Return the experiment of a results folder, as it was last run.

    ``check_classes`` is as for ``parse_experiment``: the run that stored the experiment has checked them.

    Raises StoreError when it was not stored completely, and FileProblems when it is no longer valid.
    """
    description = store.experiment()
    for name, kind in (("config_path", str), ("config", str), ("seed", int), ("quick", bool)):
        if not isinstance(description.get(name), kind) or (name == "seed" and description[name] < 0):
            raise StoreError(
                f'{store.folder / "experiment.json"} has no sound "{name}"; run the experiment again to write it anew'
            )
    path = store.folder / description["config_path"]
    file = YamlFile(path, description["config"])
    experiment = replace(parse_experiment(file, check_classes=check_classes), seed=description["seed"])
    return small_experiment(experiment) if description["quick"] else experiment


_QUICK_ROWS, _QUICK_ROUNDS = 1000, 10
_ROUNDS = ("n_probes", "n_estimators")
_QUICK_HELD_OUT = _QUICK_ROWS // 4


def small_experiment(experiment: Experiment) -> Experiment:
    """Return a small version of the experiment.

    It has one repetition, at most 1,000 training and test rows, and 10 probes or bags.
    """
    columns = tuple(replace(column, method=_small_method(column.method)) for column in experiment.columns)
    return replace(
        experiment,
        name=f"{experiment.name}-quick",
        title=f"{experiment.title} (in small: --quick)",
        paper=None,  # results on a part of the rows are not comparable with published ones
        repeats=1,
        max_rows=_QUICK_ROWS,
        columns=columns,
        overrides=tuple(
            replace(override, method_params=_limit_params(override.method_params, override.method_params))
            for override in experiment.overrides
        ),
    )


def _small_method(method: Component) -> Component:
    parameters = inspect.signature(import_class(method.path)).parameters
    defaults = {name: parameters[name].default for name in _ROUNDS if name in parameters}
    return replace(method, params=_limit_params(method.params, {**defaults, **method.params}))


def _limit_params(params: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``params`` with limited rounds and held-out rows. ``settings`` also has the defaults."""
    limits = {**dict.fromkeys(_ROUNDS, _QUICK_ROUNDS), "holdout_size": _QUICK_HELD_OUT}
    return {
        **params,
        **{name: min(n, limits[name]) for name, n in settings.items() if name in limits and isinstance(n, int)},
    }
