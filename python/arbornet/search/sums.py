"""Sums of scores without rounding, to decide between graphs that the grid of the costs cannot distinguish.

The search compares costs as whole numbers of a tiny unit. Where scores of very different sizes are in one component,
that unit may be larger than differences between graphs that doubles still show. For components of a few variables the
best order is then found once more, by dynamic programming over the sets of placed variables with whole numbers of any
size.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from arbornet.step1.candidates import scored_sets

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from arbornet._core import CandidatesHandle

#: Components of more variables are left to the grid.
MOST = 12


def rounding(scores: Sequence[float]) -> Fraction:
    """What summing such scores as doubles may come to."""
    return len(scores) * sum((Fraction(abs(score)) for score in scores), Fraction(0)) / 2**52


def upward(value: Fraction) -> float:
    """The least double that is not below a number."""
    near = float(value)
    return near if Fraction(near) >= value else math.nextafter(near, math.inf)


def better_order(handle: CandidatesHandle, order: Sequence[int], scores: Sequence[float]) -> list[int] | None:
    """An order of a component's variables whose families' scores have a higher sum, by more than doubles round.

    Args:
        handle: the candidates; parents outside the component are to be had.
        order: an order of the component's variables.
        scores: the scores of their sets along it.

    Returns:
        The best order, or None if no other is better.
    """
    variables = sorted(order)
    bit = {v: 1 << i for i, v in enumerate(variables)}
    found = [_best_by_mask(handle, v, bit) for v in variables]
    unit = max((score.as_integer_ratio()[1] for own in found for _, score in own), default=1)
    sets = [[(mask, _whole(score, unit)) for mask, score in own] for own in found]
    bests = [own[0][1] for own in sets]
    # A sum has to be above this one, or is no news.
    least = sum(_whole(score, unit) for score in scores) + math.floor(rounding(scores) * unit)
    layer: dict[int, tuple[int, tuple[int, ...]]] = {0: (0, ())}
    for _ in variables:
        following: dict[int, tuple[int, tuple[int, ...]]] = {}
        for placed, (total, way) in layer.items():
            rest = sum(best for i, best in enumerate(bests) if not placed >> i & 1)
            for i, own in enumerate(sets):
                score = None if placed >> i & 1 else next((s for mask, s in own if not mask & ~placed), None)
                if score is None or total + score + rest - bests[i] <= least:
                    continue
                after = placed | 1 << i
                if after not in following or total + score > following[after][0]:
                    following[after] = (total + score, (*way, variables[i]))
        layer = following
    return list(layer[(1 << len(variables)) - 1][1]) if layer else None


def _whole(score: float, unit: int) -> int:
    numerator, denominator = score.as_integer_ratio()
    return numerator * (unit // denominator)


def _best_by_mask(handle: CandidatesHandle, v: int, bit: dict[int, int]) -> list[tuple[int, float]]:
    """The sets of a variable as its component sees them, best first, up to the first that has no member there."""
    out: dict[int, float] = {}
    for score, parents in scored_sets(handle, v):
        mask = sum(bit.get(p, 0) for p in parents)
        if score > -math.inf:
            out.setdefault(mask, score)
        if not mask:
            break
    return list(out.items())


def exact_sum(scores: Iterable[float]) -> Fraction:
    """The sum, without rounding."""
    return sum((Fraction(score) for score in scores), Fraction(0))
