"""How much more a Simple Jumper can lose than the best calibrators in hindsight."""

from __future__ import annotations

import math

from probcal.protection.checks import as_number, is_whole


def regret_bound(n: int, n_calibrators: int, jump_rate: float, switches: int = 0) -> float:
    """log10 loss of the protected estimates on ``n`` labels, less that of the best sequence of calibrators, at most.

    The sequence changes its calibrator ``switches`` times; with 0 it is the best fixed calibrator. For Algorithm 1 of
    Vovk, Petej & Gammerman (2021) as printed, start="uniform".

    Its capital is a mixture over all sequences of calibrators: the first has weight 1 / |E|, since a jump out of equal
    shares leaves them equal; each of the n - 1 jumps thereafter keeps the calibrator with weight 1 - J + J / |E| and
    takes any other with J / |E|. The mixture is at least the weight of one sequence times its likelihood, so the loss
    is at most that of the sequence and
    log10 |E| + (n - 1 - k) log10(1 / (1 - J + J / |E|)) + k log10(|E| / J) for k switches.

    Raises ValueError for a number that is out of its range; at most n - 1 switches are possible.
    """
    counts = is_whole(n, 1) and is_whole(n_calibrators, 1) and is_whole(switches, 0, n - 1)
    if not counts or not 0 < as_number(jump_rate) <= 1:
        raise ValueError(
            "n, n_calibrators and switches must be whole numbers, the first two at least 1, switches from 0 to n - 1,"
            " and jump_rate a number in (0, 1]"
        )
    arrive = jump_rate / n_calibrators
    stays, first = -math.log10(1 - jump_rate + arrive), math.log10(n_calibrators)
    return first + (n - 1 - switches) * stays - switches * math.log10(arrive)
