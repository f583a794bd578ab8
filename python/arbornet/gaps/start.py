"""The network to start from, by available cases: what the rows tell that have all values of a family.

Scores of different rows cannot be compared, differences on the same rows can. A parent set P of a variable v gets

    S(v, P) = S(v, none; rows with v) + (n_v / n_vP) (score(v | P) - score(v | none)),

both terms of the bracket on the n_vP rows that have v and P, scaled to the n_v rows that have v (n: sums of weights).
Scores scaled without the difference prefer parents with gaps, also those that say nothing. Sets of up to two parents
are looked at, the pairs among the few parents that are best alone: the rounds that follow look at more. Of tables
for which that takes too long, fewer rows are looked at, and then only the parents that promise most.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations

import networkx as nx
import numpy as np

from arbornet._core import ArbornetError, CandidatesHandle, NetworkHandle, ScoreHandle
from arbornet.data.incomplete import Incomplete
from arbornet.data.table import Table
from arbornet.gaps.promise import promises
from arbornet.graphs.constraints import Rules
from arbornet.network.available import fit_available
from arbornet.scores.prepare import Score, prepared
from arbornet.search.within import within
from arbornet.step1.candidates import Candidates
from arbornet.system.parallel import side_by_side

#: A family needs so many rows that have all its values.
FEWEST_ROWS = 10
#: Pairs are looked at among so many parents of a variable.
BEST_ALONE = 4
#: At least so many rows are looked at, if there are as many.
FEWEST_LOOKED_AT = 1000
#: About the steps of making a table of available rows, and of each of its cells.
OF_TABLE, OF_CELL = 3e5, 4.0

Family = tuple[int, tuple[int, ...]]


def start(
    gaps: Incomplete, score: Score, rules: Rules, most: int, steps: float, n_jobs: int, times: int = 1
) -> NetworkHandle:
    """The network of available cases.

    Args:
        gaps: The rows.
        score: The score.
        rules: The constraints, one rule a variable.
        most: The most parents of a variable.
        steps: What may be spent, in counted steps: half of it for single parents. Where it does not suffice, fewer
            rows are looked at, and then fewer parents.
        n_jobs: Threads, -1 for all cores.
        times: How many times each row is counted.

    Raises:
        ArbornetError: If the score has no models to draw from.
    """
    alone: nx.DiGraph[str] = nx.DiGraph()
    alone.add_nodes_from(gaps.names)
    without_arcs = _fitted(gaps, alone, score)  # at once: a score without models has nothing to draw from
    gaps = gaps.counted(times) if times > 1 else gaps
    candidates = available(gaps, score, rules, most, steps, n_jobs)
    if candidates is None:
        return without_arcs
    return _fitted(gaps, within(candidates, steps, n_jobs=n_jobs, progress=False).dag, score)


def available(gaps: Incomplete, score: Score, rules: Rules, most: int, steps: float, n_jobs: int) -> Candidates | None:
    """Parent sets by what the available rows say; None where too few rows have a variable and its required parents."""
    n = len(gaps.names)
    limit = [min(most, rules.max_parents[v]) for v in range(n)]
    first: list[Family] = [(v, rules.required[v]) for v in range(n)]
    singles = [(v, _with(of, (p,))) for v, of in first if len(of) < limit[v] for p in rules.allowed[v] if p not in of]
    whole = prepared(gaps.as_if_complete(), score)
    dear = _cost(gaps, whole, singles) / (steps / 2)
    if dear > 1 and (every := min(math.ceil(dear), gaps.n_rows // FEWEST_LOOKED_AT)) > 1:
        gaps = gaps.thinned(every)
        whole = prepared(gaps.as_if_complete(), score)
    empty = _scored(gaps, score, [(v, ()) for v in range(n)], {}, n_jobs)
    alone = {v: value for (v, _), value in empty.items()}
    if len(alone) < n:
        return None
    found = {family: alone[family[0]] for family in first if not family[1]}
    found |= _scored(gaps, score, [family for family in first if family[1]], alone, n_jobs)
    if len(found) < n:
        return None
    singles = _within(gaps, whole, singles, steps / 2, lambda: _promised(gaps, singles))
    found |= _scored(gaps, score, singles, alone, n_jobs)
    pairs: list[Family] = []
    for v, of in first:
        own = [family for family in singles if family[0] == v and family in found]
        best = sorted(own, key=lambda family: (-found[family], family))[:BEST_ALONE]
        if len(of) + 2 <= limit[v]:
            pairs += [(v, _with(a, b)) for (_, a), (_, b) in combinations(best, 2)]
    gains = {family: found[family] - alone[family[0]] for family in singles if family in found}

    def in_order() -> list[Family]:
        return _by_turns({(v, of): sum(gains.get((v, (p,)), 0.0) for p in of) for v, of in pairs})

    found |= _scored(gaps, score, _within(gaps, whole, pairs, steps / 2, in_order), alone, n_jobs)
    return Candidates(CandidatesHandle.from_lists(gaps.names, _kept(found, n)))


def _kept(found: Mapping[Family, float], n: int) -> list[list[tuple[float, tuple[int, ...]]]]:
    """Of every variable the sets that score higher than all their subsets, best first."""
    children: list[list[tuple[float, tuple[int, ...]]]] = [[] for _ in range(n)]
    for v, of in sorted(found, key=lambda family: (family[0], len(family[1]), family[1])):
        scored = found[v, of]
        if not any(set(fewer) <= set(of) and least >= scored for least, fewer in children[v]):
            children[v].append((scored, of))
    return [sorted(kept, key=lambda each: (-each[0], len(each[1]), each[1])) for kept in children]


def _with(of: Sequence[int], more: Iterable[int]) -> tuple[int, ...]:
    return tuple(sorted({*of, *more}))


def _cost(gaps: Incomplete, whole: ScoreHandle, families: list[Family]) -> float:
    """Steps of scoring families by their rows, and of a table for each set of rows."""
    tables = len({frozenset((v, *of)) for v, of in families})
    scoring = sum(_own_cost(gaps, whole, family) for family in families)
    return tables * (OF_TABLE + OF_CELL * gaps.n_rows * len(gaps.names)) + scoring


def _own_cost(gaps: Incomplete, whole: ScoreHandle, family: Family) -> float:
    v, of = family
    return float(gaps.known_together((v, *of)).mean()) * whole.family_steps(v, list(of))


def _within(
    gaps: Incomplete, whole: ScoreHandle, families: list[Family], steps: float, in_order: Callable[[], list[Family]]
) -> list[Family]:
    """The families that so many steps suffice for, the first in this order."""
    of_table = OF_TABLE + OF_CELL * gaps.n_rows * len(gaps.names)
    costs = {family: of_table + _own_cost(gaps, whole, family) for family in families}
    if sum(costs.values()) <= steps:
        return families
    kept, spent = set(), 0.0
    for family in in_order():
        if spent + costs[family] <= steps:
            spent += costs[family]
            kept.add(family)
    return [family for family in families if family in kept]


def _promised(gaps: Incomplete, singles: list[Family]) -> list[Family]:
    promised = promises(gaps)
    return _by_turns({(v, of): max(float(promised[v, p]) for p in of) for v, of in singles})


def _by_turns(worth: Mapping[Family, float]) -> list[Family]:
    """The best family of each variable, then the second of each, and so on."""
    turns: dict[int, int] = {}
    ranked = []
    for family in sorted(worth, key=lambda family: (-worth[family], family)):
        turn = turns[family[0]] = turns.get(family[0], 0) + 1
        ranked.append((turn, -worth[family], family))
    return [family for *_, family in sorted(ranked)]


def _scored(
    gaps: Incomplete, score: Score, families: Sequence[Family], alone: Mapping[int, float], n_jobs: int
) -> dict[Family, float]:
    """S(v, P) of families, those without parents first; what cannot be scored is missing."""
    groups: dict[bytes, list[Family]] = {}
    for v, of in families:
        groups.setdefault(np.packbits(gaps.known_together((v, *of))).tobytes(), []).append((v, of))

    weights = [gaps.weight_of(known) for known in gaps.known]

    def work(group: list[Family], _: int) -> list[tuple[Family, float]]:
        rows = gaps.known_together((group[0][0], *group[0][1]))
        n_rows = int(rows.sum())
        if n_rows < min(FEWEST_ROWS, gaps.n_rows) and any(of for _, of in group):
            return []
        scored = prepared(Table.from_handle(gaps.table(rows), gaps.schema), score)
        found, weight = [], gaps.weight_of(rows)
        without: dict[int, float] = {}
        for v, of in group:
            try:
                if of:
                    if v not in without:
                        without[v] = scored.score(v, ())
                    gain = scored.score(v, of) - without[v]
                    found.append(((v, of), alone[v] + weights[v] / weight * gain))
                else:
                    found.append(((v, of), scored.score(v, ())))
            except ArbornetError:  # a family that cannot be scored is none to start from
                continue
        return found

    return {family: value for _, part in side_by_side(work, list(groups.values()), n_jobs) for family, value in part}


def _fitted(gaps: Incomplete, graph: nx.DiGraph[str], score: Score) -> NetworkHandle:
    """The graph with a model for every variable, each of the rows that have the values of its family."""
    return fit_available(gaps, graph, lambda table: prepared(table, score)).handle
