"""The methods that have a short name. You name any other method by its import path."""

from __future__ import annotations

from probcal.components.registry import METHOD_NAMES, Builtin

METHODS: dict[str, Builtin] = {
    "direct": Builtin(
        "probcal.methods.direct.DirectClassifier", "the learner's own probabilities", label="", family="scores"
    ),
    "protected": Builtin(
        "probcal.methods.protected.ProtectedClassifier",
        "the learner's own probabilities, protected along a stream of test rows",
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
        "the mean, or the votes, of 100 bagged classifiers",
        label="Bag",
        family="labels",
    ),
    "sigmoid": Builtin(
        "probcal.methods.calibrators.sigmoid.SigmoidClassifier",
        "Platt's sigmoid of the learner's scores",
        label="Sig",
        family="scores",
        map="SigmoidCalibrator",
    ),
    "isotonic": Builtin(
        "probcal.methods.calibrators.isotonic.IsotonicClassifier",
        "isotonic regression of the learner's scores, plain or centered",
        label="Iso",
        family="scores",
        map="IsotonicCalibrator",
    ),
    "fold_mean": Builtin(
        "probcal.methods.calibrators.fold_mean.FoldMeanClassifier",
        "the learner's own probabilities, the mean of one classifier per fold",
        label="Mean",
        family="scores",
    ),
    "mean_map": Builtin(
        "probcal.papers.kull_silva_filho_flach_2017_ejs.mean_map.MeanMapClassifier",
        "one classifier of all rows, mapped by the mean of one map per fold",
        label="MeanMap",
        family="scores",
    ),
    "map_of_mean": Builtin(
        "probcal.papers.berta_holzmueller_bach_jordan_2026.map_of_mean.MapOfMeanClassifier",
        "the mean of one classifier per fold, mapped by one map, as in CalArena",
        label="MapMean",
        family="scores",
    ),
    "logistic_calibration": Builtin(
        "probcal.methods.calibrators.logistic_calibration.LogisticCalibrationClassifier",
        "logistic regression on the learner's probabilities, without smoothed labels",
        label="LogCal",
        family="scores",
        map="LogisticCalibrator",
    ),
    "venn_abers": Builtin(
        "probcal.methods.calibrators.venn_abers.VennAbersClassifier",
        "Venn-Abers predictors, cross or inductive",
        label="VA",
        family="scores",
        map="VennAbersCalibrator",
    ),
    "beta": Builtin(
        "probcal.methods.calibrators.beta.BetaCalibrationClassifier",
        "beta calibration of the learner's probabilities",
        label="Beta",
        family="scores",
        map="BetaCalibrator",
    ),
    "quadratic": Builtin(
        "probcal.methods.calibrators.beta.QuadraticClassifier",
        "a quadratic function of the learner's log-odds",
        label="Quad",
        family="scores",
        map="QuadraticCalibrator",
    ),
    "spline": Builtin(
        "probcal.methods.calibrators.spline.SplineClassifier",
        "a natural cubic spline of the learner's log-odds",
        label="Spline",
        family="scores",
        map="SplineCalibrator",
    ),
    "histogram": Builtin(
        "probcal.methods.calibrators.histogram.HistogramBinningClassifier",
        "the observed frequency in bins of the learner's probabilities",
        label="Hist",
        family="scores",
        map="HistogramBinningCalibrator",
    ),
    "temperature": Builtin(
        "probcal.methods.calibrators.scaling.TemperatureClassifier",
        "the learner's scores divided by one temperature",
        label="Temp",
        family="scores",
        map="TemperatureCalibrator",
    ),
    "vector_scaling": Builtin(
        "probcal.methods.calibrators.scaling.VectorScalingClassifier",
        "a factor and a shift for the log-probability of each class",
        label="Vec",
        family="scores",
        map="VectorScalingCalibrator",
    ),
    "matrix_scaling": Builtin(
        "probcal.methods.calibrators.scaling.MatrixScalingClassifier",
        "a matrix and a shift for the log-probabilities of all classes",
        label="Mat",
        family="scores",
        map="MatrixScalingCalibrator",
    ),
    "dirichlet": Builtin(
        "probcal.methods.calibrators.scaling.DirichletClassifier",
        "Dirichlet calibration of the learner's probabilities",
        label="Dir",
        family="scores",
        map="DirichletCalibrator",
    ),
    "prior": Builtin(
        "probcal.methods.calibrators.prior.PriorCorrectedClassifier",
        "the learner's probabilities, corrected for another base rate",
        label="Prior",
        family="scores",
        map="PriorCalibrator",
    ),
    "probing": Builtin(
        "probcal.methods.probing.ProbingClassifier",
        "100 importance-weighted classifiers",
        label="Prob",
        family="labels",
    ),
    "relabeling": Builtin(
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

OLD_NAMES = {"relabelling": "relabeling"}
"""Earlier short name -> short name. Experiments may use both."""
METHOD_NAMES.add(METHODS, OLD_NAMES)
known_methods = METHOD_NAMES.known
"""Return all methods with a short name, those of plugins too."""

_OTHER_PUBLIC_CLASSES = {
    "probcal.methods.direct.RescaledClassifier": "scores",
    "probcal.methods.tuned_boosting.TunedBoostingClassifier": "scores",
    "probcal.methods.tuned.TunedClassifier": "scores",
    "probcal.methods.decisions.CostSensitiveClassifier": "decisions",
    "probcal.methods.decisions.GuaranteedRateClassifier": "decisions",
    "probcal.plots.reliability.ReliabilityDisplay": "displays",
    "probcal.plots.decision.DecisionCurveDisplay": "displays",
    "probcal.plots.scores.ScoreHistogramDisplay": "displays",
    "probcal.learners.prefit.PrefitClassifier": "",
    "probcal.protection.jumpers.SimpleJumper": "",
    "probcal.protection.jumpers.CompositeJumper": "",
}
FAMILIES = {
    **{one.path: one.family for one in METHODS.values()},
    **{one.map_path: "maps" for one in METHODS.values() if one.map},
    **_OTHER_PUBLIC_CLASSES,
}
"""Path of a public class -> its section of the reference. PrefitClassifier and Jumpers are on other pages."""
PUBLIC_CLASSES = {name: module for module, _, name in (path.rpartition(".") for path in FAMILIES)}
"""Class that ``probcal`` offers -> its module."""


def map_paths() -> dict[str, str]:
    """Return short name -> import path of each map. A map has the name of the method that fits it around a learner."""
    return {name: method.map_path for name, method in METHODS.items() if method.map}
