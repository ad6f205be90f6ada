"""A small folder of results, and what tests put into it."""

import numpy as np

from probcal.store.cell_result import CellResult

Y, P = np.array([0, 1, 1], dtype=np.int8), np.array([0.1, 0.7, 0.2])


def result(repetition=0, status="done", run="run1", **more):
    return CellResult("adult", repetition, "j48", "probing", status, run, 1.5, **more)


def write(store, *results):
    with store.writing("small"):
        for one in results:
            store.add(one)


def append(store, name, *lines):
    with (store.folder / name).open("a", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)
