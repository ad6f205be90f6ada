"""Test the ranking of learners with methods, its intervals and its verdict."""

import math

import pytest

from probcal.metrics.decisions import read_costs
from probcal.try_table.measures import MEASURES, cost_measure
from probcal.try_table.ranked_methods import (
    RankedMethod,
    interval_of,
    name_of,
    ranked_lines,
    rivals_of,
)
from probcal.try_table.verdict import VerdictContext, verdict

MANY = VerdictContext({"no": 900, "yes": 600}, (0.5, 0.49, 0.51, 0.5, 0.5))


def ranked(learner, values, method="direct", splits=None, **more):
    loss = sum(values) / len(values) if values else math.nan
    facts = {"means": {"log-loss": loss, "rms": 0.3, "auc": 0.9, "c_emp": math.nan}, "n_failed": 0}
    facts |= {"splits": splits or len(values), "seconds": 0.1}
    return RankedMethod(learner, method, tuple(values), **(facts | more))


BEST = ranked("forest", [0.40, 0.42, 0.41, 0.43, 0.39])
NEAR = ranked("boosting", [0.41, 0.41, 0.42, 0.42, 0.40], "isotonic")
FAR = ranked("tree", [0.80, 0.83, 0.82, 0.84, 0.81])
SHARES = ranked("shares", [0.95, 0.96, 0.95, 0.97, 0.94])
FAILED = ranked("nb", [0.5, 0.5, 0.5, 0.5], splits=5, n_failed=1, error="ValueError: no\nmore")


def test_close_method_is_not_significantly_different():
    assert rivals_of(BEST, [NEAR, FAR, SHARES, FAILED]) == [NEAR]


def test_many_comparisons_make_a_difference_insignificant():
    # differences of mean .038 and sd .010954: t(4) = .038 / (.010954 * sqrt(1/5 + 1/4)) = 5.17, p = .00665
    far = [0.43, 0.47, 0.44, 0.48, 0.42]
    assert rivals_of(BEST, [ranked("tree", far)]) == []
    rivals = [ranked(f"tree{number}", far) for number in range(8)]  # 8 * .00665 = .0532
    assert rivals_of(BEST, rivals) == rivals


def test_interval_is_the_corrected_resampled_one():
    # mean .41, sd .015811, variance of the mean (1/5 + (1/5)/(4/5)) * sd^2, t(4) = 2.776445
    half = 2.776445 * math.sqrt((1 / 5 + 1 / 4) * 0.00025)
    assert BEST.interval == pytest.approx((0.41 - half, 0.41 + half))
    assert FAILED.interval is None
    assert ranked("a", [0.0, 0.5]).interval[0] == 0.0  # no loss is below 0


def test_interval_stays_within_the_bounds_of_its_measure():
    assert ranked("a", [0.8, 1.0], measure=MEASURES["auc"]).interval == (0.0, 1.0)
    assert ranked("a", [0.1, 2.0]).interval[1] > 2  # a log loss has no upper bound
    assert interval_of([0.9, 1.0], 0.2, MEASURES["accuracy"])[1] == 1.0
    assert interval_of([2.0, 5.0], 0.2, cost_measure(read_costs("1:5")))[1] == pytest.approx(5, abs=1e-4)


def test_two_splits_or_equal_differences_are_not_tested():
    best, far, three = ranked("forest", [0.4, 0.42]), ranked("tree", [0.8, 0.82]), [0.4, 0.42, 0.41]
    assert rivals_of(best, [far]) == [far]
    assert "too few to test" in "\n".join(ranked_lines([best, far], 0.001))
    same = ranked("tree", [value + 0.4 for value in three])
    assert rivals_of(ranked("forest", three), [same]) == [same]


def test_the_table_counts_the_splits_with_an_infinite_log_loss():
    lines = list(ranked_lines([BEST, NEAR, ranked("tree", FAR.values, infinite=3), SHARES], 0.001))
    assert [line.split()[0] for line in lines[1:5]] == ["1", "2*", "3", "4"]
    assert lines[0].split()[-2:] == ["inf", "s"] and lines[3].split()[-2:] == ["3", "0.10"]
    assert any(line.startswith("inf: number of the 5 splits") for line in lines)
    assert max(map(len, lines)) <= 80


def test_table_header_names_the_measure():
    auc = ranked("forest", [0.9, 0.91, 0.9, 0.92, 0.9], measure=MEASURES["auc"])
    assert next(ranked_lines([auc], 0.001)).split()[:5] == ["learner", "method", "AUC", "95", "%"]


def test_a_column_of_small_numbers_has_more_decimals():
    rare = {"log-loss": 0.0189, "rms": 0.05, "auc": 0.9, "c_emp": 0.00061}
    rows = [ranked("forest", [0.0189] * 5, means=rare), ranked("nb", [0.02] * 5, means=rare | {"c_emp": 0.0042})]
    first, second = (line.split() for line in list(ranked_lines(rows, 0.001))[1:3])
    assert (first[3], first[-2], second[-2]) == ("0.0189", "0.0006", "0.0042")
    tiny = list(ranked_lines([ranked("nb", [0.0021] * 5)], 0.001))[1].split()
    assert tiny[3:7] == ["0.00210", "0.0021", "to", "0.0021"]


def test_method_with_a_failed_split_is_not_ranked():
    assert not FAILED.is_ranked
    assert "nb alone failed on 1 of 5 splits: ValueError: no" in ranked_lines([BEST, FAILED], 0.001)


def test_names_of_methods_are_plain_words():
    assert (name_of(NEAR), name_of(BEST)) == ("isotonic on boosting", "forest alone")


CLOSE = ranked("shares", [0.41, 0.41, 0.42, 0.42, 0.40])
PERFECT = ranked("forest", [0.001, 0.002, 0.001, 0.002, 0.001])
HIGH_AUC = ranked("forest", [0.46, 0.47, 0.45, 0.46, 0.46], means={"log-loss": 0.46, "rms": 0.1, "auc": 0.998})
TWO, TWO_CLOSE = ranked("forest", BEST.values[:2]), ranked("shares", CLOSE.values[:2])
TWO_PERFECT, TWO_SHARES = ranked("forest", [0.001, 0.002]), ranked("shares", [0.95, 0.96])
COSTS, DEAR = (ranked(one.learner, one.values, measure=cost_measure(read_costs("1:5"))) for one in (BEST, CLOSE))
FEW = VerdictContext({"no": 900, "yes": 20}, (0.5, 0.6, 0.4, 0.55, 0.5))
RANKS = VerdictContext({"no": 9000, "yes": 50}, (0.91, 0.90, 0.92, 0.9, 0.91))
LEAK = VerdictContext({"no": 900, "yes": 600}, (), ("closed_on",))
SEVEN_CLASSES = VerdictContext(dict.fromkeys("abcdefg", 200), (0.998,) * 5)


@pytest.mark.parametrize(
    ("methods", "context", "said"),
    [
        (
            [BEST, NEAR, FAR, SHARES],
            MANY,
            "The best is forest alone, log loss 0.4100 bits; not significantly different: isotonic on boosting; "
            "significantly better than 2 others at the 5 % level.",
        ),
        ([BEST, FAR], MANY, "forest alone, log loss 0.4100 bits, significantly better than 1 other at the 5 % level."),
        ([BEST, FAR, FAILED, ranked("svm", [], splits=5, n_failed=5)], MANY, "1 other at the 5 % level; 2 failed."),
        ([BEST, CLOSE], MANY, "forest alone has the best log loss 0.4100 bits; not significantly different from pred"),
        ([BEST, CLOSE], MANY, "The columns may not be related to the target."),
        ([CLOSE, FAR], MANY, "log loss 0.4120 bits; it predicts the class shares"),
        ([BEST, CLOSE], FEW, 'nothing about the columns: 20 rows of "yes" are too few to tell.'),
        ([BEST, CLOSE], RANKS, "The columns do tell something, because they rank the rows (AUC 0.908), but"),
        ([BEST, CLOSE], RANKS, 'but 50 rows of "yes" are too few to tell how good the probabilities are.'),
        ([COSTS, DEAR], RANKS, 'but 50 rows of "yes" are too few to tell how good their cost is.'),
        ([TWO, TWO_CLOSE], MANY, "2 splits are too few to tell; --splits 10 tells more."),
        ([PERFECT, SHARES], MANY, "Do not trust this ranking yet: forest alone has log loss 0.0014"),
        ([BEST, SHARES], LEAK, '"closed_on" may give the answer away'),
        ([TWO_PERFECT, TWO_SHARES], LEAK, '"closed_on" may give the answer away'),
        ([TWO_PERFECT, TWO_SHARES], MANY, "few real tables can be predicted so well"),
        ([HIGH_AUC, SHARES], MANY, "Do not trust"),
        ([HIGH_AUC, SHARES], SEVEN_CLASSES, "The best is forest alone"),
        ([FAILED], MANY, "No method has a log loss on every split, so there is no best one."),
        ([BEST], MANY, "forest alone ran alone, so there is nothing to compare: log loss 0.4100 bits."),
    ],
)
def test_verdict_names_the_best_and_what_speaks_against_it(methods, context, said):
    assert said in verdict(methods, context)
