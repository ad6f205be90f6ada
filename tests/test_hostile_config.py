"""Whatever is done to an experiment file, ``probcal validate`` takes it or refuses it: never a traceback."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from probcal.config import find_config
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
WORDS = st.sampled_from(
    ["", "no", "tree", "direct", "nb", "wine-first", "a.yaml", "..", "sklearn.svm.SVC", "sklearn.svm", "rms", "a/b",
     "name", "params", "type", "label", "1e3", "5", "x" * 300]
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
many = settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def places(value: Any, place: tuple = ()) -> Iterator[tuple]:
    """The place of every value in a tree of lists and mappings, its root not counted."""
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


@many
@given(data=st.data())
def test_a_config_with_values_replaced_renamed_and_removed_gives_no_traceback(is_answered, data):
    config = copy.deepcopy(SOUND)
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
    is_answered(yaml.safe_dump(config, sort_keys=False, allow_unicode=True).encode())


@many
@given(data=st.data())
def test_a_config_with_shreds_of_text_thrown_in_gives_no_traceback(is_answered, data):
    block, flow = yaml.safe_dump(SOUND, sort_keys=False).encode(), find_config("quickstart").read_bytes()
    content = bytearray(data.draw(st.sampled_from([block, flow])))
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(content)))
        stop = min(len(content), start + data.draw(st.integers(0, 12)))
        content[start:stop] = data.draw(SHREDS)
    is_answered(bytes(content))
