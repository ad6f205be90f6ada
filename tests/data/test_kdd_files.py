"""Test the cards of the KDD Cups on small files of the documented formats. The real files are too large to ship."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from probcal.data.dataset import assemble
from probcal.data.sources.files import read_original_files
from probcal.data.sources.specifications import DataFile
from probcal.errors import DataError
from tests.data.small_cards import changed, shipped_card

LEARNING = (
    "ODATEDW,STATE,ZIP,DOB,NOEXCH,CONTROLN,TARGET_B,TARGET_D,RFA_2A\r\n"
    "8901,IL,61081,3712,0,95515,0,0,E\r\n"
    "9401,CA,91326-, ,X,148535,1,7.5,G\r\n"
    "9001, ,27017,,0,15078,0,0,\r\n"
)
VALIDATION = (
    "ODATEDW,STATE,ZIP,DOB,NOEXCH,CONTROLN,RFA_2A\r\n9701,AK,99504,2801,0,188946,F\r\n9702,IL,60004,0,0,63,E\r\n"
)
TARGETS = "CONTROLN,TARGET_B,TARGET_D\r\n63,1,12\r\n188946,0,0\r\n"


@pytest.fixture
def folder(tmp_path):
    for name in ("kdd98", "physics", "biology"):
        (tmp_path / name).mkdir()
    for name, text in (("cup98LRN", LEARNING), ("cup98VAL", VALIDATION), ("valtargt", TARGETS)):
        (tmp_path / "kdd98" / f"{name}.txt").write_text(text, newline="")
    return tmp_path


def kdd98():
    expect = {"rows": 5, "columns": 5, "classes": {"0": 3, "1": 2}}
    return changed(shipped_card("kdd98"), split={"kind": "standard", "train": 3}, expect=expect)


class TestKddCup98:
    def test_learning_rows_come_first_and_control_numbers_match_labels(self, folder):
        dataset = assemble(kdd98(), read_original_files(kdd98(), folder))
        assert dataset.y.tolist() == [0, 1, 0, 0, 1]
        assert dataset.X["ODATEDW"].tolist() == [8901, 9401, 9001, 9701, 9702]

    def test_amount_and_identifier_are_not_inputs(self, folder):
        dataset = assemble(kdd98(), read_original_files(kdd98(), folder))
        assert list(dataset.X) == ["ODATEDW", "STATE", "DOB", "NOEXCH", "RFA_2A"]

    def test_blank_fields_are_missing(self, folder):
        X = assemble(kdd98(), read_original_files(kdd98(), folder)).X
        assert X["DOB"].isna().tolist() == [False, True, True, False, False]
        assert X["STATE"].isna().tolist() == [False, False, True, False, False]
        assert X["RFA_2A"].isna().tolist() == [False, False, True, False, False]

    def test_a_column_with_one_word_is_nominal(self, folder):
        X = assemble(kdd98(), read_original_files(kdd98(), folder)).X
        assert list(X["NOEXCH"].cat.categories) == ["0", "X"]
        assert X["DOB"].dtype == np.float64

    def test_message_asks_for_the_validation_labels(self, folder):
        (folder / "kdd98" / "valtargt.txt").unlink()
        with pytest.raises(DataError, match=r"put these files in place.*kdd98/valtargt\.txt"):
            read_original_files(kdd98(), folder)


def lines(*rows):
    return "".join("\t".join(map(str, row)) + "\n" for row in rows)


class TestKddCup2004:
    def physics(self, folder, *rows):
        (folder / "physics" / "phy_train.dat").write_text(lines(*rows))
        card = changed(shipped_card("physics"), expect={"rows": len(rows), "columns": 78})
        return assemble(card, read_original_files(card, folder))

    def test_missing_codes_of_physics_depend_on_the_column(self, folder):
        """Check that 999 means missing in columns 22-24 and 46-48, and 9999 in 31 and 57 (the id is column 1)."""
        first = [f"{column / 100:.2f}" for column in range(1, 81)]
        first[0], first[1] = "1", "1"
        for column in (22, 23, 24, 46, 47, 48):
            first[column - 1] = "999"
        first[31 - 1] = first[57 - 1] = "9999"
        second = ["2", "0", *("999" for _ in range(78))]
        X = self.physics(folder, first, second).X
        coded = ["f20", "f21", "f22", "f29", "f44", "f45", "f46", "f55"]
        row = 0 if X.loc[0, "f1"] == 0.03 else 1
        assert [name for name in X if np.isnan(X.loc[row, name])] == coded
        assert X.loc[row, "f78"] == 0.80
        assert [name for name in X if np.isnan(X.loc[1 - row, name])] == [
            name for name in coded if name not in ("f29", "f55")
        ]

    def test_id_and_class_of_physics_are_not_inputs(self, folder):
        X = self.physics(folder, [1, 1, *range(78)], [2, 0, *range(78)]).X
        assert list(X) == [f"f{i}" for i in range(1, 79)]
        assert X["f1"].tolist() == [0, 0]

    def test_the_unlabelled_test_file_of_physics_is_rejected(self, folder):
        with pytest.raises(DataError, match="2 rows have no label in column 'target'"):
            self.physics(folder, [1, "?", *range(78)], [2, "?", *range(78)])

    def test_block_and_example_of_biology_are_not_inputs(self, folder):
        rows = [[279, 261532, 0, "52.00", "32.69", *range(72)], [279, 261533, 1, "58.00", "33.33", *range(72)]]
        (folder / "biology" / "bio_train.dat").write_text(lines(*rows))
        card = shipped_card("biology")
        source = card.files[0].model_copy(update={"files": [DataFile(name="bio_train.dat")]})
        card = changed(card, files=[source.model_dump()], expect={"rows": 2, "columns": 74})
        dataset = assemble(card, read_original_files(card, folder))
        pd.testing.assert_series_equal(dataset.X.loc[0, ["f1", "f2"]], pd.Series({"f1": 52.0, "f2": 32.69}, name=0))
        assert dataset.y.tolist() == [0, 1]
        assert list(dataset.X) == [f"f{i}" for i in range(1, 75)]
