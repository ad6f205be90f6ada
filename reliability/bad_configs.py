"""Bad experiment files and cards, import paths that nobody trusted, and paths that lead elsewhere."""

from __future__ import annotations

from pathlib import Path

from bad_case import Case, link_to, with_text

_SMALL = "name: small\ndatasets: [mine.yaml]\nlearners: [tree]\nmethods: [direct]\n"
_MARK = 'open("imported", "w").close()\nfrom sklearn.naive_bayes import GaussianNB as Model\n'
_CANNOT_NAME = "cannot name a folder of results"
_NO_LETTERS = "only letters, digits"
_LEADS_OUT = "is a link that leads out of the folder"
_NOT_TRUSTED = "is not imported: an import runs code"


def _aliases(step: str, first: str) -> str:
    lines = [f"k0: &k0 {first}"]
    for number in range(1, 20):
        lines.append(step.format(here=f"k{number}", many=", ".join([f"*k{number - 1}"] * 9)))
    return "\n".join(lines)


def _of_100_mb(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(100_000_000)


def _yaml(what: str, text: str | bytes, says: str, words: str = "validate bad.yaml") -> Case:
    return Case("YAML", what, words, 2, says, {"bad.yaml": text})


YAML = [
    _yaml("aliases of aliases, 9^20 values", _aliases("{here}: &{here} [{many}]", "[lol]"), "more than 20,000 values"),
    _yaml("the same by merging", _aliases("{here}: &{here} {{<<: [{many}]}}", "{x: 1}"), "more than 20,000 values"),
    _yaml("an alias of what holds it", "a: &a [*a]", "stands inside what it stands for"),
    Case("YAML", "100 MB", "validate bad.yaml", 2, "more than 1,000,000 bytes", {"bad.yaml": _of_100_mb}),
    Case("YAML", "a file without end, /dev/zero", "validate /dev/zero", 2, "more than 1,000,000 bytes"),
    Case("YAML", "a folder", "validate mine", 2, "mine"),
    _yaml("100,000 brackets", "a: " + "[" * 100_000, "bad.yaml:1: is not valid YAML: it is nested more than 50 deep"),
    _yaml("1,300 levels of keys", "\n".join(" " * n + "a:" for n in range(1300)), "nested more than 50 deep"),
    _yaml("lists nested by aliases", "k0: &k0 [1]\n" + "\n".join(f"k{n}: &k{n} [*k{n - 1}]" for n in range(1, 2000)),
          "nested more than 50 deep"),
    _yaml("a number of 900,000 digits", _SMALL + "seed: " + "9" * 900_000, "cannot be read as a whole number"),
    _yaml("the same in base 16", _SMALL + "seed: 0x" + "f" * 900_000, "cannot be read as a whole number"),
    _yaml("a key of 900,000 letters", "? " + "k" * 900_000 + "\n: 1", "a key has more than 1024 letters"),
    _yaml("a name of 900,000 letters", _SMALL.replace("small", "s" * 900_000), _CANNOT_NAME),
    _yaml("15,000 unknown keys", _SMALL + "".join(f"k{n}: 1\n" for n in range(15_000)), "unknown key"),
    _yaml("a tag that runs a program", "a: !!python/object/apply:os.system [id]", "is not allowed"),
    _yaml("a null character", "a: \0", "the character 0x0 is not allowed"),
    _yaml("letters of Latin-1", "name: caf\xe9\n".encode("latin-1"), "is not UTF-8 text"),
    _yaml("half a character", 'name: "\\ud800"', "cannot be read as text"),
    _yaml("a key twice", _SMALL + "name: other\n", 'the key "name" is already given on line 1'),
    _yaml("a list", "- a\n", "the file is a list"),
    _yaml("nothing", "", "the file is empty"),
    _yaml("a billion repetitions", _SMALL + "repeats: 1000000000\n", "at most 10000"),
    _yaml("a negative seed", _SMALL + "seed: -1\n", "at least 0"),
    _yaml("a key that clears the terminal", _SMALL + '"\\e[2J": 1\n', "\\x1b[2J"),
    Case("card", "a billion columns", "validate own.yaml", 2, "at most 100,000 columns", {
        "own.yaml": _SMALL.replace("mine", "bad"), "bad.yaml": "name: bad\ncolumns: {f1..f999999999: numeric}\n",
    }),
]  # fmt: skip


def _card(what: str, old: str, new: str, says: str) -> Case:
    return Case("card", what, "fetch small.yaml --data-dir .", 2, says, {"mine.yaml": with_text(old, new)})


CARDS = [
    _card("a file of /etc", "name: mine.csv", "name: /etc/passwd", "must lie below the folder of original files"),
    _card("a file above the folder", "name: mine.csv", "name: ../../x.csv", "must lie below the folder"),
    _card("the folder above", "title: Mine", "title: Mine\nfolder: ..", "must lie below the folder"),
    _card("a drive of Windows", "name: mine.csv", "name: 'C:\\x.csv'", "must lie below the folder"),
    _card("a name that is a path", "name: mine\n", "name: ../mine\n", "may hold only small letters"),
    Case("card", "100 billion drawn words", "validate own.yaml", 2, "are too many to draw", {
        "own.yaml": _SMALL.replace("mine", "bad"),
        "bad.yaml": "name: bad\ntitle: Bad\ntask: multilabel\ncolumns: {w1..w9: numeric, y: target}\n"
        "split: {kind: same}\nexpect: {rows: 1000000000, columns: 9}\n"
        "generator: {kind: documents, documents: 1000000000, topics: 9, words: 9, mean_length: 99, exponent: 1,"
        " labels_drawn: 3}\n",
    }),
]  # fmt: skip


def _named(what: str, name: str, says: str = _CANNOT_NAME) -> Case:
    text = _SMALL.replace("small", name)
    return Case("path", what, "run bad.yaml", 2, says, {"bad.yaml": text}, absent=("../x", "x"))


def _link(name: str, words: str = "run small.yaml -o results --seed 9", code: int = 2) -> Case:
    target = "../precious" if "/" not in name else "../../precious"
    files = {"precious": "precious\n", f"results/{name}": link_to(target)}
    return Case("path", f"results/{name}, a link to outside", words, code, _LEADS_OUT, files)


def _outside(path: Path) -> None:
    """Moves the table out of the folder, and makes a link to it."""
    path.rename(path.parents[1] / path.name)
    path.symlink_to(f"../{path.name}")


PATHS = [
    _named("name: ../../x", "../../x"),
    _named("name: /tmp/x", "/tmp/x"),
    _named("a name with a null character", '"a\\0b"'),
    _named("name: con", "con", "the name of a device on Windows"),
    Case("path", "a learner called ../x", "validate bad.yaml", 2, _NO_LETTERS,
         {"bad.yaml": _SMALL.replace("[tree]", "{../x: {type: tree}}")}),
    Case("path", "a variant called ../x", "validate bad.yaml", 2, _NO_LETTERS,
         {"bad.yaml": _SMALL.replace("[tree]", "{tree: {variants: {../x: {}}}}")}),
    Case("path", "a card that is /etc/passwd", "validate bad.yaml", 2, "there is no data set",
         {"bad.yaml": _SMALL.replace("mine.yaml", "/etc/passwd")}),
    *map(_link, ("predictions.bin", "runs.jsonl", "experiment.json.new", ".lock", "cells.parquet.new",
                 "cells.jsonl.new")),
    Case("path", "drawn/figures, a link to outside", "plot drawn", 2, _LEADS_OUT,
         {"drawn/figures": link_to("../mine")}),
    Case("path", "drawn/figures/roc.svg, a link to outside", "plot drawn", 2, _LEADS_OUT,
         {"precious": "", "drawn/figures/roc.svg": link_to("../../precious")}),
    _link("accepted.csv.new", "check results --accept"),
    Case("path", "results/cells.jsonl, a link to outside", "run small.yaml -o results --seed 9", 2, _LEADS_OUT,
         {"precious": "", "results/cells.jsonl": link_to("../precious")}),
    Case("path", "results/cells.parquet, a link to outside", "run small.yaml -o results --seed 9", 2, _LEADS_OUT,
         {"results/cells.parquet": _outside}),
    Case("path", "results/cells.parquet, a link to outside", "convert results", 2, _LEADS_OUT,
         {"results/cells.parquet": _outside}),
    Case("path", "experiment.json: a data set ../../x", "plot results", 2, "is not a valid name",
         {"results/experiment.json": with_text('"name": "mine"', '"name": "../../x"')}),
]  # fmt: skip


def _import(what: str, path: str, says: str = _NOT_TRUSTED, words: str = "validate bad.yaml") -> Case:
    text = _SMALL.replace("[tree]", f"{{own: {{type: {path}}}}}")
    return Case("import", what, words, 2, says, {"bad.yaml": text, "bad.py": _MARK}, absent=("imported",))


IMPORTS = [
    _import("a module beside the config", "bad.Model", "--trust bad"),
    _import("the same, to be run", "bad.Model", words="run bad.yaml"),
    _import("the same, data to be fetched", "bad.Model", words="fetch bad.yaml"),
    _import("a name that begins as scikit-learn's", "sklearn_extra.svm.SVC"),
    _import("os.system", "os.system"),
    _import("subprocess.Popen, another one trusted", "subprocess.Popen", words="validate bad.yaml --trust other"),
    _import("a longer name than the trusted one", "bad.Model", words="validate bad.yaml --trust ba"),
    _import("no class of scikit-learn's", "sklearn.utils.os", 'there is no class "os"'),
    _import("no class of probcal's", "probcal.cli.main.main", "is not imported: without trust"),
    _import("a relative path", "..bad.Model"),
    Case("import", "a kept config of somebody else's", "status results", 2, "--trust bad", {
        "bad.py": _MARK,
        "results/experiment.json": with_text("learners: [tree]", "learners: {tree: {type: bad.Model}}"),
    }, absent=("imported",)),
    Case("import", "the same, its tables", "table results", 0, "Table 1", {
        "bad.py": _MARK,
        "results/experiment.json": with_text("learners: [tree]", "learners: {tree: {type: bad.Model}}"),
    }, absent=("imported",)),
    Case("import", "a numexpr.py beside the config, for which pandas looks", "validate small.yaml", 0, "is fine",
         {"numexpr.py": _MARK, "bottleneck.py": _MARK}, absent=("imported",)),
    Case("import", "Weka's SerializedClassifier", "validate bad.yaml", 2, "--trust weka",
         {"bad.yaml": _SMALL.replace("[tree]", "{weka: {params: {classifier: misc.SerializedClassifier}}}")}),
]  # fmt: skip
