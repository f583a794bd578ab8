"""What a spline is made of, term by term, and the child against each of its parents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from arbornet._core import ParameterError
from arbornet.data import calendar
from arbornet.data.kinds import Level
from arbornet.data.units import Knots, unbent
from arbornet.models.leaves import Counts, Histogram, LogStudentT, PointMass, ScoredStudentT, Shares
from arbornet.show.draw.spline import MOST_LINES, Response, Spline

if TYPE_CHECKING:
    from arbornet.models.local import LocalModel

#: Values of a parent of numbers at which the child is computed.
PLACES = 121


@dataclass(frozen=True)
class Factor:
    """A function of one parent within a spline's term.

    Attributes:
        variable: the parent.
        shape: "above" for `max(0, x - at)`, "below" for `max(0, at - x)`, "rising" for `x - at`, "falling" for
            `at - x`, "level" for 1 where the parent has the level, else 0.
        at: the knot or origin (of dates: days since 1970-01-01; of times: seconds; on a logarithmic scale its
            logarithm, by normal scores its score); None for a level.
        level: the level; None for a number.
        text: the factor as it stands in the term's text.
        log: on a logarithmic scale, of which x is the logarithm, what is added before that is taken.
        scores: by normal scores, of which x is one, the knots of their curve.
    """

    variable: str
    shape: str
    at: float | None = None
    level: Level | None = None
    text: str = ""
    log: float | None = None
    scores: Knots | None = None

    def value(self, x: object) -> float:
        """The factor at a value of the parent."""
        if self.at is None:
            return float(x == self.level)
        number = float(calendar.number(x))
        number = float(unbent(self.log if self.scores is None else self.scores, np.array([number]))[0])
        distance = number - self.at if self.shape in ("above", "rising") else self.at - number
        return max(0.0, distance) if self.shape in ("above", "below") else distance


@dataclass(frozen=True)
class Term:
    """A term of a spline: a coefficient (one for each level of a child with levels) times a product of factors.

    Attributes:
        text: the product, such as ``h(age - 52) * [sex = f]``, where ``h`` is zero below zero; "1" for the intercept.
        coefficients: one; or one for each observed level of the child, in their order; for one day of a date, and one
            second of a time or span of time.
        factors: empty for the intercept.
    """

    text: str
    coefficients: tuple[float, ...]
    factors: tuple[Factor, ...] = ()

    @property
    def coefficient(self) -> float:
        """The coefficient, of a child that is a number.

        Raises:
            ParameterError: If the child has levels, and so several.
        """
        if len(self.coefficients) != 1:
            raise ParameterError(f"the term {self.text} has one coefficient per level: see .coefficients")
        return self.coefficients[0]

    def __str__(self) -> str:
        return f"{' '.join(f'{c:.6g}' for c in self.coefficients)} * {self.text}"


def partial_responses(model: LocalModel) -> Spline:
    """What is drawn of a spline: the child against each parent, the others at their medians (or usual levels)."""
    told = model.spline or {}
    levels: list[Level] = told["levels"]
    # Of two levels, one determines the other.
    shown = levels[1:] if len(levels) == 2 else levels[:MOST_LINES]
    middle = {of["variable"]: of["numbers"][1] if of["numbers"] else of["usual"] for of in told["seen"]}

    def at(parent: str, value: Any) -> list[float]:
        distribution = model.distribution(middle | {parent: value})
        if isinstance(distribution, Shares):
            return [distribution.probabilities[level] for level in shown]
        others = distribution.others if isinstance(distribution, PointMass) else distribution
        if isinstance(others, LogStudentT | ScoredStudentT):
            return [others.median]
        return [others.mean if isinstance(others, Counts | Histogram) else others.location]

    responses = []
    for of in told["seen"]:
        low, _, high = of["numbers"] or (0, 0, 0)
        numbers = tuple(low + (high - low) * i / (PLACES - 1) for i in range(PLACES)) if of["numbers"] else None
        values = zip(*(at(of["variable"], x) for x in numbers or of["levels"]), strict=True)
        class_ = calendar.values(model.classes, of["variable"]) or ""
        responses.append(Response(of["variable"], numbers, tuple(map(str, of["levels"])), tuple(values), class_))
    class_ = calendar.values(model.classes, model.child) or ""
    return Spline(model.child, tuple(map(str, shown)), tuple(responses), class_)
