"""Columns that have a value for some levels of another column only: the date of death where `dead` is yes.

What such a column would be elsewhere is not unknown: there may be none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from arbornet._core import MISSING
from arbornet.data.frames import Raw
from arbornet.data.infer import Profile
from arbornet.data.kinds import Continuous
from arbornet.data.looks.finding import Finding, listed
from arbornet.data.looks.look import Look
from arbornet.text.terminal import several

FEWEST_ROWS = 20
"""So many rows have a value, and so many have none."""
MOST_LEVELS = 24
SAMPLE = 2_000
"""Rows by which columns are judged first."""
MOST_NAMED = 3

Cells = NDArray[np.float64]


def absent(raw: Raw, profiles: Sequence[Profile], looks: Sequence[Look]) -> Iterator[Finding]:
    """Such columns, those with values in the same rows together."""
    used = [i for i, look in enumerate(looks) if look.left_out is None]
    gaps = [i for i in used if FEWEST_ROWS <= profiles[i].n_missing <= raw.n_rows - FEWEST_ROWS]
    by = [i for i in used if _has_levels(profiles[i], looks[i])] if gaps else []
    if not by:
        return
    together: dict[bytes, list[int]] = {}
    for i in gaps:
        known = ~np.isnan(_cells(raw, profiles, i))
        together.setdefault(np.packbits(known).tobytes(), []).append(i)
    levels = {i: _cells(raw, profiles, i) for i in by}
    for packed, those in together.items():
        known = np.unpackbits(np.frombuffer(packed, np.uint8), count=raw.n_rows).astype(bool)
        at = next((i for i in by if _decides(levels[i], known)), None)
        if at is None:
            continue
        values = raw.levels(at)[0] if profiles[at].class_ in ("text", "truth") else None
        own = np.unique(levels[at][known])
        shown = [repr(values[int(x)]) if values is not None else f"{x:g}" for x in own]
        what = f"{'is' if len(shown) == 1 else 'is one of'} {', '.join(shown)}"
        first, *others = (raw.names[i] for i in those)
        more = [several(len(others) - MOST_NAMED, "more column")] if len(others) > MOST_NAMED else []
        so = f"(so {'does' if len(others) == 1 else 'do'} {listed([*map(repr, others[:MOST_NAMED]), *more])})"
        told = f"has a value exactly where {raw.names[at]!r} {what}{' ' + so if others else ''}"
        names = ", ".join(map(repr, (first, *others)))
        it = "them" if others else "it"
        mend = f"if elsewhere there is none, and not an unknown one: schema.without({names}) leaves {it} out"
        yield Finding(first, told, int(known.sum()), mend)


def _has_levels(one: Profile, look: Look) -> bool:
    levels = look.form is None and (one.class_ == "text" or not isinstance(look.kind, Continuous))
    return levels and one.n_missing == 0 and 2 <= (one.n_distinct or 0) <= MOST_LEVELS


def _cells(raw: Raw, profiles: Sequence[Profile], i: int) -> Cells:
    """A column by row: numbers, or the ranks of its levels; NaN where there is none."""
    if profiles[i].class_ not in ("text", "truth"):
        return np.asarray(raw.numbers(i), dtype=np.float64)
    ranks = raw.ranks(i)
    return np.where(ranks == MISSING, np.nan, ranks.astype(np.float64))


def _decides(levels: Cells, known: NDArray[np.bool_]) -> bool:
    """Whether each level of a column has a value of another in all of its rows, or in none."""
    return all(
        not np.isin(levels[rows][known[rows]], levels[rows][~known[rows]]).any()
        for rows in (slice(0, SAMPLE), slice(None))
    )
