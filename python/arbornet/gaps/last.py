"""The last fit: the models of a network, learned from rows that were completed several times."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from arbornet._core import ArbornetError, NetworkHandle, TableHandle
from arbornet.data.incomplete import Cells, Incomplete
from arbornet.gaps.draws import Completion
from arbornet.scores.prepare import Score, prepared

#: The most rows of a last fit: of longer tables each row is drawn fewer times.
MOST_ROWS = 200_000


def fitted(
    gaps: Incomplete,
    completion: Completion,
    last: NetworkHandle,
    score: Score,
    copies: Sequence[dict[int, Cells]],
    n_jobs: int,
) -> NetworkHandle:
    """The graph of a network with models of the completed rows: the copies of a row share its weight.

    A score that takes no weights keeps the models of one draw.

    Args:
        gaps: The rows.
        completion: What drew them.
        last: The network, fitted to rows completed by one draw.
        score: The score whose models are fitted.
        copies: The draws.
        n_jobs: Threads, -1 for all cores.
    """
    copies = copies[: MOST_ROWS // max(1, len(completion.rows))]
    if len(copies) < 2:
        return last
    table = repeated(gaps, completion, copies)
    try:
        scored = prepared(table, score)
    except ArbornetError:  # it scored the same rows without weights
        return last
    parents = [last.parents(v) for v in range(len(gaps.names))]
    return NetworkHandle.fit(scored, parents, n_jobs)


def repeated(gaps: Incomplete, completion: Completion, copies: Sequence[dict[int, Cells]]) -> TableHandle:
    """The complete rows, then the others as often as they are drawn, each with its share of the row's weight."""
    complete = gaps.complete()
    n_draws = len(copies)
    cells = []
    for v, column in enumerate(gaps.cells):
        drawn = [copy.get(v, column[completion.rows]).astype(column.dtype, copy=False) for copy in copies]
        cells.append(np.concatenate([column[complete], *drawn]))
    own = np.ones(gaps.n_rows) if gaps.own_weights is None else gaps.own_weights
    weights = np.concatenate([own[complete], np.tile(own[completion.rows] / n_draws, n_draws)])
    used = gaps.schema.used
    return TableHandle.from_columns(
        [column.name for column in used],
        [column.word for column in used],
        [column.levels for column in used],
        cells,
        [column.scale or (0.0, 1.0) for column in used],
        weights,
        [column.point for column in used],
        [column.leaf for column in used],
    )
