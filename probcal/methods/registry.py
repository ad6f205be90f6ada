"""The methods that have a short name. Any other is named by its import path."""

from __future__ import annotations

from probcal.components import Builtin

METHODS: dict[str, Builtin] = {
    "direct": Builtin("probcal.methods.direct.DirectClassifier", "the learner's own probabilities", label=""),
    "bagging": Builtin(
        "probcal.methods.bagging.BaggedVoteClassifier", "the share of 100 bagged classifiers", label="Bag"
    ),
    "sigmoid": Builtin(
        "probcal.methods.sigmoid.SigmoidClassifier", "Platt's sigmoid of the learner's scores", label="Sig"
    ),
    "probing": Builtin(
        "probcal.methods.probing.ProbingClassifier", "100 importance-weighted classifiers", label="Prob"
    ),
}
