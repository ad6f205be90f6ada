"""Test kernel naive Bayes against plain loops and as a learner for frames with numbers and categories."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probcal.learners import KernelNaiveBayes
from tests.oracles import kernel_nb_oracle as oracle

pytestmark = pytest.mark.filterwarnings("error")
LEVELS = ["a", "b", "c"]


@pytest.fixture
def mixed():
    """Return (frame, labels): 60 rows of a number, a second number with gaps and a nominal column with gaps."""
    rng = np.random.default_rng(0)
    y = np.array(["no", "yes"])[rng.integers(0, 2, 60)]
    n = rng.normal(size=60) + (y == "yes")
    gaps = np.where(rng.random(60) < 0.2, math.nan, np.round(rng.normal(size=60), 1))
    c = pd.Categorical.from_codes(rng.integers(-1, 3, 60), categories=LEVELS)
    return pd.DataFrame({"n": n, "gaps": gaps, "c": c}), y


def densities(model):
    """Return the densities of the first column, one for each class."""
    return [one.density for one in model.columns_[0].classes]


def log_odds_of_levels(train, y, test, weights=None, levels=LEVELS):
    frame = pd.DataFrame({"c": pd.Categorical(train, categories=levels)})
    model = KernelNaiveBayes().fit(frame, y, weights)
    return model.decision_function(pd.DataFrame({"c": test}))


def test_the_prior_is_the_frequency_plus_one_per_class():
    # three rows of weight 1 and one of weight 2: (2 + 1) / (5 + 2) against (3 + 1) / (5 + 2)
    model = KernelNaiveBayes().fit(np.zeros((4, 1)), [0, 0, 1, 1], sample_weight=[1, 1, 1, 2])
    assert np.exp(model.log_prior_) == pytest.approx([3 / 7, 4 / 7])


def test_level_probability_is_frequency_plus_one_per_declared_level():
    # "b": (2 + 1) / (3 + 3) among the positive, (0 + 1) / (1 + 3) among the negative; prior 4/6 against 2/6
    found = log_odds_of_levels(["b", "b", "a", "a"], [1, 1, 1, 0], pd.Categorical(["b"], categories=LEVELS))
    assert found[0] == pytest.approx(math.log((3 / 6) / (1 / 4) * 4 / 2))


def test_a_missing_value_removes_its_column_from_the_product(mixed):
    X, y = mixed
    model = KernelNaiveBayes().fit(X, y)
    nothing = X[:1].assign(n=math.nan, gaps=math.nan, c=pd.Categorical([None], categories=LEVELS))
    assert model.decision_function(nothing)[0] == pytest.approx(model.log_prior_[1] - model.log_prior_[0])
    only_n = KernelNaiveBayes().fit(X[["n"]], y).decision_function(X[["n"]])
    without_the_others = X.assign(gaps=math.nan, c=pd.Categorical([None] * 60, categories=LEVELS))
    np.testing.assert_allclose(model.decision_function(without_the_others), only_n, atol=1e-12)


def test_two_values_equal_a_hand_calculation():
    # precision 100, kernels of 100/6: the bin of 100 reaches 3 widths to either side of 100, and from 3 to 9 off 0
    X, y = np.array([[0.0], [0.0], [100.0], [100.0]]), [0, 0, 1, 1]
    found = KernelNaiveBayes().fit(X, y).decision_function([[100.0]])
    assert found[0] == pytest.approx(math.log(normal(-3, 3) / normal(3, 9)), rel=1e-12)


def test_an_impossible_value_has_the_floor_density():
    # 0 against 100 101 ... 110: precision 10, the kernel of 0 ends 60 widths before 105. The others round to
    # 100 (six) and 110 (five), width 10 / sqrt 11; 105 is halfway and goes to 100, the even multiple
    X, y = np.array([[0.0], *([v] for v in range(100, 111))]), [0] + [1] * 11
    found = KernelNaiveBayes().fit(X, y).decision_function([[105.0]])
    half = math.sqrt(11) / 2
    mass = (6 * normal(-half, half) + 5 * normal(half, 3 * half)) / 11
    assert found[0] == pytest.approx(math.log(mass / 10 / 1e-75 * 12 / 2), rel=1e-12)


def normal(low, high):
    return (math.erfc(low / math.sqrt(2)) - math.erfc(high / math.sqrt(2))) / 2


def test_classes_share_the_precision():
    # distinct values 0 1 3 over both classes: precision 1.5, though each class alone has another
    model = KernelNaiveBayes().fit(np.array([[0.0], [3.0], [1.0]]), [0, 0, 1])
    assert [density.precision for density in densities(model)] == [1.5, 1.5]


numbers = st.one_of(
    st.none(),
    st.integers(-4, 4).map(lambda n: n / 2),
    st.floats(-50, 50),
    st.sampled_from([0.0, 1e5]).flatmap(lambda centre: st.floats(-1, 1).map(lambda d: centre + d)),
)
levels = st.none() | st.sampled_from(LEVELS)
weights = st.sampled_from([0.0, 0.01, 0.5, 1.0, 1.0, 1.0, 3.0, 40.0])
some_rows = st.lists(st.tuples(numbers, numbers, levels, st.booleans(), weights), min_size=2, max_size=25)
some_rows = some_rows.filter(lambda rows: any(weight for *_, weight in rows))


@settings(max_examples=100, deadline=None, derandomize=True)
@given(some_rows, st.lists(st.tuples(numbers, numbers, levels), min_size=1, max_size=6), st.permutations(LEVELS))
def test_any_mixed_weighted_frame_equals_the_plain_loops(rows, unseen, order):
    rows[0], rows[1] = (*rows[0][:3], False, rows[0][4]), (*rows[1][:3], True, rows[1][4])
    *train, positive, weights = map(list, zip(*rows, strict=True))
    test = [list(old) + list(new) for old, new in zip(train, zip(*unseen, strict=True), strict=True)]
    expected = oracle.log_odds(declared(train), positive, weights, declared(test))
    model = KernelNaiveBayes().fit(frame_of(train, LEVELS), positive, sample_weight=weights)
    found = model.decision_function(frame_of(test, order))
    np.testing.assert_allclose(found, expected, rtol=0, atol=4e-8)  # two densities, each to 1e-8, in two columns


def declared(columns):
    return [*columns[:2], (columns[2], LEVELS)]


def frame_of(columns, order):
    numeric = [[math.nan if v is None else v for v in column] for column in columns[:2]]
    return pd.DataFrame({"u": numeric[0], "v": numeric[1], "c": pd.Categorical(columns[2], categories=order)})


@pytest.mark.parametrize(
    "values",
    [
        pytest.param([0.0, 0.0, 0.0, 7.0], id="single values"),
        pytest.param([1e-9, 2e-9, 4e-9, 9e-9], id="below the finest precision"),
        pytest.param([0.0, 0.1, 1e8, 1e8 + 0.1], id="two far clusters"),
        pytest.param([0.0] * 40 + [1.0] * 3 + [50.0], id="heavy duplicates"),
        pytest.param([-1e12, 1e12, 3.0, 4.0], id="wide range"),
    ],
)
def test_extreme_columns_equal_the_plain_loops(values):
    positive = [i % 2 == 1 for i in range(len(values))]
    scale = max(map(abs, values))
    new = [*values, *(v + d * scale for v in values for d in (1e-6, 1e-3, 0.3, 5, 1e3, -1e9))]
    expected = oracle.log_odds([values], positive, [1.0] * len(values), [new])
    found = KernelNaiveBayes().fit(np.array(values)[:, None], positive).decision_function(np.array(new)[:, None])
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-8)


def test_frame_array_and_list_give_the_same_log_odds():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), rng.integers(0, 2, 30)
    expected = KernelNaiveBayes().fit(X, y).decision_function(X)
    for one in (pd.DataFrame(X), pd.DataFrame(X, columns=["a", "b"]), X.tolist()):
        assert KernelNaiveBayes().fit(one, y).decision_function(one).tolist() == expected.tolist()
    assert KernelNaiveBayes().fit(pd.DataFrame(X), y).decision_function(X).tolist() == expected.tolist()


def test_an_undeclared_level_counts_as_missing(mixed):
    X, y = mixed
    model = KernelNaiveBayes().fit(X, y)
    strange = X.assign(c=pd.Categorical(["z"] * 60, categories=["z", "a"]))
    missing = X.assign(c=pd.Categorical([None] * 60, categories=LEVELS))
    assert model.decision_function(strange).tolist() == model.decision_function(missing).tolist()


def test_probabilities_labels_and_log_odds_agree(mixed):
    X, y = mixed
    model = KernelNaiveBayes().fit(X, y)
    p, log_odds = model.predict_proba(X), model.decision_function(X)
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-15)
    np.testing.assert_allclose(np.log(p[:, 1]) - np.log(p[:, 0]), log_odds, atol=1e-9)
    assert model.predict(X).tolist() == np.where(log_odds > 0, "yes", "no").tolist()


def test_a_tie_goes_to_the_first_class():
    assert KernelNaiveBayes().fit(np.array([[1.0], [1.0]]), ["no", "yes"]).predict([[1.0]]).tolist() == ["no"]


def test_message_names_the_column_with_an_infinite_value():
    with pytest.raises(ValueError, match="'age'"):
        KernelNaiveBayes().fit(pd.DataFrame({"age": [1.0, math.inf, 2.0]}), [0, 1, 1])


def test_other_columns_at_prediction_are_rejected(mixed):
    X, y = mixed
    model = KernelNaiveBayes().fit(X, y)
    with pytest.raises(ValueError, match="X has 2 columns, and 3 were fitted"):
        model.predict(X[["n", "c"]])
    with pytest.raises(ValueError, match="'gaps' where 'n' was fitted"):
        model.predict(X[["gaps", "n", "c"]])


@pytest.mark.parametrize("y", [[0, 0, 0], [0, 1, 2], [0, 1, None], [0, 1]])
def test_labels_without_exactly_two_classes_are_rejected(y):
    with pytest.raises(ValueError):
        KernelNaiveBayes().fit(np.zeros((3, 1)), y)
