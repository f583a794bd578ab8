"""Rows with missing values, coded: what `missing="learn"` starts from, and what is put together once they are drawn.

Levels, bins, ranges and scales come from the observed values of each column. Rows without any value say nothing and
are left out.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from arbornet._core import MISSING, ArbornetError, ParameterError, TableHandle
from arbornet.data.by_trees import settled
from arbornet.data.column import Column
from arbornet.data.frames import read_frame
from arbornet.data.kinds import Categorical
from arbornet.data.looks.written import as_read
from arbornet.data.schema import Schema, schema_of_raw
from arbornet.data.table import Dropped, NoCompleteRow, Table, check_usable, observed
from arbornet.data.units import to_stored
from arbornet.data.weights import Weights, WeightsAre, WeightsLike, of_rows, used
from arbornet.given import FrameLike
from arbornet.text.notices import of_parts

Cells = NDArray[Any]

#: Rows with gaps are dropped without being asked for if they are not more than this share.
FEW = 0.01
#: The most rows that are made of rows which count equally often: of longer tables weights are as quick.
MOST_REPEATED = 10_000
#: The ways that end with complete rows.
WITHOUT_GAPS: dict[str, Literal["drop", "error", "level"]] = {"drop": "drop", "error": "error", "level": "level"}


class CompletedTable(Table):
    """A table in which what was missing was drawn."""

    __slots__ = ("families",)

    families: list[list[int]] | None
    """The parents of every variable in a graph that a search is to look at in any case."""


class Incomplete:
    """All rows of a frame that have a value, coded by a schema made of what is observed.

    Args:
        frame: Any frame (see `Table`).
        schema: The columns' types; inferred if left out.
        unseen: A value that is not among a column's levels: `"error"`, or `"missing"` to treat it as missing.
        n_jobs: Number of threads, -1 for all.
        weights: As for `Table`.
        weights_are: As for `Table`; the effective size is that of all rows that have a value.

    Attributes:
        schema: The columns with their levels, bins and scales.
        cells: Per variable its codes, `MISSING` where there is none, or its numbers in stored units, then NaN.
        known: Per variable the rows in which it has a value.
        n_blank: Rows without any value, which are left out.
        own_weights: How often each row counts; None where each counts once.
        times: What `counted` multiplied that by.
        weights: What is known of the rows' weights, if they were given some.

    Raises:
        ArbornetError: If it is not a frame, or no row has a value.
        ColumnError: If a column cannot be used as its type, or has no value.
    """

    def __init__(
        self,
        frame: FrameLike,
        schema: Schema | None = None,
        unseen: Literal["error", "missing"] = "error",
        *,
        n_jobs: int = -1,
        weights: WeightsLike | None = None,
        weights_are: WeightsAre = "frequency",
    ) -> None:
        named = [weights] if isinstance(weights, str) else []
        raw = read_frame(frame, None if schema is None else [*schema.names, *named], n_jobs)
        own, of_column = (None, None) if weights is None else of_rows(raw, weights)
        schema = schema_of_raw(raw, weights=of_column) if schema is None else schema
        schema = schema if of_column is None else schema.weighed_by(of_column)
        check_usable(raw, schema)
        raw = as_read(raw, schema.used, n_jobs)
        survey = weights_are == "survey"
        columns, codings = zip(
            *(observed(raw, column, unseen, own, survey) for column in settled(raw, schema.used, own)), strict=True
        )
        rows = raw.frame.rows(list(codings), n_jobs)
        cells = [_wide(rows.column(v)) for v in range(len(columns))]
        some = np.logical_or.reduce([is_known(column) for column in cells])
        if not some.any():
            raise ArbornetError("no row has a value in any column; nothing can be learned from it")
        n_some = int(some.sum())
        self.n_blank = len(some) - n_some
        self.own_weights: NDArray[np.float64] | None = None
        self.times = 1
        self.weights: Weights | None = None
        if own is not None:
            some = some & (own > 0)
            self.own_weights, self.weights = used(own[some], weights_are, n_some - int(some.sum()))
        made = {column.name: column for column in columns}
        self.schema = Schema(tuple(made.get(c.name, c) for c in schema.columns), schema.findings)
        self._set([column if some.all() else column[some] for column in cells])

    def _set(self, cells: list[Cells]) -> None:
        self.cells = cells
        self.known = [is_known(column) for column in cells]
        self._filled: list[Cells] | None = None

    @property
    def names(self) -> list[str]:
        """Names of the variables, in order."""
        return self.schema.names

    @property
    def n_rows(self) -> int:
        """Number of rows that have a value."""
        return len(self.cells[0])

    @property
    def n_dropped(self) -> int:
        """Number of rows left out."""
        return self.n_blank

    def complete(self) -> NDArray[np.bool_]:
        """Which rows are complete."""
        complete: NDArray[np.bool_] = np.logical_and.reduce(self.known)
        return complete

    def known_together(self, family: Sequence[int]) -> NDArray[np.bool_]:
        """Which rows have a value in every variable of a family."""
        together: NDArray[np.bool_] = np.logical_and.reduce([self.known[v] for v in family])
        return together

    def table(self, rows: NDArray[np.bool_]) -> TableHandle:
        """These rows, with a placeholder where a value is missing."""
        if self._filled is None:  # once: tables of some rows are asked for by the hundred
            each = zip(self.cells, self.known, self.schema.used, strict=True)
            self._filled = [np.where(known, own, _placeholder(of)).astype(own.dtype) for own, known, of in each]
        at = np.flatnonzero(rows)
        filled = [column[at] for column in self._filled]
        return self._handle(filled, None if self.own_weights is None else self.own_weights[at])

    def completed(self, cells: Sequence[Cells]) -> CompletedTable:
        """The table of these rows with the missing values drawn."""
        table = CompletedTable.from_handle(self._handle(cells, self.own_weights), self.schema)
        table.dropped, table.weights = self.told(), self.weights
        assert isinstance(table, CompletedTable)
        table.families = None
        return table

    def as_if_complete(self) -> Table:
        """A table of all rows with placeholders where values are missing: for the work it takes, not for its values."""
        return Table.from_handle(self.table(np.ones(self.n_rows, dtype=bool)), self.schema)

    def weight_of(self, rows: NDArray[np.bool_]) -> float:
        """How often some rows count together: their number where each counts once."""
        return float(rows.sum()) if self.own_weights is None else float(self.own_weights[rows].sum())

    def thinned(self, every: int) -> Incomplete:
        """About one in so many of these rows, whatever their order."""
        return self.taken(np.flatnonzero(self.canonical(np.arange(self.n_rows)) % np.uint64(every) == 0))

    def taken(self, rows: NDArray[np.intp]) -> Incomplete:
        """Some of these rows, any of them any number of times."""
        made = copy.copy(self)
        made.own_weights = None if self.own_weights is None else self.own_weights[rows]
        made._set([column[rows] for column in self.cells])
        return made

    def counted(self, times: int) -> Incomplete:
        """The same rows, each counted so many times."""
        made = copy.copy(self)
        made.times = times
        made.own_weights = times * (np.ones(self.n_rows) if self.own_weights is None else self.own_weights)
        return made

    def told(self) -> Dropped:
        """How many rows lack a value, and in which columns."""
        lacks = {name: int((~known).sum()) for name, known in zip(self.names, self.known, strict=True)}
        drawn = int((~self.complete()).sum())
        return Dropped(self.n_blank, {name: n for name, n in lacks.items() if n}, drawn)

    def canonical(self, rows: NDArray[np.intp]) -> NDArray[np.uint64]:
        """For each of these rows its place among them in an order that depends on the values alone.

        Equal rows (of equal weight) may change places, which changes no set of rows: what is drawn for a row by its
        place does not depend on the order of the rows.
        """
        last = [] if self.own_weights is None else [self.own_weights[rows]]
        order = np.lexsort([*last, *(column[rows] for column in reversed(self.cells))])
        places = np.empty(len(rows), dtype=np.uint64)
        places[order] = np.arange(len(rows), dtype=np.uint64)
        return places

    def with_indicators(self) -> Incomplete:
        """The same rows with a variable for each column with gaps that says whether its value is missing.

        Columns that are missing in the same rows share one, which has the name of the first.
        """
        names, added, cells = set(self.schema), [], []
        seen: set[bytes] = set()
        for column, known in zip(self.schema.used, self.known, strict=True):
            if known.all() or known.tobytes() in seen:
                continue
            seen.add(known.tobytes())
            name = f"{column.name} missing"
            while name in names:
                name += "_"
            names.add(name)
            why = f"whether {column.name} is missing"
            added.append(
                Column(name, Categorical(["no", "yes"]), "text", why, n_rows=self.n_rows, observed=("no", "yes"))
            )
            cells.append((~known).astype(np.uint32))
        made = object.__new__(Incomplete)
        made.schema = Schema((*self.schema.columns, *added), self.schema.findings)
        made.n_blank, made.own_weights, made.weights = self.n_blank, self.own_weights, self.weights
        made.times = self.times
        made._set([*self.cells, *cells])
        return made

    def _handle(self, cells: Sequence[Cells], weights: NDArray[np.float64] | None) -> TableHandle:
        columns = self.schema.used
        times = self.times
        if weights is not None and times * len(weights) <= MOST_REPEATED and (weights == times).all():
            # Rows that count equally often are repeated: of few rows, levels are put in order twice as fast by counts.
            cells, weights = [np.repeat(column, times) for column in cells], None
        return TableHandle.from_columns(
            [column.name for column in columns],
            [column.word for column in columns],
            [column.levels for column in columns],
            list(cells),
            [column.scale or (0.0, 1.0) for column in columns],
            weights,
            [column.point for column in columns],
            [column.leaf for column in columns],
        )


def rows_of(
    frame: FrameLike,
    schema: Schema | None = None,
    missing: str | None = None,
    unseen: Literal["error", "missing"] = "error",
    *,
    n_jobs: int = -1,
    weights: WeightsLike | None = None,
    weights_are: WeightsAre = "frequency",
) -> Table | Incomplete:
    """The rows to learn from: a table, or rows with gaps where these are to be kept.

    Args:
        frame: Any frame.
        schema: The columns' types; inferred if left out.
        missing: As for `Table`, or `"learn"` to keep rows with gaps, `"indicator"` to add variables that say where they
            are; if left out, they are kept where more than a hundredth of the rows have some.
        unseen: As for `Table`.
        n_jobs: Number of threads, -1 for all.
        weights: As for `Table`.
        weights_are: As for `Table`.

    Raises:
        ArbornetError: As for `Table` and `Incomplete`.
        ParameterError: If there is no such way.
    """
    if missing not in (None, "drop", "error", "level", "learn", "indicator"):
        raise ParameterError(f"missing={missing!r}: choose 'learn', 'drop', 'error', 'level' or 'indicator'")
    keeps = missing in ("learn", "indicator")
    if missing is not None and not keeps:
        how = None if missing is None else WITHOUT_GAPS[missing]
        return Table(frame, schema, how, unseen=unseen, n_jobs=n_jobs, weights=weights, weights_are=weights_are)
    try:
        with of_parts():
            table = Table(frame, schema, "drop", unseen=unseen, n_jobs=n_jobs, weights=weights, weights_are=weights_are)
    except ArbornetError as error:  # no row is complete, or there is something else
        if not isinstance(error, NoCompleteRow):
            raise
    else:
        few = missing is None and table.n_dropped <= FEW * (table.n_rows + table.n_dropped)
        if few or not table.dropped:
            return table
    rows = Incomplete(frame, schema, unseen, n_jobs=n_jobs, weights=weights, weights_are=weights_are)
    if rows.complete().all():  # the others have no value at all
        return table
    return rows.with_indicators() if missing == "indicator" else rows


def _placeholder(column: Column) -> float:
    """What stands where a value is missing: the first level, the mean, or of counts 0: a mean may be none."""
    return float(to_stored(column.scale, np.zeros(1))[0]) if column.leaf == "counts" else 0.0


def is_known(cells: Cells) -> NDArray[np.bool_]:
    """Where there is a value."""
    known: NDArray[np.bool_] = ~np.isnan(cells) if cells.dtype == np.float64 else cells != MISSING
    return known


def _wide(cells: Cells | None) -> Cells:
    assert cells is not None, "every column is there"
    return cells if cells.dtype == np.float64 else cells.astype(np.uint32, copy=False)
