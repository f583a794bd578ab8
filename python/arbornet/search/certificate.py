"""Evidence for a bound: clusters of variables and their prices, checked without the search, in integers.

In an acyclic graph some member of every cluster takes a parent set outside it. So for any prices >= 0 no graph scores
more than: per variable, the best of (score + prices of the clusters of the variable that the set avoids), summed, less
the sum of all prices.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from arbornet.search.source import handle_of

Priced = tuple[tuple[int, ...], int]


@dataclass(frozen=True)
class ClusterCertificate:
    """Clusters with prices in units of `1 / unit` of the score, and the bound they are said to give.

    Attributes:
        bound: no graph scores more than this.
        clusters: positions of the variables, and the price.
        unit: how many price units make one unit of score.
    """

    bound: float
    clusters: tuple[Priced, ...]
    unit: int

    def check(self, candidates: Any) -> bool:
        """Whether clusters and prices do prove the bound for these candidates (or a .jkl file), in exact arithmetic."""
        return self.exact_bound(candidates) <= Fraction(self.bound)

    def exact_bound(self, candidates: Any) -> Fraction:
        """What the clusters prove that no graph over the candidates exceeds.

        Raises:
            ValueError: if a price is negative, or a variable has no parent set.
        """
        handle = handle_of(candidates)
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
