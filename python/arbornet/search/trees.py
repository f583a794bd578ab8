"""The best tree over all variables, and the best tree over the attributes of a class, for any score.

Among trees the best graph can be found and proved quickly: one score per pair of variables, then a spanning tree (Chow
and Liu 1968) or, where the score depends on the direction of an arc, a branching (Edmonds 1967).
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

from arbornet import _core
from arbornet._core import ParameterError
from arbornet.given import CandidatesLike, Progress, ScoreLike, TableLike
from arbornet.graphs.constraints import Constraints, Rules, resolved
from arbornet.scores import LogLikelihood
from arbornet.scores.prepare import positions, prepared
from arbornet.search.base import Found, Stopped, dag_from_parents, total_of
from arbornet.search.budget import Budget
from arbornet.search.components import ExactSearch
from arbornet.search.greedy import limited
from arbornet.search.registry import registered, run
from arbornet.search.source import obeying
from arbornet.search.sums import exact_sum, rounding

if TYPE_CHECKING:
    from arbornet._core import CandidatesHandle, ScoreHandle


@registered(
    "table",
    "finds the best tree (one parent each) and proves it",
    settings=("constraints", "n_jobs", "progress"),
    best_of="tree",
)
def chow_liu(
    table: TableLike | CandidatesLike,
    score: ScoreLike | None = None,
    root: str | None = None,
    directed: bool | None = None,
    *,
    forest: bool = False,
    constraints: Constraints | None = None,
    n_jobs: int = -1,
    progress: Progress = None,
) -> Found:
    """The tree of the highest total score, each variable with at most one parent.

    Args:
        table: a Table, or Candidates from score_parents (of which it makes the best forest).
        score: with a Table, any local score; the log-likelihood if left out, which is Chow and Liu's own.
        root: the variable at the top. Without it, the first one of an undirected tree (all choices score the same) and
            the best one of a directed tree.
        directed: whether an arc's direction matters. By default that depends on the score: a maximum spanning tree for
            score-equivalent scores, a maximum branching for the others. False is refused for those.
        forest: leave out arcs that do not raise the score; the result may be several trees.
        constraints: arcs that must not be there, or tiers; a tree cannot guarantee required arcs.
        n_jobs: threads; -1 for all cores.
        progress: True to show it: a bar on a terminal, log lines elsewhere.

    Returns:
        Found, proven: no other tree (or forest) scores more. A graph that is not a tree may.

    Raises:
        ArbornetError: if the constraints leave no tree, or a family cannot be scored.

    Example:
        >>> an.chow_liu(table, an.BIC()).dag.edges
    """
    return _grown(table, score, None, root, directed, forest, constraints, n_jobs, progress)


def tan(
    table: TableLike,
    class_: str,
    score: ScoreLike | None = None,
    root: str | None = None,
    directed: bool | None = None,
    *,
    forest: bool = False,
    constraints: Constraints | None = None,
    n_jobs: int = -1,
    progress: Progress = None,
) -> Found:
    """The best tree-augmented naive Bayes graph: the class is a parent of all, and they form a tree beside it.

    Args:
        table: a Table.
        class_: the class.
        score: any local score; the log-likelihood if left out.
        root: the attribute whose only parent is the class; see `chow_liu`.
        directed: see `chow_liu`.
        forest: leave out arcs between attributes that do not raise the score.
        constraints: see `chow_liu`.
        n_jobs: threads; -1 for all cores.
        progress: True to show it: a bar on a terminal, log lines elsewhere.

    Returns:
        Found, proven: no other graph of this form scores more.

    Example:
        >>> an.search.tan(table, "diagnosis", an.BDeu(1)).dag.edges
    """
    if not isinstance(getattr(table, "handle", table), _core.TableHandle):
        raise ParameterError(f"table={type(table).__name__}: give a Table")
    return _grown(table, score, class_, root, directed, forest, constraints, n_jobs, progress)


def _grown(
    source: Any,
    score: Any,
    class_: str | None,
    root: str | None,
    directed: bool | None,
    forest: bool,
    constraints: Constraints | None,
    n_jobs: int,
    progress: Progress,
) -> Found:
    began = time.perf_counter()
    candidates, scored, names = _sources(source, score)
    at_class = None if class_ is None else positions(names, [class_])[0]
    at_root = None if root is None else positions(names, [root])[0]
    if at_root is not None and at_root == at_class:
        raise ParameterError(f"root={root!r}: is the class, which is a parent of all; name an attribute")
    if at_root is not None and (forest or candidates is not None):
        raise ParameterError(f"root={root!r}: a forest chooses its own roots; leave root out")
    rules = resolved(constraints, names)
    _refuse(rules, at_class)
    if directed is False and (constraints is not None or scored is None or not scored.equivalent):
        why = "with constraints" if constraints is not None else f"{score!r} scores" if scored else "among candidates"
        raise ParameterError(f"directed=False: {why} an arc and its reverse differ; leave directed out")
    asked = candidates if scored is None else scored
    assert asked is not None, "one of them is there"
    found = run(
        "tree_search",
        asked,
        rules,
        "growing a tree",
        n_jobs=n_jobs,
        progress=progress,
        class_=at_class,
        root=at_root,
        forest=forest or candidates is not None,
        directed=directed,
    )
    scores = found.scores
    details = {"search": "chow_liu" if class_ is None else "tan", **found.details}
    dag, total = dag_from_parents(names, found.parents), total_of(scores)
    stopped: Stopped = "proven"
    bound = total
    if candidates is not None and _wild(single := obeying(source, limited(rules, 1).spec()), scores):
        # The gain of an arc, as a double, has lost its last digits. A graph of single parents is a forest.
        search = ExactSearch(single, Budget(), n_jobs=n_jobs)
        proof = search.run()
        if exact_sum(search.scores) > exact_sum(scores) + rounding(scores):
            dag, total = proof.dag, proof.score
        bound, stopped = max(total, proof.bound) if proof.gap else total, proof.stopped
    return Found(dag, total, bound, stopped, time.perf_counter() - began, details=details)


def _wild(single: CandidatesHandle, scores: list[float]) -> bool:
    """Whether some single parent's score is larger than all of the forest's together, so that gains round more."""
    every = (score for v in range(single.n_vars) for score in single.child(v)[0].tolist())
    most = max((abs(score) for score in every if score > -math.inf), default=0.0)
    return most > math.fsum(map(abs, scores))


def _sources(source: Any, score: Any) -> tuple[CandidatesHandle | None, ScoreHandle | None, list[str]]:
    handle = getattr(source, "handle", source)
    if isinstance(handle, _core.CandidatesHandle):
        if score is not None:
            raise ParameterError("score: candidates have their scores already; give a Table to score it again")
        return handle, None, handle.names
    scored = prepared(source, LogLikelihood() if score is None else score)
    return None, scored, scored.table.names


def _refuse(rules: Rules, at_class: int | None) -> None:
    """Refuses constraints that a tree cannot satisfy."""
    for v, (name, required) in enumerate(zip(rules.names, rules.required, strict=True)):
        if beyond := [p for p in required if p != at_class]:
            arc = f"'{rules.names[beyond[0]]}' -> '{name}'"
            raise ParameterError(
                f"constraints: {arc} is required, and a tree cannot guarantee an arc; forbid others instead"
            )
        if at_class is not None and v != at_class and (at_class not in rules.allowed[v] or rules.max_parents[v] < 1):
            raise ParameterError(
                f"constraints: the class '{rules.names[at_class]}' must be allowed as parent of '{name}'"
            )
