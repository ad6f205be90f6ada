"""Which learner with which method is best, and how sure that is."""

import math

import pytest

from probcal.try_table.ranked_methods import RankedMethod, name_of, not_significantly_different, ranked_lines, sentence


def ranked(learner, losses, method="direct", splits=None, **more):
    facts = {"means": {"rms": 0.3, "auc": 0.9, "c_emp": math.nan}, "failed": 0, "splits": splits or len(losses)}
    return RankedMethod(learner, method, tuple(losses), **{**facts, "seconds": 0.1, **more})


BEST = ranked("forest", [0.40, 0.42, 0.41, 0.43, 0.39])
NEAR = ranked("boosting", [0.41, 0.41, 0.42, 0.42, 0.40], "isotonic")
FAR = ranked("tree", [0.80, 0.83, 0.82, 0.84, 0.81])
SHARES = ranked("shares", [0.95, 0.96, 0.95, 0.97, 0.94])
NEVER = ranked("nb", [0.5, math.inf, 0.5, 0.5, 0.5])


def test_what_differs_as_much_as_the_splits_do_is_not_significantly_different():
    assert not_significantly_different(BEST, [NEAR, FAR, SHARES, NEVER]) == [NEAR]


def test_many_rivals_make_a_small_difference_less_sure():
    # differences of mean .038 and sd .010954: t(4) = .038 / (.010954 * sqrt(1/5 + 1/3)) = 4.75, p = .00897
    far = [0.43, 0.47, 0.44, 0.48, 0.42]
    assert not_significantly_different(BEST, [ranked("tree", far)]) == []
    rivals = [ranked(f"tree{number}", far) for number in range(6)]  # 6 * .00897 = .0538
    assert not_significantly_different(BEST, rivals) == rivals


def test_the_interval_is_the_corrected_one():
    # mean .41, sd .015811, variance of the mean (1/5 + (1/4)/(3/4)) * sd^2, t(4) = 2.776445
    half = 2.776445 * math.sqrt((1 / 5 + 1 / 3) * 0.00025)
    assert BEST.interval == pytest.approx((0.41 - half, 0.41 + half))
    assert NEVER.interval is None
    assert ranked("a", [0.1]).interval is None
    assert ranked("a", [0.0, 0.5]).interval[0] == 0.0  # no loss is smaller


def test_the_sentence_names_the_best_and_its_rivals():
    assert sentence([BEST, NEAR, FAR, SHARES, NEVER]) == (
        "The best is forest alone, log loss 0.4100 bits; not significantly different: isotonic on boosting; "
        "significantly better than 3 at the 5 % level."
    )
    alone = "The best is forest alone, log loss 0.4100 bits, significantly better than 1 at the 5 % level."
    assert sentence([BEST, FAR]) == alone


def test_the_sentence_does_not_praise_what_is_no_better_than_the_shares():
    close = ranked("shares", [0.41, 0.41, 0.42, 0.42, 0.40])
    assert sentence([BEST, close]).startswith(
        "forest alone has the smallest loss, log loss 0.4100 bits; not significantly different from predicting the "
    )
    assert "log loss 0.4120 bits; it is predicting the class shares" in sentence([close, FAR])


def test_the_best_is_not_said_to_be_ahead_of_what_failed():
    never = ranked("svm", [], splits=5, failed=5)
    half = ranked("nb", [0.1, 0.1], splits=5, failed=3)
    assert sentence([BEST, FAR, half, never]).endswith("bits, significantly better than 1 at the 5 % level; 2 failed.")


def test_the_sentence_knows_when_nothing_can_be_said():
    assert sentence([NEVER]) == "No column has a finite log loss on every split, so there is no best one."
    assert sentence([ranked("a", [0.4]), ranked("b", [0.5])]).endswith("one split does not show how certain that is.")


def test_the_table_marks_those_not_significantly_different_and_explains_infinity():
    lines = list(ranked_lines([BEST, NEAR, FAR, SHARES, NEVER]))
    assert [line.split()[0] for line in lines[1:6]] == ["1", "2*", "3", "4", "5"]
    assert "inf: an observed label had predicted probability 0; these are sorted by RMS." in lines
    assert max(map(len, lines)) <= 80


def test_a_split_that_failed_leaves_no_loss_to_rank():
    half = ranked("svm", [0.1, 0.1], splits=5, failed=3, error="ValueError: no\nmore")
    assert half.loss == math.inf
    assert "svm alone failed on 3 of 5 splits: ValueError: no" in ranked_lines([BEST, half])


def test_one_column_alone_has_no_rival():
    assert sentence([BEST]) == "forest alone ran alone, so there is nothing to compare: log loss 0.4100 bits."


def test_names_are_read_aloud():
    assert (name_of(NEAR), name_of(BEST)) == ("isotonic on boosting", "forest alone")
