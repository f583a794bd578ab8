"""How much work a call may take: one number of counted steps, shared out between scoring and searching.

Steps are counted, about a nanosecond each, and not timed, so a result is the same bytes on every machine, at every load
and for any number of threads. What a budget does not suffice for is left out by rule and told.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from arbornet._core import ParameterError, score_within
from arbornet.data.table import Table
from arbornet.graphs.constraints import resolved
from arbornet.scores import PCART
from arbornet.scores.prepare import prepared
from arbornet.step1.sampling import grown, modelled, sampled, sizes
from arbornet.text.terminal import several

if TYPE_CHECKING:
    from arbornet._core import ScoreHandle
    from arbornet.graphs.constraints import Rules

Effort = Literal["quick", "normal", "thorough", "unlimited"]

#: The most parents of a variable that are tried where nobody says how many.
MOST_PARENTS = 4


@dataclass(frozen=True)
class Budget:
    """What a call may take.

    Attributes:
        effort: its name.
        seconds: about how long that is on two ordinary cores.
        scoring: steps for scoring parent sets.
        searching: steps for searching among them.
        sampling: steps for finding out how long it will take.
    """

    effort: Effort
    seconds: float
    scoring: int
    searching: int
    sampling: int


BUDGETS = {
    "quick": Budget("quick", 5, 5 * 10**9, 2 * 10**9, 5 * 10**7),
    "normal": Budget("normal", 30, 30 * 10**9, 12 * 10**9, 2 * 10**8),
    "thorough": Budget("thorough", 600, 700 * 10**9, 300 * 10**9, 10**9),
}


def of_time(seconds: float, threads: int) -> Budget:
    """What may be done in so much time on so many cores: the steps that a fast machine takes."""
    steps = int(2e9 * max(seconds, 0.01) * threads)
    return Budget("unlimited", seconds, min(steps, 2**62), steps, min(steps // 100, 10**9))


def budget_of(effort: Effort | Budget | None, reasons: Sequence[str] = ()) -> Budget | None:
    """The budget of an effort; None if there is no limit.

    Args:
        effort: the effort; if left out "normal", or no limit where one of the reasons says that you will wait.
        reasons: parameters that were given and that need scoring without a budget.

    Raises:
        ParameterError: If there is no such effort, or it is given together with one of the reasons.
    """
    if isinstance(effort, Budget):
        return effort
    if effort is None:
        effort = "unlimited" if reasons else "normal"
    if effort not in get_args(Effort):
        raise ParameterError(f"effort={effort!r}: choose one of {', '.join(map(repr, get_args(Effort)))}")
    if effort == "unlimited":
        return None
    if reasons:
        raise ParameterError(f'effort={effort!r}: leave out {reasons[0]}, or give effort="unlimited" with it')
    return BUDGETS[effort]


#: How many optional parents a set has, as it is told.
_SIZES = ("empty parent sets", *(f"parent sets of {n}" for n in ("one", "two", "three", "four")))


def given_up(looked_at: Sequence[int], permitted: Sequence[float], dear: int) -> tuple[str, ...]:
    """What scoring within a budget left out, in words; nothing if it looked at everything."""
    told = []
    for size, (seen, all_of_size) in enumerate(zip(looked_at, permitted, strict=True)):
        if seen < all_of_size:
            what = _SIZES[size] if size < len(_SIZES) else f"parent sets of {size}"
            which = "" if size < 2 else ", the most promising"
            told.append(f"of the {counted(all_of_size)} {what} {seen:,} were looked at{which}")
    if dear:
        told.append(f"{several(dear, 'parent set')} left out, as each would take too large a share of the time")
    return tuple(told)


def counted(number: float) -> str:
    """A number of sets: whole up to a billion, then to two digits."""
    return f"{number:,.0f}" if number < 1e9 else f"{number:.1e}"


def next_effort(effort: Effort) -> str:
    """What gives more, as it is told."""
    more = {"quick": '"normal"', "normal": '"thorough"', "thorough": '"unlimited"'}
    return f"effort={more[effort]}" if effort in more else ""


#: A family may take one part in so many of the steps for scoring.
FAMILY = 100
#: Steps that reading a cell and fitting its column's model take, about.
CELL = 270.0
#: Up to so many variables the search takes next to nothing, from so many all of its share.
QUICK_SEARCH, WHOLE_SEARCH = 40, 400


@dataclass(frozen=True)
class Foreseen:
    """What work is foreseen to take.

    Attributes:
        steps: counted steps of scoring, as far as the budget goes.
        in_full: the steps of all sets.
        seconds: of this machine's processor for the whole call: scoring, searching and fitting.
    """

    steps: float
    in_full: float
    seconds: float


def foreseen(handle: ScoreHandle, rules: Rules, most: int, budget: Budget) -> Foreseen:
    """About what learning takes on one core, by a sample's steps and this machine's time for a step."""
    costs = sampled(handle, rules, most, budget.sampling, budget.scoring // FAMILY)
    if costs is None:
        in_full = 1e9 * modelled(handle, sizes(rules, most))
    else:
        in_full = float(sum(n * each for n, each in zip(sizes(rules, most, optional=True), grown(costs), strict=False)))
    steps = min(in_full, float(budget.scoring))
    n = len(handle.table.names)
    rest = CELL * handle.table.n_rows * n
    if n > QUICK_SEARCH:
        rest += budget.searching * min(1.0, n / WHOLE_SEARCH)
    return Foreseen(steps, in_full, seconds_a_step() * (steps + rest))


@cache
def seconds_a_step() -> float:
    """What a counted step takes of this machine's processor time, by scoring a small table made for it."""
    rng = np.random.default_rng(0)
    columns = {f"x{i}": rng.normal(size=500) for i in range(5)}
    table = Table(columns | {f"y{i}": rng.integers(0, 4, 500).astype(str) for i in range(3)})
    handle = prepared(table, PCART())
    rules = resolved(None, table.names).spec()
    began = time.process_time()
    _, (steps, *_) = score_within(handle, 2, rules, 10**9, 1)
    return max(time.process_time() - began, 1e-3) / steps
