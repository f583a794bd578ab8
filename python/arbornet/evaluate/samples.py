"""Samples of the rows of any frame, and tables made of those rows alone."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from arbornet._core import ArbornetError, ParameterError, table_fingerprint
from arbornet.data.column import Column
from arbornet.data.frames import read_frame, tabled
from arbornet.data.incomplete import Incomplete, rows_of
from arbornet.data.kinds import Binned, Ordinal
from arbornet.data.schema import Schema, schema_of_raw
from arbornet.data.table import Table
from arbornet.data.weights import WeightsAre, WeightsLike, of_rows
from arbornet.system.memory import afford
from arbornet.text.notices import of_parts

Rows = NDArray[np.int64]

A_REPEAT = 1000.0
"""About how many bytes the plan of a repeat takes, beside its rows."""


class Sampled:
    """A frame of which any rows can be taken.

    Args:
        frame: Any frame, or a Table: its rows in the user's values, its kinds, levels and bins, and its weights.
        schema: The columns' types. Scales and bin ends in it are ignored: they belong to the rows that are learned
            from. If left out, types and levels too are those of the rows learned from.
        missing: As for `Table`, or `"learn"` to keep rows with gaps.
        standardise: As for `Table`.
        weights: As for `Table`.
        weights_are: As for `Table`.

    Raises:
        ParameterError: If a Table is given weights: it has its own.
    """

    weights: NDArray[np.float64] | None
    """How often each row counts, if not all count once."""

    def __init__(
        self,
        frame: Any,
        schema: Schema | None,
        missing: Any,
        standardise: bool,
        weights: WeightsLike | None = None,
        weights_are: WeightsAre = "frequency",
    ):
        self.weights, self._column = None, None
        self._weights_are: WeightsAre = weights_are
        if weights is not None and isinstance(frame, Table):
            raise ParameterError("weights: the frame is a Table already; make it with an.Table(frame, weights=...)")
        if isinstance(frame, Table):
            self.weights = frame.handle.weights
            self._weights_are = frame.weights.are if frame.weights else "frequency"
            schema = given_back(frame.schema) if schema is None else schema
            frame = frame.to_polars()
        elif hasattr(frame, "collect"):
            frame = frame.collect()
        self.n_rows, self._take = _taker(frame)
        self._all = frame
        if weights is not None:
            self.weights, self._column = of_rows(read_frame(frame), weights)
        self.schema = None if schema is None else unlearned(schema)
        self._missing, self._standardise = missing, standardise

    @property
    def has_gaps(self) -> bool:
        """Whether rows with missing values are kept as they are."""
        return bool(self._missing == "learn")

    def like(self, table: Table | Incomplete) -> Sampled:
        """The same rows, with the types and levels of a table (say, of all rows).

        Columns and their levels are the same for every part of the rows: a column that is constant in one part, or
        lacks a level there, is still the same column.
        """
        made = copy(self)
        made.schema = unlearned(table.schema)
        return made

    def take(self, rows: Rows) -> Any:
        """Those rows of the frame."""
        return self._take(rows)

    def table(self, rows: Rows | None = None, schema: Schema | None = None, n_threads: int = 1) -> Table:
        """The table of some rows, all if left out; with a schema, of its kinds instead of those given or inferred."""
        frame = self._all if rows is None else self._take(rows)
        kinds = self.schema if schema is None else unlearned(schema)
        weights = self.weights if self.weights is None or rows is None else self.weights[rows]
        with nullcontext() if rows is None else of_parts():
            return Table(
                frame,
                schema=kinds,
                missing=self._missing,
                standardise=self._standardise,
                n_jobs=n_threads,
                weights=weights if self._column is None else self._column,
                weights_are=self._weights_are,
                scales="auto",
            )

    def with_gaps(self, rows: Rows | None = None, n_threads: int = 1) -> Table | Incomplete:
        """Some rows, all if left out, those with missing values too; a table if none of them has one."""
        frame = self._all if rows is None else self._take(rows)
        weights = self.weights if self.weights is None or rows is None else self.weights[rows]
        with nullcontext() if rows is None else of_parts():
            schema = self.schema
            if schema is None:
                raw = read_frame(frame, n_jobs=n_threads)
                schema = schema_of_raw(raw, weights=self._column, scales="auto", own=weights)
            return rows_of(
                frame,
                schema,
                "learn",
                n_jobs=n_threads,
                weights=weights,
                weights_are=self._weights_are,
            )

    def fingerprint(self) -> str:
        """Identifies the rows, to check whether results on disk are of the same ones."""
        rows = self.with_gaps() if self.has_gaps else self.table()
        handle = rows.handle if isinstance(rows, Table) else rows.as_if_complete().handle
        gaps = b"" if isinstance(rows, Table) else np.packbits(np.array(rows.known)).tobytes()
        of_gaps = f" {hashlib.sha256(gaps).hexdigest()}" if gaps else ""
        return f"{table_fingerprint(handle)}{of_gaps} {self.n_rows} {self._missing} {self._standardise}"


def given_back(schema: Schema) -> Schema:
    """The schema of rows that a table or a network gives back: of a binned number, the names of its bins in order."""

    def known(column: Column) -> Column:
        if not isinstance(column.kind, Binned) or column.levels is None:
            return column
        return replace(
            column, kind=Ordinal(column.levels), class_="text", observed=column.levels, cuts=None, ranked=None
        )

    return Schema(tuple(map(known, schema.columns)))


def unlearned(schema: Schema) -> Schema:
    """A schema's kinds and levels, without what its table measured, or what its columns look like.

    Raises:
        ParameterError: If it is not a schema.
    """
    if not isinstance(schema, Schema):
        raise ParameterError(f"schema={schema!r}: give what infer_schema returns, or nothing")
    return Schema(
        tuple(
            replace(
                column,
                scale=None,
                cuts=column.kind.cuts if isinstance(column.kind, Binned) else column.cuts,
                ranked=None,
                looks_like="",
                looks_because="",
                hint=None,
            )
            for column in schema.columns
        )
    )


def _taker(frame: Any) -> tuple[int, Callable[[Rows], Any]]:
    if isinstance(frame, pl.DataFrame):
        return frame.height, lambda rows: frame[rows]
    module = type(frame).__module__.partition(".")[0]
    if module == "pandas":
        # Positions, whatever the index says; pandas keeps what Polars would lose, such as ordered categories.
        return len(frame), lambda rows: frame.iloc[rows]
    if isinstance(frame, Mapping):
        read_frame(frame)  # says what is wrong with it
        return _taker(tabled(frame))
    if isinstance(frame, np.ndarray):
        return read_frame(frame).frame.n_rows, lambda rows: frame[rows]
    if module == "pyarrow":
        return frame.num_rows, lambda rows: frame.take(rows)
    if hasattr(frame, "__arrow_c_stream__"):
        return _taker(pl.DataFrame(frame))
    read_frame(frame)  # says what is wrong with it
    raise ArbornetError(f"rows of a {type(frame).__name__} cannot be taken; make it a Polars frame")


def check_draws(repeats: int, seed: int, n_rows: int = 0) -> None:
    """Raises ParameterError if they are out of range, MemoryError if so many plans of draws would not fit."""
    if isinstance(repeats, bool) or not isinstance(repeats, int) or repeats < 1:
        raise ParameterError(f"repeats={repeats!r}: give an integer from 1 up")
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise ParameterError(f"seed={seed!r}: give an integer from 0 up")
    afford(f"planning {repeats:,} repeats", repeats * (A_REPEAT + 8.0 * n_rows), "give fewer repeats")


def folds(n_rows: int, n_folds: int, repeat: int, seed: int) -> list[Rows]:
    """Rows of each fold, ascending; sizes differ by at most one. A repeat's folds depend on the seed and its number."""
    order = np.random.default_rng([seed, repeat]).permutation(n_rows)
    return [np.sort(part) for part in np.array_split(order, n_folds)]


def group_folds(groups: NDArray[np.int64], n_folds: int, repeat: int, seed: int) -> list[Rows]:
    """As `folds`, where rows of one group stay together: shuffled groups each go to the fold with the fewest rows."""
    sizes = np.bincount(groups)
    order = np.random.default_rng([seed, repeat]).permutation(len(sizes))
    filled = np.zeros(n_folds, dtype=np.int64)
    fold_of = np.zeros(len(sizes), dtype=np.int64)
    for group in sorted(order.tolist(), key=lambda group: -int(sizes[group])):
        fold_of[group] = fold = int(np.argmin(filled))
        filled[fold] += sizes[group]
    return [np.flatnonzero(fold_of[groups] == fold) for fold in range(n_folds)]


def groups_of(frame: Any, groups: Any, n_rows: int) -> NDArray[np.int64]:
    """The group of every row as numbers from 0.

    Args:
        frame: Any frame.
        groups: The name of one of its columns, or a value for each row.
        n_rows: Rows of the frame.

    Raises:
        ParameterError: If there is no such column, a row has no group, or their number differs.
    """
    named = ""
    if isinstance(groups, str):
        named, values = f"groups={groups!r}", _column(frame, groups)
    else:
        if not isinstance(groups, Iterable):
            raise ParameterError(f"groups={groups!r}: give the name of a column, or a value for each row")
        named, values = "groups", pl.Series(list(groups), strict=False)
    if len(values) != n_rows:
        raise ParameterError(f"groups: {len(values):,} values for {n_rows:,} rows; give one for each row")
    if values.has_nulls():
        raise ParameterError(
            f"{named}: {values.null_count():,} rows have no value; give each a group, or leave them out"
        )
    return (values.rank("dense") - 1).to_numpy().astype(np.int64)


def _column(frame: Any, name: str) -> pl.Series:
    if isinstance(frame, Table):
        frame = frame.to_polars()
    elif hasattr(frame, "collect"):
        frame = frame.collect()
    columns = list(frame.keys() if isinstance(frame, Mapping) else getattr(frame, "columns", ()))
    is_pandas = type(frame).__module__.partition(".")[0] == "pandas"
    if name not in columns and (is_pandas or not hasattr(frame, "__arrow_c_stream__")):
        raise ParameterError(
            f"groups={name!r}: there is no such column; give one of the frame's, or a value for each row"
        )
    if isinstance(frame, Mapping) or is_pandas:
        values = frame[name]
        return pl.Series(name, [None if each != each else each for each in values], strict=False)
    made = pl.DataFrame(frame)
    if name not in made.columns:
        raise ParameterError(
            f"groups={name!r}: there is no such column; give one of the frame's, or a value for each row"
        )
    return made.get_column(name)


def subsample(n_rows: int, size: int, repeat: int, seed: int) -> Rows:
    """So many rows without replacement, ascending. Within a repeat, smaller samples are parts of larger ones."""
    return np.sort(np.random.default_rng([seed, repeat]).permutation(n_rows)[:size])
