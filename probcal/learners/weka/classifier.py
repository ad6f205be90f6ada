"""A scikit-learn classifier around any classifier of Weka, with the options of Weka's command line."""

from __future__ import annotations

import numbers
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from probcal._validation import label_array, row_weights
from probcal.learners.frame_columns import FrameClassifier, checked_frame
from probcal.learners.weka import jvm
from probcal.learners.weka.allowed import untrusted_options
from probcal.learners.weka.bridge import Header, distributions, from_bytes, make, to_bytes
from probcal.learners.weka.jvm import WekaError, in_java, java_class, java_errors

# J48 of Weka 3.4 gives probabilities such as -1e-15 to rows with missing values.
_ROUNDING = 1e-9


class WekaClassifier(FrameClassifier):
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
            seed = self.random_state
            if seed is not None and _is_a(java, "weka.core.Randomizable"):
                # Java's int has 32 bits, one of them for the sign
                java.setSeed(int(seed.randint(2**31 - 1)) if isinstance(seed, np.random.RandomState) else int(seed))
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
        # only rounding is corrected: anything else is Weka's answer, and an error to be seen
        within = np.clip(found, 0, 1)
        return np.where(np.abs(found - within) < _ROUNDING, within, found)

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

    def _call_text(self) -> str:
        return f"Weka's {self.classifier} {self.options}".rstrip()


def _is_a(java: Any, interface: str) -> bool:
    return bool(java_class(interface).class_.isInstance(java))
