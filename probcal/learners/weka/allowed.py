"""The schemes and flags of Weka that a config may name without trust: those of ``schemes.yaml``, which touch no file.

The options are split exactly as Weka splits them, so that every flag is checked. No Java is started.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from probcal.components.trust import is_trusted
from probcal.errors import did_you_mean

_TABLE = Path(__file__).with_name("schemes.yaml")
_NUMBER = r"-?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?"
_PLACE = r"(first|last|\d+)"
_VALUES = {
    "number": re.compile(_NUMBER),
    "range": re.compile(rf"{_PLACE}([-,]{_PLACE})*"),
    "word": re.compile(r"\w[\w.,-]*", re.ASCII),
    # not a dash first, because Weka would read such a value as the next flag
    "text": re.compile(r"[^-\r\n][^\r\n]*"),
    "matrix": re.compile(r"\[[-0-9eE.,; ]+\]"),
    "parameter": re.compile(rf"([A-Za-z][\w-]*) {_NUMBER} ({_NUMBER}|A|I) {_NUMBER}( R)?", re.ASCII),
}
_VALUE_TEXTS = {
    "range": "columns such as first-3,last",
    "word": "a plain word",
    "text": "text that begins with no -",
    "matrix": 'a matrix such as "[0 1; 5 0]"',
    "number": "a number",
    "parameter": 'a flag, two bounds and a count, such as "C 0.1 0.5 5"',
}
_WORD = re.compile(r'\s+|"(?P<quoted>(?:\\.|[^"\\])*)"|(?P<plain>[^\s"]\S*)', re.DOTALL | re.ASCII)
_ESCAPED = re.compile(r"\\(u001E|[\\'tnr\"%])")
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "u001E": "\x1e"}
# Java and Python disagree on which of these separate two words.
_NOT_ASCII = re.compile(r"[^\x20-\x7e\t\r\n]")
_MAX_DEPTH = 20


class _Refused(Exception):
    """A scheme or a flag is not allowed."""


@dataclass(frozen=True)
class _Flag:
    kind: str = ""
    """The kind of value, empty for a flag without a value."""
    default: str = ""
    """For ``base`` and ``tail``: the scheme whose options follow if no scheme is named."""
    many: bool = False
    required: bool = False


def untrusted_options(classifier: str, options: str) -> str | None:
    """Return why Weka must not get these options, or None if it may. ``--trust weka`` allows any options."""
    if is_trusted("weka"):
        return None
    try:
        if character := _NOT_ASCII.search(classifier + options):
            raise _Refused(f"the options hold {character[0]!r}, and only plain ASCII is allowed")
        _check(full_name(classifier), split_options(options))
    except (_Refused, ValueError) as error:
        return (
            f"{error}; if you trust these options to read and write files, add  --trust weka  "
            "(or set PROBCAL_TRUSTED=weka)"
        )
    return None


def full_name(classifier: str) -> str:
    """Return the full class name of a classifier, whose ``weka.classifiers.`` may be left out."""
    full = classifier.startswith("weka.") or classifier.count(".") > 1
    return classifier if full else f"weka.classifiers.{classifier}"


def split_options(options: str) -> list[str]:
    """Return the words of a line of options without their quotation marks, as ``weka.core.Utils.splitOptions`` does.

    Raises ValueError if a quotation mark is not closed.
    """
    words, at = [], 0
    while at < len(options):
        found = _WORD.match(options, at)
        if found is None:
            raise ValueError(f"a quotation mark is not closed in {options[at : at + 100]!r}")
        if found["quoted"] is not None:
            words.append(_ESCAPED.sub(lambda one: _ESCAPES.get(one[1], one[1]), found["quoted"]))
        elif found["plain"] is not None:
            words.append(found["plain"])
        at = found.end()
    return words


@cache
def schemes() -> dict[str, dict[str, _Flag]]:
    """Return the flags of each scheme that is allowed, by the full name of its class."""
    table: dict[str, Any] = yaml.load(_TABLE.read_bytes(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506
    also = table["also_of_classifiers"]
    return {
        **{f"weka.classifiers.{name}": _flags(f"{also} {text}") for name, text in table["classifiers"].items()},
        **{f"weka.{name}": _flags(text) for name, text in table["parts"].items()},
    }


def _flags(text: str) -> dict[str, _Flag]:
    flags: dict[str, _Flag] = {}
    for part in re.split(r"(?:^|\s+)(?=-)", text)[1:]:
        flag, _, value = part.partition(" ")
        kind, _, default = value.rstrip("+!").partition(":")
        flags[flag] = _Flag(kind, f"weka.{default}" if default else "", value.endswith("+"), value.endswith("!"))
    return flags


def _check(scheme: str, words: list[str], depth: int = 0) -> None:
    """Raise _Refused unless ``scheme`` accepts every word after its name."""
    short = scheme.removeprefix("weka.classifiers.").removeprefix("weka.")
    if scheme not in schemes():
        near = did_you_mean(short, (name.removeprefix("weka.classifiers.").removeprefix("weka.") for name in schemes()))
        raise _Refused(f'"{short}" is not among the schemes of Weka that are known to touch no file{near}')
    if depth > _MAX_DEPTH:
        raise _Refused("the options are nested too deep")
    flags, given = schemes()[scheme], dict[str, list[str]]()
    end = words.index("--") if "--" in words else len(words)
    ahead = iter(words[:end])
    for word in ahead:
        if not word.startswith("-"):
            raise _Refused(f'"{word}" in the options of {short} follows no flag that takes a value')
        flag = flags.get(word)
        if flag is None:
            listed = ", ".join(sorted(flags, key=str.lower))
            raise _Refused(f'"{word}" is not among the flags of {short} that are known to touch no file ({listed})')
        if word in given and not flag.many:
            raise _Refused(f'"{word}" is given twice to {short}')
        value = ""
        if flag.kind:
            value = next(ahead, "")
            _check_value(short, word, flag, value, depth)
        given.setdefault(word, []).append(value)
    for word, flag in flags.items():
        if flag.required and word not in given:
            raise _Refused(f"{short} reads a file unless {word} is given")
    _check_rest(short, flags, given, words[end:], depth)


def _check_value(short: str, word: str, flag: _Flag, value: str, depth: int) -> None:
    if flag.kind in _VALUES:
        if not _VALUES[flag.kind].fullmatch(value):
            raise _Refused(f'"{word}" of {short} takes {_VALUE_TEXTS[flag.kind]}, not {value!r}')
    elif flag.kind == "scheme":
        name, *options = split_options(value) or [""]
        _check(name, options, depth + 1)
    elif value not in schemes():  # base, tail: only a name, whose options come later
        _check(value, [], depth + 1)


def _check_rest(short: str, flags: dict[str, _Flag], given: dict[str, list[str]], rest: list[str], depth: int) -> None:
    """Check the words after ``--``: the options of the base that the flags name."""
    base = next(((word, flag) for word, flag in flags.items() if flag.kind == "base"), None)
    if any(flag.kind == "tail" for flag in flags.values()):
        _check_tails(short, flags, given, rest, depth)
        return
    if base is None:
        if rest:
            raise _Refused(f'{short} contains no scheme that takes options after "--"')
        return
    word, flag = base
    name = given.get(word, [flag.default])[0]
    if rest or word in given:
        _check(name, rest[1:], depth + 1)
    for parameter in given.get("-P", []) if flags.get("-P", _Flag()).kind == "parameter" else []:
        tuned = "-" + parameter.split(" ")[0]
        if schemes()[name].get(tuned, _Flag()).kind != "number" or tuned in rest:
            raise _Refused(f'"-P {parameter}" of {short}: {tuned} is not a flag of its base that takes a number')


def _check_tails(short: str, flags: dict[str, _Flag], given: dict[str, list[str]], rest: list[str], depth: int) -> None:
    """Check BayesNet's ``-Q SEARCH -- ... -E ESTIMATOR -- ...``. The words after the first ``--`` end at ``-E``."""
    first, second = [word for word, flag in flags.items() if flag.kind == "tail"]
    if first in given:
        end = rest.index(second) if second in rest else len(rest)
        _check(given[first][0], rest[1:end], depth + 1)
        rest = rest[end:]
        if rest and second in given:
            raise _Refused(f'"{second}" is given twice to {short}')
        if rest:
            if len(rest) < 2:
                raise _Refused(f'"{second}" of {short} takes a value')
            given, rest = {**given, second: [rest[1]]}, rest[2:]
    if rest and (rest[0] != "--" or second not in given):
        raise _Refused(f'"{rest[0]}" in the options of {short} belongs to no scheme that they name')
    if second in given:
        _check(given[second][0], rest[1:], depth + 1)
