"""``probcal report``: experiments as one self-contained web page."""

from probcal.reporting.html.page import write_report

__all__ = ["write_report"]
