"""Log-likelihood of levels under a full table, alone or with the penalty of AIC or BIC."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from arbornet.scores.base import LogProbability
from arbornet.scores.tables import Tabular


@dataclass(frozen=True, repr=False)
class LogLikelihood(Tabular):
    """Log-likelihood of levels under a full table. More parents never score lower: it needs a limit on their number.

    Args:
        prior: a prior over parent sets, one of `an.priors`.
    """

    def document(self) -> dict[str, Any]:
        """Name and parameters as the core reads them."""
        return {"score": "likelihood", "penalty": "none", **self.priors()}


@dataclass(frozen=True, repr=False)
class AIC(Tabular):
    """Log-likelihood of levels under a full table, less one for each free parameter.

    Args:
        prior: a prior over parent sets, one of `an.priors`.
    """

    def document(self) -> dict[str, Any]:
        """Name and parameters as the core reads them."""
        return {"score": "likelihood", "penalty": "aic", **self.priors()}


@dataclass(frozen=True, repr=False)
class BIC(Tabular):
    """Log-likelihood of levels under a full table, less `ln(rows) / 2` for each free parameter.

    Args:
        prior: a prior over parent sets, one of `an.priors`.
    """

    named: ClassVar[Mapping[str, str]] = {"score": "likelihood", "penalty": "bic"}
    log_probability: ClassVar[LogProbability] = "approximate"

    def document(self) -> dict[str, Any]:
        """Name and parameters as the core reads them."""
        return {"score": "likelihood", "penalty": "bic", **self.priors()}
