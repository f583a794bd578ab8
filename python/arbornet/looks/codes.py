"""Codes: whole numbers that name things, such as postcodes, occupations, flights, diagnoses.

A name alone makes no code: the values must look like one too. They do if they have gaps, are all of one width, and are
not round; then, under a code's name, they are levels. Otherwise they stay numbers, with a hint.
"""

from __future__ import annotations

import polars as pl

from arbornet.looks.seen import Seen
from arbornet.looks.words import CODE, LABEL

FEW_LABELS = 10


def is_code(seen: Seen) -> bool:
    """Whether whole numbers of many values are codes by their name and their pattern."""
    return seen.has(CODE) and seen.n_distinct >= 3 and (_one_width(seen.values) or _has_gaps(seen.values))


def is_label(seen: Seen) -> bool:
    """Whether few whole numbers are labels by their name: `status` 0, 1, 2."""
    return seen.has(LABEL) and 3 <= seen.n_distinct <= FEW_LABELS


def _one_width(values: pl.Series) -> bool:
    low, high = values.min(), values.max()
    return isinstance(low, int) and isinstance(high, int) and low >= 1000 and len(str(low)) == len(str(high))


def _has_gaps(values: pl.Series) -> bool:
    low, high = values.min(), values.max()
    return isinstance(low, int) and isinstance(high, int) and len(values) < 0.9 * (high - low + 1)


def has_leading_zeros(texts: pl.Series) -> bool:
    """Whether texts of digits only have a zero in front: they are no numbers."""
    return bool(texts.str.contains(r"^\d+$").all()) and bool(texts.str.contains(r"^0\d").any())
