"""PCART: the best decision tree of a variable (Talvitie, Eggeling and Koivisto 2019)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from arbornet.checks import real, truth, whole
from arbornet.scores.base import LogProbability
from arbornet.scores.leaves import Leaves


@dataclass(frozen=True, repr=False)
class PCART(Leaves):
    """The posterior of the optimal tree: halvings of a number's range, thresholds of levels, groups of categories.

    `PCART()` is the PCARTp of the paper, `PCART(penalised=False)` its PCART. The priors of the leaves (`alpha`,
    `kappa`, `mean`, `a`, `nu`, `lam`, `per_variable`) are keyword arguments.

    Args:
        penalised: subtract the logarithm of the number of parent sets of the same size.
        max_splits: most halvings of one number's range on the way to a leaf.
        ess: leaves of levels as in BDeu, with this equivalent sample size, in place of `alpha`.
        published: the numbers of the authors' program, errata and all, for comparison.
        memory_limit: most megabytes that one thread's search may hold; a larger one is reported.

    Raises:
        ParameterError: If a parameter is outside its range.

    Example:
        >>> an.PCART(max_splits=4, per_variable={"age": {"nu": 3}})
        PCART(max_splits=4, per_variable={'age': {'nu': 3.0}})
    """

    named: ClassVar[Mapping[str, str]] = {"score": "pcart"}
    log_probability: ClassVar[LogProbability] = "exact"

    penalised: bool = True
    max_splits: int = 5
    ess: float | None = None
    published: bool = False
    memory_limit: int = 1024

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "penalised", truth("penalised", self.penalised))
        object.__setattr__(self, "max_splits", whole("max_splits", self.max_splits, 1, 16))
        object.__setattr__(self, "ess", None if self.ess is None else real("ess", self.ess, above=0))
        object.__setattr__(self, "published", truth("published", self.published))
        object.__setattr__(self, "memory_limit", whole("memory_limit", self.memory_limit, 1, 1 << 30))

    def document(self) -> dict[str, Any]:
        """Name and parameters as the core reads them."""
        return {
            "score": "pcart",
            "penalised": self.penalised,
            "max_splits": self.max_splits,
            "ess": self.ess,
            "priors": self.priors(),
            "published": self.published,
            "memory_mb": self.memory_limit,
        }
