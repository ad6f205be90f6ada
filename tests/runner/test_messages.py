"""What goes between a run and its workers: cards and outcomes, pickled, and the keys that go with them."""

import pickle

import numpy as np
from planned import planned

from probcal.data.card import find_card, read_card
from probcal.runner.execute import Outcome
from probcal.runner.fingerprint import Fingerprints
from probcal.store.cell_result import CellResult


def sent(value):
    return pickle.loads(pickle.dumps(value))


def test_a_card_arrives_equal():
    card = read_card(find_card("wine-first")).bound_to("0123")
    assert sent(card) == card
    assert sent(card).values == "0123"


def test_a_changed_copy_of_a_sent_card_arrives_as_it_is():
    card = sent(read_card(find_card("wine-first")).bound_to("0123"))
    assert sent(card.bound_to("4567")).values == "4567"
    assert sent(card.model_copy(update={"title": "Other"})).title == "Other"


def test_an_outcome_arrives_with_equal_arrays():
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


def test_keys_of_one_column_are_those_of_each_cell_alone():
    cells = [one.cell for one in planned(1, 2, 3)]
    together = Fingerprints()
    keys = [together.key(cell) for cell in cells]
    assert keys == [Fingerprints().key(cell) for cell in cells]
    assert len({key["split"] for key in keys}) == len(cells)
