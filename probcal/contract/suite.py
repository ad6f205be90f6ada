"""All checks, and one of them tied to a component."""

from __future__ import annotations

import inspect
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from threadpoolctl import threadpool_limits

from probcal.contract import input_checks as faults
from probcal.contract import input_checks as inputs
from probcal.contract import prediction_checks as answers
from probcal.contract import repeat_checks as invariance
from probcal.contract import repeat_checks as repeats
from probcal.contract import weight_checks as streams
from probcal.contract import weight_checks as weights
from probcal.contract.subject import DoesNotApply, Failed, Subject
from probcal.errors import ProbcalError

Promise = Callable[[Subject], None]

PROMISES: tuple[Promise, ...] = (
    answers.fit_returns_the_estimator_itself,
    answers.the_classes_are_kept_in_rising_order,
    answers.every_row_is_given_a_label,
    answers.every_class_has_a_column_of_probabilities,
    answers.probabilities_lie_within_0_and_1_and_sum_to_1,
    answers.the_predicted_label_is_the_likeliest,
    answers.three_classes_are_learned_or_refused_by_name,
    repeats.the_same_seed_gives_the_same_estimates,
    repeats.a_clone_of_the_fitted_learns_the_same,
    repeats.a_pickled_copy_gives_the_same_estimates,
    repeats.parameters_are_kept_as_given,
    invariance.a_row_is_estimated_by_itself,
    invariance.the_order_of_training_rows_moves_no_more_than_a_seed,
    invariance.the_names_of_the_labels_do_not_matter,
    weights.weights_of_one_change_nothing,
    weights.whole_weights_are_repeated_rows,
    weights.weights_that_favour_a_class_raise_its_estimates,
    weights.weights_that_make_no_sense_are_refused,
    inputs.rows_labels_and_weights_are_left_as_they_were,
    inputs.the_given_learner_is_left_as_it_was,
    inputs.frames_reach_the_learner_untouched,
    streams.no_estimate_of_a_stream_knows_its_own_label_or_a_later_one,
    faults.missing_labels_are_refused,
    faults.rows_and_labels_of_other_lengths_are_refused,
    faults.one_class_is_learned_or_refused_by_name,
    faults.another_number_of_columns_is_refused,
    faults.an_unfitted_component_says_so,
)


@dataclass(frozen=True)
class Outcome:
    """What came of a check; ``reason`` and ``traceback`` are empty where it passed."""

    status: Literal["passed", "failed", "does not apply"]
    reason: str = ""
    traceback: str = ""


@dataclass(frozen=True)
class Check:
    """One promise and the component that is to keep it. Call it: it raises what is wrong."""

    promise: Promise
    subject: Subject

    @property
    def __name__(self) -> str:  # by which pytest names a parameter
        return self.promise.__name__

    def __str__(self) -> str:
        return self.promise.__name__.replace("_", " ")

    def __call__(self) -> None:
        """Raises Failed for a broken promise, DoesNotApply, or whatever the component raises. Warnings are dropped."""
        # on so few rows the threads of BLAS only wait for each other
        with warnings.catch_warnings(), threadpool_limits(limits=1):
            warnings.simplefilter("ignore")
            self.promise(self.subject)

    def outcome(self) -> Outcome:
        """The same as a value; an exception that was not foreseen is a failure with its type and message.

        Raises ProbcalError where the component cannot be tried here at all, as Weka's without the extra.
        """
        try:
            self()
        except DoesNotApply as reason:
            return Outcome("does not apply", str(reason))
        except Failed as failure:
            return Outcome("failed", str(failure), traceback.format_exc())
        except (Exception, SystemExit) as error:  # a class of the user's may raise anything
            if isinstance(error, ProbcalError) and not isinstance(error, ValueError):
                raise
            return Outcome("failed", f"{type(error).__name__} came: {error}", traceback.format_exc())
        return Outcome("passed")


def contract_checks(estimator: Any) -> list[Check]:
    """All checks of an unfitted learner or method, each to be called; it raises what is wrong.

    A method is given around a learner: ``contract_checks(MyMethod(LogisticRegression()))``. The checks fit
    copies some sixty times, so give it few probes or bags. Raises ValueError for a class.
    """
    if inspect.isclass(estimator) or not hasattr(estimator, "fit") or not hasattr(estimator, "get_params"):
        raise ValueError(
            f"contract_checks takes an unfitted scikit-learn estimator, such as MyMethod(LogisticRegression()), "
            f"not {estimator!r}; let a class of your own inherit from sklearn.base.BaseEstimator"
        )
    subject = Subject(estimator)
    return [Check(promise, subject) for promise in PROMISES]
