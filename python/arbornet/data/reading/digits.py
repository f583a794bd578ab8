"""Columns of numbers whose fields say more than the numbers do: leading zeros, dots between thousands.

Polars reads `02134` as 2134 and `1.093` as 1.093. Both are looked at again as texts. Digits with leading zeros are
codes, not numbers, unless a few are slips among numbers of all widths, or have two digits at most. In a file with
decimal commas, dots that stand before groups of three digits only are of thousands: `950` and `1.093` are 950 and 1093.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import polars as pl

from arbornet.data.looks import numbers_in_text
from arbornet.data.reading import repaired

Texts = Callable[[Sequence[str]], pl.DataFrame]
"""Reads columns once more, as texts."""
SLIPS = 0.01
"""Up to this share of fields with a leading zero may be slips, if more fields are shorter than they are."""
COUNTS = 2
"""Up to this many digits are counts that someone padded here and there, `0` beside `07`, not codes."""
FEWEST_DOTS = 3
"""Fewer different numbers with dots say nothing by themselves."""


def with_zeros(
    frame: pl.DataFrame, columns: Sequence[str], texts: Texts, facts: list[str], guesses: list[str]
) -> pl.DataFrame:
    """The frame with digits that have leading zeros as the texts that they are."""
    whole = [name for name in columns if frame[name].dtype.is_integer()]
    if not whole:
        return frame
    kept, even = [], []
    for column in texts(whole):
        padded = column.str.contains(repaired.LEADING_ZERO).fill_null(False)
        if not padded.any():
            continue
        widths = column.str.strip_chars().str.len_chars()
        zeros, first = widths.filter(padded), column.filter(padded)[0].strip()
        n_zeros, is_shorter = len(zeros), (widths < zeros.min()).fill_null(False)
        n_shorter = int(is_shorter.sum())
        if n_shorter == 0 and zeros.n_unique() == 1:
            kept.append(column)
            even.append(column.name)
        elif widths.max() <= COUNTS:  # type: ignore[operator]
            facts.append(f"leading zeros of {first!r} and others in {column.name!r} not kept")
        elif column.str.contains(r"^\s*[-+]").any() or (n_zeros < n_shorter and n_zeros <= SLIPS * len(column)):
            more = f" and {n_zeros - 1:,} more" if n_zeros > 1 else ""
            guesses.append(
                f"{column.name!r} holds numbers, with leading zeros in {first!r}{more}; "
                f"schema_overrides={{{column.name!r}: pl.String}} keeps them"
            )
        else:
            kept.append(column)
            other = column.filter(is_shorter)[0].strip() if n_shorter else None
            but = f" and without, such as {other!r}" if other is not None else " of several widths"
            guesses.append(
                f"{column.name!r} holds digits with leading zeros, such as {first!r},{but}; they are kept as text, as "
                f"codes are; schema_overrides={{{column.name!r}: pl.Int64}} reads numbers"
            )
    if even:
        facts.append(f"leading zeros kept in {', '.join(map(repr, even[:3]))}" + (", ..." if len(even) > 3 else ""))
    return frame.with_columns(kept)


def with_thousands(
    frame: pl.DataFrame, columns: Sequence[str], texts: Texts, facts: list[str], guesses: list[str]
) -> pl.DataFrame:
    """The frame with numbers that have dots between thousands as whole numbers, where its other numbers have commas.

    Where no other number says which of the two a dot is, the frame is as it was, and a guess says so.
    """
    points = [name for name in columns if frame[name].dtype == pl.Float64]
    maybe = [name for name in points if _may_have_thousands(frame[name])]
    if not maybe:
        return frame
    read = {column.name: numbers_in_text.dots(column.drop_nulls().unique()) for column in texts(maybe)}
    maybe = [name for name in maybe if read[name] is not None]
    has_commas = any(has_decimal_commas(column) for column in frame.select(pl.col(pl.String)))
    has_points = any(name not in maybe and (frame[name] != frame[name].round(0)).any() for name in points)
    if has_points and not has_commas:
        return frame
    made = []
    for name in maybe:
        if has_commas and not has_points and read[name] != "beside large":
            made.append((frame[name] * _factor(texts([name])[name])).round(0).cast(pl.Int64))
            continue
        column = texts([name])[name].drop_nulls()
        dotted = column.filter(column.str.contains(".", literal=True))
        if has_commas or (read[name] == "beside small" and dotted.n_unique() >= FEWEST_DOTS):
            guesses.append(
                f"the dots in {name!r}, as in {dotted[0].strip()!r}, are taken for decimal points; if they stand "
                f"between thousands: schema_overrides={{{name!r}: pl.String}}, then schema.with_forms({name}='1.234,5')"
            )
    if made:
        named = ", ".join(repr(column.name) for column in made[:3]) + (", ..." if len(made) > 3 else "")
        facts.append(f"dots between thousands in {named}")
    return frame.with_columns(made)


def has_decimal_commas(column: pl.Series) -> bool:
    """Whether texts are numbers with decimal commas, whatever other columns hold."""
    known = column.drop_nulls()
    if len(known) == 0 or not known.head(64).str.contains(r"\d").all():
        return False
    if repaired.with_decimal_commas(column).dtype != column.dtype:
        return True
    known = known.unique(maintain_order=True)
    form = numbers_in_text.form_of(known)
    return form is not None and form.decimal == "," and bool(known.str.contains(",", literal=True).any())


def _may_have_thousands(column: pl.Series) -> bool:
    """Whether numbers may be thousands that were read as fractions: of at most three decimals, none below 1."""
    known = column.drop_nulls()
    parts = known.filter(known != known.round(0))
    if len(parts) == 0 or (parts.abs() < 1).any() or (parts.abs() >= 1000).any():
        return False
    return bool(((parts * 1000 - (parts * 1000).round(0)).abs() < 1e-6).all())


def _factor(texts: pl.Series) -> pl.Series:
    """By how much a field with a dot was read as too small."""
    dotted = texts.str.contains(".", literal=True).fill_null(False)
    return pl.select(pl.when(dotted).then(1000).otherwise(1)).to_series()
