"""Numbers that stand for a missing value: -9, 99, 999, or several of them, such as 88 and 99, 97 to 99, -8 and -9.

They lie further from the other values than the range of those, or are the only ones below 0. Several are looked at
together, as otherwise each would hide the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import polars as pl

from arbornet.data.looks.seen import Seen

SENTINELS = (-9, -99, -999, -9999, -99999, 99, 999, 9999, 99999, 999999)
"""What stands for a missing value by itself."""
_TWINS = tuple(sign * int(digit * n) for sign in (1, -1) for digit in "678" for n in range(2, 6))
"""So do 77, 88, -888."""
_BESIDE = (-6, -7, -8, *(sign * (10**n - 1 - less) for sign in (1, -1) for n in range(2, 6) for less in (1, 2, 3)))
"""What does only beside another: -8 beside -9, 97 and 98 beside 99."""
CODES = frozenset((*SENTINELS, *_TWINS, *_BESIDE))
_ALONE = frozenset((*SENTINELS, *_TWINS))
MOST = 5
"""Codes at one end, at most."""
LEAST_GAP = 4


def missing_codes(seen: Seen, but: float | None = None) -> tuple[list[tuple[int, int]], tuple[float, float]] | None:
    """The numbers of a column that may stand for a missing value, each with its rows, and the range of all others.

    Args:
        seen: A column of numbers.
        but: A number that is not looked at if it occurs once: a total.
    """
    values, counts = seen.values, seen.counts
    if but is not None:
        keep = (values != but) | (counts > 1)
        values, counts = values.filter(keep), counts.filter(keep)
    n = len(values)
    lows = _run(values.head(MOST).to_list())
    highs = _run(values.tail(MOST).to_list()[::-1])
    best: tuple[int, int] = (0, 0)
    for low, high in product(range(lows + 1), range(highs + 1)):
        if low + high > sum(best) and n - low - high >= 2 and _stand_apart(values, counts, low, high):
            best = (low, high)
    if best == (0, 0):
        return None
    low, high = best
    at = [*range(low), *range(n - high, n)]
    return [(int(values[i]), int(counts[i])) for i in at], (float(values[low]), float(values[n - high - 1]))


def _run(values: Sequence[float]) -> int:
    """How many values are codes, from the outermost on."""
    return next((i for i, value in enumerate(values) if value not in CODES), len(values))


def _stand_apart(values: pl.Series, counts: pl.Series, low: int, high: int) -> bool:
    """Whether so many values at either end are codes, and lie apart from the rest."""
    n = len(values)
    first, last = float(values[low]), float(values[n - high - 1])
    least = max(last - first, LEAST_GAP)
    below, above = values.head(low).to_list(), values.tail(high).to_list()
    if (low and counts.head(low).sum() < 2) or (high and counts.tail(high).sum() < 2):
        return False
    if any(end and len(end) < 2 and not _ALONE.intersection(end) for end in (below, above)):
        return False
    # Where nothing else is below 0, -9 need not be far.
    apart_below = not low or first - below[-1] > (least if first < 0 or not set(below) & set(SENTINELS) else LEAST_GAP)
    return bool(apart_below and (not high or above[0] - last > least))
