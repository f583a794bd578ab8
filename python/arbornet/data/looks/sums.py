"""Numbers that three or more other columns add up to: the score of a scale, the total of many counts, shares of 100.

Columns are taken one after another, those that vary least first, so that a sum comes after what it sums. One that lies
in the span of those before it (Gram and Schmidt) is looked at: its weights have to be equal but for their sign (items
that were asked the other way round), and to add up to it in every row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arbornet.data.frames import Raw
from arbornet.data.infer import Profile
from arbornet.data.looks.derived import plain_numbers
from arbornet.data.looks.finding import Finding, listed
from arbornet.data.looks.look import Look

FEWEST_ROWS = 30
FEWEST_VALUES = 5
FEWEST_PARTS = 3
MOST_COLUMNS = 250
SAMPLE = 2_000
ROWS_EACH = 3
"""Rows for each column at least: in fewer rows some columns add up by chance."""
EXACT = 1e-9
NEAR = 0.05
"""How far estimated weights may be from equal, before they are taken as equal and checked."""
MOST_NAMED = 3
MOSTLY = 0.5
"""The least share of the rows in which all of the columns are known."""

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class _Sum:
    """A column as the constant plus the weight times its parts with their signs."""

    parts: list[int]
    signs: list[int]
    weight: float
    constant: float


def added_up(raw: Raw, profiles: Sequence[Profile], looks: Sequence[Look], told: set[str]) -> Iterator[Finding]:
    """Columns that others add up to.

    Args:
        raw: The frame.
        profiles: What its columns hold.
        looks: What they look like.
        told: Columns that are known to follow from others, and are neither looked at nor named.
    """
    used = plain_numbers(raw, profiles, looks, told)
    if not FEWEST_PARTS < len(used) <= MOST_COLUMNS or raw.n_rows < FEWEST_ROWS:
        return
    whole = {at: np.asarray(raw.numbers(at), dtype=np.float64) for at in used}
    known = np.flatnonzero(~np.isnan(np.array([whole[at] for at in used])).any(axis=0))[:SAMPLE]
    if len(known) < max(FEWEST_ROWS, ROWS_EACH * len(used)):
        return
    few = {at: whole[at][known] for at in used}
    used = [at for at in used if np.isfinite(few[at]).all() and np.ptp(few[at]) > 0]
    used.sort(key=lambda at: (not profiles[at].whole, float(few[at].std()), at))
    basis = _Basis(len(known))
    for at in used:
        room = 0.0 if profiles[at].whole or profiles[at].step is None else 0.51 * (profiles[at].step or 0.0)
        weights = basis.weights(few[at], room)
        if weights is None:
            basis.add(at, few[at])
            continue
        if len(np.unique(few[at])) < FEWEST_VALUES or np.ptp(few[at]) <= 10 * room:
            continue
        found = _equal(weights, few[at], few, room)
        if found is not None and _holds(whole[at], found, whole, room):
            what = f"is {_words(raw.names, found)} in every row" + (", but for rounding" if room else "")
            yield Finding(raw.names[at], what, raw.n_rows, f"schema.without({raw.names[at]!r})")


class _Basis:
    """Columns without their means that do not lie in the span of one another."""

    def __init__(self, n_rows: int) -> None:
        self.at: list[int] = []
        self.unit: list[Numbers] = []
        self.by: list[Numbers] = []
        """Each unit vector by the columns: with which weights they make it."""
        self.n_rows = n_rows

    def _rest(self, x: Numbers) -> tuple[Numbers, Numbers]:
        """What the columns leave of another, and how much of each unit vector it has."""
        rest, share = x - x.mean(), np.zeros(len(self.unit))
        if self.unit:
            units = np.array(self.unit)
            for _ in range(2):  # once more, as rounding leaves some of them
                more = units @ rest
                rest, share = rest - more @ units, share + more
        return rest, share

    def weights(self, x: Numbers, room: float) -> dict[int, float] | None:
        """With which weights the columns make another up to rounding; None if they do not."""
        rest, share = self._rest(x)
        scale = float(np.abs(x - x.mean()).max())
        if len(self.at) < FEWEST_PARTS or float(np.abs(rest).max()) > max(room, EXACT * scale):
            return None
        made = sum((a * by for a, by in zip(share, self._padded(), strict=True)), np.zeros(len(self.at)))
        return dict(zip(self.at, made.tolist(), strict=True))

    def add(self, at: int, x: Numbers) -> None:
        """One more column, which does not lie in the span of the others."""
        rest, share = self._rest(x)
        length = float(np.sqrt(rest @ rest))
        if length <= EXACT * float(np.sqrt(self.n_rows)) * float(np.abs(x - x.mean()).max()):
            return
        by = -sum((a * each for a, each in zip(share, self._padded(), strict=True)), np.zeros(len(self.at)))
        self.at.append(at)
        self.unit.append(rest / length)
        self.by.append(np.append(by, 1.0) / length)

    def _padded(self) -> list[Numbers]:
        return [np.pad(each, (0, len(self.at) - len(each))) for each in self.by]


def _equal(weights: dict[int, float], y: Numbers, few: dict[int, Numbers], room: float) -> _Sum | None:
    """Weights that are one number but for their sign, 1 or one part of the whole; None if they are not."""
    largest = max(map(abs, weights.values()))
    parts = [at for at, weight in weights.items() if abs(weight) > NEAR * largest]
    sizes = [abs(weights[at]) for at in parts]
    if len(parts) < FEWEST_PARTS or max(sizes) > (1 + NEAR) * float(np.median(sizes)):
        return None
    if min(sizes) < (1 - NEAR) * float(np.median(sizes)):
        return None
    weight = min((1.0, 1.0 / len(parts)), key=lambda each: abs(each - float(np.median(sizes))))
    if abs(weight - float(np.median(sizes))) > NEAR * weight:
        return None
    signs = [1 if weights[at] > 0 else -1 for at in parts]
    made = weight * sum(sign * few[at] for sign, at in zip(signs, parts, strict=True))
    constant = float(np.median(y - made))
    nearest = round(constant, 6)
    return _Sum(parts, signs, weight, nearest if abs(nearest - constant) <= max(room, 1e-6) else constant)


def _holds(y: Numbers, found: _Sum, whole: dict[int, Numbers], room: float) -> bool:
    """Whether the parts add up wherever all are known, and that is often enough."""
    parts = np.array([sign * whole[at] for sign, at in zip(found.signs, found.parts, strict=True)])
    made = found.constant + found.weight * parts.sum(axis=0)
    known = ~np.isnan(made) & ~np.isnan(y)
    if known.sum() < max(FEWEST_ROWS, MOSTLY * (~np.isnan(y)).sum()):
        return False
    allowed = room * 1.01 + EXACT * float(np.abs(y[known]).max())
    return bool((np.abs(made[known] - y[known]) <= allowed).all())


def _words(names: Sequence[str], found: _Sum) -> str:
    plus = [names[at] for at, sign in sorted(zip(found.parts, found.signs, strict=True)) if sign > 0]
    minus = [names[at] for at, sign in sorted(zip(found.parts, found.signs, strict=True)) if sign < 0]
    what = "sum" if found.weight == 1 else "mean"
    if what == "mean":
        less = (
            f", where {_named(minus)} {'counts' if len(minus) == 1 else 'count'} the other way round" if minus else ""
        )
        return f"the mean of {_named([names[at] for at in sorted(found.parts)])}{less}"
    said = [] if found.constant == 0 else [f"{found.constant:.6g}"]
    said += [f"the sum of {_named(plus)}"] if plus else []
    return " plus ".join(said) + (
        f" minus the sum of {_named(minus)}" if len(minus) > 1 else f" minus {minus[0]!r}" if minus else ""
    )


def _named(names: Sequence[str]) -> str:
    shown = [repr(name) for name in names[:MOST_NAMED]]
    more = len(names) - MOST_NAMED
    return listed([*shown, f"{more} more column{'s' if more > 1 else ''}"] if more > 0 else shown)
