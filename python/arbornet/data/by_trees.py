"""Which ways to take columns of numbers their trees prefer: a second look, after that at one leaf (`data/scales.py`).

What is skewed by itself may be even given another column, and the other way round. So a column is taken by its
logarithm or its normal scores, with a point mass, as counts or as a histogram, where that makes it more probable twice:
in one leaf, and in the best tree of one other column; and it must not lose by that in the best tree of two, nor by
normal scores in a plane of all related numbers. All are marginal likelihoods of trees whose
leaves may follow lines (`PCART(leaf="linear")`), in the user's units, a row. What the first look chose is not taken
back: a linear scale of skewed numbers, or a density where there was a point mass, may gain in the rows that were
learned from, and lose much in one row that was not.

The rows are some of all (`data/sampled.py`). Families are counted, never timed: the same columns on every machine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from arbornet._core import normal_scores
from arbornet.data.counted import FEW_VALUES, may_be_counts
from arbornet.data.frames import Raw
from arbornet.data.heaps import heaps_of
from arbornet.data.kinds import Continuous
from arbornet.data.looks.written import as_read
from arbornet.data.sampled import Sample, shift_of
from arbornet.data.scales import CLASSES, NUMBERS, WITH_POINTS, as_it_gains, could_be_point, may_be_chosen, with_scales
from arbornet.data.units import Knots
from arbornet.data.ways import FEW_ROWS, Families, stored

if TYPE_CHECKING:
    from arbornet.data.column import Column

#: Nats a row that a way has to gain in one leaf and in the best tree, and a logarithm of numbers of which some are 0;
#: and nats in all, of few rows.
WORTH_IT = 0.03
WITH_ZEROS = 0.2
IN_ALL = 10.0
#: And that a histogram has to gain over each other way: it has more to learn, and follows no line; and of how many rows
#: one is learned.
WORTH_A_SHAPE = 0.2
ROWS_OF_A_SHAPE = 300
#: And that normal scores have to gain, beside half a logarithm of the rows for each knot of their curve, which was made
#: of the same rows; over a histogram, if that would gain enough, this more; and of how many rows a curve is made.
WORTH_SCORES = 0.06
OVER_A_SHAPE = 0.1
ROWS_OF_SCORES = 100
#: What is as even as a normal distribution gains by its ends only, and is told worse by scores: skewness, or kurtosis.
SKEWED, HEAVY_TAILED = 0.5, 3.5
#: Other columns that are looked at for one, and about how many families in all.
MOST_PARENTS = 10
MOST_FAMILIES = 4_000

Numbers = NDArray[np.float64]


def chosen(raw: Raw, columns: Sequence[Column], weights: Numbers | None = None) -> list[Column]:
    """The columns, those of numbers of which nothing is declared in the way that gains: by one leaf, then by trees.

    Args:
        raw: The frame.
        columns: Its columns as they were inferred.
        weights: How often each row counts, if not all count once.
    """
    able = {column.name: column.reason for column in columns if may_be_chosen(column)}
    return _looked_again(raw, with_scales(raw, columns, weights), able, weights)


def settled(raw: Raw, columns: Sequence[Column], weights: Numbers | None = None) -> list[Column]:
    """The columns, those that were declared as `Continuous(leaf="auto")` in the way that gains.

    What else was declared of them, a step and a least number, stays.
    """
    open_ = {column.name: column.kind for column in columns if _is_open(column)}
    if not open_:
        return list(columns)
    read = as_read(raw, columns, 1)
    first = [_by_one_leaf(read, column, weights) if column.name in open_ else column for column in columns]
    able = {column.name: "as declared" for column in first if column.name in open_ and column.class_ in NUMBERS}
    made = _looked_again(read, first, able, weights)
    return [_with_support(column, open_[column.name]) if column.name in open_ else column for column in made]


def _is_open(column: Column) -> bool:
    return isinstance(column.kind, Continuous) and column.kind.leaf == "auto" and column.scale is None


def _by_one_leaf(read: Raw, column: Column, weights: Numbers | None) -> Column:
    place = read.places.get(column.name)
    if place is None or column.class_ not in NUMBERS:
        return replace(column, kind=Continuous())
    seen = read.profile_as_meant(place)
    return as_it_gains(read, replace(column, range_=seen.range_ or column.range_), place, weights)


def _with_support(column: Column, declared: Any) -> Column:
    own = column.kind
    if not isinstance(own, Continuous) or own.leaf == "counts":
        return column
    return replace(column, kind=replace(own, step=declared.step, least=declared.least))


def _looked_again(raw: Raw, columns: list[Column], able: Mapping[str, str], weights: Numbers | None) -> list[Column]:
    """The columns, some of those whose reason is given in another way than one leaf has them."""
    ours = [column for column in columns if column.name in able and column.range_ is not None]
    if not ours or sum(column.used for column in columns) < 2:
        return columns
    read = as_read(raw, [column for column in columns if column.used], 1)
    sample = Sample(read, columns, weights)
    ways = {}
    for column in ours:
        own = sample.cells[column.name]
        x = own.values[own.known]
        if len(x) >= FEW_ROWS and isinstance(column.kind, Continuous):
            everything = read.numbers(read.places[column.name])
            ways[column.name] = ways_of(x, column.kind, column.class_, everything)
            if any(way.is_scored for way in ways[column.name]) and _is_heaped(read, column, weights):
                # The curve would follow the heaps, and draws have them anyway.
                ways[column.name] = [way for way in ways[column.name] if not way.is_scored]
    # Twice: what gains is looked at with a second parent.
    n_ways = 2 * sum(1 + len(of) for of in ways.values() if of)
    most = min(MOST_PARENTS, MOST_FAMILIES // n_ways) if n_ways else 0
    kinds = {column.name: column.kind for column in columns if isinstance(column.kind, Continuous)}
    made = []
    for column in columns:
        way = None
        if most and ways.get(column.name):
            step = read.profile(read.places[column.name]).step
            curve = _curve(read, column, weights) if any(of.is_scored for of in ways[column.name]) else None
            way = _preferred(sample, column.name, kinds, ways[column.name], step, most, curve)
        why = "" if way is None else f"{able[column.name]}; {_why(way, sample, column.name)}"
        made.append(column if way is None else replace(column, kind=way, reason=why))
    return made


def _is_heaped(read: Raw, column: Column, weights: Numbers | None) -> bool:
    place = read.places[column.name]
    point = column.kind.point if isinstance(column.kind, Continuous) else None
    at = point if isinstance(point, float) else None
    return heaps_of(read.numbers(place), read.profile(place).step, at, weights) is not None


def _why(kind: Continuous, sample: Sample, name: str) -> str:
    """The way that was chosen, in words."""
    told = ["counts"] if kind.leaf == "counts" else ["by their logarithm"] if kind.is_log else []
    told = ["as a histogram"] if kind.leaf == "histogram" else ["by normal scores"] if kind.is_scored else told
    if isinstance(kind.point, float):
        own = sample.cells[name]
        weights = None if sample.weights is None else sample.weights[own.known]
        share = float(np.average(own.values[own.known] == kind.point, weights=weights))
        told.append(f"{share:.0%} of the rows hold {kind.point:g}, which has a probability of its own")
    return f"{'; '.join(told)}: more probable so, by themselves and given another column"


def ways_of(x: Numbers, now: Continuous, class_: str, everything: Numbers) -> list[Continuous]:
    """The ways in which some numbers could be taken, but for the one in which they are taken now.

    Args:
        x: The known numbers of some rows.
        now: How they are taken now.
        class_: What the values are.
        everything: The numbers of all rows, which the table has to hold in that way.
    """
    if now.leaf == "counts":
        return []
    values, counts = np.unique(x, return_counts=True)
    may_be_log = class_ in CLASSES and not bool((everything < 0).any())
    whole = class_ in WITH_POINTS and may_be_counts(everything)
    shaped = len(x) >= ROWS_OF_A_SHAPE and len(values) >= FEW_VALUES
    curved = len(x) >= ROWS_OF_SCORES and len(values) >= FEW_VALUES and class_ in CLASSES and is_uneven(x, now)
    points: list[float | None] = [now.point] if isinstance(now.point, float) else [None]
    if now.point is None and class_ in WITH_POINTS and could_be_point(counts, counts):
        points.append(float(values[np.argmax(counts)]))
    ways = []
    for point in points:
        ways += [Continuous(point=point)] if not now.is_log else []
        ways += [Continuous("log", point=point)] if may_be_log else []
        ways += [Continuous("normal_scores", point=point)] if curved else []
        ways += [Continuous(leaf="counts", point=point)] if whole and len(values) >= FEW_VALUES else []
        ways += [Continuous(leaf="histogram", point=point)] if shaped else []
    return [way for way in ways if way != now]


def is_uneven(x: Numbers, now: Continuous) -> bool:
    """Whether some numbers are skewed or have heavy tails as they are taken now, without one that many rows share."""
    own = x[x != now.point] if isinstance(now.point, float) else x
    t = np.log(own + shift_of(own)) if now.is_log else own
    size = float(np.abs(t).max(initial=0.0)) or 1.0
    away = t / size - float((t / size).mean()) if len(t) else t
    spread = float(np.sqrt((away**2).mean())) if len(t) else 0.0
    if spread == 0:
        return False
    z = away / spread
    return bool(abs((z**3).mean()) >= SKEWED or (z**4).mean() >= HEAVY_TAILED)


@dataclass(frozen=True)
class Curve:
    """The normal scores of a column, and of how many rows they are."""

    knots: Knots
    n_rows: int


def _curve(read: Raw, column: Column, weights: Numbers | None) -> Curve:
    """Of all rows, not those of the sample: what a curve of more rows says of them is less made up for them."""
    x = read.numbers(read.places[column.name])
    known = ~np.isnan(x)
    point = column.kind.point if isinstance(column.kind, Continuous) else None
    at = point if isinstance(point, float) else None
    knots = normal_scores(x[known], None if weights is None else weights[known], at)
    return Curve(knots, int(known.sum()))


def _preferred(
    sample: Sample,
    name: str,
    kinds: dict[str, Continuous],
    ways: list[Continuous],
    step: float | None,
    most: int,
    curve: Curve | None,
) -> Continuous | None:
    """The way that gains most in the best tree, if one gains enough there and in one leaf; the first under ties."""
    cells = sample.cells[name]
    weights = None if sample.weights is None else sample.weights[cells.known]
    x = cells.values[cells.known]
    # The curve is of the rows without the number that many share now.
    knots = [None if curve is None or kind.point != kinds[name].point else curve.knots for kind in (kinds[name], *ways)]
    taken = zip([kinds[name], *ways], knots, strict=True)
    family = Families(sample, name, kinds, [stored(x, kind, step, weights, own) for kind, own in taken])
    n_rows = len(x) if curve is None else curve.n_rows
    in_one = family.gains(())
    worth = max(WORTH_IT, IN_ALL / (len(x) if weights is None else weights.sum()))
    least = np.array([_least(way, worth, n_rows, has_zeros=x.min() == 0) for way in ways])
    # Trees cost a hundred times what one leaf does, and most ways do not gain enough there.
    able = np.flatnonzero(in_one[1:] > least)
    if not able.size:
        return None
    ways, least, in_one = [ways[i] for i in able], least[able], in_one[[0, *(able + 1)]]
    family.ways = [family.ways[i] for i in (0, *(able + 1))]
    near = [(other,) for other in sample.nearest(name, most)]
    gains = np.stack([in_one, *map(family.gains, near)])
    in_tree = gains.max(axis=0)
    gained = np.minimum(in_tree[1:] - in_tree[0], in_one[1:]) - least
    over = np.array([_over_others(way, n_rows) for way in ways])
    if any(gain > 0 and way.leaf == "histogram" for gain, way in zip(gained, ways, strict=True)):
        over = over + [OVER_A_SHAPE if way.is_scored else 0.0 for way in ways]
    gained = np.where(gained > 0, in_tree[1:] - over, -np.inf)
    best = int(np.argmax(gained))
    if gained[best] == -np.inf:
        return None
    # Once more, with a second parent beside that which is best either way.
    first = {near[int(np.argmax(gains[1:, way]))] for way in (0, 1 + best)} if near else set()
    two = sorted({tuple(sorted((*one, *other))) for one in first for other in near if one != other})
    again = np.stack([in_tree, *map(family.gains, two)]).max(axis=0)
    if again[1 + best] - over[best] <= again[0]:
        return None
    if ways[best].is_scored and family.in_line(0, near) >= family.in_line(1 + best, near):
        return None
    return ways[best]


def _over_others(way: Continuous, n_rows: int) -> float:
    """What a way has to gain over the other ways."""
    if way.is_scored:
        return WORTH_SCORES + min(max(n_rows // 30, 4), 32) * float(np.log(n_rows)) / (2 * n_rows)
    return WORTH_A_SHAPE if way.leaf == "histogram" else 0.0


def _least(way: Continuous, worth: float, n_rows: int, *, has_zeros: bool) -> float:
    """What a way has to gain over that of now."""
    if way.leaf == "histogram" or way.is_scored:
        return _over_others(way, n_rows)
    return WITH_ZEROS if way.is_log and way.point is None and has_zeros else worth
