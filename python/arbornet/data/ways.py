"""A column of numbers taken in several ways, compared by the trees and planes that other columns make of it.

All figures are log densities in the user's units, a row, of the rows of a sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from arbornet._core import ScoreHandle, TableHandle, normal_scores
from arbornet.data.kinds import Continuous
from arbornet.data.sampled import Cells, Sample, shift_of, standardised
from arbornet.data.support import length_of
from arbornet.data.units import Bend, Knots, Scale, log_jacobian
from arbornet.hooks import Hook

#: Fewer rows say little about a tree.
FEW_ROWS = 50
spec_of_trees: Hook[[], str] = Hook("arbornet.scores.usual")
"""The score that is compared by, as the core reads it."""

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Stored:
    """A column of numbers as a table of the core has it."""

    values: Numbers
    scale: Scale
    point: tuple[float, float] | None
    leaf: str | None
    jacobian: Numbers
    """What turns the log density of each row into one in the user's units."""


class Families:
    """The families of a column that is taken in several ways, of which the first is that of now."""

    def __init__(self, sample: Sample, name: str, kinds: dict[str, Continuous], ways: list[Stored]) -> None:
        self.sample, self.kinds, self.ways = sample, kinds, ways
        self.rows = sample.cells[name].known

    def gains(self, parents: tuple[str, ...]) -> Numbers:
        """By way what the best tree of these parents gains in log density a row over one leaf of the first way.

        Minus infinity where few rows have values of all of them.
        """
        cells = [self.sample.cells[parent] for parent in parents]
        known = np.logical_and.reduce([self.rows, *(of.known for of in cells)])
        own = known[self.rows]
        if known.sum() < FEW_ROWS:
            return np.full(len(self.ways), -np.inf)
        weights = None if self.sample.weights is None else self.sample.weights[known]
        ways = [replace(way, values=way.values[own], jacobian=way.jacobian[own]) for way in self.ways]
        others = [
            _parent(of, of.values[known], self.kinds.get(parent), weights)
            for of, parent in zip(cells, parents, strict=True)
        ]
        table = _table([*ways, *others], weights)
        score = ScoreHandle(table, spec_of_trees())
        places = list(range(len(ways), len(ways) + len(others)))
        totals = [float(way.jacobian.sum() if weights is None else way.jacobian @ weights) for way in ways]
        trees = np.array([score.score(i, places) + total for i, total in enumerate(totals)])
        one_leaf = score.score(0, []) + totals[0]
        return (trees - one_leaf) / table.total_weight

    def in_line(self, way: int, near: Sequence[tuple[str, ...]]) -> float:
        """The log density a row about a plane in all other numbers at once, each taken as it is.

        What is a sum of several others, or a product where all are logarithms, shows in no tree of two of them.
        """
        numbers = [name for (name,) in near if self.sample.cells[name].levels is None]
        known = np.logical_and.reduce([self.rows, *(self.sample.cells[name].known for name in numbers)])
        if known.sum() < FEW_ROWS:
            return 0.0
        weights = None if self.sample.weights is None else self.sample.weights[known]
        others = [self.sample.cells[name].values[known] for name in numbers]
        stored = [
            _parent(self.sample.cells[n], x, self.kinds.get(n), weights) for n, x in zip(numbers, others, strict=True)
        ]
        plane = np.column_stack([np.ones(int(known.sum())), *(of.values for of in stored)])
        own = self.ways[way]
        y, jacobian = own.values[known[self.rows]], own.jacobian[known[self.rows]]
        root = np.ones(len(y)) if weights is None else np.sqrt(weights)
        rest = root * (y - plane @ np.linalg.lstsq(plane * root[:, None], y * root, rcond=None)[0])
        total = float((root**2).sum())
        # Nothing is nearer than the digits that the numbers are written with.
        return float((root**2 * jacobian).sum() / total - np.log(max(float(rest @ rest) / total, 1e-12)) / 2)


def stored(
    x: Numbers, kind: Continuous, step: float | None, weights: Numbers | None, curve: Knots | None = None
) -> Stored:
    """Known numbers as a column of this kind has them; by normal scores, as this curve gives them if there is one."""
    bend = curve if kind.is_scored and curve is not None else _bend(x, kind, weights)
    values, scale = standardised(x, bend, weights)
    point = None
    if isinstance(kind.point, float):
        point = (kind.point, 1.0 if kind.leaf == "counts" else length_of(step, float(x.min()), float(x.max())))
    return Stored(values, scale, point, kind.leaf, log_jacobian(scale, values))


def _parent(cells: Cells, values: Numbers, kind: Continuous | None, weights: Numbers | None) -> Stored | Cells:
    """Another column, in the rows in which it has these values."""
    if cells.levels is not None:
        return replace(cells, values=values)
    has_logs = values.max() > 0 <= values.min()
    bend = _bend(values, kind, weights) if kind is not None and (has_logs or not kind.is_log) else None
    x, scale = standardised(values, bend, weights)
    return Stored(x, scale, None, None, x)


def _bend(x: Numbers, kind: Continuous, weights: Numbers | None) -> Bend | None:
    """What a kind takes these numbers by, if not as they are."""
    if kind.is_scored:
        return normal_scores(x, weights, kind.point if isinstance(kind.point, float) else None)
    return shift_of(x) if kind.is_log else None


def _table(columns: list[Stored | Cells], weights: Numbers | None) -> TableHandle:
    """A table of the core, its columns named by their places."""
    none = Stored(np.empty(0), (0.0, 1.0), None, None, np.empty(0))
    stored = [of if isinstance(of, Stored) else none for of in columns]
    levels = [list(range(of.levels or 0)) if isinstance(of, Cells) else None for of in columns]
    return TableHandle.from_columns(
        [str(i) for i in range(len(columns))],
        [of.word if isinstance(of, Cells) else "continuous" for of in columns],
        levels,
        [of.values for of in columns],
        [of.scale for of in stored],
        weights,
        [of.point for of in stored],
        [of.leaf for of in stored],
    )
