"""Test that every fault of a YAML file has a line and that values are read as in YAML 1.2."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict

from probcal.errors import FileProblems
from probcal.yaml_file import YamlFile
from probcal.yaml_validation import validate_file


class Inner(BaseModel):
    model_config = ConfigDict(extra="forbid")
    size: int
    kind: dict[str, str] | str = "plain"


class Outer(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: str
    parts: dict[str, Inner] = {}
    listed: list[int] = []


def parsed(text: str) -> YamlFile:
    return YamlFile(Path("small.yaml"), text)


def value_of(text: str) -> Any:
    return parsed(f"value: {text}").data["value"]


def faults(text: str | bytes, tmp_path: Path) -> list[tuple[int, str]]:
    """Return (line, message) of each fault of a file with this content."""
    path = tmp_path / "small.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(FileProblems) as caught:
        validate_file(Outer, YamlFile.read(path))
    assert str(caught.value).startswith(str(path))
    return [(problem.line, problem.message) for problem in caught.value.problems]


@pytest.mark.parametrize("text", ["no", "yes", "on", "off", "2020-01-01", "1:30", "=", "0b1", "1_000", "NO"])
def test_special_words_of_yaml_1_1_are_text(text):
    assert value_of(text) == text


@pytest.mark.parametrize(
    ("text", "value"),
    [("1e-3", 0.001), ("1E8", 1e8), (".5", 0.5), ("1.", 1.0), ("-2.5e+3", -2500.0), ("010", 10), ("-7", -7),
     ("0x1F", 31), ("0o17", 15), ("true", True), ("False", False), ("~", None), ("null", None), ("", None),
     (".inf", float("inf")), ("'5'", "5"), ('"no"', "no"), ("[1, a]", [1, "a"]), ("{a: 1}", {"a": 1})],
)  # fmt: skip
def test_values_are_read_as_in_yaml_1_2(text, value):
    assert value_of(text) == value and type(value_of(text)) is type(value)


def test_every_key_and_item_has_a_line():
    file = parsed("name: a\nparts:\n  one:\n    size: 3\nlisted:\n  - 4\n  - 5\n")
    assert [file.line(place) for place in ((), ("parts",), ("parts", "one", "size"), ("listed", 1))] == [1, 2, 4, 7]
    assert file.line(("parts", "one", "kind", "deeper")) == 3
    assert file.line(("absent",)) == 1


def test_a_merged_key_has_the_line_of_its_origin():
    file = parsed("a: &a\n  size: 1\n  kind: x\nb:\n  <<: *a\n  size: 2\n")
    assert file.data["b"] == {"size": 2, "kind": "x"}
    assert (file.line(("b", "size")), file.line(("b", "kind"))) == (6, 3)
    assert file.problems == []


def test_byte_order_mark_and_windows_line_ends_are_read(tmp_path):
    path = tmp_path / "small.yaml"
    path.write_bytes(b"\xef\xbb\xbfname: a\r\nlisted: [1]\r\n")
    assert YamlFile.read(path).data == {"name": "a", "listed": [1]}


def test_message_names_all_lines_with_tabs(tmp_path):
    assert faults("name: a\nparts:\n\tone: {size: 1}\n\ttwo: {size: 1}\n", tmp_path) == [
        (line, "the line is indented with a tab; use spaces") for line in (3, 4)
    ]


def test_message_names_the_line_of_a_tab_behind_a_key(tmp_path):
    assert faults("name: a\nlisted:\t[1]\n", tmp_path) == [
        (2, "is not valid YAML: there is a tab where only a space is allowed")
    ]


def test_a_tab_inside_text_is_accepted():
    assert parsed("name: |\n  one\n   \ttwo\n").data == {"name": "one\n \ttwo\n"}


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("name: a\nlisted: [1, 2\n", 2, "what begins here has no end"),
        ('name: a\nother: "b\n', 2, "what begins here has no end"),
        ("name: a\ntitle: b: c\n", 2, 'put a text that holds ": " in quotes'),
        ("name: a\nother: @b\n", 2, "put a text that starts with it in quotes"),
        ("name: a\nother: *b\n", 2, "found undefined alias 'b'"),
        ("name: a\n---\nname: b\n", 2, "a second document begins here"),
        ("name: a\nlisted: !!int x\n", 2, '"x" cannot be read as a whole number'),
        ("name: a\nlisted: " + "9" * 5000 + "\n", 2, "cannot be read as a whole number"),
        ("name: a\nother: !!float ''\n", 2, "cannot be read as a number"),
        ("name: a\nother: !!bool maybe\n", 2, "cannot be read as true or false"),
        ('name: a\nother: "\\ud800"\n', 2, "cannot be read as text"),
        ("name: a\nother: !!python/name:os.system x\n", 2, "is not allowed"),
        ("name: a\nother: !!set {a}\n", 2, 'the tag "!!set" is not allowed'),
        ("name: a\n? [b, c]\n: 1\n", 2, "found unhashable key"),
        ("name: a\nother: \0\n", 2, "the character 0x0 is not allowed"),
        ("name: a\nother: &b [*b]\n", 2, "an alias stands inside what it stands for"),
        ("name: a\nother: &b {<<: *b}\n", 2, "an alias stands inside what it stands for"),
    ],
)
def test_a_syntax_fault_gives_one_message_with_its_line(tmp_path, text, line, message):
    [(found, said)] = faults(text, tmp_path)
    assert found == line and message in said


@pytest.mark.parametrize("step", ["{below}: &{here} [{many}]", "{below}: &{here} {{<<: [{many}]}}"])
def test_aliases_for_billions_of_values_are_rejected(tmp_path, step):
    lines = ["name: a", "k0: &k0 {x: 1}" if "<<" in step else "k0: &k0 [1]"]
    for number in range(1, 40):
        many = ", ".join([f"*k{number - 1}"] * 9)
        lines.append(step.format(below=f"k{number}", here=f"k{number}", many=many))
    [(_, message)] = faults("\n".join(lines), tmp_path)
    assert "more than 20,000 values" in message


@pytest.mark.parametrize("bracket", ["[", "{a: "])
def test_a_file_nested_too_deep_is_rejected(tmp_path, bracket):
    assert faults("name: " + bracket * 20_000, tmp_path) == [(1, "is not valid YAML: it is nested more than 50 deep")]


def test_aliases_nested_too_deep_are_rejected(tmp_path):
    lines = ["name: a", "k0: &k0 [1]", *(f"k{i}: &k{i} [*k{i - 1}]" for i in range(1, 60))]
    [(line, message)] = faults("\n".join(lines), tmp_path)
    assert (line > 1, message) == (True, "is not valid YAML: it is nested more than 50 deep")


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        (b"", 1, "the file is empty; it must hold keys with values"),
        (b"# nothing\n", 1, "the file is empty"),
        (b"- a\n- b\n", 1, "the file is a list"),
        (b"only words\n", 1, "the file is a single value"),
        (b"name: a\nother: caf\xe9\n", 2, "is not UTF-8 text; save the file as UTF-8"),
        ("name: a\n".encode("utf-16"), 1, "is not UTF-8 text"),
    ],
)
def test_a_file_without_a_mapping_is_rejected(tmp_path, content, line, message):
    [(found, said)] = faults(content, tmp_path)
    assert found == line and said.startswith(message)


@pytest.mark.parametrize("name", ["absent.yaml", "a\0b.yaml"])
def test_message_names_a_missing_file(tmp_path, name):
    with pytest.raises(FileProblems, match="there is no such file"):
        YamlFile.read(tmp_path / name)


def test_message_names_a_folder_in_place_of_a_file(tmp_path):
    with pytest.raises(FileProblems, match="cannot be read: Is a directory"):
        YamlFile.read(tmp_path)


def test_message_names_both_lines_of_a_repeated_key(tmp_path):
    assert faults("name: a\nlisted: x\nparts:\n  one: {size: 1}\n  one: {size: 2}\n", tmp_path) == [
        (2, "listed must be a list, as in [a, b], not 'x'"),
        (5, 'the key "one" is already given on line 4'),
    ]


def test_message_names_every_wrong_type_with_its_line(tmp_path):
    parts = "  one: {size: big, kinds: x}\n  two: 3\n  3: {size: 1}\n  four: {kind: [a]}\n"
    assert faults(f"nam: a\nparts:\n{parts}listed: [1, ~]\n", tmp_path) == [
        (1, 'the key "name" is missing'),
        (1, 'unknown key "nam"; did you mean "name"?'),
        (3, "parts.one.size must be a whole number, not 'big'"),
        (3, 'unknown key "kinds"; did you mean "kind"?'),
        (4, "parts.two must be a mapping, as in {a: b}, not 3"),
        (5, "the key 3 must be text; put it in quotes"),
        (6, "parts.four.kind must be a mapping, as in {a: b} or text, not ['a']"),
        (6, 'the key "parts.four.size" is missing'),
        (7, "listed[2] must be a whole number, not nothing"),
    ]


def test_message_for_an_unknown_key_lists_the_known_keys(tmp_path):
    assert faults("name: a\nzzz: 1\n", tmp_path) == [(2, 'unknown key "zzz" (known here: listed, name, parts)')]
