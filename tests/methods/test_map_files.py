"""Test maps as JSON: they predict the same to the last bit, and old files stay readable.

The golden files were written by this version. A later version must read them and predict the stored numbers.
"""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probcal import BetaCalibrator, IsotonicCalibrator, SigmoidCalibrator
from probcal.methods.calibrators.map_file import map_from_json
from probcal.methods.registry import PUBLIC_CLASSES

FOLDER = Path(__file__).parent / "map_files"
CALIBRATORS = sorted(name for name in PUBLIC_CLASSES if name.endswith("Calibrator"))
SCORES = {2: [[0.0], [1e-12], [0.2], [0.5], [0.93], [1.0]], 3: [[0, 0, 1], [0.2, 0.3, 0.5], [0.4, 0.4, 0.2], [1, 0, 0]]}


def calibrator_class(name):
    return getattr(importlib.import_module(PUBLIC_CLASSES[name]), name)


def fitted(name, n_classes, **parameters):
    random = np.random.default_rng(0)
    p = random.dirichlet([1] * n_classes, 40).round(3)
    p /= p.sum(axis=1, keepdims=True)
    y = np.array([random.choice(n_classes, p=row) for row in p])
    scores = p[:, 1] if n_classes == 2 else p
    return calibrator_class(name)(**parameters).fit(scores, y)


def golden(name, n_classes):
    return FOLDER / f"{name}-{n_classes}.json"


def write_golden_files():
    """Write the files anew. Only for a map that is new: the others keep their promise."""
    for name in CALIBRATORS:
        for n_classes, scores in SCORES.items():
            if not golden(name, n_classes).exists():
                one = fitted(name, n_classes)
                content = json.loads(one.to_json()) | {"predictions": one.predict_proba(scores).tolist()}
                lines = [f" {json.dumps(key)}: {json.dumps(value)}" for key, value in content.items()]
                golden(name, n_classes).write_text("{\n" + ",\n".join(lines) + "\n}\n")


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", CALIBRATORS)
def test_a_stored_map_predicts_what_it_predicted(name, n_classes):
    text = golden(name, n_classes).read_text()
    predicted = calibrator_class(name).from_json(text).predict_proba(SCORES[n_classes])
    # exp and log may differ in the last bit between processors
    np.testing.assert_allclose(predicted, json.loads(text)["predictions"], rtol=1e-13, atol=0)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kind", ["probability", "score"])
@pytest.mark.parametrize("name", CALIBRATORS)
def test_a_read_map_is_the_same_to_the_last_bit(name, kind, n_classes):
    one = fitted(name, n_classes, input=kind)
    other = map_from_json(one.to_json())
    assert type(other) is type(one) and other.get_params() == one.get_params()
    assert (other.predict_proba(SCORES[n_classes]) == one.predict_proba(SCORES[n_classes])).all()
    assert other.to_json() == one.to_json()


@pytest.mark.parametrize(
    "labels", [["no", "yes"], [False, True], [2.0, 7.0], [10**15, 10**16], np.array(["a", "b"], object)]
)
def test_classes_keep_their_type(labels):
    one = SigmoidCalibrator().fit([0.1, 0.3, 0.4, 0.9], np.array(labels)[[0, 1, 0, 1]])
    other = SigmoidCalibrator.from_json(one.to_json())
    assert other.classes_.dtype == one.classes_.dtype and other.classes_.tolist() == one.classes_.tolist()
    assert other.predict([0.05, 0.99]).tolist() == one.predict([0.05, 0.99]).tolist()


def test_names_of_columns_are_kept():
    one = BetaCalibrator().fit(pd.DataFrame({"churn": [0.1, 0.3, 0.4, 0.9]}), [0, 1, 0, 1])
    other = BetaCalibrator.from_json(one.to_json())
    with pytest.raises(ValueError, match="feature names"):
        other.predict_proba(pd.DataFrame({"other": [0.5]}))


def test_another_class_or_version_is_refused():
    text = fitted("BetaCalibrator", 2).to_json()
    with pytest.raises(ValueError, match="holds a BetaCalibrator, not a IsotonicCalibrator"):
        IsotonicCalibrator.from_json(text)
    with pytest.raises(ValueError, match=r"in version 2 of the form.*install a newer one"):
        map_from_json(text.replace('"version": 1', '"version": 2'))
    for version in ("0", "-3", "true", "1.0", '"1"', "null"):
        with pytest.raises(ValueError, match='the map is damaged: the "version" of its form is a whole number from 1'):
            map_from_json(text.replace('"version": 1', f'"version": {version}'))
    with pytest.raises(ValueError, match="no map"):
        map_from_json("[]")
    with pytest.raises(ValueError, match="no JSON"):
        map_from_json('{"a": NaN}')


def test_only_fitted_maps_of_probcal_are_written():
    class Own(BetaCalibrator):
        pass

    with pytest.raises(ValueError, match="not fitted"):
        BetaCalibrator().to_json()
    with pytest.raises(TypeError, match="Own is no map of probcal"):
        Own().fit([0.1, 0.3, 0.4, 0.9], [0, 1, 0, 1]).to_json()


scraps = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(-5, 5), st.floats(), st.sampled_from(["inf", "nan", "O", "os.system"])
    ),
    lambda parts: st.one_of(
        st.lists(parts, max_size=3), st.dictionaries(st.sampled_from(["maps", "type", "a"]), parts)
    ),
    max_leaves=6,
)


@settings(max_examples=120, deadline=None)
@given(st.sampled_from(CALIBRATORS), st.sampled_from([2, 3]), st.data())
def test_a_changed_text_is_a_map_or_a_value_error(name, n_classes, data):
    content = json.loads(golden(name, n_classes).read_text())
    where = content
    for _ in range(data.draw(st.integers(1, 3))):
        if not isinstance(where, dict) or not where:
            break
        key = data.draw(st.sampled_from(sorted(where)))
        if data.draw(st.booleans()) or not isinstance(where[key], dict):
            where[key] = data.draw(scraps)
            break
        where = where[key]
    text = json.dumps(content)
    try:
        one = map_from_json(text)
    except ValueError:
        return
    p = one.predict_proba(np.full((1, one.n_features_in_), 1 / max(one.n_features_in_, 2)))
    assert np.isfinite(p).all()


def test_dates_as_classes_are_refused_with_what_to_do():
    y = np.array(["2026-01-01", "2026-01-02"], "datetime64[D]")[np.arange(40) % 2]
    with pytest.raises(TypeError, match="booleans or texts have a JSON form; write dates as texts"):
        SigmoidCalibrator().fit(np.linspace(0.1, 0.9, 40), y).to_json()
