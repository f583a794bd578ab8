"""The rounds of the linear program: what is done, and for how long, before the first state is expanded.

Every round of the linear program costs about as much as some thousands of states: worth it as long as the gap shrinks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from arbornet._core import SearchComponent
    from arbornet.search.budget import Budget


@dataclass(frozen=True)
class Cuts:
    """How the root bound is sharpened.

    Args:
        ascents: dual ascents, each with other preferences; the best is the start of the linear program.
        patience: perturbations that may fail in a row, before the local search for an incumbent gives up.
        columns: parent sets in the first linear program.
        clusters: clusters in the first linear program.
        new: cuts that may join in a round.
        block: variables of the largest blocks looked at for cuts; 0 for none.
        scarce: blocks are looked at where fewer violated clusters than this were found.
        tolerance: relative gap at which a linear program counts as solved.
        rounds: rounds at most.
        window: over so many rounds ...
        progress: ... the gap has to shrink by this share, or the rounds end.
    """

    ascents: int = 6
    patience: int = 100
    columns: int = 3000
    clusters: int = 600
    new: int = 100
    block: int = 6
    scarce: int = 10
    tolerance: float = 1e-6
    rounds: int = 100
    window: int = 5
    progress: float = 0.03


def tighten(part: SearchComponent, how: Cuts, budget: Budget, note: Callable[[], None]) -> None:
    """Raises the bound by rounds of the linear program until they are too slow or too large, or the gap is closed."""
    gaps: list[int] = []
    for _ in range(how.rounds):
        cost = part.cost
        assert cost is not None
        gaps.append(cost - part.bound)
        if gaps[-1] <= part.slack or budget.over:
            return
        if len(gaps) > how.window and gaps[-1] > (1 - how.progress) * gaps[-1 - how.window]:
            return
        more = part.cut(how, budget.bytes, budget.left)
        note()
        if not more:
            return
