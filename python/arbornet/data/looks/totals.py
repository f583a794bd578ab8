"""A last row that holds the totals of all others, as spreadsheets end: `Total` in a column of text, sums in columns of
numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from arbornet._core import MISSING
from arbornet.data.frames import Raw
from arbornet.data.looks.seen import Seen

_SAID = re.compile(
    r"(?:grand |sub)?totals?|total .*|.* totals?|sum|summe|gesamt|gesamtsumme|insgesamt|zusammen|totale|suma|somme|"
    r"all|overall",
    re.IGNORECASE,
)
NEAR = 1e-3
"""By which share a total may differ from the sum: its terms may be rounded."""
FEWEST = 4
"""Fewer rows above it sum to one of them by chance."""


@dataclass(frozen=True)
class Totals:
    """What says that the last row holds totals."""

    word: str
    column: str
    """The column of text that holds the word."""
    sums: Mapping[str, float]
    """The columns whose last value is the sum of those above, with it."""


def totals_of(raw: Raw, seen: Sequence[Seen]) -> Totals | None:
    """What says that the last row holds totals: a word in the first column of text, and a sum. None if either lacks."""
    at = next((i for i, one in enumerate(seen) if one.class_ == "text"), None)
    if at is None or raw.n_rows <= FEWEST:
        return None
    ranks = raw.ranks(at)
    if ranks[-1] == MISSING or int((ranks == ranks[-1]).sum()) > 1:
        return None
    word = str(raw.levels(at)[0][int(ranks[-1])])
    if _SAID.fullmatch(word.strip().rstrip(":")) is None:
        return None
    sums = {}
    for i, one in enumerate(seen):
        if one.class_ not in ("integer", "number"):
            continue
        numbers = np.asarray(raw.numbers(i), dtype=np.float64)
        total, terms = float(numbers[-1]), numbers[:-1][~np.isnan(numbers[:-1])]
        if len(terms) >= FEWEST and total != 0 and abs(terms.sum() - total) <= NEAR * abs(total):
            sums[one.name] = total
    return Totals(word, seen[at].name, sums) if sums else None
