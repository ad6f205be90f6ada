"""The list of all checks, and one check tied to a component."""

from __future__ import annotations

import inspect
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from threadpoolctl import ThreadpoolController

from probcal.contract import input_checks, prediction_checks
from probcal.contract.subject import DoesNotApply, Failed, Subject
from probcal.errors import ProbcalError

Promise = Callable[[Subject], None]

PROMISES: tuple[Promise, ...] = (
    prediction_checks.fit_returns_the_estimator_itself,
    prediction_checks.classes_are_sorted,
    prediction_checks.predict_returns_one_label_per_row,
    prediction_checks.predict_proba_has_one_column_per_class,
    prediction_checks.probabilities_are_in_0_1_and_sum_to_1,
    prediction_checks.the_predicted_label_is_the_most_probable,
    prediction_checks.three_classes_are_learned_or_rejected_clearly,
    prediction_checks.the_same_seed_gives_the_same_predictions,
    prediction_checks.a_clone_of_a_fitted_component_learns_the_same,
    prediction_checks.a_pickled_copy_predicts_the_same,
    prediction_checks.parameters_stay_as_given,
    prediction_checks.each_row_is_predicted_independently,
    prediction_checks.the_order_of_training_rows_matters_no_more_than_a_seed,
    prediction_checks.the_names_of_the_labels_do_not_matter,
    input_checks.weights_of_one_change_nothing,
    input_checks.whole_weights_are_repeated_rows,
    input_checks.the_scale_of_weights_changes_nothing,
    input_checks.a_heavier_class_gets_higher_probabilities,
    input_checks.invalid_weights_are_rejected,
    input_checks.inputs_are_not_changed,
    input_checks.the_given_learner_is_not_changed,
    input_checks.frames_reach_the_learner_unchanged,
    input_checks.stream_predictions_ignore_their_own_and_later_labels,
    input_checks.missing_labels_are_rejected,
    input_checks.rows_and_labels_of_different_lengths_are_rejected,
    input_checks.one_class_is_learned_or_rejected_clearly,
    input_checks.a_different_number_of_columns_is_rejected,
    input_checks.an_unfitted_component_raises_not_fitted,
)


@dataclass(frozen=True)
class CheckOutcome:
    """Hold the result of a check."""

    status: Literal["passed", "failed", "does not apply"]
    reason: str = ""
    """Why the check failed or does not apply."""
    traceback: str = ""
    """Where the check failed."""


@dataclass(frozen=True)
class Check:
    """Hold one check and its component. Call it: it raises what is wrong.

    Parameters
    ----------
    promise : callable
        Function of the check. It takes the subject and raises what is wrong.
    subject : Subject
        The component.
    """

    promise: Promise
    subject: Subject

    @property
    def __name__(self) -> str:  # pytest uses it to name a parameter
        return self.promise.__name__

    def __str__(self) -> str:
        return self.promise.__name__.replace("_", " ")

    def __call__(self) -> None:
        """Run the check. Warnings are ignored.

        Raises
        ------
        Failed
            If the component does not keep the promise.
        DoesNotApply
            If the check does not apply to the component.
        Exception
            Whatever the component raises.
        """
        # on so few rows the threads of BLAS would only wait for each other
        with warnings.catch_warnings(), _libraries().limit(limits=1):
            warnings.simplefilter("ignore")
            self.promise(self.subject)

    def outcome(self) -> CheckOutcome:
        """Run the check and return its result. An unexpected exception is a failure with its type and message.

        Returns
        -------
        CheckOutcome
            Status, reason and traceback.

        Raises
        ------
        ProbcalError
            If the component cannot be tried at all, such as Weka's without the extra.
        """
        try:
            self()
        except DoesNotApply as reason:
            return CheckOutcome("does not apply", str(reason))
        except Failed as failure:
            return CheckOutcome("failed", str(failure), traceback.format_exc())
        except (Exception, SystemExit) as error:  # a user's class may raise anything
            # A missing package or Java keeps the component from being tried. A refused value is a result of the check.
            if isinstance(error, ProbcalError) and not isinstance(error, ValueError):
                raise
            return CheckOutcome("failed", f"{type(error).__name__}: {error}", traceback.format_exc())
        return CheckOutcome("passed")


@cache
def _libraries() -> ThreadpoolController:
    # Cached, because finding them takes longer than many a check.
    return ThreadpoolController()


def contract_checks(estimator: Any) -> list[Check]:
    """Return all checks of an unfitted learner or method. Call each: it raises what is wrong.

    The checks fit copies some sixty times, so use few probes or bags.

    Parameters
    ----------
    estimator : estimator
        Unfitted learner, or a method around a learner such as ``MyMethod(LogisticRegression())``.

    Returns
    -------
    list of Check
        A check for each promise.

    Raises
    ------
    ValueError
        If ``estimator`` is a class, or has no ``fit`` or no ``get_params``.
    """
    if inspect.isclass(estimator) or not hasattr(estimator, "fit") or not hasattr(estimator, "get_params"):
        raise ValueError(
            f"contract_checks takes an unfitted scikit-learn estimator, such as MyMethod(LogisticRegression()), "
            f"not {estimator!r}; let your own class inherit from sklearn.base.BaseEstimator"
        )
    subject = Subject(estimator)
    return [Check(promise, subject) for promise in PROMISES]
