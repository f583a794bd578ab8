"""Dates and times in readable form, where models hold the numbers behind them.

Models are fitted to numbers: days since 1970-01-01 for dates and datetimes, seconds for times and spans of time. The
core asks `Words` how to say them wherever it writes one, in texts and in the labels of trees.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from arbornet.data.looks.numbers_in_text import form_of_text

if TYPE_CHECKING:
    from arbornet.data.schema import Schema

EPOCH = dt.datetime(1970, 1, 1)
#: Days.
YEAR = 365.25
CLASSES = ("date", "datetime", "time", "duration")
#: Moments, and moments of a time zone, which are printed in UTC.
MOMENTS = ("datetime", "datetime UTC")
DATES = ("date", *MOMENTS)
#: Before the form of numbers that a person wrote: `written $1,234.5`.
WRITTEN = "written "
#: Plain numbers, all of them whole: only what parts them is said in another way.
WHOLE = "whole"
#: A share of a number by which it may miss a whole one by rounding only.
SLACK = 1e-9
#: Beyond these floats do not tell whole numbers apart.
EXACT = 2.0**53
Classes = Mapping[str, str]
"""The class of every variable that holds dates or times, one of `CLASSES` and `MOMENTS`, or numbers written in a form
of their own, or `WHOLE` ones."""


def classes(schema: Schema) -> Classes:
    """Which variables of a schema hold dates or times, numbers of a form, or whole numbers."""
    held = [column for column in schema.used if column.levels is None]
    told = {column.name: zoned(column.class_, column.zone) for column in held if column.class_ in CLASSES}
    forms = {column.name: f"{WRITTEN}{column.form}" for column in held if column.form and column.name not in told}
    whole = {column.name: WHOLE for column in held if column.step == 1.0 and column.name not in told | forms}
    return told | forms | whole


def values(classes: Classes, variable: str) -> str | None:
    """What a variable holds in place of plain numbers, if it does."""
    class_ = classes.get(variable)
    return None if class_ == WHOLE else class_


def zoned(class_: str, zone: str | None) -> str:
    """The class of a column of a time zone, if it has one."""
    return "datetime UTC" if class_ == "datetime" and zone else class_


def told(x: float, class_: str) -> str:
    """The date, moment, time of day or span of time that a number stands for."""
    if class_.startswith(WRITTEN):
        form = form_of_text(class_.removeprefix(WRITTEN))
        return f"{x:.6g}" if form is None else form.said(float(f"{x:.6g}"))
    try:
        if class_ == "date":
            return str((EPOCH + dt.timedelta(days=round(x))).date())
        if class_ in MOMENTS:
            moment = (EPOCH + dt.timedelta(days=x) + dt.timedelta(seconds=30)).strftime("%Y-%m-%d %H:%M")
            return moment + class_.removeprefix("datetime")
        if class_ == "time":
            return str((EPOCH + dt.timedelta(seconds=round(x))).time())
        return span(x)
    except (OverflowError, ValueError):
        return f"{x:.6g}"


def centre(x: float, width: float, class_: str) -> str:
    """The centre of a distribution: a moment is given by its day where its spread is days."""
    if class_.startswith(WRITTEN):
        return told(float(f"{x:.4g}"), class_)
    return told(x, "date" if class_ in MOMENTS and width >= 1.0 else class_)


def threshold(x: float, class_: str) -> str:
    """A threshold between values: for dates the first day at or above it, for whole numbers the first of these."""
    if class_ == WHOLE:
        return f"{math.ceil(x - SLACK * (1.0 + abs(x)))}" if abs(x) < EXACT else f"{x:.15g}"
    return told(math.ceil(x) if class_ == "date" else x, class_)


def cut(x: float, class_: str) -> str:
    """A threshold that was chosen to be written in full; of moments and times the first second at or above it."""
    if class_ == WHOLE:
        return threshold(x, class_)
    if class_.startswith(WRITTEN):
        form = form_of_text(class_.removeprefix(WRITTEN))
        return f"{x:.15g}" if form is None else form.said(x)
    try:
        if class_ in MOMENTS:
            seconds = math.ceil(round(x * 86_400.0, 3))
            moment = EPOCH + dt.timedelta(seconds=seconds)
            return (
                moment.strftime("%Y-%m-%d %H:%M:%S" if seconds % 60 else "%Y-%m-%d %H:%M") + class_[len("datetime") :]
            )
        if class_ == "time":
            return told(math.ceil(round(x, 3)), class_)
    except (OverflowError, ValueError):
        return f"{x:.15g}"
    return whole_span(x) if class_ == "duration" else threshold(x, class_)


def last(x: float, class_: str) -> str:
    """The end of a bin, which is in it: for dates the last day at or below it."""
    return told(math.floor(x) if class_ == "date" else x, class_)


def number(value: object) -> Any:
    """The number that stands for a date, moment, time of day or span of time; anything else as it is."""
    if isinstance(value, dt.datetime):
        naive = value if value.tzinfo is None else value.astimezone(dt.UTC).replace(tzinfo=None)
        return (naive - EPOCH) / dt.timedelta(days=1)
    if isinstance(value, dt.date):
        return (value - EPOCH.date()).days
    if isinstance(value, dt.time):
        return (dt.datetime.combine(EPOCH, value) - EPOCH).total_seconds()
    return value.total_seconds() if isinstance(value, dt.timedelta) else value


def span(seconds: float) -> str:
    """A length of time in its natural unit."""
    for size, unit in ((86_400.0, "days"), (3600.0, "h"), (60.0, "min")):
        if abs(seconds) >= size:
            length = seconds / size
            return f"{length:.3g} {unit}" if abs(length) < 1000 else f"{length:,.0f} {unit}"
    return f"{seconds:.3g} s"


def whole_span(seconds: float) -> str:
    """A length of time with all its digits, in the largest unit that takes at most three decimals."""
    for size, unit in ((86_400.0, "days"), (3600.0, "h"), (60.0, "min")):
        length = round(seconds / size, 3)
        if abs(seconds) >= size and length * size == seconds:
            return f"{length:.15g} {unit}"
    return f"{seconds:.15g} s"


def unit(width: float, class_: str) -> tuple[str, float]:
    """The unit for differences of values that are so far apart: its name, and how long it is."""
    if class_ in DATES:
        if width >= 4 * YEAR:
            return "year", YEAR
        return ("hour", 1 / 24) if class_ in MOMENTS and width < 2.0 else ("day", 1.0)
    for name, size in (("day", 86_400.0), ("hour", 3600.0), ("minute", 60.0)):
        if width >= 2 * size:
            return name, size
    return "second", 1.0


def spread(x: float, class_: str) -> str:
    """The spread of such values, a length of time, or a number as they are written."""
    if class_.startswith(WRITTEN):
        return told(float(f"{x:.3g}"), class_)
    return span(x * 86_400.0 if class_ in DATES else x)


@dataclass(frozen=True)
class Words:
    """How the core prints dates and times wherever it writes a number; None leaves a plain number."""

    classes: Classes

    def class_(self, variable: str) -> str | None:
        """What the variable holds, one of `CLASSES` and `MOMENTS`."""
        return values(self.classes, variable)

    def value(self, variable: str, x: float) -> str | None:
        """A value, unless it is a plain number."""
        class_ = self.class_(variable)
        return None if class_ is None else told(x, class_)

    def threshold(self, variable: str, x: float) -> str | None:
        """A threshold between values, likewise; of whole numbers a whole number."""
        return threshold(x, self.classes[variable]) if variable in self.classes else None

    def cut(self, variable: str, x: float) -> str | None:
        """A threshold that was chosen to be written in full, likewise."""
        return cut(x, self.classes[variable]) if variable in self.classes else None

    def centre(self, variable: str, x: float, width: float) -> str | None:
        """The middle of a distribution of this spread, likewise."""
        class_ = self.class_(variable)
        return None if class_ is None else centre(x, width, class_)

    def difference(self, variable: str, x: float) -> str | None:
        """A difference of two values, likewise."""
        class_ = self.class_(variable)
        return None if class_ is None else spread(x, class_)

    def unit(self, variable: str, width: float) -> tuple[str, float] | None:
        """The unit of differences, likewise."""
        class_ = self.class_(variable)
        return None if class_ is None or class_.startswith(WRITTEN) else unit(width, class_)
