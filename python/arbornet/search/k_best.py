"""How certain the structure is: the k best graphs, and the probability of every arc among them."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
import polars as pl

from arbornet import _core
from arbornet._core import CandidatesHandle, ParameterError
from arbornet.given import CandidatesLike, Memory, Progress
from arbornet.graphs.constraints import Constraints, resolved
from arbornet.search.base import Found, Stopped, count, dag_from_parents, total_of
from arbornet.search.budget import Budget
from arbornet.search.components import ExactSearch, NoGraphError
from arbornet.search.greedy import limited
from arbornet.search.source import handle_of, known, obeying
from arbornet.text import notebook
from arbornet.text.progress import shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from arbornet.text.progress import Tell

    Sets = tuple[NDArray[np.float64], NDArray[np.uint32], NDArray[np.uint32]]

#: Bytes that the tables may take where nothing else is said: 25 variables that can all be each other's ancestors.
MEMORY = 2e9
#: Graphs that a notebook lists.
MOST_SHOWN = 20


@dataclass(frozen=True, repr=False)
class KBest(Sequence[Found]):
    """Graphs by falling score.

    Attributes:
        graphs: the graphs; each one's `gap` is its distance from the best.
        complete: true if the sets make no further graphs within the margin (without a margin: no further graphs at
            all).
        pruned: true if sets were, or may have been, left out of the candidates because a subset scores as much. The
            first graph is the best of all even so; further ones that use such sets are not in the list.
        stopped: "proven", or the limit that made the list shorter than `k`.
    """

    graphs: tuple[Found, ...]
    complete: bool
    stopped: Stopped = "proven"
    pruned: bool = True

    def __len__(self) -> int:
        return len(self.graphs)

    @overload
    def __getitem__(self, index: int) -> Found: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Found, ...]: ...
    def __getitem__(self, index: int | slice) -> Found | tuple[Found, ...]:
        return self.graphs[index]

    def __iter__(self) -> Iterator[Found]:
        return iter(self.graphs)

    @property
    def weights(self) -> list[float]:
        """Each graph's share, proportional to exp(score): its posterior probability, were there no other graphs.

        There are others where `complete` is false, and where `pruned` is true.
        """
        best = max(found.score for found in self.graphs)
        shares = [math.exp(found.score - best) for found in self.graphs]
        total = math.fsum(shares)
        return [share / total for share in shares]

    def arc_probabilities(self) -> pl.DataFrame:
        """The weight of the graphs that have an arc, for every arc that any of them has; most probable first.

        Returns:
            A frame with the columns parent, child and probability.
        """
        arcs: dict[tuple[str, str], list[float]] = {}
        for found, weight in zip(self.graphs, self.weights, strict=True):
            for arc in found.dag.edges:
                arcs.setdefault(arc, []).append(weight)
        place = {name: i for i, name in enumerate(self.graphs[0].dag.nodes)}
        summed = [(parent, child, min(1.0, math.fsum(weights))) for (parent, child), weights in arcs.items()]
        summed.sort(key=lambda arc: (-arc[2], place[arc[1]], place[arc[0]]))
        schema = {"parent": pl.String, "child": pl.String, "probability": pl.Float64}
        return pl.DataFrame(summed, schema=schema, orient="row")

    def __repr__(self) -> str:
        scores = f"{self.graphs[0].score:.6f} to {self.graphs[-1].score:.6f}"
        ending = ""
        if self.complete:
            ending = ", all that the kept sets make" if self.pruned else ", all there are"
        ending = ending if self.stopped == "proven" else f", stopped by {self.stopped}"
        return f"KBest({len(self)} graphs, scores {scores}{ending})"

    def _repr_html_(self) -> str:
        best = set(self.graphs[0].dag.edges)
        rows = []
        shown = zip(self.graphs[:MOST_SHOWN], self.weights, strict=False)
        for place, (found, weight) in enumerate(shown, 1):
            arcs = set(found.dag.edges)
            changes = [f"+ {parent} → {child}" for parent, child in found.dag.edges if (parent, child) not in best]
            changes += [
                f"− {parent} → {child}" for parent, child in self.graphs[0].dag.edges if (parent, child) not in arcs
            ]
            rows.append((place, f"{found.score:.6f}", f"{weight:.3g}", len(arcs), ", ".join(changes)))
        more = len(self) - len(rows)
        rest = f"; {more:,} more graphs" if more > 0 else ""
        head = ("place", "score", "weight", "arcs", "unlike the best graph")
        return notebook.table(head, rows, f"{self!r}{rest}")


def k_best(
    candidates: CandidatesLike,
    k: int,
    margin: float | None = None,
    *,
    constraints: Constraints | None = None,
    max_parents: int | None = None,
    time_limit: float | None = None,
    memory_limit: Memory | None = None,
    progress: Progress = None,
    n_jobs: int = -1,
) -> KBest:
    """The k best graphs, proved; or all within a margin of the best, up to k.

    The graphs are made of the given candidates. By default `score_parents` leaves out a set if a subset scores at least
    as much: the best graph needs none of these, but the second best may. To rank all graphs, keep all sets:
    `score_parents(..., prune=False)`.

    Up to about 25 variables that can all be each other's ancestors, the graphs are ranked together by dynamic
    programming. Beyond, or in less memory, they are found one after the other, each by an exact search among those not
    yet found: slower, but what is there when a limit is reached, or on Ctrl-C, is the beginning of the list.

    Args:
        candidates: what score_parents gave, Candidates.load, or the path of a .jkl file.
        k: the most graphs.
        margin: only graphs whose score is no more than this below the best.
        constraints: constraints on the graphs.
        max_parents: the most parents of any variable.
        time_limit: wall seconds.
        memory_limit: bytes, or text such as "4 GB", as for `exact`; the default is four fifths of what is free (2 GB
            for the tables).
        progress: True to show how many graphs are found.
        n_jobs: threads of each exact search; -1 for all cores.

    Returns:
        The graphs by falling score (ties: fewer arcs first), with their weights and the probabilities of the arcs. When
        a limit is reached, fewer graphs; if not even the best was proved, the best so far with its bound.

    Raises:
        ArbornetError: if there is no graph, a parameter is outside its range, or an arc is required that was not
            required when the candidates were scored, and sets with it may be missing.

    Example:
        >>> an.search.k_best(candidates, 100).arc_probabilities()
    """
    budget = Budget(time_limit, memory_limit)
    candidates = known(candidates)
    names, pruned = handle_of(candidates).names, getattr(candidates, "pruned", True)
    k = count("k", k, 1, 2**62)
    within = math.inf if margin is None else margin
    if not isinstance(within, int | float) or not within >= 0:
        raise ParameterError(f"margin={margin!r}: give a score difference from 0 up")
    rules = limited(resolved(constraints, names), max_parents)
    tables = min(budget.bytes, MEMORY if memory_limit is None else math.inf)
    spec = rules.spec()
    handle = obeying(candidates, None if constraints is None and max_parents is None else spec)
    # Half of the time for the tables: if they are not done by then, the other half still finds the best graphs.
    share = None if budget.left is None else budget.left / 2
    interrupted = False
    try:
        # One more than k, to know whether the list is complete.
        ranked = _core.k_best(handle, spec, k + 1, within, tables, share, None)
        interrupted = ranked is None and (share is None or budget.seconds < share)
    except MemoryError:
        ranked = None
    if ranked is None:
        rest = Budget(0.0, budget.bytes) if interrupted else budget
        with shown("ranking graphs", progress) as tell:
            found = Ranking(handle, rest, n_jobs, tell).run(k, within)
        return replace(found, pruned=pruned, stopped="interrupted" if interrupted else found.stopped)
    best = total_of(ranked[0][1])
    graphs = tuple(
        Found(dag_from_parents(names, parents), total_of(scores), best, "proven", budget.seconds)
        for parents, scores in ranked[:k]
    )
    return KBest(graphs, complete=len(ranked) <= k, pruned=pruned)


class Ranking:
    """One graph after the other (Lawler 1972).

    The best graph is found; all others differ from it in the set of some variable. They are divided by the first that
    differs: the variables before it keep their sets, its own set is banned. The best of each part is found by the exact
    search; the best of these is the second graph, whose part is divided anew, and so on. Nothing is found twice.
    """

    def __init__(self, handle: CandidatesHandle, budget: Budget, n_jobs: int = -1, tell: Tell | None = None):
        self.handle = handle
        self.budget = budget
        self.n_jobs = n_jobs
        self.tell = tell
        self.sets = [handle.child(v) for v in range(handle.n_vars)]
        self.waiting: list[tuple[float, int, int, Part, Found]] = []
        self.made = 0

    def run(self, k: int, margin: float) -> KBest:
        """The list, or its beginning."""
        graphs: list[Found] = []
        first = self._search(Part((), frozenset()))
        assert first is not None
        if first.stopped != "proven":
            return KBest((first,), complete=False, stopped=first.stopped)
        least = first.score - margin - slack(first.score)
        try:
            while self.waiting and self.waiting[0][0] <= -least:
                if len(graphs) == k:
                    return KBest(tuple(graphs), complete=False)
                *_, part, found = heapq.heappop(self.waiting)
                graphs.append(replace(found, bound=first.score, certificate=None, details={}, incumbents=()))
                if self.tell:
                    self.tell(len(graphs), k)
                for smaller in self._divide(part, found):
                    ended = self._search(smaller)
                    if ended is not None and ended.stopped != "proven":
                        return KBest(tuple(graphs), complete=False, stopped=ended.stopped)
        except KeyboardInterrupt:  # between two searches, of which each takes the key by itself
            if not graphs:
                raise
            return KBest(tuple(graphs), complete=False, stopped="interrupted")
        return KBest(tuple(graphs), complete=True)

    def _search(self, part: Part) -> Found | None:
        """Finds the best graph of a part and lets it wait for its turn; None if there is none."""
        try:
            found = ExactSearch(self._restricted(part), self.budget, n_jobs=self.n_jobs).run()
        except NoGraphError:
            return None
        if found.stopped == "proven":
            self.made += 1
            heapq.heappush(self.waiting, (-found.score, found.dag.number_of_edges(), self.made, part, found))
        return found

    def _divide(self, part: Part, found: Found) -> Iterator[Part]:
        names = self.handle.names
        place = {name: v for v, name in enumerate(names)}
        chosen = [self._rank(v, sorted(place[p] for p in found.dag.predecessors(names[v]))) for v in range(len(names))]
        for v in range(len(part.fixed), len(names)):
            banned = part.banned if v == len(part.fixed) else frozenset()
            yield Part(tuple(chosen[:v]), banned | {chosen[v]})

    def _rank(self, v: int, parents: list[int]) -> int:
        scores, offsets, flat = self.sets[v]
        return next(i for i in range(len(scores)) if flat[offsets[i] : offsets[i + 1]].tolist() == parents)

    def _restricted(self, part: Part) -> CandidatesHandle:
        sets = list(self.sets)
        for v, rank in enumerate(part.fixed):
            sets[v] = _kept(sets[v], np.asarray([rank]))
        if part.banned:
            v = len(part.fixed)
            sets[v] = _kept(sets[v], np.setdiff1d(np.arange(len(sets[v][0])), sorted(part.banned)))
            if not len(sets[v][0]):
                raise NoGraphError(f"no set is left for '{self.handle.names[v]}'")
        return CandidatesHandle.from_arrays(self.handle.names, sets)


def slack(score: float) -> float:
    """Scores that differ by less than this count as equal where they are compared with the margin."""
    return 1e-9 * max(min(abs(score), 1.0), 1e-5 * abs(score))


class Part(NamedTuple):
    """Graphs in which the first variables have given sets, and the next one none of the banned (by rank)."""

    fixed: tuple[int, ...]
    banned: frozenset[int]


def _kept(sets: Sets, ranks: Any) -> Sets:
    scores, offsets, flat = sets
    members = [flat[offsets[i] : offsets[i + 1]] for i in ranks]
    ends = np.cumsum([0, *(len(m) for m in members)]).astype(np.uint32)
    return scores[ranks], ends, np.concatenate([*members, np.zeros(0, dtype=np.uint32)])
