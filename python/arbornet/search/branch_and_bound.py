"""The exact search of one component: which tier, in which order, and when to stop.

The kernels are the core's; what to call next is decided here. A small component is solved by dynamic programming over
its subsets. Otherwise the root bound is sharpened, and the states of the order search are expanded layer by layer; a
beam looks for a better incumbent first, because every state that costs less than the incumbent has to be expanded.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from arbornet.search.cuts import Cuts, sharpen, tighten
from arbornet.search.halves import search_halves

if TYPE_CHECKING:
    from collections.abc import Callable

    from arbornet._core import SearchComponent
    from arbornet.search.base import Stopped
    from arbornet.search.budget import Budget
    from arbornet.search.halves import Attempt


#: Bytes of a state that was just opened, about.
STATE = 100


@dataclass(frozen=True)
class BranchAndBound:
    """How a component is searched.

    Args:
        cuts: how the root bound is sharpened.
        small: elementary steps up to which dynamic programming is used at once.
        looks: how often a root bound looks at each parent set, in elementary steps; also what dynamic programming may
            cost per parent set before any bound is tried.
        affordable: elementary steps up to which it is used when the root bound leaves a gap.
        patience: where it would fit into the memory, the share of its steps that the states may take before it is used
            after all (a state takes about `state` steps, and `looks_state` more for each parent set).
        state: see patience.
        looks_state: see patience.
        pace: elementary steps in a second, about: what the time left is compared with.
        beam: width of the beam before the search; 0 for none.
        batch: states expanded between two looks at the clock.
        max_live: a state's own dual ascent is left out if more sets than this can matter below it.
        shallow: share of the memory that breadth-first layers may take, before the search goes deep first.
        hard: how the root bound is sharpened further, and those of the parts, after so many states ...
        states: ... were not enough, and the dynamic program does not fit; then the graphs are divided.
        part_looks: a part is divided after so many states times its parent sets.
        part_window: the `window` of a part.
        pattern: variables in a block of the pattern databases at most, where an eighth of the memory holds the tables;
            0 for none.
        patterned: components of more variables have no pattern databases.
    """

    cuts: Cuts = field(default_factory=Cuts)
    small: float = 2e7
    affordable: float = 3e8
    patience: float = 0.3
    state: float = 3e5
    looks_state: float = 10.0
    pace: float = 3e9
    looks: float = 200.0
    beam: int = 30
    batch: int = 2048
    max_live: int = 2000
    shallow: float = 0.5
    hard: Cuts = field(default_factory=lambda: Cuts(block=8, scarce=100, window=8))
    states: int = 100_000
    part_looks: float = 2e6
    part_window: int = 4
    pattern: int = 20
    patterned: int = 256


def solve(
    component: SearchComponent,
    how: BranchAndBound,
    budget: Budget,
    slack: int,
    note: Callable[[], None],
) -> tuple[Stopped, str]:
    """Searches one component; its cost, bound and order hold the result.

    Args:
        component: the component; an incumbent it has is kept.
        how: the strategy.
        budget: time, and the bytes for this component, with what it holds already.
        slack: a gap that may be left.
        note: called whenever cost or bound may have changed.

    Returns:
        How it ended, and the tier that ended it.
    """

    def done() -> bool:
        cost = component.cost
        return cost is not None and component.bound >= cost - slack

    component.tolerate(slack)

    def program() -> tuple[bool, float, float]:
        """Whether the dynamic program fits beside what is held, its steps, and the bytes it may take."""
        room = max(0.0, budget.bytes - component.held)
        size, steps = component.program_size(room)
        return size < room, steps, room

    fits, steps, room = program()
    # A dual ascent looks at every set many times: with very many sets the program comes first.
    many = component.n_sets * how.looks
    if many <= how.small and component.held + component.ascent_needs() <= budget.bytes:
        component.ascend(2, 1, budget.left)
        if done():
            note()
            return "proven", "cluster bound"
    if fits and steps < max(how.small, many):
        component.program(room, budget.left)
        note()
    if done():
        return "proven", "subset dynamic programming"
    sharpen(component, how.cuts, budget, done, note)
    if done():
        return "proven", "cluster bound"
    fits, steps, room = program()
    if fits and steps < how.affordable and not budget.over:
        component.program(room, budget.left)
        note()
        return ("proven" if done() else "time"), "subset dynamic programming"
    states = how.patience * steps / (how.state + how.looks_state * component.n_sets)

    def program_next(expanded: int) -> bool:
        return fits and expanded > states and _in_time(component, how, budget, room)

    ended = _search(component, how, budget, done, note, lambda e: program_next(e) or e > how.states)
    if ended is not None:
        return ended, "branch and bound"
    if not program_next(component.progress[0]):
        tighten(component, how.hard, budget, done, note)
        if done():
            return "proven", "cluster bound"
        return search_halves(component, slack, budget.bytes, _attempt(how, budget, slack), note), "halves"
    component.program(room, budget.left)
    note()
    return ("proven" if done() else "time"), "subset dynamic programming"


def _search(
    component: SearchComponent,
    how: BranchAndBound,
    budget: Budget,
    done: Callable[[], bool],
    note: Callable[[], None],
    enough: Callable[[int], bool],
) -> Stopped | None:
    """Expands states; None, and the search is given up, once so many are enough."""
    if component.held + component.open_needs() > budget.bytes:
        return "memory"
    if how.beam and not budget.over:
        before = component.cost
        component.beam(how.beam, 0, budget.left)
        if component.cost != before:
            component.fix()
            note()
        if done():
            return "proven"
    component.open(how.max_live)
    if (size := _pattern(len(component.vars), how, budget)) and not budget.over:
        component.patterns(size, budget.left)
        component.settle()
        note()
        if done():
            return "proven"
    depth = -1
    # A batch may open a successor for every variable of each of its states.
    batch = int(min(how.batch, max(32, budget.bytes / 16 / (STATE * len(component.vars)))))
    while not budget.over:
        expanded, *_ = component.progress
        held = component.held
        if enough(expanded):
            component.close()
            return None
        if held > budget.bytes:
            component.settle()
            return "memory"
        cost = component.cost
        more = component.expand(batch, held > how.shallow * budget.bytes, budget.left)
        if more is False:
            note()
            return "proven"
        at = component.progress[2]
        if at != depth or component.cost != cost:
            depth = at
            component.settle()
            note()
            if done():
                return "proven"
    component.settle()
    return "time"


def _attempt(how: BranchAndBound, budget: Budget, slack: int) -> Attempt:
    """What is tried with a part before it is divided: some rounds of the linear program, some states."""
    cuts = replace(how.hard, window=how.part_window)

    def attempt(part: SearchComponent, to_the_end: bool, held: float) -> Stopped | None:
        own = budget.less(held)

        def done() -> bool:
            assert part.cost is not None
            return part.bound >= part.cost - slack

        def note() -> None:
            pass

        part.fix()
        tighten(part, cuts, own, done, note)
        if done():
            return "proven"
        states = math.inf if to_the_end else how.part_looks / max(1, part.n_sets)
        ended = _search(part, replace(how, beam=0), own, done, note, lambda e: e > states)
        part.close()
        return ended

    return attempt


def _pattern(n: int, how: BranchAndBound, budget: Budget) -> int:
    """The size of the blocks of the pattern databases: tables of all blocks, and ranks by the subsets of one."""
    sizes = range(min(n, how.pattern), 1, -1) if n <= how.patterned else ()
    return next((k for k in sizes if 2.0**k * (8 * math.ceil(n / k) + 2 * k) <= budget.bytes / 8), 0)


def _in_time(component: SearchComponent, how: BranchAndBound, budget: Budget, room: float) -> bool:
    left, (_, steps) = budget.left, component.program_size(room)
    return left is None or steps < left * how.pace
