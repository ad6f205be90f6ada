"""Test which Weka options a config may use without trust. Only schemes and flags that touch no file are allowed."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from probcal.components.trust import trusting
from probcal.learners import WekaClassifier
from probcal.learners.registry import LEARNERS
from probcal.learners.weka import WekaError
from probcal.learners.weka.allowed import schemes, split_options, untrusted_options
from probcal.yaml_file import entries

ROOT = Path(__file__).parents[3]
FILTER = "weka.filters.unsupervised.attribute"
SEARCH = "weka.classifiers.bayes.net.search"


@pytest.fixture(autouse=True)
def nothing_is_trusted(monkeypatch):
    monkeypatch.delenv("PROBCAL_TRUSTED")


ROUTES = {
    "Vote reads an object": ("meta.Vote", "-P model.ser"),
    "a dictionary is read as an object": (
        "meta.FilteredClassifier",
        f'-F "{FILTER}.FixedDictionaryStringToWordVector -binary-dict -dictionary d.ser"',
    ),
    "a dictionary is written": ("meta.FilteredClassifier", f'-F "{FILTER}.StringToWordVector -dictionary d.txt"'),
    "FromFile reads XML": ("bayes.BayesNet", f"-D -Q {SEARCH}.fixed.FromFile -- -B evil.xml"),
    "BayesNet reads XML": ("bayes.BayesNet", "-B evil.xml"),
    "HillClimber reads XML": ("bayes.BayesNet", f"-Q {SEARCH}.local.HillClimber -- -X evil.xml"),
    "a kernel matrix is read": (
        "functions.SMO",
        '-K "weka.classifiers.functions.supportVector.PrecomputedKernelMatrixKernel -M m.matrix"',
    ),
    "a kernel matrix is read by default": (
        "functions.SMO",
        "-K weka.classifiers.functions.supportVector.PrecomputedKernelMatrixKernel",
    ),
    "costs are read": ("meta.CostSensitiveClassifier", "-C costs.cost"),
    "costs are looked for": ("meta.CostSensitiveClassifier", "-N /etc"),
    "costs are looked for by default": ("meta.CostSensitiveClassifier", ""),
    "costs are looked for by a base": ("meta.Bagging", "-W weka.classifiers.meta.CostSensitiveClassifier"),
    "a serialised classifier": ("misc.SerializedClassifier", "-model m.ser"),
    "a mapped classifier": ("misc.InputMappedClassifier", "-L m.ser"),
    "a filter of a serialised classifier": (
        "meta.FilteredClassifier",
        '-F "weka.filters.supervised.attribute.AddClassification -serialized m.ser"',
    ),
    "stop words from a file": (
        "bayes.NaiveBayesMultinomialText",
        '-stopwords-handler "weka.core.stopwords.WordsFromFile -stopwords f"',
    ),
    "a method of Java by its name": ("meta.FilteredClassifier", f'-F "{FILTER}.NumericTransform -C a.B -M c"'),
    "a formula that calls Java": ("meta.FilteredClassifier", f'-F "{FILTER}.MathExpression -E 1"'),
    "after --": ("meta.Bagging", "-W weka.classifiers.meta.Vote -- -P m.ser"),
    "after two --": ("meta.Bagging", "-W weka.classifiers.meta.Bagging -- -W weka.classifiers.meta.Vote -- -P m"),
    "after -- of the default base": ("meta.Bagging", "-- -model m.ser"),
    "two quotes deep": (
        "meta.FilteredClassifier",
        f'-F "weka.filters.MultiFilter -F \\"{FILTER}.StringToWordVector -dictionary d\\""',
    ),
    "in a kernel's company": ("meta.Stacking", '-B weka.classifiers.rules.ZeroR -M "weka.classifiers.meta.Vote -P m"'),
    "tuned": ("meta.CVParameterSelection", '-P "P 1 2 2" -W weka.classifiers.meta.Vote'),
    "a class that is no scheme": ("java.lang.ProcessBuilder", ""),
    "a package's class": ("weka.classifiers.mine.Own", ""),
    "a name in other letters": ("misc.serializedclassifier", ""),
}


@pytest.mark.parametrize(("classifier", "options"), ROUTES.values(), ids=ROUTES)
def test_a_route_to_a_file_needs_trust(classifier, options):
    refused = untrusted_options(classifier, options)
    assert refused is not None
    assert "add  --trust weka" in refused
    with trusting("weka"):
        assert untrusted_options(classifier, options) is None


@pytest.mark.parametrize(
    ("classifier", "options"),
    [
        ("meta.Vote", "-P=m.ser"),
        ("meta.Vote", "-Pm.ser"),
        ("meta.Vote", '"-P" m.ser'),
        ("meta.Vote", '"-P"m.ser'),
        ("meta.Vote", "-R -P m.ser"),
        ("meta.Vote", '-R "-P" -P m.ser'),
        ("meta.Vote", "-S 1 m.ser -P"),
        ("meta.Vote", "-S 1\x0b-P m.ser"),
        ("meta.Vote", "-S 1\x1f-P m.ser"),
        ("meta.Vote", "-S 1\u2003-P m.ser"),
        ("meta.Vote", "-\u0050\u0000 m.ser"),
        ("meta.Vote", "--P m.ser"),
        ("meta.Vote", "-- -P m.ser"),
        ("meta.Vote", "- -P m.ser"),
        ("meta.Vote", '"" -P m.ser'),
        ("meta.Vote", '-B "" -P m.ser'),
        ("meta.Vote", '-B "-P m.ser"'),
        ("meta.Vote", "-model m.ser"),
        ("trees.J48", "-C 0.25 -C 0.3"),
        ("trees.J48", "-C -U"),
        ("trees.J48", "-C /etc/passwd"),
        ("trees.J48", "-C 1f"),
        ("trees.J48", "-C"),
        ("trees.J48", '-C "0.25'),
        ("trees.J48", "-U -output-debug-info"),
        ("trees.J48", "-U -do-not-check-capabilities"),
        ("trees.J48", "-U --do-not-check-capabilities"),
        ("trees.J48", "-D"),
        ("trees.J48", "-t train.arff"),
        ("trees.J48", "-Djava.security.manager"),
        ("trees.J48\u0000", ""),
        (" trees.J48", ""),
        ("meta.Bagging", "-W trees.J48"),
        ("meta.Bagging", "-W J48"),
        ("meta.Bagging", '-W "weka.classifiers.trees.J48 -U"'),
        ("bayes.BayesNet", "-- -B evil.xml"),
        ("bayes.BayesNet", f"-Q {SEARCH}.local.K2 -- -P 1 -E weka.classifiers.bayes.net.estimate.SimpleEstimator -B x"),
        ("bayes.BayesNet", f"-Q {SEARCH}.local.K2 -- -P 1 -E {SEARCH}.fixed.FromFile -- -B x"),
        ("bayes.BayesNet", f"-Q {SEARCH}.local.K2 -- -P 1 -E"),
    ],
)
def test_no_spelling_bypasses_the_list(classifier, options):
    assert untrusted_options(classifier, options) is not None


@pytest.mark.parametrize(
    ("classifier", "options"),
    [
        ("trees.J48", "-C 0.25 -M 2"),
        ("weka.classifiers.trees.J48", "  -U\t-A\n"),
        ("trees.J48", '"-C" "0.25"'),
        ("bayes.NaiveBayes", "-K"),
        ("functions.Logistic", "-R 1.0E-8 -M -1"),
        ("functions.SMO", '-M -V -1 -K "weka.classifiers.functions.supportVector.RBFKernel -C 250007 -G 0.1"'),
        ("functions.MultilayerPerceptron", "-L 0.3 -H 4,a"),
        ("trees.RandomForest", "-I 50 -K 0 -depth 5"),
        ("trees.REPTree", "-L -1"),
        ("lazy.IBk", '-K 3 -A "weka.core.neighboursearch.KDTree -A \\"weka.core.EuclideanDistance -R first-last\\""'),
        ("meta.Bagging", "-I 10 -W weka.classifiers.trees.J48 -- -U -M 2"),
        ("meta.Bagging", "-- -P"),
        ("meta.AdaBoostM1", "-W weka.classifiers.meta.Bagging -- -W weka.classifiers.trees.J48 -- -U"),
        ("meta.Vote", '-R AVG -B weka.classifiers.trees.J48 -B "weka.classifiers.bayes.NaiveBayes -K"'),
        ("meta.CVParameterSelection", '-P "C 0.1 0.5 5" -P "M 1 5 5" -W weka.classifiers.trees.J48 -- -A'),
        ("meta.CostSensitiveClassifier", '-cost-matrix "[0 1; 5 0]" -W weka.classifiers.trees.J48'),
        (
            "meta.FilteredClassifier",
            f'-F "weka.filters.MultiFilter -F {FILTER}.Standardize -F \\"{FILTER}.Remove -R 1,3-last -V\\""',
        ),
        (
            "meta.AttributeSelectedClassifier",
            '-E "weka.attributeSelection.WrapperSubsetEval -B weka.classifiers.bayes.NaiveBayes -F 5 -- -K" '
            '-S "weka.attributeSelection.GreedyStepwise -B"',
        ),
        (
            "bayes.BayesNet",
            f"-D -Q {SEARCH}.local.K2 -- -P 1 -S BAYES "
            "-E weka.classifiers.bayes.net.estimate.SimpleEstimator -- -A 0.5",
        ),
        ("bayes.BayesNet", "-E weka.classifiers.bayes.net.estimate.SimpleEstimator -- -A 0.5"),
    ],
)
def test_ordinary_options_need_no_trust(classifier, options):
    assert untrusted_options(classifier, options) is None


def test_shipped_configs_need_no_trust():
    asked = set()
    for config in sorted((ROOT / "configs").glob("*.yaml")):
        for name, entry in entries(yaml.safe_load(config.read_text(encoding="utf-8")), "learners").items():
            builtin = LEARNERS.get(entry.get("type") or name)
            if builtin is not None and builtin.path.endswith(".WekaClassifier"):
                for variant in (entry.get("variants") or {"": {}}).values():
                    params = {**builtin.params, **entry.get("params", {}), **(variant or {})}
                    asked.add((params.get("classifier", "trees.J48"), params.get("options", "")))
    assert len(asked) > 3
    assert [untrusted_options(*one) for one in asked] == [None] * len(asked)


def test_fit_rejects_untrusted_options_before_java_starts(monkeypatch):
    monkeypatch.setenv("PROBCAL_JAVA", "none such")  # a start of Java would fail with another message
    monkeypatch.setattr("probcal.learners.weka.jvm._started_in", None)
    with pytest.raises(WekaError, match="add  --trust weka"):
        WekaClassifier("meta.Vote", "-P model.ser").fit([[1.0], [2.0]], [0, 1])


def test_fifty_thousand_words_are_rejected():
    assert untrusted_options("trees.J48", "-U " * 50_000) is not None
    assert untrusted_options("trees.J48", '"\\"' * 50_000) is not None
    quoted = "weka.classifiers.rules.ZeroR"
    for _ in range(12):
        quoted = '"weka.classifiers.meta.Vote -B {}"'.format(quoted.replace("\\", "\\\\").replace('"', '\\"'))
    assert untrusted_options("meta.Vote", f"-B {quoted}") is None


def test_default_schemes_are_on_the_list():
    named = {flag.default for flags in schemes().values() for flag in flags.values() if flag.default}
    assert named and named <= set(schemes())


@pytest.mark.java
def test_options_are_split_as_in_weka():
    pytest.importorskip("jpype", reason="needs the extra weka")
    from probcal.learners.weka.jvm import java_class

    split = java_class("weka.core.Utils").splitOptions
    chance = random.Random(1)
    for _ in range(1000):
        text = "".join(chance.choice('ab-\\"\\" "\t\n\'%tnru001E') for _ in range(chance.randint(0, 24)))
        try:
            theirs = [str(word) for word in split(text)]
        except java_class("java.lang.Throwable"):
            with pytest.raises(ValueError, match="quotation mark"):
                split_options(text)
        else:
            assert split_options(text) == theirs, text


def wrong_schemes():
    """Return the flags that take a value in the list and none in Weka, or the reverse."""
    from probcal.learners.weka.jvm import java_class, message_of

    java_class("weka.core.WekaPackageManager").loadPackages(False)  # some schemes need the matrices of a package
    named, anything = java_class("weka.core.Utils").forName, java_class("java.lang.Object")
    silent = {  # Weka gives no message if their value is missing
        "weka.classifiers.functions.supportVector.RBFKernel": ["-G"],
        "weka.filters.supervised.attribute.ClassConditionalProbabilities": ["-min-values"],
        "weka.filters.supervised.instance.ClassBalancer": ["-num-intervals"],
        "weka.filters.unsupervised.attribute.Add": ["-L"],
        "weka.filters.unsupervised.attribute.OrdinalToNumeric": ["-R"],
    }
    wrong = []
    for scheme, flags in schemes().items():
        for flag, one in flags.items():
            java = named(anything, scheme, [])
            try:
                java.setOptions([flag])
                said = ""
            except java_class("java.lang.Throwable") as error:
                said = message_of(error)
            if ("No value given for" in said) != bool(one.kind) and flag not in silent.get(scheme, ()):
                wrong.append((scheme, flag, one.kind, said))
    return wrong


@pytest.mark.java
@pytest.mark.slow
def test_listed_schemes_and_flags_match_weka():
    pytest.importorskip("jpype", reason="needs the extra weka")
    # in a separate process, because the packages load native libraries that could conflict with other tests
    program = "from tests.learners.weka.test_allowed import wrong_schemes; print(wrong_schemes())"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "[]"
