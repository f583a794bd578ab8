"""Log-likelihood of levels under a full table, alone or with the penalty of AIC or BIC."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from arbornet.scores.base import Parameters


@dataclass(frozen=True, repr=False)
class LogLikelihood(Parameters):
    """Log-likelihood of levels under a full table. More parents never score lower: it needs a limit on their number."""

    def document(self) -> dict[str, Any]:
        """Name and parameters as the core reads them."""
        return {"score": "likelihood", "penalty": "none"}


@dataclass(frozen=True, repr=False)
class AIC(Parameters):
    """Log-likelihood of levels under a full table, less one for each free parameter."""

    def document(self) -> dict[str, Any]:
        """Name and parameters as the core reads them."""
        return {"score": "likelihood", "penalty": "aic"}


@dataclass(frozen=True, repr=False)
class BIC(Parameters):
    """Log-likelihood of levels under a full table, less `ln(rows) / 2` for each free parameter."""

    def document(self) -> dict[str, Any]:
        """Name and parameters as the core reads them."""
        return {"score": "likelihood", "penalty": "bic"}
