"""The learners and methods of ``probcal try``: their names, and which of them run by default."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from sklearn.utils.validation import has_fit_parameter

from probcal.components.classes import import_class
from probcal.components.trust import is_trusted, refusal
from probcal.config.columns import ExperimentColumn
from probcal.errors import ProbcalError, unknown_name
from probcal.learners.registry import known_learners
from probcal.methods.registry import known_methods

Entry = dict[str, Any]

BASELINE = "shares"
"""Always predicts the share of each class among the training rows. Every learner has to beat it."""
# scikit-learn's boosting refuses a category with more
_MOST_LEVELS_OF_BOOSTING = 255

TRIAL_LEARNERS: dict[str, Entry] = {
    BASELINE: {"type": "sklearn.dummy.DummyClassifier", "params": {"strategy": "prior"}, "label": "Shares"},
    "logistic": {
        "type": "probcal.methods.tuned.TunedClassifier",
        "params": {
            "estimator": {"type": "sklearn.linear_model.LogisticRegression", "params": {"max_iter": 2000}},
            "param_grid": {"C": [0.01, 0.1, 1, 10, 100]},
        },
        "label": "Log",
    },
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
    "lightgbm": {"type": "probcal.learners.light_gbm.LightGBM", "label": "LGBM"},
    "xgboost": {"type": "probcal.learners.xg_boost.XGBoost", "label": "XGB"},
    "catboost": {"type": "probcal.learners.cat_boost.CatBoost", "label": "Cat"},
}
"""Learners of ``probcal try``, in addition to the built-ins of experiments."""
# Columns lie in [0, 1], where C = 1 is a strong penalty, and no C suits all tables (results/defaults/logistic.md).
# The folds of the search are of single rows, so it is not for tables with groups or in order of time.
_LOGISTIC_WITHOUT_SEARCH: Entry = {
    "type": "sklearn.linear_model.LogisticRegression", "params": {"max_iter": 2000, "C": 10}, "label": "Log",
}  # fmt: skip
_USUAL_LEARNERS = ("logistic", "nb", "tree", "forest", "boosting")
# They share one fit.
_MAPS = (
    "sigmoid", "isotonic", "beta", "quadratic", "spline",
    "temperature", "vector_scaling", "matrix_scaling", "dirichlet",
)  # fmt: skip
_USUAL_METHODS = {
    "two": ("direct", "isotonic", "quadratic", "beta"),
    "several": ("direct", "matrix_scaling", "dirichlet", "isotonic"),
}
# Mean ranks by log loss in CalArena (papers/berta_holzmueller_bach_jordan_2026/calarena.csv), and the effects of maps
# on one fit of logistic regression with searched settings in results/arena-ensembles/answer.md.
_REASONS = {
    "two": "in our study all three lower the log loss of logistic regression, also after the search of its penalty "
    "(isotonic 3.7, quadratic 2.4, beta 2.4 thousandths of a nat on 70 tables); quadratic and beta have the best mean "
    "ranks in CalArena (8.1 of 24; sigmoid 9.2, isotonic 11.8)",
    "several": "structured matrix scaling has the best mean rank in CalArena (5.4 of 19; Dirichlet 7.3, isotonic "
    "11.2), and in our study it lowers the log loss of logistic regression most (4.2 thousandths of a nat on 12 "
    "tables after the search of its penalty, 47.0 without one; isotonic 0.8 and 5.9)",
}
# In results/arena-ensembles both beat every map of one tree. They need many fits, which only a tree makes quickly.
_TREE_METHODS = ("bagging", "probing")
_MOST_ROWS_OF_SMALL_TABLES = 3_000
_MOST_NUMBERS_OF_SMALL_TABLES = 300_000
# Largest number of rows for cross-validated calibration. Maps gain most if every row trains and calibrates, but three
# more fits of many rows take long.
_MOST_CROSS_VAL_ROWS = 10_000
_FEWEST_CROSS_VAL_ROWS = 20
# Five folds take longer.
_FOLDS = 3
# The same as in probing, for two classes. A few hundred calibration rows prove nothing impossible, and log loss
# punishes a wrong 0. The bounds of several classes have the same sum, so that a sure row stays near .998.
_BOUND = 0.001
# The probabilities of a class with a smaller share of the rows lie too near to _BOUND, so it gets a lower one.
_RARE_SHARE = 0.01
_WIDE_TABLE = 500
# They process each column separately, so that many columns are slow even with few rows.
_SLOW_LEARNERS = ("nb", "boosting")
# They accept only two classes.
_TWO_CLASSES = ("nb",)
# They give scores but no probabilities, so they need a method.
_SCORE_LEARNERS = ("svm", "linear_svm")


def usual_learners(width: int, n_classes: int) -> tuple[list[str], dict[str, str]]:
    """Return the default learners, and the reason for each one left out.

    ``width`` counts the columns of the table, with one for each level of a category.
    """
    reasons: dict[str, str] = {}
    if width > _WIDE_TABLE:
        reasons |= dict.fromkeys(_SLOW_LEARNERS, f"slow on {width:,} columns, levels counted")
    if n_classes > 2:
        reasons |= dict.fromkeys(_TWO_CLASSES, "takes two classes only")
    return [name for name in _USUAL_LEARNERS if name not in reasons], reasons


def learners(names: Sequence[str], most_levels: int, *, independent_rows: bool = True) -> dict[str, Entry]:
    """Return name -> entry of an experiment, the baseline first.

    ``most_levels`` is the largest number of levels of a column. ``independent_rows`` says that rows are split one by
    one, not by groups or in order of time.

    Raises ProbcalError for an unknown name.
    """
    entries: dict[str, Entry] = {}
    for name in (BASELINE, *names):
        if name in TRIAL_LEARNERS:
            entry = dict(TRIAL_LEARNERS[name])
            if name == "logistic" and not independent_rows:
                entry = dict(_LOGISTIC_WITHOUT_SEARCH)
            if name == "boosting" and most_levels > _MOST_LEVELS_OF_BOOSTING:
                entry = {**entry, "encoding": "numeric", "params": {"max_iter": 100}}
            entries[name] = entry
        else:
            entries |= _registry_entry(name, "learner", {**TRIAL_LEARNERS, **known_learners()})
    return entries


def bound(counts: Collection[float]) -> float:
    """Return the smallest probability that any method may predict, for the number of table rows of each class.

    It is .001 for two classes and .002 / k for k of them. Where a class has less than 1 % of the n rows, it is 1 / 2n,
    if this is smaller. ``counts`` are those of the whole table, also where a sample of it runs. A class of which
    weights leave less than one row has half of its share.
    """
    n_rows, usual = sum(counts), 2 * _BOUND / len(counts)
    return usual if min(counts) >= _RARE_SHARE * n_rows else min(usual, min(1.0, *counts) / 2 / n_rows)


def sample_clip(eps: float, class_weights: Sequence[float] | None) -> list[float]:
    """Return the smallest and largest probability for a sample, of which those for the table are within ``eps``.

    ``class_weights`` are the rows of each class in the table over those in the sample. None means equal shares. With
    more than two classes the limits are so wide that they never raise a probability above ``eps``.
    """
    if class_weights is None:
        return [eps, 1 - eps]
    if len(class_weights) == 2:
        ratio = class_weights[1] / class_weights[0]
        return [eps / (eps + (1 - eps) * ratio), (1 - eps) / (1 - eps + eps * ratio)]
    eps *= min(class_weights) / max(class_weights)
    return [eps, 1 - eps]


def methods(
    user_methods: Sequence[str], has_learners: bool, width: int, counts: Collection[int], clip_range: Sequence[float],
    in_time: bool = False,
) -> dict[str, Entry]:  # fmt: skip
    """Return name -> entry of an experiment for the methods.

    ``width`` counts columns as in ``usual_learners``. ``counts`` holds the number of used rows of each class.
    ``clip_range`` is that of ``sample_clip``. ``in_time`` says that rows are split in order of time.
    """
    n_rows, min_rows = sum(counts), min(counts)
    # several classes need a hundred fits for each pair of classes
    small = n_rows <= _MOST_ROWS_OF_SMALL_TABLES and n_rows * width * (len(counts) - 1) <= _MOST_NUMBERS_OF_SMALL_TABLES
    default_names = (*_USUAL_METHODS[_how_many(len(counts))], *(_TREE_METHODS if small and not has_learners else ()))
    cross_val = n_rows <= _MOST_CROSS_VAL_ROWS and min_rows >= _FEWEST_CROSS_VAL_ROWS
    calibration: Entry = {"calibration": "cross_val", "cv": _FOLDS} if cross_val else {"calibration": "holdout"}
    # the learners of the folds know the older rows only, so one more trains on all rows
    if in_time and cross_val:
        calibration |= {"ensemble": False}
    clip: Entry = {"clip": list(clip_range)}
    settings: dict[str, Entry] = {
        **{name: {"params": calibration, "shared_seed": True} for name in _MAPS},
        "isotonic": {"params": {**calibration, **clip}, "shared_seed": True},
        "bagging": {"params": clip},
        "probing": {"params": clip} if clip["clip"] != [_BOUND, 1 - _BOUND] else {},
    }
    entries: dict[str, Entry] = {}
    for name in ("direct", *(user_methods or default_names)):
        entries |= {
            key: {**entry, **settings.get(key, {})}
            for key, entry in _registry_entry(name, "method", known_methods()).items()
        }
    return entries


def reason_of_methods(n_classes: int) -> str:
    """Return why the default maps are those of ``methods``, with the numbers of two comparisons by log loss."""
    return f"maps: {_REASONS[_how_many(n_classes)]}"


def _how_many(n_classes: int) -> str:
    return "two" if n_classes == 2 else "several"


def refuse_direct_scores(user_learners: Sequence[str], user_methods: Sequence[str]) -> None:
    """Raise ProbcalError where ``direct`` is the only method for learners that give no probabilities."""
    scoring = [name for name in user_learners if name in _SCORE_LEARNERS]
    if scoring and user_methods and set(user_methods) == {"direct"}:
        raise ProbcalError(
            f"{', '.join(scoring)} by itself gives scores and no probabilities, and direct is the only method; add "
            "another method, such as  -m sigmoid"
        )


def refuse_unweighted(columns: Iterable[ExperimentColumn]) -> None:
    """Raise ProbcalError for a learner or a method whose ``fit`` takes no weights of rows."""
    for column in columns:
        for kind, part in (("learner", column.learner), ("method", column.method)):
            if not has_fit_parameter(import_class(part.path), "sample_weight"):
                raise ProbcalError(
                    f"--weight: the {kind} {part.name} takes no weights ({part.path}.fit has no sample_weight), so its "
                    f"results would be those of other rows; leave the {kind} out"
                )


def combinations(
    learner_names: Sequence[str], method_names: Sequence[str], user_methods: Sequence[str]
) -> dict[str, list[str]]:
    """Return learner -> its methods, for learners that do not run with all methods."""
    combined = {}
    for learner in learner_names:
        names = [name for name in method_names if name != "direct" or not user_methods or "direct" in user_methods]
        if learner == BASELINE:
            names = ["direct"]
        elif learner in _SCORE_LEARNERS:
            names = [name for name in names if name != "direct"]
        elif not user_methods:
            names = [name for name in names if learner == "tree" or name not in _TREE_METHODS]
        if names and names != list(method_names):
            combined[learner] = names
    return combined


def _registry_entry(name: str, kind: str, registry: dict[str, Any]) -> dict[str, Entry]:
    if name in registry:
        return {name: {}}
    if "." not in name:
        example = "sklearn.svm.SVC" if kind == "learner" else "sklearn.calibration.CalibratedClassifierCV"
        raise ProbcalError(unknown_name(kind, name, registry, f"; any other by its import path, such as {example}"))
    if not is_trusted(name):
        raise ProbcalError(refusal(name))
    return {name.rpartition(".")[2].lower(): {"type": name}}
