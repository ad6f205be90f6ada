"""Test ARFF files as a second source of the same rows, and the MATLAB files of mldata.org."""

from __future__ import annotations

import gzip
import io
import lzma

import numpy as np
import pytest
from scipy.io import savemat

from probcal.data.dataset import assemble
from probcal.data.sources.arff_file import parse_arff
from probcal.data.sources.files import read_original_files
from probcal.data.sources.formats import read_arff, read_mat
from probcal.errors import DataError
from tests.data.small_cards import make_card, put

COLUMNS = {"y": "target", "height in m": "numeric", "colour": "nominal"}
ARFF = """% a comment
@RELATION small
@attribute 'height in m' REAL
@attribute colour {'light red', blue}
@attribute y {yes, no}

@data
1.50, 'light red', yes
?, blue, no
% another
-2, ?, no
"""


def arff_card(**more):
    more.setdefault("expect", {"rows": 3, "columns": 2, "classes": {"yes": 1, "no": 2}})
    return make_card(COLUMNS, "f.arff", format="arff", **more)


def test_arff_and_text_give_the_same_data_set(tmp_path):
    put(tmp_path, "f.arff", ARFF)
    put(tmp_path, "f.data", "yes,1.50,light red\nno,?,blue\nno,-2,?\n")
    of_arff = assemble(arff_card(), read_original_files(arff_card(), tmp_path))
    text_card = make_card(COLUMNS, "f.data", expect={"rows": 3, "columns": 2})
    of_text = assemble(text_card, read_original_files(text_card, tmp_path))
    assert of_arff.fingerprint() == of_text.fingerprint()


def test_a_packed_arff_file_is_read(tmp_path):
    put(tmp_path, "f.arff.gz", gzip.compress(ARFF.encode()))
    assert len(read_original_files(arff_card(), tmp_path)) == 3


def test_columns_may_be_matched_by_position(tmp_path):
    put(tmp_path, "f.arff", ARFF.replace("'height in m'", "V1").replace("colour", "V2").replace(" y ", " V3 "))
    columns = {"height in m": "numeric", "colour": "nominal", "y": "target"}
    rows = read_original_files(make_card(columns, "f.arff", format="arff", column_names="by position"), tmp_path)
    assert rows["colour"].tolist()[:2] == ["light red", "blue"]


def test_matching_by_position_needs_as_many_columns(tmp_path):
    card = make_card({"x": "numeric", "y": "target"}, "f.arff", format="arff", column_names="by position")
    with pytest.raises(DataError, match="has 3 columns, and the card names 2"):
        read_original_files(card, put(tmp_path, "f.arff", ARFF))


def test_rename_matches_numbers_as_the_file_spells_them(tmp_path):
    card = arff_card(rename={"height in m": {"-2": "low", "1.5": "high"}})
    rows = read_original_files(card, put(tmp_path, "f.arff", ARFF))
    assert rows["height in m"].dropna().tolist() == ["high", "low"]


@pytest.mark.parametrize(
    ("line", "broken", "fault"),
    [
        (9, ARFF.replace("?, blue", "tall, blue"), "numerical"),
        (9, ARFF.replace("?, blue", "?, green"), "green"),
        (9, ARFF.replace("?, blue, no", "?, blue"), "instance format"),
        (3, ARFF.replace("REAL", "LENGTH"), "type"),
    ],
)
def test_message_names_the_broken_line(tmp_path, line, broken, fault):
    with pytest.raises(DataError, match=rf"small/f\.arff:{line}: is not sound ARFF: .*(?i:{fault})"):
        read_original_files(arff_card(), put(tmp_path, "f.arff", broken))


def test_an_arff_file_without_rows_is_rejected(tmp_path):
    with pytest.raises(DataError, match=r"f\.arff: holds no data"):
        read_original_files(arff_card(), put(tmp_path, "f.arff", ARFF.partition("@data")[0] + "@data\n"))


def table_of(text, encoding="utf-8"):
    return read_arff(text.encode(encoding), "t.arff")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_encoding_is_inferred_as_for_csv(encoding):
    text = "@relation t\n@attribute x numeric\n@attribute y {no,Größe}\n@data\n1,no\n2,Größe\n"
    assert table_of(text, encoding)["y"].tolist() == ["no", "Größe"]


def test_comments_follow_attributes():
    head = "@relation 'a % b' % c\n@attribute 'x % y' numeric % in cm\n"
    text = head + "@attribute y {'a % b', b} % the class\n@data\n1,b\n"
    frame = table_of(text)
    assert list(frame.columns) == ["x % y", "y"]
    assert frame["x % y"].tolist() == [1.0]


def test_integers_are_not_cut_off():
    assert table_of("@relation t\n@attribute x integer\n@data\n1.5\n2\n")["x"].tolist() == [1.5, 2.0]


def test_weights_in_braces_follow_rows():
    text = "@relation t\n@attribute x numeric\n@attribute y {a,b}\n@data\n1,a,{2}\n2,b, {0.5}\n3,a\n"
    table = parse_arff(text.encode(), "t.arff")
    assert table.columns == [("1", "2", "3"), ("a", "b", "a")]
    assert (table.has_weights, table.lines.tolist()) == (True, [5, 6, 7])


def test_dates_and_texts_are_text():
    text = "@relation t\n@attribute d date 'dd.MM.yyyy'\n@attribute s string\n@data\n'01.02.2020',a\n?,'b c'\n"
    table = parse_arff(text.encode(), "t.arff")
    assert table.kinds == ["date", "text"]
    assert table.columns == [("01.02.2020", None), ("a", "b c")]


def test_row_behind_the_line_of_data_is_refused():
    text = "@relation t\n@attribute x numeric\n@attribute y {a,b}\n@data,0,a\n1,b\n"
    with pytest.raises(DataError, match=r"t\.arff:4: .* a line that holds @data alone"):
        table_of(text)


def test_sparse_rows_are_refused_with_their_line():
    text = "@relation t\n@attribute x numeric\n@attribute y {a,b}\n@data\n{0 1, 1 b}\n"
    with pytest.raises(DataError, match=r"t\.arff:5: is a row of a sparse ARFF file"):
        table_of(text)


@pytest.mark.parametrize("name", ["x'y", 'x"y'])
def test_quotation_mark_inside_a_name_is_refused(name):
    text = f"@relation r\n@attribute c {{1,2}}\n@attribute {name} numeric\n@data\n1,2\n"
    with pytest.raises(DataError, match=r"t\.arff: is not sound ARFF: the name of an attribute holds a quotation mark"):
        parse_arff(text.encode(), "t.arff")


def cells(*texts: str) -> np.ndarray:
    return np.array([texts], dtype=object)


def as_mat(order: tuple[str, ...] = ("int0", "colour", "class"), **variables: object) -> bytes:
    """Return a file with two whole numbers, a word and a label in each of its three rows."""
    usual = {
        "int0": np.array([[1, 2, 3], [-2147483648, 5, 6]], dtype=np.int32),
        "colour": cells("red", "nan", "blue"),
        "class": cells("yes", "no", "no"),
        "mldata_descr_ordering": cells(*order),
    }
    opened = io.BytesIO()
    savemat(opened, usual | variables)
    return opened.getvalue()


def test_columns_come_in_the_order_that_the_file_lists():
    frame = read_mat(as_mat(("colour", "int0", "class")), "here", ())
    assert list(frame) == ["colour", "int0_1", "int0_2", "class"]
    assert frame["int0_1"].tolist() == [1, 2, 3] and frame["class"].tolist() == ["yes", "no", "no"]


def test_missing_text_becomes_nan_and_a_missing_number_stays():
    frame = read_mat(as_mat(), "here", ("nan",))
    assert frame["colour"].isna().tolist() == [False, True, False]
    assert frame["int0_2"].tolist() == [-2147483648, 5, 6]


def test_a_variable_of_one_row_has_its_own_name():
    frame = read_mat(as_mat(("x", "class"), x=np.array([[0.5, 1.5, 2.5]])), "here", ())
    assert frame["x"].tolist() == [0.5, 1.5, 2.5]


@pytest.mark.parametrize("packed", [False, True])
def test_a_card_reads_a_mat_file_plain_or_packed(tmp_path, packed):
    content = as_mat()
    folder = put(tmp_path, "t.mat.xz" if packed else "t.mat", lzma.compress(content) if packed else content)
    card = make_card(
        {"int0_1": "numeric", "int0_2": "numeric", "colour": "nominal", "class": "target"},
        "t.mat",
        format="mat",
        missing=["nan"],
        missing_codes={"int0_2": ["-2147483648"]},
        split={"kind": "same"},
        expect={"rows": 3, "columns": 3},
    )
    dataset = assemble(card, read_original_files(card, folder))
    assert dataset.X["int0_2"].isna().tolist() == [True, False, False]
    assert dataset.X["colour"].cat.codes.tolist() == [1, -1, 0] and dataset.y.tolist() == [1, 0, 0]


def test_a_file_may_state_its_own_format(tmp_path):
    put(tmp_path, "t.mat", as_mat(("x", "class"), x=np.array([[1.0, 2.0, 3.0]])))
    folder = put(
        tmp_path, "more.arff", "@relation r\n@attribute x {4,5}\n@attribute class {yes,no}\n@data\n4,yes\n5,no\n"
    )
    card = make_card(
        {"x": "numeric", "class": "target"},
        "t.mat",
        {"name": "more.arff", "format": "arff"},
        format="mat",
        split={"kind": "same"},
        expect={"rows": 5, "columns": 1},
    )
    dataset = assemble(card, read_original_files(card, folder))
    assert dataset.X["x"].tolist() == [1, 2, 3, 4, 5] and dataset.y.tolist() == [1, 0, 0, 1, 0]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"no MATLAB at all", "here: is not a sound MATLAB file"),
        (as_mat(("int0", "taste")), "here: has no variable 'taste', which mldata_descr_ordering lists"),
        (as_mat(("int0", "x"), x=np.array([[1.0]])), "here: its variables do not have the same number of rows"),
        (as_mat(("x",), x=np.array([[1j]])), "here: the variable 'x' holds neither numbers nor text"),
    ],
)
def test_a_broken_mat_file_is_rejected(content, message):
    with pytest.raises(DataError, match=message):
        read_mat(content, "here", ())


def test_a_mat_file_of_another_source_is_rejected():
    opened = io.BytesIO()
    savemat(opened, {"x": np.eye(2)})
    with pytest.raises(DataError, match="has no variable mldata_descr_ordering"):
        read_mat(opened.getvalue(), "here", ())
