"""Values of a table that options replace: `--missing-values 'age=88,99'`, `--replace 'colour=Red->red'`.

Findings advise them where in Python they advise a line of Polars. Types are inferred from what is left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from arbornet import ParameterError
from arbornet.cli.out import say
from arbornet.data.reading import repaired


def with_replaced(
    frame: pl.DataFrame, missing: Sequence[str], replace: Sequence[str], quiet: bool = False
) -> pl.DataFrame:
    """The table with values that are declared missing, and others that are replaced; says which no row has.

    Raises:
        ParameterError: If a text names no column, or the new value is not of its column's type.
    """
    for text in missing:
        name, values = _named(frame, text, "--missing-values", "NAME=VALUE,VALUE")
        column = frame[name]
        each = [values] if _has(column, values).any() else [value.strip() for value in values.split(",")]
        for value in each:
            column = _set(column, value, None, f"--missing-values {text!r}", quiet)
        frame = frame.with_columns(repaired.dated(repaired.as_numbers(column)))
    for text in replace:
        name, values = _named(frame, text, "--replace", "NAME=OLD->NEW")
        old, arrow, new = values.partition("->")
        if not arrow:
            raise ParameterError(f"--replace {text!r}: write NAME=OLD->NEW, in quotes")
        if not _has(frame[name], old).any():
            old, new = old.strip(), new.strip()
        column = _set(frame[name], old, new, f"--replace {text!r}", quiet)
        frame = frame.with_columns(repaired.dated(repaired.as_numbers(column)))
    return frame


def with_replaced_as_before(frame: pl.DataFrame, before: Mapping[str, Sequence[str]]) -> pl.DataFrame:
    """New rows with the values replaced that were replaced in the table a network was learned from.

    They need not hold all of its columns, nor any of the values.
    """
    missing, replace = (
        [text for text in before.get(name, ()) if _column(frame, text) is not None]
        for name in ("missing_values", "replace")
    )
    changed = with_replaced(frame, missing, replace, quiet=True)
    if names := [name for name in frame.columns if not changed[name].equals(frame[name], null_equal=True)]:
        say(f"replaced values as the network's table had them replaced, in {', '.join(names)}")
    return changed


def _column(frame: pl.DataFrame, text: str) -> tuple[str, str] | None:
    """The column that an option names and the rest; a name may hold an equals sign."""
    parts = text.split("=")
    splits = [("=".join(parts[:i]), "=".join(parts[i:])) for i in range(1, len(parts))]
    return next((pair for pair in splits if pair[0] in frame.columns), None)


def _named(frame: pl.DataFrame, text: str, option: str, form: str) -> tuple[str, str]:
    found = _column(frame, text)
    if found is None:
        raise ParameterError(f"{option} {text!r}: write {form}, NAME one of {', '.join(frame.columns)}")
    return found


def _has(column: pl.Series, value: str) -> pl.Series:
    """Which rows hold a value: a number in whatever way it is written, a text as it is."""
    if column.dtype.is_numeric():
        number = _number(value)
        return (column == number).fill_null(False) if number is not None else column.is_null() & False
    return (column.cast(pl.String) == value).fill_null(False)


def _set(column: pl.Series, old: str, new: str | None, option: str, quiet: bool) -> pl.Series:
    """The column with one value replaced; a value that no row has is said."""
    where = _has(column, old)
    if not where.any():
        if not quiet:
            say(f"{option}: no row has {old!r}")
        return column
    if new is None:
        return pl.select(pl.when(~where).then(column)).to_series().alias(column.name)
    if not column.dtype.is_numeric() and column.dtype != pl.String:
        raise ParameterError(f"{option}: column '{column.name}' holds neither numbers nor text")
    value: float | int | str | None = _number(new) if column.dtype.is_numeric() else new
    if value is None:
        raise ParameterError(f"{option}: {new!r} is not a number, as the values of column '{column.name}' are")
    return pl.select(pl.when(where).then(pl.lit(value)).otherwise(column)).to_series().alias(column.name)


def _number(text: str) -> float | int | None:
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return None
