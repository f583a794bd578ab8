"""Dates whose years have two digits and lie far ahead, and columns of dates that are written in several ways."""

from __future__ import annotations

import polars as pl

from arbornet.data.looks import dates
from arbornet.data.looks.seen import Seen

FAR = 2040
"""Years from this one on are rather of the century before: 46 is read as 2046."""
FEWEST = 10
"""Columns of fewer distinct values are levels."""
MOST_WAYS = 4
ENOUGH = 0.95
"""The share of a column's distinct texts that the ways have to read."""
SAMPLE = 60
"""So many texts say in which ways dates are written."""


def far_ahead(seen: Seen, form: str) -> tuple[str, int, int] | None:
    """A text whose year of two digits is read as one far ahead, that year, and in how many rows there is such a text.

    Args:
        seen: A column of dates in text.
        form: How they are written.
    """
    if "%y" not in form or seen.class_ != "text":
        return None
    years = dates.read(seen.texts, form).dt.year()
    far = seen.texts.filter(years >= FAR)
    if len(far) == 0:
        return None
    times = int(seen.counts.filter(seen.values.is_in(far.to_list())).sum())
    return str(far[0]), int(years.filter(years >= FAR)[0]), times


def ways_of(seen: Seen) -> list[tuple[str, str]] | None:
    """The several ways in which a column's dates are written, the most frequent first, each with a text; None if none.

    Where one way could be read with the day or with the month first, there is no telling.
    """
    values = seen.texts
    if len(values) < FEWEST:
        return None
    some = values.gather_every(max(1, len(values) // SAMPLE)).str.strip_chars().to_list()
    shapes = [dates.likely_forms(text) for text in some]
    if sum(bool(forms) for forms in shapes) < ENOUGH * len(some):
        return None
    ways: list[tuple[str, str]] = []
    fitting = {form: dates.fits(values, form) for form in dict.fromkeys(form for forms in shapes for form in forms)}
    if any(dates.class_of(form) != "date" for form in fitting):
        return None
    open_ = pl.Series([True]).new_from_index(0, len(values))
    while int(open_.sum()) > (1 - ENOUGH) * len(values):
        gains = {form: int((fits & open_).sum()) for form, fits in fitting.items()}
        best = max(gains, key=lambda form: gains[form], default="")
        if not best or gains[best] == 0 or len(ways) == MOST_WAYS:
            return None
        if any(n == gains[best] and form != best and _differ(values, form, best) for form, n in gains.items()):
            return None
        ways.append((best, str(values.filter(fitting[best] & open_)[0])))
        open_ &= ~fitting[best]
    return ways if len(ways) > 1 else None


def _differ(values: pl.Series, one: str, other: str) -> bool:
    """Whether two formats read some of the texts as different dates."""
    a, b = dates.read(values, one), dates.read(values, other)
    return bool((a != b).fill_null(False).any())
