"""What every score's dataclass shares: frozen, checked once, written as JSON for the core.

A score is a frozen dataclass that derives from `ScoreParameters`: its fields are what you may choose, `__post_init__`
checks them, `document` is what the core reads. The JSON also identifies the score in checkpoints and saved models.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

from arbornet._core import ParameterError
from arbornet.text.brief import Brief

LogProbability = Literal["exact", "approximate", "none"]


class Choice(Brief):
    """A frozen dataclass of parameters, of a score or a prior."""

    def document(self) -> dict[str, Any]:
        """Name and parameters as the core reads them."""
        raise NotImplementedError

    def replace(self, **changes: object) -> Self:
        """A copy with some parameters changed.

        Raises:
            ParameterError: If a parameter does not exist or is outside its range.

        Example:
            >>> an.PCART().replace(max_splits=3)
            PCART(max_splits=3)
        """
        known = [f.name for f in dataclasses.fields(self)]  # type: ignore[arg-type]
        for name in changes:
            if name not in known:
                raise ParameterError(f"{type(self).__name__} has no parameter {name!r}; it has {', '.join(known)}")
        return dataclasses.replace(self, **changes)  # type: ignore[type-var]


class ScoreParameters(Choice):
    """A score's parameters."""

    named: ClassVar[Mapping[str, str]] = {}
    """What its JSON says that no other class says, for a score that others know something of by its text alone."""
    log_probability: ClassVar[LogProbability] = "none"
    """Whether it is the log probability of the data, but for the prior of a model's shape, or near it as the BIC is."""

    def spec(self) -> str:
        """The JSON form; the same text for the same score."""
        return json.dumps(self.document(), separators=(",", ":"), sort_keys=True, allow_nan=False)


def log_probability(score: str | None) -> LogProbability:
    """Whether a score, told by its JSON, is the log probability of the data; "none" of what is no JSON of a score."""
    try:
        items = json.loads(score or "").items()
    except (ValueError, AttributeError):
        return "none"
    classes = list(ScoreParameters.__subclasses__())
    for of in classes:  # grows as it goes
        classes += of.__subclasses__()
    return next((of.log_probability for of in classes if of.named and of.named.items() <= items), "none")
