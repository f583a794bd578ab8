"""A last row of totals, as spreadsheets have one: `Total` in a column of text, sums in columns of numbers."""

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


def totals_of(raw: Raw, seen: Sequence[Seen], n_notes: int = 0) -> Totals | None:
    """What says that the last row holds totals: a word that no other row has, and a sum. None if either lacks.

    Args:
        raw: The frame.
        seen: Its columns.
        n_notes: How many rows below it hold notes.
    """
    last = raw.n_rows - 1 - n_notes
    if last < FEWEST:
        return None
    said = ((at, _said(raw, at, last)) for at, one in enumerate(seen) if one.class_ == "text")
    at, word = next(((at, word) for at, word in said if word is not None), (0, None))
    if word is None:
        return None
    sums = {}
    for i, one in enumerate(seen):
        if one.class_ not in ("integer", "number"):
            continue
        numbers = np.asarray(raw.numbers(i), dtype=np.float64)
        total, terms = float(numbers[last]), numbers[:last][~np.isnan(numbers[:last])]
        if len(terms) >= FEWEST and total != 0 and abs(terms.sum() - total) <= NEAR * abs(total):
            sums[one.name] = total
    return Totals(word, seen[at].name, sums) if sums else None


def _said(raw: Raw, at: int, last: int) -> str | None:
    """The text of a column in the last row, if it says that it is a total and no other row has it."""
    ranks = raw.ranks(at)
    if ranks[last] == MISSING or int((ranks == ranks[last]).sum()) > 1:
        return None
    word = str(raw.levels(at)[0][int(ranks[last])])
    return word if _SAID.fullmatch(word.strip().rstrip(":")) is not None else None
