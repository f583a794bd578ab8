"""Whether whole numbers are counts: those of which many are 0, and which are more probable as counts.

Compared is the probability of each whole number where all rows are in one leaf: as counts, with a probability of 0 of
its own; and as the normal distribution, of the numbers or their logarithms, that the column would have otherwise, from
half a unit below the number to half a unit above it, as what it draws is rounded. Densities would not do: near 0 a
logarithm heaps up more than a probability can be. Without many zeros other leaves are as good, and follow parents
along a line, which counts do not.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from arbornet.data.kinds import Continuous

#: Nats a row that counts have to gain, and the share of the zeros.
WORTH_COUNTS = 0.05
MANY_ZEROS = 0.2
#: Of these numbers.
FEW_ZEROS, FEW_VALUES, LARGEST = 20, 4, 1000
#: Of negative binomial distributions, as in the core; none is Poisson.
SIZES = (None, 64.0, 16.0, 4.0, 1.0, 0.25)
#: No number is less probable than this.
LEAST = 1e-20

Numbers = NDArray[np.float64]


def may_be_counts(values: Numbers) -> bool:
    """Whether all numbers are whole and of a size that counts have here; NaN is missing."""
    known = values[~np.isnan(values)]
    return bool(len(known) and known.min() >= 0 and known.max() <= LARGEST and (known == np.floor(known)).all())


def are_counts(x: Numbers, w: Numbers | None, kind: Continuous) -> bool:
    """Whether these numbers are more probable as counts than as the column's kind has them."""
    if not may_be_counts(x):
        return False
    values, places = np.unique(x, return_inverse=True)
    share = np.bincount(places, weights=w) / (len(x) if w is None else w.sum())
    if (x == 0).sum() < FEW_ZEROS or len(values) < FEW_VALUES or share[0] < MANY_ZEROS:
        return False
    gain = np.log(_as_counts(values, share)) - np.log(_as_normal(values, share, kind))
    return float(share @ gain) > WORTH_COUNTS


def _as_counts(values: Numbers, share: Numbers) -> Numbers:
    """The probabilities of the numbers, of which the first is 0 and the others are counts from 1 up."""
    k, own = values[1:] - 1, share[1:] / (1 - share[0])
    mean = float(own @ k)
    best = max((_negative_binomial(k, mean, size) for size in SIZES), key=lambda logs: float(own @ logs))
    return np.append(share[0], (1 - share[0]) * np.exp(best)).clip(LEAST)


def _negative_binomial(k: Numbers, mean: float, size: float | None) -> Numbers:
    orders = _log_gamma(k + 1)
    if size is None:
        return k * math.log(mean) - mean - orders
    ways = _log_gamma(k + size) - math.lgamma(size) - orders
    return ways - size * math.log1p(mean / size) - k * math.log1p(size / mean)


def _log_gamma(x: Numbers) -> Numbers:
    return np.array([math.lgamma(at) for at in x])


def _above(z: Numbers) -> Numbers:
    """The probability of more than these under a standard normal distribution."""
    return np.array([0.5 * math.erfc(at / math.sqrt(2)) for at in z])


def _as_normal(values: Numbers, share: Numbers, kind: Continuous) -> Numbers:
    """The probabilities of the numbers under a normal distribution beside the point mass, if there is one."""
    if isinstance(kind.point, float):
        here = values == kind.point
        own = float(share[here].sum())
        rest = _as_normal(values, np.where(here, 0.0, share) / (1 - own), Continuous(kind.scale))
        both: Numbers = own * here + (1 - own) * rest
        return both
    shift = float(values[values > 0].min()) / 2 if kind.is_log else 0.0

    def to_normal(x: Numbers) -> Numbers:
        return np.log(x + shift) if kind.is_log else x

    t = to_normal(values)
    mean = float(share @ t)
    sd = math.sqrt(float(share @ (t - mean) ** 2)) or 1.0
    starts, ends = (to_normal(values[1:] - 0.5) - mean) / sd, (to_normal(values + 0.5) - mean) / sd
    first = 1 - _above(ends[:1])
    # Of what lies above the mean what is above it, below the mean what is below: tails keep their precision.
    others = np.where(starts > 0, _above(starts) - _above(ends[1:]), _above(-ends[1:]) - _above(-starts))
    return np.append(first, others).clip(LEAST)
