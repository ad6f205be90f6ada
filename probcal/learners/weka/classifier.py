"""Any classifier of Weka as one of scikit-learn's.

A Weka classifier by its name, with the options that Weka's own command line takes.

A trained Java object as bytes and back, by Java's own serialisation.
"""

from __future__ import annotations

import numbers
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_feature_names,
    _check_n_features,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from probcal.learners.weka import jvm
from probcal.learners.weka.allowed import full_name, untrusted_options
from probcal.learners.weka.instances import Header, distributions
from probcal.learners.weka.jvm import WekaError, in_java, java_class, message_of, told
from probcal.methods._base import row_weights


def make(name: str, options: str) -> Any:
    """The Java classifier ``name`` (``trees.J48``, or with its whole package), not yet trained.

    Raises WekaError that names the classifier, or the option, that is not known or has no sound value.
    """
    throwable = java_class("java.lang.Throwable")
    full = full_name(name)
    try:
        words = [str(word) for word in java_class("weka.core.Utils").splitOptions(options)]
    except throwable as error:
        raise WekaError(f'options "{options}": {message_of(error)}') from None
    try:
        classifier = _named(full)
    except throwable as error:
        raise WekaError(
            f'Weka has no classifier "{name}" ({message_of(error)}); its names are such as trees.J48, bayes.NaiveBayes'
        ) from None
    if fault := _fault(classifier, words):
        raise WekaError(f'{name} does not take the option "{_culprit(full, words)}": {fault}')
    return classifier


def _named(full: str) -> Any:
    return java_class("weka.core.Utils").forName(java_class("weka.classifiers.Classifier"), full, [])


def _fault(classifier: Any, words: list[str]) -> str | None:
    """What is wrong with the options, which a sound classifier has from here on."""
    try:
        classifier.setOptions(list(words))
    except java_class("java.lang.Throwable") as error:
        return message_of(error)
    return None


def _culprit(full: str, words: list[str]) -> str:
    """The option that is at fault by itself; all of them where only their company is."""
    starts = [place for place, word in enumerate(words) if word.startswith("-") and not _is_number(word)]
    starts = starts if starts and starts[0] == 0 else [0, *starts]
    parts = [words[a:b] for a, b in zip(starts, [*starts[1:], len(words)], strict=True)]
    return " ".join(next((part for part in parts if _fault(_named(full), part)), words))


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def to_bytes(trained: Any) -> bytes:
    """Raises WekaError for an object that Java cannot serialise."""
    stream = java_class("java.io.ByteArrayOutputStream")()
    with told("the trained classifier cannot be pickled"):
        java_class("weka.core.SerializationHelper").write(stream, trained)
    return bytes(stream.toByteArray())


def from_bytes(content: bytes) -> Any:
    """The object that ``to_bytes`` wrote. Only for bytes that are trusted, as with ``pickle`` itself."""
    import jpype

    stream = java_class("java.io.ByteArrayInputStream")(jpype.JArray(jpype.JByte)(content))
    with told("the pickled classifier cannot be read; was it written by another release of Weka?"):
        return java_class("weka.core.SerializationHelper").read(stream)


class WekaClassifier(ClassifierMixin, BaseEstimator):
    """A classifier of Weka: ``WekaClassifier("trees.J48", options="-C 0.25 -M 2")``.

    Takes frames and arrays. Numbers are numeric for Weka; categories, text and truth values are nominal;
    NaN and None are missing. Java starts at the first ``fit`` of a process, in every process anew, with at
    most 2 GB of memory each (see ``probcal.learners.weka.jvm.start``).

    Parameters
    ----------
    classifier : Weka's name, with or without ``weka.classifiers.`` in front.
    options : Weka's own command-line options.
    random_state : seed for classifiers that draw (Weka's ``Randomizable``); None leaves Weka's own, a
        fixed one. ``-S`` among the options is overruled by a number given here.

    Attributes
    ----------
    classes_ : (n_classes,) labels in sorted order.
    n_features_in_, feature_names_in_ : as in scikit-learn.
    java_ : the trained Java object.
    """

    read_with: ClassVar[dict[str, tuple[str, ...]]] = {"options": ("classifier",)}
    """Parameter -> those that say what it means; faults of a config are told with regard to them."""

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
        """Whether fits in several threads go on side by side and never meddle; known of J48, all in its own object."""
        return self.classifier in ("trees.J48", "weka.classifiers.trees.J48")

    def fit(self, X: Any, y: Any, sample_weight: np.ndarray | None = None) -> WekaClassifier:
        """X: (n_rows, n_columns); y: (n_rows,) labels; sample_weight: (n_rows,) not negative, as instance weights.

        Raises WekaError for a classifier or option that Weka does not know and for data that it refuses,
        WekaMissing without the optional packages, ValueError for weights that the classifier would ignore.
        """
        self.check_parameters()
        table = self._table(X, fitting=True)
        check_consistent_length(table, y)
        check_classification_targets(y)
        self.classes_, codes = np.unique(column_or_1d(y, warn=True), return_inverse=True)
        with in_java():
            java = make(self.classifier, self.options)
            self._seed(java)
            weights = row_weights(sample_weight, len(codes))
            if weights is not None and not _is_a(java, "weka.core.WeightedInstancesHandler"):
                raise WekaError(
                    f"Weka's {self.classifier} takes no instance weights; fit it on a weighted sample instead"
                )
            self.header_ = Header.of(table, self.classes_)
            with told(f"{self._as_called()} cannot learn from these rows (n_samples = {len(codes)})"):
                java.buildClassifier(self.header_.instances(table, codes, weights))
        self.java_ = java
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """(n_rows, n_classes) probabilities of ``classes_``, Weka's own to the last bit."""
        check_is_fitted(self, "header_")
        table = self._table(X, fitting=False)
        with in_java(), told(f"{self._as_called()} cannot tell the class of these rows"):
            if isinstance(self.java_, bytes):
                self.java_ = from_bytes(self.java_)
            return distributions(self.java_, self.header_.instances(table))

    def predict(self, X: Any) -> np.ndarray:
        """(n_rows,) labels: the likeliest class, a tie goes to the first, as in Weka."""
        estimates = self.predict_proba(X)
        return self.classes_[np.argmax(estimates, axis=1)]

    @staticmethod
    def unmet_requirement() -> str | None:
        """Return what Weka needs and this environment lacks, with what to do about it; None when all is there."""
        return jvm.unmet_requirement()

    def check_parameters(self) -> None:
        """Raise ValueError for a parameter of the wrong kind, and for options that only trust allows.

        Starts no Java: Weka itself is asked in ``fit``.
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
        """The trained classifier goes as Java's own serialised bytes."""
        state = dict(super().__getstate__())
        if "java_" in state and not isinstance(state["java_"], bytes):
            state["java_"] = to_bytes(state["java_"])
        return state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.categorical = tags.input_tags.string = True
        return tags

    def _as_called(self) -> str:
        return f"Weka's {self.classifier} {self.options}".rstrip()

    def _seed(self, java: Any) -> None:
        if self.random_state is None or not _is_a(java, "weka.core.Randomizable"):
            return
        seed = self.random_state
        java.setSeed(int(seed) if isinstance(seed, numbers.Integral) else int(seed.randint(2**31 - 1)))  # type: ignore[union-attr]

    def _table(self, X: Any, *, fitting: bool) -> pd.DataFrame:
        """X as a frame, its columns remembered or held against those remembered, as scikit-learn does it."""
        if not isinstance(X, pd.DataFrame):
            return pd.DataFrame(validate_data(self, X, reset=fitting, ensure_all_finite="allow-nan"))
        if not len(X) or not X.shape[1]:
            raise ValueError(f"a table of {len(X)} rows and {X.shape[1]} columns came; at least 1 of each is required")
        if not X.columns.is_unique:
            raise ValueError(f"column {X.columns[X.columns.duplicated()][0]!r} is there twice; names must be unique")
        _check_feature_names(self, X, reset=fitting)
        _check_n_features(self, X, reset=fitting)
        return X


def _is_a(java: Any, interface: str) -> bool:
    return bool(java_class(interface).class_.isInstance(java))
