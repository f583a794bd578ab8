"""MARS: splines as local models, judged by generalised cross-validation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from arbornet._core import ParameterError
from arbornet.checks import real, whole
from arbornet.scores.base import ScoreParameters


@dataclass(frozen=True, repr=False)
class MARS(ScoreParameters):
    """Multivariate adaptive regression splines: sums of products of hinges `max(0, x - cut)` of the parents.

    The score is minus the generalised cross-validation (GCV) of a child with (population) standard deviation one, as in
    Sharma and van Beek (2022); it is not in logarithms. With `criterion="bic"` it is the BIC of the fitted model, which
    other scores can be compared with. Children with levels have one indicator column a level, all on one basis.

    Args:
        degree: the most factors of a term; 1 for a sum of functions of one parent each.
        penalty: what a knot costs in the GCV; by default 2 for degree 1, else 3.
        criterion: what a spline is judged by: "gcv" or "bic".
        compatible: "earth" for the numbers of R's earth: its thresholds depend on the parents' units, its queue skips
            terms that follow a factor's, and a child with two levels has one column.

    Raises:
        ParameterError: If a parameter is outside its range.

    Example:
        >>> an.local_score(table, "readmitted", ["age"], an.MARS(degree=2))
    """

    degree: int = 10
    penalty: float | None = None
    criterion: Literal["gcv", "bic"] = "gcv"
    compatible: Literal["earth"] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "degree", whole("degree", self.degree, 1, 100))
        if self.penalty is not None:
            penalty = real("penalty", self.penalty)
            if not 0 <= penalty <= 1000:
                raise ParameterError(f"penalty={self.penalty!r}: must be a number from 0 to 1000, or None")
            object.__setattr__(self, "penalty", penalty)
        if self.criterion not in ("gcv", "bic"):
            raise ParameterError(f"criterion={self.criterion!r}: must be 'gcv' or 'bic'")
        if self.compatible not in (None, "earth"):
            raise ParameterError(f"compatible={self.compatible!r}: must be 'earth' or None")

    def document(self) -> dict[str, Any]:
        """Name and parameters as the core reads them."""
        return {
            "score": "mars",
            "degree": self.degree,
            "penalty": self.penalty,
            "criterion": self.criterion,
            "compatible": self.compatible,
        }
