"""Which column's missing values drop the most rows, and how many rows remain if it is left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from arbornet.text.terminal import percent
from arbornet.text.visible import visible_name

MOST_GROUPS = MOST_NAMED = 3


def costliest(lacks: Mapping[str, np.ndarray]) -> tuple[tuple[str, ...], int]:
    """The columns to leave out, and how many rows are complete without them; no columns if that keeps no more rows.

    Columns missing in the same rows form one group. One group is left out if that keeps half of the rows that would be
    dropped; otherwise more, up to three.

    Args:
        lacks: Per column, whether its value is missing in each row.
    """
    groups: dict[bytes, list[str]] = {}
    for name, lack in lacks.items():
        if lack.any():
            groups.setdefault(np.packbits(lack).tobytes(), []).append(name)
    masks = {names[0]: lacks[names[0]] for names in groups.values()}
    together = {names[0]: names for names in groups.values()}
    count = np.sum([mask.astype(np.int64) for mask in masks.values()], axis=0, dtype=np.int64)
    n_rows = len(next(iter(lacks.values()))) if lacks else 0
    kept = before = int((count == 0).sum()) if masks else n_rows
    lost = n_rows - kept
    chosen: list[str] = []
    while len(chosen) < MOST_GROUPS and kept < n_rows:
        left = {name: mask for name, mask in masks.items() if name not in chosen}
        gains = {name: (int(((count - mask) == 0).sum()), int(mask.sum())) for name, mask in left.items()}
        best = max(gains, key=lambda name: gains[name])
        chosen.append(best)
        count = count - masks[best]
        kept = gains[best][0]
        if n_rows - kept <= lost / 2:
            break
    names = tuple(name for first in chosen for name in together[first]) if kept > before else ()
    return names, kept


def costs(lacks: Mapping[str, np.ndarray]) -> dict[str, int]:
    """For each column with missing values, in how many rows it is the only missing value; the most first."""
    count = np.sum([lack.astype(np.int64) for lack in lacks.values()], axis=0)
    alone = {name: int((lack & (count == 1)).sum()) for name, lack in lacks.items()}
    return dict(sorted(alone.items(), key=lambda item: (-item[1], -int(lacks[item[0]].sum()))))


MOST_TOLD = 5


def told(read: int, used: int, lacks: Mapping[str, np.ndarray]) -> str:
    """How many rows were dropped, because of which columns, and how many remain if columns are left out."""
    alone = costs(lacks)
    named = [
        f"'{visible_name(name)}' is missing in {_rows(int(lacks[name].sum()))} (the only missing value in {n:,})"
        for name, n in alone.items()
    ]
    more = f" and {len(named) - MOST_TOLD} more columns" if len(named) > MOST_TOLD else ""
    share = percent((read - used) / read)
    columns = f"{', '.join(named[:MOST_TOLD])}{more}"
    return f"{read - used:,} of {read:,} rows ({share}) have missing values: {columns}; {way_out(lacks)}"


def way_out(lacks: Mapping[str, np.ndarray]) -> str:
    """Which columns to leave out, and how many rows that keeps."""
    names, kept = costliest(lacks)
    if not names:
        return "leaving out a few columns keeps no more rows"
    return f"schema.without({', '.join(map(repr, names))}) keeps {kept:,} rows"


def advice(read: int, used: int, missing: Sequence[tuple[str, int]], best: tuple[tuple[str, ...], int] | None) -> str:
    """How many rows were used, and why: "27 of 602 rows used: 'bleed' is 96% missing; leaving it out keeps 602.".

    Args:
        read: Rows of the table.
        used: Complete rows.
        missing: Columns with the number of rows in which they are missing.
        best: What `costliest` returned, if the table is available.
    """
    says = f"{used:,} of {read:,} rows used"
    share = dict(missing)
    names, kept = best if best is not None else ((), 0)
    if not names:
        if not missing:
            return f"{says}."
        worst, n = max(missing, key=lambda each: each[1])
        return f"{says}: {worst!r} is {percent(n / read)} missing."
    them = "it" if len(names) == 1 else "them"
    if len(names) > MOST_NAMED:
        some = ", ".join(map(repr, names[: MOST_NAMED - 1]))
        most = percent(max(share.get(name, 0) for name in names) / read)
        more = len(names) - MOST_NAMED + 1
        return f"{says}: {some} and {more} more columns are up to {most} missing; leaving them out keeps {kept:,}."
    named = [f"{name!r} is {percent(share.get(name, 0) / read)} missing" for name in names]
    return f"{says}: {_listed(named)}; leaving {them} out keeps {kept:,}."


def _rows(n: int) -> str:
    return f"{n:,} row{'s' if n != 1 else ''}"


def _listed(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
