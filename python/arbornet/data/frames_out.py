"""Answers in the family of frames that came in: pandas for pandas, with its index; Polars for all others.

One row may come as a dict of single values, `{"age": 60, "sex": "male"}`; an answer of one value per row is then that
value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import polars as pl

from arbornet._core import ParameterError

Output = Literal["polars", "pandas"]


def beside(series: Iterable[pl.Series]) -> pl.DataFrame:
    """Columns as a frame, under their own names: of a list Polars calls one without a name `column_0`."""
    return pl.DataFrame({one.name: one for one in series})


@dataclass(frozen=True)
class Family:
    """The family of the frame that came in, and what its answers need of it."""

    name: Output = "polars"
    index: object = None
    """The index of a pandas frame."""
    is_one: bool = False
    """Whether one row came as a dict of single values."""

    def column(self, series: pl.Series) -> Any:
        """A value for each row."""
        if self.is_one:
            return series[0]
        return series if self.name == "polars" else to_pandas(series.to_frame(), self.index).iloc[:, 0]

    def frame(self, frame: pl.DataFrame) -> Any:
        """Several values for each row."""
        return frame if self.name == "polars" else to_pandas(frame, self.index)


def family_of(frame: object, output: Output | None = None) -> Family:
    """The family of a frame.

    Args:
        frame: Any frame, or None if none came in.
        output: Another family, as you say.

    Raises:
        ParameterError: If there is no such family.
    """
    if output not in (None, "polars", "pandas"):
        raise ParameterError(f"output={output!r}: choose 'polars' or 'pandas', or leave it out")
    is_pandas = any(made.__module__.partition(".")[0] == "pandas" for made in type(frame).__mro__)
    name = output or ("pandas" if is_pandas else "polars")
    return Family(name, getattr(frame, "index", None) if is_pandas else None, is_row(frame))


def is_row(frame: object) -> bool:
    """Whether it is one row: a dict of single values."""
    if not isinstance(frame, Mapping) or not frame:
        return False
    return not any(_is_column(value) for value in frame.values())


def _is_column(value: object) -> bool:
    if isinstance(value, str | bytes):
        return False
    return hasattr(value, "__len__") or hasattr(value, "__arrow_c_array__") or hasattr(value, "__arrow_c_stream__")


def as_frame(frame: object) -> Any:
    """One row as a frame of one row; a frame as it is."""
    return {name: [value] for name, value in frame.items()} if isinstance(frame, Mapping) and is_row(frame) else frame


def to_pandas(frame: pl.DataFrame, index: object = None) -> Any:
    """A pandas frame, ordered levels as ordered categories; unlike Polars' own way it needs no pyarrow."""
    import pandas as pd

    def column(series: pl.Series) -> Any:
        if isinstance(series.dtype, pl.Enum):
            codes = series.to_physical().cast(pl.Int32).fill_null(-1).to_numpy()
            return pd.Categorical.from_codes(codes, series.dtype.categories.to_list(), ordered=True)
        if isinstance(series.dtype, pl.Datetime) and series.dtype.time_zone is not None:
            plain = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
            return pd.DatetimeIndex(plain.to_numpy()).tz_localize("UTC").tz_convert(series.dtype.time_zone)
        if series.dtype.is_float() or isinstance(series.dtype, pl.Datetime | pl.Duration):
            return series.to_numpy()  # missing values are NaN and NaT
        return series.to_list() if series.dtype in (pl.String, pl.Date) or series.has_nulls() else series.to_numpy()

    made = pd.DataFrame({series.name: column(series) for series in frame})
    if index is not None:
        made.index = index
    return made
