"""Directions in degrees: 0 and 360 are one, and stand at both ends of a column of numbers."""

from __future__ import annotations

from arbornet.data.kinds import Continuous
from arbornet.data.looks.finding import Finding
from arbornet.data.looks.look import Look
from arbornet.data.looks.seen import Seen

NAMES = frozenset({
    "direction", "dir", "aspect", "azimuth", "bearing", "heading", "winddir", "winddirection", "orientation",
    "windrichtung", "richtung",
})  # fmt: skip
_FEWEST = 12
"""Different directions."""
_LOW, _HIGH = 90, 270
"""The smallest and the largest direction lie at least so near to north."""


def direction(seen: Seen, look: Look, range_: tuple[float, float] | None) -> Finding | None:
    """That a column of numbers from 0 to 360 with such a name holds directions."""
    if look.left_out is not None or not isinstance(look.kind, Continuous) or not seen.has(NAMES) or range_ is None:
        return None
    if look.form is not None or seen.class_ not in ("integer", "number") or seen.n_distinct <= _FEWEST:
        return None
    low, high = range_
    if not 0 <= low < _LOW or not _HIGH < high <= 360:
        return None
    told = "looks like a direction in degrees: 0 and 360 are one, but stand at both ends"
    mend = (
        f"df.with_columns(pl.col({seen.name!r}).radians().cos()) keeps how far north it points; the sine, how far east"
    )
    return Finding(seen.name, told, seen.n_values, mend)
