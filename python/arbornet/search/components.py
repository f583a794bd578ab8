"""The exact search of candidates' parts that cannot reach each other, and how their answers are put together."""

from __future__ import annotations

from fractions import Fraction
from graphlib import TopologicalSorter
from typing import TYPE_CHECKING, Literal

from arbornet import _core
from arbornet._core import ArbornetError, CandidatesHandle, SearchComponent
from arbornet.graphs.constraints import resolved
from arbornet.search.base import Found, Incumbent, Stopped, dag_from_parents, total_of
from arbornet.search.branch_and_bound import BranchAndBound, solve
from arbornet.search.budget import Budget
from arbornet.search.certificate import certified
from arbornet.search.registry import run
from arbornet.search.sums import MOST, better_order, exact_sum, rounding, upward
from arbornet.system.memory import size_text

if TYPE_CHECKING:
    from arbornet.text.progress import Tell


#: A component of more variables starts from what the search over orders finds in so many rounds of its chains, if it is
#: not solved at once: with many variables that is better than local search.
WIDE, ROUNDS = 40, 60
#: The chains of that search, and the steps of a round of one of them for each variable and for each parent set.
CHAINS, ROUND, ROUND_SET = 4, 8_000.0, 5.0


def round_steps(handle: CandidatesHandle) -> float:
    """Counted steps of a round of the search over orders."""
    return CHAINS * (ROUND * len(handle.names) + ROUND_SET * handle.n_sets)


class NoGraphError(ArbornetError):
    """No acyclic graph can be built from the sets."""


class ExactSearch:
    """One run over all components."""

    def __init__(
        self,
        handle: CandidatesHandle,
        budget: Budget,
        gap: float = 0.0,
        n_jobs: int = -1,
        tell: Tell | None = None,
        rules: str | None = None,
    ):
        self.handle = handle
        self.rules = rules
        self.budget = budget
        self.n_jobs = n_jobs
        #: What the search over orders found, once it was asked.
        self.arranged: list[int] | None = None
        self._refuse_too_many()
        self.components = _core.search_components(handle, n_jobs)
        self.bests = handle.bests
        self.base = exact_sum(self.bests)
        # Every component has a grid of its own; sums are in units of the finest.
        exponents = [component.exponent for component in self.components]
        self.unit = 1 << max([0, *exponents])
        self.coarser = [1 << self.unit.bit_length() - 1 - exponent for exponent in exponents]
        astray = zip(map(_astray, self.components), self.coarser, strict=True)
        self.astray = Fraction(sum(own * coarser for own, coarser in astray), self.unit)
        self.orders: dict[int, list[int]] = {}
        self.scores: list[float] = []
        self.unsettled = Fraction(0)
        self.gap = gap
        self.tell = tell
        self.first_gap = 0.0
        self.history: list[Incumbent] = []
        self._refuse_deadlock()

    def run(self, how: BranchAndBound | None = None) -> Found:
        """Searches the components, small ones first, and puts their answers together."""
        stopped: Stopped = "proven"
        tiers: list[str] = []
        ended: Stopped
        try:
            self._start()
            left = Fraction(min(self.gap, 2.0**1000))
            held = sum(component.held for component in self.components)
            for component in sorted(self.components, key=lambda c: (len(c.vars), c.vars)):
                grain = Fraction(2) ** -component.exponent
                slack = max(0, min(int(left / grain) - _astray(component), 2**60))
                held -= component.held
                ended, tier = solve(
                    component, how or BranchAndBound(), self.budget.less(held), slack, self.note, self._arrange
                )
                component.close(cuts=True)
                held += component.held
                assert component.cost is not None
                left -= (component.cost - component.bound + _astray(component)) * grain
                tiers.append(tier)
                if ended != "proven":
                    stopped = ended if stopped == "proven" else stopped
            if all(component.cost == component.bound for component in self.components):
                self._settle()
        except KeyboardInterrupt:
            stopped = "interrupted"
            for component in self.components:
                component.close()
        return self._found(stopped, tiers)

    def note(self) -> None:
        """Records score and bound, if one of them improved."""
        if any(c.cost is None for c in self.components):
            return
        score = float(self.base - self._sum("cost"))
        bound = max(score, upward(self.base - self._sum("bound") + self.astray))
        gap = bound - score
        last = self.history[-1] if self.history else None
        if last is None or score > last.score or bound < last.bound:
            self.history.append(Incumbent(self.budget.seconds, score, bound))
        self.first_gap = max(self.first_gap, gap)
        if self.tell and self.first_gap > 0:
            self.tell(round(1000 * (1 - gap / self.first_gap)), 1000)

    def _sum(self, what: Literal["cost", "bound"]) -> Fraction:
        parts = zip(self.components, self.coarser, strict=True)
        return Fraction(sum((getattr(component, what) or 0) * coarser for component, coarser in parts), self.unit)

    def _settle(self) -> None:
        """Holds what was found against graphs that the grid could not tell from it."""
        for i, component in enumerate(self.components):
            order = component.order
            if order is None or len(order) < 2:
                continue
            scores = self._along([v for c in self.components[:i] for v in c.order or ()], order)
            if all(score >= self.bests[v] for v, score in zip(order, scores, strict=True)):
                continue
            grain = Fraction(2) ** -component.exponent
            astray = 2 * _astray(component) * grain
            if astray <= rounding(scores):
                continue
            if len(order) <= MOST:
                better = better_order(self.handle, order, scores)
                if better is not None:
                    self.orders[i] = better
            elif astray > min(Fraction(1, 10**7), (component.cost or 0) * grain / 10**6):
                self.unsettled += astray

    def _along(self, before: list[int], order: list[int]) -> list[float]:
        """The scores of a component's sets along an order, after the components upstream."""
        scores = _core.best_along(self.handle, [*before, *order])[1]
        return [scores[v] for v in order]

    def _start(self) -> None:
        """Gives every component an incumbent."""
        for component in self.components:
            component.improve(0, self.budget.left)
        self.note()

    def _arrange(self, component: SearchComponent) -> None:
        """Gives a wide component the order that the search over orders finds, if it is better than its own."""
        if len(component.vars) <= WIDE or self.budget.over:
            return
        if self.arranged is None:
            left, names = self.budget.left, self.handle.names
            found = run(
                "anytime",
                self.handle,
                resolved(None, names),
                "searching among orders",
                time_limit=None if left is None else left / 10,
                n_jobs=self.n_jobs,
                rounds=ROUNDS,
                chains=CHAINS,
            )
            self.budget.spend(ROUNDS * round_steps(self.handle))
            if found.stopped == "interrupted":
                raise KeyboardInterrupt
            arcs = {child: sorted(parents) for child, parents in enumerate(found.parents)}
            self.arranged = list(TopologicalSorter(arcs).static_order())
        own = set(component.vars)
        component.learn(None, [v for v in self.arranged if v in own], 0)

    def _refuse_too_many(self) -> None:
        needed = _core.search_needs(self.handle)
        if needed > self.budget.bytes:
            raise MemoryError(
                f"searching {self.handle.n_sets:,} parent sets needs at least {size_text(needed)}, and memory_limit is "
                f"{size_text(self.budget.bytes)}; raise it, lower max_parents, or use search.hill_climb"
            )

    def _refuse_deadlock(self) -> None:
        for component in self.components:
            if stuck := component.deadlock:
                names = ", ".join(f"'{self.handle.names[v]}'" for v in stuck[:8]) + (", ..." if len(stuck) > 8 else "")
                raise NoGraphError(
                    f"no acyclic graph can be built from these sets: each of {names} needs a parent among them; "
                    "give some of them smaller parent sets (the empty set is missing?)"
                )

    def _found(self, stopped: Stopped, tiers: list[str]) -> Found:
        for component in self.components:
            if component.order is None:
                component.improve(0, 0.0)
        orders = [self.orders.get(i, component.order) for i, component in enumerate(self.components)]
        parents, self.scores = _core.best_along(self.handle, [v for order in orders for v in order or ()])
        score = bound = total_of(self.scores)
        if any(c.cost != c.bound for c in self.components):
            bound = max(score, upward(self.base - self._sum("bound") + self.astray))
            if stopped == "proven":
                bound = min(bound, score + self.gap)
        elif self.unsettled:
            bound = max(score, upward(exact_sum(self.scores) + self.unsettled))
        certificate = certified(self.components, self.bests, self.rules)
        seconds = self.budget.seconds
        history = (*self.history, Incumbent(seconds, score, bound))
        details = {
            "tiers": list(dict.fromkeys(tiers)),
            "expanded": sum(c.expanded for c in self.components),
            "components": len(self.components),
        }
        dag = dag_from_parents(self.handle.names, parents)
        return Found(dag, score, bound, stopped, seconds, history, certificate, details)


def _astray(component: SearchComponent) -> int:
    """How much a graph's cost on the grid may be off: one for every variable, at most."""
    return len(component.vars)
