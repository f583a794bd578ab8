"""Scoring parent sets (step 1): every permitted parent set of every child, and which of them are worth keeping."""

from __future__ import annotations

import logging
import math
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from typing import TYPE_CHECKING, Literal

from arbornet._core import ParameterError, ScoreHandle, score_within, table_fingerprint
from arbornet.checks import real
from arbornet.given import Memory, Progress, ScoreLike, TableLike
from arbornet.graphs.constraints import Constraints, Rules, resolved
from arbornet.scores.prepare import checked_limit, prepared, step1
from arbornet.step1 import machines
from arbornet.step1.candidates import Candidates, from_step1
from arbornet.step1.effort import MOST_PARENTS, Budget, Effort, budget_of, given_up
from arbornet.step1.features import Selection, selected
from arbornet.step1.planning import affordable
from arbornet.step1.sampling import sizes
from arbornet.system.memory import in_bytes
from arbornet.text.progress import Tell, shown
from arbornet.text.terminal import several
from arbornet.text.wrong_calls import helpful

if TYPE_CHECKING:
    from distributed import Client

log = logging.getLogger("arbornet")


@helpful
def score_parents(
    table: TableLike,
    score: ScoreLike,
    max_parents: int | Literal["auto"] = 4,
    constraints: Constraints | Rules | None = None,
    n_jobs: int = -1,
    progress: Progress = None,
    checkpoint: str | PathLike[str] | None = None,
    client: Client | None = None,
    memory_limit: Memory | None = None,
    parents: Selection | None = None,
    n_candidates: int = 5,
    child_time_limit: float | None = None,
    prune: bool = True,
    effort: Effort | Budget | None = None,
    time_limit: float | None = None,
) -> Candidates:
    """Scores every permitted parent set of every variable and keeps those that score higher than all their subsets.

    Give required arcs here: a search that requires one later may miss sets that were left out because a subset without
    it scores as much, and then raises an error.

    The result is the same, byte for byte, for any number of threads or machines, and whether or not it was resumed.

    Args:
        table: a Table.
        score: the score.
        max_parents: the most parents of a set; "auto" for the most up to 4 that `plan` calls affordable.
        constraints: constraints on the graph.
        n_jobs: threads; -1 for all cores, -2 for all but one. A client's workers bring their own.
        progress: True for a bar on a terminal or log lines elsewhere, or a callable of (done, total); with
            `parents="forest"` it counts the forests first, then the sets.
        checkpoint: a folder to write finished blocks to. After an interruption, call again to continue from it (random
            forests are grown again); a checkpoint of another table, score, constraints or time per child is refused. It
            holds names and numbers, nothing that is executed.
        client: a ``distributed.Client`` whose workers do the scoring. They run the pickles they are sent: use your own
            machines.
        memory_limit: bytes, or text such as "4 GB", that layers in progress, or kept sets, may take; four fifths of the
            machine's by default.
            The score's own memory comes on top: up to 80 MB of counts, and the tables of each thread.
        parents: "forest" to score, for every child, only subsets of its best few candidates by a random forest; or a
            frame of ranks, as `rank_parents` makes it. `max_parents="auto"` is then `n_candidates`.
        n_candidates: how many these are, besides required parents.
        child_time_limit: seconds for the sets of each child, smaller sets first; the remaining sets are left out and
            reported as skipped, and the result then depends on the machine.
        prune: leave out the sets that a permitted subset beats or equals: the best graph needs none of them. False
            keeps all, for `search.k_best` over all graphs, or to require arcs afterwards; then every set has to be
            scored.
        effort: "quick", "normal" or "thorough" to look only at what a counted number of steps suffices for (about 5 s,
            30 s or 10 min on two ordinary cores), whatever the number of columns, rows and levels: all single parents
            first, then pairs, triples and so on of the most promising. `Candidates.given_up` says what was left out. If
            left out, all permitted sets are looked at.
        time_limit: with an effort, wall seconds; where they end the work, the result depends on the machine.

    Raises:
        ArbornetError: if a variable cannot be scored at all, or the constraints contradict each other.
        MemoryError: if the memory would not suffice; before the work where that can be known.

    Example:
        >>> candidates = an.score_parents(table, an.PCART(), max_parents=3)
        >>> candidates.child("stage").head()
    """
    began = time.perf_counter()
    limit = _memory() if memory_limit is None else int(min(in_bytes(memory_limit), 2**63 - 1024))
    handle = prepared(table, score)
    rules = resolved(constraints, handle.table.names)
    if parents is not None:
        rules = selected(table, parents, n_candidates, constraints, n_jobs=n_jobs, progress=progress)
        max_parents = max(map(len, rules.allowed), default=0) if max_parents == "auto" else max_parents
    if effort is not None:
        asked = {"checkpoint": checkpoint, "client": client, "child_time_limit": child_time_limit}
        reasons = [*(name for name, value in asked.items() if value is not None), *([] if prune else ["prune"])]
        budget = budget_of(effort, reasons)
        if budget is not None:
            most = MOST_PARENTS if max_parents == "auto" else checked_limit(max_parents)
            constrained = constraints is not None or parents is not None
            return _within(handle, rules, most, budget, n_jobs, progress, constrained, time_limit)
    elif time_limit is not None:
        raise ParameterError(f"time_limit={time_limit!r}: give an effort with it")
    if max_parents == "auto":
        max_parents, why = affordable(handle, rules)
        log.info("max_parents=%d: %s", max_parents, why)
    if child_time_limit is not None and child_time_limit != math.inf:
        handle = handle.limited(real("child_time_limit", child_time_limit))
    if not isinstance(prune, bool):
        raise ParameterError(f"prune={prune!r}: give True or False")
    step = step1(score, handle, checked_limit(max_parents), rules, limit, prune)
    n_sets = sum(map(sum, step.sizes))
    log.info("%d parent sets of up to %d parents", n_sets, max_parents)
    with _told(progress, n_sets) as tell:
        result = step.run(n_jobs, checkpoint, tell) if client is None else machines.run(step, client, checkpoint, tell)
    about = {
        "max_parents": max_parents,
        "score": handle.spec,
        "table": table_fingerprint(handle.table),
        "constraints": None if constraints is None and parents is None else rules.spec(),
        "pruned": prune,
    }
    made = from_step1(result, began, about)
    if made.n_skipped:
        first = made.skipped[0]
        told = several(made.n_skipped, "parent set")
        log.warning("%s left out, as they cannot be scored; the first: %s", told, first.reason)
    log.info("%r", made)
    return made


def _within(
    handle: ScoreHandle,
    rules: Rules,
    max_parents: int,
    budget: Budget,
    n_jobs: int,
    progress: Progress,
    constrained: bool,
    time_limit: float | None,
) -> Candidates:
    """The candidates that a counted budget suffices for."""
    began = time.perf_counter()
    most = max([max_parents, *map(len, rules.required)])
    n_sets = min(sum(sizes(rules, most)), 2**62)
    with _told(progress, n_sets) as tell:
        result, spent = score_within(handle, most, rules.spec(), budget.scoring, n_jobs, tell, time_limit)
    steps, looked_at, permitted, dear, _ = spent
    about = {
        "max_parents": most,
        "score": handle.spec,
        "table": table_fingerprint(handle.table),
        "constraints": rules.spec() if constrained else None,
        "given_up": given_up(looked_at, permitted, dear),
    }
    made = from_step1(result, began, about)
    log.info("%r, %.3g steps", made, steps)
    return made


@contextmanager
def _told(progress: Progress, n_sets: int) -> Iterator[Tell | None]:
    """The progress function of the core, which counts effort (large sets weigh more), in numbers of sets."""
    with shown("scoring parent sets", progress) as tell:
        if tell is None:
            yield None
        else:
            yield lambda done, total: tell(n_sets * done // max(total, 1), n_sets)


def _memory() -> int | None:
    try:
        return int(0.8 * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        return None
