"""`BayesNet.impute`: the missing values of a frame, drawn or predicted given all that their row tells."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from arbornet._core import ColumnError, ParameterError, RowsHandle
from arbornet.checks import whole
from arbornet.data.column import Column
from arbornet.data.frames_out import Output, as_frame, family_of
from arbornet.data.incomplete import is_known
from arbornet.data.kinds import Binned
from arbornet.data.question import Method, Question
from arbornet.data.support import as_drawn, drawn_range, drawn_steps, supported
from arbornet.data.units import to_original
from arbornet.data.values import codes_to_series, numbers_to_series
from arbornet.given import FrameLike
from arbornet.network.asked import how_to, log
from arbornet.network.evidence import Unseen, encode
from arbornet.network.filling import filled, own, stacked
from arbornet.network.structure import Structure
from arbornet.text.wrong_calls import helpful

Columns = list[NDArray[Any] | None]
How = Literal["draw", "modes", "means"]

IMPUTATION = "imputation"
"""The column that says which imputation a row is of."""
MOST = 10_000
"""Imputations of one call."""
SPREAD = tuple((i + 0.5) / 20 for i in range(20))
"""Quantiles whose mean is taken for the mean."""
TOGETHER = 20
"""Imputations that are drawn at once: what the draws of a row have in common is computed once."""


class Imputing(Structure):
    """The part of `BayesNet` that fills in missing values."""

    @helpful
    def impute(
        self,
        frame: FrameLike,
        how: How = "draw",
        m: int = 1,
        *,
        seed: int = 0,
        method: Method = "auto",
        unseen: Unseen = "error",
        output: Output | None = None,
        n_jobs: int = -1,
    ) -> Any:
        """The frame with its missing values filled in; observed values stay as they are.

        A draw has the spread that the missing value could have: use several (`m=20`) for tests, intervals and models,
        and pool what each gives (Rubin's rules, shown in the guide). A mode is the best single guess, for a table to
        look at; a mean is the single number with the smallest squared error. A table of either varies too little.

        Args:
            frame: Rows, or one row as a dict of single values. Columns that the network does not know stay as they are,
                those that the frame lacks are not added.
            how: `"draw"`: all missing values of a row together, from their distribution given what is observed;
                numbers within the observed range, whole where the column is. `"modes"`: the most probable level, or the
                median of a number, each by itself. `"means"`: the most probable level, or the mean of a number, with a
                fraction also where the column is whole.
            m: How many draws; above one they stand below one another, with the column `imputation` from 1 to m.
            seed: Random seed.
            method: `"auto"`: exact draws where there are any, else those of a Markov chain, which is logged; `"exact"`:
                an error instead of it. For modes and means as for `predict_proba`.
            unseen: A level that the network does not know: `"error"`, or `"missing"` to fill it in too.
            output: `"polars"` or `"pandas"`; if left out, the family of the frame that came in.
            n_jobs: Threads, -1 for all cores.

        Returns:
            A frame; of one row, a dict.

        Example:
            >>> filled = net.impute(df)
            >>> many = net.impute(df, m=20)
        """
        if how not in get_args(How):
            raise ParameterError(f"how={how!r}: choose 'draw', 'modes' or 'means'")
        m, seed = whole("m", m, 1, MOST), whole("seed", seed, 0, 2**63)
        if how != "draw" and m > 1:
            raise ParameterError(f"m={m}: {how} are the same every time; leave m out, or give how='draw'")
        if method not in ("auto", "exact") and how == "draw":
            raise ParameterError(f"method={method!r}: draws are 'exact', or 'auto' to take those of a Markov chain")
        family = family_of(frame, output)
        rows = own(as_frame(frame), family.name)
        if m > 1 and IMPUTATION in map(str, rows.columns):
            raise ColumnError(f"the frame has a column '{IMPUTATION}' already; rename it")
        coded = encode(self.schema, rows, unseen, n_jobs)
        columns = [coded.column(v) for v in range(len(self.names))]
        blank = {v: np.flatnonzero(~is_known(cells)) for v, cells in enumerate(columns) if cells is not None}
        blank = {v: rows for v, rows in blank.items() if len(rows)}
        if how != "draw":
            made = [filled(rows, _guesses(self, columns, blank, how, method, n_jobs), blank, self.schema)]
        else:
            made = [
                filled(rows, drawn, blank, self.schema)
                for drawn in _draws(self, columns, blank, method, seed * MOST, m, n_jobs)
            ]
        if family.is_one and m == 1 and isinstance(made[0], pl.DataFrame):
            return made[0].row(0, named=True)
        return made[0] if m == 1 else stacked(made, IMPUTATION)


def _draws(
    net: Structure, columns: Columns, blank: dict[int, NDArray[np.intp]], method: Method, seed: int, m: int, n_jobs: int
) -> Iterator[dict[int, pl.Series]]:
    """So many times, for each variable with missing values, what is drawn for them."""
    if not blank:
        yield from ({} for _ in range(m))
        return
    rows = np.unique(np.concatenate(list(blank.values())))
    lacking = [None if cells is None else cells[rows] for cells in columns]
    known = RowsHandle.from_cells(lacking, len(rows))
    ranges = [drawn_range(column) for column in net.schema.used]
    # Heaps lead to the step themselves, from all digits.
    steps = [drawn_steps(column) if column.heap_places is None else None for column in net.schema.used]
    for first in range(0, m, TOGETHER):
        question = Question(known, method=method, seed=(seed + first) % 2**64, n_jobs=n_jobs)
        copies = min(TOGETHER, m - first)
        made, chained = net.handle.complete(question, ranges, steps, rows.astype(np.uint64), copies)
        if chained and first == 0:
            log.info("the draws of %d of %d rows are approximate, by a Markov chain", chained, len(rows))
        for copy, columns_drawn in enumerate(made):
            out = {}
            for v, at in blank.items():
                drawn = columns_drawn[v]
                assert drawn is not None, "it has missing values"
                out[v] = _in_units(net.schema.used[v], drawn[np.searchsorted(rows, at)], seed + first + copy)
            yield out


def _guesses(
    net: Structure, columns: Columns, blank: dict[int, NDArray[np.intp]], how: How, method: Method, n_jobs: int
) -> dict[int, pl.Series]:
    """For each variable with missing values, the best guess of each by itself."""
    out = {}
    for v, at in blank.items():
        rows = RowsHandle.from_cells([None if c is None else c[at] for c in columns], len(at))
        question = replace(how_to(method, 2000, 0, n_jobs), rows=rows)
        column = net.schema.used[v]
        if column.levels is not None:
            best = np.argmax(np.nan_to_num(net.handle.predict_levels(question, v).values), axis=1).astype(np.uint32)
            out[v] = _in_units(column, best, None)
        elif how == "means":
            out[v] = numbers_to_series(column, _means(column, net.handle.predict_quantiles(question, v, SPREAD).values))
        else:
            medians = net.handle.predict_quantiles(question, v, (0.5,)).values[:, 0]
            out[v] = _numbers(column, medians)
    return out


def _means(column: Column, quantiles: NDArray[np.float64]) -> NDArray[np.float64]:
    """Means of numbers by quantiles of equal shares, each as the column's values are and within their range.

    A Student t of a few rows has a mean without sense, or none: so far out a quantile says more of the model than of
    the value.
    """
    low, high = column.range_ if column.range_ is not None else (-np.inf, np.inf)
    means: NDArray[np.float64] = np.clip(supported(column, quantiles), low, high).mean(axis=1)
    return means


def _in_units(column: Column, cells: NDArray[Any], seed: int | None) -> pl.Series:
    """Codes or stored numbers as the user's values: of whole numbers whole, of bins a value observed in them."""
    if column.levels is None:
        return _numbers(column, to_original(column.scale, cells), as_drawn)
    if isinstance(column.kind, Binned) and column.ranked:
        ranked = np.asarray(column.ranked)
        bins = np.searchsorted(np.asarray(column.cuts or ()), ranked)
        rng = np.random.default_rng(seed or 0)
        picks = rng.random(len(cells))
        low, high = np.searchsorted(bins, cells, "left"), np.searchsorted(bins, cells, "right")
        share = picks if seed is not None else np.full(len(cells), 0.5)
        places = np.minimum((low + share * (high - low)).astype(np.intp), len(ranked) - 1)
        return numbers_to_series(column, ranked[places])
    return codes_to_series(column, cells.astype(np.uint32))


def _numbers(
    column: Column,
    values: NDArray[np.float64],
    way: Callable[[Column, NDArray[np.float64]], NDArray[np.float64]] = supported,
) -> pl.Series:
    """Numbers of a column, whole where the column is also if it takes no step."""
    values = way(column, values)
    return numbers_to_series(column, np.round(values) if column.class_ == "integer" else values)
