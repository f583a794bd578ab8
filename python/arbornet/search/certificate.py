"""Evidence for a bound: clusters of variables and their prices, checked without the search, in integers.

In an acyclic graph some member of every cluster takes a parent set outside it. So for any prices >= 0 no graph scores
more than: per variable, the best of (score + prices of the clusters of the variable that the set avoids), summed, less
the sum of all prices.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from arbornet import _core
from arbornet.search.source import handle_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arbornet._core import SearchComponent

Priced = tuple[tuple[int, ...], int]


@dataclass(frozen=True)
class ClusterCertificate:
    """Clusters with prices in units of `1 / unit` of the score, and the bound they are said to give.

    Attributes:
        bound: no graph scores more than this.
        clusters: positions of the variables, and the price.
        unit: how many price units make one unit of score.
        constraints: what the graphs had to obey, one rule per variable as JSON; None for nothing.
    """

    bound: float
    clusters: tuple[Priced, ...]
    unit: int
    constraints: str | None = None

    def check(self, candidates: Any) -> bool:
        """Whether clusters and prices do prove the bound for these candidates (or a .jkl file), in exact arithmetic."""
        return self.exact_bound(candidates) <= Fraction(self.bound)

    def exact_bound(self, candidates: Any) -> Fraction:
        """What the clusters prove that no graph over the candidates exceeds.

        Raises:
            ValueError: if a price is negative, or a variable has no parent set.
        """
        handle = handle_of(candidates)
        if self.constraints is not None:
            handle = _core.restrict(handle, self.constraints)
        if any(price < 0 for _, price in self.clusters):
            raise ValueError("a price is negative")
        of: list[list[tuple[int, int]]] = [[] for _ in range(handle.n_vars)]
        for members, price in self.clusters:
            mask = sum(1 << v for v in set(members))
            for v in set(members):
                of[v].append((mask, price))
        total = Fraction(-sum(price for _, price in self.clusters), self.unit)
        for v in range(handle.n_vars):
            scores, offsets, flat = handle.child(v)
            most = Fraction(sum(price for _, price in of[v]), self.unit)
            best: Fraction | None = None
            for i, score in enumerate(scores.tolist()):
                # Best first: what follows cannot make up for its lower score.
                if score == -math.inf or (best is not None and Fraction(score) + most <= best):
                    break
                chosen = sum(1 << p for p in flat[offsets[i] : offsets[i + 1]].tolist())
                value = Fraction(score) + Fraction(sum(p for mask, p in of[v] if not mask & chosen), self.unit)
                best = value if best is None else max(best, value)
            if best is None:
                raise ValueError(f"'{handle.names[v]}' has no parent set")
            total += best
        return total


def certified(
    components: Sequence[SearchComponent], unit: float, base: float, outward: float, constraints: str | None = None
) -> ClusterCertificate:
    """What the components' clusters and prices prove together, rounded outward."""
    evidence = [component.certificate() for component in components]
    return ClusterCertificate(
        bound=base - sum(bound for bound, _ in evidence) / unit + outward,
        clusters=tuple((tuple(members), price) for _, clusters in evidence for members, price in clusters),
        unit=int(unit),
        constraints=constraints,
    )


def outward_of(scores: Sequence[float], unit: float) -> float:
    """What the grid of the costs and the rounding of sums of such scores can amount to."""
    return (len(scores) + 1) / unit + 1e-15 * len(scores) * math.fsum(map(abs, scores))
