"""Networks whose parameters are smoothed differently than their score does.

A score of maximum likelihood chooses a graph, but its own parameters would give probability zero to whatever did not
occur in the data; a classifier adds something to every count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from arbornet._core import NetworkHandle
from arbornet.given import ScoreLike
from arbornet.network import BayesNet
from arbornet.network.fit import origin_of, parents_in
from arbornet.scores.prepare import prepared

if TYPE_CHECKING:
    import networkx as nx

    from arbornet._core import ScoreHandle
    from arbornet.data.table import Table


def models_of(table: Table, score: ScoreLike, smoothing: float | None) -> ScoreHandle:
    """The score with the models that a classifier needs; see `smoothed_fit`."""
    return prepared(table, score).smoothed(smoothing)


def smoothed_fit(
    table: Table, graph: nx.DiGraph[str], score: ScoreLike, smoothing: float | None, n_jobs: int = -1
) -> BayesNet:
    """A model for every variable of a graph, counts smoothed.

    Args:
        table: The data.
        graph: A graph over all variables of the table.
        score: The score whose models are fitted.
        smoothing: Added to the count of every level. If left out, the score's own pseudo-counts, and for scores of
            maximum likelihood one divided by the number of levels.
        n_jobs: Threads, -1 for all cores.

    Raises:
        ParameterError: If the smoothing is not a number above 0, or the score's models are not tables of levels.
    """
    models = models_of(table, score, smoothing)
    handle = NetworkHandle.fit(models, parents_in(graph, table.names), n_jobs)
    return BayesNet(handle, table.schema, origin_of(table, models.spec))
