"""Which single parents promise most, of tables for which not all can be scored: by how two columns go together.

Columns are cut into a few classes, and all pairs are counted at once, each on the rows that have both values. A parent
promises what the likelihood ratio of the two classes says, less what as many degrees of freedom cost (BIC).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from arbornet.data.incomplete import Incomplete

Numbers = NDArray[np.float64]
CLASSES = 4
"""Into which numbers are cut, by rank."""
MOST_LEVELS = 6
"""Beyond so many, the rarest levels are one class."""
MOST_ROWS = 4000
"""About how many rows are counted."""


def promises(gaps: Incomplete) -> Numbers:
    """For each variable and each other one, what the second promises as the parent of the first; the same both ways."""
    if gaps.n_rows > MOST_ROWS:
        gaps = gaps.thinned(gaps.n_rows // MOST_ROWS)
    classes = [
        _classes(cells, known, column.levels is None)
        for cells, known, column in zip(gaps.cells, gaps.known, gaps.schema.used, strict=True)
    ]
    sizes = np.array([int(of.max(initial=0)) + 1 for of in classes])
    starts = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    rows = np.zeros((gaps.n_rows, int(sizes.sum())), dtype=np.float32)  # sums of ones are exact up to 2^24
    for of, known, start in zip(classes, gaps.known, starts, strict=True):
        rows[np.flatnonzero(known), start + of[known]] = 1.0
    together = (rows.T @ rows).astype(np.float64)
    by_class = np.add.reduceat(together, starts, axis=1)
    n = np.add.reduceat(by_class, starts, axis=0)
    of_cells = np.add.reduceat(np.add.reduceat(_times_log(together), starts, axis=0), starts, axis=1)
    of_classes = np.add.reduceat(_times_log(by_class), starts, axis=0)
    ratio = of_cells - of_classes - of_classes.T + _times_log(n)
    freedom = np.outer(sizes - 1, sizes - 1)
    promised: Numbers = ratio - 0.5 * freedom * np.log(np.maximum(n, 1.0))
    return promised


def _times_log(counts: Numbers) -> Numbers:
    times: Numbers = counts * np.log(np.maximum(counts, 1.0))
    return times


def _classes(
    cells: NDArray[np.float64] | NDArray[np.uint32], known: NDArray[np.bool_], numeric: bool
) -> NDArray[np.intp]:
    """Each row's class from 0, where its value is known."""
    made = np.zeros(len(cells), dtype=np.intp)
    values = cells[known]
    if len(values) == 0:
        return made
    if numeric:
        cuts = np.unique(np.quantile(values, np.arange(1, CLASSES) / CLASSES))
        _, made[known] = np.unique(np.searchsorted(cuts, values, side="left"), return_inverse=True)
        return made
    _, codes, rows = np.unique(values, return_inverse=True, return_counts=True)
    order = np.argsort(-rows, kind="stable")
    place = np.empty(len(rows), dtype=np.intp)
    place[order] = np.minimum(np.arange(len(rows)), MOST_LEVELS - 1)
    made[known] = place[codes]
    return made
