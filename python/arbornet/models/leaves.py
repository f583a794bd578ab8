"""What a leaf of a model says: which rows are in it, and the distribution of the child there."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from arbornet.data.kinds import Level
from arbornet.data.units import Knots, bent, to_original
from arbornet.text.visible import visible, visible_name


@dataclass(frozen=True)
class Condition:
    """Some values of one parent: numbers `low <= x < high` (None is no bound), or any of `levels`."""

    variable: str
    text: str
    low: float | None = None
    high: float | None = None
    levels: tuple[Level, ...] | None = None

    def holds(self, value: Level) -> bool:
        """Whether a value is among them."""
        if self.levels is not None:
            return value in self.levels
        # Numbers have bounds, and only of numbers is the value a number.
        return (self.low is None or value >= self.low) and (self.high is None or value < self.high)  # type: ignore[operator]

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Shares:
    """Probabilities of the child's levels, in their order."""

    probabilities: Mapping[Level, float]

    @property
    def mode(self) -> Level:
        """The most probable level, the first under ties."""
        return max(self.probabilities, key=lambda level: self.probabilities[level])


@dataclass(frozen=True)
class StudentT:
    """Student's t distribution of a number: the predictive distribution of a normal with unknown mean and variance."""

    location: float
    scale: float
    df: float

    @property
    def mean(self) -> float | None:
        """The mean; None with one degree of freedom or less, which has none."""
        return self.location if self.df > 1 else None

    @property
    def sd(self) -> float | None:
        """The standard deviation; None with two degrees of freedom or less, which has none."""
        return float(self.scale * (self.df / (self.df - 2)) ** 0.5) if self.df > 2 else None


@dataclass(frozen=True)
class LogStudentT:
    """Of a number `x` on a logarithmic scale: Student's t distribution of `ln(x + shift)`.

    Attributes:
        location: Its centre, as a logarithm.
        scale: Its scale, in logarithms.
        df: Degrees of freedom.
        shift: What is added before the logarithm is taken.
    """

    location: float
    scale: float
    df: float
    shift: float = 0.0

    @property
    def median(self) -> float:
        """Half of all values are above it."""
        return float(to_original((self.location, 1.0, self.shift), np.zeros(1))[0])

    @property
    def factor(self) -> float:
        """One standard deviation of the logarithm as a factor of the median (of `median + shift`).

        With two degrees of freedom or less, which have no standard deviation, one scale.
        """
        spread = self.scale * (self.df / (self.df - 2)) ** 0.5 if self.df > 2 else self.scale
        return math.exp(min(spread, 700.0))

    @property
    def mean(self) -> None:
        """There is none: the tails of a Student t are too heavy for a logarithm."""
        return

    @property
    def sd(self) -> None:
        """There is none."""
        return


@dataclass(frozen=True)
class ScoredStudentT:
    """Of a number that is taken by its normal score: Student's t distribution of that.

    Attributes:
        location: Its centre, as a score.
        scale: Its scale, in scores.
        df: Degrees of freedom.
        deciles: Below these are 10%, 50% and 90% of all values.
        scores: The knots of the curve from scores to numbers.
    """

    location: float
    scale: float
    df: float
    deciles: tuple[float, float, float]
    scores: Knots

    @property
    def median(self) -> float:
        """Half of all values are above it."""
        return float(bent(self.scores, np.array([self.location]))[0])

    @property
    def mean(self) -> None:
        """Not told: the median is."""
        return

    @property
    def sd(self) -> None:
        """Not told: the deciles are."""
        return


@dataclass(frozen=True)
class Counts:
    """Of whole numbers from 0 up: a negative binomial distribution.

    Attributes:
        mean: The mean.
        sd: The standard deviation, with the mean as it is known.
        size: None if the leaf's counts are as even as Poisson ones; otherwise the variance is `mean + mean**2 / size`
            (without a number that has a probability of its own).
    """

    mean: float
    sd: float
    size: float | None = None


@dataclass(frozen=True)
class Histogram:
    """Of a number of any shape: within each cell all numbers are equally probable.

    Attributes:
        edges: Where the cells begin, and where the last ends.
        probabilities: The probability of each cell. What is left over lies beyond the ends, half on either side.
        mean: The mean.
        sd: The standard deviation.
        tails: How far beyond the ends, below and above: more than `t` has the probability `(1 + t / tail) ** -3` there.
    """

    edges: tuple[float, ...]
    probabilities: tuple[float, ...]
    mean: float
    sd: float
    tails: tuple[float, float]


@dataclass(frozen=True)
class PointMass:
    """A number with a probability of its own, such as 0 of rainfall, and the distribution of all others.

    Attributes:
        value: The number.
        probability: Its probability.
        others: The distribution of the numbers that are not this one.
    """

    value: float
    probability: float
    others: StudentT | LogStudentT | ScoredStudentT | Counts | Histogram

    @property
    def mean(self) -> float | None:
        """The mean; None where the others have none."""
        others = self.others.mean
        return None if others is None else self.probability * self.value + (1 - self.probability) * others

    @property
    def sd(self) -> float | None:
        """The standard deviation; None where the others have none."""
        mean, sd = self.others.mean, self.others.sd
        if mean is None or sd is None:
            return None
        distance = self.probability * (mean - self.value) ** 2
        return float(((1 - self.probability) * (sd**2 + distance)) ** 0.5)


Distribution = Shares | StudentT | LogStudentT | ScoredStudentT | Counts | Histogram | PointMass


def _brief(of: Distribution) -> str:
    if isinstance(of, PointMass):
        return f"{of.probability:.1%} {of.value:g}, else {_brief(of.others)}"
    if isinstance(of, Shares):
        return ", ".join(f"{visible_name(level)} {share:.1%}" for level, share in of.probabilities.items())
    if isinstance(of, Counts):
        return f"mean {of.mean:.4g}, sd {of.sd:.4g}" + ("" if of.size is None else f", size {of.size:g}")
    if isinstance(of, Histogram):
        return f"mean {of.mean:.4g}, sd {of.sd:.4g}, {len(of.probabilities)} cells"
    if isinstance(of, LogStudentT):
        return f"median {of.median:.5g}, factor {of.factor:.4g}, {of.df:g} degrees of freedom"
    if isinstance(of, ScoredStudentT):
        low, middle, high = of.deciles
        return f"median {middle:.5g}, 80% between {low:.5g} and {high:.5g}, {of.df:g} degrees of freedom"
    return f"location {of.location:.5g}, scale {of.scale:.4g}, {of.df:g} degrees of freedom"


@dataclass(frozen=True)
class Slope:
    """How a line follows one parent, in the user's units: by `slope` for each one of it.

    Attributes:
        variable: The parent's name.
        slope: By how much the child rises for each one of the parent.
        at: A round number near the parent's mean, at which the leaf's distribution is told.
        low: The least that a training row of the leaf held; below it predictions no longer change.
        high: The most; above it likewise.
        log: None; for a parent on a logarithmic scale what that adds, and the slope is for each one of the logarithm.
            The child rises likewise: of one on such a scale the logarithm does.
        scores: None; for a parent by normal scores the knots of their curve, and the slope is for each one of the
            score. The child rises likewise: of one by normal scores the score does.
    """

    variable: str
    slope: float
    at: float
    low: float
    high: float
    log: float | None = None
    scores: Knots | None = None


@dataclass(frozen=True, repr=False)
class Leaf:
    """A region of the parents' values: its conditions, its training rows, and the distribution of the child.

    Where branches merge, as in a decision graph, `conditions` is the first path and `also` holds the others (of very
    many, the first). With a regression the distribution is that at the means of the parents in its `formula`; with
    a line, that where each of its `slopes` is `at`.
    """

    conditions: tuple[Condition, ...]
    n: int
    distribution: Distribution
    also: tuple[tuple[Condition, ...], ...] = ()
    formula: str | None = None
    slopes: tuple[Slope, ...] = ()

    def __repr__(self) -> str:
        where = visible(" and ".join(map(str, self.conditions)) or "all rows")
        ways = f", {len(self.also)} more ways here" if self.also else ""
        formula = f", {visible(self.formula)}" if self.formula else ""
        return f"<Leaf: {where}{ways}; {self.n:,} rows; {_brief(self.distribution)}{formula}>"
