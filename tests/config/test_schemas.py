"""Test that the schemas accept every file that probcal reads and mark common mistakes in an editor."""

from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema
import pytest

from probcal.config.schemas import KINDS, schema_path
from probcal.config.schemas.__main__ import as_text, card_schema, experiment_schema, stub_path, stub_text
from probcal.yaml_file import YamlFile
from tests.commands import probcal

ROOT = Path(__file__).parents[2]
VALIDATORS = {kind: jsonschema.Draft7Validator(json.loads(schema_path(kind).read_text("utf-8"))) for kind in KINDS}
SHIPPED = [(path, kind) for folder, kind in (("configs", "experiment"), ("datasets", "card"))
           for path in sorted((ROOT / folder).glob("*.yaml"))]  # fmt: skip
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
_OTHERS = {"check": "known deviations", "running": "a workflow of GitHub"}
"""Pages that show YAML files of other kinds."""
SMALL = """\
name: small
datasets: [wine-first, ./mine.yaml]
learners:
  tree: {params: {max_depth: 3}}
  nb: {type: kernel_nb}
methods: [direct, probing]
combinations:
  tree: [direct, {probing: {weighting: rejection}}]
exceptions:
  - {dataset: wine-first, learner: nb, skip: true, why: it takes long}
metrics: [rms, cost(0.05)]
"""
CARD = """\
name: mine
title: Ours
columns: {age: numeric, left: target}
positive: "yes"
split: {kind: holdout, train_fraction: 0.66}
expect: {rows: 12, columns: 1, classes: {no: 10, yes: 2}}
files:
  - {format: delimited, header: true, files: [{name: mine.csv}]}
"""


def complaints(kind, text):
    """Return the faults that an editor would mark. The conversion to JSON makes all keys text."""
    data = json.loads(json.dumps(YamlFile(Path("a.yaml"), text).data))
    return [error.message for error in VALIDATORS[kind].iter_errors(data)]


@pytest.mark.parametrize(("kind", "made"), [("experiment", experiment_schema), ("card", card_schema)])
def test_the_stored_schema_equals_that_of_the_models(kind, made):
    schema = made()
    jsonschema.Draft7Validator.check_schema(schema)
    kept = json.loads(schema_path(kind).read_text("utf-8"))
    assert kept == json.loads(as_text(schema)), "run python -m probcal.config.schemas"


def test_every_shipped_file_is_accepted_and_names_its_schema():
    for path, kind in SHIPPED:
        text = path.read_text("utf-8")
        assert complaints(kind, text) == [], path
        told = re.match(r"# yaml-language-server: \$schema=(\S+)\n", text)
        assert told, f"{path}: copy the first line of another file there"
        assert (path.parent / told[1]).resolve() == schema_path(kind), path


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_yaml_example_of_a_page_is_accepted(page):
    text = page.read_text("utf-8")
    declared = set(re.findall(r'^([\w-]+) = "\w+"$', text, re.MULTILINE))  # the papers of a package on the page
    for block in re.findall(r"^```yaml\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        if all(line.startswith("#") for line in block.splitlines()):
            continue
        data = YamlFile(page, block).data
        kind = "experiment" if {"learners", "methods", "combinations", "exceptions"} & set(data) else "card"
        rest = SMALL if kind == "experiment" else CARD
        if set(data) <= set(VALIDATORS[kind].schema["properties"]):
            whole = {**YamlFile(page, rest).data, **data}
            if data.get("paper") in declared:  # the schema has the papers of probcal only
                del whole["paper"]
            if "generator" in data:
                whole.pop("positive"), whole.pop("files")
            assert list(VALIDATORS[kind].iter_errors(json.loads(json.dumps(whole)))) == [], block
        else:
            assert page.stem in _OTHERS, f"{block}\nis no part of an experiment or a card"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("[direct, probing]", "{direct: , probing: {params: {n_probes: 10, loss: squared_error}}}"),
        ("[direct, probing]", "[direct, sklearn.calibration.CalibratedClassifierCV]"),
        ("{params: {max_depth: 3}}", ""),
        ("tree: {params: {max_depth: 3}}", "sklearn.tree.DecisionTreeClassifier:"),
        ("tree: {params: {max_depth: 3}}", "tree: {variants: {a: , b: {max_depth: 3}}}"),
        ("dataset: wine-first, learner: nb", "datasets: [wine-first, mine], learner: [nb, tree]"),
    ],
)
def test_every_short_form_is_accepted(old, new):
    assert complaints("experiment", SMALL.replace(old, new)) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("name: small", "nmae: small"),
        ("name: small", "name: a/b"),
        ("[wine-first", "[wine-fist"),
        ("type: kernel_nb", "type: kernel_bn"),
        ("nb: {type: kernel_nb}", "nb:"),
        ("nb: {type: kernel_nb}", "nb: {params: {}}"),
        ("nb: {type: kernel_nb}", "nb: {type: kernel_nb, params: {weigths: counts}}"),
        ("nb: {type: kernel_nb}", "nb: {type: kernel_nb, params: {weights: all}}"),
        ("nb: {type: kernel_nb}", "nb: {type: kernel_nb, encoding: nativ}"),
        ("[direct, probing]", "[direct, prbing]"),
        ("[direct, probing]", "{direct: , probing: {params: {n_probes: many}}}"),
        ("[direct, probing]", "{direct: , probing: {variants: {a: {n_probe: 3}}}}"),
        ("[direct, probing]", "[]"),
        ("[direct, {", "[3, {"),
        ("skip: true, ", ""),
        (", why: it takes long", ""),
        ("rms,", "rsm,"),
        ("cost(0.05)", "cost(5)"),
        ("metrics:", "repeats: 0\nmetrics:"),
        ("metrics:", "seed: x\nmetrics:"),
        ("metrics:", "paper: langford\nmetrics:"),
    ],
)
def test_a_mistake_in_an_experiment_is_marked(old, new):
    assert SMALL.count(old) == 1 and complaints("experiment", SMALL) == []
    assert complaints("experiment", SMALL.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("title: Ours\n", ""),
        ("title:", "titel:"),
        ("numeric", "numerical"),
        ("kind: holdout", "kind: standard"),
        ("0.66", "66"),
        ("rows: 12", "rows: many"),
        ("delimited", "csv"),
        ("files: [{name: mine.csv}]", "files: mine.csv"),
        ("header: true", "header: 3"),
        ("files:\n  - {format: delimited, header: true, files: [{name: mine.csv}]}", "like: adlut"),
    ],
)
def test_a_mistake_in_a_card_is_marked(old, new):
    assert CARD.count(old) == 1 and complaints("card", CARD) == []
    assert complaints("card", CARD.replace(old, new))


@pytest.mark.parametrize("kind", KINDS)
def test_every_key_has_a_description(kind):
    def silent(schema, where):
        for key, one in schema.get("properties", {}).items() if isinstance(schema, dict) else ():
            if one is not False and "description" not in one:
                yield f"{where}.{key}"

    schema = VALIDATORS[kind].schema
    parts = {"": schema, **schema["$defs"]}
    assert [key for name, part in parts.items() for key in silent(part, name)] == []
    assert all("description" in one for one in schema["properties"].values())


@pytest.mark.parametrize("kind", KINDS)
def test_the_command_prints_the_schema(kind):
    assert probcal("schema", kind).stdout == schema_path(kind).read_text("utf-8")


def test_the_stub_file_matches_the_registry():
    assert stub_path().read_text(encoding="utf-8") == stub_text(), "run python -m probcal.config.schemas"
