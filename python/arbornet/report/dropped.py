"""Which column costs most rows by its missing values, and how many rows leaving the column out would keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

MOST_NAMED = 3
ENOUGH = 0.9


def costliest(lacks: Mapping[str, np.ndarray]) -> tuple[tuple[str, ...], int]:
    """The columns to leave out, few of them, and how many rows are complete without them.

    One column is named if that brings back half of what is lost; else more, up to three, as long as each helps.

    Args:
        lacks: Per column, whether each row lacks its value.
    """
    count = np.sum([lack.astype(np.int64) for lack in lacks.values()], axis=0)
    n_rows = len(count)
    kept = int((count == 0).sum())
    lost = n_rows - kept
    chosen: list[str] = []
    while len(chosen) < MOST_NAMED and kept < n_rows:
        left = {name: lack for name, lack in lacks.items() if name not in chosen and lack.any()}
        gains = {name: (int(((count - lack) == 0).sum()), int(lack.sum())) for name, lack in left.items()}
        best = max(gains, key=lambda name: gains[name])
        chosen.append(best)
        count = count - lacks[best]
        kept = gains[best][0]
        if n_rows - kept <= lost / 2:
            break
    return tuple(chosen), kept


def advice(read: int, used: int, missing: Sequence[tuple[str, int]], best: tuple[tuple[str, ...], int] | None) -> str:
    """What is left and why, such as "27 of 602 rows used: 'bleed' is 96% missing; leaving it out keeps 602.".

    Args:
        read: Rows of the table.
        used: Complete rows.
        missing: Columns with the number of rows that lack their value.
        best: What `costliest` returned, if the table is at hand.
    """
    says = f"{used:,} of {read:,} rows used"
    share = dict(missing)
    names, kept = best if best is not None else ((), 0)
    if not names:
        if not missing:
            return f"{says}."
        worst, n = max(missing, key=lambda each: each[1])
        return f"{says}: {worst!r} is {_percent(n, read)} missing."
    named = [f"{name!r} is {_percent(share.get(name, 0), read)} missing" for name in names]
    them = "it" if len(names) == 1 else "them"
    return f"{says}: {_listed(named)}; leaving {them} out keeps {kept:,}."


def _percent(n: int, of: int) -> str:
    return f"{n / of:.0%}" if of and n / of >= 0.01 else "<1%"


def _listed(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
