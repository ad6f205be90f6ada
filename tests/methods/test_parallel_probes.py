"""Test that probes fitted in threads or processes equal probes fitted one after the other."""

import os
import tempfile
import threading
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn import config_context, get_config
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier

from probcal import ProbingClassifier, RelabelingClassifier

X, Y = make_classification(300, 5, flip_y=0.3, random_state=0)


def wait_for_two(path):
    """Wait until fits by two workers have begun, because the machine decides which worker gets a fit."""
    for _ in range(60_000):
        if len({line.rpartition(" ")[0] for line in Path(path).read_text().splitlines()}) >= 2:
            return
        time.sleep(0.01)
    raise TimeoutError("no other worker came")


class Notes(ClassifierMixin, BaseEstimator):
    """Write a line for each fit of the tree, in any process."""

    def __init__(self, path=None):
        self.path = path

    def fit(self, X, y, sample_weight=None):
        with open(self.path, "a") as file:
            file.write(f"{os.getpid()} fits\n")
        wait_for_two(self.path)
        self.tree_ = DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, y, sample_weight)
        self.classes_ = self.tree_.classes_
        return self

    def predict(self, X):
        return self.tree_.predict(X)


class Fails(DecisionTreeClassifier):
    def fit(self, X, y, sample_weight=None):
        raise ValueError("no tree grows here")


class Odd(Exception):
    """Represent an exception that cannot be created again from its message."""

    def __init__(self, first, second):
        super().__init__(f"{first} and {second}")


class Threaded(DecisionTreeClassifier):
    """Write the process, the thread and a setting of each fit."""

    learns_in_threads = True

    def __init__(self, path=None, random_state=None):
        super().__init__(random_state=random_state)
        self.path = path

    def fit(self, X, y, sample_weight=None):
        with open(self.path, "a") as file:
            file.write(f"{os.getpid()} {threading.get_ident()} {get_config()['assume_finite']}\n")
        wait_for_two(self.path)
        return super().fit(X, y, sample_weight)


class FailsInThreads(Fails):
    learns_in_threads = True


class WarnsInThreads(DecisionTreeClassifier):
    learns_in_threads = True

    def fit(self, X, y, sample_weight=None):
        warnings.warn("hm", RuntimeWarning, stacklevel=1)
        return super().fit(X, y, sample_weight)


class Oddly(DecisionTreeClassifier):
    def fit(self, X, y, sample_weight=None):
        raise Odd("this", "that")


class Warns(DecisionTreeClassifier):
    def fit(self, X, y, sample_weight=None):
        warnings.warn("hm", RuntimeWarning, stacklevel=1)
        return super().fit(X, y, sample_weight)


def left_behind():
    return set(Path(tempfile.gettempdir()).glob("probcal-*/fit"))


class InProcesses(DecisionTreeClassifier):
    """Derive from a learner that learns in threads; probcal does not know that this class does, too."""


@pytest.mark.slow
@pytest.mark.parametrize("learner", [DecisionTreeClassifier(), InProcesses()], ids=["threads", "processes"])
@pytest.mark.parametrize("how", [{}, {"discretisation": "uniform"}, {"weighting": "rejection"}], ids=str)
def test_votes_do_not_depend_on_n_jobs(how, learner):
    one, two = (ProbingClassifier(learner, 30, n_jobs=n, random_state=0, **how) for n in (1, 2))
    assert one.fit(X, Y).votes(X).tolist() == two.fit(X, Y).votes(X).tolist()
    assert one.thresholds_.tolist() == two.thresholds_.tolist()


@pytest.mark.slow
def test_both_processes_fit_and_few_fits_are_unneeded(tmp_path):
    fitted = ProbingClassifier(Notes(str(tmp_path / "fits")), 60, n_jobs=2, random_state=0).fit(X, Y)
    fits = (tmp_path / "fits").read_text().splitlines()
    assert len(set(fits)) == 2
    assert len(fitted.estimators_) <= len(fits) <= 1.2 * len(fitted.estimators_)


def test_threads_fit_in_this_process_with_its_settings(tmp_path):
    with config_context(assume_finite=True):
        fitted = ProbingClassifier(Threaded(str(tmp_path / "fits")), 60, n_jobs=2, random_state=0).fit(X, Y)
    fits = [line.split() for line in (tmp_path / "fits").read_text().splitlines()]
    assert {(pid, assume_finite) for pid, _, assume_finite in fits} == {(str(os.getpid()), "True")}
    assert len({thread for _, thread, _ in fits} - {str(threading.get_ident())}) == 2
    assert len(fitted.estimators_) <= len(fits) <= 80  # the number of fits if a fit takes no time


@pytest.mark.parametrize("fails", [pytest.param(Fails(), marks=pytest.mark.slow), FailsInThreads()])
def test_error_of_a_fit_is_raised_and_workers_end(fails):
    before, filters = left_behind(), list(warnings.filters)
    with pytest.raises(ValueError, match="no tree grows here"):
        ProbingClassifier(fails, 5, n_jobs=2).fit(X, Y)
    for learner in (DecisionTreeClassifier(), InProcesses()):
        ProbingClassifier(learner, 5, n_jobs=2).fit(X, Y).votes(X)
    assert left_behind() == before
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("probcal")]
    assert warnings.filters == filters


def test_message_names_an_exception_that_cannot_be_pickled():
    with pytest.raises(RuntimeError, match="Odd: this and that"):
        ProbingClassifier(Oddly(), 5, n_jobs=2).fit(X, Y)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_each_fit_gives_its_warning_once(n_jobs):
    with pytest.warns(RuntimeWarning, match="hm") as given:
        ProbingClassifier(Warns(), 5, n_jobs=n_jobs).fit(X, Y)
    assert len(given) == 5


def test_warnings_of_fits_in_threads_are_given():
    with pytest.warns(RuntimeWarning, match="hm") as given:
        ProbingClassifier(WarnsInThreads(), 5, n_jobs=2).fit(X, Y)
    assert len(given) >= 5  # also from fits that are not needed later


@pytest.mark.parametrize("method", [ProbingClassifier, RelabelingClassifier])
def test_text_labels_and_weights_give_equal_votes(method):
    weights = np.random.default_rng(1).integers(0, 3, 300)
    texts = np.array(["no", "yes"])[Y]
    one, two = (
        method(DecisionTreeClassifier(), 10, n_jobs=n, random_state=0).fit(X, texts, weights).votes(X) for n in (1, 2)
    )
    assert one.tolist() == two.tolist()
