"""A Weka classifier by its name, with the options that Weka's own command line takes."""

from __future__ import annotations

from typing import Any

from probcal.learners.weka.allowed import full_name
from probcal.learners.weka.java_errors import WekaError, message_of
from probcal.learners.weka.jvm import java_class


def make(name: str, options: str) -> Any:
    """The Java classifier ``name`` (``trees.J48``, or with its whole package), not yet trained.

    Raises WekaError that names the classifier, or the option, that is not known or has no sound value.
    """
    throwable = java_class("java.lang.Throwable")
    full = full_name(name)
    try:
        words = [str(word) for word in java_class("weka.core.Utils").splitOptions(options)]
    except throwable as error:
        raise WekaError(f'options "{options}": {message_of(error)}') from None
    try:
        classifier = _named(full)
    except throwable as error:
        raise WekaError(
            f'Weka has no classifier "{name}" ({message_of(error)}); its names are such as trees.J48, bayes.NaiveBayes'
        ) from None
    if fault := _fault(classifier, words):
        raise WekaError(f'{name} does not take the option "{_culprit(full, words)}": {fault}')
    return classifier


def _named(full: str) -> Any:
    return java_class("weka.core.Utils").forName(java_class("weka.classifiers.Classifier"), full, [])


def _fault(classifier: Any, words: list[str]) -> str | None:
    """What is wrong with the options, which a sound classifier has from here on."""
    try:
        classifier.setOptions(list(words))
    except java_class("java.lang.Throwable") as error:
        return message_of(error)
    return None


def _culprit(full: str, words: list[str]) -> str:
    """The option that is at fault by itself; all of them where only their company is."""
    starts = [place for place, word in enumerate(words) if word.startswith("-") and not _is_number(word)]
    starts = starts if starts and starts[0] == 0 else [0, *starts]
    parts = [words[a:b] for a, b in zip(starts, [*starts[1:], len(words)], strict=True)]
    return " ".join(next((part for part in parts if _fault(_named(full), part)), words))


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
