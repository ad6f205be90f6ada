# written by python -m probcal.config.schemas
from probcal.deploy.model_folder import load as load
from probcal.learners.prefit import PrefitClassifier as PrefitClassifier
from probcal.methods.bagging import BaggedVoteClassifier as BaggedVoteClassifier
from probcal.methods.calibrators.beta import BetaCalibrationClassifier as BetaCalibrationClassifier
from probcal.methods.calibrators.beta import BetaCalibrator as BetaCalibrator
from probcal.methods.calibrators.beta import QuadraticCalibrator as QuadraticCalibrator
from probcal.methods.calibrators.beta import QuadraticClassifier as QuadraticClassifier
from probcal.methods.calibrators.fold_mean import FoldMeanClassifier as FoldMeanClassifier
from probcal.methods.calibrators.histogram import HistogramBinningCalibrator as HistogramBinningCalibrator
from probcal.methods.calibrators.histogram import HistogramBinningClassifier as HistogramBinningClassifier
from probcal.methods.calibrators.isotonic import IsotonicCalibrator as IsotonicCalibrator
from probcal.methods.calibrators.isotonic import IsotonicClassifier as IsotonicClassifier
from probcal.methods.calibrators.logistic_calibration import (
    LogisticCalibrationClassifier as LogisticCalibrationClassifier,
)
from probcal.methods.calibrators.logistic_calibration import LogisticCalibrator as LogisticCalibrator
from probcal.methods.calibrators.prior import PriorCalibrator as PriorCalibrator
from probcal.methods.calibrators.prior import PriorCorrectedClassifier as PriorCorrectedClassifier
from probcal.methods.calibrators.scaling import DirichletCalibrator as DirichletCalibrator
from probcal.methods.calibrators.scaling import DirichletClassifier as DirichletClassifier
from probcal.methods.calibrators.scaling import MatrixScalingCalibrator as MatrixScalingCalibrator
from probcal.methods.calibrators.scaling import MatrixScalingClassifier as MatrixScalingClassifier
from probcal.methods.calibrators.scaling import TemperatureCalibrator as TemperatureCalibrator
from probcal.methods.calibrators.scaling import TemperatureClassifier as TemperatureClassifier
from probcal.methods.calibrators.scaling import VectorScalingCalibrator as VectorScalingCalibrator
from probcal.methods.calibrators.scaling import VectorScalingClassifier as VectorScalingClassifier
from probcal.methods.calibrators.sigmoid import SigmoidCalibrator as SigmoidCalibrator
from probcal.methods.calibrators.sigmoid import SigmoidClassifier as SigmoidClassifier
from probcal.methods.calibrators.spline import SplineCalibrator as SplineCalibrator
from probcal.methods.calibrators.spline import SplineClassifier as SplineClassifier
from probcal.methods.calibrators.venn_abers import VennAbersCalibrator as VennAbersCalibrator
from probcal.methods.calibrators.venn_abers import VennAbersClassifier as VennAbersClassifier
from probcal.methods.decisions import CostSensitiveClassifier as CostSensitiveClassifier
from probcal.methods.decisions import GuaranteedRateClassifier as GuaranteedRateClassifier
from probcal.methods.direct import DirectClassifier as DirectClassifier
from probcal.methods.direct import RescaledClassifier as RescaledClassifier
from probcal.methods.probing import ProbingClassifier as ProbingClassifier
from probcal.methods.protected import ProtectedClassifier as ProtectedClassifier
from probcal.methods.protected import RetrainedClassifier as RetrainedClassifier
from probcal.methods.relabeling import RelabelingClassifier as RelabelingClassifier
from probcal.methods.tuned import TunedClassifier as TunedClassifier
from probcal.methods.tuned_boosting import TunedBoostingClassifier as TunedBoostingClassifier
from probcal.methods.weight_sweep import WeightSweepClassifier as WeightSweepClassifier
from probcal.notebook.results import load_results as load_results
from probcal.notebook.running import run as run
from probcal.papers.berta_holzmueller_bach_jordan_2026.map_of_mean import MapOfMeanClassifier as MapOfMeanClassifier
from probcal.papers.kull_silva_filho_flach_2017_ejs.mean_map import MeanMapClassifier as MeanMapClassifier
from probcal.plots.decision import DecisionCurveDisplay as DecisionCurveDisplay
from probcal.plots.reliability import ReliabilityDisplay as ReliabilityDisplay
from probcal.plots.scores import ScoreHistogramDisplay as ScoreHistogramDisplay
from probcal.protection.jumpers import CompositeJumper as CompositeJumper
from probcal.protection.jumpers import SimpleJumper as SimpleJumper

__version__: str
