"""Any frame to raw columns.

Frames that support the Arrow C stream (Polars, pyarrow, duckdb and others) are read through it. pandas has a path of
its own that needs no pyarrow, keeps ordered categoricals, and knows that pandas turns integers into floats as soon as
one is missing. A dict of columns and a NumPy array with named fields are read column by column.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from arbornet._core import ArbornetError, ColumnError, RawFrame
from arbornet.data.column_coding import ColumnCoding
from arbornet.data.infer import MOST_LEVELS, Profile, as_integers, profile
from arbornet.data.kinds import Level
from arbornet.data.nested import unreadable
from arbornet.given import FrameLike

ADVICE = (
    "give a Polars, pandas or pyarrow table, a duckdb relation, any object with __arrow_c_stream__, "
    "a dict of columns or a NumPy array with named fields"
)
_TIMES = (datetime.date, datetime.time, datetime.timedelta)
Counted = tuple[list[Level], list[int]]
"""Distinct values in their order, and how often each occurs."""
COUNTED = ("text", "truth", "integer")
"""Classes of which a profile has all distinct values, if it has any."""


@dataclass(frozen=True)
class Raw:
    """Raw columns, with what else is known from their frame. What the core told of a column is asked for once."""

    frame: RawFrame
    """The columns."""
    source: Any = None
    """What the columns were read from: payloads by name, or a frame; from it some can be replaced."""
    of_pandas: bool = False
    """Whether that was a frame of pandas."""
    _profiles: dict[int, Profile] = field(init=False, default_factory=dict, compare=False, repr=False)
    _levels: dict[int, Counted] = field(init=False, default_factory=dict, compare=False, repr=False)

    @cached_property
    def names(self) -> list[str]:
        """The columns' names."""
        return self.frame.names

    @cached_property
    def places(self) -> dict[str, int]:
        """Where each column stands."""
        return {name: i for i, name in enumerate(self.names)}

    @cached_property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.frame.n_rows

    @cached_property
    def _told(self) -> list[dict[str, Any]]:
        return self.frame.profiles()

    def profile(self, column: int) -> Profile:
        """The profile of a column as its producer stored it.

        Raises:
            ColumnError: If its values cannot be read at all.
        """
        seen = self.profile_of_any(column)
        if seen.problem is not None:
            raise ColumnError(f"column '{self.names[column]}' {unreadable(self.names[column], seen.problem)}")
        return seen

    def profile_of_any(self, column: int) -> Profile:
        """The profile of a column that may have no values that can be read: then with the problem, and no values."""
        if column not in self._profiles:
            self._profiles[column] = profile(self.names[column], self.n_rows, self._told[column])
        return self._profiles[column]

    def profile_as_meant(self, column: int) -> Profile:
        """The same, with whole floats as integers where they stand for such (`as_integers`)."""
        return as_integers(self.profile(column))

    def levels(self, column: int) -> Counted:
        """The distinct values of a column in their order, and how often each occurs; kept if they are not too many."""
        if column in self._levels:
            return self._levels[column]
        seen = self._profiles.get(column)
        # A profile of other numbers leaves out infinite ones.
        if seen is not None and seen.values is not None and (seen.declared or seen.class_ in COUNTED):
            return seen.values
        counted = self.frame.levels(column)
        if len(counted[0]) <= MOST_LEVELS:
            self._levels[column] = counted
        return counted

    def numbers(self, column: int) -> NDArray[np.float64]:
        """A column's values by row as numbers in its own units, NaN where there is none."""
        return self._cells(ColumnCoding(self.names[column], column, "continuous", scale=(0.0, 1.0)))

    def ranks(self, column: int) -> NDArray[np.uint32]:
        """For each row the rank of its value among the distinct ones, `MISSING` where there is none."""
        n_levels = len(self.levels(column)[0])
        return self._cells(ColumnCoding(self.names[column], column, "categorical", levels=[], codes=range(n_levels)))

    def _cells(self, coding: ColumnCoding) -> NDArray[Any]:
        cells = self.frame.rows([coding], 1).column(0)
        assert cells is not None, "the column is there"
        return cells


def read_frame(frame: FrameLike, wanted: Iterable[object] | None = None, n_jobs: int = -1) -> Raw:
    """Reads a frame, or of it the wanted columns.

    Args:
        frame: Any frame.
        wanted: Names of the columns to read; all if left out. Names the frame lacks are ignored.
        n_jobs: Number of threads, -1 for all.

    Raises:
        ArbornetError: If it is not a frame, has no columns or unusable column names.
        ColumnError: If a column mixes types or lengths differ.
    """
    only = None if wanted is None else {str(name) for name in wanted}
    module = type(frame).__module__.partition(".")[0]
    if isinstance(frame, pl.LazyFrame):
        frame = frame.collect()
    if _is_pandas(frame):
        return _of_pandas(frame, only)
    if isinstance(frame, np.ndarray):
        return _of_numpy(frame, only)
    if isinstance(frame, Mapping):
        return _of_columns(dict(zip(column_names(frame), frame.values(), strict=True)), only)
    if module == "polars" and not isinstance(frame, pl.DataFrame):
        raise ArbornetError(f"a {type(frame).__name__} is one column; give a frame, for example series.to_frame()")
    if isinstance(frame, pl.DataFrame):
        if any(dtype.is_object() for dtype in frame.schema.values()):
            return _of_columns(dict(zip(column_names(frame.columns), frame.get_columns(), strict=True)), only)
        frame = _typed(frame)
    if hasattr(frame, "__arrow_c_stream__") or hasattr(frame, "__arrow_c_array__"):
        raw = RawFrame.from_stream(frame, None if only is None else sorted(only), n_jobs)
        made = Raw(raw, source=frame)
        column_names(made.names)
        return made
    if isinstance(frame, str | PathLike):
        raise ArbornetError(f"{str(frame)!r} is a path; give a frame: an.read({str(frame)!r})")
    if isinstance(frame, list) and frame and all(isinstance(row, Mapping) for row in frame):
        raise ArbornetError("a list of rows is no frame; give a frame: polars.DataFrame(rows)")
    raise ArbornetError(f"cannot read an object of type {type(frame).__name__}: {ADVICE}")


def with_columns(raw: Raw, replaced: Mapping[str, Any], n_jobs: int = -1) -> Raw:
    """The raw columns with some replaced by Polars series.

    Raises:
        ArbornetError: If they came as a stream that can be read once only.
    """
    names, source = raw.names, raw.source
    if type(source).__module__.partition(".")[0] == "pyarrow" and hasattr(source, "column_names"):
        source = dict(zip(source.column_names, source.columns, strict=True))
    if isinstance(source, Mapping):
        payloads = [replaced.get(name, source[name]) for name in names]
        return Raw(RawFrame.from_columns(names, payloads), dict(zip(names, payloads, strict=True)))
    if not isinstance(source, pl.DataFrame):
        try:
            source = pl.DataFrame(source)
        except Exception:  # whatever a producer says when it is asked twice
            source = pl.DataFrame()
        if source.height != raw.n_rows:
            raise ArbornetError(
                f"the frame can be read once only, and column '{next(iter(replaced))}' has to be read again as numbers "
                "or dates; give a Polars, pandas or pyarrow table"
            )
    frame = source.select(names).with_columns(series.alias(name) for name, series in replaced.items())
    return Raw(RawFrame.from_stream(frame, None, n_jobs), frame)


def _typed(frame: Any) -> Any:
    """A Polars frame or series as it can leave Polars.

    Columns of nothing get a type: of type Null they leave Polars 2 malformed. Names with a zero byte, also within
    structs, are refused: Polars panics in a callback of C where it meets one, which ends the process.
    """
    if isinstance(frame, pl.Series):
        _check_names({frame.name: frame.dtype})
        return frame.cast(pl.Boolean) if frame.dtype == pl.Null else frame
    _check_names(frame.schema)
    untyped = [name for name, dtype in frame.schema.items() if dtype == pl.Null]
    return frame.with_columns(pl.col(untyped).cast(pl.Boolean)) if untyped else frame


def _check_names(schema: Mapping[str, Any]) -> None:
    """Refuses names that Arrow cannot hold, of columns and of the fields within them."""
    for name, dtype in schema.items():
        if "\0" in name:
            raise ColumnError(f"the name of column {name!r} holds a zero byte, which ends a name in Arrow; rename it")
        within = [dtype]
        while within:
            inner = within.pop()
            fields = getattr(inner, "fields", None) or ()
            cut = next((field.name for field in fields if "\0" in field.name), None)
            if cut is not None:
                raise ColumnError(
                    f"column {name!r} has a field {cut!r}, whose name holds a zero byte, which ends a name in Arrow; "
                    "rename it, or leave the column out"
                )
            within += [field.dtype for field in fields]
            if getattr(inner, "inner", None) is not None:
                within.append(inner.inner)


def column_names(names: Iterable[object]) -> list[str]:
    """Column names as texts: integers and dates as they print.

    Raises:
        ArbornetError: If a name is a tuple or missing, or two columns share one.
    """
    texts: list[str] = []
    for name in names:
        if isinstance(name, tuple):
            way_out = (
                "join the parts into one text, for example df.columns = ['_'.join(map(str, c)) for c in df.columns]"
            )
            raise ArbornetError(f"the column name {name!r} is a tuple, and two tuples could look the same: {way_out}")
        if name is None or name != name:
            raise ArbornetError(f"a column's name is {name!r}: give every column a name")
        texts.append(str(name))
    seen: set[str] = set()
    for text in texts:
        if text in seen:
            raise ColumnError(f"column '{text}' appears twice; give every column its own name")
        seen.add(text)
    return texts


def _of_columns(columns: Mapping[str, Any], only: set[str] | None) -> Raw:
    chosen = {name: column for name, column in columns.items() if only is None or name in only}
    payloads = [_payload(name, column) for name, column in chosen.items()]
    source = dict(zip(chosen, payloads, strict=True))
    return Raw(RawFrame.from_columns(list(source), payloads), source)


def tabled(columns: Mapping[Any, Any]) -> Any:
    """A dict of columns as a frame of which rows can be taken: one of pandas if a column is, otherwise one of Polars.

    Raises:
        ColumnError: If lengths differ, or a pandas object is not a column.
    """
    if not any(map(_is_pandas, columns.values())):
        try:
            return pl.DataFrame({str(name): column for name, column in columns.items()})
        except pl.exceptions.ShapeError as error:
            raise ColumnError(f"the columns are of different lengths: {error}") from None
    import pandas as pd

    named = dict(zip(column_names(columns), columns.values(), strict=True))
    series = {name: _series(name, column).reset_index(drop=True) for name, column in named.items()}
    lengths = {name: len(column) for name, column in series.items()}
    if len(set(lengths.values())) > 1:
        raise ColumnError(f"the columns are of different lengths: {lengths}")
    return pd.DataFrame(series)


def _of_numpy(array: np.ndarray[Any, Any], only: set[str] | None) -> Raw:
    if array.dtype.names is not None and array.ndim == 1:
        return _of_columns({name: array[name] for name in array.dtype.names}, only)
    if array.dtype.names is None and array.ndim == 2:
        return _of_columns({str(i): array[:, i] for i in range(array.shape[1])}, only)
    raise ArbornetError(f"cannot read an array of shape {array.shape}: {ADVICE}")


def _of_pandas(frame: Any, only: set[str] | None) -> Raw:
    if not hasattr(frame, "columns"):
        raise ArbornetError(f"a pandas {type(frame).__name__} is not a frame; give a DataFrame, such as x.to_frame()")
    names = column_names(frame.columns)
    read = _of_columns({name: frame.iloc[:, i] for i, name in enumerate(names)}, only)
    return Raw(read.frame, read.source, of_pandas=True)


def _is_pandas(value: object) -> bool:
    """Whether something is of pandas, or of a class made from one of its classes."""
    return any(made.__module__.partition(".")[0] == "pandas" for made in type(value).__mro__)


def _payload(name: str, column: Any) -> object:
    """A column in a form the core takes."""
    module = type(column).__module__.partition(".")[0]
    if _is_pandas(column):
        return _payload_of_pandas(name, _series(name, column))
    if isinstance(column, np.ndarray):
        return _payload_of_numpy(name, column)
    if module == "polars" and hasattr(column, "dtype") and column.dtype.is_object():
        return _payload_of_objects(column.to_list())  # Arrow has no such thing: it would be the objects' addresses
    if hasattr(column, "__arrow_c_stream__") or hasattr(column, "__arrow_c_array__"):
        if isinstance(column, pl.Series) and isinstance(column.dtype, pl.Struct):
            return column.to_list()  # as a stream it would be a table
        return _typed(column) if module == "polars" and hasattr(column, "dtype") else column
    if isinstance(column, Sequence) and not isinstance(column, str | bytes):
        return _payload_of_objects(list(column))
    if hasattr(column, "__array__"):
        return _payload_of_numpy(name, np.asarray(column))
    if isinstance(column, Iterable) and not isinstance(column, str | bytes | Mapping | set | frozenset):
        return _payload_of_objects(list(column))
    kind = type(column).__name__
    raise ColumnError(f"column '{name}' is of type {kind}; give a list or an array with one value per row")


def _is_missing(value: object) -> bool:
    """Not by comparing with itself: that gives an array for an array, and pandas's NA refuses to be a boolean."""
    return (
        value is None or type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and value != value)
    )


def _payload_of_objects(values: list[Any]) -> object:
    first = next((v for v in values if not _is_missing(v)), None)
    if isinstance(first, _TIMES):
        try:
            return pl.Series([None if _is_missing(v) else v for v in values], strict=True)
        except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError, pl.exceptions.PanicException):
            return values  # mixed with something else, or beyond all calendars: the core says with what
    return values


def _payload_of_numpy(name: str, array: np.ndarray[Any, Any], missing: Any = None) -> object:
    if isinstance(array, np.ma.MaskedArray):
        missing = np.ma.getmaskarray(array)
        array = array.data
    if array.ndim != 1:
        raise ColumnError(f"column '{name}' is an array of shape {array.shape}; give one value per row")
    kind = array.dtype.kind
    if kind in "mM":
        return _payload_of_times(array)
    if kind in "OUT":
        values = array.tolist()
        if missing is not None:
            values = [None if gone else value for value, gone in zip(values, missing, strict=True)]
        return _payload_of_objects(values)
    if kind == "f" and array.dtype.itemsize not in (4, 8):
        array = array.astype(np.float32 if array.dtype.itemsize == 2 else np.float64)
    native = array.dtype.newbyteorder("=")
    return np.ascontiguousarray(array, dtype=native), missing, None


def _payload_of_times(array: np.ndarray[Any, Any], zone: str = "") -> object:
    unit = np.datetime_data(array.dtype)[0]
    if unit not in ("s", "ms", "us", "ns"):
        unit = "s" if unit in ("Y", "M", "W", "D", "h", "m", "generic") else "ns"
    word = "timestamp" if array.dtype.kind == "M" else "duration"
    array = array.astype(f"{array.dtype.kind}8[{unit}]")
    return (
        np.ascontiguousarray(array).view(np.int64),
        np.isnat(array),
        f"{word}:{unit}:{zone}" if zone else f"{word}:{unit}",
    )


def _series(name: str, column: Any) -> Any:
    """A pandas Series of a Series, an index, an array or a list."""
    import pandas as pd

    if isinstance(column, pd.Series):
        return column
    if not _is_pandas(column):
        return pd.Series(column if isinstance(column, np.ndarray) else list(column))
    if isinstance(column, pd.Index | pd.api.extensions.ExtensionArray) and not isinstance(column, pd.MultiIndex):
        return pd.Series(column)
    raise ColumnError(f"column '{name}' is a pandas {type(column).__name__}; give a Series, an index or an array")


def _zone_name(zone: Any) -> str:
    """A time zone as Arrow writes it: the name it has in the time zone database, or its distance from UTC."""
    if isinstance(zone, datetime.timezone):
        minutes = round(zone.utcoffset(None).total_seconds() / 60)
        return f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}" if minutes else "UTC"
    name = getattr(zone, "key", None) or getattr(zone, "zone", None)
    # That of dateutil knows only the file it was read from; without a name, moments are still in UTC.
    _, of_database, from_file = str(getattr(zone, "_filename", "")).rpartition("zoneinfo/")
    return str(name or (from_file if of_database else "") or "UTC")


def _payload_of_pandas(name: str, column: Any) -> object:
    dtype = column.dtype
    kind = type(dtype).__name__
    if kind == "CategoricalDtype":
        categories = column.cat.categories
        if getattr(categories.dtype, "kind", None) in ("m", "M") and not column.cat.ordered:
            return _payload_of_pandas(name, column.astype(categories.dtype))
        values = categories.tolist()
        if values and isinstance(values[0], _TIMES) and not column.cat.ordered:
            return _payload_of_objects(column.astype(object).tolist())
        if type(categories).__name__ == "IntervalIndex":
            values = [str(interval) for interval in values]
        return column.cat.codes.to_numpy().astype(np.int64), values, bool(column.cat.ordered)
    if isinstance(dtype, np.dtype):
        return _payload_of_numpy(name, column.to_numpy())
    if kind == "DatetimeTZDtype":
        moments = column.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy()
        return _payload_of_times(moments, _zone_name(dtype.tz))
    if kind == "PeriodDtype":
        return _payload_of_times(column.dt.to_timestamp().to_numpy())
    if kind == "IntervalDtype":
        return [None if value != value else str(value) for value in column.tolist()]
    if kind == "SparseDtype":
        return _payload_of_numpy(name, column.sparse.to_dense().to_numpy())
    if kind == "ArrowDtype" or getattr(dtype, "storage", None) == "pyarrow":
        return column  # lies in Arrow already, and its library is there
    plain = getattr(dtype, "numpy_dtype", None)
    if plain is not None and plain.kind in "biuf":
        missing = column.isna().to_numpy(dtype=bool)
        filled = column.to_numpy(dtype=plain, na_value=plain.type(0)) if missing.any() else column.to_numpy(dtype=plain)
        return _payload_of_numpy(name, filled, missing)
    return _payload_of_objects(column.astype(object).tolist())
