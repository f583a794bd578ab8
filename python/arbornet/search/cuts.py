"""The root bound: what is done, and for how long, before the first state is expanded.

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


def sharpen(
    component: SearchComponent, how: Cuts, budget: Budget, done: Callable[[], bool], note: Callable[[], None]
) -> None:
    """Finds an incumbent and raises the bound until progress is too slow, or `done` says it is enough."""
    component.improve(how.patience, 1, budget.left)
    if component.held + component.ascent_needs() <= budget.bytes:
        component.ascend(how.ascents, 1, budget.left)
    component.fix()
    note()
    tighten(component, how, budget, done, note)


def tighten(
    component: SearchComponent, how: Cuts, budget: Budget, done: Callable[[], bool], note: Callable[[], None]
) -> None:
    """Raises the bound by rounds of the linear program until they are too slow or too large, or `done` is true."""
    gaps: list[int] = []
    for _ in range(how.rounds):
        if done() or budget.over:
            return
        cost = component.cost
        assert cost is not None
        gaps.append(cost - component.bound)
        if len(gaps) > how.window and gaps[-1] > (1 - how.progress) * gaps[-1 - how.window]:
            return
        limits = (how.columns, how.clusters, how.new, how.block, how.scarce)
        if component.held + component.relax_needs(limits) > budget.bytes:
            return
        _, _, priced, found = component.relax(limits, how.tolerance, budget.left)
        component.fix()
        note()
        if not priced and not found:
            return
