"""Provide components that each break one promise. ``BROKEN`` names the checks that must catch each component."""

from __future__ import annotations

from itertools import count

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted, validate_data

from probcal.contract import input_checks as inputs
from probcal.contract import prediction_checks as answers
from tests.contract.sound import Around, Centres, Counting

BROKEN = {}


def caught_by(*promises):
    def note(broken):
        BROKEN[broken] = {promise.__name__ for promise in promises}
        return broken

    return note


@caught_by(answers.fit_returns_the_estimator_itself)
class ReturnsNothing(Centres):
    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)


@caught_by(answers.fit_returns_the_estimator_itself)
class ReturnsACopy(Around):
    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)
        return clone(self)


@caught_by(answers.classes_are_sorted)
class ClassesAsTheyCome(Centres):
    def classes_of(self, y):
        _, first, codes = np.unique(y, return_index=True, return_inverse=True)
        order = np.argsort(first)
        return y[first[order]], np.argsort(order)[codes]


@caught_by(answers.predict_returns_one_label_per_row)
class LabelsInAColumn(Centres):
    def predict(self, X):
        return super().predict(X)[:, None]


@caught_by(
    answers.predict_returns_one_label_per_row,
    answers.the_predicted_label_is_the_most_probable,
    answers.the_names_of_the_labels_do_not_matter,
)
class LabelsOfItsOwn(Centres):
    def predict(self, X):
        labels = super().predict(X)
        labels[0] = 77
        return labels


@caught_by(answers.predict_proba_has_one_column_per_class)
class AColumnTooMany(Centres):
    def predict_proba(self, X):
        p = super().predict_proba(X)
        return np.column_stack([p, np.zeros(len(p))])


@caught_by(answers.probabilities_are_in_0_1_and_sum_to_1)
class TooSure(Centres):
    def predict_proba(self, X):
        p = super().predict_proba(X)
        return p + 0.3 * (p - p.mean(axis=1, keepdims=True))


@caught_by(answers.probabilities_are_in_0_1_and_sum_to_1)
class SumsToMore(Centres):
    def predict_proba(self, X):
        return super().predict_proba(X) ** 0.9


@caught_by(answers.the_predicted_label_is_the_most_probable)
class PrefersTheFirst(Centres):
    def predict(self, X):
        p = self.predict_proba(X).copy()
        p[:, 0] += 0.2
        return self.classes_[p.argmax(axis=1)]


@caught_by(answers.three_classes_are_learned_or_rejected_clearly)
class CrashesOnThree(Centres):
    def classes_of(self, y):
        classes, codes = super().classes_of(y)
        if len(classes) > 2:
            raise ValueError("not enough values to unpack")
        return classes, codes


@caught_by(answers.three_classes_are_learned_or_rejected_clearly)
class LearnsTwoOfThree(Centres):
    def near(self, X):
        p = super().near(X)
        if p.shape[1] > 2:
            p[:, 1] += p[:, 2]
            p[:, 2] = 0
        return p


@caught_by(answers.the_same_seed_gives_the_same_predictions)
class CountsItsFits(Centres):
    """Change every second fit, like random numbers without a seed, but in the same way in every run."""

    fits = count()

    def learn(self, X, codes, weights):
        super().learn(X, codes, weights)
        self.centres_ += 0.05 * (next(self.fits) % 2)


@caught_by(answers.a_clone_of_a_fitted_component_learns_the_same)
class CloneRemembers(Centres):
    def __sklearn_clone__(self):
        copy = type(self)(self.width)
        copy.before = getattr(self, "centres_", None)
        return copy

    def learn(self, X, codes, weights):
        super().learn(X, codes, weights)
        if self.before is not None:
            self.centres_ = (self.centres_ + self.before + 0.1) / 2


@caught_by(answers.a_pickled_copy_predicts_the_same)
class PicklesFewDigits(Centres):
    def __getstate__(self):
        state = dict(super().__getstate__())
        return {**state, "centres_": state["centres_"].round(3)} if "centres_" in state else state


@caught_by(answers.parameters_stay_as_given)
class FillsInItsParameter(Centres):
    def __init__(self, width=None):
        self.width = width

    def learn(self, X, codes, weights):
        super().learn(X, codes, weights)
        self.width = self.width or 1.0


@caught_by(answers.each_row_is_predicted_independently)
class CentresWhatItIsAsked(Centres):
    def near(self, X):
        return super().near(X - X.mean(axis=0))


@caught_by(answers.the_order_of_training_rows_matters_no_more_than_a_seed)
class LooksAtTheFirstRow(Centres):
    def learn(self, X, codes, weights):
        super().learn(X, codes, weights)
        self.centres_ += 0.01 * X[0]


@caught_by(answers.the_order_of_training_rows_matters_no_more_than_a_seed)
class FavoursTheFirstLabel(Centres):
    place = 0

    def learn(self, X, codes, weights):
        super().learn(X, codes, weights)
        self.favoured_ = codes[self.place]

    def near(self, X):
        p = super().near(X)
        p[:, self.favoured_] += 0.05
        return p / 1.05


@caught_by(answers.the_order_of_training_rows_matters_no_more_than_a_seed)
class FavoursTheLastLabel(FavoursTheFirstLabel):
    place = -1


@caught_by(answers.the_names_of_the_labels_do_not_matter)
class TakesLabelsForNumbers(Centres):
    def classes_of(self, y):
        classes, codes = super().classes_of(y)
        self.width_ = 1.0 + abs(float(classes[0])) if classes.dtype.kind == "i" else 1.0
        return classes, codes

    def near(self, X):
        return super().near(X / self.width_)


@caught_by(answers.the_names_of_the_labels_do_not_matter)
class NeedsNumbers(Centres):
    def classes_of(self, y):
        return super().classes_of(y.astype(float))


@caught_by(answers.the_names_of_the_labels_do_not_matter)
class PredictsPlaces(Centres):
    def predict(self, X):
        return self.predict_proba(X).argmax(axis=1)


@caught_by(inputs.weights_of_one_change_nothing)
class EqualWeightsAreSpecial(Centres):
    def weights_of(self, X, sample_weight):
        self.wider_ = sample_weight is not None and np.ptp(sample_weight) == 0
        return super().weights_of(X, sample_weight)

    def near(self, X):
        return super().near(X / 1.2 if self.wider_ else X)


@caught_by(inputs.whole_weights_are_repeated_rows)
class WeightsAreScaled(Centres):
    def weights_of(self, X, sample_weight):
        weights = super().weights_of(X, sample_weight)
        return weights / weights.mean()

    def learn(self, X, codes, weights):
        super().learn(X, codes, weights)
        self.centres_ *= weights.sum() / (weights.sum() + 10)


@caught_by(inputs.the_scale_of_weights_changes_nothing)
class SharesAreFewRows(Centres):
    def fit(self, X, y, sample_weight=None, *, frequency_weights=False):
        return super().fit(X, y, sample_weight)

    def learn(self, X, codes, weights):
        super().learn(X, codes, weights)
        self.centres_ *= weights.sum() / (weights.sum() + 10)


@caught_by(inputs.a_heavier_class_gets_higher_probabilities)
class LargeWeightsAreDropped(Centres):
    def weights_of(self, X, sample_weight):
        weights = super().weights_of(X, sample_weight)
        return np.where(weights > 10, 1, weights)


@caught_by(inputs.whole_weights_are_repeated_rows, inputs.a_heavier_class_gets_higher_probabilities)
class WeightsAreIgnored(Centres):
    def weights_of(self, X, sample_weight):
        return super().weights_of(X, sample_weight) ** 0


@caught_by(inputs.invalid_weights_are_rejected)
class TakesAnyWeights(Centres):
    def weights_of(self, X, sample_weight):
        return np.ones(len(X)) if sample_weight is None else sample_weight


@caught_by(inputs.inputs_are_not_changed)
class RoundsWhatItIsGiven(Centres):
    def fit(self, X, y, sample_weight=None):
        np.round(X, 6, out=X)
        return super().fit(X, y, sample_weight)


@caught_by(inputs.the_given_learner_is_not_changed)
class FitsTheGivenLearner(Around):
    def fit(self, X, y, sample_weight=None):
        self.estimator.fit(X, y, sample_weight=sample_weight)
        return super().fit(X, y, sample_weight)


@caught_by(inputs.frames_reach_the_learner_unchanged)
class MakesArrays(Around):
    def fit(self, X, y, sample_weight=None):
        return super().fit(np.asarray(X), y, sample_weight)


@caught_by(inputs.frames_reach_the_learner_unchanged)
class CountsRowsAnew(Around):
    def fit(self, X, y, sample_weight=None):
        return super().fit(X.reset_index(drop=True) if hasattr(X, "columns") else X, y, sample_weight)


@caught_by(inputs.frames_reach_the_learner_unchanged)
class DropsUnseenCategories(Around):
    def fit(self, X, y, sample_weight=None):
        if hasattr(X, "columns"):
            X = X.assign(colour=X["colour"].cat.remove_unused_categories())
        return super().fit(X, y, sample_weight)


@caught_by(inputs.stream_predictions_ignore_their_own_and_later_labels)
class CountsItsOwnLabel(Counting):
    def shares(self, mine):
        return super().shares(mine) + 0.01 * mine


@caught_by(inputs.stream_predictions_ignore_their_own_and_later_labels)
class CountsTheWholeStream(Counting):
    def shares(self, mine):
        return np.tile(mine.mean(axis=0), (len(mine), 1))


@caught_by(inputs.missing_labels_are_rejected)
class TakesMissingLabels(Centres):
    def checked(self, X, y):
        return super().checked(X, np.nan_to_num(y) if np.asarray(y).dtype.kind == "f" else y)


@caught_by(inputs.rows_and_labels_of_different_lengths_are_rejected)
class TakesTheShorter(Centres):
    def checked(self, X, y):
        rows = min(len(X), len(y))
        return super().checked(X[:rows], y[:rows])


@caught_by(inputs.one_class_is_learned_or_rejected_clearly)
class CrashesOnOneClass(Centres):
    def learn(self, X, codes, weights):
        super().learn(X, codes, weights)
        self.centres_[1]


@caught_by(inputs.one_class_is_learned_or_rejected_clearly)
class RefusesOneClassWithoutSayingSo(Centres):
    def learn(self, X, codes, weights):
        super().learn(X, codes, weights)
        if not codes.any():
            raise ValueError("bad input")


@caught_by(inputs.a_different_number_of_columns_is_rejected)
class TakesAnyColumns(Centres):
    def predict_proba(self, X):
        check_is_fitted(self)
        return self.near(np.column_stack([X, np.zeros((len(X), 9))])[:, : self.centres_.shape[1]])


@caught_by(inputs.an_unfitted_component_raises_not_fitted)
class AttributesAreMissing(Centres):
    def predict_proba(self, X):
        return self.near(validate_data(self, X, reset=False) if hasattr(self, "centres_") else X)
