"""Full tables: a distribution for every joint configuration of the parents, numbers cut into quantile bins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from arbornet.checks import truth, whole
from arbornet.scores.base import LogProbability
from arbornet.scores.leaves import Leaves


@dataclass(frozen=True, repr=False)
class FullTable(Leaves):
    """The best table over all ways to cut continuous and ordinal parents into quantile bins.

    `FullTable()` is the FTp of Talvitie, Eggeling and Koivisto (2019), `FullTable(penalised=False)` its FT. The priors
    of the leaves (`alpha`, `kappa`, `mean`, `a`, `nu`, `lam`, `per_variable`) are keyword arguments. In the cells of a
    number stands what its column says: `Continuous(scale=)`, `point=`, and leaves of counts or with a histogram; lines
    are refused.

    Args:
        penalised: subtract the logarithm of the number of parent sets of the same size.
        max_bins: the largest number of bins tried; the smallest is 2.
        normalised: charge each cut parent `ln(max_bins - 1)`, the uniform prior over numbers of bins.
        published: the numbers of the authors' program, errata and all, for comparison.

    Raises:
        ParameterError: If a parameter is outside its range.

    Example:
        >>> an.FullTable(max_bins=5)
        FullTable(max_bins=5)
    """

    named: ClassVar[Mapping[str, str]] = {"score": "full_table"}
    log_probability: ClassVar[LogProbability] = "exact"

    penalised: bool = True
    max_bins: int = 7
    normalised: bool = True
    published: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "penalised", truth("penalised", self.penalised))
        object.__setattr__(self, "max_bins", whole("max_bins", self.max_bins, 2, 64))
        object.__setattr__(self, "normalised", truth("normalised", self.normalised))
        object.__setattr__(self, "published", truth("published", self.published))

    def document(self) -> dict[str, Any]:
        """Name and parameters as the core reads them."""
        return {
            "score": "full_table",
            "penalised": self.penalised,
            "max_bins": self.max_bins,
            "normalised": self.normalised,
            "priors": self.priors(),
            "published": self.published,
        }
