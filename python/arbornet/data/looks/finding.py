"""One thing of a table that looks wrong, and words that findings share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """Something of a table that looks wrong."""

    column: str
    """The column; empty if the finding is about rows."""
    what: str
    """What looks wrong, to be read after the column's name."""
    how_many: int
    """How many rows or levels are affected."""
    mend: str
    """The line of code that fixes it."""
    of: str = ""
    """The other column, if it is about two: this one determines `column`."""
    is_mutual: bool = False
    """Whether each of the two determines the other."""

    def __str__(self) -> str:
        return f"{self.told}: {self.mend}"

    @property
    def told(self) -> str:
        """What looks wrong, with the column's name."""
        return f"{self.column!r} {self.what}" if self.column else self.what


def listed(parts: Sequence[str]) -> str:
    """Parts as a list in a sentence."""
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
