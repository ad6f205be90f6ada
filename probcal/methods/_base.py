"""What all methods share: the checks of ``fit``, the fit of a learner with weights and seeds, and its scores.

Arrays of probabilities have the shape (n_rows, n_classes), and each row sums to 1.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any, Literal, Self

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, RegressorMixin, clone
from sklearn.dummy import DummyClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import Tags, get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, get_routing_for_object, process_routing
from sklearn.utils.validation import check_is_fitted, has_fit_parameter, validate_data

from probcal._classes import class_labels, require_weight_of_each_class
from probcal._learner_output import last_step, learner_probabilities, learner_scores, learns_nothing
from probcal._validation import CheckedParameters, fit_weights, row_weights, take_rows, unset_seeds
from probcal.methods._shared_fits import fit_or_shared


def renamed_attribute(old: str, new: str) -> property:
    """Return a property that warns of its ``old`` name and returns the attribute ``new``."""

    def get(owner: Any) -> Any:
        value = getattr(owner, new)
        warnings.warn(f"{old} is now called {new}; version 1.0 removes {old}", FutureWarning, stacklevel=2)
        return value

    return property(get, doc=f"Return ``{new}``, of which this is the earlier name.")


class ProbabilityMethod(CheckedParameters, MetaEstimatorMixin, ClassifierMixin, BaseEstimator, ABC):
    """Turn a base learner into a classifier that predicts class probabilities.

    Subclasses define ``fit``, which calls ``_begin`` first, and ``predict_proba``, which calls ``_before_predicting``
    first. The learner gets X as it was given, such as a frame with categories, a sparse matrix or texts.
    """

    estimator: Any
    classes_: np.ndarray
    forwards_sample_weight = True
    """Whether ``fit`` passes the row weights to the learner."""

    @abstractmethod
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, frequency_weights: bool = False) -> Self:
        """Fit the method.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_rows, n_columns)
            Rows, passed to the learner unchanged.
        y : array-like of shape (n_rows,)
            Labels of two or more classes.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows, not negative. Only their ratios count: they are multiplied by a number that makes
            their mean 1. A row of weight 0 is left out. None means equal weights.
        frequency_weights : bool, default=False
            Whether the weights are whole numbers that say how often each row occurs. A row of weight 2 then counts as
            two rows.

        Returns
        -------
        self
            The fitted method.

        Raises
        ------
        ValueError
            If a parameter, a label or a weight is invalid, if all labels are equal, or if the lengths of ``X`` and
            ``y`` differ. If the learner lacks what the method needs: weights in ``fit``, ``predict_proba``, finite
            scores, or the labels of ``y`` in its ``classes_``. If it is fitted many times and is a FrozenEstimator.
        """

    @abstractmethod
    def predict_proba(self, X: Any) -> np.ndarray:
        """Predict class probabilities.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_rows, n_columns)
            Rows to predict, with the columns that ``fit`` got.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Probabilities, in the order of ``classes_``. Each row sums to 1.

        Raises
        ------
        NotFittedError
            If ``fit`` was not called.
        ValueError
            If ``X`` has other columns than ``fit`` got.
        """

    def predict(self, X: Any) -> np.ndarray:
        """Predict the most probable class of each row.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_rows, n_columns)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels. The first class wins a tie.
        """
        probabilities = self.predict_proba(X)
        labels: np.ndarray = self.classes_[np.argmax(probabilities, axis=1)]
        return labels

    def _begin(
        self, X: Any, y: Any, sample_weight: Any, frequency_weights: bool = False
    ) -> tuple[Any, np.ndarray, np.ndarray | None]:
        """Return what ``_checked`` does, without the rows of weight 0. So these are as rows left out."""
        X, labels, weights = self._checked(X, y, sample_weight, frequency_weights)
        if weights is None or weights.all():
            return X, labels, weights
        rows = np.flatnonzero(weights)
        return take_rows(X, rows), labels[rows], weights[rows]

    def _checked(
        self, X: Any, y: Any, sample_weight: Any, frequency_weights: bool
    ) -> tuple[Any, np.ndarray, np.ndarray | None]:
        """Check the arguments of ``fit``, set the fitted attributes of classifiers, and return (X, labels, weights).

        ``weights`` is (n_rows,), on the scale of ``fit_weights``, or None. X is returned unchanged unless its rows
        cannot be indexed. A sparse matrix of another format becomes CSR.
        """
        # A class in place of an object, or a regressor, would fail deep inside the learner with a message of its own.
        if isinstance(self.estimator, RegressorMixin) or not hasattr(self.estimator, "fit"):
            raise ValueError(f"estimator must be a classifier, not {self.estimator!r}")
        self.check_parameters()
        labels, self.classes_ = class_labels(X, y)
        # only names and number of columns: the learner itself checks the values, in whatever form it takes them
        validate_data(self, X, skip_check_array=True)
        (X,) = indexable(X)
        weights = row_weights(sample_weight, len(labels))
        if weights is not None:
            weights = fit_weights(weights, frequency_weights)
            require_weight_of_each_class(self.classes_, labels, weights)
        return X, labels, weights

    def _before_predicting(self, X: Any) -> None:
        check_is_fitted(self)
        if type(X) is np.ndarray and X.ndim == 2 and self._has_columns_of(X):
            return  # scikit-learn's check would take as long as mapping a row
        if getattr(X, "ndim", 2) == 2:  # texts have no columns, and the learner checks everything else
            validate_data(self, X, reset=False, skip_check_array=True)

    def _has_columns_of(self, X: np.ndarray) -> bool:
        """Return whether ``X`` surely has the columns of ``fit``, which were as many and had no names."""
        return X.shape[1] == getattr(self, "n_features_in_", None) and not hasattr(self, "feature_names_in_")

    def get_metadata_routing(self) -> MetadataRouter:
        """Return the metadata routing.

        Returns
        -------
        MetadataRouter
            It holds the method itself and, if the method passes row weights on, the learner.
        """
        router = MetadataRouter(owner=self).add_self_request(self)
        if self.forwards_sample_weight:
            router.add(estimator=self.estimator, method_mapping=MethodMapping().add(caller="fit", callee="fit"))
        return router

    def _weights_for_learner(self, weights: np.ndarray | None) -> np.ndarray | None:
        """Return the weights, or None if metadata routing is on and the learner did not request them."""
        if weights is None or not get_config()["enable_metadata_routing"]:
            return weights
        routed = process_routing(self, "fit", sample_weight=weights)
        requested: np.ndarray | None = routed.estimator.fit.get("sample_weight")
        return requested

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        return tags


def drawn_seed(random_state: int | np.random.RandomState | np.random.Generator | None) -> int:
    """Return a seed for random streams: the number itself, or one drawn from a generator.

    Raises ValueError for anything else.
    """
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    if not isinstance(random_state, np.random.RandomState | np.random.Generator | None):
        raise ValueError(f"random_state must be a whole number, a generator or None, not {random_state!r}")
    source = random_state if random_state is not None else np.random.default_rng()
    draw = source.randint if isinstance(source, np.random.RandomState) else source.integers
    return int(draw(2**31 - 1))


def fresh_copy(estimator: BaseEstimator, random: np.random.Generator) -> BaseEstimator:
    """Return an unfitted copy. Every ``random_state`` that is None, nested ones too, is drawn from ``random``."""
    copy = clone(estimator)
    seeds = {name: int(random.integers(2**31 - 1)) for name in unset_seeds(copy)}
    return copy.set_params(**seeds) if seeds else copy


def takes_weights(estimator: BaseEstimator) -> bool:
    """Return whether ``fit_weighted`` can pass weights to ``estimator``."""
    return weights_parameter(estimator) is not None


def fit_weighted(
    estimator: BaseEstimator, X: Any, labels: np.ndarray, weights: np.ndarray | None, rows: np.ndarray | None = None
) -> BaseEstimator:
    """Fit ``estimator`` with ``weights``, (n_rows,), or without if None, on the numbered ``rows`` or on all if None.

    A Pipeline passes them to its last step. Returns ``estimator``, or an equal fit if a run shares fits between
    methods. Raises ValueError if the estimator takes no weights.
    """
    if weights is None:
        return fit_or_shared(estimator, X, labels, rows)
    name = weights_parameter(estimator)
    if name is None:
        raise ValueError(f"{type(estimator).__name__} cannot be fitted with weights: its fit takes no sample_weight")
    if rows is not None:
        X, labels, weights = take_rows(X, rows), labels[rows], weights[rows]
    return estimator.fit(X, labels, **{name: weights})


def refuse_frozen(estimator: BaseEstimator) -> None:
    """Raise ValueError for a FrozenEstimator or a PrefitClassifier, because the method would fit it many times."""
    if learns_nothing(estimator):
        instead = "the unfrozen learner" if isinstance(estimator, FrozenEstimator) else "a learner that can be fitted"
        raise ValueError(
            f"a {type(estimator).__name__} cannot be fitted, and this method fits its learner many times; give "
            f"{instead}"
        )


def fit_on_sample(
    estimator: BaseEstimator, X: Any, labels: np.ndarray, weights: np.ndarray | None = None
) -> BaseEstimator:
    """Fit as ``fit_weighted`` does. A sample of one class gives the constant classifier of that class."""
    if (labels == labels[0]).all():
        # a constant needs no columns, and X may be of any kind
        return DummyClassifier(strategy="most_frequent").fit(np.zeros((len(labels), 1)), labels)
    return fit_weighted(estimator, X, labels, weights)


def sampler(estimator: BaseEstimator, X: Any) -> Callable[[np.ndarray], Any]:
    """Return a function that maps row numbers to the training data of ``estimator`` for these rows of ``X``.

    If the estimator has a method ``sort_columns``, it is called once on ``X``, and the function is ``take`` of its
    result.
    """
    sort_columns = getattr(estimator, "sort_columns", None)
    return partial(take_rows, X) if sort_columns is None else sort_columns(X).take


def weights_parameter(estimator: BaseEstimator) -> str | None:
    """Return the parameter of ``estimator.fit`` that passes weights to the classifier, or None."""
    if getattr(estimator, "forwards_sample_weight", False) and not takes_weights(estimator.estimator):
        return None  # this method accepts weights in fit, but cannot pass them on
    if has_fit_parameter(estimator, "sample_weight") or isinstance(estimator, FrozenEstimator):
        return "sample_weight"  # a frozen estimator is not fitted, with or without weights
    # empty unless metadata routing is on. A learner that requested weights then gets them by that name.
    if get_routing_for_object(estimator).consumes(method="fit", params=["sample_weight"]):
        return "sample_weight"
    if isinstance(estimator, Pipeline) and estimator.steps[-1][1] not in (None, "passthrough"):
        step, last = estimator.steps[-1]
        inner = weights_parameter(last)
        return f"{step}__{inner}" if inner else None
    return None


def warn_of_class_weight(method: Any) -> None:
    """Warn with a UserWarning if the learner of ``method``, or a learner inside it, has a ``class_weight``."""
    # the other steps of a Pipeline predict no labels
    learner = last_step(method.estimator)
    parameters = learner.get_params(deep=True) if hasattr(learner, "get_params") else {}
    for name, value in sorted(parameters.items()):
        if name.rpartition("__")[2] == "class_weight" and value is not None:
            warnings.warn(
                f"{type(learner).__name__} has {name}={value!r}: {type(method).__name__} weights or relabels the rows "
                "for each threshold, and the learner's own class weights move that threshold, so the probabilities are "
                f"wrong; set {name}=None",
                UserWarning,
                stacklevel=4,  # the caller of fit
            )


Scores = Literal["auto", "decision_function", "log_odds", "probability"]
SCORES = ("auto", "decision_function", "log_odds", "probability")


def scored_classes(classes: np.ndarray) -> np.ndarray:
    """Return the classes of the columns of ``class_scores``: the second of two classes, or all of several."""
    return classes[1:] if len(classes) == 2 else classes


def class_scores(learner: Any, X: Any, wanted: Scores, classes: np.ndarray) -> np.ndarray:
    """Return the learner's scores as float64, in the order of ``classes``.

    The shape is (n_rows, 1) for the second of two classes. For several classes it is (n_rows, n_classes), each class
    against the rest.

    ``"decision_function"`` is the learner's own. ``"log_odds"`` is ln p - ln (1 - p) of its ``predict_proba``, in nats
    and within +-708. ``"probability"`` is p itself. ``"auto"`` is the decision function if the learner has one, and the
    log-odds otherwise.

    The columns are in the order of ``classes``, whatever the order of the learner's own ``classes_`` is. Raises
    ValueError when the learner has no such scores, not one for each class, or other classes.
    """
    if wanted == "auto":
        wanted = "decision_function" if hasattr(learner, "decision_function") else "log_odds"
    source = "decision_function" if wanted == "decision_function" else "predict_proba"
    if not hasattr(learner, source):
        raise ValueError(f"{type(learner).__name__} has no {source} to read the {wanted.replace('_', ' ')} from")
    if wanted == "decision_function":
        return learner_scores(learner, X, classes)
    given = learner_probabilities(learner, X, classes)
    numbers = range(1, 2) if len(classes) == 2 else range(len(classes))
    if wanted == "probability":
        return given[:, list(numbers)]
    return np.column_stack([log_odds(given, column) for column in numbers])


_TINY = np.finfo(np.float64).tiny


def log_odds(probabilities: np.ndarray, column: int) -> np.ndarray:
    """Return the log-odds (n_rows,) of one column against the sum of the others, in nats."""
    # not from 1 - p: for p near 1 the subtraction loses digits that the other columns still have.
    # The floor keeps the log-odds of an exact 0 or 1 finite, at -708 and 708.
    two = probabilities.shape[1] == 2
    rest = probabilities[:, 1 - column] if two else np.delete(probabilities, column, axis=1).sum(axis=1)
    both = np.empty((2, len(probabilities)))
    np.maximum(probabilities[:, column], _TINY, out=both[0])
    np.maximum(rest, _TINY, out=both[1])
    log_p, log_rest = np.log(both, out=both)
    return np.asarray(np.subtract(log_p, log_rest, out=log_p))
