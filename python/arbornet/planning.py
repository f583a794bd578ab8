"""Before the start: how many parent sets there are, which cannot be scored, and about how long it will take."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from arbornet._core import ScoreHandle, Step1, TableHandle
from arbornet.candidates import Skipped, brief
from arbornet.constraints import Constraints, Rules, resolved
from arbornet.prepare import checked_limit, prepared, step1

#: "auto" may cost so many seconds of one core of the machine that the cost model was made on.
BUDGET = 600.0
#: The most parents that "auto" considers.
MOST = 4
#: Families that are asked whether they can be scored; beyond, a seeded sample of so many.
CHECKS = 300_000


@dataclass(frozen=True)
class Cost:
    """A stated model of what one family costs: ``fixed + rows * row * product of the parents' growths`` nanoseconds.

    A parent's growth is `continuous`, or its number of levels to the power `levels`.
    """

    fixed: float
    row: float
    continuous: float
    levels: float

    def seconds(self, table: TableHandle, n_parents: int) -> float:
        """Of an average family with so many parents."""
        levels = [table.levels(v) for v in range(len(table.names))]
        growths = [self.continuous if of is None else max(len(of), 1) ** self.levels for of in levels]
        growth = sum(growths) / max(len(growths), 1)
        return 1e-9 * (self.fixed + table.n_rows * self.row * growth**n_parents)


#: Counted, not timed: the choice must be the same everywhere. Against user CPU of families of four parents on nine
#: tables of 178 to 4,177 rows, PCART says from 11 times too much (levels alone, three a variable) to 5 times too
#: little (twenty variables of up to five levels), two to four times too much where most variables are numbers.
COSTS = {
    "pcart": Cost(fixed=2000, row=2, continuous=8, levels=1.3),
    "full_table": Cost(fixed=2000, row=0.7, continuous=7.5, levels=0.2),
    # Of the scores for mixed tables: random families of 0 to 4 parents among 100 variables of 1,000 rows.
    "degenerate_gaussian": Cost(fixed=1000, row=0.5, continuous=1.6, levels=0.7),
    "basis_functions": Cost(fixed=1000, row=0.5, continuous=1.8, levels=0.7),
    "conditional_gaussian": Cost(fixed=2000, row=2, continuous=1.4, levels=0.3),
    "mixed_polynomial": Cost(fixed=2000, row=6, continuous=2.0, levels=0.4),
    "logistic_regression": Cost(fixed=5000, row=30, continuous=2.0, levels=0.4),
    "multinomial": Cost(fixed=2000, row=1, continuous=1.2, levels=0.2),
    "custom": Cost(fixed=1_000_000, row=0, continuous=1, levels=0),
}
DEFAULT = Cost(fixed=2000, row=10, continuous=2, levels=0.2)


def affordable(handle: ScoreHandle, rules: Rules) -> tuple[int, str]:
    """The largest limit on the number of parents up to 4 that the cost model calls affordable, and why."""
    table = handle.table
    needed = max((len(required) for required in rules.required), default=0)
    told = []
    for most in range(MOST, needed, -1):
        seconds = modelled(handle, sizes(rules, most))
        if seconds <= BUDGET:
            break
        told.append(f"{most} would cost about {brief(seconds)}")
    else:
        most, seconds = needed, modelled(handle, sizes(rules, needed))
    because = f"about {brief(seconds)} by the cost model for {table.n_rows:,} rows"
    return most, "; ".join([because, *told]) + f"; the budget is {brief(BUDGET)} of one core"


def sizes(rules: Rules, max_parents: int) -> list[int]:
    """How many sets there are with 0, 1, ... parents, over all children."""
    out = [0] * (max_parents + 1)
    for required, allowed, most in zip(rules.required, rules.allowed, rules.max_parents, strict=True):
        optional = len(allowed) - len(required)
        for size in range(len(required), min(most, max_parents) + 1):
            out[size] += math.comb(optional, size - len(required))
    return out


def modelled(handle: ScoreHandle, by_size: Sequence[int]) -> float:
    """Seconds that so many sets of 0, 1, ... parents cost by the cost model."""
    cost = COSTS.get(json.loads(handle.spec)["score"], DEFAULT)
    return sum(n * cost.seconds(handle.table, size) for size, n in enumerate(by_size))


@dataclass(frozen=True)
class Plan:
    """What Step 1 would do.

    Attributes:
        names: the variables.
        max_parents: the most parents of a set.
        per_child: the number of sets of every variable.
        by_size: the number of sets with 0, 1, ... parents, over all variables.
        seconds: about how long it takes on one core, from timing a seeded sample.
        memory: bytes of the layers of one variable, the most under way per thread, beside the sets kept.
        n_unscorable: how many sets cannot be scored (of a sample, carried over, if there are very many sets).
        unscorable: the first of those, with the reason and what to do.
        why: how "auto" came to its choice.
    """

    names: tuple[str, ...]
    max_parents: int
    per_child: tuple[int, ...]
    by_size: tuple[int, ...]
    seconds: float
    memory: int
    n_unscorable: int
    unscorable: tuple[Skipped, ...]
    why: str | None = None

    @property
    def n_sets(self) -> int:
        """The number of sets of all variables."""
        return sum(self.per_child)

    def __str__(self) -> str:
        cores = os.cpu_count() or 1
        spread = f", {brief(self.seconds / cores)} on {cores}" if cores > 1 else ""
        lines = [
            f"{self.n_sets:,} parent sets of up to {self.max_parents} parents, {len(self.names)} variables",
            "by number of parents: " + ", ".join(f"{size}: {n:,}" for size, n in enumerate(self.by_size)),
            "by variable: " + _grouped(self.names, self.per_child),
            f"about {brief(self.seconds)} on one core{spread}",
            f"memory: about {max(self.memory / 1e6, 0.1):,.1f} MB a thread, beside the sets kept",
        ]
        if self.why:
            lines.insert(1, f'max_parents="auto" is {self.max_parents}: {self.why}')
        if self.n_unscorable:
            lines.append(f"{self.n_unscorable:,} sets cannot be scored and would be left out:")
            lines += [f"  {skipped.reason}" for skipped in self.unscorable[:5]]
            if self.n_unscorable > 5:
                lines.append("  ...")
        return "\n".join(lines)


def plan(
    table: Any,
    score: Any,
    max_parents: int | Literal["auto"] = 4,
    constraints: Constraints | Rules | None = None,
    seconds: float = 1.0,
) -> Plan:
    """What `score_parents` would do: how many sets, which cannot be scored, how long, how much memory.

    The time is estimated by scoring a seeded sample for about as many seconds as said, each number of parents in turn.

    Args:
        table: a Table.
        score: the score.
        max_parents: the most parents of a set; "auto" for the most up to 4 that a stated cost model (rows, kinds and
            number of sets, not this machine's speed) puts within ten minutes of one core.
        constraints: what the structure must obey.
        seconds: how long to time families.

    Example:
        >>> print(an.plan(table, an.PCART(), max_parents="auto"))
    """
    handle = prepared(table, score)
    rules = resolved(constraints, handle.table.names)
    why = None
    if max_parents == "auto":
        max_parents, why = affordable(handle, rules)
    step = step1(score, handle, checked_limit(max_parents), rules)
    per_child = tuple(sum(of) for of in step.sizes)
    by_size = tuple(sizes(rules, max(map(len, step.sizes), default=1) - 1))
    n_checked, n_bad, first = step.check(CHECKS, 100)
    n_unscorable = round(n_bad * sum(per_child) / n_checked) if n_checked else 0
    names = handle.table.names
    unscorable = tuple(Skipped(names[c], tuple(names[p] for p in parents), why_not) for c, parents, why_not in first)
    estimate = estimated(step, seconds) if per_child else 0.0
    memory = int(step.bytes_per_child)
    return Plan(tuple(names), max_parents, per_child, by_size, estimate, memory, n_unscorable, unscorable, why)


def estimated(step: Step1, seconds: float) -> float:
    """Seconds on one core, from a timed sample by number of optional parents; beyond it, costs grow as they did."""
    counts: list[int] = []
    for of in step.sizes:
        free = of[next((i for i, n in enumerate(of) if n), 0) :]
        counts += [0] * (len(free) - len(counts))
        for size, n in enumerate(free):
            counts[size] += n
    total = before = each = 0.0
    for n, (timed, spent) in zip(counts, step.time(seconds), strict=True):
        growth = max(each / before, 1.0) if before else 1.0
        before, each = each, spent / timed if timed else each * growth
        total += n * each
    return total


def _grouped(names: Sequence[str], counts: Sequence[int]) -> str:
    """Variables with as many sets, together."""
    groups: dict[int, list[str]] = {}
    for name, count in zip(names, counts, strict=True):
        groups.setdefault(count, []).append(name)
    if len(groups) == 1:
        return f"{counts[0]:,} each"
    return ", ".join(f"{' '.join(of[:5])}{' ...' if len(of) > 5 else ''} {n:,}" for n, of in sorted(groups.items()))
