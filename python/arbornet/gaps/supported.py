"""Which arcs the observed values support: a value that was drawn is no evidence.

Rows are completed by draws from a network, so what that network has by chance, the completed rows repeat: of a column
that is nearly always missing they make arcs look certain of which the few observed values say nothing. Here each arc is
judged by rows in which everything is observed: those that have all values of its family, and those that have both of
its ends. An arc stays if in either of them the score is higher with it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from arbornet._core import ArbornetError, ScoreHandle
from arbornet.data.incomplete import CompletedTable, Incomplete
from arbornet.data.table import Table
from arbornet.gaps.start import FEWEST_ROWS, OF_CELL, OF_TABLE
from arbornet.graphs.constraints import Rules
from arbornet.network import BayesNet
from arbornet.network.fit import fit
from arbornet.network.used import unused_parents
from arbornet.scores.prepare import Score, prepared
from arbornet.search.base import dag_from_parents
from arbornet.system.parallel import side_by_side

#: So many arcs that are left out are told by name.
MOST_TOLD = 6


@dataclass(frozen=True)
class Supported:
    """What is left of the arcs of a graph.

    Attributes:
        parents: Of every variable, by positions.
        gains: By child and parent, how much higher the observed values score with the arc; only of families with gaps.
        dropped: The arcs that are left out, as (parent, child).
    """

    parents: list[list[int]]
    gains: dict[tuple[int, int], float]
    dropped: list[tuple[int, int]]


def only_supported(
    gaps: Incomplete,
    table: CompletedTable,
    net: BayesNet,
    score: Score,
    rules: Rules,
    steps: float,
    n_jobs: int,
    tell: Callable[[str], None],
) -> BayesNet:
    """A network without the arcs that no observed values support; what these say of the others are its arc scores.

    Args:
        gaps: The rows.
        table: The rows as they were completed last, to which the network was fitted.
        net: The network.
        score: The score.
        rules: The constraints.
        steps: As for `supported`.
        n_jobs: Threads, -1 for all cores.
        tell: Prints a line.
    """
    names = gaps.names
    parents = [net.handle.parents(v) for v in range(len(names))]
    found = supported(gaps, parents, score, rules, steps, n_jobs)
    if found.dropped:
        arcs = [f"{names[p]} -> {names[v]}" for p, v in found.dropped]
        more = f" and {len(arcs) - MOST_TOLD} more" if len(arcs) > MOST_TOLD else ""
        them = "it" if len(arcs) == 1 else "them"
        tell(f"left out: {', '.join(arcs[:MOST_TOLD])}{more}, as the observed values do not support {them}")
        kept = fit(table, dag_from_parents(names, found.parents), score, n_jobs=n_jobs)
        # What constraints direct stays directed.
        gone = {(names[p], names[v]) for p, v in found.dropped}
        directed = None if net.origin.directed is None else tuple(a for a in net.origin.directed if a not in gone)
        search = {**net.origin.search, "unsupported": arcs}
        kept.origin = dataclasses.replace(kept.origin, search=search, directed=directed)
        net = kept
        tell(f"network: {net!r}")
    if net.origin.contributions is not None:
        lost = zip(found.parents, net.origin.contributions, strict=True)
        judged = (
            tuple(found.gains.get((v, p), each) for p, each in zip(of, own, strict=True))
            for v, (of, own) in enumerate(lost)
        )
        net = BayesNet(net.handle, net.schema, dataclasses.replace(net.origin, contributions=tuple(judged)))
    return net


def supported(
    gaps: Incomplete, parents: Sequence[Sequence[int]], score: Score, rules: Rules, steps: float, n_jobs: int
) -> Supported:
    """The arcs that observed values support, or that are required.

    Args:
        gaps: The rows.
        parents: Of every variable, by positions.
        score: The score.
        rules: The constraints.
        steps: What may be spent, in counted steps. Families with the fewest observed rows are judged first; where it
            does not suffice, arcs stay unjudged.
        n_jobs: Threads, -1 for all cores.
    """
    shares = {v: float(gaps.known_together((v, *of)).mean()) for v, of in enumerate(parents) if of}
    doubtful = sorted((v for v, share in shares.items() if share < 1), key=lambda v: (shares[v], v))
    if not doubtful:
        return Supported([list(of) for of in parents], {}, [])
    whole = prepared(gaps.as_if_complete(), score)
    judged, spent = [], 0.0
    for v in doubtful:
        spent += _cost(gaps, whole, v, parents[v], shares[v])
        if spent <= steps:
            judged.append(v)

    def work(v: int, _: int) -> tuple[list[int], dict[int, float]]:
        return _judged(_Gains(gaps, score, v), list(parents[v]), set(rules.required[v]))

    left = [list(of) for of in parents]
    gains: dict[tuple[int, int], float] = {}
    for at, (of, own) in side_by_side(work, judged, n_jobs):
        left[judged[at]] = of
        # A required arc of which no row tells anything gains nothing.
        gains |= {(judged[at], p): gain if gain > float("-inf") else 0.0 for p, gain in own.items()}
    dropped = [(p, v) for v, of in enumerate(parents) for p in of if p not in left[v]]
    return Supported(left, gains, dropped)


def _judged(
    gain: Callable[[int, list[int]], float], of: list[int], needed: set[int]
) -> tuple[list[int], dict[int, float]]:
    """The parents that are left when the weakest unsupported one goes, until there is none, with the others' gains."""
    while True:
        gains = {p: gain(p, of) for p in of}
        weak = [p for p in of if p not in needed and gains[p] <= 0]
        if not weak:
            return of, gains
        weakest = min(weak, key=lambda p: (gains[p], p))
        of = [p for p in of if p != weakest]


class _Gains:
    """Differences of a variable's score on the same rows, which have all values that are asked for."""

    def __init__(self, gaps: Incomplete, score: Score, child: int) -> None:
        self.gaps, self.score, self.child = gaps, score, child
        self._scored: dict[bytes, ScoreHandle | None] = {}
        self._found: dict[tuple[bytes, tuple[int, ...]], float] = {}
        self._without: dict[tuple[bytes, tuple[int, ...]], set[int]] = {}

    def __call__(self, parent: int, of: list[int]) -> float:
        """The greater one of what the arc gains beside the other parents, and of what it gains alone."""
        beside = self._gain(parent, tuple(of))
        return beside if beside > 0 or len(of) == 1 else max(beside, self._gain(parent, (parent,)))

    def _gain(self, parent: int, of: tuple[int, ...]) -> float:
        rows = self.gaps.known_together((self.child, *of))
        key = rows.tobytes()
        if key not in self._scored:
            enough = int(rows.sum()) >= min(FEWEST_ROWS, self.gaps.n_rows)
            table = Table.from_handle(self.gaps.table(rows), self.gaps.schema) if enough else None
            self._scored[key] = None if table is None else prepared(table, self.score)
        scored = self._scored[key]
        if scored is None:
            return float("-inf")
        try:
            gain = self._of(key, scored, of) - self._of(key, scored, tuple(p for p in of if p != parent))
            # In few rows a set can score a little higher than its part though the best tree asks nothing of the others.
            return min(gain, 0.0) if gain > 0 and parent in self._unused(key, scored, of) else gain
        except ArbornetError:  # of so few rows this family has no score
            return float("-inf")

    def _unused(self, key: bytes, scored: ScoreHandle, of: tuple[int, ...]) -> set[int]:
        if (key, of) not in self._without:
            self._without[key, of] = set(unused_parents(scored, self.gaps.names, (self.child, of)))
        return self._without[key, of]

    def _of(self, key: bytes, scored: ScoreHandle, of: tuple[int, ...]) -> float:
        if (key, of) not in self._found:
            self._found[key, of] = scored.score(self.child, list(of))
        return self._found[key, of]


def _cost(gaps: Incomplete, whole: ScoreHandle, v: int, of: Sequence[int], share: float) -> float:
    """Steps of judging a family: with and without each parent, each alone, and a table for each set of rows."""
    tables = (1 + len(of)) * (OF_TABLE + OF_CELL * gaps.n_rows * len(gaps.names))
    sets = [list(of), *([p for p in of if p != one] for one in of), *([one] for one in of)]
    return tables + share * sum(whole.family_steps(v, one) for one in sets)
