"""Rows that are not independent: the same countries every year, the same patients at every visit, one row a month.

A column of levels has at most one row for each moment, far more often than chance would give. Or there is one row for
each moment, at equal distances, and numbers of one row tell those of the next.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from arbornet._core import MISSING
from arbornet.data.frames import Raw
from arbornet.data.infer import Profile
from arbornet.data.kinds import Continuous
from arbornet.data.looks import dates
from arbornet.data.looks.finding import Finding
from arbornet.data.looks.look import Look
from arbornet.data.looks.seen import Seen
from arbornet.data.looks.words import DATE, ID, PERSON, YEAR

WHEN = DATE | YEAR | frozenset({
    "visit", "wave", "qtr", "episode", "week", "quarter", "period", "round", "session", "occasion", "timepoint",
    "semester", "season", "age", "days", "weeks", "months", "quarters", "hours", "minutes", "times", "visits",
    "followup", "jahr", "monat", "woche", "datum", "annee", "mois", "fecha", "anno", "ano", "jaar",
})  # fmt: skip
_OF_LIFE = frozenset({"age", "birth", "dob", "born"})
FEWEST_ROWS = 20
FEWEST_EACH = 2
"""Rows of one unit, on average."""
FEWEST_UNITS = 5
FEWEST_MOMENTS = 3
UNLIKELY = 12.0
"""Pairs of rows that chance would give the same unit and moment at least; there are none."""
SAMPLE = 2_000
"""Rows by which pairs of columns are judged first."""
ALIKE = 0.8
"""The correlation of one row with the next, of numbers that follow one another."""
SURER = "such rows are not independent, and arcs look surer than they are"


def repeated(
    raw: Raw, profiles: Sequence[Profile], seen: Sequence[Seen], looks: Sequence[Look], told: set[str]
) -> Finding | None:
    """That rows belong together or follow one another; None if that does not show.

    Args:
        raw: The frame.
        profiles: What its columns hold.
        seen: The same with their names.
        looks: What they look like.
        told: Columns of which it is said already that their rows belong together.
    """
    if raw.n_rows < FEWEST_ROWS:
        return None
    times = [at for at, look in enumerate(looks) if _is_time(profiles[at], seen[at], look)]
    best: tuple[int, int, int] | None = None
    for when in times:
        moments = _codes(raw, profiles[when], when)
        if moments is None or not FEWEST_MOMENTS <= int(moments.max()) + 1 <= raw.n_rows / FEWEST_EACH:
            continue
        for at in range(len(seen)):
            if at == when or not _is_unit(profiles[at], seen[at], looks[at]):
                continue
            units = _codes(raw, profiles[at], at)
            if units is not None and _each_once(units, moments) and (best is None or units.max() + 1 < best[0]):
                best = (int(units.max()) + 1, at, when)
    if best is not None:
        n, at, when = best
        name = raw.names[at]
        if name in told:
            return None
        what = f"has {n:,} values, each with at most one row for each {raw.names[when]!r}: {SURER}"
        is_variable = looks[at].left_out is None
        return Finding(name, what, raw.n_rows, of_others(name) if is_variable else kept_together(name))
    return next(filter(None, (_series(raw, profiles, seen, looks, when) for when in times)), None)


def kept_together(name: str) -> str:
    """What to do about rows of one unit."""
    return f"groups={name!r} of an.evaluate.cross_validate and arc_strength keeps the rows of one together"


def of_others(name: str) -> str:
    """What to do about rows of one unit, where the unit is a variable, too."""
    groups = f"schema.without({name!r}) with groups={name!r} of an.evaluate.cross_validate"
    return f"{groups} says how well rows of other units are predicted"


def _is_time(one: Profile, seen: Seen, look: Look) -> bool:
    if one.n_missing or look.looks_like in ("constant", "empty"):
        return False
    return look.looks_like == "date" or (seen.has(WHEN) and one.class_ in ("integer", "number", "text"))


def _is_unit(one: Profile, seen: Seen, look: Look) -> bool:
    """Whether a column may say what its row is a row of: levels, or whole numbers with the name of an identifier."""
    if one.n_missing or look.looks_like in ("constant", "empty", "date") or look.form is not None:
        return False
    if one.class_ == "text":
        return not seen.has(WHEN - PERSON)
    named = seen.has_id_name or seen.has(PERSON | ID)
    is_levels = one.class_ == "integer" and (named or not isinstance(look.kind, Continuous))
    return is_levels and not seen.has(WHEN) and one.n_distinct != 2


def _codes(raw: Raw, one: Profile, at: int) -> NDArray[np.int64] | None:
    """Whole numbers from 0 up, by row; None where values are missing."""
    if one.class_ in ("text", "truth"):
        ranks = np.asarray(raw.ranks(at))
        return None if (ranks == MISSING).any() else np.unique(ranks, return_inverse=True)[1].astype(np.int64)
    values = np.asarray(raw.numbers(at), dtype=np.float64)
    return None if np.isnan(values).any() else np.unique(values, return_inverse=True)[1].astype(np.int64)


def _each_once(units: NDArray[np.int64], moments: NDArray[np.int64]) -> bool:
    """Whether no unit has two rows of one moment, which chance would not give."""
    n = len(units)
    counts = np.bincount(units).astype(np.float64)
    if len(counts) < FEWEST_UNITS or n < FEWEST_EACH * len(counts):
        return False
    shares = np.bincount(moments) / n
    by_chance = float((counts * (counts - 1) / 2).sum() * (shares**2).sum())
    if by_chance < UNLIKELY:
        return False
    pairs = units * len(shares) + moments
    return all(len(np.unique(rows)) == len(rows) for rows in (pairs[:SAMPLE], pairs))


def _series(
    raw: Raw, profiles: Sequence[Profile], seen: Sequence[Seen], looks: Sequence[Look], when: int
) -> Finding | None:
    """That rows follow one another in time: every moment once, at equal distances, with numbers that go on."""
    values = None if seen[when].has(_OF_LIFE) else _moments(raw, profiles[when], looks[when], when)
    if values is None or not _is_regular(np.sort(values)):
        return None
    order = np.argsort(values)
    for at, look in enumerate(looks):
        is_number = profiles[at].class_ in ("integer", "number") and isinstance(look.kind, Continuous)
        if at == when or look.left_out is not None or look.form is not None or not is_number or seen[at].has(WHEN):
            continue
        r = _next(np.asarray(raw.numbers(at), dtype=np.float64)[order])
        if r >= ALIKE:
            what = f"has one row for each moment, and {raw.names[at]!r} of one row tells that of the next "
            what += f"(correlation {r:.2f}): {SURER}"
            mend = "groups=[...] of an.evaluate.cross_validate and arc_strength keeps stretches of time together"
            return Finding(raw.names[when], what, raw.n_rows, mend)
    return None


def _moments(raw: Raw, one: Profile, look: Look, at: int) -> NDArray[np.float64] | None:
    """Moments as numbers, by row; None where they are no more than words."""
    if one.class_ != "text":
        return np.asarray(raw.numbers(at), dtype=np.float64)
    if look.form is None or look.class_ not in ("date", "datetime"):
        return None
    read = dates.read(pl.Series(raw.levels(at)[0], dtype=pl.String), look.form).to_physical().cast(pl.Float64)
    return read.fill_null(np.nan).to_numpy()[np.asarray(raw.ranks(at))]


def _is_regular(values: NDArray[np.float64]) -> bool:
    """Whether nearly all distances are alike, as those of days, months or years are."""
    steps = np.diff(values)
    middle = float(np.median(steps))
    return middle > 0 and bool((steps > 0).all()) and bool((np.abs(steps - middle) <= 0.1 * middle).mean() >= 0.9)


def _next(values: NDArray[np.float64]) -> float:
    """The correlation of the steps' ends; 0 where it cannot be told."""
    a, b = values[:-1], values[1:]
    known = ~np.isnan(a) & ~np.isnan(b)
    if known.sum() < FEWEST_ROWS / 2 or np.ptp(a[known]) == 0 or np.ptp(b[known]) == 0:
        return 0.0
    return float(np.corrcoef(a[known], b[known])[0, 1])
