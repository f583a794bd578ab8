"""Tables simulated from random networks, to see what a method finds where the truth is known."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import networkx as nx
import numpy as np
import polars as pl
from numpy.typing import NDArray

from arbornet._core import ParameterError
from arbornet.alike import alike
from arbornet.checks import real
from arbornet.data.kinds import Categorical, Continuous
from arbornet.data.schema import Schema, infer_schema
from arbornet.system.memory import afford
from arbornet.text.notices import LeftOutWarning

Kind = Literal["linear", "nonlinear", "lee-hastie"]
Reals = NDArray[np.float64]
Codes = NDArray[np.int64]

#: A column whose largest value is so many standard deviations from its mean has grown out of hand.
BLOWN_UP = 10.0


class Simulated(NamedTuple):
    """A random network and rows drawn from it."""

    dag: nx.DiGraph[str]
    """The true graph, over all variables."""
    frame: pl.DataFrame
    """The rows: continuous columns standardised, levels as integers from 0."""
    schema: Schema
    """The columns' kinds, with all levels declared, observed or not."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Simulated) and alike(tuple(self), tuple(other))

    def __ne__(self, other: object) -> bool:
        return not self == other


def mixed_network(
    n_variables: int = 100,
    average_degree: float = 2,
    n_rows: int = 1000,
    *,
    kind: Kind = "linear",
    discrete: float = 0.5,
    levels: tuple[int, int] = (2, 5),
    max_degree: int = 5,
    seed: int = 0,
) -> Simulated:
    """A random network over continuous and discrete variables, and rows of it (Andrews et al. 2018, section 6).

    Arcs join random pairs along a random order until the average degree is reached, none beyond the maximum degree.
    Every variable is discrete with probability `discrete`, with a random number of levels.

    * "linear": a continuous variable is a linear regression on its continuous parents, a separate one in every cell of
      its discrete parents. A discrete one has a random distribution in every cell of its discrete parents and of
      temporary versions of the continuous ones, cut into 2 to 5 bins of equal frequency.
    * "nonlinear": the regressions have square and cubic terms too, or where values become too large, square and cube
      roots.
    * "lee-hastie": effects add up (Lee and Hastie 2015): a continuous variable is linear in its continuous parents and
      shifted by the levels of the discrete ones, a discrete one a logistic regression on both.

    Args:
        n_variables: number of variables, named X1, X2, ...
        average_degree: twice the number of arcs per variable.
        n_rows: number of rows.
        kind: how children depend on their parents.
        discrete: probability of a variable to be discrete.
        levels: fewest and most levels of a discrete variable.
        max_degree: the most arcs at any variable.
        seed: of everything; the same seed, the same bytes.

    Raises:
        ParameterError: if a parameter is outside its range, or no such graph exists.
        MemoryError: if the rows would not fit.

    Example:
        >>> dag, frame, schema = an.simulate.mixed_network(20, 2, 500, seed=1)
        >>> found = an.search.boss(an.Table(frame, schema=schema), an.ConditionalGaussian())
        >>> an.metrics.compare(dag, found).ap
    """
    _check(n_variables, average_degree, n_rows, kind, discrete, levels, max_degree, seed)
    widest = 2 * n_variables + 3 * (levels[1] if discrete > 0 else 1)
    afford(f"simulating {n_rows:,} rows of {n_variables:,} variables", 8.0 * n_rows * widest, "ask for fewer")
    rng = np.random.default_rng(seed)
    order, arcs = _graph(n_variables, round(n_variables * average_degree / 2), max_degree, rng)
    sizes = np.where(rng.random(n_variables) < discrete, rng.integers(levels[0], levels[1] + 1, n_variables), 0)
    parents: list[list[int]] = [[] for _ in range(n_variables)]
    for a, b in arcs:
        parents[b].append(a)
    make = _Additive(rng, n_rows) if kind == "lee-hastie" else _Cells(rng, n_rows, kind == "nonlinear")
    columns: list[Any] = [None] * n_variables
    for v in order:
        reals = [columns[p] for p in sorted(parents[v]) if not sizes[p]]
        codes = [(columns[p], int(sizes[p])) for p in sorted(parents[v]) if sizes[p]]
        columns[v] = make.discrete(reals, codes, int(sizes[v])) if sizes[v] else make.continuous(reals, codes)
    names = [f"X{v + 1}" for v in range(n_variables)]
    frame = pl.DataFrame({n: c if s else _standardised(c) for n, c, s in zip(names, columns, sizes, strict=True)})
    kinds = {n: Categorical(list(range(s))) if s else Continuous() for n, s in zip(names, sizes.tolist(), strict=True)}
    dag: nx.DiGraph[str] = nx.DiGraph()
    dag.add_nodes_from(names)
    dag.add_edges_from((names[a], names[b]) for a, b in sorted(arcs))
    with warnings.catch_warnings():
        # A column of which only one level occurred is used all the same.
        warnings.simplefilter("ignore", LeftOutWarning)
        return Simulated(dag, frame, infer_schema(frame).with_types(kinds))


def _check(
    n_variables: int,
    average_degree: float,
    n_rows: int,
    kind: str,
    discrete: float,
    levels: tuple[int, int],
    max_degree: int,
    seed: int,
) -> None:
    for name, value, least in [
        ("n_variables", n_variables, 1),
        ("n_rows", n_rows, 2),
        ("max_degree", max_degree, 0),
        ("seed", seed, 0),
    ]:
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or not least <= value < 2**32:
            raise ParameterError(f"{name}={value!r}: give an integer from {least} to {2**32 - 1}")
    discrete, average_degree = real("discrete", discrete), real("average_degree", average_degree)
    if kind not in ("linear", "nonlinear", "lee-hastie"):
        raise ParameterError(f"kind={kind!r}: choose 'linear', 'nonlinear' or 'lee-hastie'")
    if not 0 <= discrete <= 1:
        raise ParameterError(f"discrete={discrete!r}: give a probability")
    counts = levels if isinstance(levels, tuple | list) and len(levels) == 2 else (0, 0)
    if not all(isinstance(k, int) for k in counts) or not 2 <= counts[0] <= counts[1]:
        raise ParameterError(f"levels={levels!r}: give the fewest and the most, from 2 up")
    most = min(n_variables - 1, max_degree)
    if not 0 <= average_degree <= most:
        raise ParameterError(f"average_degree={average_degree!r}: give a number from 0 to {most}")


def _graph(n: int, n_arcs: int, max_degree: int, rng: np.random.Generator) -> tuple[list[int], list[tuple[int, int]]]:
    """A random order, and random arcs along it."""
    order = rng.permutation(n).tolist()
    # Close to the maximum degree a random choice may lead to where no pair is left: begin again then.
    for _ in range(100):
        arcs: set[tuple[int, int]] = set()
        degree = [0] * n
        while len(arcs) < n_arcs:
            free = [i for i in range(n) if degree[i] < max_degree]
            draws = rng.integers(0, max(len(free), 1), (256, 2)).tolist() if len(free) > 1 else []
            before = len(arcs)
            for i, j in draws:
                a, b = sorted((free[i], free[j]))
                full = degree[a] >= max_degree or degree[b] >= max_degree
                if a == b or full or (a, b) in arcs or len(arcs) == n_arcs:
                    continue
                arcs.add((a, b))
                degree[a] += 1
                degree[b] += 1
            if len(arcs) == before and not _any_left(free, degree, arcs, max_degree):
                break
        if len(arcs) == n_arcs:
            return order, [(order[a], order[b]) for a, b in arcs]
    raise ParameterError(f"average_degree={2 * n_arcs / n:g}: no such graph was found with max_degree={max_degree}")


def _any_left(free: list[int], degree: list[int], arcs: set[tuple[int, int]], most: int) -> bool:
    left = [i for i in free if degree[i] < most]
    return any((a, b) not in arcs for a in left for b in left if a < b)


def _standardised(column: Reals) -> Reals:
    deviation = column.std(ddof=1)
    scaled: Reals = (column - column.mean()) / (deviation if deviation > 0 else 1.0)
    return scaled


def _signed(rng: np.random.Generator, low: float, high: float, shape: tuple[int, ...]) -> Reals:
    """Uniform, away from zero, with random sign."""
    sign = np.where(rng.random(shape) < 0.5, -1.0, 1.0)
    return np.asarray(sign * rng.uniform(low, high, shape))


def _bins(column: Reals, n_bins: int) -> Codes:
    """Bins of equal frequency."""
    ranks = np.empty(len(column), np.int64)
    ranks[np.argsort(column, kind="stable")] = np.arange(len(column))
    return ranks * n_bins // len(column)


def _drawn(probabilities: Reals, rng: np.random.Generator) -> Codes:
    """One level per row."""
    below = np.cumsum(probabilities, axis=1)[:, :-1]
    codes: Codes = (rng.random(len(probabilities))[:, None] > below).sum(axis=1)
    return codes


class _Cells:
    """A separate model in every cell of the discrete parents."""

    def __init__(self, rng: np.random.Generator, n_rows: int, nonlinear: bool):
        self._rng = rng
        self._n_rows = n_rows
        self._nonlinear = nonlinear

    def continuous(self, reals: list[Reals], codes: list[tuple[Codes, int]]) -> Reals:
        cell, n_cells = self._cell(codes)
        noise = np.sqrt(self._rng.uniform(1, 3, n_cells))[cell] * self._rng.standard_normal(self._n_rows)
        rest = self._rng.uniform(-1, 1, n_cells)[cell] + noise
        if not self._nonlinear:
            return rest + self._regression(reals, cell, n_cells, (lambda x: x,))
        scaled = [_standardised(x) for x in reals]
        column = rest + self._regression(scaled, cell, n_cells, (lambda x: x, lambda x: x**2, lambda x: x**3))
        if np.abs(_standardised(column)).max() <= BLOWN_UP:
            return column
        roots = (lambda x: x, lambda x: np.sign(x) * np.sqrt(np.abs(x)), np.cbrt)
        return rest + self._regression(scaled, cell, n_cells, roots)

    def _regression(
        self, reals: list[Reals], cell: Codes, n_cells: int, terms: tuple[Callable[[Reals], Reals], ...]
    ) -> Reals:
        total = np.zeros(self._n_rows)
        for x in reals:
            for term in terms:
                total += _signed(self._rng, 0.2, 1.2, (n_cells,))[cell] * term(x)
        return total

    def discrete(self, reals: list[Reals], codes: list[tuple[Codes, int]], n_levels: int) -> Codes:
        cut = [(x, int(self._rng.integers(2, 6))) for x in reals]
        cell, n_cells = self._cell(codes + [(_bins(x, n), n) for x, n in cut])
        # One level of each cell stands out, the others share the rest.
        weights = self._rng.uniform(0.05, 1, (n_cells, n_levels))
        chosen = self._rng.integers(0, n_levels, n_cells)
        share = self._rng.uniform(0.55, 0.95, n_cells)
        weights[np.arange(n_cells), chosen] = 0
        weights *= ((1 - share) / weights.sum(axis=1))[:, None]
        weights[np.arange(n_cells), chosen] = share
        return _drawn(weights[cell], self._rng)

    def _cell(self, codes: list[tuple[Codes, int]]) -> tuple[Codes, int]:
        cell = np.zeros(self._n_rows, np.int64)
        for column, n_levels in codes:
            cell = cell * n_levels + column
        return cell, math.prod(n for _, n in codes)


class _Additive:
    """Effects that add up, on the scale of the mean or of the log odds."""

    def __init__(self, rng: np.random.Generator, n_rows: int):
        self._rng = rng
        self._n_rows = n_rows

    def continuous(self, reals: list[Reals], codes: list[tuple[Codes, int]]) -> Reals:
        column = self._rng.uniform(-1, 1) + math.sqrt(self._rng.uniform(1, 3)) * self._rng.standard_normal(self._n_rows)
        for x in reals:
            column += _signed(self._rng, 0.2, 1.2, ()) * x
        for code, n_levels in codes:
            column += _signed(self._rng, 0.2, 1.2, (n_levels,))[code]
        return column

    def discrete(self, reals: list[Reals], codes: list[tuple[Codes, int]], n_levels: int) -> Codes:
        odds = np.zeros((self._n_rows, n_levels)) + self._rng.uniform(-0.5, 0.5, n_levels)
        for x in reals:
            odds += _standardised(x)[:, None] * _signed(self._rng, 0.2, 1.2, (n_levels,))
        for code, n in codes:
            odds += _signed(self._rng, 0.2, 1.2, (n, n_levels))[code]
        odds = np.exp(odds - odds.max(axis=1, keepdims=True))
        return _drawn(odds / odds.sum(axis=1, keepdims=True), self._rng)
