"""Close the figures of each test."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

mpl.use("Agg")


@pytest.fixture(autouse=True)
def no_figure_stays_open():
    yield
    plt.close("all")
