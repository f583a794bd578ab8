"""The best graph over given candidate parent sets, with a proof; or the best so far, with a bound."""

from __future__ import annotations

import warnings
from typing import Literal, overload

from arbornet._core import ParameterError
from arbornet.given import CandidatesLike, Memory, Progress
from arbornet.graphs.constraints import Constraints, resolved
from arbornet.search.base import Found, count
from arbornet.search.branch_and_bound import BranchAndBound
from arbornet.search.budget import Budget
from arbornet.search.components import ExactSearch
from arbornet.search.k_best import KBest, k_best
from arbornet.search.registry import registered
from arbornet.search.source import handle_of, known, obeying
from arbornet.text.progress import shown


@overload
def exact(
    candidates: CandidatesLike,
    time_limit: float | None = None,
    memory_limit: Memory | None = None,
    gap: float = 0.0,
    constraints: Constraints | None = None,
    k: Literal[1] = 1,
    progress: Progress = None,
    n_jobs: int = -1,
    strategy: BranchAndBound | None = None,
) -> Found: ...
@overload
def exact(
    candidates: CandidatesLike,
    time_limit: float | None = None,
    memory_limit: Memory | None = None,
    gap: float = 0.0,
    constraints: Constraints | None = None,
    *,
    k: int,
    progress: Progress = None,
    n_jobs: int = -1,
    strategy: BranchAndBound | None = None,
) -> Found | KBest: ...
@registered(
    "candidates", "finds the best network and proves it", settings=("constraints", "time_limit", "n_jobs", "progress")
)
def exact(
    candidates: CandidatesLike,
    time_limit: float | None = None,
    memory_limit: Memory | None = None,
    gap: float = 0.0,
    constraints: Constraints | None = None,
    k: int = 1,
    progress: Progress = None,
    n_jobs: int = -1,
    strategy: BranchAndBound | None = None,
) -> Found | KBest:
    """The directed acyclic graph of the highest total score, with a proof that none scores more.

    Scores need not be score-equivalent. When a limit is reached, or on Ctrl-C, the best graph so far is returned with
    an upper bound that no graph exceeds. Costs are compared as whole numbers of a unit that suits the differences which
    can matter, whatever sentinels are among the scores. A proof is exact up to the rounding of a sum of doubles where
    up to 12 variables can all be each other's ancestors, and up to 1e-7 beyond; where even that is not possible, as
    when every graph must use a score of -1e15, the gap says so. Among graphs of equal score, the answer depends on the
    candidates alone (not on threads or timing, as long as no limit is reached): along the order that was found first,
    each variable takes the first of its candidates that fits.

    Args:
        candidates: Candidates, or the path of a .jkl file (.gz and .xz too).
        time_limit: wall seconds.
        memory_limit: bytes, or text such as "4 GB", that the search may take: its own copy of the parent sets, cuts and
            linear programs, states and tables. The default is four fifths of what is free. A step that would not fit
            is left out, or the search stops with its upper bound.
        gap: stop once the bound is no more than this above the score.
        constraints: constraints on the graph.
        k: how many graphs; more than one gives them by falling score, as k_best does.
        progress: True to show how the gap shrinks.
        n_jobs: threads; -1 for all cores.
        strategy: deprecated; the search itself decides.

    Returns:
        Found, with the certificate of its root bound; with k above 1, the k best graphs as KBest.

    Raises:
        ArbornetError: if no graph can be built from the sets, the constraints leave none, or they require an arc that
            was not required when the candidates were scored, and sets with it may be missing.
        MemoryError: if not even the parent sets fit into the memory limit; it says how much they need.

    Example:
        >>> found = an.search.exact("asia.jkl", time_limit=60)
        >>> found.score, found.gap
    """
    if not isinstance(gap, int | float) or not gap >= 0:
        raise ParameterError(f"gap={gap!r}: give a score difference from 0 up")
    k = count("k", k, 1, 2**62)
    budget = Budget(time_limit, memory_limit)
    if k > 1:
        return k_best(
            candidates,
            k,
            constraints=constraints,
            time_limit=time_limit,
            memory_limit=memory_limit,
            progress=progress,
            n_jobs=n_jobs,
        )
    if strategy is not None:
        told = "strategy= goes with one of the next versions: leave it out, the search decides by itself"
        warnings.warn(told, DeprecationWarning, stacklevel=2)
    return by_strategy(
        candidates, strategy, budget=budget, gap=gap, constraints=constraints, progress=progress, n_jobs=n_jobs
    )


def by_strategy(
    candidates: CandidatesLike,
    strategy: BranchAndBound | None = None,
    *,
    budget: Budget | None = None,
    gap: float = 0.0,
    constraints: Constraints | None = None,
    progress: Progress = None,
    n_jobs: int = -1,
) -> Found:
    """As `exact`, by a strategy of one's own: for tests, and for those who work on the search itself."""
    budget = Budget() if budget is None else budget
    candidates = known(candidates)
    rules = None if constraints is None else resolved(constraints, handle_of(candidates).names).spec()
    handle = obeying(candidates, rules)
    with shown("searching", progress) as tell:
        return ExactSearch(handle, budget, gap, n_jobs, tell, rules).run(strategy)
