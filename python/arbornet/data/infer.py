"""What kind a column is, and why: the rules, in the order in which they are asked.

1. A column without values, with one value only, or that merely numbers the rows is left out; so is one that holds
   lists, records, bytes or other objects, and numbers that floats do not tell apart, unless they are labels or grades.
   An infinite value is an error.
2. What the frame declares is believed: an ordered dictionary or Enum is ordinal, other categories are categorical.
3. Text and booleans are categorical; numbers with a fraction, dates and times are continuous.
4. Whole numbers, also floats that are whole if values are missing or there are but two: two distinct ones are labels;
   up to ten that follow each other without a gap are a scale, so ordinal; up to six that are not consecutive are
   labels, so categorical; all others are continuous. A value must occur four times on average to count as a label or
   a grade.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from arbornet._core import ColumnError
from arbornet.data import calendar
from arbornet.data.kinds import Categorical, Continuous, Kind, Level, Ordinal
from arbornet.data.nested import unreadable
from arbornet.text.visible import written

FEW_GRADES = 10
FEW_LABELS = 6
ROWS_PER_LEVEL = 4
SMALLEST_IDENTIFIER = 3
HELD_AS_FLOATS = "stored as numbers with a fraction"
MOST_LEVELS = 65_536


@dataclass(frozen=True)
class Profile:
    """What one pass over a column told."""

    class_: str
    ordered: bool
    zone: str | None
    unit: str | None
    """Of spans of time told to the nanosecond: "ns"."""
    problem: str | None
    """What it holds instead of values that can be read."""
    n_null: int
    n_nan: int
    n_distinct: int | None
    """None: more than were counted."""
    values: tuple[list[Level], list[int]] | None
    """Distinct values in their order, with counts, if they are not too many."""
    declared: bool
    range_: tuple[float, float] | None
    infinite_row: int | None
    whole: bool
    counter: bool
    merged: tuple[str, str] | None
    """Two different whole numbers (or times in nanoseconds) that are one float, where that matters."""
    alike: tuple[str, str] | None
    """Two different decimals that are one float: as levels they would be one."""
    step: float | None
    """The largest number that all values are whole multiples of, if few decimals write them."""
    n_rows: int

    @property
    def n_missing(self) -> int:
        """Rows without a value, nulls and NaN."""
        return self.n_null + self.n_nan

    @property
    def n_values(self) -> int:
        """Rows with a value."""
        return self.n_rows - self.n_missing


@dataclass(frozen=True)
class Inferred:
    """A kind with its reason, and whether the column is used."""

    kind: Kind
    reason: str
    left_out: str | None = None
    """Why it is not used."""


def profile(name: str, n_rows: int, told: Mapping[str, Any]) -> Profile:
    """The profile of a raw column, of what the core told.

    Raises:
        ColumnError: If it declares an infinite level.
    """
    seen = Profile(n_rows=n_rows, **told)
    if seen.declared and seen.values is not None:
        _check_declared(name, seen.values[0])
    return seen


def as_integers(seen: Profile) -> Profile:
    """The profile of whole floats as that of integers, if some are missing or there are two different ones.

    A frame often has no other way to hold integers with a gap, and nobody measures on a scale of two values. Others may
    be floats because they were made so, to be read as numbers.
    """
    if seen.class_ != "number" or not seen.whole or seen.infinite_row is not None or seen.range_ is None:
        return seen
    if max(map(abs, seen.range_)) >= 2**53:
        return seen
    if seen.n_missing == 0 and (seen.n_distinct != 2 or seen.n_rows < 2 * ROWS_PER_LEVEL):
        return seen
    values: tuple[list[Level], list[int]] | None = None
    if seen.values is not None:
        values = [int(value) for value in seen.values[0]], seen.values[1]
    return replace(seen, class_="integer", values=values, counter=False)


def check_finite(name: str, seen: Profile) -> None:
    """Raises ColumnError if a value is infinite."""
    if seen.infinite_row is not None:
        raise ColumnError(
            f"column '{name}' is infinite in row {seen.infinite_row}; replace such values by numbers or by nulls"
        )


def check_told_apart(name: str, seen: Profile) -> None:
    """Raises ColumnError if floats do not tell a column's numbers apart."""
    if seen.merged is not None:
        raise ColumnError(f"column '{name}' {_merged(seen)}; {_apart(seen)}")


def _merged(seen: Profile) -> str:
    a, b = seen.merged or ("", "")
    nanoseconds = " nanoseconds" if seen.class_ not in ("integer", "number") else ""
    return f"holds {a} and {b}{nanoseconds}, which are one number in 64 bits"


def _apart(seen: Profile) -> str:
    if seen.class_ != "integer":
        return "subtract their smallest value first"
    is_long = seen.range_ is not None and max(map(abs, seen.range_)) >= 2.0**63 and seen.values is None
    return f"subtract their smallest value first, or {'turn them into text' if is_long else 'declare it categorical'}"


def _check_declared(name: str, levels: list[Level]) -> None:
    endless = next((level for level in levels if isinstance(level, float) and math.isinf(level)), None)
    if endless is not None:
        raise ColumnError(f"column '{name}' declares the level {endless}; declare numbers, or turn it into text")


def infer(name: str, seen: Profile) -> Inferred:
    """The kind of a column, by the rules above."""
    n, distinct = seen.n_values, seen.n_distinct
    if seen.problem is not None:
        return Inferred(Categorical(), seen.problem, unreadable(name, seen.problem))
    if n == 0:
        return Inferred(Categorical(), "no value in any row", "has no value in any row")
    if is_constant(seen):
        kind = _declared_kind(seen) or (Continuous() if seen.range_ is not None else Categorical())
        value = _first_value(seen)
        is_moment = seen.class_ in calendar.CLASSES and isinstance(value, float)
        only = written(value) if isinstance(value, float) else repr(value)
        if is_moment:
            only = calendar.told(float(value), calendar.zoned(seen.class_, seen.zone))
        return Inferred(kind, f"one value only: {only}", f"is constant ({only})")
    declared = _declared_kind(seen)
    if declared is not None:
        word = "ordered" if seen.ordered else "unordered"
        return Inferred(declared, f"the frame declares {word} levels")
    if seen.class_ == "text":
        if distinct == n and n >= SMALLEST_IDENTIFIER:
            return Inferred(Categorical(), "text, different in every row", "is text that differs in every row")
        return Inferred(Categorical(), f"text with {distinct:,} distinct values")
    if seen.class_ == "truth":
        return Inferred(Categorical(), "booleans")
    if seen.class_ == "number":
        return Inferred(Continuous(), HELD_AS_FLOATS if seen.whole else "numbers with a fraction")
    found = Inferred(Continuous(), _SCALES[seen.class_]) if seen.class_ in _SCALES else _infer_whole(seen)
    if seen.merged is not None and isinstance(found.kind, Continuous):
        return Inferred(found.kind, found.reason, found.left_out or f"{_merged(seen)} ({_apart(seen)})")
    return found


def is_constant(seen: Profile) -> bool:
    """One value only. Large numbers are not among the distinct values, as they may be rounded."""
    if seen.class_ != "integer" and seen.range_ is not None:
        return seen.range_[0] == seen.range_[1] and seen.merged is None
    return seen.n_distinct == 1


_SCALES = {
    "date": "dates, as days since 1970-01-01",
    "datetime": "points in time, as days since 1970-01-01",
    "duration": "spans of time, in seconds",
    "time": "times of day, as seconds since midnight",
}


def _declared_kind(seen: Profile) -> Kind | None:
    if seen.ordered:
        return Ordinal(None if seen.values is None else seen.values[0])
    return Categorical(None if seen.values is None else seen.values[0]) if seen.declared else None


def _first_value(seen: Profile) -> Level:
    if seen.values is not None:
        return next(value for value, count in zip(*seen.values, strict=True) if count > 0)
    return seen.range_[0] if seen.range_ is not None else "one value"


def _infer_whole(seen: Profile) -> Inferred:
    n, distinct = seen.n_values, seen.n_distinct
    if seen.counter and n >= SMALLEST_IDENTIFIER:
        told = f"numbers the rows from {0 if seen.range_ is not None and seen.range_[0] == 0 else 1}"
        return Inferred(Continuous(), told, told)
    if distinct is None or seen.values is None:
        huge = seen.range_ is not None and max(map(abs, seen.range_)) >= 2**53
        return Inferred(Continuous(), "whole numbers beyond 2^53" if huge else "whole numbers, many distinct ones")
    low, high = seen.values[0][0], seen.values[0][-1]
    gapless = int(high) - int(low) + 1 == distinct
    told = f"{distinct} distinct whole numbers in {n:,} rows"
    if n < ROWS_PER_LEVEL * distinct:
        return Inferred(Continuous(), f"{told}: too few rows for each to be a level")
    if distinct == 2:
        return Inferred(Categorical(), f"two whole numbers, {low} and {high}: labels")
    if gapless and distinct <= FEW_GRADES:
        return Inferred(Ordinal(), f"{told}, {low} to {high} without a gap: a scale")
    if not gapless and distinct <= FEW_LABELS:
        return Inferred(Categorical(), f"{told}, not consecutive: treated as labels")
    return Inferred(Continuous(), told)
