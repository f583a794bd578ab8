"""One column of a schema: its type, why it is that, and how its values are coded once that is known."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

from arbornet.data import calendar
from arbornet.data.kinds import Binned, Categorical, Continuous, Kind, Level
from arbornet.data.schema_text import column_text
from arbornet.data.units import Scale


@dataclass(frozen=True, repr=False)
class Column:
    """One column of a schema."""

    name: str
    kind: Kind
    class_: str
    """What the values are: text, truth, integer, number, date, datetime, duration, time, nothing or unreadable (lists,
    records, bytes and other objects)."""
    reason: str
    """Why it is of this type."""
    left_out: str | None = None
    """Why it is not used, if so."""
    n_rows: int = 0
    missing: int = 0
    """Rows without a value, nulls and NaN."""
    zone: str | None = None
    unit: str | None = None
    """Of spans of time in nanoseconds: "ns"."""
    range_: tuple[float, float] | None = None
    """Smallest and largest value of a column of numbers, in the user's units."""
    observed: tuple[Level, ...] | None = None
    """The distinct values, if they are few."""
    scale: Scale | None = None
    """Shift and scale with `original = shift + scale * stored`, once known; on a logarithmic scale with what it adds as
    a third part, and the way leads to `ln(original + third)`; by normal scores with the knots of their curve."""
    step: float | None = None
    """Of a continuous column, once known: what its values are multiples of; so are numbers that are drawn."""
    least: float | None = None
    """Of a continuous column, once known: no number that is drawn is below it."""
    point: tuple[float, float] | None = None
    """Of a continuous column, once known: a number that many rows share, and the length of numbers it stands for."""
    heap_places: tuple[float, ...] | None = None
    """Of a continuous column with heaps, once known: where the parts of the line start and end that lead to numbers."""
    heap_numbers: tuple[float, ...] | None = None
    """Where each of these places leads: draws between two places go to the numbers between these."""
    cuts: tuple[float, ...] | None = None
    """Upper ends of all bins but the last, once known."""
    ranked: tuple[float, ...] | None = None
    """Of a column with bins, values from the smallest to the largest, evenly by rank: its distribution within a bin."""
    merged: tuple[Level, ...] = ()
    """Values merged into the level "other"."""
    other: str | None = None
    """The name of that level."""
    missing_level: str | None = None
    """The level that stands for a missing value, if one does."""
    dated: bool = False
    """Whether bins are named by dates or times instead of the numbers that represent them."""
    looks_like: str = field(default="", compare=False)
    """What the values look like: number, category, date, text, address, list, number in text, identifier, constant,
    empty or code. Empty in schemas of earlier versions."""
    looks_because: str = field(default="", compare=False)
    """Why it looks so."""
    form: str | None = None
    """How the values are written where texts are read as numbers or dates: `$1,234.5`, `%d/%m/%Y`."""
    hint: str | None = field(default=None, compare=False)
    """The line of code that changes how it is read, or a column to derive from it."""

    @property
    def levels(self) -> tuple[Level, ...] | None:
        """All levels by code, None for a continuous column or before they are known."""
        if isinstance(self.kind, Binned):
            class_ = calendar.zoned(self.class_, self.zone) if self.dated else None
            return None if self.cuts is None else bin_names(self.cuts, class_)
        return None if isinstance(self.kind, Continuous) else self.kind.levels

    @property
    def used(self) -> bool:
        """False if the column is left out."""
        return self.left_out is None

    @property
    def leaf(self) -> Literal["normal", "linear", "counts", "histogram"] | None:
        """What stands in the leaves of the column's trees, if its kind says so."""
        own = self.kind.leaf if isinstance(self.kind, Continuous) else None
        return own if own in ("normal", "linear", "counts", "histogram") else None

    @property
    def word(self) -> Literal["continuous", "categorical", "ordinal"]:
        """The kind in one word; bins are ordinal."""
        if isinstance(self.kind, Continuous):
            return "continuous"
        return "categorical" if isinstance(self.kind, Categorical) else "ordinal"

    def __repr__(self) -> str:
        return f"Column({column_text(self)})"


def bin_names(cuts: tuple[float, ...], class_: str | None = None) -> tuple[str, ...]:
    """Names of the bins between cuts: "<= 2", "2 to 5", "> 5"; with enough digits to distinguish them.

    For a class of dates or times, the cuts are written as such: "<= 2021-03-04".
    """
    if not cuts:
        return ("all",)
    ends = [] if class_ is None else [calendar.last(cut, class_) for cut in cuts]
    if class_ is None or len(set(ends)) < len(cuts):
        for digits in range(4, 18):
            ends = [f"{cut:.{digits}g}" for cut in cuts]
            if len(set(ends)) == len(ends):
                break
    middle = [f"{low} to {high}" for low, high in pairwise(ends)]
    return (f"<= {ends[0]}", *middle, f"> {ends[-1]}")
