"""Effects of parents on a child: a function of one parent, or an interaction of two.

Every parent is first read as a number of mean 0 and deviation 1 (`Reading`). An effect is a shape of one or two such
numbers, again of mean 0 and deviation 1, so that effects of all shapes are equally strong. Means and deviations are
estimated from rows drawn when the network was made, and fixed: all further rows have the same distribution.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from arbornet.simulate.draws import Codes, Draws, Reals

Shape = Literal["linear", "step", "valley", "tanh", "bend", "hill", "wave"]
Pair = Literal["product", "slope", "xor"]
Columns = Mapping[str, Any]
"""By name: numbers as in the table, levels as codes from 0."""

#: Products clip their factors at so many deviations, so that one outlier does not dominate all other rows.
FAR = 3.0


def _bend(x: Reals, at: float) -> Reals:
    bent: Reals = np.logaddexp(0.0, 2 * (x - at))
    return bent


SHAPES: dict[str, Callable[[Reals, float], Reals]] = {
    "linear": lambda x, at: x,
    "step": lambda x, at: np.where(x > at, 1.0, 0.0),
    "valley": lambda x, at: np.abs(x - at),
    "tanh": lambda x, at: np.tanh(2 * (x - at)),
    "bend": _bend,
    "hill": lambda x, at: np.exp(-((x - at) ** 2)),
    "wave": lambda x, at: np.sin(6 * (x - at)),
}
assert tuple(SHAPES) == get_args(Shape)


@dataclass(frozen=True)
class Reading:
    """A parent as a number of mean 0 and deviation 1.

    Attributes:
        parent: Its name.
        plus: What is added before the logarithm is taken, as values may be zero; 0 if no logarithm is taken.
        values: For a category, the number that each level stands for.
        centre: The mean of these numbers.
        spread: Their standard deviation.
        middle: The median, in deviations.
        sides: For levels, 1 or -1 for each.
    """

    parent: str
    plus: float
    values: tuple[float, ...]
    centre: float
    spread: float
    middle: float
    sides: tuple[float, ...]

    def of(self, columns: Columns) -> Reals:
        """The parent's numbers, row by row."""
        column = columns[self.parent]
        read: Reals = _read(column, self.plus, self.values)
        scaled: Reals = (read - self.centre) / self.spread
        return scaled

    def value(self, at: float) -> float:
        """The value of the parent's column that is so many deviations from its mean, as the table shows it."""
        read = at * self.spread + self.centre
        if self.values:
            return read + 1
        return math.exp(read) - self.plus if self.plus else read

    def side(self, columns: Columns) -> Reals:
        """1 or -1, row by row: on which side of the median a number is, in which half of the levels a level is."""
        if self.sides:
            of_rows: Reals = np.asarray(self.sides)[columns[self.parent]]
            return of_rows
        return np.where(self.of(columns) > self.middle, 1.0, -1.0)


def _read(column: Any, plus: float, values: tuple[float, ...]) -> Reals:
    if values:
        stood_for: Reals = np.asarray(values)[column]
        return stood_for
    numbers: Reals = np.asarray(column, np.float64)
    logged: Reals = np.log(numbers + plus) if plus else numbers
    return logged


def reading(parent: str, kind: str, n_levels: int, columns: Columns, draws: Draws) -> Reading:
    """How a parent becomes a number, drawn: skewed numbers as they are or as logarithms, categories in any order."""
    plus = {"log-normal": 1e-6, "count": 1.0}.get(kind, 0.0)
    if plus and draws.sign() < 0:
        plus = 0.0
    values: tuple[float, ...] = ()
    sides: tuple[float, ...] = ()
    if n_levels:
        order = draws.order(n_levels) if kind == "category" else list(range(n_levels))
        values = tuple(float(place) for place in order)
        sides = _halves(columns[parent], order)
    read = _read(columns[parent], plus, values)
    centre, spread = constant(read.mean()), constant(read.std()) or 1.0
    return Reading(parent, plus, values, centre, spread, constant((np.median(read) - centre) / spread), sides)


def _halves(codes: Codes, order: list[int]) -> tuple[float, ...]:
    """Levels split in two along an order, so that both sides have about the same number of rows."""
    counts = np.bincount(codes, minlength=len(order))
    by_place = sorted(range(len(order)), key=order.__getitem__)
    below = np.cumsum(counts[by_place])[:-1]
    cut = int(np.argmin(np.abs(below - len(codes) / 2)))
    sides = [1.0] * len(order)
    for level in by_place[: cut + 1]:
        sides[level] = -1.0
    return tuple(sides)


def constant(value: float | np.floating[Any]) -> float:
    """A constant of a network, rounded like drawn values."""
    return float(np.round(float(value), 9)) + 0.0


@dataclass(frozen=True)
class Effect:
    """The effect of one parent, or a pair of parents, on a child.

    Attributes:
        shape: Its shape.
        readings: The parents, as numbers.
        at: Where along a parent, in deviations from its mean: threshold, bottom of the valley, top of the hill; of a
            product, what is added to each parent.
        centre: Mean of the shape.
        spread: Its standard deviation.
    """

    shape: Shape | Pair
    readings: tuple[Reading, ...]
    at: tuple[float, ...]
    centre: float = 0.0
    spread: float = 1.0

    def of(self, columns: Columns) -> Reals:
        """The effect, row by row, of mean 0 and deviation 1."""
        return (self._shaped(columns) - self.centre) / self.spread

    def _shaped(self, columns: Columns) -> Reals:
        first, second = self.readings[0], self.readings[-1]
        if self.shape == "product":
            x, y = (
                np.clip(reading.of(columns), -FAR, FAR) + at for reading, at in zip(self.readings, self.at, strict=True)
            )
            return x * y
        if self.shape == "slope":
            return first.side(columns) * second.of(columns)
        if self.shape == "xor":
            return first.side(columns) * second.side(columns)
        return SHAPES[self.shape](first.of(columns), self.at[0])

    @property
    def parents(self) -> tuple[str, ...]:
        """The parents' names."""
        return tuple(reading.parent for reading in self.readings)

    def __str__(self) -> str:
        names = [f"log {reading.parent}" if reading.plus else reading.parent for reading in self.readings]
        if len(names) == 2:
            return f"{self.shape} of {names[0]} and {names[1]}"
        category = len(self.readings[0].values) > 0 and self.shape == "linear"
        where = "" if self.shape == "linear" else f" at {self.readings[0].value(self.at[0]):.3g}"
        return f"levels of {names[0]}" if category else f"{self.shape} of {names[0]}{where}"


def effect(shape: Shape | Pair, readings: tuple[Reading, ...], columns: Columns, draws: Draws) -> Effect:
    """An effect of a shape, its location drawn at random, scaled on some rows."""
    if len(readings) == 2:
        at = tuple(constant(draws.sign() * draws.between(0.4, 0.8)) for _ in readings)
        return _scaled(Effect(shape, readings, at), columns)
    # Many rows lie on either side of the location; for levels, it is between two of them.
    read = np.sort(readings[0].of(columns))
    low = read[int(draws.between(0.3, 0.7) * (len(read) - 1))]
    above = read[read > low]
    at = (constant((low + above[0]) / 2 if len(above) else low),)
    return _scaled(Effect(shape, readings, at), columns)


def _scaled(unscaled: Effect, columns: Columns) -> Effect:
    shaped = unscaled._shaped(columns)
    spread = constant(shaped.std()) or 1.0
    return Effect(unscaled.shape, unscaled.readings, unscaled.at, constant(shaped.mean()), spread)
