"""Numbers in tables of text with the digits they deserve; other files keep all digits."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from arbornet.data.support import is_of_column
from arbornet.data.units import bend_of

if TYPE_CHECKING:
    import polars as pl

    from arbornet.data.schema import Schema

TEXT = (".csv", ".tsv")
SIGNIFICANT = 6
"""Significant digits of a probability, and decimals of a log-likelihood."""
BEYOND = 4
"""Decimals of a number beyond the first digit of its standard deviation."""


def as_text(path: str | None, as_json: bool) -> bool:
    """Whether a table is written as text, which people read."""
    return not as_json and (path is None or path.lower().endswith(TEXT))


def probabilities(frame: pl.DataFrame) -> pl.DataFrame:
    """Probabilities with six significant digits."""
    import polars as pl

    return frame.with_columns(pl.selectors.float().round_sig_figs(SIGNIFICANT))


def log_likelihoods(frame: pl.DataFrame) -> pl.DataFrame:
    """Log-likelihoods with six decimals."""
    import polars as pl

    return frame.with_columns(pl.selectors.float().round(SIGNIFICANT))


def as_in_table(frame: pl.DataFrame, schema: Schema) -> pl.DataFrame:
    """Drawn rows with numbers and dates written as the table had them: `$1,200.50`, `03/04/2021`."""
    import polars as pl

    from arbornet.data.looks.written import write

    series = []
    for column in frame.get_columns():
        of = schema[column.name]
        if of.form is not None and column.dtype != pl.String:
            column = write(column, of.form, of.step)
        series.append(column)
    return frame.with_columns(series)


def numbers(frame: pl.DataFrame, schema: Schema, variables: dict[str, str]) -> pl.DataFrame:
    """Values of continuous variables, rounded far below their standard deviation; numbers of the column as they are.

    Args:
        frame: The values.
        schema: The network's schema.
        variables: The variable of each column.
    """
    series = []
    for column in frame.get_columns():
        known = schema[variables[column.name]]
        scale = known.scale
        if column.dtype.is_float() and known.step is not None and is_of_column(known, column.to_numpy()):
            pass
        elif column.dtype.is_float() and bend_of(scale) is not None:
            column = column.round_sig_figs(SIGNIFICANT)
        elif column.dtype.is_float() and scale is not None and 0 < scale[1] < math.inf:
            column = column.round(max(0, BEYOND - math.floor(math.log10(scale[1]))))
        series.append(column)
    return frame.with_columns(series)
