"""How the core codes one variable, as told by the schema."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from arbornet._core import MISSING
from arbornet.data.kinds import Level
from arbornet.data.units import Scale


@dataclass
class ColumnCoding:
    """How the core codes one variable; its attributes are read by name."""

    name: str
    column: int | None
    kind: str
    levels: Sequence[Level] | None = None
    codes: Sequence[int] | None = None
    missing: int = MISSING
    cuts: Sequence[float] | None = None
    scale: Scale | None = None
    log: float | None = None
    """What a logarithmic scale adds before it takes logarithms; None for a linear one."""
    scores: bool = False
    """Whether numbers are taken by their normal scores; their curve is the scale's, or learned from the rows."""
    least: float | None = None
    """On a logarithmic scale the least number that is taken as it is: those below count as it."""
    point: tuple[float, float] | None = None
    """A number that many rows share, and the length of numbers it stands for."""
    leaf: str | None = None
    """What stands in the leaves of trees, if the column says so."""
