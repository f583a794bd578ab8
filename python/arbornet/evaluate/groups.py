"""Groups of rows that belong together, such as the visits of a patient: drawn whole, with replacement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from arbornet._core import ParameterError, TableHandle
from arbornet.data.frames import read_frame
from arbornet.data.incomplete import Incomplete, is_known
from arbornet.data.table import Table
from arbornet.data.weights import WeightsLike, of_rows
from arbornet.evaluate.samples import groups_of
from arbornet.given import FrameLike

GroupsLike: TypeAlias = "str | Sequence[Any] | NDArray[Any]"
"""Groups of rows: the name of the column that holds them, or one for each row."""


class Groups:
    """The rows of each group. What a group is called does not matter: they are numbered as they come.

    Args:
        of_rows: The group of every row, as any whole numbers.
    """

    def __init__(self, of_rows: NDArray[np.int64]):
        _, first, own, sizes = np.unique(of_rows, return_index=True, return_inverse=True, return_counts=True)
        coming = np.argsort(first)
        numbers = np.empty(len(sizes), dtype=np.int64)
        numbers[coming] = np.arange(len(sizes))
        self.sizes = sizes[coming].astype(np.int64)
        self._rows = np.argsort(numbers[own], kind="stable")
        self._starts = np.cumsum(self.sizes) - self.sizes

    def drawn(self, draws: np.random.Generator) -> NDArray[np.intp]:
        """The rows of as many groups as there are, drawn with replacement."""
        chosen = draws.integers(0, len(self.sizes), len(self.sizes))
        sizes = self.sizes[chosen]
        within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        rows: NDArray[np.intp] = self._rows[np.repeat(self._starts[chosen], sizes) + within]
        return rows


def of_used(
    frame: FrameLike,
    numbers: NDArray[np.int64],
    used: Table | Incomplete,
    weights: WeightsLike | None,
    n_jobs: int = -1,
) -> NDArray[np.int64]:
    """The groups of those rows of a frame that are used: complete ones or those with a value, of some weight.

    Args:
        frame: Any frame.
        numbers: The group of each of its rows.
        used: What was made of it.
        weights: The weights that were given.
        n_jobs: Number of threads, -1 for all.

    Raises:
        ParameterError: If there is one group only: every sample of it would be the same.
    """
    coded = used.schema.encode(frame, unseen="missing", n_jobs=n_jobs)
    cells = [coded.column(v) for v in range(len(used.schema.used))]
    known = [is_known(column) for column in cells if column is not None]
    kept = (np.logical_and if isinstance(used, Table) else np.logical_or).reduce(known)
    if weights is not None:
        kept = kept & (of_rows(read_frame(frame, n_jobs=n_jobs), weights)[0] > 0)
    assert kept.sum() == used.n_rows, "the same rows are used"
    return _several(numbers[kept])


def apart(table: Table | Incomplete, groups: GroupsLike) -> tuple[Table | Incomplete, NDArray[np.int64]]:
    """The table without the variable that holds the groups, if one does, and the group of every row.

    Rows with gaps are taken with a group for each only.

    Raises:
        ParameterError: If there is no such variable, not a group for each row, or one group only.
    """
    numbers = _several(groups_of(table, groups, table.n_rows))
    if not isinstance(groups, str) or isinstance(table, Incomplete):
        return table, numbers
    old = table.handle
    left = [v for v, name in enumerate(old.names) if name != groups]
    if not left:
        raise ParameterError(f"groups={groups!r}: the table has no other column")
    levels = [old.levels(v) for v in left]
    made = TableHandle.from_columns(
        [old.names[v] for v in left],
        [old.kind(v) for v in left],
        levels,
        [old.reals(v) if own is None else old.codes(v) for v, own in zip(left, levels, strict=True)],
        [old.scale(v) or (0.0, 1.0) for v in left],
        old.weights,
        [old.points[v] for v in left],
        [old.leaves[v] for v in left],
    )
    without = Table.from_handle(made, table.schema.without(groups))
    without.dropped, without.weights = table.dropped, table.weights
    return without, numbers


def _several(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    if (numbers == numbers[0]).all():
        raise ParameterError("groups: all rows are of one group; give two groups or more")
    return numbers
