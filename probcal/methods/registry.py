"""The methods that have a short name. You name any other method by its import path."""

from __future__ import annotations

from probcal.config.components import Builtin

_EXTRA = "probcal[calibrators]"

METHODS: dict[str, Builtin] = {
    "direct": Builtin(
        "probcal.methods.direct.DirectClassifier", "the learner's own probabilities", label="", family="scores"
    ),
    "protected": Builtin(
        "probcal.methods.protected.ProtectedClassifier",
        "the learner's own probabilities, protected along a stream of test rows (Simple or Composite Jumper)",
        label="Prot",
        family="stream",
    ),
    "retrained": Builtin(
        "probcal.methods.protected.RetrainedClassifier",
        "the learner's own probabilities, fitted anew along a stream of test rows",
        label="Retrained",
        family="stream",
    ),
    "bagging": Builtin(
        "probcal.methods.bagging.BaggedVoteClassifier",
        "the share of 100 bagged classifiers",
        label="Bag",
        family="labels",
    ),
    "sigmoid": Builtin(
        "probcal.methods.calibrators.sigmoid.SigmoidClassifier",
        "Platt's sigmoid of the learner's scores",
        label="Sig",
        family="scores",
    ),
    "isotonic": Builtin(
        "probcal.methods.calibrators.isotonic.IsotonicClassifier",
        "isotonic regression on a held-out part",
        label="Iso",
        family="scores",
    ),
    "venn_abers": Builtin(
        "probcal.methods.calibrators.venn_abers.VennAbersClassifier",
        f"Venn-Abers predictors, inductive or cross (needs {_EXTRA})",
        label="VA",
        family="scores",
    ),
    "beta": Builtin(
        "probcal.methods.calibrators.beta.BetaCalibrationClassifier",
        f"beta calibration (needs {_EXTRA})",
        label="Beta",
        family="scores",
    ),
    "temperature": Builtin(
        "probcal.methods.calibrators.temperature.TemperatureClassifier",
        "the learner's scores divided by one temperature (needs scikit-learn 1.8)",
        label="Temp",
        family="scores",
    ),
    "probing": Builtin(
        "probcal.methods.probing.ProbingClassifier",
        "100 importance-weighted classifiers",
        label="Prob",
        family="labels",
    ),
    "relabelling": Builtin(
        "probcal.methods.relabeling.RelabelingClassifier",
        "100 classifiers of randomly changed labels (Halck)",
        label="Relab",
        family="labels",
    ),
    "weight_sweep": Builtin(
        "probcal.methods.weight_sweep.WeightSweepClassifier",
        "a classifier at each of 19 class weights (Nalbantov & Ivanov)",
        label="Sweep",
        family="labels",
    ),
}

_WITHOUT_SHORT_NAME = {
    "probcal.methods.direct.RescaledClassifier": "scores",
    "probcal.protection.jumpers.SimpleJumper": "",
    "probcal.protection.jumpers.CompositeJumper": "",
}
FAMILIES = {**{one.path: one.family for one in METHODS.values()}, **_WITHOUT_SHORT_NAME}
"""Path of a public class -> its section of the reference. Jumpers have a page of their own."""
PUBLIC_CLASSES = {name: module for module, _, name in (path.rpartition(".") for path in FAMILIES)}
"""Class that ``probcal`` offers -> its module."""
