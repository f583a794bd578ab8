"""What the scores of categorical tables share: a prior over parent sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from arbornet._core import ParameterError
from arbornet.scores.base import Choice, ScoreParameters

if TYPE_CHECKING:
    from arbornet.priors import Prior


@dataclass(frozen=True, repr=False, kw_only=True)
class Tabular(ScoreParameters):
    """A score of counts in the cells of a table of levels."""

    prior: Prior | None = None
    """A prior over parent sets; None for the uniform one."""

    def __post_init__(self) -> None:
        if self.prior is not None and (not isinstance(self.prior, Choice) or isinstance(self.prior, ScoreParameters)):
            raise ParameterError(
                f"prior={self.prior!r}: give one of an.priors, such as an.priors.ParentCount(), or None"
            )

    def priors(self) -> dict[str, Any]:
        """The prior as the core reads it."""
        return {} if self.prior is None else {"prior": self.prior.document()}
