"""Test that probcal accepts or rejects a randomly changed experiment file or card without a traceback."""

from __future__ import annotations

import copy
import shutil
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from probcal.config.experiment import find_config
from tests.commands import probcal

SOUND = {
    "name": "small",
    "title": "Small",
    "seed": 3,
    "repeats": 2,
    "paper": "langford-zadrozny-2005",
    "datasets": ["wine-first", "wisconsin"],
    "learners": {
        "tree": {"params": {"max_depth": 3, "criterion": "gini"}, "label": "T", "paper": "J48"},
        "nb": {"type": "kernel_nb", "encoding": "native"},
        "forest": {"type": "sklearn.ensemble.RandomForestClassifier", "params": {"n_estimators": 5}},
    },
    "methods": {"direct": None, "probing": {"params": {"n_probes": 3, "clip": [0.1, 0.9]}}, "bagging": {"label": "B"}},
    "combinations": {"tree": ["direct", {"probing": {"weighting": "rejection"}}], "nb": ["direct"]},
    "metrics": ["rms", "auc"],
}
CARD = {
    "name": "mine",
    "title": "Mine",
    "columns": {"a": "numeric", "b": "nominal", "f1..f2": "infer", "y": "target"},
    "positive": [1],
    "split": {"kind": "holdout", "train_fraction": 0.5},
    "expect": {"rows": 6, "columns": 4, "classes": {"0": 3, "1": 3}},
    "missing_codes": {"a": ["9"]},
    "files": [
        {
            "format": "delimited",
            "separator": ",",
            "header": True,
            "missing": ["?"],
            "label_until": ".",
            "rename": {"b": {"x": "z"}},
            "column_names": {"q": "a"},
            "first_rows": 6,
            "files": [{"name": "mine.csv", "skip_lines": [9]}],
        }
    ],
}
ROWS = "q,b,f1,f2,y\n" + "".join(f"{row},{'xy'[row % 2]},{row},k{row},{row % 2}\n" for row in range(6))
WORDS = st.sampled_from(
    ["", "no", "tree", "direct", "nb", "wine-first", "a.yaml", "..", "sklearn.svm.SVC", "sklearn.svm", "rms", "a/b",
     "name", "params", "type", "label", "1e3", "5", "x" * 300, "a", "y", "*", "f1..f3", "mine.csv", "target", "ignore",
     "arff", "by position", "standard", "|"]
)  # fmt: skip
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), WORDS, st.text(max_size=5), st.dates())
KEYS = st.one_of(WORDS, st.integers(), st.booleans(), st.none(), st.text(max_size=4))
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)),
    max_leaves=6,
)
SHREDS = st.one_of(
    st.binary(max_size=4),
    st.sampled_from(
        [b"\t", b"\n", b"\r", b" ", b"&a ", b"*a", b"!!int ", b"[", b"{", b"}", b"]", b": ", b"- ", b'"', b"'", b"#",
         b"|", b">", b"%", b"@", b"---\n", b"<<: ", b"? ", b"~", b"\xef\xbb\xbf", b"\0"]
    ),
)  # fmt: skip
many = settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


def places(value: Any, place: tuple = ()) -> Iterator[tuple]:
    """Yield the place of every value in a tree of lists and mappings, except the root."""
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield (*place, key)
        yield from places(value[key], (*place, key))


@pytest.fixture
def is_answered(tmp_path):
    def check(content: bytes) -> None:
        path = tmp_path / "hostile.yaml"
        path.write_bytes(content)
        result = probcal("validate", path)
        assert (result.exit_code, bool(result.stdout), bool(result.stderr)) in ((0, True, False), (2, False, True))

    return check


def changed(data: st.DataObject, sound: dict[str, Any]) -> str:
    """Return ``sound`` as YAML with up to three values replaced, renamed or removed."""
    config = copy.deepcopy(sound)
    for _ in range(data.draw(st.integers(1, 3))):
        left = list(places(config))
        if not left:
            break
        *way, last = data.draw(st.sampled_from(left))
        around = config
        for key in way:
            around = around[key]
        change = data.draw(st.sampled_from(["remove", "rename", "replace", "replace"]))
        if change == "remove":
            del around[last]
        elif change == "rename" and isinstance(around, dict):
            around[data.draw(KEYS)] = around.pop(last)
        else:
            around[last] = data.draw(ANYTHING)
    return yaml.safe_dump(config, sort_keys=False, allow_unicode=True)


@pytest.mark.slow
@many
@given(data=st.data())
def test_a_config_with_changed_values_gives_no_traceback(is_answered, data):
    is_answered(changed(data, SOUND).encode())


@pytest.mark.slow
@many
@given(data=st.data())
def test_a_card_with_changed_values_gives_no_traceback(tmp_path, data):
    folder = tmp_path / "mine"
    folder.mkdir(exist_ok=True)
    (folder / "mine.csv").write_text(ROWS)
    (tmp_path / "small.yaml").write_text("name: s\ndatasets: [mine.yaml]\nlearners: [tree]\nmethods: [direct]\n")
    (tmp_path / "mine.yaml").write_text(changed(data, CARD), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PROBCAL_CACHE_DIR", str(tmp_path / "cache"))
        shutil.rmtree(tmp_path / "cache", ignore_errors=True)
        assert probcal("fetch", tmp_path / "small.yaml", "--data-dir", tmp_path).exit_code in (0, 1, 2)


@pytest.mark.slow
@many
@given(data=st.data())
def test_a_config_with_random_text_gives_no_traceback(is_answered, data):
    block, flow = yaml.safe_dump(SOUND, sort_keys=False).encode(), find_config("quickstart").read_bytes()
    content = bytearray(data.draw(st.sampled_from([block, flow])))
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(content)))
        stop = min(len(content), start + data.draw(st.integers(0, 12)))
        content[start:stop] = data.draw(SHREDS)
    is_answered(bytes(content))
