"""What parent sets cost: how many there are of each size, and the counted steps of a seeded sample of them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from arbornet._core import ParameterError, ScoreHandle, Step1
from arbornet.graphs.constraints import Rules

#: Steps (about a nanosecond each) that "auto" spends on counting what a sample of families costs.
SAMPLE = 300_000_000


def sizes(rules: Rules, max_parents: int, *, optional: bool = False) -> list[int]:
    """How many sets there are with 0, 1, ... parents (or parents beyond the required ones), over all children."""
    out = [0] * (max_parents + 1)
    for required, allowed, most in zip(rules.required, rules.allowed, rules.max_parents, strict=True):
        free = len(allowed) - len(required)
        for beyond in range(min(most, max_parents) - len(required) + 1):
            out[beyond if optional else len(required) + beyond] += math.comb(free, beyond)
    return out


def counted(handle: ScoreHandle, rules: Rules, most: int, sample: int = SAMPLE) -> list[float] | None:
    """Seconds of an average family of 0, 1, ... parents, from the steps of a sample; None if nobody counts them."""
    steps = sampled(handle, rules, most, sample)
    return None if steps is None else [1e-9 * cost for cost in grown(steps)]


def sampled(
    handle: ScoreHandle, rules: Rules, most: int, sample: int, in_earnest: int | None = None
) -> list[tuple[int, float]] | None:
    """How many families of 0, 1, ... parents were sampled, and their steps; None if nobody counts them.

    Args:
        handle: the score.
        rules: the constraints.
        most: the most parents.
        sample: steps to spend.
        in_earnest: what a family may take in earnest, of which one that is left early counts with a part.
    """
    try:
        step = Step1(handle, most, rules.spec())
    except ParameterError:  # too many sets for any machine
        told = sampled(handle, rules, most - 1, sample, in_earnest)
        return None if told is None else [*told, (0, 0.0)]
    return step.count(sample, in_earnest)


def modelled(handle: ScoreHandle, by_size: Sequence[int]) -> float:
    """Seconds that so many sets of 0, 1, ... parents cost, as the score states it."""
    return sum(n * handle.seconds(size) for size, n in enumerate(by_size))


def grown(sampled: Sequence[tuple[int, float]]) -> list[float]:
    """The mean cost by size; where there is no sample, costs go on growing as they did."""
    means: list[float] = []
    for n, cost in sampled:
        before = means[-2:]
        growth = max(before[1] / before[0], 1.0) if len(before) == 2 and before[0] else 1.0
        means.append(cost / n if n else (before[-1] if before else 0.0) * growth)
    return means
