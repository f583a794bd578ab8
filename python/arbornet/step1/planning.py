"""Before you start: how many parent sets there are, which cannot be scored, and about how long it will take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from arbornet._core import ScoreHandle, Step1, TableHandle, threads
from arbornet.data.incomplete import rows_of
from arbornet.data.table import Table
from arbornet.given import FrameLike, ScoreLike, TableLike
from arbornet.graphs.constraints import Constraints, Rules, resolved
from arbornet.scores.prepare import checked_limit, prepared, step1, table_handle
from arbornet.scores.usual import usual
from arbornet.step1.candidates import Skipped
from arbornet.step1.effort import MOST_PARENTS, Budget, Effort, budget_of, foreseen
from arbornet.step1.sampling import counted, grown, modelled, sizes
from arbornet.text import notebook
from arbornet.text.terminal import brief, several, time_range, wrapped
from arbornet.text.wrong_calls import helpful

#: "auto" may cost this many seconds of one core of the machine on which the cost model was measured.
BUDGET = 600.0
#: The time of a run is between these multiples of the estimate.
FASTER, SLOWER = 0.6, 2.0
#: The most families that are checked whether they can be scored; of more, a seeded sample of this size.
CHECKS = 300_000


def affordable(handle: ScoreHandle, rules: Rules) -> tuple[int, str]:
    """The largest limit on the number of parents up to 4 that is called affordable, and why.

    Trees and full tables count the steps of a seeded sample of families, other scores have a stated model: the choice
    is the same on every machine.
    """
    needed = max((len(required) for required in rules.required), default=0)
    costs = counted(handle, rules, max(MOST_PARENTS, needed))

    def cost(most: int) -> float:
        if costs is None:
            return modelled(handle, sizes(rules, most))
        return sum(n * each for n, each in zip(sizes(rules, most, optional=True), costs, strict=False))

    told = []
    for most in range(MOST_PARENTS, needed, -1):
        seconds = cost(most)
        if seconds <= BUDGET:
            break
        told.append(f"{most} would take about {brief(seconds)}")
    else:
        most = needed
    if told:
        return most, f"{', '.join(told)} on one core; the limit is {BUDGET / 60:.0f} min"
    return most, f"{MOST_PARENTS} is the most it tries" if most == MOST_PARENTS else "as many as are required"


@dataclass(frozen=True, repr=False)
class Plan:
    """What scoring the parent sets (step 1) would take.

    Attributes:
        names: the variables.
        max_parents: the most parents of a set.
        per_child: the number of sets of every variable.
        by_size: the number of sets with 0, 1, ... parents, over all variables.
        seconds: about how long it takes on one core, from timing a seeded sample.
        memory: bytes of the layers of one variable, the most under way per thread, beside the sets kept.
        n_unscorable: how many sets cannot be scored (of a sample, carried over, if there are very many sets).
        unscorable: the first of those, with the reason and what to do.
        why: how "auto" came to its choice, or what an effort suffices for.
        effort: the effort, if there is one: then `seconds` is what it allows, or less, with searching and fitting.
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
    effort: Effort | None = None

    @property
    def n_sets(self) -> int:
        """The number of sets of all variables."""
        return sum(self.per_child)

    def _lines(self) -> list[str]:
        cores = threads(-1)
        lines = [
            f"{several(self.n_sets, 'parent set')} of up to {several(self.max_parents, 'parent')}, "
            f"{several(len(self.names), 'variable')}",
            "by number of parents: " + ", ".join(f"{size}: {n:,}" for size, n in enumerate(self.by_size)),
            "by variable: " + _grouped(self.names, self.per_child),
            f"time: {self.time(cores)} on {cores} core{'s' if cores > 1 else ''}",
        ]
        if self.effort is None:
            lines.append(f"memory: about {max(self.memory / 1e6, 0.1):,.1f} MB a thread, beside the sets kept")
        elif self.why:
            lines.append(f"effort {self.effort!r}: {self.why}")
        if self.why and self.effort is None:
            lines.insert(1, f"limit on parents chosen automatically: {self.max_parents} ({self.why})")
        if self.n_unscorable:
            lines.append(f"{self.n_unscorable:,} sets cannot be scored and would be left out:")
            lines += [f"  {skipped.reason}" for skipped in self.unscorable[:5]]
            if self.n_unscorable > 5:
                lines.append("  ...")
        return lines

    def __str__(self) -> str:
        return "\n".join(wrapped(line, "    ") for line in self._lines())

    def time(self, cores: int = 1) -> str:
        """About how long it takes on so many cores, as a range: `2 to 5 s`."""
        return time_range(FASTER * self.seconds / cores, SLOWER * self.seconds / cores)

    def __repr__(self) -> str:
        return f"Plan({self._lines()[0]}, {self.time()} on one core)"

    def _repr_html_(self) -> str:
        sets, *lines = self._lines()
        rows = [("sets", sets)]
        for line in lines:
            name, between, says = line.partition(": ")
            rows.append((name, says) if between and not line.startswith(" ") else ("", line.strip().rstrip(":")))
        return notebook.table(("scoring parent sets", "what it takes"), rows)


@helpful
def plan(
    table: TableLike | FrameLike,
    score: ScoreLike | None = None,
    max_parents: int | Literal["auto"] | None = None,
    constraints: Constraints | Rules | None = None,
    seconds: float = 1.0,
    effort: Effort | Budget | None = None,
) -> Plan:
    """What `score_parents` would do: how many sets, which cannot be scored, how long, how much memory.

    With a frame alone, or with an effort, it is what `learn` would do, and the time is that of the whole call: of the
    steps which the effort allows, by what a seeded sample of families takes on this machine's processor.

    Args:
        table: a Table, or any frame.
        score: the score; that of `learn` if left out.
        max_parents: the most parents of a set; "auto" for the most up to 4 that is put within ten minutes of one core
            by counted steps, or a stated model where a score does not count them: not by this machine's speed. With an
            effort 4, if left out or "auto".
        constraints: constraints on the graph.
        seconds: how long to time families, where there is no effort.
        effort: as for `learn`; `"normal"` if neither score nor `max_parents` is given.

    Example:
        >>> print(an.plan(frame))
        >>> print(an.plan(table, an.PCART(), max_parents="auto"))
    """
    if effort is None and score is None and max_parents is None:
        effort = "normal"
    if not isinstance(table, Table | TableHandle):
        rows = rows_of(table)
        table = rows if isinstance(rows, Table) else rows.as_if_complete()
    score = usual(scale is not None for scale in table_handle(table).scales) if score is None else score
    handle = prepared(table, score)
    rules = resolved(constraints, handle.table.names)
    budget = None if effort is None else budget_of(effort)
    if budget is not None:
        most = MOST_PARENTS if max_parents in (None, "auto") else checked_limit(max_parents)
        return _within(handle, rules, most, budget)
    max_parents = ("auto" if effort == "unlimited" else MOST_PARENTS) if max_parents is None else max_parents
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
    estimate = estimated(step, rules, max_parents, seconds) if per_child else 0.0
    memory = int(step.bytes_per_child)
    return Plan(tuple(names), max_parents, per_child, by_size, estimate, memory, n_unscorable, unscorable, why)


def _within(handle: ScoreHandle, rules: Rules, most: int, budget: Budget) -> Plan:
    """What an effort makes of a table."""
    most = max([most, *map(len, rules.required)])
    names = handle.table.names
    by_size = sizes(rules, most)
    of_child = zip(rules.required, rules.allowed, rules.max_parents, strict=True)
    per_child = [sum(sizes(Rules(("",), (r,), (a,), (m,)), most)) for r, a, m in of_child]
    told = foreseen(handle, rules, most, budget)
    why = None
    if told.in_full > budget.scoring:
        share = float(f"{told.steps / told.in_full:.1g}")
        why = f"the most promising, {f'about {share:.0%}' if share >= 0.01 else 'less than 1%'} of the work of all"
    return Plan(tuple(names), most, tuple(per_child), tuple(by_size), told.seconds, 0, 0, (), why, budget.effort)


def estimated(step: Step1, rules: Rules, max_parents: int, seconds: float) -> float:
    """Seconds on one core, from a timed sample by number of optional parents; beyond it, costs grow as they did."""
    counts = sizes(rules, min(max_parents, len(rules.allowed)), optional=True)
    return sum(n * cost for n, cost in zip(counts, grown(step.time(seconds)), strict=False))


def _grouped(names: Sequence[str], counts: Sequence[int]) -> str:
    """Variables with as many sets, together."""
    groups: dict[int, list[str]] = {}
    for name, count in zip(names, counts, strict=True):
        groups.setdefault(count, []).append(name)
    if len(groups) == 1:
        return f"{counts[0]:,} each"
    return ", ".join(f"{' '.join(of[:5])}{' ...' if len(of) > 5 else ''} {n:,}" for n, of in sorted(groups.items()))
