# written by python -m probcal.config.schemas
from probcal.methods.bagging import BaggedVoteClassifier as BaggedVoteClassifier
from probcal.methods.calibrators.beta import BetaCalibrationClassifier as BetaCalibrationClassifier
from probcal.methods.calibrators.isotonic import IsotonicClassifier as IsotonicClassifier
from probcal.methods.calibrators.sigmoid import SigmoidClassifier as SigmoidClassifier
from probcal.methods.calibrators.temperature import TemperatureClassifier as TemperatureClassifier
from probcal.methods.calibrators.venn_abers import VennAbersClassifier as VennAbersClassifier
from probcal.methods.direct import DirectClassifier as DirectClassifier
from probcal.methods.direct import RescaledClassifier as RescaledClassifier
from probcal.methods.probing import ProbingClassifier as ProbingClassifier
from probcal.methods.protected import ProtectedClassifier as ProtectedClassifier
from probcal.methods.protected import RetrainedClassifier as RetrainedClassifier
from probcal.methods.relabeling import RelabelingClassifier as RelabelingClassifier
from probcal.methods.weight_sweep import WeightSweepClassifier as WeightSweepClassifier
from probcal.protection.jumpers import CompositeJumper as CompositeJumper
from probcal.protection.jumpers import SimpleJumper as SimpleJumper

__version__: str
