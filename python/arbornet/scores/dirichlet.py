"""Bayesian Dirichlet scores of levels: the marginal likelihood of a full table of categorical distributions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from arbornet.scores.base import real
from arbornet.scores.tables import Tabular


@dataclass(frozen=True, repr=False)
class BD(Tabular):
    """Bayesian Dirichlet with the same parameter for every cell.

    Args:
        alpha: the Dirichlet parameter of each cell: 1 is K2, 1/2 Jeffreys' prior.
        prior: a prior over parent sets, one of `an.priors`.
    """

    alpha: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "alpha", real("alpha", self.alpha, above=0))

    def document(self) -> dict[str, Any]:
        """Name and parameters as the core reads them."""
        return {"score": "bd", "alpha": self.alpha, **self.priors()}


@dataclass(frozen=True, repr=False)
class K2(Tabular):
    """Bayesian Dirichlet with parameter 1 for every cell (Cooper and Herskovits 1992).

    Args:
        prior: a prior over parent sets, one of `an.priors`.
    """

    def document(self) -> dict[str, Any]:
        """Name and parameters as the core reads them."""
        return {"score": "bd", "alpha": 1.0, **self.priors()}


@dataclass(frozen=True, repr=False)
class BDeu(Tabular):
    """Bayesian Dirichlet, likelihood-equivalent and uniform: the same for graphs that mean the same.

    Args:
        ess: the prior's weight in rows, spread evenly over the cells of a family.
        prior: a prior over parent sets, one of `an.priors`.
    """

    ess: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "ess", real("ess", self.ess, above=0))

    def document(self) -> dict[str, Any]:
        """Name and parameters as the core reads them."""
        return {"score": "bdeu", "ess": self.ess, **self.priors()}
