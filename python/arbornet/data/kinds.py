"""What a column can be: continuous, categorical, ordinal, or numbers cut into ordered bins.

These are the words of `Schema.with_types` and of a schema's columns. Each is frozen and checked when it is made; levels
left out are taken from the data.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from numbers import Integral, Real
from typing import Literal, TypeAlias, get_args

from arbornet._core import ParameterError

Leaf: TypeAlias = Literal["normal", "linear", "lognormal", "counts", "histogram", "auto"]
"""What stands in the leaves of a column of numbers."""

Level: TypeAlias = str | int | float | bool


def _levels(levels: Iterable[Level] | None) -> tuple[Level, ...] | None:
    if levels is None:
        return None
    if isinstance(levels, str):
        raise ParameterError(f"levels={levels!r}: give a list of levels, for example {[levels]!r}")
    listed = tuple(_plain(level) for level in levels)
    seen: set[tuple[type, Level]] = set()
    for level in listed:
        if not isinstance(level, str | int | float):
            kind = type(level).__name__
            raise ParameterError(f"levels: {level!r} is of type {kind}; levels are texts, numbers or booleans")
        if isinstance(level, int) and not -(2**63) <= level < 2**63:
            raise ParameterError(f"levels: {level!r} is beyond 64 bits; give it as text, and turn the column into text")
        if isinstance(level, float) and not math.isfinite(level):
            raise ParameterError(f"levels: {level!r} is not a level; missing values need no declaration")
        if (type(level), level) in seen:
            raise ParameterError(f"levels: {level!r} is given twice; name every level once")
        seen.add((type(level), level))
    if not listed:
        raise ParameterError("levels=[]: give at least one level, or leave them out to take those of the data")
    return listed


def _plain(level: Level) -> Level:
    """A NumPy scalar as the Python value it stands for."""
    item = getattr(level, "item", None)
    return item() if callable(item) and not isinstance(level, str | int | float) else level


@dataclass(frozen=True, repr=False)
class Continuous:
    """Real numbers.

    On a logarithmic scale models are fitted to `ln(x + shift)`, as suits money, counts, durations and concentrations.
    Everything you give and get stays in your units: values, thresholds, intervals, densities. No draw and no end of an
    interval is below 0. Such a number is told by its median, since a Student t of a logarithm has no mean.

    By normal scores (also known as the rank-based inverse normal transformation) a column of any shape is a normal
    distribution by itself: each number stands for the normal quantile at its rank. The way there is a smooth curve of
    up to 33 knots, so that everything comes back in your units. It suits skewed or heavy-tailed numbers of either sign.

    Args:
        scale: `"linear"`, `"log"` for numbers of 0 or more, or `"normal_scores"`.
        shift: What is added before logarithms are taken. If left out, nothing where all numbers of the table are above
            0, otherwise half of the smallest above 0.
        step: Numbers that are drawn, and ends of intervals, are multiples of this: 1 for counts, 0.01 for prices. If
            left out, the largest number that all values of the table are multiples of, if up to six decimals write
            them; where rows are heaped at round numbers, draws are too. None for all digits, without heaps.
        least: No number that is drawn or predicted is below this: what would be counts as it. If left out, 0 where no
            value of the table is below 0. None for no limit.
        point: A number that many rows share, as the zeros of rainfall or the limit of a measurement (a point mass).
            Trees (`PCART`) and full tables (`FullTable`) give it a probability of its own in every leaf, and fit the
            leaf to all other numbers. Its
            density is this probability over the column's step, or over a thousandth of its range where it has none.
            `"auto"` takes the most frequent number where that makes the column's values much more probable.
        leaf: What stands in the leaves of the column's trees (`PCART`), whatever the score says of all others, and in
            the cells of its full tables (`FullTable`), which follow no lines:
            `"normal"`, `"linear"` as in `PCART(leaf="linear")`, `"lognormal"` for `scale="log"` with normal leaves, or
            `"counts"` for whole numbers from 0 up: a negative binomial distribution, of which each leaf has its own
            mean and spread. With `point=0` for counts of which more are 0 than that says. `"histogram"` is for numbers
            of any shape, such as those with several peaks: up to 32 cells between quantiles of the column, of which
            each leaf has its own probabilities. `"auto"` takes the scale, the point mass and the leaves that
            `scales="auto"` would, see `infer_schema`.

    Raises:
        ParameterError: If there is no such scale or leaf, the shift is below 0 or not that of a logarithmic scale, the
            step is not above 0, or leaves of counts or histograms are on a scale that is not linear.

    Example:
        >>> schema = schema.with_types(rings=an.Continuous(), income=an.Continuous(scale="log"))
        >>> schema = schema.with_types(balance=an.Continuous(step=None, least=None), rain=an.Continuous(point=0))
        >>> schema = schema.with_types(visits=an.Continuous(leaf="counts"))
    """

    scale: Literal["linear", "log", "normal_scores"] = "linear"
    shift: float | None = None
    step: float | Literal["auto"] | None = "auto"
    least: float | Literal["auto"] | None = "auto"
    point: float | Literal["auto"] | None = None
    leaf: Leaf | None = None

    def __post_init__(self) -> None:
        if self.leaf not in (None, *get_args(Leaf)):
            raise ParameterError(
                f"leaf={self.leaf!r}: choose 'normal', 'linear', 'lognormal', 'counts', 'histogram' or 'auto'"
            )
        if self.leaf == "lognormal":
            object.__setattr__(self, "scale", "log")
            object.__setattr__(self, "leaf", "normal")
        if self.scale not in ("linear", "log", "normal_scores"):
            raise ParameterError(f"scale={self.scale!r}: choose 'linear', 'log' or 'normal_scores'")
        object.__setattr__(self, "step", _number("step", self.step, "above 0"))
        object.__setattr__(self, "least", _number("least", self.least))
        object.__setattr__(self, "point", _number("point", self.point))
        if self.leaf == "counts":
            _check_counts(self)
        if self.leaf == "histogram" and self.scale != "linear":
            raise ParameterError(
                "leaf='histogram' goes with scale='linear': its cells are between quantiles, which no scale moves"
            )
        if self.leaf == "auto" and (self.scale != "linear" or self.point is not None):
            raise ParameterError("leaf='auto' chooses the scale and the point mass too: leave them out")
        if self.shift is None:
            return
        if self.scale != "log":
            raise ParameterError(f"shift={self.shift!r}: only scale='log' takes one")
        if isinstance(self.shift, bool) or not isinstance(self.shift, Real) or not 0 <= self.shift < math.inf:
            raise ParameterError(f"shift={self.shift!r}: give a number of 0 or more, or leave it out")
        object.__setattr__(self, "shift", float(self.shift))

    @property
    def is_log(self) -> bool:
        """Whether the scale is logarithmic."""
        return self.scale == "log"

    @property
    def is_scored(self) -> bool:
        """Whether numbers are taken by their normal scores."""
        return self.scale == "normal_scores"

    def __str__(self) -> str:
        known = isinstance(self.point, float)
        told = {"log": ["log"], "normal_scores": ["normal scores"]}.get(self.scale, []) + (
            [] if self.leaf is None else [self.leaf]
        )
        told += [f"point mass at {self.point:g}"] if known else []
        return f"continuous ({', '.join(told)})" if told else "continuous"

    def __repr__(self) -> str:
        told = [] if self.scale == "linear" else [f"scale={self.scale!r}"]
        told += [] if self.shift is None else [f"shift={self.shift!r}"]
        told += [f"{name}={getattr(self, name)!r}" for name in ("step", "least") if getattr(self, name) != "auto"]
        told += [f"{name}={value!r}" for name in ("point", "leaf") if (value := getattr(self, name)) is not None]
        return f"Continuous({', '.join(told)})"


def _check_counts(kind: Continuous) -> None:
    """That a column of counts has nothing that others have."""
    if kind.scale != "linear":
        raise ParameterError("leaf='counts' goes with scale='linear': what is counted are whole numbers")
    if isinstance(kind.point, float) and (kind.point < 0 or kind.point != math.floor(kind.point)):
        raise ParameterError(f"point={kind.point!r}: a number that many counts share is a whole number from 0 up")
    if kind.step not in ("auto", None, 1.0):
        raise ParameterError(f"step={kind.step!r}: the step of counts is 1")


def _number(name: str, given: object, above: str = "") -> float | Literal["auto"] | None:
    """A setting of a continuous column: a number, None, or what the values say."""
    if given is None or (isinstance(given, str) and given == "auto"):
        return None if given is None else "auto"
    if isinstance(given, bool) or not isinstance(given, Real) or not math.isfinite(given) or (above and given <= 0):
        raise ParameterError(f"{name}={given!r}: give a number{above and ' '}{above}, None, or leave it out")
    return float(given)


@dataclass(frozen=True, init=False)
class Categorical:
    """Levels without an order.

    Args:
        levels: All levels, observed or not; those of the data if left out.
        max_levels: Merge the rarest levels into one, so that this many remain; ties merge the later level first.
        other: The name of the level they are merged into.

    Raises:
        ParameterError: If a level is given twice or is not a text, number or boolean.
    """

    levels: tuple[Level, ...] | None = None
    max_levels: int | None = None
    other: str = "other"

    def __init__(
        self, levels: Iterable[Level] | None = None, *, max_levels: int | None = None, other: str = "other"
    ) -> None:
        if max_levels is not None and (not isinstance(max_levels, Integral) or max_levels < 2):
            raise ParameterError(f"max_levels={max_levels!r}: at least 2 levels must remain")
        if max_levels is not None and levels is not None:
            raise ParameterError(f"max_levels={max_levels}: levels are merged by their counts; do not declare them too")
        object.__setattr__(self, "levels", _levels(levels))
        object.__setattr__(self, "max_levels", max_levels)
        object.__setattr__(self, "other", other)

    def __str__(self) -> str:
        return "categorical"


@dataclass(frozen=True, init=False)
class Ordinal:
    """Levels in their order.

    Args:
        levels: All levels from lowest to highest, observed or not. If left out: the declared order of the data (Enum,
            ordered dictionary), else numbers by value and texts by code point.

    Raises:
        ParameterError: If a level is given twice or is not a text, number or boolean.
    """

    levels: tuple[Level, ...] | None = None

    def __init__(self, levels: Iterable[Level] | None = None) -> None:
        object.__setattr__(self, "levels", _levels(levels))

    def __str__(self) -> str:
        return "ordinal"


MOST_BINS = 1 << 20


@dataclass(frozen=True)
class Binned:
    """Numbers cut into ordered bins; an ordinal from then on.

    Args:
        k: Number of bins; fewer remain where values repeat.
        by: `"frequency"` gives each bin about as many rows, `"width"` makes each as wide.
        cuts: The upper ends of all bins but the last, ascending and in the column's own units, instead of the two. A
            value equal to a cut lies below it. `an.FayyadIrani` finds those that separate classes best.

    Raises:
        ParameterError: If `k` is below 2, `by` is another word or the cuts do not ascend.

    Example:
        >>> schema = schema.with_types(age=an.Binned(4), bmi=an.Binned(cuts=[18.5, 25, 30]))
    """

    k: int = 5
    by: Literal["frequency", "width"] = "frequency"
    cuts: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if self.cuts is not None:
            object.__setattr__(self, "cuts", _cuts(self.cuts))
        if not isinstance(self.k, Integral) or not 2 <= self.k <= MOST_BINS:
            raise ParameterError(f"k={self.k!r}: give at least 2 bins, and at most {MOST_BINS:,}")
        if self.by not in ("frequency", "width"):
            raise ParameterError(f"by={self.by!r}: bins are made by 'frequency' or by 'width'")

    def __str__(self) -> str:
        return f"ordinal ({self.k if self.cuts is None else len(self.cuts) + 1} bins)"


def _cuts(cuts: Iterable[float]) -> tuple[float, ...]:
    try:
        listed = tuple(float(cut) for cut in cuts)
    except (TypeError, ValueError):
        raise ParameterError(f"cuts={cuts!r}: give a list of numbers") from None
    if not all(map(math.isfinite, listed)) or any(low >= high for low, high in pairwise(listed)):
        raise ParameterError(f"cuts={list(listed)}: give finite numbers, each above the one before")
    return listed


Kind: TypeAlias = Continuous | Categorical | Ordinal | Binned
KindLike: TypeAlias = Kind | Literal["continuous", "categorical", "ordinal"]


def kind_of(column: str, kind: object) -> Kind:
    """The kind meant by a word, a class or a kind."""
    if isinstance(kind, Continuous | Categorical | Ordinal | Binned):
        return kind
    words: dict[object, type[Continuous] | type[Categorical] | type[Ordinal] | type[Binned]] = {
        "continuous": Continuous,
        "categorical": Categorical,
        "ordinal": Ordinal,
        Continuous: Continuous,
        Categorical: Categorical,
        Ordinal: Ordinal,
        Binned: Binned,
    }
    try:
        return words[kind]()
    except (KeyError, TypeError):
        wanted = "'continuous', 'categorical', 'ordinal', an.Categorical([...]), an.Ordinal([...]) or an.Binned(k)"
        raise ParameterError(f"{column}={kind!r}: a column is {wanted}") from None
