"""Numbers that two other columns make: a sum, a product, or one column times a factor, in every row up to rounding.

`total` is `price` times `quantity`, and a network that predicts it from both says nothing. Pairs are looked at in a few
rows first, in which all of them are known; what fits there is checked in the first rows, then in all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from arbornet.data.frames import Raw
from arbornet.data.infer import Profile
from arbornet.data.looks.finding import Finding
from arbornet.data.looks.look import Look

MOST_COLUMNS = 60
"""More numbers are not looked at in pairs."""
FEWEST_ROWS = 30
FEWEST_VALUES = 12
"""A column of fewer numbers may fit by chance."""
SAMPLE = 2_000
PROBES = 12
EXACT = 1e-9
MOSTLY = 0.5
"""The least share of the rows in which all of the columns are known."""

Numbers = NDArray[np.float64]


def plain_numbers(raw: Raw, profiles: Sequence[Profile], looks: Sequence[Look], told: set[str]) -> list[int]:
    """The columns of numbers that are used as they are, without those of which enough is told."""
    return [
        at
        for at, look in enumerate(looks)
        if look.left_out is None
        and look.form is None
        and profiles[at].class_ in ("integer", "number")
        and raw.names[at] not in told
    ]


def derived(raw: Raw, profiles: Sequence[Profile], looks: Sequence[Look], told: set[str]) -> Iterator[Finding]:
    """Columns of numbers that others make, the later of those that make one another.

    Args:
        raw: The frame.
        profiles: What its columns hold.
        looks: What they look like.
        told: Columns that are known to be copies, and are neither looked at nor named.
    """
    used = plain_numbers(raw, profiles, looks, told)
    if not 2 <= len(used) <= MOST_COLUMNS or raw.n_rows < FEWEST_ROWS:
        return
    first = {at: np.asarray(raw.numbers(at), dtype=np.float64)[:SAMPLE] for at in used}
    used = [at for at in used if len(np.unique(first[at][~np.isnan(first[at])])) >= 2]
    known = np.flatnonzero(~np.isnan([first[at] for at in used]).any(axis=0)) if used else np.zeros(0, dtype=np.int64)
    probes = known[:: max(1, len(known) // PROBES)][:PROBES]
    for at in reversed(used):
        if len(np.unique(first[at][~np.isnan(first[at])])) < FEWEST_VALUES:
            continue
        others = [other for other in used if other != at]
        with np.errstate(all="ignore"):  # of products of large numbers
            way = _way(raw, profiles, first, probes, at, others)
        if way is not None:
            used = others  # what is made of it is made of what makes it
            what = f"is {way} in every row, but for rounding"
            yield Finding(raw.names[at], what, raw.n_rows, f"schema.without({raw.names[at]!r})")


def _way(
    raw: Raw,
    profiles: Sequence[Profile],
    first: dict[int, Numbers],
    probes: NDArray[np.int64],
    at: int,
    others: list[int],
) -> str | None:
    """How others make a column; None if they do not."""
    y, room = first[at], _rounding(profiles[at])
    whole = _all(raw, at)
    for a in others:
        if _factor(first[a], y, room) is not None and (factor := _factor(_all(raw, a), whole, room)) is not None:
            return f"{factor:.3g} times {raw.names[a]!r}"
    if len(others) < 2:
        return None
    few = np.array([first[a][probes] for a in others])
    for word in _WAYS:
        made = _made(few[:, None, :], few[None, :, :], word)
        fits = (np.abs(made - y[probes]) <= _allowed(y[probes], room)).all(axis=2)
        for i, j in np.argwhere(fits):
            a, b = others[i], others[j]
            if a == b or (word != "minus" and a > b) or not _fits(_made(first[a], first[b], word), y, room):
                continue
            if _fits(_made(_all(raw, a), _all(raw, b), word), whole, room):
                return f"{raw.names[a]!r} {word} {raw.names[b]!r}"
    return None


_WAYS = ("plus", "times", "minus")


def _made(a: Numbers, b: Numbers, word: str) -> Numbers:
    return a * b if word == "times" else a + b if word == "plus" else a - b


def _all(raw: Raw, at: int) -> Numbers:
    return np.asarray(raw.numbers(at), dtype=np.float64)


def _rounding(one: Profile) -> float:
    """How far a value may be from what makes it, as it is rounded."""
    return 0.0 if one.step is None else 0.5 * one.step


def _factor(a: Numbers, y: Numbers, room: float) -> float | None:
    """The factor that makes one column of another: the middle of those that fit every row; None if none does, or 1."""
    known = ~np.isnan(a) & ~np.isnan(y) & (a != 0)
    if known.sum() < max(FEWEST_ROWS, MOSTLY * len(y)):
        return None
    allowed = _allowed(y[known], room)
    ends = np.array([(y[known] - allowed) / a[known], (y[known] + allowed) / a[known]])
    factor = float(ends.min(axis=0).max() + ends.max(axis=0).min()) / 2
    is_one = ends.min(axis=0).max() <= 1 <= ends.max(axis=0).min()
    return None if is_one or factor == 0 or not _fits(factor * a, y, room) else factor


def _fits(made: Numbers, y: Numbers, room: float) -> bool:
    """Whether a column is what was made, up to rounding, wherever both are known, and that is often enough."""
    known = ~np.isnan(made) & ~np.isnan(y)
    if known.sum() < max(FEWEST_ROWS, MOSTLY * len(y)):
        return False
    made, y = made[known], y[known]
    # What varies by little more than the rounding says nothing.
    return float(np.ptp(y)) > 10 * room and bool((np.abs(made - y) <= _allowed(y, room)).all())


def _allowed(y: Numbers, room: float) -> float:
    """How far a value may be from what makes it; a little more than the rounding, as floats round too."""
    return room * 1.01 + EXACT * float(np.abs(y).max(initial=0))
