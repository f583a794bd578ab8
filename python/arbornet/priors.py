"""Priors over parent sets: what a family costs before any data are seen. A score takes one as `prior=`.

an.BDeu(10, prior=an.priors.ParentCount())
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from arbornet._core import ParameterError
from arbornet.checks import real
from arbornet.scores.base import Choice

__all__ = ["EBIC", "Binomial", "Parameters", "ParentCount", "Prior", "Uniform"]


class Prior(Choice):
    """A prior over parent sets."""

    def document(self) -> dict[str, Any]:
        """Name and parameters as the core reads them."""
        raise NotImplementedError

    def __repr__(self) -> str:
        """The call that makes it, as `arbornet` names it."""
        return f"priors.{super().__repr__()}"


@dataclass(frozen=True, repr=False)
class Uniform(Prior):
    """All parent sets are equally probable."""

    def document(self) -> dict[str, Any]:
        """Name and parameters as the core reads them."""
        return {"prior": "uniform"}


@dataclass(frozen=True, repr=False)
class ParentCount(Prior):
    """All numbers of parents are equally probable, and all sets of one size: minus the log of how many these are."""

    def document(self) -> dict[str, Any]:
        """Name and parameters as the core reads them."""
        return {"prior": "parent_count"}


@dataclass(frozen=True, repr=False)
class Binomial(Prior):
    """Each other variable is a parent with the same probability.

    Args:
        expected_parents: the expected number of parents.
    """

    expected_parents: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "expected_parents", real("expected_parents", self.expected_parents, above=0))

    def document(self) -> dict[str, Any]:
        """Name and parameters as the core reads them."""
        return {"prior": "binomial", "expected_parents": self.expected_parents}


@dataclass(frozen=True, repr=False)
class EBIC(Prior):
    """Extended BIC (Chen and Chen 2008): minus `gamma ln(number of variables)` for each free parameter.

    Args:
        gamma: 0 is no prior, 0.5 is usual.
    """

    gamma: float = 0.5

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", real("gamma", self.gamma))
        if self.gamma < 0:
            raise ParameterError(f"gamma={self.gamma!r}: must be a finite number of at least 0")

    def document(self) -> dict[str, Any]:
        """Name and parameters as the core reads them."""
        return {"prior": "ebic", "gamma": self.gamma}


@dataclass(frozen=True, repr=False)
class Parameters(Prior):
    """A factor `kappa` for each free parameter.

    Args:
        kappa: above 0 and at most 1; the smaller, the fewer parameters.
    """

    kappa: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "kappa", real("kappa", self.kappa, above=0))
        if self.kappa > 1:
            raise ParameterError(f"kappa={self.kappa!r}: must be above 0 and at most 1")

    def document(self) -> dict[str, Any]:
        """Name and parameters as the core reads them."""
        return {"prior": "parameters", "kappa": self.kappa}


def __dir__() -> list[str]:
    return sorted(__all__)
