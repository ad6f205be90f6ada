"""Test the pickled cards and outcomes between a run and its workers, and the keys of cells."""

import pickle

import numpy as np
from planned import planned

from probcal.data.card import find_card, read_card
from probcal.runner.execute import Outcome
from probcal.runner.identity import Identities
from probcal.store.cell_result import CellResult


def sent(value):
    return pickle.loads(pickle.dumps(value))


def test_pickled_card_is_equal():
    card = read_card(find_card("wine-first")).bind("0123")
    assert sent(card) == card
    assert sent(card).values == "0123"


def test_changed_copy_of_a_pickled_card_keeps_its_changes():
    card = sent(read_card(find_card("wine-first")).bind("0123"))
    assert sent(card.bind("4567")).values == "4567"
    assert sent(card.model_copy(update={"title": "Other"})).title == "Other"


def test_pickled_outcome_has_equal_arrays():
    result = CellResult("data", 0, "learner", "method", "done", "run", 0.1)
    for y, p in (
        (np.array([0, 1, 1], dtype=np.int8), np.array([[0.1, 0.9], [1 / 3, 2 / 3], [0.5, 0.5]])),
        (np.zeros((2, 3), dtype=np.int8), np.asfortranarray(np.arange(12.0).reshape(2, 3, 2))),
    ):
        arrived = sent(Outcome(result, y, p))
        assert arrived.result == result
        for there, here in ((arrived.y, y), (arrived.p, p)):
            assert there.dtype == here.dtype
            assert np.array_equal(there, here)
    assert sent(Outcome(result)) == Outcome(result)


def test_shared_identities_give_the_keys_of_single_cells():
    cells = [one.cell for one in planned(1, 2, 3)]
    together = Identities()
    keys = [together.key(cell) for cell in cells]
    assert keys == [Identities().key(cell) for cell in cells]
    assert len({key["split"] for key in keys}) == len(cells)
