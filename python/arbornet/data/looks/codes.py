"""Codes: whole numbers that stand for things, such as postcodes, occupations, flights, diagnoses.

The name alone is not enough: the values must have gaps, or all the same number of digits. Then a column with a code's
name is categorical. Otherwise it stays numeric, with a hint.
"""

from __future__ import annotations

import polars as pl

from arbornet.data.looks.seen import Seen
from arbornet.data.looks.words import CODE, LABEL

FEW_LABELS = 10


def is_code(seen: Seen) -> bool:
    """Whether whole numbers are codes, by their name and their pattern."""
    return seen.has(CODE) and seen.n_distinct >= 3 and (_one_width(seen.values) or _has_gaps(seen.values))


def is_label(seen: Seen) -> bool:
    """Whether a few distinct whole numbers are labels, by their name: `status` 0, 1, 2."""
    return seen.has(LABEL) and 3 <= seen.n_distinct <= FEW_LABELS


def _one_width(values: pl.Series) -> bool:
    low, high = values.min(), values.max()
    return isinstance(low, int) and isinstance(high, int) and low >= 1000 and len(str(low)) == len(str(high))


def _has_gaps(values: pl.Series) -> bool:
    low, high = values.min(), values.max()
    return isinstance(low, int) and isinstance(high, int) and len(values) < 0.9 * (high - low + 1)


def has_leading_zeros(texts: pl.Series) -> bool:
    """Whether texts are all digits and some begin with a zero: they are not numbers."""
    return bool(texts.str.contains(r"^\d+$").all()) and bool(texts.str.contains(r"^0\d").any())
