"""The learners that have a short name. You name any other learner by its import path."""

from __future__ import annotations

from probcal.components.registry import LEARNER_NAMES, Builtin

WEKA_PACKAGE = "probcal.learners.weka."
"""The first import path of every learner of Weka begins so."""
WEKA = f"{WEKA_PACKAGE}WekaClassifier"

LEARNERS: dict[str, Builtin] = {
    "j48": Builtin(
        WEKA,
        "Weka's J48, C4.5 decision trees (needs Weka and Java: the extra weka)",
        {"classifier": "trees.J48"},
        label="J48",
        encoding="native",
    ),
    "smo": Builtin(
        WEKA,
        "Weka's SMO, a linear support vector machine with C = 1 (needs Weka and Java: the extra weka)",
        {"classifier": "functions.SMO"},
        label="SVM",
        encoding="native",
    ),
    "jittered_smo": Builtin(
        "probcal.papers.langford_zadrozny_2005.jittered_smo.JitteredSMO",
        "the same with weights changed by 1e-12, which shows what rounding alone does "
        "(needs Weka and Java: the extra weka)",
        label="SVM",
        encoding="native",
    ),
    "weka_nb": Builtin(
        WEKA,
        "Weka's NaiveBayes, by default with kernel densities: -K (needs Weka and Java: the extra weka)",
        {"classifier": "bayes.NaiveBayes", "options": "-K"},
        label="NB",
        encoding="native",
    ),
    "weka_logistic": Builtin(
        WEKA,
        "Weka's Logistic (needs Weka and Java: the extra weka)",
        {"classifier": "functions.Logistic"},
        label="Log",
        encoding="native",
    ),
    "weka": Builtin(
        WEKA,
        "any classifier of Weka, by its name and options (needs Weka and Java: the extra weka)",
        encoding="native",
    ),
    "tree": Builtin(
        "sklearn.tree.DecisionTreeClassifier",
        "scikit-learn's decision tree (entropy, at least two rows in a leaf)",
        {"criterion": "entropy", "min_samples_leaf": 2},
        label="Tree",
    ),
    "c45": Builtin(
        "probcal.learners.c45.C45Classifier",
        "C4.5 decision trees, the same as Weka's J48 without Java (needs numba: the extra trees)",
        label="C4.5",
        encoding="native",
    ),
    "linear_svm": Builtin(
        "sklearn.svm.LinearSVC",
        "linear support vector machine (hinge loss, C = 1)",
        # liblinear penalises the intercept, which Weka's SMO does not. Scaled by 5 the penalty almost vanishes, but the
        # minimum needs more than scikit-learn's 1,000 iterations, and even more under large weights.
        {"loss": "hinge", "C": 1.0, "intercept_scaling": 5.0, "max_iter": 500_000},
        label="SVM",
    ),
    "hinge_svm": Builtin(
        "probcal.learners.svm.HingeSVM",
        "linear support vector machine as Weka's SMO (C = 1), solved exactly",
        label="SVM",
    ),
    "kernel_nb": Builtin(
        "probcal.learners.kernel_naive_bayes.KernelNaiveBayes",
        "naive Bayes with kernel densities, as Weka's NaiveBayes -K",
        label="NB",
        encoding="native",
    ),
    "gaussian_nb": Builtin("sklearn.naive_bayes.GaussianNB", "naive Bayes with Gaussian densities", label="GaussNB"),
    "logistic": Builtin(
        "sklearn.linear_model.LogisticRegression",
        "logistic regression with next to no penalty (Weka's Logistic has a ridge of 1e-8)",
        # at this tolerance newton-cholesky ends at the minimum, as Weka does, and probes have a fast path
        {"C": 1e8, "solver": "newton-cholesky", "tol": 1e-8},
        label="Log",
    ),
}
LEARNER_NAMES.add(LEARNERS)
known_learners, find_learner = LEARNER_NAMES.known, LEARNER_NAMES.find
"""Return all learners with a short name, those of plugins too, and the one of a name."""
