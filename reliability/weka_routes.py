"""Every way in which options of Weka lead to a file, tried without and with trust: python reliability/weka_routes.py

Weka's jar is asked for all schemes and their flags. Each flag that speaks of a file, a class or an expression is given,
by a config and without trust, to a run of its own: it must be refused before Java starts, with no file written and
no request sent. With trust, objects of a strange class must not be read and XML must fetch nothing. Exit code 1 where
one of these was otherwise. Writes results/reliability/weka_routes.md. Needs the extra "weka".
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from trial import ROOT, Tried, finish, report_tried, rows, start

from probcal.learners.weka.allowed import schemes, untrusted_options
from tests.learners.weka import gadget
from tests.learners.weka.test_guard import NETWORKS, OBJECTS

_LISTING = """
import json, zipfile
from probcal.learners.weka.jvm import weka_jar
from probcal.learners.weka.jvm import java_class
java_class("weka.core.WekaPackageManager").loadPackages(False)
named, anything = java_class("weka.core.Utils").forName, java_class("java.lang.Object")
handler, kinds, found = java_class("weka.core.OptionHandler").class_, {}, []
for kind in KINDS:
    kinds[kind] = java_class(kind).class_
for file in sorted(zipfile.ZipFile(weka_jar()).namelist()):
    name = file.removesuffix(".class").replace("/", ".")
    if not file.endswith(".class") or "$" in name or not name.startswith(PACKAGES):
        continue
    try:
        java = named(anything, name, [])
        if not handler.isInstance(java):
            continue
        options = list(java.listOptions())
    except Exception:
        continue  # abstract, or made by other classes only
    kind = next((kind for kind, of in kinds.items() if of.isInstance(java)), "")
    found += [(name, kind, f"-{one.name()}", int(one.numArguments()), f"{one.synopsis()} {one.description()}")
              for one in options if str(one.name())]
print(json.dumps(found))
"""
_PACKAGES = (
    "weka.classifiers.",
    "weka.filters.",
    "weka.attributeSelection.",
    "weka.clusterers.",
    "weka.estimators.",
    "weka.core.",
)
_TEXT = "weka.classifiers.bayes.NaiveBayesMultinomialText"
_FILTERED = "weka.classifiers.meta.FilteredClassifier"
_SELECTED = "weka.classifiers.meta.AttributeSelectedClassifier"
_BAYES = "weka.classifiers.bayes.BayesNet"
_WITHIN = {
    "weka.classifiers.Classifier": ("", "{}"),
    "weka.filters.Filter": (_FILTERED, "-F {}"),
    "weka.classifiers.bayes.net.search.SearchAlgorithm": (_BAYES, "-Q {} -- {}"),
    "weka.classifiers.bayes.net.estimate.BayesNetEstimator": (_BAYES, "-E {} -- {}"),
    "weka.classifiers.functions.supportVector.Kernel": ("weka.classifiers.functions.SMO", "-K {}"),
    "weka.attributeSelection.ASEvaluation": (_SELECTED, "-E {}"),
    "weka.attributeSelection.ASSearch": (_SELECTED, "-S {}"),
    "weka.core.neighboursearch.NearestNeighbourSearch": ("weka.classifiers.lazy.IBk", "-A {}"),
    "weka.core.stopwords.StopwordsHandler": (_TEXT, "-stopwords-handler {}"),
    "weka.core.stemmers.Stemmer": (_TEXT, "-stemmer {}"),
    "weka.core.tokenizers.Tokenizer": (_TEXT, "-tokenizer {}"),
    "weka.clusterers.Clusterer": (_FILTERED, "-F weka.filters.unsupervised.attribute.AddCluster -W {}"),
}
"""Kind of scheme -> a classifier, and its options, by which one of that kind is reached."""
_SUSPECT = re.compile(
    r"file|\bpath|director|\burl\b|serializ|dictionar|\bBIF\b|class ?name|transformation method|environment|expression",
    re.IGNORECASE,
)
_EXPERIMENT = """\
name: route
datasets: [wisconsin]
learners: {{weka: {{params: {{classifier: {classifier}, options: {options}}}}}}}
methods: [direct]
"""
_KEPT = "nobody may change this\n"


@dataclass(frozen=True)
class Route:
    name: str
    classifier: str
    options: str


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time (%(default)s)")
    parser.add_argument("--few", type=int, metavar="N", help="only N runs of each kind")
    asked = parser.parse_args()
    flags = of_the_jar()
    unlisted = [one for one in flags if one[2] not in schemes().get(one[0], {})]
    suspect = [one for one in unlisted if _SUSPECT.search(one[4]) and one[1]]
    routes = {(one[0], one[2]): route_of(*one[:4]) for one in suspect}
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(asked.jobs) as pool:
        folder = Path(name)
        refused = Tried("a flag that speaks of a file, in a run without trust")
        read = Tried("an object of a strange class, in a run with trust")
        fetched = Tried("XML that names a server, in a run with trust")
        known = [*OBJECTS.items(), *((key, ("bayes.BayesNet", words)) for key, words in NETWORKS.items())]
        more = [Route(key, one, words.format("kept.txt")) for key, (one, words) in known]
        jobs = [(refused, pool.submit(untrusted, folder / f"u{i}", one))
                for i, one in enumerate([*routes.values(), *more])]  # fmt: skip
        jobs += [(read, pool.submit(trusted, folder / f"o{i}", key, one, words, "gadget.ser"))
                 for i, (key, (one, words)) in enumerate(OBJECTS.items())]  # fmt: skip
        jobs += [(fetched, pool.submit(trusted, folder / f"x{i}-{kind}", f"{key}, {kind}", "bayes.BayesNet", words,
                                       f"{kind}.xml"))
                 for i, (key, words) in enumerate(NETWORKS.items()) for kind in gadget.XML]  # fmt: skip
        for tried, ended in jobs:
            if asked.few is not None and tried.times >= asked.few:
                ended.cancel()
                continue
            tried.times += 1
            tried.wrong += ended.result()
    every = Tried("every flag of the jar that is not on the list, asked of the list alone", len(unlisted))
    every.wrong += [f"{one[0]} {one[2]}" for one in unlisted if untrusted_options(*by(*one[:4])) is None]
    every.notes.append(f"{len(flags) - len(unlisted)} of {len(flags)} flags are on the list")
    refused.notes.append(f"of {len(routes)} found in the jar and {len(more)} known before")
    about = (
        "All schemes and flags of Weka's jar. Without trust, a trial fails on: an exit code other than 2, a message"
        " without `--trust weka`, a start of Java, a file that is written or changed, or a request to a server of this"
        " machine. With trust it fails on a class that is not Weka's and was read from a file, or a request to that"
        " server."
    )
    report_tried("weka_routes", "routes", about, [refused, every, read, fetched])


def of_the_jar() -> list[tuple[str, str, str, int, str]]:
    """Return (scheme, kind, flag, number of values, what Weka says of it) of all flags that Weka lists."""
    code = f"KINDS = {list(_WITHIN)!r}\nPACKAGES = {_PACKAGES!r}\n{_LISTING}"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    return [tuple(one) for one in json.loads(done.stdout)]


def by(scheme: str, kind: str, flag: str, values: int) -> tuple[str, str]:
    """Return a classifier, and options of it by which the flag reaches the scheme."""
    given = f"{flag} kept.txt" if values else flag
    classifier, words = _WITHIN.get(kind, ("", "{}"))
    if not classifier:
        return scheme, given
    if words.count("{}") == 2:
        return classifier, words.format(scheme, given)
    *outer, last = words.split(" -W ")
    nested = f"{scheme} {given}"
    if outer:
        nested = f"{outer[0].removeprefix('-F ')} -W {quoted(nested)}"
        return classifier, f"-F {quoted(nested)}"
    return classifier, last.format(quoted(nested))


def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def route_of(scheme: str, kind: str, flag: str, values: int) -> Route:
    return Route(f"{scheme} {flag}", *by(scheme, kind, flag, values))


def untrusted(folder: Path, route: Route) -> list[str]:
    """What is wrong with a run of the route without trust."""
    folder.mkdir()
    kept = folder / "kept.txt"
    kept.write_text(_KEPT)
    with gadget.server() as (url, requests):
        gadget.prepare(folder, url)
        before = _seen(folder)
        # a start of Java would say that there is none in this folder
        environment = {"PROBCAL_TRUSTED": "", "PROBCAL_JAVA": "JAVA_HOME", "JAVA_HOME": str(folder)}
        code, said = _run(folder, route, (), environment)
        told = [
            (code == 2, f"exit code {code}"),
            ("--trust weka" in said and "Traceback" not in said, said[-200:]),
            ("no Java runtime" not in said, "Java was to be started"),
            (_seen(folder) == before, "a file was written or changed"),
            (not requests, f"requests: {requests}"),
        ]
    return [f"{route.name}: {what}" for holds, what in told if not holds]


def trusted(folder: Path, name: str, classifier: str, options: str, file: str) -> list[str]:
    """What is wrong with a run that is told to trust Weka, and reads a file of somebody else's."""
    folder.mkdir()
    with gadget.server() as (url, requests):
        environment = {**gadget.prepare(folder, url), "PROBCAL_TRUSTED": ""}
        route = Route(name, classifier, options.format(folder / file))
        code, said = _run(folder, route, ("--trust", "weka"), environment)
        found = rows(folder / "results" / "route") if code in (0, 1) else []
        kept = json.dumps(found)
        told = [
            (code in (0, 1) and len(found) == 1, f"exit code {code}: {said[-200:]}"),
            ("--trust weka" not in kept and "WekaMissing" not in kept, f"Weka was not asked: {kept[-300:]}"),
            (not (folder / "mark").exists(), "the object was read"),
            (not requests, f"requests: {requests}"),
        ]
    return [f"{name}: {what}" for holds, what in told if not holds]


def _run(folder: Path, route: Route, words: tuple[str, ...], environment: dict[str, str]) -> tuple[int, str]:
    text = _EXPERIMENT.format(classifier=json.dumps(route.classifier), options=json.dumps(route.options))
    target = folder.with_suffix(".yaml")
    target.write_text(text, encoding="utf-8")
    environment |= {"PROBCAL_CACHE_DIR": str(folder.with_suffix(".cache"))}
    return finish(start(folder, "run", str(target), *words, environment=environment))


def _seen(folder: Path) -> dict[str, tuple[int, bytes]]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path): (path.stat().st_mtime_ns, path.read_bytes()) for path in files}


if __name__ == "__main__":
    main()
