"""The search of ``probcal try --budget``: which libraries are tuned, and how many settings fit into the time.

The number of settings is decided before the first cell, from some timed fits. It is a parameter of the method then, so
no clock changes a number during the run.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from threadpoolctl import threadpool_limits

from probcal._io import counted
from probcal._validation import take_rows
from probcal.components.classes import import_class, unmet_requirement
from probcal.data.dataset import Dataset
from probcal.data.encode import ENCODERS
from probcal.errors import ProbcalError
from probcal.methods.tuned_boosting import boosting_settings, staged_probabilities
from probcal.runner.time_left import duration
from probcal.store.folder import Store
from probcal.try_table import choices
from probcal.try_table.choices import BASELINE, Entry
from probcal.try_table.split_choice import SplitChoice

METHOD = "tuned"
LIBRARIES = ("boosting", "lightgbm", "xgboost", "catboost")
FOLDS = 3
MOST_SETTINGS = 30
# With fewer, the search leaves out the slowest library instead.
_FEWEST_SETTINGS = 5
# What is left for fits that take longer than the timed ones.
_PLANNED_SHARE = 0.8
# The winner is fitted again on folds, and once more on all rows.
_FINAL_FITS = 2.0
_PILOT_SHARE = 0.03
_MOST_PILOT_FITS = 8


@dataclass(frozen=True)
class SearchRequest:
    """Hold what the user asked for: seconds, or a number of settings, or both."""

    budget: float | None = None
    n_settings: int | None = None


@dataclass(frozen=True)
class BoostingSearch:
    """Hold the learners to tune and the number of settings of each search, one in each split."""

    learners: Mapping[str, Entry]
    n_settings: int
    n_splits: int
    in_time: bool
    sentence: str
    """How many settings run, and why so many."""
    exclusions: Mapping[str, str] = field(default_factory=dict)
    """Library that is not tuned -> the reason."""

    @property
    def entry(self) -> Entry:
        """Return the method as an experiment has it."""
        params: Entry = {"n_settings": self.n_settings, "cv": FOLDS}
        if self.in_time:  # the classifiers of the folds know the older rows only, so one more trains on all rows
            params["ensemble"] = False
        return {"type": "probcal.methods.tuned_boosting.TunedBoostingClassifier", "label": "Tuned", "params": params}

    def combinations(
        self, learners: Sequence[str], methods: Sequence[str], combined: Mapping[str, Sequence[str]]
    ) -> dict[str, list[str]]:
        """Return learner -> its methods. Learners that are there for the search only are tuned and nothing else."""
        pairs = {name: [one for one in combined.get(name, methods) if one != METHOD] for name in learners}
        return pairs | {name: [*pairs.get(name, ()), METHOD] for name in self.learners}

    def end_lines(self, store: Store, seconds: float, budget: float | None) -> list[str]:
        """Return how many settings were tried in how many seconds, and what the budget did not reach."""
        cells = [cell for cell in store.results().values() if cell.method == METHOD]
        n_done = self.n_settings * len(cells)
        limit = f" of {duration(budget)}" if budget else ""
        lines = [f"search: {n_done:,} settings tried in {counted(len(cells), 'cell')}; {duration(seconds)}{limit}"]
        if n_missing := len(self.learners) * self.n_splits - len(cells):
            lines.append(
                f"the budget ended before {counted(n_missing, 'cell')} of the search. A learner that lacks a split is "
                "not ranked; the same command goes on, and fewer --trials take less time"
            )
        return lines


def best_setting(model: Any) -> str:
    """Return the setting that the search of a fitted pipeline chose, or an empty text for one without a search."""
    params = getattr(model[-1] if isinstance(model, Pipeline) else model, "best_params_", {})
    return ", ".join(f"{name}={value}" for name, value in params.items())


def plan_search(
    request: SearchRequest, dataset: Dataset, split: SplitChoice, names: Sequence[str], most_levels: int,
    earlier: int | None, seed: int,
) -> BoostingSearch:  # fmt: skip
    """Return the search of the learners ``names``, or of all installed libraries without any.

    ``dataset`` holds the used rows. ``earlier`` is the number of settings of an earlier run in the same folder, which
    then goes on. Raises ProbcalError where nothing can be tuned, or not in the time.
    """
    if names and not set(names) & set(LIBRARIES):
        raise ProbcalError(f"--budget and --trials tune {', '.join(LIBRARIES)}; -l names none of them")
    entries = choices.learners([name for name in LIBRARIES if not names or name in names], most_levels)
    del entries[BASELINE]
    missing = {name: unmet_requirement(import_class(entry["type"])) for name, entry in entries.items()}
    exclusions = {name: reason for name, reason in missing.items() if reason}
    entries = {name: entry for name, entry in entries.items() if name not in exclusions}
    in_time = split.kind == "time_ordered"
    n_settings = request.n_settings or earlier
    if n_settings is not None:
        why = "as --trials asks" if request.n_settings else "as in the earlier run of this folder; --trials changes it"
    else:
        assert request.budget is not None
        n_settings, slow = _settings_in_time(request.budget, dataset, split, entries, seed)
        exclusions |= slow
        entries = {name: entry for name, entry in entries.items() if name not in slow}
        why = f"what fits into {duration(request.budget)} by timed fits; --trials {n_settings} repeats them"
    settings = "1 setting" if n_settings == 1 else f"{n_settings} settings"
    sentence = f"tuned: {settings} of each library in each split, {why}"
    return BoostingSearch(entries, n_settings, split.n_splits, in_time, sentence, exclusions)


def earlier_settings(path: Path) -> int | None:
    """Return the number of settings in the experiment at ``path``, or None where there is no search."""
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
        return int(content["methods"][METHOD]["params"]["n_settings"])
    except (OSError, KeyError, TypeError, ValueError, yaml.YAMLError):
        return None


def _settings_in_time(
    budget: float, dataset: Dataset, split: SplitChoice, entries: Mapping[str, Entry], seed: int
) -> tuple[int, dict[str, str]]:
    """Return the number of settings, and library -> why it is too slow."""
    start = time.perf_counter()
    share = split.train_share * (1 - 1 / FOLDS)
    costs = {
        name: _seconds_of_setting(entry, dataset, split, share, _PILOT_SHARE * budget / len(entries), seed)
        for name, entry in entries.items()
    }
    planned = _PLANNED_SHARE * (budget - (time.perf_counter() - start))
    slow: dict[str, str] = {}
    while True:
        # a search in each split, and one for the model of all rows
        seconds = sum(costs.values()) * FOLDS * (split.n_splits + 1)
        n_settings = int(planned / seconds - _FINAL_FITS)
        if n_settings >= _FEWEST_SETTINGS or len(costs) == 1:
            break
        name = max(costs, key=costs.__getitem__)
        del costs[name]
        slow[name] = "too slow for the budget"
    if n_settings < 1:
        least = (1 + _FINAL_FITS) * seconds / _PLANNED_SHARE * (1 + _PILOT_SHARE)
        raise ProbcalError(
            f"--budget {duration(budget)}: too short for one setting of {next(iter(costs))} in {split.n_splits} "
            f"splits; give about {duration(max(1.0, 1.2 * least))}, fewer --splits or fewer --rows"
        )
    return min(n_settings, MOST_SETTINGS), slow


def _seconds_of_setting(
    entry: Entry, dataset: Dataset, split: SplitChoice, share: float, limit: float, seed: int
) -> float:
    """Return the mean seconds to fit and to judge a setting on ``share`` of the rows, in one thread."""
    X: Any = dataset.X if split.column is None else dataset.X.drop(columns=split.column)
    random = np.random.default_rng(seed)
    order = random.permutation(len(dataset.y))
    learn, judge = np.split(order, [int(share * len(order))])
    judge = judge[: len(learn) // (FOLDS - 1)]
    encoding = entry.get("encoding", "numeric")
    X_learn, X_judge = take_rows(X, learn), take_rows(X, judge)
    if encoding in ENCODERS:
        encoder = ENCODERS[encoding]().fit(X_learn)
        X_learn, X_judge = encoder.transform(X_learn), encoder.transform(X_judge)
    estimator = import_class(entry["type"])(**entry.get("params", {}))
    start, times = time.perf_counter(), []
    with threadpool_limits(1):
        for params in islice(boosting_settings(estimator, MOST_SETTINGS, random), 1, 1 + _MOST_PILOT_FITS):
            fit_start = time.perf_counter()
            learner = clone(estimator).set_params(**params).fit(X_learn, dataset.y[learn])
            for _ in staged_probabilities(learner, X_judge):
                pass
            times.append(time.perf_counter() - fit_start)
            if time.perf_counter() - start > limit:
                break
    return float(np.mean(times))
