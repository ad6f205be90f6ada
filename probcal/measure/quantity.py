"""Lines of the table of a measurement."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from probcal.metrics.drawn_rows import DrawnRows
from probcal.metrics.metric import Metric, Prediction

Floats = npt.NDArray[np.float64]

# Losses, which cross-fitting measures without bias, since they are means over rows. Together the maps of all folds saw
# every label, which makes the sum of y - p over all folds nearly 0, and every calibration error smaller than on new
# rows. The AUC compares rows of different maps, which makes it a little too small.
_LOSSES = ("cxe", "rms", "cost")


@dataclass(frozen=True)
class Quantity:
    """Describe a line of the table: a metric of the registry in the form that it is shown in."""

    name: str
    """Its name in CSV files, such as ``log_loss_bits``."""
    label: str
    value: Callable[[Prediction], float]
    metric: Metric
    drawn: Callable[[DrawnRows], Floats] | None = None
    """Function of many draws of two classes, as ``Metric.drawn``."""
    has_calibration: bool = True
    """Whether it is shown for the calibrated probabilities, too."""
    has_interval: bool = True
    """Whether it has an interval."""
    closed_form: Callable[[Prediction], tuple[float, float]] | None = None
    """Function of the rows that returns the interval without any draw."""
    is_small: bool = False
    """Whether values below .001 are shown with two significant digits, and not as 0."""
    cut: float | None = None
    """A probability at which the value jumps. Blocks of pooled predictions end there."""

    @property
    def decimals(self) -> int:
        """Return how many digits the tables show after the point: three for slopes, which may have a sign."""
        return 3 if self.metric.least < 0 and not self.is_small else 4

    @property
    def is_fast(self) -> bool:
        """Return whether all draws are measured, and not only ``FEW_DRAWS``."""
        return self.metric.measured == "always"

    @property
    def is_tested(self) -> bool:
        """Return whether the interval of a change says that calibration helps."""
        return self.metric.name in _LOSSES
