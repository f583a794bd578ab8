"""A column as the rules see it: its name, its profile, and all its distinct values with their counts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from arbornet.data.looks.words import ID, SAID_MISSING, words


@dataclass(frozen=True)
class Seen:
    """A column as the rules see it."""

    name: str
    class_: str
    """What the values are: text, truth, integer, number, date, datetime, duration, time or nothing."""
    n_rows: int
    n_missing: int
    whole: bool
    """Whether all numbers are whole."""
    counter: bool
    """Whether the values number the rows."""
    take: Callable[[], tuple[pl.Series, pl.Series]]
    """Takes the distinct values and their counts; called once, by the first rule that needs them."""

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of the name."""
        return words(self.name)

    @cached_property
    def _distinct(self) -> tuple[pl.Series, pl.Series]:
        return self.take()

    @property
    def values(self) -> pl.Series:
        """The distinct values."""
        return self._distinct[0]

    @property
    def counts(self) -> pl.Series:
        """How often each occurs."""
        return self._distinct[1]

    @property
    def n_values(self) -> int:
        """Rows with a value."""
        return self.n_rows - self.n_missing

    @property
    def n_distinct(self) -> int:
        """How many values differ."""
        return len(self.values)

    @cached_property
    def texts(self) -> pl.Series:
        """The distinct texts, without words for a missing value."""
        known = self.values.str.strip_chars()
        return self.values.filter(~known.is_in(list(SAID_MISSING)))

    @cached_property
    def n_words_for_missing(self) -> int:
        """Rows that hold a word for a missing value."""
        known = self.values.str.strip_chars().is_in(list(SAID_MISSING))
        return int(self.counts.filter(known).sum())

    @cached_property
    def share_once(self) -> float:
        """The share of distinct values that occur once."""
        return float((self.counts == 1).mean() or 0.0)  # type: ignore[arg-type]

    @property
    def has_id_name(self) -> bool:
        """Whether the name says that it is an identifier."""
        return self.has(ID) or self.name.lower().endswith(("_id", " id", "id_")) or self.name.endswith("ID")

    def has(self, known: frozenset[str]) -> bool:
        """Whether the name has one of these words."""
        return bool(self.words & known)
