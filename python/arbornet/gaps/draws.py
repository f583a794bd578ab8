"""Tables completed by draws from a network, and how much the blanks hide by what the draws disagree on."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from arbornet._core import NetworkHandle, RowsHandle
from arbornet.data.incomplete import Cells, CompletedTable, Incomplete, ranges
from arbornet.data.question import Question


class Completion:
    """What is drawn for the incomplete rows of a table.

    Args:
        gaps: The rows.
        n_jobs: Threads, -1 for all cores.
    """

    def __init__(self, gaps: Incomplete, n_jobs: int) -> None:
        self.gaps = gaps
        self.rows = np.flatnonzero(~gaps.complete())
        self.keys = gaps.canonical(self.rows)
        self.ranges = ranges(gaps.schema)
        self.n_jobs = n_jobs
        self.n_chained = 0
        """In how many rows the last draw was one of a Markov chain."""

    def drawn(self, network: NetworkHandle, copies: int = 1) -> list[dict[int, Cells]]:
        """So many draws: for each variable with gaps its values in the incomplete rows.

        Each has random numbers of its own. What the draws of a row have in common is computed once.
        """
        cells = [column[self.rows] for column in self.gaps.cells]
        question = Question(RowsHandle.from_cells(cells, len(self.rows)), n_jobs=self.n_jobs)
        made, self.n_chained = network.complete(question, self.ranges, self.keys, copies)
        return [{v: column for v, column in enumerate(copy) if column is not None} for copy in made]

    def table(self, drawn: dict[int, Cells]) -> CompletedTable:
        """All rows, the incomplete ones completed by a draw."""
        cells = list(self.gaps.cells)
        for v, values in drawn.items():
            whole = cells[v].copy()
            whole[self.rows] = values
            cells[v] = whole
        return self.gaps.completed(cells)


def missing_information(
    gaps: Incomplete, rows: NDArray[np.intp], copies: Sequence[dict[int, Cells]]
) -> dict[str, float]:
    """Per variable with gaps the share of information that they hide: 0 if its other values tell a row's, else more.

    The part of the variance of the column's mean (of a column with levels: of their shares, added up) that is due to
    not knowing the missing values. With one draw of n values that vary by s² and blanks that vary by t_i² given the
    rest of their rows, it is sum t_i² / (n s²), sums weighted as the rows are. A blank that nothing tells anything
    about hides as much as it is.
    """
    told = {}
    for v, name in enumerate(gaps.names):
        blank = ~gaps.known[v][rows]
        if not blank.any() or len(copies) < 2:
            continue
        draws = np.array([copy[v][blank] for copy in copies])
        own = gaps.cells[v][gaps.known[v]]
        weights = np.ones(gaps.n_rows) if gaps.own_weights is None else gaps.own_weights
        weighs, of_own = weights[rows][blank], weights[gaps.known[v]]
        # Sums of which the last bit is right whatever the order of the rows is.
        all_own = math.fsum(of_own)
        n = math.fsum((all_own, *weighs))
        levels = gaps.schema.used[v].levels
        if levels is None:
            within = math.fsum(draws.var(axis=0, ddof=1) * weighs)
            mean = math.fsum(own * of_own) / all_own
            spread = math.fsum((own - mean) ** 2 * of_own) / all_own
        else:
            shares = np.stack([(draws == code).mean(axis=0) for code in range(len(levels))])
            within = math.fsum((shares * (1 - shares) * weighs).flat) * len(copies) / (len(copies) - 1)
            of_all = [math.fsum(of_own[own == code]) / all_own for code in range(len(levels))]
            spread = math.fsum(share * (1 - share) for share in of_all)
        told[name] = min(1.0, within / (n * spread)) if spread > 0 else 0.0
    return told
