"""The table every score reads: complete rows, coded by a schema.

Rows with a missing value in a used column are dropped, refused, or given a level of their own. Continuous columns are
standardised (mean 0, population standard deviation 1; a constant keeps the deviation 1), and the scale is kept.
"""

from __future__ import annotations

import dataclasses
import html
import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from arbornet._core import MISSING, ArbornetError, ColumnError, Keep, ParameterError, TableHandle, table_fingerprint
from arbornet.data import dropped as dropped_rows
from arbornet.data import units, values
from arbornet.data.by_trees import settled
from arbornet.data.coding import DECLARE, coding_of, resolve, with_shift
from arbornet.data.column import Column
from arbornet.data.column_coding import ColumnCoding
from arbornet.data.frames import Raw, read_frame
from arbornet.data.kinds import Binned, Categorical, Continuous, Ordinal
from arbornet.data.looks.written import as_read
from arbornet.data.scales import Scales, check_scales
from arbornet.data.schema import Schema, schema_of_raw
from arbornet.data.weights import Weights, WeightsAre, WeightsLike, of_rows, told
from arbornet.given import FrameLike
from arbornet.text.notices import RowsDroppedWarning, tells_of_rows, warn
from arbornet.text.terminal import several
from arbornet.text.visible import visible_name
from arbornet.text.wrong_calls import helpful_class

#: Values kept of a column that is cut into bins.
MOST_RANKED = 513
#: Shares of rows that may be dropped without a warning, and if `missing` is not given.
NO_WARNING = 0.1
NOT_WITHOUT_A_WORD = 0.5
#: In smaller tables a tenth is a row or two, which is easily seen.
FEW_ROWS = 20
#: Columns that an error names.
MOST_TOLD = 20


class NoCompleteRow(ArbornetError):
    """Every row lacks a value."""


@dataclass(frozen=True, repr=False)
class Dropped:
    """Rows that were dropped because a used column has a missing value there."""

    n_rows: int
    """How many rows were dropped."""
    by_column: dict[str, int]
    """For each column with missing values, in how many rows; a row may have several."""
    n_drawn: int = 0
    """How many rows were kept, with what is missing in them drawn."""

    def __bool__(self) -> bool:
        return self.n_rows > 0

    def __str__(self) -> str:
        if not self.n_rows and not self.n_drawn:
            return "no rows dropped"
        worst = sorted(self.by_column.items(), key=lambda item: -item[1])
        told = ", ".join(f"{visible_name(name)}: {n:,}" for name, n in worst[:5])
        more = f" and {len(worst) - 5} more columns" if len(worst) > 5 else ""
        if self.n_drawn:
            blank = f"; {_rows(self.n_rows)} without any value dropped" if self.n_rows else ""
            return f"{_rows(self.n_drawn)} with missing values kept ({told}{more}){blank}"
        return f"{_rows(self.n_rows)} dropped for missing values ({told}{more})"

    def __repr__(self) -> str:
        return f"Dropped({self})"


def _rows(n: int) -> str:
    return f"{n:,} row{'s' if n != 1 else ''}"


@helpful_class
class Table:
    """Complete rows of a frame, coded and standardised. Immutable.

    Args:
        frame: Polars (eager or lazy), pandas or pyarrow table, duckdb relation, anything with `__arrow_c_stream__`,
            dict of arrays or lists, NumPy array with named fields.
        schema: The columns' types; inferred if left out. The schema of another table codes new data in the same way.
        missing: Rows with a missing value in a used column: `"drop"` them, `"error"`, or `"level"` to give categorical
            columns a level for it (rows missing a number or an ordered level are dropped). If left out they are
            dropped, unless more than half of the rows would go, which is an error. More than a tenth is a warning.
        standardise: Bring continuous columns to mean 0 and standard deviation 1.
        unseen: A value that is not among a column's levels: `"error"`, or `"missing"` to treat it as missing.
        n_jobs: Number of threads, -1 for all.
        weights: How often each row counts: the name of a column, which is no variable then, or a number for each row.
            A row of weight 2 is worth two equal rows, one of weight 0 is left out.
        weights_are: `"frequency"`: how many equal rows a row stands for, used as they are. `"survey"`: how many
            people it stands for who were not asked; scaled to Kish's effective size, `(sum w)² / sum w²`.
        scales: Of columns whose types are inferred: `"auto"` takes skewed ones by their logarithm, see `infer_schema`.

    Raises:
        ArbornetError: If it is not a frame, or no row remains.
        ParameterError: If a weight is negative or not finite; the message names the row and the value.
        ColumnError: If a column cannot be used as its type; the message names the column, the value and what to do.

    Example:
        >>> table = an.Table({"x": [0.1, 0.7, 0.4], "smoker": [True, False, True]})
        >>> table.n_rows
        3
    """

    __slots__ = ("__weakref__", "dropped", "handle", "schema", "weights")

    handle: TableHandle
    """The table in the core."""
    schema: Schema
    """The columns with their levels, maps and bins: coding by it gives the same codes again."""
    dropped: Dropped
    """How many rows were dropped, and which columns have missing values."""
    weights: Weights | None
    """What is known of the rows' weights, if they were given some."""

    def __init__(
        self,
        frame: FrameLike,
        schema: Schema | None = None,
        missing: Literal["drop", "error", "level"] | None = None,
        standardise: bool = True,
        unseen: Literal["error", "missing"] = "error",
        *,
        n_jobs: int = -1,
        weights: WeightsLike | None = None,
        weights_are: WeightsAre = "frequency",
        scales: Scales = "linear",
    ) -> None:
        policy = "drop" if missing is None else missing
        if policy not in ("drop", "error", "level"):
            raise ParameterError(f"missing={missing!r}: choose 'drop', 'error' or 'level'")
        if unseen not in ("error", "missing"):
            raise ParameterError(f"unseen={unseen!r}: choose 'error' or 'missing'")
        if schema is not None and not isinstance(schema, Schema):
            raise ParameterError(f"schema={schema!r}: give what infer_schema returns, or nothing")
        if weights_are not in ("frequency", "survey"):
            raise ParameterError(f"weights_are={weights_are!r}: choose 'frequency' or 'survey'")
        named = [weights] if isinstance(weights, str) else []
        check_scales(scales)
        raw = read_frame(frame, None if schema is None else [*schema.names, *named], n_jobs)
        own, of_column = (None, None) if weights is None else of_rows(raw, weights)
        schema = schema_of_raw(raw, weights=of_column, scales=scales, own=own) if schema is None else schema
        schema = schema if of_column is None else schema.weighed_by(of_column)
        check_usable(raw, schema)
        raw = as_read(raw, schema.used, n_jobs)
        columns = [resolve(raw, column, policy, own) for column in settled(raw, schema.used, own)]
        codings = [coding_of(raw, column, unseen, DECLARE) for column in columns]
        keep = raw.frame.keep(codings, own, weights_are == "survey")
        self.dropped = _dropped(raw, columns, keep)
        _check_dropped(raw, self.dropped, keep, codings, missing)
        for i, column in enumerate(columns):
            made = with_shift(raw, column, codings[i])
            if not standardise and isinstance(made.kind, Continuous):
                made = _scaled(made, made.scale or units.identity(made.kind.shift))
            if isinstance(column.kind, Binned) and column.cuts is None:
                made = _cut(raw, column, keep, codings[i])
            if made is not column:
                columns[i], codings[i] = made, coding_of(raw, made, unseen, DECLARE)
            if isinstance(column.kind, Binned) and column.ranked is None and codings[i].cuts is not None:
                columns[i] = _ranked(raw, columns[i], codings[i], own)
        self.handle = raw.frame.table(codings, keep, n_jobs)
        self.weights = told(keep, weights_are, self.handle.total_weight)
        coded = {
            column.name: _scaled(column, scale) if isinstance(column.kind, Continuous) else column
            for column, scale in zip(columns, self.handle.scales, strict=True)
        }
        self.schema = Schema(tuple(coded.get(column.name, column) for column in schema.columns), schema.findings)

    @classmethod
    def from_handle(cls, handle: TableHandle, schema: Schema | None = None) -> Table:
        """The table of a core handle, with a schema made from it if none is given."""
        table = cls.__new__(cls)
        table.handle = handle
        table.dropped, table.weights = Dropped(0, {}), None
        named = enumerate(handle.names)
        table.schema = schema or Schema(tuple(_column_of_handle(handle, var, name) for var, name in named))
        return table

    @property
    def n_rows(self) -> int:
        """Number of rows kept."""
        return self.handle.n_rows

    @property
    def n_dropped(self) -> int:
        """Number of rows dropped."""
        return self.dropped.n_rows

    @property
    def names(self) -> list[str]:
        """Names of the variables, in order."""
        return self.handle.names

    def __len__(self) -> int:
        return self.n_rows

    @property
    def log_jacobian(self) -> float:
        """What turns a total score of this table into one in the user's units, whatever the scales are.

        Scores are those of standardised values, on a logarithmic scale of logarithms. With this added, the scores of
        one frame on different scales can be compared, if they are marginal likelihoods.
        """
        weights = self.handle.weights
        parts = []
        for var, scale in enumerate(self.handle.scales):
            if scale is not None:
                of_rows = units.log_jacobian(scale, self.handle.reals(var))
                parts.append(math.fsum(of_rows if weights is None else of_rows * weights))
        return math.fsum(parts)

    def to_polars(self) -> pl.DataFrame:
        """The rows as a Polars frame in the user's values: original units, levels as they were, dates as dates."""
        return values.to_polars(self)

    def __eq__(self, other: object) -> bool:
        """Equal rows, coded alike, of equal columns."""
        if not isinstance(other, Table):
            return NotImplemented
        if (self.n_rows, self.dropped, self.schema) != (other.n_rows, other.dropped, other.schema):
            return False
        return self.handle is other.handle or table_fingerprint(self.handle) == table_fingerprint(other.handle)

    def __hash__(self) -> int:
        return hash((self.n_rows, tuple(self.names)))

    def __repr__(self) -> str:
        kinds = [column.word for column in self.schema.used]
        counts = [f"{kinds.count(word)} {word}" for word in ("continuous", "categorical", "ordinal") if word in kinds]
        weights = f"; {self.weights}" if self.weights else ""
        return f"Table({self.n_rows:,} rows; {', '.join(counts)}; {self.dropped}{weights})"

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(repr(self))}</p>{self.schema._repr_html_()}"

    def __reduce__(self) -> tuple[Any, ...]:
        return _remake, (self.handle, self.schema, self.dropped, self.weights)


def _remake(handle: TableHandle, schema: Schema, dropped: Dropped, weights: Weights | None = None) -> Table:
    table = Table.from_handle(handle, schema)
    table.dropped, table.weights = dropped, weights
    return table


def _scaled(column: Column, scale: units.Scale | None) -> Column:
    return dataclasses.replace(column, scale=scale) if isinstance(column.kind, Continuous) else column


def observed(
    raw: Raw,
    column: Column,
    unseen: Literal["error", "missing"],
    weights: NDArray[np.float64] | None = None,
    survey: bool = False,
) -> tuple[Column, ColumnCoding]:
    """A column with levels, bins and scale taken from the rows that have a value in it, and how it is coded.

    Rows with weights count as often as these say; of a survey they are scaled among the rows that have a value.

    Raises:
        ColumnError: If it cannot be used as its type, or has no value.
    """
    column = resolve(raw, column, "drop", weights)
    coding = coding_of(raw, column, unseen, DECLARE)
    keep = raw.frame.keep([coding], weights, survey)
    if keep.n_kept == 0:
        if keep.n_weightless:
            raise ColumnError(
                f"column '{column.name}' has values in rows of weight 0 only; leave it out with Schema.without()"
            )
        raise ColumnError(f"column '{column.name}' has no value in any row; leave it out with Schema.without()")
    if isinstance(column.kind, Binned) and column.cuts is None:
        column = _cut(raw, column, keep, coding)
        coding = coding_of(raw, column, unseen, DECLARE)
    if isinstance(column.kind, Binned) and column.ranked is None and coding.cuts is not None:
        column = _ranked(raw, column, coding, weights)
    if isinstance(column.kind, Continuous):
        column = with_shift(raw, column, coding)
        coding = coding_of(raw, column, unseen, DECLARE)
        column = _scaled(column, raw.frame.table([coding], keep, 1).scale(0))
        coding = coding_of(raw, column, unseen, DECLARE)
    return column, coding


def check_usable(raw: Raw, schema: Schema) -> None:
    """Whether anything can be learned.

    Raises:
        ArbornetError: If the frame has no rows, or the schema uses no column.
    """
    if raw.n_rows == 0 and raw.names:
        raise ArbornetError("the frame has no rows; nothing can be learned from it")
    if not schema.used:
        if schema.columns and schema.columns[0].n_rows == 1:
            raise ArbornetError("the frame has one row; nothing can be learned from it")
        left = [f"'{column.name}' {column.left_out}" for column in schema.columns]
        more = f"; and {several(len(left) - MOST_TOLD, 'more column')}" if len(left) > MOST_TOLD else ""
        told = f"{'; '.join(left[:MOST_TOLD])}{more}"
        raise ArbornetError(f"no column is left to use: {told}; keep some with Schema.with_types")


def _dropped(raw: Raw, columns: list[Column], keep: Keep) -> Dropped:
    lacks = {column.name: n for column, n in zip(columns, keep.n_missing, strict=True) if n > 0}
    return Dropped(raw.n_rows - keep.n_kept - keep.n_weightless, lacks)


def _check_dropped(raw: Raw, dropped: Dropped, keep: Keep, codings: list[ColumnCoding], missing: str | None) -> None:
    """Warns, or raises an error, if too many rows are dropped.

    Raises:
        ArbornetError: If no row remains, or less than half of them and `missing` is not given.
        ColumnError: If a value is missing and that is an error.
    """
    read, used = raw.n_rows, keep.n_kept + keep.n_weightless
    if keep.n_kept == 0 < used:
        raise ArbornetError("every complete row has the weight 0; some row needs a weight above 0")
    if dropped and missing == "error":
        name, n = max(dropped.by_column.items(), key=lambda item: item[1])
        raise ColumnError(
            f"column '{name}' is missing in {n:,} of {read:,} rows, and missing='error'; "
            "fill in the values, leave the column out, or pass missing='drop'"
        )
    few = read < FEW_ROWS or read - used <= read * NO_WARNING
    if not dropped or (few and used > 0):
        return
    lacks = _lacks(raw, codings, keep)
    if used == 0:
        raise NoCompleteRow(
            f"no row is complete: {dropped}; {dropped_rows.way_out(lacks)}; you can also fill in values"
        )
    told = dropped_rows.told(read, used, lacks)
    if missing is None and read - used > read * NOT_WITHOUT_A_WORD:
        raise ArbornetError(
            f"{told}. More than half of the rows would be dropped: leave such columns out, fill in values, "
            f"make missing a level of categorical columns with missing='level', or pass missing='drop' to use {used:,} "
            "rows"
        )
    if tells_of_rows():
        warn(f"{told}; they are dropped.", RowsDroppedWarning)


def _lacks(raw: Raw, codings: list[ColumnCoding], keep: Keep) -> dict[str, np.ndarray[Any, Any]]:
    """For each column with missing values, the rows in which it is missing."""
    lacking = [made for made, n in zip(codings, keep.n_missing, strict=True) if n > 0]
    lacks = {}
    for made in lacking:
        cells = raw.frame.rows([made], 1).column(0)
        if cells is not None:
            lacks[made.name] = np.isnan(cells) if cells.dtype == np.float64 else cells == MISSING
    return lacks


def _cut(raw: Raw, column: Column, keep: Keep, made: ColumnCoding) -> Column:
    assert isinstance(column.kind, Binned) and made.column is not None
    low, high = column.range_ or (0.0, 0.0)
    if column.kind.by == "width" and math.isinf(high - low):
        parts = [i / column.kind.k for i in range(1, column.kind.k)]
        return dataclasses.replace(column, cuts=tuple(low * (1 - part) + high * part for part in parts))
    cuts = raw.frame.cuts(made.column, keep, column.kind.k, column.kind.by == "width")
    return dataclasses.replace(column, cuts=tuple(cuts))


def _ranked(
    raw: Raw, column: Column, made: ColumnCoding, weights: np.ndarray[Any, np.dtype[np.float64]] | None
) -> Column:
    assert made.column is not None
    values = raw.numbers(made.column)
    known = ~np.isnan(values)
    if weights is not None:
        return dataclasses.replace(column, ranked=_ranked_by(values[known], weights[known]))
    values = np.sort(values[known])
    places = np.linspace(0, len(values) - 1, min(len(values), MOST_RANKED)).round().astype(np.intp)
    return dataclasses.replace(column, ranked=tuple(values[places].tolist()))


def _ranked_by(values: np.ndarray[Any, Any], weights: np.ndarray[Any, Any]) -> tuple[float, ...]:
    """The values that would stand at evenly spaced places among rows repeated as often as their weights say."""
    order = np.lexsort((weights, values))
    values, up_to = values[order], np.cumsum(weights[order])
    last = max(up_to[-1] - 1, 0) if len(up_to) else 0
    n_places = int(min(max(up_to[-1], 1), MOST_RANKED)) if len(up_to) else 0
    places = np.linspace(0, last, n_places).round()
    at = np.minimum(np.searchsorted(up_to, places, side="right"), max(len(values) - 1, 0))
    ranked: list[float] = values[at].tolist()
    return tuple(ranked)


def _column_of_handle(handle: TableHandle, var: int, name: str) -> Column:
    levels = handle.levels(var)
    reason = "as made"
    if levels is None:
        scale = handle.scale(var)
        log = units.log_of(scale)
        number = Continuous("normal_scores") if units.scores_of(scale) else Continuous()
        number = number if log is None else Continuous("log", log)
        return Column(name, number, "number", reason, n_rows=handle.n_rows, scale=scale)
    words = {bool: "truth", int: "integer", float: "number", str: "text"}
    types = {type(level) for level in levels}
    class_ = words[types.pop()] if len(types) == 1 else "text"
    kind = Ordinal(levels) if handle.kind(var) == "ordinal" else Categorical(levels)
    return Column(name, kind, class_, reason, n_rows=handle.n_rows, observed=tuple(levels))
