"""Tables completed by draws from a network, and how much the blanks hide by what the draws disagree on."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from arbornet._core import NetworkHandle, RowsHandle
from arbornet.data.incomplete import Cells, CompletedTable, Incomplete
from arbornet.data.question import Question
from arbornet.data.support import drawn_range, drawn_steps


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
        self.ranges = [drawn_range(column) for column in gaps.schema.used]
        self.steps = [drawn_steps(column) for column in gaps.schema.used]
        self.n_jobs = n_jobs
        self.n_chained = 0
        """In how many rows the last draw was one of a Markov chain."""

    def drawn(self, network: NetworkHandle, copies: int = 1) -> list[dict[int, Cells]]:
        """So many draws: for each variable with gaps its values in the incomplete rows.

        Each has random numbers of its own. What the draws of a row have in common is computed once.
        """
        cells = [column[self.rows] for column in self.gaps.cells]
        question = Question(RowsHandle.from_cells(cells, len(self.rows)), n_jobs=self.n_jobs)
        made, self.n_chained = network.complete(question, self.ranges, self.steps, self.keys, copies)
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
    not knowing the missing values: Rubin's fraction for a mean that is estimated by regression on the other columns.
    Of n values that vary by s², m are observed; given the rest of their rows the blanks vary by r s² on average. What
    the others tell is known in n rows, and the rest in m, so the variance is r s² / m + (1 - r) s² / n instead of
    s² / n. What nothing tells anything about (r = 1) hides as much as is missing; how the others tell the rest must be
    learned from the m observed values, so few of them hide much even if r is small. Sums are weighted as the rows are.
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
        # Draws are the model's: of a variable that it tells too little of, they vary more than what was observed.
        rest = min(1.0, within / ((n - all_own) * spread)) if spread > 0 and n > all_own else 0.0
        told[name] = 1.0 - 1.0 / (rest * n / all_own + 1.0 - rest)
    return told
