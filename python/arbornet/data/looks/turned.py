"""A table with its variables in rows and its observations in columns, as exports of laboratories have them.

The first column names the variables: texts that all differ. All others hold the same quantities, so that they put the
rows in nearly the same order (Kendall's coefficient of concordance) and are of the same size, or are numbers but for
the same few rows, which hold levels.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from arbornet.data.frames import Raw
from arbornet.data.looks.finding import Finding
from arbornet.data.looks.seen import Seen

FEWEST_COLUMNS = 6
FEWEST_ROWS = 10
MOST_LOOKED_AT = 60
"""So many of the columns tell."""
CONCORDANT = 0.9
SAME_SIZE = 2.0
"""How many times the smallest median of a column the largest may be."""
MOSTLY = 0.8
YEARS = r"^\D?\d{4}$"
"""Columns that are years hold one variable over time."""


def turned(raw: Raw, seen: Sequence[Seen]) -> Finding | None:
    """That variables seem to stand in rows; None if they do not.

    What else looks wrong in columns of text follows from that.
    """
    first, others = seen[0], list(range(1, len(seen)))
    if len(others) < FEWEST_COLUMNS or raw.n_rows < FEWEST_ROWS:
        return None
    if first.class_ != "text" or first.n_missing or first.n_distinct < raw.n_rows:
        return None
    if pl.Series([seen[at].name for at in others]).str.contains(YEARS).all():
        return None
    looked = others[:MOST_LOOKED_AT]
    classes = {seen[at].class_ for at in others}
    if classes <= {"integer", "number"}:
        if not _same_quantities(np.array([raw.numbers(at) for at in looked], dtype=np.float64)):
            return None
        why = "all other columns put the rows in nearly the same order"
    elif classes == {"text"} and (named := _same_words(raw, looked)):
        more = f" and {len(named) - 1} more" if len(named) > 1 else ""
        why = f"all other columns are numbers but for {_text(raw, 0, named[0])!r}{more}"
    else:
        return None
    what = f"names variables, which seem to stand in rows: {why}"
    line = f"df.transpose(include_header=True, header_name='row', column_names={first.name!r})"
    return Finding(first.name, what, raw.n_rows, f"if so: {line}")


def _same_quantities(columns: NDArray[np.float64]) -> bool:
    """Whether columns are of one size and order the rows alike."""
    if np.isnan(columns).mean() > 1 - MOSTLY:
        return False
    medians = np.abs(np.nanmedian(columns, axis=1))
    if medians.min() == 0 or medians.max() > SAME_SIZE * medians.min():
        return False
    known = columns[:, ~np.isnan(columns).any(axis=0)]
    m, n = known.shape
    if n < FEWEST_ROWS:
        return False
    ranks = np.array([pl.Series(each).rank("average").to_numpy() for each in known])
    return bool(ranks.sum(axis=0).var() / (m * m * (n * n - 1) / 12) > CONCORDANT)


def _same_words(raw: Raw, columns: Sequence[int]) -> list[int]:
    """The rows that hold no number in nearly all columns of text, but few different texts; none if others do too."""
    lacking = np.zeros(raw.n_rows)
    for at in columns:
        levels = pl.Series(raw.levels(at)[0], dtype=pl.String).str.strip_chars_start("<>=≤≥~ ")
        is_word = levels.cast(pl.Float64, strict=False).is_null().to_numpy()
        ranks = np.asarray(raw.ranks(at))
        there = ranks < len(is_word)
        lacking[there] += is_word[ranks[there]]
    rows = np.flatnonzero(lacking >= MOSTLY * len(columns))
    if len(rows) == 0 or len(rows) > (1 - MOSTLY) * raw.n_rows:
        return []
    some = [row for row in rows if len({_text(raw, at, int(row)) for at in columns}) <= len(columns) / 2]
    return [int(row) for row in rows] if some and lacking.sum() <= lacking[rows].sum() + MOSTLY * raw.n_rows else []


def _text(raw: Raw, at: int, row: int) -> str:
    rank = int(raw.ranks(at)[row])
    levels = raw.levels(at)[0]
    return str(levels[rank]) if rank < len(levels) else ""
