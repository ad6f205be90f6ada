"""A card with weights gives the numbers of the card in which a row of weight 3 is there three times."""

import numpy as np
import pandas as pd
import pytest

from probcal.data.card import read_card
from probcal.data.encode import NumericEncoder
from probcal.errors import FileProblems
from probcal.store.folder import Store
from tests.commands import probcal

CARD = """
name: {name}
title: Weights
seed_name: same-splits
columns: {{x: numeric, z: nominal, time: numeric, {weight}y: target}}
positive: "1"
split: {{kind: time_ordered, folds: 3, order: time, nested: true}}
expect: {{rows: {rows}, columns: 3}}
folder: .
files: [{{format: delimited, header: true, missing: [""], files: [{{name: {name}.csv}}]}}]
"""
EXPERIMENT = """
name: weights
datasets: [{name}.yaml]
learners:
  shares: {{type: sklearn.dummy.DummyClassifier}}
  tree: {{type: sklearn.tree.DecisionTreeClassifier, params: {{max_depth: 2}}}}
  bayes: {{type: sklearn.naive_bayes.GaussianNB, params: {{var_smoothing: 0.0}}}}
methods:
  direct:
  isotonic: {{params: {{calibration: cross_val, cv: 2, clip: [0.001, 0.999]}}}}
combinations: {{shares: [direct], tree: [direct]}}
metrics: [cxe, brier, auc, c_emp]
"""


def weighted_rows() -> pd.DataFrame:
    # every time has the same labels and weights, so that no cut in time depends on the repetition of rows
    random = np.random.default_rng(3)
    y, w = np.tile([0, 1], 6), np.tile([1, 2, 3, 1, 1, 2], 2)
    parts = [
        pd.DataFrame({"x": (y + random.normal(size=12)).round(3), "z": random.choice(["a", "b"], 12), "time": n,
                      "w": w, "y": y})
        for n in range(12)
    ]  # fmt: skip
    frame = pd.concat(parts, ignore_index=True)
    return frame.assign(x=frame["x"].mask(random.random(len(frame)) < 0.1), z=frame["z"].mask(frame.index % 9 == 0))


def run(folder, name: str, frame: pd.DataFrame, weight: str) -> Store:
    frame.to_csv(folder / f"{name}.csv", index=False)
    (folder / f"{name}.yaml").write_text(CARD.format(name=name, rows=len(frame), weight=weight))
    (folder / f"run-{name}.yaml").write_text(EXPERIMENT.format(name=name).replace("weights", f"run-{name}"))
    result = probcal("run", folder / f"run-{name}.yaml", "-o", folder / f"results-{name}")
    assert result.exit_code == 0, result.output
    return Store(folder / f"results-{name}")


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    folder, frame = tmp_path_factory.mktemp("weights"), weighted_rows()
    repeated = frame.loc[frame.index.repeat(frame["w"])].drop(columns="w")
    return run(folder, "weighted", frame, "w: weight, "), run(folder, "repeated", repeated, ""), folder


def test_integer_weights_give_the_numbers_of_repeated_rows(stores):
    weighted, repeated, _ = stores
    results, others = weighted.results(), repeated.results()
    assert len(results) == 12
    for cell, result in results.items():
        other = others[cell.replace("weighted", "repeated")]
        # A p-value counts rows, and repeated ones are no new ones. Rounding moves a prediction of .6 to another bin.
        metrics, expected = ({**one.metrics, "c_emp_p": 0.0, "ece": 0.0} for one in (result, other))
        assert metrics == pytest.approx(expected, rel=1e-9, abs=1e-12), cell
        assert result.n_test != other.n_test


def test_weights_are_stored_beside_the_predictions(stores):
    weighted, repeated, _ = stores
    result = next(iter(weighted.results().values()))
    assert set(weighted.weights(result)) == {1, 2, 3}
    assert repeated.weights(next(iter(repeated.results().values()))) is None


def test_verify_measures_with_the_weights(stores):
    _, _, folder = stores
    result = probcal("verify", folder / "results-weighted")
    assert result.exit_code == 0, result.output


def test_the_encoder_weighs_modes_and_means():
    frame = weighted_rows()[["x", "z", "w"]].astype({"z": "category"})
    repeated = frame.loc[frame.index.repeat(frame["w"])]
    columns = frame[["x", "z"]]
    encoded = NumericEncoder().fit(columns, sample_weight=frame["w"].to_numpy(float)).transform(columns)
    assert np.allclose(encoded, NumericEncoder().fit(repeated[["x", "z"]]).transform(columns), atol=1e-12)
    assert not np.allclose(encoded, NumericEncoder().fit(columns).transform(columns), atol=1e-6)


@pytest.mark.parametrize(
    ("change", "message"),
    [({"w": -1.0}, "has the weight '-1.0' in column 'w'"), ({"w": "x"}, "has the weight 'x'"),
     ({"w": None}, "has the weight")],
)  # fmt: skip
def test_a_row_without_a_usable_weight_is_refused(tmp_path, change, message):
    frame = weighted_rows().astype({"w": object})
    frame.loc[4, "w"] = change["w"]
    (tmp_path / "bad.yaml").write_text(CARD.format(name="bad", rows=len(frame), weight="w: weight, "))
    frame.to_csv(tmp_path / "bad.csv", index=False)
    (tmp_path / "e.yaml").write_text(EXPERIMENT.format(name="bad"))
    result = probcal("run", tmp_path / "e.yaml", "-o", tmp_path / "results")
    assert message in " ".join(result.output.split())
    assert result.exit_code != 0


def test_a_card_has_at_most_one_column_of_weights(tmp_path):
    (tmp_path / "two.yaml").write_text(CARD.format(name="two", rows=144, weight="w: weight, v: weight, "))
    with pytest.raises(FileProblems, match="at most one holds the weights, 2 do"):
        read_card(tmp_path / "two.yaml")
