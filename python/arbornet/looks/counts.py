"""Counts: 0, 1, 2, ... of something. Ordered levels up to ten, numbers above.

A count begins at 0 or 1 and grows rare. A gap in its thin end is chance, and makes it neither labels nor a measure.
"""

from __future__ import annotations

from collections.abc import Sequence

MOST = 10
THIN = 0.05
"""The share of rows beyond the first gap, at most."""


def is_count(values: Sequence[int], counts: Sequence[int]) -> bool:
    """Whether whole numbers, ascending, are a count up to ten with gaps in its thin end only."""
    if len(values) < 3 or values[0] not in (0, 1) or max(values[-1], len(values)) > MOST:
        return False
    first_gap = next((i for i, value in enumerate(values) if value != values[0] + i), len(values))
    beyond = sum(counts[first_gap:])
    return first_gap >= 2 and beyond <= THIN * sum(counts)
