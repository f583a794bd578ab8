"""The combined search of Chickering, Heckerman and Meek (1997): a graph and the decision graphs of its variables."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from arbornet.data import calendar
from arbornet.given import Progress, TableLike
from arbornet.graphs.constraints import Constraints, resolved
from arbornet.hooks import Hook
from arbornet.models.local import LocalModel
from arbornet.scores import DecisionGraph
from arbornet.scores.prepare import prepared
from arbornet.search.base import Found, Stopped, count, dag_from_parents, total_of
from arbornet.search.greedy import limited
from arbornet.search.registry import registered, run

if TYPE_CHECKING:
    from arbornet.network import BayesNet

network_of_graphs: Hook[[FoundGraphs], BayesNet] = Hook("arbornet.network.fit")
"""The network of exactly the graphs that were found."""


@dataclass(frozen=True, eq=False, repr=False)
class FoundGraphs(Found):
    """A graph with the decision graph of every variable.

    Attributes:
        models: The decision graph of every variable. They were grown together with the graph; growing one again for the
            same parents may give another.
        spec: The score as JSON.
        handle: The core's network of these graphs.
        table: The Table they were grown on.
    """

    models: dict[str, LocalModel] = None  # type: ignore[assignment]
    spec: str = ""
    handle: Any = None
    table: Any = None

    @cached_property
    def network(self) -> BayesNet:
        """The network of exactly these graphs."""
        return network_of_graphs(self)

    @property
    def unused(self) -> dict[str, list[str]]:
        """By variable: its parents that no path of its graph depends on. `drop_unused=True` searches without them."""
        return {name: model.unused for name, model in self.models.items() if model.unused}


@registered("table", "grows graph and models together", score=DecisionGraph)
def decision_graphs(
    table: TableLike,
    score: DecisionGraph | None = None,
    *,
    constraints: Constraints | None = None,
    max_parents: int | None = None,
    drop_unused: bool = False,
    max_steps: int | None = None,
    time_limit: float | None = None,
    n_jobs: int = -1,
    progress: Progress = None,
) -> FoundGraphs:
    """Grows a graph and the decision graphs of its variables together, starting without arcs.

    In every step all operators of all variables are considered, with every variable that would close no cycle as a
    possible parent, and the best is applied, until none improves. Nothing depends on the number of threads.

    Args:
        table: a Table without numbers.
        score: the decision graphs' parameters; `DecisionGraph()` if left out. Its lookahead and restarts apply to
            single variables and are not used here.
        constraints: constraints on the graph. Required arcs are there from the start, whether or not the decision graph
            of their child splits on them; `unused` lists those that it does not.
        max_parents: the most parents of any variable.
        drop_unused: when no operator improves, remove the arcs (none required) from parents that a merge has made
            irrelevant, and continue.
        max_steps: the most operators in all.
        time_limit: wall seconds.
        n_jobs: threads; -1 for all cores.
        progress: True to show it: a bar on a terminal, log lines elsewhere.

    Returns:
        FoundGraphs: Found with `models`, `network` and `unused`; stopped is "finished", "time" or "interrupted".

    Raises:
        ArbornetError: if a column is continuous, or the constraints contradict each other.

    Example:
        >>> found = an.search.decision_graphs(table, an.DecisionGraph(prior=10))
        >>> found.network["stage"]
    """
    began = time.perf_counter()
    score = DecisionGraph() if score is None else score
    handle = prepared(table, score)
    names = handle.table.names
    rules = limited(resolved(constraints, names), max_parents)
    found = run(
        "joint",
        handle,
        rules,
        "growing decision graphs",
        time_limit=time_limit,
        n_jobs=n_jobs,
        progress=progress,
        max_steps=None if max_steps is None else count("max_steps", max_steps),
        drop_unused=drop_unused,
    )
    network = found.network
    assert network is not None
    stopped: Stopped = found.stopped or "finished"
    classes = calendar.classes(table.schema) if hasattr(table, "schema") else None
    return FoundGraphs(
        dag_from_parents(names, found.parents),
        total_of(found.scores),
        float("inf"),
        stopped,
        time.perf_counter() - began,
        details={"search": "decision_graphs", **found.details},
        models={name: LocalModel(network.model(v), classes) for v, name in enumerate(names)},
        spec=handle.spec,
        handle=network,
        table=table,
    )
