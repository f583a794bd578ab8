"""A search that combines several scores: use it if you want the graph itself."""

from __future__ import annotations

import dataclasses
import time
from typing import Any

import networkx as nx

from arbornet import _core
from arbornet.checks import truth, whole
from arbornet.given import Progress, ScoreLike, TableLike
from arbornet.graphs.constraints import Constraints, Rules, resolved
from arbornet.scores.prepare import table_handle
from arbornet.search.base import Found, uninterrupted
from arbornet.search.equivalence import with_class
from arbornet.search.exact import exact
from arbornet.search.greedy import limited
from arbornet.search.registry import registered, run
from arbornet.step1.scoring import score_parents
from arbornet.text.terminal import several

MOST_PARENTS = 3
"""The most parents of a variable, if a score chooses among the arcs found and no limit is given."""
WINNERS = {
    "lines": "BlockGaussian(1, 'auto', prior=Binomial(1))",
    "curves": "BlockGaussian(3, 'auto', prior=Binomial(1))",
    "lines_of_ranks": "BlockGaussian(1, prior=Binomial(1))",
    "curves_of_ranks": "BlockGaussian(3, prior=Binomial(1))",
    "bends": "BlockGaussian(2, 'auto', prior=Binomial(1))",
    "bends_of_ranks": "BlockGaussian(2, prior=Binomial(1))",
    "cells": "ConditionalGaussian(discretise=True, prior=Binomial(1))",
    "counts": "QNML(prior=Binomial(1))",
}
"""The score of each graph that is judged."""
FEW = 2
"""Columns of which one cannot have one parent in the mean, so half of one is expected: `Binomial(0.5)`."""


@registered("table", "proves the best network inside arcs that several scores find")
def hybrid(
    table: TableLike,
    score: ScoreLike | None = None,
    *,
    interactions: bool = False,
    restarts: int | None = None,
    seed: int = 0,
    constraints: Constraints | Rules | None = None,
    max_parents: int | None = None,
    time_limit: float | None = None,
    n_jobs: int = -1,
    progress: Progress = None,
) -> Found:
    """A graph by several scores, and the arcs that independence directs.

    Best order score searches with Gaussians over lines and over curves of degree 2 and 3, in two scales, with the
    conditional Gaussian, and on levels alone with `QNML` each find a graph; all scores and trees together judge which
    class is best. Those nearly as good search on from random orders. Where curves won, arcs that no tree needs are
    dropped. In simulated networks its arcs are truer than those of any one
    score.

    Args:
        table: a Table. Rows with weights are repeated as often as these say; where they are not whole, in proportion.
        score: if given, the network of the highest score inside what was found, by exact search: an arc that
            independence directs keeps its direction. This is what `learn(search="hybrid")` does.
        interactions: also search for arcs that only trees find, such as two columns that affect a third only jointly.
            Takes several times as long.
        restarts: number of random restarts of every search that goes on. If left out, 10, or as many as keep it
            quick: 4 for 100 variables; beyond 400, `fges` searches instead of `boss`.
        seed: of the random orders.
        constraints: constraints on the graph.
        max_parents: the most parents of any variable; with a score, 3 if left out.
        time_limit: wall seconds.
        n_jobs: threads; -1 for all cores.
        progress: True to show it: a bar on a terminal, log lines elsewhere.

    Returns:
        Found, with stopped "finished", "time" or "interrupted", or with a score what `exact` returns, proved among the
        networks inside what was found. Its `cpdag` says what is directed and what is not, with a score too: a
        direction that only the score prefers is left open. `details` has `score` (whose
        total `score` is), `judged` (what the judges said of each graph), `strengths` (per arc, how much removing
        it lowers that score, and whether independence directs it), `scales` (how each number was read), `dropped` and
        `added`.

    Raises:
        ArbornetError: if the constraints contradict each other, or the required arcs cannot be scored.

    Example:
        >>> found = an.search.hybrid(table)
        >>> found.details["strengths"]["dose", "response"].directed
    """
    began = time.perf_counter()
    handle = table_handle(table)
    rules = limited(resolved(constraints, handle.names), max_parents)
    found = _arcs(
        handle,
        rules,
        truth("interactions", interactions),
        None if restarts is None else whole("restarts", restarts, 0, 1_000_000),
        whole("seed", seed, 0, (1 << 64) - 1),
        time_limit,
        n_jobs,
        progress,
    )
    if score is None or found.stopped == "interrupted":
        return found
    left = None if time_limit is None else max(0.0, time_limit - (time.perf_counter() - began))
    return _best_inside(table, score, found, rules, max_parents, left, n_jobs, progress, began)


@dataclasses.dataclass(frozen=True)
class Strength:
    """The strength of an arc."""

    loss: float
    """How much removing the arc lowers the log score."""
    directed: bool
    """Whether independence (or a constraint) directs it; if not, it may point either way."""


def _arcs(
    handle: _core.TableHandle,
    rules: Rules,
    interactions: bool,
    restarts: int | None,
    seed: int,
    time_limit: float | None,
    n_jobs: int,
    progress: Progress,
) -> Found:
    began = time.perf_counter()
    names = handle.names
    found = run(
        "hybrid",
        handle,
        rules,
        "hybrid",
        time_limit=time_limit,
        n_jobs=n_jobs,
        progress=progress,
        restarts=restarts,
        seed=seed,
        interactions=interactions,
    )
    details = found.details
    winner, judged, strengths, scales = (details.pop(key) for key in ("winner", "judged", "strengths", "scales"))
    assert found.class_ is not None
    directed = set(found.class_[0])
    told = {
        "search": "hybrid",
        "score": _named(winner, len(names)),
        "judged": {_named(name, len(names)): total for name, total in judged},
        "strengths": {(names[a], names[b]): Strength(loss, (a, b) in directed) for a, b, loss in strengths},
        "scales": {name: scale for name, scale in zip(names, scales, strict=True) if scale is not None},
    }
    return with_class(names, found, told | details, began)


def _named(winner: str, n_columns: int) -> str:
    named = WINNERS[winner]
    return named.replace("Binomial(1)", "Binomial(0.5)") if n_columns <= FEW else named


def _best_inside(
    table: Any,
    score: ScoreLike,
    found: Found,
    rules: Rules,
    max_parents: int | None,
    time_limit: float | None,
    n_jobs: int,
    progress: Progress,
    began: float,
) -> Found:
    """The best network of a score whose arcs are those found, in directions that the class allows."""
    inside = within(rules, found.cpdag)
    most = MOST_PARENTS if max_parents is None else max_parents
    needed = max((len(required) for required in rules.required), default=0)
    candidates = score_parents(table, score, max(most, needed), inside, n_jobs, progress)
    best = uninterrupted(exact(candidates, time_limit=time_limit, n_jobs=n_jobs, progress=progress))
    arcs = found.dag.number_of_edges()
    inside_what = f"the hybrid's {several(arcs, 'arc')} with up to {several(max(most, needed), 'parent')} each"
    unused = sorted(set(found.dag.edges) - set(best.dag.edges) - {(b, a) for a, b in best.dag.edges})
    return dataclasses.replace(
        best,
        equivalents=_class_inside(best.dag, found.cpdag),
        seconds=time.perf_counter() - began,
        details={
            **best.details,
            **found.details,
            "within": inside_what,
            "unused": unused,
            "arcs": sorted(found.dag.edges),
        },
    )


def _class_inside(dag: nx.DiGraph[str], cpdag: nx.DiGraph[str]) -> nx.DiGraph[str]:
    """A graph's arcs as a class directs them: one edge, or a pair of which a score prefers one."""
    out: nx.DiGraph[str] = nx.DiGraph()
    out.add_nodes_from(dag)
    for parent, child in dag.edges:
        out.add_edge(parent, child)
        if cpdag.has_edge(child, parent):
            out.add_edge(child, parent)
    return out


def within(rules: Rules, cpdag: nx.DiGraph[str]) -> Rules:
    """Rules that allow only the arcs of an equivalence class, in either direction where it leaves that open."""
    names = list(cpdag)
    position = {name: i for i, name in enumerate(names)}
    allowed = []
    for v, name in enumerate(names):
        possible = {position[p] for p in cpdag.predecessors(name)} | set(rules.required[v])
        allowed.append(tuple(sorted(possible & set(rules.allowed[v]))))
    return dataclasses.replace(rules, allowed=tuple(allowed))
