"""Random numbers that are the same for a seed in every version of NumPy, on every machine.

NumPy guarantees this for the raw bits of its generators, not for the distributions of `Generator`, so these are drawn
here. Functions like the logarithm may differ between machines in their last digit. Drawn values are therefore
`rounded`, to more digits than anyone needs, before they are used.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Reals = NDArray[np.float64]
Codes = NDArray[np.int64]
T = TypeVar("T")

DIGITS = 6


def rounded(values: Reals) -> Reals:
    """Values rounded as in a table; without negative zeros."""
    kept: Reals = np.round(values, DIGITS) + 0.0
    return kept


class Draws:
    """One stream of random numbers.

    Args:
        seed: of the whole network.
        key: which of its streams.
    """

    def __init__(self, seed: int, *key: int) -> None:
        self._bits = np.random.PCG64(np.random.SeedSequence(seed, spawn_key=key))

    def uniform(self, *shape: int) -> Reals:
        """Uniform in the open interval (0, 1); the first rows are the same for any number of rows."""
        raw = np.atleast_1d(np.asarray(self._bits.random_raw(int(np.prod(shape))), np.uint64))
        drawn: Reals = ((raw >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
        return drawn.reshape(shape)

    def normal(self, *shape: int) -> Reals:
        """Standard normal (Box and Muller 1958)."""
        pairs = self.uniform(*shape, 2)
        drawn: Reals = np.sqrt(-2 * np.log(pairs[..., 0])) * np.cos(2 * np.pi * pairs[..., 1])
        return drawn

    def student(self, n: int, freedom: int) -> Reals:
        """Student's t."""
        normals = self.normal(n, freedom + 1)
        drawn: Reals = normals[:, 0] / np.sqrt((normals[:, 1:] ** 2).sum(axis=1) / freedom)
        return drawn

    def poisson(self, rates: Reals) -> Codes:
        """One count per rate, by inversion."""
        left = self.uniform(len(rates))
        chance = np.exp(-rates)
        counts = np.zeros(len(rates), np.int64)
        # Larger counts have probabilities below the precision of a double.
        most = int(rates.max() + 12 * np.sqrt(rates.max()) + 30)
        for count in range(1, most):
            left = left - chance
            more = left > 0
            if not more.any():
                break
            counts[more] = count
            chance = chance * rates / count
        return counts

    def between(self, low: float, high: float) -> float:
        """A number between two."""
        return float(low + (high - low) * self.uniform(1)[0])

    def whole(self, low: int, high: int) -> int:
        """An integer from `low` to `high`, both included."""
        return low + int(self.uniform(1)[0] * (high - low + 1))

    def one_of(self, choices: Sequence[T]) -> T:
        """One of the choices."""
        return choices[self.whole(0, len(choices) - 1)]

    def order(self, n: int) -> list[int]:
        """A random order of 0 to n - 1."""
        return [int(place) for place in np.argsort(self.uniform(n), kind="stable")]

    def sign(self) -> float:
        """1 or -1."""
        return 1.0 if self.uniform(1)[0] < 0.5 else -1.0
