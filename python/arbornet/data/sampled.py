"""Some rows of a frame, for choices that need not look at all of them: columns as arrays, and which belong together.

Rows are put in an order by a number made of what they hold, and every so many of them is taken: no order of the rows
changes which, and rows that are equal are taken in proportion to how many there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from arbornet._core import MISSING
from arbornet.data.coding import coding_of
from arbornet.data.frames import Raw
from arbornet.data.kinds import Binned, Continuous
from arbornet.data.units import Bend, Scale, to_stored, unbent, with_bend

if TYPE_CHECKING:
    from arbornet.data.column import Column

#: Rows that are taken, at most twice as many.
MOST_ROWS = 1000
#: A category of more levels is no parent here.
MOST_LEVELS = 24

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Cells:
    """A column of the rows that were taken: numbers in the user's units, or codes."""

    values: NDArray[Any]
    known: NDArray[np.bool_]
    word: str
    """Continuous, categorical or ordinal."""
    levels: int | None
    """How many levels it has; None of numbers."""


class Sample:
    """About a thousand rows of the columns of a frame.

    Args:
        read: The frame, with its texts read as numbers.
        columns: Columns whose types are known; those that could be no parent are left out.
        weights: How often each row counts, if not all count once.
    """

    def __init__(self, read: Raw, columns: Sequence[Column], weights: Numbers | None) -> None:
        used = [column for column in columns if _is_usable(column)]
        rows = _rows(read, used, weights)
        self.weights = None if weights is None else weights[rows]
        self.cells: dict[str, Cells] = {}
        for column in used:
            values = _values(read, column)[rows]
            known = ~np.isnan(values) if isinstance(column.kind, Continuous) else values != MISSING
            levels = None if isinstance(column.kind, Continuous) else len(column.levels or ())
            self.cells[column.name] = Cells(values, known, column.word, levels)
        self._ranks: Numbers | None = None

    def nearest(self, name: str, most: int) -> list[str]:
        """The other columns most related to one of numbers by their ranks, the earlier under ties, in their order."""
        others = [other for other in self.cells if other != name]
        if len(others) <= most:
            return others
        near = self._related(name)
        places = {other: i for i, other in enumerate(self.cells)}
        best = sorted(others, key=lambda other: (-near[places[other]], places[other]))[:most]
        return sorted(best, key=places.__getitem__)

    def _related(self, name: str) -> Numbers:
        """By column the share of the variance of one column's ranks that its ranks or levels explain."""
        if self._ranks is None:
            self._ranks = np.stack([_ranks(of) for of in self.cells.values()])
        place = list(self.cells).index(name)
        own = self._ranks[place]
        related: Numbers = (self._ranks @ own) ** 2
        for i, of in enumerate(self.cells.values()):
            if of.levels is not None and of.word == "categorical":
                codes = np.where(of.known, of.values, of.levels).astype(np.int64)
                sums, counts = np.bincount(codes, own), np.bincount(codes)
                related[i] = float((sums**2 / np.maximum(counts, 1)).sum())
        return related


def standardised(x: Numbers, bend: Bend | None, weights: Numbers | None) -> tuple[Numbers, Scale]:
    """Known numbers in stored units, and the way back; with their logarithms or normal scores, if they are taken so."""
    t = unbent(bend, x)
    # Of numbers of about 1, whose squares neither overflow nor vanish.
    size = float(np.abs(t).max(initial=0.0)) or 1.0
    mean = float(np.average(t / size, weights=weights))
    sd = float(np.sqrt(np.average((t / size - mean) ** 2, weights=weights))) or 1.0
    scale = with_bend((mean * size, sd * size), bend)
    return to_stored(scale, x), scale


def shift_of(x: Numbers) -> float:
    """What is added to some numbers from 0 up before logarithms are taken."""
    return 0.0 if x.min() > 0 else float(x[x > 0].min()) / 2


def _is_usable(column: Column) -> bool:
    if not column.used or isinstance(column.kind, Binned):
        return False
    return isinstance(column.kind, Continuous) or (
        column.kind.levels is not None and 2 <= len(column.kind.levels) <= MOST_LEVELS
    )


def _values(read: Raw, column: Column) -> NDArray[Any]:
    """A column by row: numbers, NaN where there is none, or codes, `MISSING` where there is none."""
    if isinstance(column.kind, Continuous):
        return read.numbers(read.places[column.name])
    cells = read.frame.rows([coding_of(read, column, "missing")], 1).column(0)
    assert cells is not None, "the column is there"
    return cells.astype(np.uint32)


def _rows(read: Raw, columns: Sequence[Column], weights: Numbers | None) -> NDArray[np.int64]:
    """Which rows are taken, in an order that any order of the rows gives but for equal ones."""
    marks = np.zeros(read.n_rows, np.uint64)
    for column in columns:
        values = _values(read, column)
        # Without the zero's sign.
        marks = _mixed(marks, (values + 0.0).view(np.uint64) if values.dtype == np.float64 else values)
    if weights is not None:
        marks = _mixed(marks, (weights + 0.0).view(np.uint64))
    order = np.argsort(marks, kind="stable")
    order = order if weights is None else order[weights[order] > 0]
    return order[:: max(1, len(order) // MOST_ROWS)]


def _mixed(marks: NDArray[np.uint64], more: NDArray[Any]) -> NDArray[np.uint64]:
    """A number of every row from the one before and what one column holds (SplitMix64)."""
    z = (marks ^ more.astype(np.uint64)) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: NDArray[np.uint64] = z ^ (z >> np.uint64(31))
    return mixed


def _ranks(of: Cells) -> Numbers:
    """Ranks of a column's values, of mean 0 and length 1; what is missing has the mean."""
    ranks = np.zeros(len(of.values))
    known = of.values[of.known]
    if len(known):
        _, places, counts = np.unique(known, return_inverse=True, return_counts=True)
        ends = np.cumsum(counts)
        own = (ends - (counts - 1) / 2)[places]
        ranks[of.known] = own - own.mean()
    length = float(np.sqrt(ranks @ ranks))
    return ranks / length if length > 0 else ranks
