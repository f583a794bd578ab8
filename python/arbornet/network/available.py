"""Networks from rows with missing values: the model of each family is fitted to the rows that have all its values.

This is available-case analysis: a row is left out only of the families in which it lacks a value. The graph itself
needs complete rows, or differences of scores on the same rows, because scores of different rows cannot be compared.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from arbornet._core import NetworkHandle, ScoreHandle
from arbornet.data.incomplete import Incomplete
from arbornet.data.table import Table
from arbornet.network import BayesNet
from arbornet.network.fit import origin_of, parents_in

if TYPE_CHECKING:
    import networkx as nx


def fit_available(
    gaps: Incomplete, graph: nx.DiGraph[str], models_of: Callable[[Table], ScoreHandle], n_jobs: int = -1
) -> BayesNet:
    """A model for every variable of a graph, each from the rows that have all values it needs.

    Args:
        gaps: The rows.
        graph: A graph over their variables.
        models_of: The score with the models to fit, prepared for a table.
        n_jobs: Threads, -1 for all cores.
    """
    parents = parents_in(graph, gaps.names)
    prepared: dict[bytes, ScoreHandle] = {}
    scores = []
    for v, of in enumerate(parents):
        rows = gaps.known_together([v, *of])
        key = rows.tobytes()
        if key not in prepared:
            prepared[key] = models_of(Table.from_handle(gaps.table(rows), gaps.schema))
        scores.append(prepared[key])
    handle = NetworkHandle.fit_each(scores, parents, n_jobs)
    return BayesNet(handle, gaps.schema, origin_of(gaps, scores[-1].spec))
