"""Identifiers: values that identify a row or a person and carry no other information.

Whole numbers that number the rows (any name), that differ in nearly every row (with an id's name; in every row with a
name such as `caseno`), that have several rows each (with a name that says no more than `id`, or names persons), or that
occur about equally often (with any id's name): then the rows of one `id` are not independent. What is less certain is
told as a finding.
"""

from __future__ import annotations

import re

from arbornet.data.looks.seen import Seen
from arbornet.data.looks.words import DATE, PERSON, YEAR, is_joined_id

NEARLY_ALL = 0.9
FEW = 10
"""Up to this many levels may be groups; more, about equally frequent, are persons."""
SMALLEST = 3


def why_identifier(seen: Seen) -> str | None:
    """Why a column of whole numbers or texts is an identifier, if it is one."""
    n, distinct = seen.n_values, seen.n_distinct
    if distinct == n and distinct > FEW and (is_joined_id(seen.name) or _numbers_persons(seen)):
        return "identifies rows: every row has its own value"
    several_each = FEW < distinct < NEARLY_ALL * n and n <= MOST_ROWS_EACH * distinct
    if several_each and _is_of_persons(seen):
        return f"identifies subjects: {distinct:,} values, each in about {n / distinct:.3g} rows"
    if n < SMALLEST or not (seen.has_id_name or seen.has(PERSON)):
        return None
    if seen.has_id_name and distinct >= NEARLY_ALL * n and distinct > FEW:
        return "identifies rows: nearly every row has its own value"
    if distinct > FEW and distinct < n and _evenly(seen) and (seen.has_id_name or _is_name_of_persons(seen)):
        often = n / distinct
        return f"identifies subjects: {distinct:,} values, each in about {often:.3g} rows"
    return None


UNLIKELY = 4.6
"""Pairs of equal numbers that chance would give at least; where there are none, it is one column of a hundred."""
MOST_MISSING = 0.1
MOST_ROWS_EACH = 100
"""What has more rows of each value names groups, such as a species."""
FEWEST = 30
YEARS = (1700, 2100)
_ID_OF_PERSONS = re.compile(
    r"(?:case|subj|subject|pat|patient|person|participant|resp|respondent|student|pupil|user|customer|client|child|mother)"
    r"[ _.-]?id(?:ent)?"
)


def may_identify(seen: Seen) -> str | None:
    """What suggests that a column that is used is an identifier, to be read after its name."""
    n, distinct = seen.n_values, seen.n_distinct
    if seen.class_ not in ("integer", "text") or distinct <= FEW or seen.has(DATE | YEAR):
        return None
    things = "whole numbers" if seen.class_ == "integer" else "texts"
    if (seen.has_id_name or is_joined_id(seen.name)) and n <= MOST_ROWS_EACH * distinct:
        return f"is named as an identifier is, and holds {distinct:,} different {things} in {n:,} rows"
    every = seen.class_ == "integer" and distinct == n >= max(FEWEST, (1 - MOST_MISSING) * seen.n_rows)
    if every and _differ_by_no_chance(seen):
        return f"holds {n:,} whole numbers of which no two are equal, as identifiers are"
    return None


def _differ_by_no_chance(seen: Seen) -> bool:
    """Whether so many numbers of this range would not all differ if they were measured."""
    low, high = seen.values.min(), seen.values.max()
    if not isinstance(low, int) or not isinstance(high, int) or (low >= YEARS[0] and high <= YEARS[1]):
        return False
    return seen.n_values**2 / (2.0 * (high - low + 1)) > UNLIKELY


def _numbers_persons(seen: Seen) -> bool:
    return seen.has(PERSON) and _is_name_of_persons(seen) and seen.class_ == "integer" and _differ_by_no_chance(seen)


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


def _is_of_persons(seen: Seen) -> bool:
    """Whether the name says no more than that it is an identifier, or one of persons: `id`, `patient_id`, `subjID`."""
    joined = _ID_OF_PERSONS.fullmatch(seen.name.strip().lower()) is not None
    bare = seen.class_ in ("integer", "text") and len(seen.words) == 1 and seen.words <= (PERSON | {"id"}) - {"case"}
    return bare or joined or (seen.has_id_name and seen.has(PERSON) and _is_name_of_persons(seen))
