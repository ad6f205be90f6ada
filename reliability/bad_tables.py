"""Bad tables of results: a ``cells.parquet`` that is torn, foreign, of other types, or claims more than it holds."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from bad_case import Case

from probcal.store.table_file import write_table

_RUN = "run small.yaml -o results --data-dir ."
_AGAIN = "get the file again, or remove it and the lines of cells.jsonl that begin"
_TEXT = 20_000_000
"""Characters of the long texts."""


def _case(what: str, put: Any, says: str, words: str = "table results", **more: Any) -> Case:
    return Case("table file", what, words, 2, says, {"results/cells.parquet": put}, **more)


def _cut(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


def _without_end(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def _zeros_inside(path: Path) -> None:
    """All values are zeros, as a disk leaves them that lost its power; the end of the file is whole."""
    content = bytearray(path.read_bytes())
    n_footer = int.from_bytes(content[-8:-4], "little")
    content[4 : -8 - n_footer] = bytes(len(content) - 12 - n_footer)
    path.write_bytes(content)


def _text_of_a_log(path: Path) -> None:
    path.write_bytes(b'{"probcal": "0.2.0", "table": ""}\n')


def _forget_table(path: Path) -> None:
    """Removes the log, which has a digest of the table that stood here before."""
    path.with_name("cells.jsonl").unlink()


def with_columns(**columns: Any) -> Callable[[Path], None]:
    """Replaces the values of columns, and adds or, for None, removes columns."""

    def change(path: Path) -> None:
        table = pq.read_table(path)
        kept = {name: table.column(name) for name in table.column_names} | columns
        changed = pa.table({name: values for name, values in kept.items() if values is not None})
        pq.write_table(changed.replace_schema_metadata(table.schema.metadata), path)
        _forget_table(path)

    return change


def _foreign(path: Path) -> None:
    pq.write_table(pa.table({"age": [1, 2]}), path)


def _about(value: Any) -> Callable[[Path], None]:
    """Replaces what the table says about itself."""

    def change(path: Path) -> None:
        table = pq.read_table(path)
        text = value if isinstance(value, str) else json.dumps(value)
        pq.write_table(table.replace_schema_metadata({"probcal": text}), path)

    return change


def _no_metadata(path: Path) -> None:
    pq.write_table(pq.read_table(path).replace_schema_metadata(None), path)


def _one_name_twice(path: Path) -> None:
    table = pq.read_table(path)
    pq.write_table(table.append_column("rms", table.column("rms")), path)


def _claims_rows(path: Path) -> None:
    """The end of the file says that it has 10^12 rows."""
    content = path.read_bytes()
    n_footer = int.from_bytes(content[-8:-4], "little")
    head, footer = content[: -8 - n_footer], content[-8 - n_footer : -8]
    one_row, before_groups = b"\x16\x02", b"\x19"  # a field of 64 bits, and the list of the row groups
    assert footer.count(one_row + before_groups) >= 1
    many, number = bytearray(), 2 * 10**12
    while number:
        many.append(number & 127 | (128 if number > 127 else 0))
        number >>= 7
    footer = footer.replace(one_row + before_groups, b"\x16" + bytes(many) + before_groups, 1)
    path.write_bytes(head + footer + len(footer).to_bytes(4, "little") + b"PAR1")


def _long_texts(rows: int, groups: int, dictionary: bool) -> Callable[[Path], None]:
    """Gives each row the same long text. ``dictionary``: the file holds it once in each group of rows."""

    def change(path: Path) -> None:
        table = pq.read_table(path)
        texts = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), pa.array(["x" * _TEXT]))
        columns = {name: pa.concat_arrays(table.column(name).chunks * rows) for name in table.column_names}
        long = pa.table({**columns, "message": texts if dictionary else texts.cast(pa.string())})
        with pq.ParquetWriter(
            path, long.schema, store_schema=False, compression="zstd", use_dictionary=dictionary,
            dictionary_pagesize_limit=2 * _TEXT,
        ) as writer:  # fmt: skip
            for _ in range(groups):
                writer.write_table(long)
            writer.add_key_value_metadata({key.decode(): text.decode() for key, text in table.schema.metadata.items()})
        _forget_table(path)

    return change


def _many_columns(path: Path) -> None:
    table = pq.read_table(path)
    more = {f"m{number}": table.column("rms") for number in range(20_000)}
    with_columns(**more)(path)


def _no_results(path: Path) -> None:
    write_table(path, [])
    _forget_table(path)


TABLES = [
    _case("cut in half", _cut, _AGAIN),
    _case("cut in half", _cut, _AGAIN, "status results"),
    _case("cut in half", _cut, _AGAIN, _RUN),
    _case("cut in half", _cut, _AGAIN, f"{_RUN} --refit"),
    _case("cut in half", _cut, _AGAIN, f"{_RUN} --dry-run"),
    _case("cut in half", _cut, _AGAIN, "check results --accept"),
    _case("cut in half", _cut, _AGAIN, "verify results --discard"),
    _case("cut in half", _cut, _AGAIN, "convert results"),
    _case("cut in half", _cut, _AGAIN, "compare results"),
    _case("cut in half", _cut, _AGAIN, "report results"),
    _case("its last byte is missing", _without_end, _AGAIN),
    _case("its values are zeros", _zeros_inside, _AGAIN),
    _case("empty", b"", _AGAIN),
    _case("empty", b"", _AGAIN, _RUN),
    _case("bytes", bytes(range(256)) * 100, _AGAIN),
    _case("the beginning and the end of a table", b"PAR1" + b"\xff" * 100 + b"\xff\xff\xff\x7fPAR1", _AGAIN),
    _case("a line of a log", _text_of_a_log, _AGAIN),
    _case("a table of somebody else's", _foreign, "lacks the metadata of probcal"),
    _case("without words about itself", _no_metadata, "lacks the metadata of probcal"),
    _case("words about itself that are a list", _about([]), "lacks the metadata of probcal"),
    _case("100,000 brackets about itself", _about("[" * 100_000), _AGAIN),
    _case("of a newer format", _about({"format": 2, "probcal": "99.1"}), "was written by probcal 99.1"),
    _case("a format of 5,000 digits", _about('{"format": ' + "9" * 5000 + "}"), _AGAIN),
    _case("a version that clears the terminal", _about({"format": 2, "probcal": "\x1b[2J"}), "was written by probcal",
          never=("\x1b",)),
    _case("10^12 rows that are not there", _claims_rows, "of memory, more than"),
    _case("3,000 MB of texts in a small file", _long_texts(3, 50, False), "of memory, more than"),
    _case("no results", _no_results, "nothing to compare", "compare results"),
    _case("a column is missing", with_columns(status=None), 'lacks the column "status"'),
    _case("a column twice", _one_name_twice, _AGAIN),
    _case("a row without a name", with_columns(dataset=pa.array([None], pa.string())),
          'column "dataset" lacks a value'),
    _case("a metric that is a text", with_columns(rms=["0.5"]), 'column "rms" has the type string'),
    _case("a metric of whole numbers", with_columns(rms=[1]), 'column "rms" has the type int64'),
    _case("a metric that is a list", with_columns(rms=[[0.5]]), 'column "rms" has the type list'),
    _case("a metric of true and false", with_columns(rms=[True]), 'column "rms" has the type bool'),
    _case("a metric that cannot be", with_columns(rms=[1.5]), "rms lies between 0 and 1"),
    _case("a metric that is no number", with_columns(rms=[float("nan")]), "probcal verify results --discard"),
    _case("a name that clears the terminal", with_columns(**{"\x1b[2J": [1]}), "\\x1b[2J", never=("\x1b",)),
    _case("repetition: -1", with_columns(repetition=[-1]), "holds a number below 0"),
    _case("a repetition of 2^62", with_columns(repetition=[2**62]), "holds a number below 0 or above"),
    _case("seconds: NaN", with_columns(seconds=[float("nan")]), "holds a number below 0 or above"),
    _case("seconds: inf", with_columns(seconds=[float("inf")]), "holds a number below 0 or above"),
    _case("a status that clears the terminal", with_columns(status=["\x1b[2J"]), "unknown status", never=("\x1b",)),
    _case("warnings that are no counts", with_columns(warnings=['{"UserWarning": "many"}']), "warnings.UserWarning"),
    _case("curves of 100,000 brackets", with_columns(curves=["[" * 100_000]), _AGAIN),
    _case("curves that are a number", with_columns(curves=["1"]), _AGAIN),
    _case("stages of 400 digits", with_columns(stages=['{"rms": [1' + "0" * 400 + "]}"]), _AGAIN),
    _case("a place beyond all files", with_columns(**{"predictions.at": [2**62]}), "holds a number below 0 or above"),
    _case("a negative place", with_columns(**{"predictions.at": [-1]}), "holds a number below 0 or above"),
    _case("predictions of 10^15 times 10^9 numbers",
          with_columns(**{"predictions.rows": [10**15], "predictions.columns": [10**9]}),
          "does not have a possible shape"),
    _case("a place without a digest", with_columns(**{"predictions.digest": None}), "does not name a place"),
    Case("table file", "one text of 20 MB in 3,000 rows, which the file holds once", "table results", 0, "Table 1",
         {"results/cells.parquet": _long_texts(3000, 1, True)}),
    Case("table file", "20,000 metrics that nobody knows", "table results", 0, "Table 1",
         {"results/cells.parquet": _many_columns}),
    Case("table file", "10^14 rows of predictions, metrics to be measured again", "run small.yaml -o results", 0,
         "all cells are done", {
             "small.yaml": lambda path: path.open("a").write("metrics: [rms, cost(0.1)]\n"),
             "results/cells.parquet": with_columns(**{"predictions.rows": [10**14]}),
         }),
    Case("table file", "half a new table is left of a killed run", f"{_RUN} --seed 9", 0, "all cells are done",
         {"results/cells.parquet.new": b"PAR1"}),
    Case("table file", "the log holds the same result, as a kill leaves it", "table results", 0, "Table 1",
         {"results/cells.jsonl": lambda path: path.write_text(_line_of(path.with_name("cells.parquet")))}),
    Case("table file", "a broken line beside the table", "verify results --discard", 2, "is not the result of a cell",
         {"results/cells.jsonl": lambda path: path.open("a").write("x\n")}),
    Case("table file", "a broken line beside the table", "convert results", 2, "is not the result of a cell",
         {"results/cells.jsonl": lambda path: path.open("a").write("x\n")}),
    Case("table file", "a result that cannot be, to be discarded", "verify results --discard", 1,
         "removed 1 result of", {"results/cells.parquet": with_columns(rms=[1.5])}),
]  # fmt: skip


def _line_of(table: Path) -> str:
    from probcal.store.table_file import read_table

    return "".join(f"{result.to_json()}\n" for result, _ in read_table(table))
