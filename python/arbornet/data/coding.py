"""From a schema and raw columns to how the core codes every row."""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from arbornet._core import MISSING, ColumnError
from arbornet.data.column_coding import ColumnCoding
from arbornet.data.frames import Raw
from arbornet.data.infer import MOST_LEVELS, Profile, check_finite, check_told_apart
from arbornet.data.kinds import Binned, Categorical, Continuous, Level, Ordinal
from arbornet.data.levels import as_own_levels, codes_of, merge_rarest
from arbornet.data.looks.written import as_read
from arbornet.data.scales import point_of
from arbornet.data.support import check_counts, with_support
from arbornet.data.units import log_of
from arbornet.text.notices import warn
from arbornet.text.terminal import several
from arbornet.text.visible import written

if TYPE_CHECKING:
    from arbornet._core import RowsHandle
    from arbornet.data.column import Column
    from arbornet.data.schema import Schema

Unseen = Literal["error", "missing"]
TREAT_AS_MISSING = "; pass unseen='missing' to treat it as missing"
"""What to do, for rows that are predicted or scored."""
DECLARE = "; declare it with Schema.with_types, or make the table with an.Table(frame, schema, unseen='missing')"
"""What to do, for rows that are learned from."""
_NUMBER = re.compile(r"[ \t\r\n]*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?[ \t\r\n]*", re.ASCII)
_TIMES = {"date": "days", "datetime": "days", "duration": "seconds", "time": "seconds of a day"}


def coding_of(raw: Raw, column: Column, unseen: Unseen, way_out: str = "") -> ColumnCoding:
    """How a column whose levels are known is coded; `way_out` says what to do about unknown levels.

    Raises:
        ColumnError: If the frame's values are of another kind, infinite, or not among the levels.
    """
    i = raw.places.get(column.name)
    if i is None:
        return _without_values(column)
    seen = raw.profile(i)
    if column.cuts is not None and seen.class_ == "text":
        return _bins_coding(raw, i, column, unseen, way_out)
    if isinstance(column.kind, Continuous | Binned):
        _check_numbers(raw, i, column, seen)
        scale = column.scale if isinstance(column.kind, Continuous) else None
        log, least = _logarithms(raw, i, column, seen, unseen, way_out)
        levels = None if column.cuts is None else column.levels
        word = column.word if levels is not None else "continuous"
        coding = ColumnCoding(column.name, i, word, levels, cuts=column.cuts, scale=scale, log=log, least=least)
        coding.point, coding.leaf = column.point, column.leaf
        coding.scores = isinstance(column.kind, Continuous) and column.kind.is_scored
        return coding
    return _levels_coding(raw, i, column, seen, unseen, way_out)


def _without_values(column: Column) -> ColumnCoding:
    is_coded = not isinstance(column.kind, Continuous)
    return ColumnCoding(column.name, None, column.word, levels=column.levels or (), codes=() if is_coded else None)


def _levels_coding(raw: Raw, i: int, column: Column, seen: Profile, unseen: Unseen, way_out: str) -> ColumnCoding:
    _check_can_have_levels(column, seen)
    levels = column.levels
    if levels is None:
        raise ColumnError(f"column '{column.name}' has no levels yet; make a Table of the data it was inferred from")
    values = raw.levels(i)[0]
    merged = {value: levels.index(column.other) for value in column.merged} if column.other is not None else {}
    codes = codes_of(values, levels, merged)
    unknown = _unknown(raw, i, column, codes, unseen, way_out)
    missing = MISSING if column.missing_level is None else len(levels) - 1
    if unknown and column.missing_level is not None:
        codes = [missing if code == MISSING else code for code in codes]
    return ColumnCoding(column.name, i, column.word, levels=levels, codes=codes, missing=missing)


def _bins_coding(raw: Raw, i: int, column: Column, unseen: Unseen, way_out: str) -> ColumnCoding:
    """Of a column of bins that comes as text: the names of its bins, as a network gives them back, or numbers."""
    names, cuts = column.levels or (), column.cuts or ()
    places = {name: code for code, name in enumerate(names)}

    def code(value: Level) -> int:
        if value in places or column.class_ in _TIMES or not _is_number(value):
            return places.get(value, MISSING)
        return bisect_left(cuts, float(value))

    codes = [code(value) for value in raw.levels(i)[0]]
    _unknown(raw, i, column, codes, unseen, way_out)
    return ColumnCoding(column.name, i, column.word, levels=names, codes=codes)


def _unknown(raw: Raw, i: int, column: Column, codes: list[int], unseen: Unseen, way_out: str) -> list[int]:
    """The ranks of values that are not levels.

    Raises:
        ColumnError: If there are any, and that is an error.
    """
    counts = raw.levels(i)[1]
    unknown = [rank for rank, code in enumerate(codes) if code == MISSING and counts[rank] > 0]
    if unknown and unseen == "error":
        raise ColumnError(_unseen_text(raw, i, column, unknown) + way_out)
    return unknown


def _unseen_text(raw: Raw, i: int, column: Column, unknown: list[int]) -> str:
    values, counts = raw.levels(i)
    n_rows = sum(counts[rank] for rank in unknown)
    first = unknown[0]
    more = f" and {several(len(unknown) - 1, 'more value')}" if len(unknown) > 1 else ""
    is_text = any(isinstance(level, str) for level in column.levels or ())
    text = "; give it as text" if is_text and not isinstance(values[first], str) else ""
    if isinstance(values[first], bool) and column.levels is not None and len(column.levels) == 2:
        text = f"; give {column.levels[0]!r} or {column.levels[1]!r} for it"
    known = ", ".join(repr(level) for level in (column.levels or ())[:10])
    rest = ", ..." if len(column.levels or ()) > 10 else ""
    return (
        f"column '{column.name}' holds {values[first]!r}{more} in {n_rows:,} row{'s' if n_rows != 1 else ''} "
        f"(first in row {raw.frame.first_row(i, first)}), which is not among its levels {known}{rest}{text}"
    )


def _check_can_have_levels(column: Column, seen: Profile) -> None:
    check_finite(column.name, seen)
    if seen.alike is not None:
        a, b = seen.alike
        raise ColumnError(
            f"column '{column.name}' holds {a} and {b}, which are one number in 64 bits, so one level; "
            "turn the column into text"
        )
    low, high = seen.range_ or (0.0, 0.0)
    # Few distinct values are known exactly, and are none if they do not fit; the ends of the range are rounded.
    if seen.class_ == "integer" and seen.values is None and not -(2.0**63) <= low <= high < 2.0**63:
        raise ColumnError(
            f"column '{column.name}' holds whole numbers beyond 64 bits, which cannot be levels; turn them into text"
        )
    if seen.class_ in _TIMES:
        raise ColumnError(
            f"column '{column.name}' holds {seen.class_} values, which have no levels; "
            "make it 'continuous' or an.Binned(k), or turn it into text first"
        )


def _check_numbers(raw: Raw, i: int, column: Column, seen: Profile) -> None:
    name = column.name
    check_finite(name, seen)
    known, given = _TIMES.get(column.class_), _TIMES.get(seen.class_)
    if known != given and seen.class_ != "nothing" and column.class_ != "nothing":
        raise ColumnError(
            f"column '{name}' holds {seen.class_} values where {column.class_} values are expected; convert it first"
        )
    if seen.class_ == "text":
        values, counts = raw.levels(i)
        bad = [rank for rank, value in enumerate(values) if counts[rank] > 0 and not _is_number(value)]
        if bad:
            n_rows = sum(counts[rank] for rank in bad)
            raise ColumnError(
                f"column '{name}' holds text that is not a number, {values[bad[0]]!r} first in row "
                f"{raw.frame.first_row(i, bad[0])}, in {n_rows:,} row{'s' if n_rows != 1 else ''}; "
                "replace it by nulls, or declare the column categorical or ordinal"
            )


def _logarithms(
    raw: Raw, i: int, column: Column, seen: Profile, unseen: Unseen, way_out: str
) -> tuple[float | None, float | None]:
    """What a column's logarithmic scale adds before it takes logarithms, and the number that smaller ones count as.

    A scale that is known was learned from other rows: what lies below these is taken as the smallest of them, and a
    warning says so. The first is None for a linear scale, the second if there is no such number.

    Raises:
        ColumnError: If a value has no logarithm, and that is an error.
    """
    if not (isinstance(column.kind, Continuous) and column.kind.is_log):
        return None, None
    shift = column.kind.shift if column.scale is None else log_of(column.scale)
    least = seen.range_[0] if seen.range_ is not None else None
    if seen.class_ == "text":
        values, counts = raw.levels(i)
        least = min((float(value) for value, n in zip(values, counts, strict=True) if n > 0), default=None)
    floor = None
    if least is not None and unseen == "error" and (least < 0 or (least == 0 and shift == 0.0)):
        floor = _smallest(column)
        if floor is None:
            above = "above 0, as all were in the table it was made of," if least == 0 else "of 0 or more"
            raise ColumnError(
                f"column '{column.name}' holds {written(least)}, and its scale is logarithmic: "
                f"it takes numbers {above} only; replace such values{way_out}"
            )
        warn(
            f"column '{column.name}' holds {written(least)}, and its scale is logarithmic: numbers below "
            f"{written(floor)}, the smallest that it was learned from, count as that{way_out}"
        )
    # Any number does as long as it is not known: it says which rows are kept.
    return (1.0 if shift is None else shift), floor


def _smallest(column: Column) -> float | None:
    """The smallest number that a known logarithmic scale was learned from, if it has a logarithm."""
    shift = log_of(column.scale)
    if shift is None or column.range_ is None:
        return None
    least = column.range_[0]
    return least if least > 0 or (least == 0 and shift > 0) else None


def with_shift(raw: Raw, column: Column, coding: ColumnCoding) -> Column:
    """The column, if its scale is logarithmic, with what is added before logarithms are taken.

    It suits all of the column's values, also those in rows that are dropped for others that are missing.
    """
    kind = column.kind
    if not (isinstance(kind, Continuous) and kind.is_log) or column.scale is not None or kind.shift is not None:
        return column
    keep = raw.frame.keep([coding])
    return replace(column, kind=replace(kind, shift=raw.frame.log_shift(raw.places[column.name], keep)))


def _is_number(value: Level) -> bool:
    """What the core reads as a number: Python's own reading takes underlines and the digits of all scripts too."""
    return bool(_NUMBER.fullmatch(str(value))) and math.isfinite(float(value))


def resolve(raw: Raw, column: Column, missing: str, weights: NDArray[np.float64] | None = None) -> Column:
    """The column with its levels taken from the data where they are not known yet.

    Raises:
        ColumnError: If the frame lacks the column, or it has too many levels.
    """
    i = raw.places.get(column.name)
    if i is None:
        raise ColumnError(
            f"the frame has no column '{column.name}', which the schema uses; leave it out with without()"
        )
    seen = raw.profile_as_meant(i)
    column = replace(column, n_rows=seen.n_rows, missing=seen.n_missing, range_=seen.range_ or column.range_)
    kind = column.kind
    if isinstance(kind, Continuous | Binned):
        if column.scale is None and column.cuts is None:
            check_told_apart(column.name, seen)
            if isinstance(kind, Continuous) and kind.point == "auto":
                column = replace(column, kind=replace(kind, point=point_of(raw, column, i, weights)))
            if column.leaf == "counts":
                check_counts(column, raw.numbers(i))
            column = with_support(column, seen, lambda: raw.numbers(i), weights)
        return column
    if kind.levels is None:
        _check_can_have_levels(column, seen)
        values, counts = raw.levels(i)
        most = kind.max_levels if isinstance(kind, Categorical) else None
        if most is None and len(values) > MOST_LEVELS:
            raise ColumnError(
                f"column '{column.name}' has {len(values):,} levels, more than {MOST_LEVELS:,}; leave it out with "
                "without(), or merge the rarest with an.Categorical(max_levels=...)"
            )
        levels = as_own_levels(column.name, values, column.class_, None)
        if most is not None:
            weighed = counts if weights is None else _weighed(raw, i, len(values), weights)
            levels, merged = merge_rarest(
                levels, weighed, most, kind.other if isinstance(kind, Categorical) else "other"
            )
            column = replace(column, merged=tuple(merged), other=str(levels[-1]) if merged else None)
        if not levels:
            raise ColumnError(f"column '{column.name}' has no value in any row; leave it out, or declare its levels")
        column = replace(column, kind=Ordinal(levels) if isinstance(kind, Ordinal) else Categorical(levels))
    if missing == "level" and isinstance(kind, Categorical) and seen.n_missing > 0 and column.missing_level is None:
        column = _with_missing_level(column)
    return column


def _weighed(raw: Raw, i: int, n_values: int, weights: NDArray[np.float64]) -> list[float]:
    """How much the rows of each distinct value weigh; the same for any order of the rows."""
    ranks = raw.ranks(i)
    return [math.fsum(weights[ranks == rank]) for rank in range(n_values)]


def _with_missing_level(column: Column) -> Column:
    levels = column.levels or ()
    name = "missing"
    while name in levels:
        name += " value"
    return replace(column, kind=Categorical([*levels, name]), missing_level=name)


def encode_rows(raw: Raw, schema: Schema, unseen: Unseen, n_jobs: int, way_out: str = TREAT_AS_MISSING) -> RowsHandle:
    """All rows of a frame coded by a schema that knows its levels and scales."""
    raw = as_read(raw, schema.used, n_jobs)
    return raw.frame.rows([coding_of(raw, column, unseen, way_out) for column in schema.used], n_jobs)
