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
    from arbornet.data.schema import Column

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
    """The numbers or dates that texts of a form stand for, null where a text does not fit."""
    if dates.is_form(form):
        return dates.read(values, form)
    known = numbers_in_text.form_of_text(form)
    assert known is not None, "forms are checked when they come in"
    return numbers_in_text.read(values, known)


def as_read(raw: Raw, columns: Iterable[Column], n_jobs: int = -1) -> Raw:
    """The raw columns with texts read as the numbers or dates that their forms say.

    Raises:
        ColumnError: If a text does not fit its column's form.
    """
    wanted = {column.name: column.form for column in columns if column.form is not None and column.used}
    if not wanted:
        return raw
    replaced = {}
    for i, name in enumerate(raw.names):
        form = wanted.get(name)
        if form is not None and _is_written(raw.profile(i).class_, form):
            replaced[name] = _read_column(raw, i, name, form)
    return with_columns(raw, replaced, n_jobs) if replaced else raw


def _is_written(class_: str, form: str) -> bool:
    """Whether a column holds texts, or whole numbers that stand for dates: 20210304."""
    return class_ == "text" or (dates.is_form(form) and class_ in ("integer", "number"))


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
