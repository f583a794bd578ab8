"""Evidence for a bound: cuts over variables and their prices, checked without the search, in integers.

In an acyclic graph some member of every cluster takes a parent set outside it. So for any prices >= 0 no graph scores
more than: per variable, the best of (score + prices of the clusters of the variable that the set avoids), summed, less
the sum of all prices. A block says, for each of a few variables, what a set is worth by its members in the block; what
the sets of an acyclic graph are worth at least is the cheapest order of the block, found here once more.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from arbornet._core import ArbornetError
from arbornet.given import CandidatesLike
from arbornet.search.source import obeying
from arbornet.search.sums import exact_sum, upward

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arbornet._core import CandidatesHandle, SearchComponent

Priced = tuple[tuple[int, ...], int]
Worths = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class PricedBlock:
    """A block of a certificate.

    Attributes:
        members: positions of the variables.
        price: price of what is needed.
        worths: per member, per subset of the members (bit i is the i-th), what a set with these members is worth.
    """

    members: tuple[int, ...]
    price: int
    worths: Worths

    def need(self) -> int:
        """What the sets of an acyclic graph are worth at least: the cheapest order of the block."""
        size = len(self.members)
        if (
            len(set(self.members)) != size
            or len(self.worths) != size
            or any(len(row) != 1 << size for row in self.worths)
        ):
            raise ValueError(f"not a block: members {self.members}, with {[len(row) for row in self.worths]} worths")
        if any(worth < 0 for row in self.worths for worth in row):
            raise ValueError("a worth is negative")
        within = [list(row) for row in self.worths]
        for bit in range(size):
            for row in within:
                for subset in range(1 << size):
                    if subset >> bit & 1:
                        row[subset] = min(row[subset], row[subset ^ 1 << bit])
        total = [0] * (1 << size)
        for placed in range(1, 1 << size):
            total[placed] = min(
                total[placed ^ 1 << v] + within[v][placed ^ 1 << v] for v in range(size) if placed >> v & 1
            )
        return total[-1]


@dataclass(frozen=True, repr=False)
class ClusterCertificate:
    """Clusters with prices in units of `1 / unit` of the score, and the bound they are said to give.

    Attributes:
        bound: no graph scores more than this.
        clusters: positions of the variables, and the price.
        unit: how many price units make one unit of score.
        constraints: the constraints on the graphs, one rule per variable as JSON; None for none.
        blocks: blocks of a few variables, where they sharpened the bound.
    """

    bound: float
    clusters: tuple[Priced, ...]
    unit: int
    constraints: str | None = None
    blocks: tuple[PricedBlock, ...] = ()

    def __repr__(self) -> str:
        blocks = f", {len(self.blocks):,} blocks" if self.blocks else ""
        return f"ClusterCertificate(bound {self.bound:.6f}, {len(self.clusters):,} clusters{blocks})"

    def check(self, candidates: CandidatesLike) -> bool:
        """Whether clusters and prices prove the bound for these candidates (or a .jkl file), in exact arithmetic.

        False where sets that the constraints require may be missing from the candidates: nothing is proved about sets
        that were not scored.
        """
        try:
            handle = obeying(candidates, self.constraints)
        except ArbornetError:
            return False
        return self._exact_bound(handle) <= Fraction(self.bound)

    def exact_bound(self, candidates: CandidatesLike) -> Fraction:
        """The upper bound that the clusters prove for all graphs of the candidates.

        Raises:
            ArbornetError: if sets that the constraints require may be missing from the candidates.
            ValueError: if a price or a worth is negative, or a variable has no parent set.
        """
        return self._exact_bound(obeying(candidates, self.constraints))

    def _exact_bound(self, handle: CandidatesHandle) -> Fraction:
        needed, of = self._by_variable(handle.n_vars)
        total = Fraction(-needed, self.unit)
        for v in range(handle.n_vars):
            scores, offsets, flat = handle.child(v)
            most = Fraction(sum(own.most for own in of[v]), self.unit)
            best: Fraction | None = None
            for i, score in enumerate(scores.tolist()):
                # Best first: what follows cannot make up for its lower score.
                if score == -math.inf or (best is not None and Fraction(score) + most <= best):
                    break
                chosen = frozenset(flat[offsets[i] : offsets[i + 1]].tolist())
                value = Fraction(score) + Fraction(sum(own.price(chosen) for own in of[v]), self.unit)
                best = value if best is None else max(best, value)
            if best is None:
                raise ValueError(f"'{handle.names[v]}' has no parent set")
            total += best
        return total

    def _by_variable(self, n: int) -> tuple[int, list[list[_Own]]]:
        """What all cuts need, at their prices, and per variable what they pay for its sets."""
        if any(price < 0 for _, price in self.clusters) or any(block.price < 0 for block in self.blocks):
            raise ValueError("a price is negative")
        of: list[list[_Own]] = [[] for _ in range(n)]
        needed = 0
        for members, price in self.clusters:
            needed += price
            own = _Own(tuple(members), price, None)
            for v in set(members):
                of[v].append(own)
        for block in self.blocks:
            needed += block.price * block.need()
            for v, row in zip(block.members, block.worths, strict=True):
                of[v].append(_Own(block.members, block.price, row))
        return needed, of


@dataclass(frozen=True)
class _Own:
    """A cut as one of its variables sees it: without worths, sets that avoid the members are worth 1."""

    members: tuple[int, ...]
    unit: int
    worths: tuple[int, ...] | None

    @property
    def most(self) -> int:
        return self.unit * (1 if self.worths is None else max(self.worths))

    def price(self, chosen: frozenset[int]) -> int:
        if self.worths is None:
            return 0 if chosen.intersection(self.members) else self.unit
        return self.unit * self.worths[sum(1 << i for i, u in enumerate(self.members) if u in chosen)]


def certified(
    components: Sequence[SearchComponent], bests: Sequence[float], constraints: str | None = None
) -> ClusterCertificate:
    """What the components' clusters and prices prove together, rounded outward, with the variables' best scores."""
    # Every component has a grid of its own; the finest one tells the prices of all.
    finest = max([0, *(component.exponent for component in components)])
    clusters: list[Priced] = []
    blocks: list[PricedBlock] = []
    total = exact_sum(bests)
    for component in components:
        bound, cuts = component.certificate()
        coarser = 1 << finest - component.exponent
        # A cost on the grid may be off by one.
        total -= Fraction((bound - len(component.vars)) * coarser, 1 << finest)
        for members, price, worths in cuts:
            if worths is None:
                clusters.append((tuple(members), price * coarser))
            else:
                blocks.append(PricedBlock(tuple(members), price * coarser, tuple(map(tuple, worths))))
    return ClusterCertificate(upward(total), tuple(clusters), 1 << finest, constraints, tuple(blocks))
