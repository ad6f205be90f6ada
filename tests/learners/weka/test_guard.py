"""Test with real files that Java rejects unknown objects and fetches nothing for XML, even with trust."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.learners.weka import gadget

pytest.importorskip("jpype", reason="needs the extra weka")
pytest.importorskip("weka")

ROOT = Path(__file__).parents[3]
FILTER = "weka.filters.unsupervised.attribute"
SEARCH = "weka.classifiers.bayes.net.search"
OBJECTS = {
    "Vote": ("meta.Vote", "-P {}"),
    "SerializedClassifier": ("misc.SerializedClassifier", "-model {}"),
    "InputMappedClassifier": ("misc.InputMappedClassifier", "-L {}"),
    "a dictionary": (
        "meta.FilteredClassifier",
        f'-F "{FILTER}.FixedDictionaryStringToWordVector -binary-dict -dictionary {{}}"',
    ),
    "AddClassification": (
        "meta.FilteredClassifier",
        '-F "weka.filters.supervised.attribute.AddClassification -serialized {}"',
    ),
    "AddCluster": ("meta.FilteredClassifier", f'-F "{FILTER}.AddCluster -serialized {{}}"'),
}
NETWORKS = {
    "FromFile": f"-Q {SEARCH}.fixed.FromFile -- -B {{}}",
    "BayesNet": "-B {}",
    "HillClimber": f"-Q {SEARCH}.local.HillClimber -- -X {{}}",
}
FIT = """
import json, os, sys
import numpy as np, pandas as pd
from probcal.learners import WekaClassifier
chance = np.random.default_rng(0)
X = pd.DataFrame({"a": pd.Categorical(chance.integers(0, 2, 40)), "b": chance.normal(size=40)})
found = {}
for name, (classifier, options) in json.load(sys.stdin).items():
    try:
        WekaClassifier(classifier, options).fit(X, X["b"] > 0).predict_proba(X)
        said = ""
    except Exception as error:
        said = str(error)
    found[name] = [said, os.path.exists(os.environ["GADGET"])]
    if found[name][1]:
        os.unlink(os.environ["GADGET"])
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def tried(tmp_path_factory) -> tuple[dict[str, list], list[str]]:
    """Return (way -> message and whether the object left its mark, paths requested from the server)."""
    folder = tmp_path_factory.mktemp("strange")
    ways = {name: (one, words.format(folder / "gadget.ser")) for name, (one, words) in OBJECTS.items()}
    for name, words in NETWORKS.items():
        ways |= {f"{name} {kind}": ("bayes.BayesNet", words.format(folder / f"{kind}.xml")) for kind in gadget.XML}
    with gadget.server() as (url, asked):
        environment = {**os.environ, **gadget.prepare(folder, url), "PROBCAL_TRUSTED": "weka"}
        done = subprocess.run(
            [sys.executable, "-c", FIT], input=json.dumps(ways), cwd=ROOT, env=environment, capture_output=True,
            text=True, timeout=300,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), asked


@pytest.mark.slow
@pytest.mark.parametrize("way", OBJECTS)
def test_an_unknown_java_object_is_not_read_even_with_trust(tried, way):
    assert not tried[0][way][1], "it left its mark"


@pytest.mark.slow
def test_message_says_that_an_unknown_object_is_rejected(tried):
    assert "filter status: REJECTED" in tried[0]["Vote"][0]


@pytest.mark.slow
@pytest.mark.parametrize("way", NETWORKS)
@pytest.mark.parametrize("kind", gadget.XML)
def test_xml_fetches_nothing_even_with_trust(tried, way, kind):
    assert f"/{kind}" not in tried[1], f"{way} fetched it"
    assert way == "BayesNet" or "access is not allowed" in tried[0][f"{way} {kind}"][0]


def in_python(code: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    variables = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    return subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=variables, capture_output=True, text=True, timeout=300
    )


@pytest.mark.slow
def test_a_java_started_by_other_code_is_guarded(tmp_path):
    code = """
import jpype
from probcal.learners.weka import jvm
jpype.startJVM(jvm._runtime(), classpath=[str(jvm.weka_jar())])
jvm.start()
config = jpype.JClass("java.io.ObjectInputFilter$Config")
print(config.getSerialFilter().toString() == jvm.SERIAL_FILTER)
print(jpype.java.lang.System.getProperty("javax.xml.accessExternalDTD") == "")
"""
    assert in_python(code, tmp_path).stdout.split() == ["True", "True"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Capabilities.props", "Logging.props"])
def test_weka_does_not_start_beside_a_properties_file(tmp_path, name):
    (tmp_path / name).touch()
    code = "from probcal.learners.weka import jvm; jvm.start()"
    refused = in_python(code, tmp_path, PROBCAL_TRUSTED="other")
    assert f"the current folder holds {name}, which Weka would obey" in refused.stderr
    assert in_python(code, tmp_path, PROBCAL_TRUSTED="weka").returncode == 0


@pytest.mark.slow
def test_trained_weka_models_can_be_pickled():
    code = """
import pickle, numpy as np
from probcal.learners import WekaClassifier
X = np.random.default_rng(0).normal(size=(60, 3))
scheme = '-F "weka.filters.supervised.attribute.Discretize -R first-last" -W weka.classifiers.meta.Vote -- {}'
bases = '-B weka.classifiers.trees.RandomForest -B "weka.classifiers.functions.SMO -M" -B weka.classifiers.lazy.IBk'
ways = {
    "meta.FilteredClassifier": scheme.format(bases),
    "bayes.BayesNet": "",
    "rules.DecisionTable": "",
    "functions.MultilayerPerceptron": "",
    "meta.LogitBoost": "",
}
for name, options in ways.items():
    fitted = WekaClassifier(name, options).fit(X, X[:, 0] > 0)
    again = pickle.loads(pickle.dumps(fitted))
    print((again.predict_proba(X) == fitted.predict_proba(X)).all())
"""
    done = in_python(code, ROOT, PROBCAL_TRUSTED="")
    assert done.stdout.split() == ["True"] * 5, done.stderr
