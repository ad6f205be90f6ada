"""The methods that have a short name. You name any other method by its import path."""

from __future__ import annotations

from probcal.config.components import Builtin

_EXTRA = "probcal[calibrators]"

METHODS: dict[str, Builtin] = {
    "direct": Builtin("probcal.methods.direct.DirectClassifier", "the learner's own probabilities", label=""),
    "protected": Builtin(
        "probcal.methods.protected.ProtectedClassifier",
        "the learner's own probabilities, protected along a stream of test rows (Simple or Composite Jumper)",
        label="Prot",
    ),
    "retrained": Builtin(
        "probcal.methods.protected.RetrainedClassifier",
        "the learner's own probabilities, fitted anew along a stream of test rows",
        label="Retrained",
    ),
    "bagging": Builtin(
        "probcal.methods.bagging.BaggedVoteClassifier", "the share of 100 bagged classifiers", label="Bag"
    ),
    "sigmoid": Builtin(
        "probcal.methods.calibrators.sigmoid.SigmoidClassifier", "Platt's sigmoid of the learner's scores", label="Sig"
    ),
    "isotonic": Builtin(
        "probcal.methods.calibrators.isotonic.IsotonicClassifier", "isotonic regression on a held-out part", label="Iso"
    ),
    "venn_abers": Builtin(
        "probcal.methods.calibrators.venn_abers.VennAbersClassifier",
        f"Venn-Abers predictors, inductive or cross (needs {_EXTRA})",
        label="VA",
    ),
    "beta": Builtin(
        "probcal.methods.calibrators.beta.BetaCalibrationClassifier", f"beta calibration (needs {_EXTRA})", label="Beta"
    ),
    "temperature": Builtin(
        "probcal.methods.calibrators.temperature.TemperatureClassifier",
        "the learner's scores divided by one temperature (needs scikit-learn 1.8)",
        label="Temp",
    ),
    "probing": Builtin(
        "probcal.methods.probing.ProbingClassifier", "100 importance-weighted classifiers", label="Prob"
    ),
    "relabelling": Builtin(
        "probcal.methods.relabeling.RelabelingClassifier",
        "100 classifiers of randomly changed labels (Halck)",
        label="Relab",
    ),
    "weight_sweep": Builtin(
        "probcal.methods.weight_sweep.WeightSweepClassifier",
        "a classifier at each of 19 class weights (Nalbantov & Ivanov)",
        label="Sweep",
    ),
}
