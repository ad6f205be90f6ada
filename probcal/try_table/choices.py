"""The learners and methods that ``probcal try`` has names for, and those it takes unasked."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from probcal.config.components import is_trusted, refusal
from probcal.errors import ProbcalError, did_you_mean
from probcal.learners.registry import LEARNERS
from probcal.methods.registry import METHODS

Entry = dict[str, Any]

BASELINE = "shares"
"""The share of each class among the training rows, whatever the row: what every learner has to beat."""
_MOST_LEVELS_OF_BOOSTING = 255

OWN: dict[str, Entry] = {
    BASELINE: {"type": "sklearn.dummy.DummyClassifier", "params": {"strategy": "prior"}, "label": "Shares"},
    # with the usual penalty, and not next to none as the papers' logistic: small and wide tables separate the classes
    "logistic": {"type": "sklearn.linear_model.LogisticRegression", "params": {"max_iter": 2000}, "label": "Log"},
    "nb": {"type": "kernel_nb", "label": "NB"},
    "tree": {"type": "tree", "label": "Tree"},
    "svm": {"type": "linear_svm", "label": "SVM"},
    "forest": {
        "type": "sklearn.ensemble.RandomForestClassifier",
        "params": {"n_estimators": 100, "min_samples_leaf": 2},
        "label": "Forest",
    },
    "boosting": {
        "type": "sklearn.ensemble.HistGradientBoostingClassifier",
        "params": {"categorical_features": "from_dtype", "max_iter": 100, "learning_rate": 0.1},
        "encoding": "native",
        "label": "Boost",
    },
}
"""Beside the built-ins of experiments."""
_USUAL_LEARNERS = ("logistic", "nb", "tree", "forest", "boosting")
_USUAL_METHODS = ("direct", "sigmoid", "isotonic")
_OF_A_TREE = ("bagging", "probing")
"""A hundred fits each, which only a tree makes quickly."""
_MOST_ROWS_OF_A_HUNDRED = 3_000
_MOST_NUMBERS_OF_A_HUNDRED = 300_000
_MOST_ROWS_CROSSED = 1_000
"""Of so few rows none is kept from the learner to calibrate on: each is scored by a learner of the other folds."""
_FEWEST_CROSSED = 20
_FOLDS = 3
_CLIP = [0.001, 0.999]
"""As that of probing. Calibrated on some hundred rows, nothing is known to be impossible, and log loss is merciless."""
_WIDE = 500
_SLOW_WHEN_WIDE = ("nb", "boosting")
"""They look at each column by itself, however few the rows."""
_TWO_CLASSES = ("nb",)
"""They take no more."""
_NO_ESTIMATES = ("svm", "linear_svm")
"""They give scores and no probabilities, so they are not run by themselves."""


def usual_learners(width: int, n_classes: int) -> tuple[list[str], dict[str, str]]:
    """(those taken unasked, of the others each with the reason); ``width``: columns of the table, levels counted."""
    left_out: dict[str, str] = {}
    if width > _WIDE:
        left_out |= dict.fromkeys(_SLOW_WHEN_WIDE, f"slow on {width:,} columns, levels counted")
    if n_classes > 2:
        left_out |= dict.fromkeys(_TWO_CLASSES, "takes two classes only")
    return [name for name in _USUAL_LEARNERS if name not in left_out], left_out


def learners(names: Sequence[str], most_levels: int) -> dict[str, Entry]:
    """Name -> entry of an experiment, that of the shares first; ``most_levels``: of any column.

    Raises ProbcalError for a name that stands for nothing.
    """
    found: dict[str, Entry] = {}
    for name in (BASELINE, *names):
        if name in OWN:
            entry = dict(OWN[name])
            if name == "boosting" and most_levels > _MOST_LEVELS_OF_BOOSTING:
                entry = {**entry, "encoding": "numeric", "params": {"max_iter": 100}}
            found[name] = entry
        else:
            found |= _by_name(name, "learner", {**OWN, **LEARNERS})
    return found


def methods(asked: Sequence[str], learners_asked: bool, width: int, counts: Collection[int]) -> dict[str, Entry]:
    """As ``learners``; ``width``: columns of the table, levels counted, ``counts``: rows of each class."""
    n_rows, rarest = sum(counts), min(counts)
    # of several classes a hundred fits are made for each two
    few = n_rows <= _MOST_ROWS_OF_A_HUNDRED and n_rows * width * (len(counts) - 1) <= _MOST_NUMBERS_OF_A_HUNDRED
    usual = (*_USUAL_METHODS, *_OF_A_TREE) if few and not learners_asked else _USUAL_METHODS
    crossed = n_rows <= _MOST_ROWS_CROSSED and rarest >= _FEWEST_CROSSED
    calibration: Entry = {"calibration": "cross_val", "cv": _FOLDS} if crossed else {"calibration": "holdout"}
    settings: dict[str, Entry] = {
        "sigmoid": {"params": calibration},
        "isotonic": {"params": {**calibration, "clip": _CLIP}},
        "bagging": {"params": {"clip": _CLIP}},
    }
    found: dict[str, Entry] = {}
    for name in ("direct", *(asked or usual)):
        found |= {key: {**entry, **settings.get(key, {})} for key, entry in _by_name(name, "method", METHODS).items()}
    return found


def refuse_no_estimates(learners_asked: Sequence[str], methods_asked: Sequence[str]) -> None:
    """Raises ProbcalError where only ``direct`` is asked of learners that give no probabilities."""
    silent = [name for name in learners_asked if name in _NO_ESTIMATES]
    if silent and methods_asked and set(methods_asked) == {"direct"}:
        raise ProbcalError(
            f"{', '.join(silent)} by itself gives scores and no probabilities, and only direct is asked for; add "
            "a method that makes them, as  -m sigmoid"
        )


def combinations(
    learner_names: Sequence[str], method_names: Sequence[str], methods_asked: Sequence[str]
) -> dict[str, list[str]]:
    """Learner -> the methods it is run with, where those are not all there are."""
    found = {}
    for learner in learner_names:
        wanted = [one for one in method_names if one != "direct" or not methods_asked or "direct" in methods_asked]
        if learner == BASELINE:
            wanted = ["direct"]
        elif learner in _NO_ESTIMATES:
            wanted = [one for one in wanted if one != "direct"]
        elif learner != "tree" and not methods_asked:
            wanted = [one for one in wanted if one not in _OF_A_TREE]
        if wanted and wanted != list(method_names):
            found[learner] = wanted
    return found


def _by_name(name: str, kind: str, known: dict[str, Any]) -> dict[str, Entry]:
    if name in known:
        return {name: {}}
    if "." not in name:
        near = did_you_mean(name, known)
        example = "sklearn.svm.SVC" if kind == "learner" else "sklearn.calibration.CalibratedClassifierCV"
        raise ProbcalError(
            f'there is no {kind} "{name}"{near} (there are: {", ".join(known)}; any other by its import path, such as '
            f"{example})"
        )
    if not is_trusted(name):
        raise ProbcalError(refusal(name))
    return {name.rpartition(".")[2].lower(): {"type": name}}
