"""Test that the shipped experiments reproduce the published numbers of the two standard splits."""

import pytest

from probcal.papers.published import PublishedPaper
from probcal.store.folder import Store
from tests.commands import probcal

TOLERANCE = {"rms": 0.005, "cxe": 0.010, "auc": 0.005}
ALL = ("rms", "cxe", "auc")
NATIVE = [
    # learner of uci-native.yaml, method, the paper's learner and method, metrics that have to agree
    ("c45", "direct", "J48", "direct", ALL),
    ("c45", "probing", "J48", "probing", ALL),
    ("nb", "probing", "NB", "probing", ALL),
    ("nb", "sigmoid", "NB", "sigmoid", ALL),
    ("nb", "direct", "NB", "direct", ("rms", "auc")),  # the published CXE, .949, is finite and ours is not
]
WEKA_ADULT = [
    ("j48", "direct", "J48", "direct", ALL),
    ("j48", "probing", "J48", "probing", ALL),
    ("nb", "direct", "NB", "direct", ("rms", "auc")),
    ("nb", "sigmoid", "NB", "sigmoid", ALL),
    ("log", "direct", "Log", "direct", ALL),
]
WEKA_COIL = [
    ("j48", "direct", "J48", "direct", ALL),
    # The AUC of these two methods varies by chance: over six seeds .51 to .62 [.641] and .711 to .721 [.720]
    ("j48", "bagging", "J48", "bagging", ("rms", "cxe")),
    ("j48", "probing", "J48", "probing", ("rms", "cxe")),
]


@pytest.fixture(scope="module")
def run(original_files, tmp_path_factory):
    """Return a function that runs a part of a shipped experiment and returns its results, cell by cell."""
    folder = tmp_path_factory.mktemp("published")

    def run(name, *words):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PROBCAL_CACHE_DIR", str(folder / "cache"))
            patch.setenv("PROBCAL_DATA_DIR", str(original_files))
            result = probcal("run", name, *words, "-j", 2, "-o", folder / name)
        assert result.exit_code == 0, result.output
        return Store(folder / name).results()

    return run


@pytest.mark.slow
def test_native_learners_reproduce_trees_and_naive_bayes_on_adult(run):
    """Check the trees and naive Bayes; ``make regression`` checks the linear columns of Adult."""
    methods = ("-m", "direct", "-m", "sigmoid", "-m", "probing")
    results = run("uci-native", "-d", "adult", "-l", "c45", "-l", "nb", *methods)
    assert too_far(results, "adult", NATIVE) == {}


@pytest.mark.slow
def test_weka_learners_reproduce_adult(run):
    run("uci-random", "-d", "adult", "-l", "j48", "-l", "nb", "-l", "log", "-m", "direct", "-m", "sigmoid")
    results = run("uci-random", "-d", "adult", "-l", "j48", "-m", "probing")
    assert too_far(results, "adult", WEKA_ADULT) == {}


@pytest.mark.slow
def test_weka_trees_reproduce_coil(run):
    assert too_far(run("uci-random", "-d", "coil", "-l", "j48"), "coil", WEKA_COIL) == {}


def too_far(results, dataset, expected):
    paper = PublishedPaper.read("langford-zadrozny-2005")
    found = {}
    for learner, method, their_learner, their_method, metrics in expected:
        ours = results[f"{dataset}/0/{learner}/{method}"].metrics
        for metric in metrics:
            published = paper.number(dataset, their_learner, their_method, metric)
            same = ours[metric] == published or abs(ours[metric] - published) <= TOLERANCE[metric]
            if not same:
                found[learner, method, metric] = (ours[metric], published)
    return found
