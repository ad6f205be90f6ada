"""How a metric is called in a table, and which end of it is the good one."""

from __future__ import annotations

from dataclasses import dataclass

from probcal.metrics.names import loss_parameter
from probcal.show.grid import DECIMALS


@dataclass(frozen=True)
class MetricName:
    short: str
    long: str
    larger_is_better: bool = False
    no_end: str = ""
    """Why neither end is the better one, where it is not; no column is then the best."""
    decimals: int = DECIMALS

    @property
    def good_end(self) -> str:
        if self.no_end:
            return self.no_end
        return "larger is better" if self.larger_is_better else "smaller is better"

    def best(self, numbers: list[float]) -> float:
        return max(numbers) if self.larger_is_better else min(numbers)


_OF_THE_DATA = "of the data, whatever the estimates"
# In the order of the tables of Langford & Zadrozny, section 5.
_KNOWN = {
    "cxe": MetricName("CXE", "Cross entropy (bits)"),
    "cxe_clipped": MetricName("CXE clipped", "Cross entropy (bits) with the estimates clipped to [.001, .999]"),
    "rms": MetricName("RMS", "Root mean squared error"),
    "auc": MetricName("AUC", "Area under the ROC curve", larger_is_better=True),
    "c_emp": MetricName("c_emp", "Empirical calibration error c_emp"),
    "ece": MetricName("ECE", "Expected calibration error (15 bins of equal width)"),
    "ks": MetricName("KS", "Kolmogorov-Smirnov calibration error"),
    "c_emp_p": MetricName("p(c_emp)", "P-value of c_emp if calibrated", larger_is_better=True),
    "l1": MetricName("l1", "Distance from the true probability (l1 error)"),
    "l1_trivial": MetricName("l1 trivial", "l1 error of the frequency of labels as estimate", no_end=_OF_THE_DATA),
    "frequency": MetricName("freq", "Frequency of labels", no_end=_OF_THE_DATA),
    "errors": MetricName("Errors", "Errors: rows whose likeliest class is not theirs", decimals=1),
    "log10_loss": MetricName("Loss", "Cumulative log loss (decimal logarithm)", decimals=1),
    "l2": MetricName("l2", "Distance from the true probability (root mean square)"),
    "l_max": MetricName("l max", "Distance from the true probability (largest)"),
    "log10_martingale": MetricName(
        "log10 S", "Martingale at the end (log10)", no_end="what each method gains over a base of its own", decimals=1
    ),
    "crossings": MetricName(
        "Crossings", "Pairs of thresholds whose boundaries cross", no_end="of the classifiers behind it", decimals=1
    ),
}
TABLES_1_TO_3 = ("cxe", "rms", "auc")


def metric_name(metric: str) -> MetricName:
    """An unknown metric goes by its own name and is a loss."""
    parameter = loss_parameter(metric)
    if parameter is not None:
        return MetricName(metric, f"Expected cost at loss parameter {parameter:g}")
    return _KNOWN.get(metric, MetricName(metric, metric))
