"""How the values of a column are written, as a text saved in the schema: `$1,234.5` or `%d/%m/%Y`.

New data are read by the same form as the training data. A column that already holds numbers or dates is used as it is;
a text that does not fit the form is an error that names it; words for a missing value are missing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from arbornet._core import MISSING, ColumnError, ParameterError
from arbornet.data.frames import Raw, with_columns
from arbornet.data.looks import dates, numbers_in_text
from arbornet.data.looks.words import SAID_MISSING

if TYPE_CHECKING:
    from arbornet.data.column import Column

_ISO = {"date": "%Y-%m-%d", "datetime": "%Y-%m-%dT%H:%M:%S%.f", "time": "%H:%M:%S%.f"}
"""How a text gives a value of a column that holds no texts."""
PLAIN = str(numbers_in_text.NumberForm())


def check_form(name: str, form: object) -> str:
    """Checks a form that you gave.

    Raises:
        ParameterError: If it is not a form.
    """
    if isinstance(form, str) and (dates.is_form(form) or numbers_in_text.form_of_text(form) is not None):
        return form
    raise ParameterError(
        f"{name}={form!r}: write the number 1234.5 as this column would, such as '$1,234.5' or '1.234,5', "
        "or give a date format such as '%d/%m/%Y'"
    )


def class_of(form: str) -> str:
    """What values of a form are: number, date, datetime or time."""
    return dates.class_of(form) if dates.is_form(form) else "number"


def read(values: pl.Series, form: str) -> pl.Series:
    """The numbers or dates that texts of a form stand for, null where a text does not fit.

    As programs write them they are understood, too: dates and times of ISO 8601, plain numbers.
    """
    if dates.is_form(form):
        made = dates.read(values, form)
        return made.zip_with(made.is_not_null(), dates.read_iso(values, form)) if made.has_nulls() else made
    known = numbers_in_text.form_of_text(form)
    assert known is not None, "forms are checked when they come in"
    return numbers_in_text.read(values, known)


def write(values: pl.Series, form: str, step: float | None = None, like: pl.Series | None = None) -> pl.Series:
    """Numbers or dates as texts of a form; `like` are texts of the column, which settle what the form leaves open."""
    if dates.is_form(form):
        return dates.write(values, form, like)
    known = numbers_in_text.form_of_text(form)
    assert known is not None, "forms are checked when they come in"
    return numbers_in_text.write(values, known, step, like)


def as_read(raw: Raw, columns: Iterable[Column], n_jobs: int = -1) -> Raw:
    """The raw columns with texts read as the numbers or dates that their forms say.

    Raises:
        ColumnError: If a text does not fit its column's form.
    """
    wanted = {column.name: column for column in columns if column.used}
    replaced = {}
    for i, name in enumerate(raw.names):
        column = wanted.get(name)
        form = None if column is None else _form_of(column, raw.profile(i).class_)
        if form is not None:
            replaced[name] = _read_column(raw, i, name, form)
    return with_columns(raw, replaced, n_jobs) if replaced else raw


def _form_of(column: Column, class_: str) -> str | None:
    """How values of another class than the column's are written, if that can be: texts, and whole numbers such as
    20210304 that stand for dates."""
    if column.form is None:
        return _ISO.get(column.class_) if class_ == "text" and column.cuts is None else None
    is_number = class_ in ("integer", "number")
    return column.form if class_ == "text" or (is_number and dates.is_form(column.form)) else None


def _read_column(raw: Raw, i: int, name: str, form: str) -> pl.Series:
    levels, counts = raw.levels(i)
    texts = pl.Series(name, [_as_text(level) for level in levels], dtype=pl.String)
    values = read(texts, form)
    is_missing = texts.str.strip_chars().is_in(list(SAID_MISSING))
    bad = (values.is_null() & ~is_missing & (pl.Series(counts, dtype=pl.UInt64) > 0)).arg_true()
    if len(bad):
        rank = int(bad[0])
        n_rows = sum(counts[int(each)] for each in bad)
        where = f"first in row {raw.frame.first_row(i, rank)}, in {n_rows:,} row{'s' if n_rows != 1 else ''}"
        if form == PLAIN:
            told = f"holds text that is not a number: {levels[rank]!r}, {where}"
        else:
            told = f"holds {levels[rank]!r}, which is not written as '{form}', {where}"
        raise ColumnError(f"column '{name}' {told}; replace it by nulls, or declare the column categorical")
    ranks = raw.ranks(i)
    missing = ranks == MISSING
    places = pl.Series(np.where(missing, 0, ranks).astype(np.uint32))
    if len(values) == 0:
        return pl.Series(name, [None] * len(places), dtype=values.dtype)
    return pl.select(pl.when(pl.Series(~missing)).then(values.gather(places))).to_series().alias(name)


def _as_text(level: object) -> str:
    return str(int(level)) if isinstance(level, float) and level.is_integer() else str(level)
