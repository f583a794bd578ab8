"""A first row of units or of second headings, and notes below the table, as exported sheets have them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arbornet._core import MISSING
from arbornet.data.frames import Raw
from arbornet.data.looks.seen import Seen

_STARTS_AS_NUMBER = r"^\s*[<>=≤≥~(]*\s*[-+−$€£¥]?\s*[.,]?\d"
MOSTLY = 0.8
"""The share of a column's texts that are numbers or dates, where its first is none."""
FEW = 10
"""So many may be none."""
FEWEST = 5
"""Columns of fewer texts are levels."""
FEWEST_COLUMNS = 2
"""One such column has a text that is none of the others; several have a row of them."""
MOST_NOTES = 5


@dataclass(frozen=True)
class Edges:
    """What stands at the edges of a table."""

    units: Mapping[str, str]
    """By column the text of the first row, where it is a unit or a heading; empty where there is no such row."""
    notes: Sequence[str]
    """The texts of the last rows, where each holds one text only."""


def edges_of(raw: Raw, seen: Sequence[Seen]) -> Edges:
    """What the first row and the last rows hold that is no data."""
    if raw.n_rows <= FEWEST + MOST_NOTES:
        return Edges({}, [])
    units = {}
    for at, one in enumerate(seen):
        words = _words(one) if one.class_ == "text" else set()
        first = _text(raw, at, 0) if words else None
        if first in words:
            units[one.name] = str(first)
    return Edges(units if len(units) >= FEWEST_COLUMNS else {}, _notes(raw, seen))


def _words(seen: Seen) -> set[str]:
    """The texts that occur once and are no numbers, of a column of which nearly all others are numbers or dates."""
    if len(seen.texts) <= FEWEST:
        return set()
    words = seen.texts.filter(~seen.texts.str.contains(_STARTS_AS_NUMBER))
    if not 0 < len(words) <= min(FEW, (1 - MOSTLY) * len(seen.texts)):
        return set()
    once = seen.values.filter(seen.counts == 1)
    return set(words) & set(once)


def _notes(raw: Raw, seen: Sequence[Seen]) -> list[str]:
    """The texts of the last rows, from the first of them, that hold nothing but a text in one and the same column."""
    # All others are missing where a note stands.
    if len(seen) < 3 or sum(one.n_missing == 0 for one in seen) > 1:
        return []
    has = [_has(raw, at, one.class_) for at, one in enumerate(seen)]
    filled = np.sum(has, axis=0)
    alone = filled == 1
    n = next((k for k in range(MOST_NOTES + 1) if not alone[-1 - k]), 0)
    if n == 0 or alone[:-n].any():
        return []
    at = next(i for i, own in enumerate(has) if own[-1])
    texts = [_text(raw, at, row) if has[at][row] else None for row in range(raw.n_rows - n, raw.n_rows)]
    return [text for text in texts if text is not None] if seen[at].class_ == "text" and None not in texts else []


def _has(raw: Raw, at: int, class_: str) -> NDArray[np.bool_]:
    if class_ in ("text", "truth"):
        known: NDArray[np.bool_] = raw.ranks(at) != MISSING
        return known
    return ~np.isnan(np.asarray(raw.numbers(at), dtype=np.float64))


def _text(raw: Raw, at: int, row: int) -> str | None:
    rank = raw.ranks(at)[row]
    return None if rank == MISSING else str(raw.levels(at)[0][int(rank)])
