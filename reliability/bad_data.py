"""Bad data files, a bad cache, and what a server may send in place of data."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import os
import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
from bad_case import Case

_ROWS = "q,b,f1,f2,y\n" + "".join(f"{row},{'xy'[row % 2]},{row},k{row},{row % 2}\n" for row in range(12))
_HEAD = "@relation mine\n@attribute a numeric\n@attribute b {x,y}\n@attribute y {0,1}\n@data\n"
_FETCH = "fetch small.yaml --data-dir ."


class _Runs:
    """Leaves a mark when it is unpickled."""

    def __reduce__(self) -> tuple[Callable[..., int], tuple[str]]:
        return os.system, ("touch imported",)


def _csv(what: str, content: str | bytes, says: str, name: str = "mine/mine.csv", limit: str = "") -> Case:
    files = {"mine/mine.csv": lambda path: path.unlink(), name: content}
    return Case("CSV", what, _FETCH, 2, says, files, environment={"PROBCAL_LARGEST_MB": limit} if limit else {})


FILES = [
    _csv("100 kB of gzip that unpacks to 100 MB", gzip.compress(bytes(10**8)), "larger than 10 MB",
         "mine/mine.csv.gz", "10"),
    _csv("the same of xz", lzma.compress(bytes(10**8)), "larger than 10 MB", "mine/mine.csv.xz", "10"),
    _csv("20 MB as they are", b"0" * 20_000_000, "larger than 10 MB", limit="10"),
    _csv("a limit that is no number", _ROWS, "must be a whole number of megabytes", limit="much"),
    _csv("gzip that is cut off", gzip.compress(_ROWS.encode())[:-20], "cannot be unpacked", "mine/mine.csv.gz"),
    _csv("gzip that is none", b"\x1f\x8bgarbage", "cannot be unpacked", "mine/mine.csv.gz"),
    _csv("xz that is none", b"garbage", "cannot be unpacked", "mine/mine.csv.xz"),
    _csv("nothing", "", "holds no data"),
    _csv("null characters in names of columns", _ROWS.replace("f1", "f\0"), "has no column 'f1'"),
    _csv("a field too many", _ROWS.replace("k3", "k,3"), "mine.csv:5: 6 fields where 5 are expected"),
    _csv("a quotation mark alone", _ROWS.replace("k3", '"k3'), "mine.csv:5: a quotation mark that is not closed"),
    _csv("1e400 in a numeric column", _ROWS.replace("3,y,", "1e400,y,", 1), "is numeric on the card"),
    _csv("a number of 5,000 digits", _ROWS.replace("3,y,", "9" * 5000 + ",y,", 1), "is numeric on the card"),
    _csv("two columns of one name", _ROWS.replace("f1,f2", "f1,f1", 1), "two columns are called 'f1'"),
    _csv("labels of 12 kinds with NaN", _ROWS.replace(",1\n", ",nan\n", 1), "nan"),
]  # fmt: skip


def _arff(what: str, content: str | bytes, says: str) -> Case:
    card = (
        "name: bad\ntitle: Bad\ncolumns: {a: numeric, b: nominal, y: target}\npositive: 1\n"
        "split: {kind: standard, train: 2}\nexpect: {rows: 4, columns: 2}\n"
        "files: [{format: arff, files: [{name: bad.arff}]}]\n"
    )
    small = "name: small\ndatasets: [bad.yaml]\nlearners: [tree]\nmethods: [direct]\n"
    return Case("ARFF", what, _FETCH, 2, says, {"bad.yaml": card, "small.yaml": small, "bad/bad.arff": content})


ARFF = [
    _arff("a level that is not declared", _HEAD + "1,z,0\n", "bad.arff:"),
    _arff("an escape that there is none of", _HEAD.replace("{x,y}", "string") + "1,'\\x4',0\n", "is not sound ARFF"),
    _arff("a row too short", _HEAD + "1,x\n", "bad.arff:6: is not sound ARFF"),
    _arff("an attribute without a kind", _HEAD.replace("a numeric", "a"), "is not sound ARFF"),
    _arff("a sparse row", _HEAD + "{0 1, 999999999 2}\n", "is a row of a sparse ARFF file"),
    _arff("no rows", _HEAD, "holds no data"),
    _arff("a row behind @data", _HEAD.replace("@data\n", "@data,x,0\n") + "1,x,0\n", "a line that holds @data alone"),
    _arff("bytes", bytes(range(256)), "is not a table of text"),
    _arff("a quotation mark alone", _HEAD + "1,'x,0\n", "is not sound ARFF"),
]


def _in_the_cache(name: str, content: bytes) -> Callable[[Path], None]:
    def put(cache: Path) -> None:
        [*files] = cache.glob(name)
        assert files, name
        for file in files:
            file.write_bytes(content)

    return put


def _pickled_array() -> bytes:
    file = io.BytesIO()
    np.save(file, np.array([_Runs()], dtype=object), allow_pickle=True)
    return file.getvalue()


def _cached(what: str, name: str, content: bytes) -> Case:
    """The cache is thrown away and the files read anew."""
    return Case("cache", what, "run small.yaml -o results --data-dir .", 0, "all cells are done",
                {"cache": _in_the_cache(name, content)}, absent=("imported",))  # fmt: skip


CACHE = [
    _cached("labels that are a pickle", "data/*/y.npy", _pickled_array()),
    _cached("labels that are a bare pickle", "data/*/y.npy", pickle.dumps(_Runs())),
    _cached("a table that is none", "data/*/X.npz", b"PK\3\4garbage"),
    _cached("a table that is a pickle", "data/*/X.npz", _pickled_array()),
    _cached("labels of 10^12 rows", "data/*/y.npy", _pickled_array()[:10] + b"{'descr': '|i1', 'fortran_order': False, "
            b"'shape': (1000000000000,), }".ljust(117) + b"\n"),
    _cached("another checksum", "index/mine-*/*.json", json.dumps(
        {"place": "", "contents": "", "fingerprint": "../x", "folder": None}).encode()),
    _cached("notes that are a list", "index/mine-*/*.json", b"[]"),
]  # fmt: skip
