"""Values put into a frame where they are missing: in the frame's family, and in the column's type where that fits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from arbornet.data.frames import tabled
from arbornet.data.frames_out import Output, beside, to_pandas
from arbornet.data.looks.written import write
from arbornet.given import FrameLike

if TYPE_CHECKING:
    from arbornet.data.column import Column
    from arbornet.data.schema import Schema

Places = Mapping[int, NDArray[np.intp]]


def own(given: FrameLike, family: Output) -> Any:
    """The frame to fill in: one of pandas or of Polars, as is asked for."""
    frame: Any = given
    if isinstance(frame, pl.LazyFrame):
        frame = frame.collect()
    if isinstance(frame, np.ndarray) and frame.dtype.names is not None:
        frame = {name: frame[name] for name in frame.dtype.names}
    elif isinstance(frame, np.ndarray):
        frame = {str(i): frame[:, i] for i in range(frame.shape[1])}
    if isinstance(frame, Mapping):
        frame = tabled(frame)
    if not hasattr(frame, "iloc") and not isinstance(frame, pl.DataFrame):
        frame = pl.DataFrame(frame)
    if family == "pandas":
        return frame if hasattr(frame, "iloc") else to_pandas(frame)
    if hasattr(frame, "iloc"):
        columns = {str(name): frame.iloc[:, i] for i, name in enumerate(frame.columns)}
        frame = pl.DataFrame({name: _listed(column) for name, column in columns.items()}, strict=False)
    return frame


def _listed(column: Any) -> list[Any]:
    """The values of a pandas column, None where one is missing."""
    gone = column.isna().to_numpy(dtype=bool)
    return [None if lacks else value for value, lacks in zip(column.astype(object).tolist(), gone, strict=True)]


def filled(given: FrameLike, values: Mapping[int, pl.Series], places: Places, schema: Schema) -> Any:
    """The frame with values, which have their columns' names, in their places; in texts written as these are."""
    frame: Any = given
    by_name = {series.name: (series, places[v], schema.used[v]) for v, series in values.items()}
    if isinstance(frame, pl.DataFrame):
        return beside(_with(series, *by_name[series.name]) if series.name in by_name else series for series in frame)
    import pandas as pd

    columns = []
    for i, name in enumerate(frame.columns):
        column = frame.iloc[:, i]
        columns.append(_with_of_pandas(column, *by_name[str(name)]) if str(name) in by_name else column)
    made = pd.concat(columns, axis=1) if columns else frame.copy()
    made.columns = frame.columns
    return made


def stacked(frames: Sequence[Any], name: str) -> Any:
    """Frames below one another, with a first column that numbers them from one."""
    n = len(frames[0])
    if isinstance(frames[0], pl.DataFrame):
        numbered = [frame.insert_column(0, pl.Series(name, np.full(n, i + 1))) for i, frame in enumerate(frames)]
        return pl.concat(numbered, how="vertical_relaxed")
    import pandas as pd

    made = pd.concat(frames)
    made.insert(0, name, np.repeat(np.arange(1, len(frames) + 1), n))
    return made


def _written(found: pl.Series, column: Column, texts: pl.Series) -> pl.Series:
    """What was found as texts of the column's form; as it is where they have none."""
    if column.form is None or found.dtype == pl.String:
        return found
    return write(found, column.form, column.step, texts.drop_nulls().unique(maintain_order=True))


def _as_numbers(found: pl.Series, column: Column) -> pl.Series:
    """Days as the whole numbers that stand for them: 20210304."""
    return _written(found, column, pl.Series([], dtype=pl.String)).cast(pl.Int64)


def _with(series: pl.Series, found: pl.Series, at: NDArray[np.intp], column: Column) -> pl.Series:
    if column.form is not None and series.dtype in (pl.String, pl.Categorical, pl.Enum):
        texts = series.cast(pl.String)
        return texts.scatter(at, _written(found, column, texts))
    if series.dtype.is_numeric() and found.dtype.is_temporal() and column.form is not None:
        return series.scatter(at, _as_numbers(found, column).cast(series.dtype))
    if series.dtype == pl.Null or series.null_count() == len(series):
        series = pl.Series(series.name, [None] * len(series), dtype=found.dtype)
    try:
        cast = found.cast(series.dtype)
        if cast.cast(found.dtype).equals(found):
            return series.scatter(at, cast)
    except pl.exceptions.PolarsError:
        pass
    # A number with a fraction in a column of whole numbers; a level of another type than the column's.
    wider = pl.Float64 if found.dtype.is_numeric() and series.dtype.is_numeric() else pl.String
    return series.cast(wider).scatter(at, found.cast(wider))


def _with_of_pandas(column: Any, found: pl.Series, at: NDArray[np.intp], of: Column) -> Any:
    texts = [value for value in column.unique().tolist() if isinstance(value, str)] if column.dtype.kind == "O" else []
    if texts:
        found = _written(found, of, pl.Series(texts))
    elif column.dtype.kind in "iuf" and found.dtype.is_temporal() and of.form is not None:
        found = _as_numbers(found, of)
    made = column.astype(object)
    made.iloc[at] = np.array([*found.to_list(), None], dtype=object)[:-1]
    try:
        typed = made.astype(column.dtype)
        held = typed.iloc[at]
        if held.notna().all() if column.dtype.kind in "mM" else (held.astype(object) == made.iloc[at]).all():
            return typed
    except (TypeError, ValueError):
        pass
    return made.astype(float) if found.dtype.is_numeric() and column.dtype.kind in "iuf" else made
