"""A scikit-learn classifier around any classifier of Weka, with the options of Weka's command line.

A frame becomes Weka's Instances in three calls, however many rows it has.
"""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from probcal._validation import label_array, row_weights
from probcal.learners.frame_columns import checked_frame, codes_of, levels_of, numbers_of
from probcal.learners.weka import jvm
from probcal.learners.weka.allowed import full_name, untrusted_options
from probcal.learners.weka.api import distributions, from_bytes, java_list, row_adder, to_bytes
from probcal.learners.weka.jvm import WekaError, in_java, java_class, java_errors, message_of

# J48 of Weka 3.4 gives probabilities such as -1e-15 to rows with missing values.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Header:
    """Hold what Weka knows of a table before its rows: names, levels (None for a numeric column) and classes."""

    names: list[str]
    levels: list[list[Any] | None]
    classes: list[Any]

    @classmethod
    def of(cls, X: pd.DataFrame, classes: np.ndarray) -> Header:
        """Return the header of a frame. Raises TypeError for a column that is neither numbers nor categories.

        Declared categories that do not occur are levels too, as in the header of an ARFF file.
        """
        return cls([str(name) for name in X.columns], [levels_of(*item) for item in X.items()], list(classes))

    def instances(self, X: pd.DataFrame, codes: np.ndarray | None = None, weights: np.ndarray | None = None) -> Any:
        """Return the Java ``Instances`` of the rows of X, with class ``codes`` and instance weights, (n_rows,) each.

        Missing values, and levels that are not in this header, are missing in Weka. Raises ValueError for infinite
        values.
        """
        values = np.empty((len(X), len(self.names) + 1))
        values[:, -1] = np.nan if codes is None else codes
        for place, ((name, column), levels) in enumerate(zip(X.items(), self.levels, strict=True)):
            if levels is None:
                values[:, place] = numbers_of(name, column)
            else:
                positions = codes_of(column, levels)
                values[:, place] = np.where(positions < 0, np.nan, positions)
        rows = java_class("weka.core.Instances")("probcal", self._attributes(), len(values))
        rows.setClassIndex(len(self.names))
        weights = np.ones(len(values)) if weights is None else np.ascontiguousarray(weights, dtype=np.float64)
        if len(values):
            row_adder().invokeWithArguments([rows, _java_array(values), _java_array(weights)])
        return rows

    def _attributes(self) -> Any:
        attribute = java_class("weka.core.Attribute")
        names, levels = _texts([*self.names, "class"]), [*self.levels, self.classes]
        return java_list(
            attribute(name) if of_name is None else attribute(name, java_list(_texts(of_name)))
            for name, of_name in zip(names, levels, strict=True)
        )


def _texts(labels: list[Any]) -> list[Any]:
    """Return Java strings, numbered if two labels have the same text, which Weka does not accept."""
    import jpype

    texts = [str(label) for label in labels]
    # only then, because Weka's random number generators start from the text of a row
    if len(set(texts)) < len(texts):
        texts = [f"{text} ({place})" for place, text in enumerate(texts, 1)]
    return [jpype.JString(text) for text in texts]


def _java_array(values: np.ndarray) -> Any:
    import jpype

    return jpype.JArray.of(values)


def make(name: str, options: str) -> Any:
    """Return the untrained Java classifier ``name`` (``trees.J48``, or with its whole package).

    Raises WekaError that names an unknown classifier, or an option that is unknown or has an invalid value.
    """
    throwable = java_class("java.lang.Throwable")
    full = full_name(name)
    try:
        words = [str(word) for word in java_class("weka.core.Utils").splitOptions(options)]
    except throwable as error:
        raise WekaError(f'options "{options}": {message_of(error)}') from None
    try:
        classifier = _new_classifier(full)
    except throwable as error:
        raise WekaError(
            f'Weka has no classifier "{name}" ({message_of(error)}); its names are such as trees.J48, bayes.NaiveBayes'
        ) from None
    if fault := _set_options(classifier, words):
        raise WekaError(f'{name} does not take the option "{_invalid_option(full, words)}": {fault}')
    return classifier


def _new_classifier(full: str) -> Any:
    return java_class("weka.core.Utils").forName(java_class("weka.classifiers.Classifier"), full, [])


def _set_options(classifier: Any, words: list[str]) -> str | None:
    """Set the options of ``classifier``, and return what is wrong with them, or None."""
    try:
        classifier.setOptions(list(words))
    except java_class("java.lang.Throwable") as error:
        return message_of(error)
    return None


def _invalid_option(full: str, words: list[str]) -> str:
    """Return the option that is invalid by itself, or all options if only their combination is invalid."""
    starts = [place for place, word in enumerate(words) if word.startswith("-") and not _is_number(word)]
    starts = starts if starts and starts[0] == 0 else [0, *starts]
    parts = [words[a:b] for a, b in zip(starts, [*starts[1:], len(words)], strict=True)]
    return " ".join(next((part for part in parts if _set_options(_new_classifier(full), part)), words))


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


class WekaClassifier(ClassifierMixin, BaseEstimator):
    """Fit and predict with a classifier of Weka: ``WekaClassifier("trees.J48", options="-C 0.25 -M 2")``.

    It takes frames and arrays. Numbers are numeric for Weka. Categories, text and truth values are nominal. NaN and
    None are missing. Java starts at the first ``fit`` in each process, with at most 2 GB of memory each (see
    ``probcal.learners.weka.jvm.start``).

    Java runs inside your process, and Python cannot catch its end. If Java crashes, or Weka ends the program, your
    process ends. So does a process that calls ``faulthandler.enable`` or ``faulthandler.disable`` after the first
    ``fit``, because they take the signal SIGSEGV from Java. ``probcal run`` fits in other processes, and there the cell
    fails with the reason.

    Parameters
    ----------
    classifier : str, default="trees.J48"
        Weka's name, with or without ``weka.classifiers.`` in front.
    options : str, default=""
        Weka's own command-line options.
    random_state : int, RandomState instance or None, default=None
        Seed for classifiers that draw (Weka's ``Randomizable``). None keeps Weka's fixed seed. A seed given here
        overrules ``-S`` among the options.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels in sorted order.
    n_features_in_ : int
        Number of columns of ``X``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns of ``X``, if it has names.
    java_ : object
        Trained Java object. In an unpickled classifier it is bytes until the first prediction.

    See Also
    --------
    C45Classifier : Grows the trees of J48, without Java.
    KernelNaiveBayes : Is Weka's NaiveBayes -K, without Java.
    probcal.SigmoidClassifier : Calibrates the learner's probabilities.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from probcal.learners import WekaClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> tree = WekaClassifier("trees.J48", options="-C 0.25 -M 2").fit(X[:300], y[:300])
    >>> round(tree.score(X[300:], y[300:]), 2)
    0.92
    >>> tree.predict_proba(X[300:302]).round(2)
    array([[1., 0.],
           [0., 1.]])
    """

    read_with: ClassVar[dict[str, tuple[str, ...]]] = {"options": ("classifier",)}
    """Parameter -> the parameters that determine its meaning. Config errors are checked together with them."""

    def __init__(
        self,
        classifier: str = "trees.J48",
        options: str = "",
        *,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.classifier = classifier
        self.options = options
        self.random_state = random_state

    @property
    def learns_in_threads(self) -> bool:
        """Return whether fits run in parallel in threads without disturbing each other.

        It holds for J48, which keeps its state to itself.

        Returns
        -------
        bool
            True for J48 only.
        """
        return self.classifier in ("trees.J48", "weka.classifiers.trees.J48")

    def fit(self, X: Any, y: Any, sample_weight: np.ndarray | None = None) -> WekaClassifier:
        """Train Weka's classifier.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_rows, n_columns)
            Numbers. Columns of a frame may also hold categories, text and truth values. NaN and None are missing.
        y : array-like of shape (n_rows,)
            Labels.
        sample_weight : array-like of shape (n_rows,), default=None
            Instance weights, not negative. None means weight 1 for each row.

        Returns
        -------
        WekaClassifier
            The classifier itself.

        Raises
        ------
        WekaError
            If Weka does not know the classifier or an option, refuses the data, or the classifier would ignore the
            weights. Also if the options need trust. It is a ValueError.
        WekaMissing
            If an optional package is missing.
        ValueError
            If a parameter, a label or a weight is invalid, or ``X`` is empty or holds infinite values.
        TypeError
            If a column of a frame is neither numbers nor categories, or ``X`` is sparse.
        """
        self.check_parameters()
        table = checked_frame(self, X, fitting=True)
        check_consistent_length(table, y)
        labels = label_array(y)
        check_classification_targets(labels)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        with in_java():
            java = make(self.classifier, self.options)
            self._seed(java)
            weights = row_weights(sample_weight, len(codes))
            if weights is not None and not _is_a(java, "weka.core.WeightedInstancesHandler"):
                raise WekaError(
                    f"Weka's {self.classifier} takes no instance weights; fit it on a weighted sample instead"
                )
            self.header_ = Header.of(table, self.classes_)
            with java_errors(f"{self._call_text()} cannot learn from these rows (n_samples = {len(codes)})"):
                java.buildClassifier(self.header_.instances(table, codes, weights))
        self.java_ = java
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Predict the probability of each class.

        The probabilities equal Weka's to the last bit. Only what rounding puts just below 0 or above 1 is 0 or 1 here.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_rows, n_columns)
            Rows with the columns of ``fit``.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Probabilities, in the order of ``classes_``.

        Raises
        ------
        WekaError
            If Weka cannot predict the rows. It is a ValueError.
        ValueError
            If the columns differ from those of ``fit``, or hold infinite values.
        """
        check_is_fitted(self, "header_")
        table = checked_frame(self, X, fitting=False)
        with in_java(), java_errors(f"{self._call_text()} cannot predict these rows"):
            if isinstance(self.java_, bytes):
                self.java_ = from_bytes(self.java_)
            found = distributions(self.java_, self.header_.instances(table))
        within = np.clip(found, 0, 1)
        return np.where(np.abs(found - within) < _ROUNDING, within, found)

    def predict(self, X: Any) -> np.ndarray:
        """Predict the most probable label of each row.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_rows, n_columns)
            Rows with the columns of ``fit``.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels out of ``classes_``. The first class wins a tie, as in Weka.

        Raises
        ------
        WekaError
            If Weka cannot predict the rows. It is a ValueError.
        ValueError
            If the columns differ from those of ``fit``, or hold infinite values.
        """
        probabilities = self.predict_proba(X)
        labels: np.ndarray = self.classes_[np.argmax(probabilities, axis=1)]
        return labels

    @staticmethod
    def unmet_requirement() -> str | None:
        """Return what Weka needs and this environment lacks. It starts no Java.

        Returns
        -------
        str or None
            What is missing, with what to do about it. None if nothing is missing.
        """
        return jvm.unmet_requirement()

    def check_parameters(self) -> None:
        """Check the parameters without Java. Weka itself checks in ``fit``.

        Raises
        ------
        ValueError
            If a parameter is of the wrong kind, or ``classifier`` is empty.
        WekaError
            If the options need trust. It is a ValueError.
        """
        for name in ("classifier", "options"):
            if not isinstance(getattr(self, name), str):
                raise ValueError(f"{name} must be text, not {getattr(self, name)!r}")
        if not self.classifier.strip():
            raise ValueError("classifier must be a name such as trees.J48")
        if not isinstance(self.random_state, numbers.Integral | np.random.RandomState | None):
            raise ValueError(f"random_state must be a whole number, a RandomState or None, not {self.random_state!r}")
        if refused := untrusted_options(self.classifier, self.options):
            raise WekaError(refused)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state, with the trained classifier as Java's serialised bytes."""
        state = dict(super().__getstate__())
        if "java_" in state and not isinstance(state["java_"], bytes):
            state["java_"] = to_bytes(state["java_"])
        return state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.categorical = tags.input_tags.string = True
        return tags

    def _call_text(self) -> str:
        return f"Weka's {self.classifier} {self.options}".rstrip()

    def _seed(self, java: Any) -> None:
        seed = self.random_state
        if seed is None or not _is_a(java, "weka.core.Randomizable"):
            return
        # Java's int has 32 bits, one of them for the sign
        java.setSeed(int(seed.randint(2**31 - 1)) if isinstance(seed, np.random.RandomState) else int(seed))


def _is_a(java: Any, interface: str) -> bool:
    return bool(java_class(interface).class_.isInstance(java))
