"""Sound things made unsound by chance: trees of lists and mappings, and bytes."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from typing import Any

NASTY = (
    None, True, False, 0, -1, 1, 7, 2**31, 2**63, -(2**63), 10**30, 10**400, 0.5, -0.0, 1e308, -1e308, 5e-324,
    float("inf"), float("-inf"), float("nan"), "", " ", "x", "no", "nan", "1e400", "9" * 5000, "x" * 5000, "\0",
    "a\0b", "\x1b[2J\x1b]0;title\x07", "\u202egnp.exe", "\ud800", "\ufeff", "\r\n", "a\nb", "../../../x", "/etc/passwd",
    "C:\\x", "..", ".", "a/b", "con", "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>',
    "\\input{/etc/passwd}", "$\\write18{id}$", "%", "&", "{", "}", "=cmd|' /C calc'!A0", "os.system",
    "subprocess.Popen",
    "sklearn.svm.SVC", "sklearn.dummy.DummyClassifier", "sklearn", "probcal.cli.main.main", "wine-first", "mine.yaml",
    "tree",
    "direct", "probing", "probing.a", "rms", "auc", "cost(0.05)", "cost(1e999)", "done", "failed", "holdout", "target",
    "langford-zadrozny-2005",
    "nominal", "numeric", "*", "f1..f9", "f1..f999999999", [], {}, [[]], [None], {"": None}, {"a": {"b": [1]}},
    [0] * 1000,
)  # fmt: skip
SHREDS = (
    b"\0", b"\n", b"\r", b"\t", b" ", b",", b"'", b'"', b"{", b"}", b"[", b"]", b":", b"- ", b"&a ", b"*a", b"<<: ",
    b"? ",
    b"!!python/object/apply:os.system [id]", b"!!int ", b"---\n", b"|", b">", b"%", b"@", b"#", b"\\", b"\xff",
    b"\xed\xa0\x80",
    b"\xef\xbb\xbf", b"NaN", b"Infinity", b"1e400", b"-0", b"9" * 5000, b"?", b"null", b"true", b"@data\n",
    b"@attribute ",
    b"@relation", b"{0 1}", b"date 'yyyy'", b"string", b"\x1b[31m", b"../", b"0x", b"1_0", b"[" * 200, b'{"a":' * 200,
)  # fmt: skip
_TIMES = (1, 1, 1, 1, 2, 3)
"""Changes of one input: most have one, for of several the first to be told hides the others."""


def changed_tree(rng: random.Random, sound: Any) -> Any:
    """A copy of ``sound`` with one to three values replaced, renamed, removed, doubled or put elsewhere."""
    tree = copy.deepcopy(sound)
    for _ in range(rng.choice(_TIMES)):
        places = list(_places(tree))
        if not places:
            break
        around, key = rng.choice(places)
        change = rng.choice(("replace", "replace", "replace", "remove", "rename", "graft", "double"))
        if change == "remove":
            del around[key]
        elif change == "rename" and isinstance(around, dict):
            around[_key(rng)] = around.pop(key)
        elif change == "graft":
            other, there = rng.choice(places)
            if there in other if isinstance(other, dict) else there < len(other):
                around[key] = copy.deepcopy(other[there])
        elif change == "double" and isinstance(around, list):
            around.append(copy.deepcopy(around[key]))
        else:
            around[key] = copy.deepcopy(rng.choice(NASTY))
    return tree


def changed_bytes(rng: random.Random, sound: bytes) -> bytes:
    """``sound`` with one to three pieces overwritten, cut out, doubled, or with bits turned."""
    content = bytearray(sound)
    for _ in range(rng.choice(_TIMES)):
        start = rng.randint(0, len(content))
        stop = min(len(content), start + rng.choice((0, 0, 1, 2, 5, 20)))
        change = rng.choice(("shred", "shred", "cut", "double", "bit", "end"))
        if change == "shred":
            content[start:stop] = rng.choice(SHREDS)
        elif change == "cut":
            del content[start : start + rng.randint(1, 40)]
        elif change == "double":
            content[start:start] = content[start : start + rng.randint(1, 200)]
        elif change == "bit" and start < len(content):
            content[start] ^= 1 << rng.randrange(8)
        elif change == "end":
            del content[start:]
    return bytes(content)


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """(what holds it, its key) of every value in a tree, its root not counted."""
    for key in list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield value, key
        yield from _places(value[key])


def _key(rng: random.Random) -> Any:
    key = rng.choice(NASTY)
    return str(key) if isinstance(key, list | dict | float) else key
