"""The exact search of one component: bound, improve, cut, expand, branch, prove.

The kernels are the core's; what to call next is decided here. A small component is solved at once, by its bound or by
dynamic programming over its subsets. Otherwise parts of it are worked on, the one with the lowest bound first; the
first part is the component itself. Its root bound is sharpened by cuts, then the states of the order search are
expanded layer by layer. A part with too many states is divided into two halves: the linear program often wants two
variables to be each other's parents, half the time each. In one half of the graphs the first is no parent of the
second, in the other the second is none of the first; each half keeps the cuts known so far, and its bound rises once
the program may no longer have both.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from arbornet.search.cuts import Cuts, tighten

if TYPE_CHECKING:
    from arbornet._core import SearchComponent
    from arbornet.search.base import Stopped
    from arbornet.search.budget import Budget

#: What a part is worked on as; see `search`.
Stage = Literal["first", "part", "last"]
#: How work on a part ended (None: divide it), and the tier that ended it.
Worked = tuple["Stopped | None", str]


@dataclass(frozen=True)
class BranchAndBound:
    """How a component is searched; for those who work on the search itself.

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

    def of_parts(self) -> BranchAndBound:
        """How a part is worked on before it is divided: some rounds of the linear program, some states, no beam."""
        return replace(self, hard=replace(self.hard, window=self.part_window), beam=0)


def solve(
    root: SearchComponent,
    how: BranchAndBound,
    budget: Budget,
    slack: int,
    note: Callable[[], None],
    arrange: Callable[[SearchComponent], None],
) -> tuple[Stopped, str]:
    """Searches one component; its cost, bound and order hold the result.

    Args:
        root: the component; an incumbent it has is kept.
        how: the strategy.
        budget: time, and the bytes for this component, with what it holds already.
        slack: a gap that may be left.
        note: called whenever cost or bound may have changed.
        arrange: may give the component a better incumbent; asked once, if it is not solved at once.

    Returns:
        How it ended, and the tier that ended it.
    """
    root.slack = slack
    if tier := _at_once(root, how, budget, note):
        return "proven", tier
    of_parts = how.of_parts()

    def work(part: SearchComponent, stage: Stage, others: float) -> Worked:
        if stage == "first":
            return _whole(part, how, budget, note, arrange)
        return _part(part, stage, of_parts, budget.less(others))

    return search(root, budget.bytes, work, note)


def search(
    root: SearchComponent,
    room: float,
    work: Callable[[SearchComponent, Stage, float], Worked],
    note: Callable[[], None],
) -> tuple[Stopped, str]:
    """Works on parts and divides them, the one with the lowest bound first, until nothing better is left.

    Args:
        root: the component, the first part; it learns what the others find and prove.
        room: bytes that the root and the parts may take.
        work: works on a part: at "first" on the whole, on a "part" until it should be divided, on the "last", which
            cannot be, until it is done. It is told how many bytes the others hold.
        note: called whenever the root may have learnt something.

    Returns:
        How it ended, and the tier that ended it.
    """
    ended, tier = work(root, "first", 0.0)
    if ended is not None:
        return ended, tier
    # Bound, number, bytes, part. The root is held to the end: the certificate is told by its sets.
    waiting: list[tuple[int, int, float, SearchComponent]] = [(root.bound, 0, 0.0, root)]
    made, held = 0, float(root.held)
    while waiting:
        bound, _, size, part = heapq.heappop(waiting)
        held -= size
        root.prove(bound)
        note()
        if done(root):
            return "proven", tier
        # A half starts with the sets and the cuts of its part, which is then given up.
        if held + (2 if part is root else 3) * part.held > room:
            return "memory", "halves"
        halves = part.branch()
        # Where no two variables could be each other's parents there is little left to order.
        stage: Stage = "last" if halves is None else "part"
        todo = [part] if halves is None else list(halves)
        del part, halves
        while todo:
            half = todo.pop()
            before = half.expanded
            _tell(half, root, 0)
            others = held + sum(other.held for other in todo) - (half.held if half is root else 0)
            ended, tier = work(half, stage, others)
            _tell(root, half, half.expanded - before)
            if ended is None:
                made += 1
                heapq.heappush(waiting, (max(bound, half.bound), made, float(half.held), half))
                held += half.held
            elif ended != "proven":
                # What was not looked at keeps the bound of the part.
                left = [bound] if todo else [max(bound, half.bound)]
                root.prove(min(left + [other for other, *_ in waiting]))
                note()
                return ended, tier
    assert root.cost is not None
    root.prove(root.cost)
    note()
    return "proven", tier


def _tell(to: SearchComponent, of: SearchComponent, expanded: int) -> None:
    """Tells a part of another's incumbent, and how many states that took."""
    if to is not of and of.cost is not None:
        to.learn(of.cost, of.order or [], expanded)


def done(part: SearchComponent) -> bool:
    """Whether no more than the slack is left between cost and bound."""
    cost = part.cost
    return cost is not None and part.bound >= cost - part.slack


def _program(root: SearchComponent, budget: Budget) -> tuple[bool, float, float]:
    """Whether the dynamic program fits beside what is held, its steps, and the bytes it may take."""
    room = max(0.0, budget.bytes - root.held)
    size, steps = root.program_size(room)
    return size < room, steps, room


def _at_once(root: SearchComponent, how: BranchAndBound, budget: Budget, note: Callable[[], None]) -> str | None:
    """Solves what is solved in a moment; the tier that did, or None."""
    fits, steps, room = _program(root, budget)
    # A dual ascent looks at every set many times: with very many sets the program comes first.
    many = root.n_sets * how.looks
    if many <= how.small:
        root.ascend(2, budget.bytes, budget.left)
        if done(root):
            note()
            return "cluster bound"
    if fits and steps < max(how.small, many):
        root.program(room, budget.left)
        note()
    return "subset dynamic programming" if done(root) else None


def _whole(
    root: SearchComponent,
    how: BranchAndBound,
    budget: Budget,
    note: Callable[[], None],
    arrange: Callable[[SearchComponent], None],
) -> Worked:
    """Works on the undivided component."""
    root.improve(how.cuts.patience, budget.left)
    arrange(root)
    root.ascend(how.cuts.ascents, budget.bytes, budget.left)
    note()
    tighten(root, how.cuts, budget, note)
    if done(root):
        return "proven", "cluster bound"
    fits, steps, room = _program(root, budget)
    states = how.patience * steps / (how.state + how.looks_state * root.n_sets)

    def program_next(expanded: int) -> bool:
        return fits and expanded > states and _in_time(root, how, budget, room)

    if not (fits and steps < how.affordable and not budget.over):
        ended = _expand(root, how, budget, note, lambda e: program_next(e) or e > how.states)
        if ended is not None:
            return ended, "branch and bound"
        if not program_next(root.expanded):
            tighten(root, how.hard, budget, note)
            return ("proven" if done(root) else None), "cluster bound"
    root.program(room, budget.left)
    note()
    return ("proven" if done(root) else "time"), "subset dynamic programming"


def _part(part: SearchComponent, stage: Stage, how: BranchAndBound, budget: Budget) -> Worked:
    """Works on a half: some rounds of the linear program, some states."""
    tighten(part, how.hard, budget, _silent)
    if done(part):
        return "proven", "halves"
    states = math.inf if stage == "last" else how.part_looks / max(1, part.n_sets)
    return _expand(part, how, budget, _silent, lambda e: e > states), "halves"


def _expand(
    part: SearchComponent,
    how: BranchAndBound,
    budget: Budget,
    note: Callable[[], None],
    enough: Callable[[int], bool],
) -> Stopped | None:
    """Expands states, which are then given up; None once so many are enough."""
    if not part.open(how, budget.bytes, budget.left):
        return "memory"
    note()
    ended: Stopped | None = "proven"
    while not done(part):
        if budget.over:
            ended = "time"
        elif enough(part.expanded):
            ended = None
        elif part.held > budget.bytes:
            ended = "memory"
        else:
            part.expand(how, budget.bytes, budget.left)
            note()
            continue
        break
    part.close()
    return ended


def _in_time(root: SearchComponent, how: BranchAndBound, budget: Budget, room: float) -> bool:
    left, (_, steps) = budget.left, root.program_size(room)
    return left is None or steps < left * how.pace


def _silent() -> None:
    """What is found in a half is told by the root."""
