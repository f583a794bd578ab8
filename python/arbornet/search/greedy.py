"""Hill climbing: the simplest search, over scored candidates or directly over a score."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any, cast

import networkx as nx

from arbornet._core import CandidatesHandle, ParameterError, ScoreHandle, TableHandle
from arbornet.given import CandidatesLike, Progress, ScoreLike, TableLike
from arbornet.graphs.constraints import Constraints, Rules, resolved
from arbornet.scores.prepare import prepared
from arbornet.search.base import SEEDS, Found, Stopped, count, dag_from_parents, total_of
from arbornet.search.registry import registered, run
from arbornet.search.source import obeying


@registered("candidates", "suits many variables, too")
def hill_climb(
    source: TableLike | CandidatesLike,
    score: ScoreLike | None = None,
    *,
    constraints: Constraints | None = None,
    max_parents: int | None = None,
    start: nx.DiGraph[str] | None = None,
    tabu: int = 10,
    patience: int = 10,
    restarts: int = 0,
    perturb: int = 5,
    max_moves: int | None = None,
    time_limit: float | None = None,
    seed: int = 0,
    n_jobs: int = -1,
    progress: Progress = None,
) -> Found:
    """A graph that no added, deleted or reversed arc improves.

    Families are scored when they are first needed, in parallel, and never twice. The result depends on the data, the
    parameters and the seed, not on the number of threads.

    Args:
        source: a Table, with the score to climb, or Candidates, whose scores are used (a set that is not among them
            counts as its best subset).
        score: with a Table, the local score.
        constraints: constraints on the graph.
        max_parents: the most parents of any variable.
        start: where to start; without it, from the required arcs alone.
        tabu: length of the tabu list: how many of the last graphs are not visited again; 0 for plain hill climbing.
        patience: with a tabu list, how many moves in a row may fail to improve on the best.
        restarts: how often to perturb the best graph by `perturb` random moves and climb again.
        perturb: random moves per restart.
        max_moves: the most moves in all.
        time_limit: wall seconds.
        seed: random seed of the moves.
        n_jobs: threads; -1 for all cores.
        progress: True to show it: a bar on a terminal, log lines elsewhere.

    Returns:
        Found, with stopped "finished" (a local optimum: nothing is proved), "time" or "interrupted".

    Raises:
        ArbornetError: if the constraints contradict each other or the start, a family cannot be scored, or candidates
            may lack sets with an arc that was not required when they were scored.

    Example:
        >>> an.search.hill_climb(table, an.BIC(), restarts=10).dag.edges
    """
    began = time.perf_counter()
    asked = _asked(source, score)
    names = asked.table.names if isinstance(asked, ScoreHandle) else asked.names
    rules = limited(resolved(constraints, names), max_parents)
    if isinstance(asked, CandidatesHandle) and not (constraints is None and max_parents is None):
        asked = obeying(cast("CandidatesLike", source), rules.spec())
    found = run(
        "hill_climb",
        asked,
        rules,
        "climbing",
        start=None if start is None else parents_by(start, names),
        time_limit=time_limit,
        n_jobs=n_jobs,
        progress=progress,
        tabu=count("tabu", tabu),
        patience=count("patience", patience),
        restarts=count("restarts", restarts),
        perturb=count("perturb", perturb),
        max_moves=None if max_moves is None else count("max_moves", max_moves),
        seed=count("seed", seed, most=SEEDS),
    )
    scores, total = found.scores, total_of(found.scores)
    # No graph can have more than the best set of every variable.
    best = isinstance(asked, CandidatesHandle) and all(map(float.__ge__, scores, asked.bests))
    stopped: Stopped = found.stopped or ("proven" if best else "finished")
    bound = total if best else max(total, found.bound)
    details = {"search": "hill_climb", **found.details}
    return Found(
        dag_from_parents(names, found.parents), total, bound, stopped, time.perf_counter() - began, details=details
    )


def limited(rules: Rules, max_parents: int | None) -> Rules:
    """The rules with one more limit on every child's parents."""
    if max_parents is None:
        return rules
    # No limit is what any limit beyond the number of variables is.
    max_parents = count("max_parents", max_parents, most=10**100)
    for name, required in zip(rules.names, rules.required, strict=True):
        if len(required) > max_parents:
            raise ParameterError(f"max_parents={max_parents}: '{name}' has {len(required)} required parents")
    return replace(rules, max_parents=tuple(min(limit, max_parents) for limit in rules.max_parents))


def _asked(source: TableLike | CandidatesLike, score: ScoreLike | None) -> CandidatesHandle | ScoreHandle:
    """What is asked for the scores of families."""
    handle = getattr(source, "handle", source)
    if isinstance(handle, TableHandle):
        if score is None:
            raise ParameterError("score=None: hill climbing on a Table needs a score, such as an.BDeu(1)")
        return prepared(cast("TableLike", source), score)
    if isinstance(handle, CandidatesHandle):
        if score is not None:
            raise ParameterError("score: candidates have their scores already; give a Table to score it again")
        return handle
    way = "give a Table, an.Table(frame), or Candidates from score_parents"
    raise ParameterError(f"source={type(source).__name__}: {way}")


def parents_by(dag: nx.DiGraph[Any], names: list[str]) -> list[list[int]]:
    """The parents of each variable by position, of a graph to start from.

    Raises:
        ParameterError: If the graph is over other variables.
    """
    if not isinstance(dag, nx.DiGraph):
        raise ParameterError(f"start is a {type(dag).__name__}: give a networkx.DiGraph, such as found.dag")
    if set(dag.nodes) != set(names):
        odd = sorted(map(str, set(dag.nodes) ^ set(names)))
        raise ParameterError(f"start: its variables are not those of the data ({', '.join(odd[:5])})")
    position = {name: i for i, name in enumerate(names)}
    return [sorted(position[p] for p in dag.predecessors(name)) for name in names]
