"""What is asked of a network, and how it is to be answered: the one form in which questions reach the core."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from arbornet._core import RowsHandle

Method = Literal["auto", "exact", "sampling"]
Limit = tuple[float, float] | list[float]


@dataclass(frozen=True)
class Question:
    """A question to a network; the core reads its attributes by name."""

    rows: RowsHandle | None = None
    """Coded rows; without them the question is about one row of known values."""
    known: Sequence[tuple[int, float]] = ()
    """Of that row codes, or numbers in stored units, by position."""
    limits: Sequence[tuple[int, Limit]] = ()
    """Of variables known only in part: an interval in stored units, or how probable that is in each level."""
    set: Sequence[int] = ()
    """Which of the known values are interventions."""
    method: Method = "auto"
    particles: int = 2000
    """Weighted draws for a row that needs sampling."""
    seed: int = 0
    n_jobs: int = 1
