"""A query about rows, ready for the core: the evidence, and the method of inference."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from arbornet._core import NetworkHandle
from arbornet.checks import whole
from arbornet.network.evidence import Columns

Method = Literal["auto", "exact", "sampling"]
HowTo = tuple[str, int, int]
"""Method, particles, seed."""

log = logging.getLogger("arbornet")


def how_to(method: str, particles: int, seed: int) -> HowTo:
    """The method of inference, checked.

    Raises:
        ParameterError: If the seed or the number of particles is out of range.
    """
    return method, whole("particles", particles, 1, 2**32), whole("seed", seed, 0, 2**64 - 1)


def tell(how: tuple[int, float], n_rows: int, particles: int, what: str) -> None:
    """Logs how many rows were answered by sampling, and how well."""
    rows, error = how
    if rows:
        text = "%d of %d rows answered by likelihood weighting with %d draws each; %s up to %.2g"
        log.info(text, rows, n_rows, particles, what, error)


@dataclass(frozen=True)
class Asked:
    """Coded rows and the method of inference; every query has one answer per row."""

    handle: NetworkHandle
    columns: Columns
    n_rows: int
    way: HowTo
    n_jobs: int

    def log_likelihood(self) -> NDArray[np.float64]:
        """Log densities of what is known."""
        values, how = self.handle.log_likelihood(self.columns, self.n_rows, self.way, self.n_jobs)
        self._tell(how, "log densities have a standard error of")
        return values

    def probabilities(self, target: int) -> NDArray[np.float64]:
        """A column per level of a target."""
        flat, how = self.handle.predict_levels(self.columns, self.n_rows, [], target, self.way, self.n_jobs)
        self._tell(how, "probabilities have a standard error of")
        return flat.reshape(self.n_rows, len(self.handle.levels(target) or ()))

    def quantiles(self, target: int, probabilities: Sequence[float]) -> NDArray[np.float64]:
        """A column per quantile of a continuous target, in the user's units."""
        flat, how = self.handle.predict_quantiles(
            self.columns, self.n_rows, [], [], target, probabilities, self.way, self.n_jobs
        )
        self._tell(how, "the probabilities of the quantiles have a standard error of")
        return flat.reshape(self.n_rows, len(probabilities))

    def _tell(self, how: tuple[int, float], what: str) -> None:
        tell(how, self.n_rows, self.way[1], what)
