"""Scores of levels from information theory: normalised maximum likelihood and mutual information tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from arbornet._core import ParameterError
from arbornet.checks import real
from arbornet.scores.tables import Tabular


@dataclass(frozen=True, repr=False)
class NML(Tabular):
    """Factorised normalised maximum likelihood: no parameters to choose.

    Args:
        prior: a prior over parent sets, one of `an.priors`.
    """

    def document(self) -> dict[str, Any]:
        """Name and parameters as the core reads them."""
        return {"score": "nml", **self.priors()}


@dataclass(frozen=True, repr=False)
class QNML(Tabular):
    """Quotient normalised maximum likelihood: as NML, and the same for all members of an equivalence class.

    Args:
        prior: a prior over parent sets, one of `an.priors`.
    """

    def document(self) -> dict[str, Any]:
        """Name and parameters as the core reads them."""
        return {"score": "qnml", **self.priors()}


@dataclass(frozen=True, repr=False)
class MIT(Tabular):
    """Mutual information tests (de Campos 2006): the parents' information, minus what is expected by chance.

    Args:
        alpha: confidence of each test, usually 0.9 to 0.999.
        prior: a prior over parent sets, one of `an.priors`.
    """

    alpha: float = 0.99

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "alpha", real("alpha", self.alpha, above=0))
        if self.alpha >= 1:
            raise ParameterError(f"alpha={self.alpha!r}: must be a number above 0 and below 1")

    def document(self) -> dict[str, Any]:
        """Name and parameters as the core reads them."""
        return {"score": "mit", "alpha": self.alpha, **self.priors()}
