"""The best network that a counted number of steps finds: proved by the exact search, or else the best that is known.

The exact search comes first. Its work is counted verb by verb, so where it stops is the same on every machine, at every
load and for any number of threads. Where it does not end in its share, the search over orders takes the rest; what the
better of both found is told with the lower of both bounds.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from arbornet.given import CandidatesLike, Progress
from arbornet.graphs.constraints import Constraints, resolved
from arbornet.search.anytime import anytime
from arbornet.search.base import Found, with_limits
from arbornet.search.budget import Budget
from arbornet.search.components import ExactSearch, round_steps
from arbornet.search.source import handle_of, known, obeying
from arbornet.text.progress import shown

if TYPE_CHECKING:
    from arbornet._core import SearchComponent
    from arbornet.search.branch_and_bound import BranchAndBound
    from arbornet.search.cuts import Cuts

#: The exact search may take this share of the steps before the search over orders gets its turn.
EXACT = 0.6
#: More variables than this are left to the search over orders: one round of the exact search could take all steps.
WIDEST = 250
#: Rounds of the search over orders, at most and at least.
ROUNDS, FEWEST = 500, 4
#: Steps of a round of the linear program for each column and cut; it may have more columns than it begins with.
CUT, GROWTH = 90_000.0, 1.5
#: Steps of a state, and for each parent set of one.
STATE, STATE_SET = 100_000.0, 4.0
#: Steps in which a dual ascent looks at a parent set, and a perturbation of the local search at a pair of variables.
ASCENT, MOVE = 1_300.0, 100.0


class Counted(Budget):
    """A budget of counted steps, over when they are spent."""

    def __init__(self, steps: float, time_limit: float | None = None):
        super().__init__(time_limit)
        self.steps = steps
        # Shared by the copies that know of fewer bytes.
        self.spent = [0.0]

    def spend(self, steps: float) -> None:
        """Takes the steps off what is left."""
        self.spent[0] += steps

    @property
    def left(self) -> float | None:
        """No time once the steps are spent."""
        return 0.0 if self.spent[0] >= self.steps else super().left


class Watched:
    """A component whose work is counted; everything else is the component's own."""

    component: SearchComponent
    budget: Counted

    def __init__(self, component: SearchComponent, budget: Counted):
        self.__dict__.update(component=component, budget=budget)

    def __getattr__(self, name: str) -> Any:
        own = getattr(self.component, name)
        cost = getattr(self, f"_of_{name}", None) if name in _COUNTED else None
        if cost is None:
            return own

        def counted(*given: Any, **named: Any) -> Any:
            before = self.component.expanded
            made = own(*given, **named)
            self.budget.spend(cost(given, before))
            return made

        return counted

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.component, name, value)

    def branch(self) -> tuple[Watched, Watched] | None:
        """Two halves, whose work is counted with that of the whole."""
        halves = self.component.branch()
        return None if halves is None else (Watched(halves[0], self.budget), Watched(halves[1], self.budget))

    def _of_improve(self, given: tuple[Any, ...], _before: int) -> float:
        return MOVE * (1 + float(given[0])) * len(self.component.vars) ** 2

    def _of_ascend(self, given: tuple[Any, ...], _before: int) -> float:
        return ASCENT * float(given[0]) * self.component.n_sets

    def _of_cut(self, given: tuple[Any, ...], _before: int) -> float:
        how: Cuts = given[0]
        return CUT * (min(float(self.component.n_sets), GROWTH * how.columns) + how.clusters)

    def _of_program(self, given: tuple[Any, ...], _before: int) -> float:
        return self.component.program_size(float(given[0]))[1] / 3

    def _of_open(self, given: tuple[Any, ...], _before: int) -> float:
        how: BranchAndBound = given[0]
        return STATE * how.beam * len(self.component.vars)

    def _of_expand(self, _given: tuple[Any, ...], before: int) -> float:
        return (STATE + STATE_SET * self.component.n_sets) * (self.component.expanded - before)


_COUNTED = {"improve", "ascend", "cut", "program", "open", "expand"}


def within(
    candidates: CandidatesLike,
    steps: float,
    *,
    constraints: Constraints | None = None,
    time_limit: float | None = None,
    n_jobs: int = -1,
    progress: Progress = None,
) -> Found:
    """The best network that so many counted steps find, with a bound; proved if they suffice.

    Args:
        candidates: candidate parent sets.
        steps: counted steps, of about a nanosecond each.
        constraints: constraints on the graph.
        time_limit: wall seconds; where they end the search, the result depends on the machine.
        n_jobs: threads; -1 for all cores.
        progress: whether to show it.
    """
    began = time.perf_counter()
    candidates = known(candidates)
    found, spent = None, 0.0
    if len(handle_of(candidates).names) <= WIDEST:
        found, spent = _exactly(candidates, EXACT * steps, constraints, time_limit, n_jobs, progress)
        if found.stopped in ("proven", "interrupted"):
            return with_limits(found, candidates)
    left = None if time_limit is None else max(0.0, time_limit - (time.perf_counter() - began))
    handle = handle_of(candidates)
    rounds = int((steps - spent) / round_steps(handle))
    rounds = min(max(rounds, FEWEST), ROUNDS)
    other = anytime(candidates, left, constraints=constraints, rounds=rounds, n_jobs=n_jobs, progress=progress)
    if found is None:
        return other
    bound = max(min(found.bound, other.bound), found.score, other.score)
    if found.score >= other.score and other.stopped != "proven":
        best = replace(found, details={**found.details, "search": "exact"})
    else:
        best = other
    proven = other.stopped == "proven" or bound <= best.score
    stopped = "proven" if proven else "finished" if best.stopped == "time" and left is None else best.stopped
    best = replace(best, bound=bound, stopped=stopped, seconds=time.perf_counter() - began)
    return with_limits(best, candidates)


def _exactly(
    candidates: Any,
    steps: float,
    constraints: Constraints | None,
    time_limit: float | None,
    n_jobs: int,
    progress: Progress,
) -> tuple[Found, float]:
    """What the exact search finds in so many steps, and how many it took."""
    budget = Counted(steps, time_limit)
    rules = None if constraints is None else resolved(constraints, handle_of(candidates).names).spec()
    with shown("searching", progress) as tell:
        search = ExactSearch(obeying(candidates, rules), budget, 0.0, n_jobs, tell, rules)
        search.components = [Watched(component, budget) for component in search.components]  # type: ignore[misc]
        return search.run(), budget.spent[0]
