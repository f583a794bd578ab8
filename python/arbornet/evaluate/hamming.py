"""How far apart two graphs are, counted over pairs of variables in their equivalence classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from arbornet.graphs import cpdag

Pairs = NDArray[np.int8]
"""For every pair of variables: 0 no edge, 1 an arc to the later, 2 an arc to the earlier, 3 either way."""


def pairs_of(dag: nx.DiGraph[Any], names: Sequence[str]) -> Pairs:
    """How each pair of variables is joined in a graph's equivalence class, pairs in the order of the names."""
    graph = cpdag(dag)
    arcs = nx.to_numpy_array(graph, nodelist=list(names), weight=None) > 0
    upper = np.triu_indices(len(names), 1)
    pairs: Pairs = (arcs[upper] + 2 * arcs.T[upper]).astype(np.int8)
    return pairs


def agreed(all_pairs: Sequence[Pairs]) -> NDArray[np.bool_]:
    """The pairs on which all graphs agree."""
    first = all_pairs[0]
    alike: NDArray[np.bool_] = np.all([pairs == first for pairs in all_pairs], axis=0)
    return alike


def partial_hamming(pairs: Pairs, reference: Pairs, known: NDArray[np.bool_] | None = None) -> int:
    """The number of pairs, of those known, that differ from the reference; over all pairs it is the SHD."""
    wrong = pairs != reference
    return int(np.count_nonzero(wrong if known is None else wrong & known))
