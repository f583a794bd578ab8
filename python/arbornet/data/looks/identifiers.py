"""Identifiers: values that identify a row or a person and carry no other information.

Whole numbers that number the rows (any name), that differ in nearly every row (with an id's name), or that occur about
equally often (with an id's name): then the rows of one `id` are not independent.
"""

from __future__ import annotations

from arbornet.data.looks.seen import Seen
from arbornet.data.looks.words import PERSON

NEARLY_ALL = 0.9
FEW = 10
"""Up to this many levels may be groups; more, about equally frequent, are persons."""
SMALLEST = 3


def why_identifier(seen: Seen) -> str | None:
    """Why a column of whole numbers or texts is an identifier, if it is one."""
    n, distinct = seen.n_values, seen.n_distinct
    if n < SMALLEST or not (seen.has_id_name or seen.has(PERSON)):
        return None
    if seen.has_id_name and distinct >= NEARLY_ALL * n and distinct > FEW:
        return "identifies rows: nearly every row has its own value"
    if distinct > FEW and distinct < n and _evenly(seen) and (seen.has_id_name or _is_name_of_persons(seen)):
        often = n / distinct
        return f"identifies subjects: {distinct:,} values, each in about {often:.3g} rows"
    return None


def is_repeated(seen: Seen) -> bool:
    """Whether one identifier has several rows, which are then not independent."""
    return seen.n_distinct < NEARLY_ALL * seen.n_values


def _evenly(seen: Seen) -> bool:
    """Whether values are about equally frequent: 90% within a factor of two of the median."""
    middle = seen.counts.median()
    if not isinstance(middle, float | int) or middle < 1 or seen.n_values < 2 * seen.n_distinct * 0.8:
        return False
    near = (seen.counts >= middle / 2) & (seen.counts <= middle * 2)
    return float(near.mean() or 0.0) >= 0.9  # type: ignore[arg-type]


def _is_name_of_persons(seen: Seen) -> bool:
    return len(seen.words) <= 2 and seen.class_ in ("integer", "text")
