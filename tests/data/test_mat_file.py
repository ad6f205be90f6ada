"""Test the reading of the MATLAB files of mldata.org."""

from __future__ import annotations

import io
import lzma

import numpy as np
import pytest
from scipy.io import savemat

from probcal.data.dataset import assemble
from probcal.data.sources.files import read_original_files
from probcal.data.sources.formats import read_mat
from probcal.errors import DataError
from tests.data.small_cards import make_card, put


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
