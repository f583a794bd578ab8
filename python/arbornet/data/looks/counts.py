"""Counts: 0, 1, 2, ... of something. Ordered levels up to ten, numbers above.

A count begins at 0 or 1, and large values are rare. A gap in its tail is chance, and does not make it labels or a
measurement.
"""

from __future__ import annotations

from collections.abc import Sequence

MOST = 10
THIN = 0.05
"""The largest share of rows beyond the first gap."""


def is_count(values: Sequence[int], counts: Sequence[int]) -> bool:
    """Whether whole numbers, ascending, are a count up to ten with gaps only in its tail."""
    if len(values) < 3 or values[0] not in (0, 1) or max(values[-1], len(values)) > MOST:
        return False
    first_gap = next((i for i, value in enumerate(values) if value != values[0] + i), len(values))
    beyond = sum(counts[first_gap:])
    return first_gap >= 2 and beyond <= THIN * sum(counts)
