"""Bayesian Dirichlet scores of levels: the marginal likelihood of a full table of categorical distributions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from arbornet._core import ParameterError
from arbornet.checks import real
from arbornet.hooks import Hook
from arbornet.scores.base import LogProbability
from arbornet.scores.tables import Tabular
from arbornet.text.wrong_calls import helpful_class

if TYPE_CHECKING:
    from arbornet.network import BayesNet

as_network: Hook[[object], BayesNet | None] = Hook("arbornet.network.files")
"""A network as it is, one in a file by the file's path; None for anything else."""


@dataclass(frozen=True, repr=False)
class BD(Tabular):
    """Bayesian Dirichlet with the same parameter for every cell.

    Args:
        alpha: the Dirichlet parameter of each cell: 1 is K2, 1/2 Jeffreys' prior.
        prior: a prior over parent sets, one of `an.priors`.
    """

    named: ClassVar[Mapping[str, str]] = {"score": "bd"}
    log_probability: ClassVar[LogProbability] = "exact"

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

    named: ClassVar[Mapping[str, str]] = {"score": "bd"}
    log_probability: ClassVar[LogProbability] = "exact"

    def document(self) -> dict[str, Any]:
        """Name and parameters as the core reads them."""
        return {"score": "bd", "alpha": 1.0, **self.priors()}


@helpful_class
@dataclass(frozen=True, repr=False)
class BDeu(Tabular):
    """Bayesian Dirichlet, likelihood-equivalent and uniform: the same for all members of an equivalence class.

    Args:
        ess: the prior's weight in rows, spread evenly over the cells of a family.
        prior: a prior over parent sets, one of `an.priors`.
    """

    named: ClassVar[Mapping[str, str]] = {"score": "bdeu"}
    log_probability: ClassVar[LogProbability] = "exact"

    ess: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "ess", real("ess", self.ess, above=0))

    def document(self) -> dict[str, Any]:
        """Name and parameters as the core reads them."""
        return {"score": "bdeu", "ess": self.ess, **self.priors()}


@dataclass(frozen=True, repr=False)
class BDe(Tabular):
    """Bayesian Dirichlet, likelihood-equivalent, with a prior network (Heckerman, Geiger and Chickering 1995).

    A cell's parameter is `ess` times its probability under the prior network, computed exactly; with a uniform network
    it is BDeu. The network must have every variable of the table, with its levels; it may have more. Data that are
    impossible under it score minus infinity.

    Args:
        prior_network: the prior: a `BayesNet`, or the path of one (.json, or .bif, also .bif.gz).
        ess: the prior's weight in rows.
        prior: a prior over parent sets, one of `an.priors`.

    Example:
        >>> an.BDe(an.read_bif("asia.bif"), ess=10)
        BDe(prior_network=BayesNet(8 variables, 8 arcs), ess=10.0)
    """

    named: ClassVar[Mapping[str, str]] = {"score": "bde"}
    log_probability: ClassVar[LogProbability] = "exact"

    prior_network: BayesNet = field(hash=False)
    ess: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "ess", real("ess", self.ess, above=0))
        object.__setattr__(self, "prior_network", network_of("prior_network", self.prior_network))

    def document(self) -> dict[str, Any]:
        """Name and parameters as the core reads them."""
        network = json.loads(self.prior_network.handle.to_json())
        return {"score": "bde", "ess": self.ess, "network": network, **self.priors()}


def network_of(name: str, given: object) -> BayesNet:
    """A prior network, or the one in a file.

    Raises:
        ParameterError: If it is neither.
    """
    network = as_network(given)
    if network is not None:
        return network
    raise ParameterError(
        f"{name}={given!r}: give a BayesNet, such as an.read_bif(path) or an.fit(...), or the path of one"
    )
