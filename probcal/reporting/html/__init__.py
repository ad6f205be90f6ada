"""``probcal report``: experiments as one self-contained web page."""

__all__ = ["write_report"]


def __getattr__(name: str) -> object:
    # imported on first use: the pages of measure and watch need no part of an experiment
    if name == "write_report":
        from probcal.reporting.html.report import write_report

        return write_report
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
