"""A table of counts: levels of some columns in every combination, and in a last column how often each occurs."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from arbornet.data.frames import Raw
from arbornet.data.infer import Profile
from arbornet.data.looks.finding import Finding
from arbornet.data.looks.look import Look
from arbornet.data.looks.seen import Seen

NAMES = frozenset({"freq", "frequency", "frequencies", "count", "counts", "n", "weight", "weights", "anzahl"})
MOST_LEVELS = 50
MOSTLY = 0.5
"""The share of the combinations that have a row of their own."""


def counted_rows(raw: Raw, profiles: Sequence[Profile], seen: Sequence[Seen], looks: Sequence[Look]) -> Finding | None:
    """The column that says how often each row counts, if one looks so by its name and by the other columns."""
    used = [i for i, look in enumerate(looks) if look.left_out is None]
    named = [i for i in used if seen[i].words & NAMES and _is_of_counts(profiles[i])]
    if len(named) != 1 or len(used) < 3:
        return None
    others = [i for i in used if i != named[0]]
    n_levels = [profiles[i].n_distinct or 0 for i in others]
    if not all(2 <= n <= MOST_LEVELS for n in n_levels) or raw.n_rows < MOSTLY * math.prod(n_levels):
        return None
    code = np.zeros(raw.n_rows, dtype=np.int64)
    for i, n in zip(others, n_levels, strict=True):
        column = raw.ranks(i) if profiles[i].class_ in ("text", "truth") else raw.numbers(i)
        code = code * (n + 1) + np.unique(column, return_inverse=True)[1]
    if len(np.unique(code)) < raw.n_rows:
        return None
    name = seen[named[0]].name
    return Finding(
        name, "may say how often its row counts: all other columns hold each combination of their levels once",
        raw.n_rows, f"an.learn(df, weights={name!r})",
    )  # fmt: skip


def _is_of_counts(one: Profile) -> bool:
    return one.class_ in ("integer", "number") and one.whole and one.range_ is not None and one.range_[0] >= 0
