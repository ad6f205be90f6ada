"""Where the second core's time goes in Probing of trees: python benchmarks/two_cores.py [-o FILE]

ProbingClassifier over scikit-learn's trees and over Weka's J48 (where Java is at hand) on the first rows of Adult, with
n_jobs=1 and with n_jobs=2, each in a fresh process. Every fit is timed. The wall time of two threads is half of that of
one thread plus the lines between them in the table. The bound is what two independent processes with n_jobs=1 reach
when they run at the same time, each the whole work: they share the memory and perhaps a core, and nothing else. No
program can do better on this machine. Only on an idle machine do these times say something. Exit code 1 where the
votes differ.

    python benchmarks/two_cores.py --rows 1000 --probes 12 --runs 1 -o -
"""

from __future__ import annotations

import hashlib
import json
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import speed
from probing_learners import LEARNERS
from runs import tables

from probcal import ProbingClassifier
from probcal.methods import _probes

_ONCE_FLAG = "--once"


@dataclass(frozen=True)
class Trace:
    """Hold the seconds of one process: of the whole, of its phases and of its fits."""

    wall: float
    cpu: float
    fitting: float
    voting: float
    taken: float
    """The fits that Algorithm 1 used, added up."""
    dropped: float
    """The fits that were started early and not used, added up."""
    fits: int
    n_dropped: int
    both: float
    """While both cores computed: two fits at once, and CPU beyond wall seconds of the votes."""
    votes: str
    """Digest of the votes."""

    @property
    def outside_seconds(self) -> float:
        """Return the seconds of start-up, imports, reading the rows, and the end of the process."""
        return self.wall - self.fitting - self.voting

    @property
    def fit_seconds(self) -> float:
        """Return the mean seconds of a fit that was used, with its prediction of the training rows."""
        return self.taken / self.fits


def main() -> None:
    if _ONCE_FLAG in sys.argv:
        run_once(*sys.argv[sys.argv.index(_ONCE_FLAG) + 1 :])
        return
    parser = speed.parser(__doc__, "two-cores")
    parser.add_argument("--rows", type=int, default=32_561, help="of Adult (%(default)s)")
    parser.add_argument("--runs", type=int, default=3, help="the one of median wall time counts (%(default)s)")
    parser.add_argument("--probes", type=int, default=100, help="(%(default)s)")
    parser.add_argument("--learner", action="append", choices=("sklearn_tree", "j48"), help="both unless given")
    args = parser.parse_args()
    columns, is_same = {}, True
    with tempfile.TemporaryDirectory() as folder:
        for learner, X, y in tables(args.rows, args.learner or ("sklearn_tree", "j48")):
            data = Path(folder) / f"{learner}.joblib"
            joblib.dump((X, y), data)
            first, second = (
                median([traces(data, learner, args.probes, jobs)[0] for _ in range(args.runs)]) for jobs in (1, 2)
            )
            pair = median([slower_run(traces(data, learner, args.probes, 1, n_processes=2)) for _ in range(args.runs)])
            columns[learner] = column(first, second, pair)
            is_same &= first.votes == second.votes == pair.votes
    description = (
        f"ProbingClassifier, {args.probes} probes, fit and votes on {args.rows:,} rows of Adult. Wall seconds of"
        f" whole processes, the run of median wall time of {args.runs}. Votes: {'the same' if is_same else 'OTHERS'}."
    )
    names = next(iter(columns.values())).keys() if columns else ()
    rows = [[name, *(values[name] for values in columns.values())] for name in names]
    speed.report(args.out, "two_cores.py", description, ["", *columns], rows)
    sys.exit(0 if is_same else 1)


def column(first: Trace, second: Trace, pair: Trace) -> dict[str, str]:
    """Return the lines of a learner: name -> text. The lines from "half" on add up to the wall time of two threads."""
    # within the phase of fits, each core either fits or is idle
    first_idle, second_idle = first.fitting - first.taken, 2 * second.fitting - second.taken - second.dropped
    parts = {
        "half of the wall time with n_jobs=1": first.wall / 2,
        "+ start-up, imports, end of the process": second.outside_seconds - first.outside_seconds / 2,
        "+ fits that are slower beside another": (second.taken - first.taken) / 2,
        "+ early fits that were not used": second.dropped / 2,
        "+ a core without a fit, between the fits": (second_idle - first_idle) / 2,
        "+ votes": second.voting - first.voting / 2,
        "= wall time with n_jobs=2": second.wall,
    }
    return {
        "wall time with n_jobs=1": speed.seconds(first.wall),
        "wall time of two such processes at once": speed.seconds(pair.wall),
        "bound of the ratio on this machine": speed.times(2 * first.wall, pair.wall),
        "ratio, n_jobs=1 over 2": speed.times(first.wall, second.wall),
        "CPU seconds, n_jobs=1": speed.seconds(first.cpu),
        "CPU seconds, n_jobs=2": speed.seconds(second.cpu),
        "both cores compute, share of wall time with n_jobs=2": f"{second.both / second.wall:.0%}",
        "a fit, n_jobs=1": speed.seconds(first.fit_seconds),
        "a fit, n_jobs=2": speed.seconds(second.fit_seconds),
        "a fit, two processes at once": speed.seconds(pair.fit_seconds),
        "early fits that were not used": str(second.n_dropped),
        **{name: f"{value:+.2f} s" if name[0] == "+" else f"{value:.2f} s" for name, value in parts.items()},
    }


def traces(data: Path, learner: str, probes: int, jobs: int, n_processes: int = 1) -> list[Trace]:
    """Return the traces of ``n_processes`` equal processes that start together."""
    command = [sys.executable, __file__, _ONCE_FLAG, str(data), learner, str(probes), str(jobs)]
    begin = time.perf_counter()
    processes = [
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=speed.one_blas_thread())
        for _ in range(n_processes)
    ]
    results = []
    for process in processes:
        output = process.communicate()[0]  # the second one ends soon after the first
        if process.returncode:
            sys.exit(f"error: {' '.join(command)} ended with exit code {process.returncode}")
        results.append(Trace(wall=time.perf_counter() - begin, **json.loads(output.splitlines()[-1])))
    return results


def slower_run(runs: list[Trace]) -> Trace:
    return max(runs, key=lambda trace: trace.wall)


def median(runs: list[Trace]) -> Trace:
    """Return the trace of median wall time. Its numbers belong together, so that they add up."""
    return sorted(runs, key=lambda trace: trace.wall)[len(runs) // 2]


def run_once(data: str, learner: str, probes: str, jobs: str) -> None:
    """Fit and vote in this process, and print its trace."""
    X, y = joblib.load(data)
    fits: list[tuple[float, float, float]] = []
    fit = _probes._FitAndPredict.__call__

    def timed(self: Any, p: float) -> Any:
        start = time.perf_counter()
        result = fit(self, p)
        fits.append((p, start, time.perf_counter()))
        return result

    _probes._FitAndPredict.__call__ = timed  # type: ignore[method-assign]  # both threads use it
    estimator = LEARNERS[learner].tight()
    settings = {"weighting": "weight", "n_jobs": int(jobs), "random_state": 0}
    probing = ProbingClassifier(estimator, int(probes), **settings)
    begin = time.perf_counter()
    probing.fit(X, y)
    fit_end, cpu = time.perf_counter(), time.process_time()
    votes = probing.votes(X)
    voting, voting_cpu = time.perf_counter() - fit_end, time.process_time() - cpu
    thresholds = set(probing.thresholds_.tolist())
    fit_seconds, extra_seconds = (
        [end - start for p, start, end in fits if (p in thresholds) is is_used] for is_used in (True, False)
    )
    usage = resource.getrusage(resource.RUSAGE_SELF)
    report = {
        "cpu": usage.ru_utime + usage.ru_stime,
        "fitting": fit_end - begin,
        "voting": voting,
        "taken": sum(fit_seconds),
        "dropped": sum(extra_seconds),
        "fits": len(fit_seconds),
        "n_dropped": len(extra_seconds),
        "both": overlap(fits) + max(0.0, voting_cpu - voting),
        "votes": hashlib.sha256(np.ascontiguousarray(votes).tobytes()).hexdigest(),
    }
    print(json.dumps(report))


def overlap(fits: list[tuple[float, float, float]]) -> float:
    """Return the seconds in which two fits ran."""
    seconds, last_end = 0.0, -np.inf
    for _, start, end in sorted(fits, key=lambda fit: fit[1]):
        seconds += max(0.0, min(end, last_end) - start)
        last_end = max(last_end, end)
    return seconds


if __name__ == "__main__":
    main()
