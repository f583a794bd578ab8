"""Levels as people write them: 1, 1.0 and "1" may be the same level, depending on the column.

Two texts are one level only if they are the same text: "250.1" and "250.10" may be two codes of diseases. A text names
a level that is a number if it reads as that number, however it writes it; a number names a level that is a text if it
would be written so, and no other text of the column could be meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from arbornet._core import MISSING, ColumnError
from arbornet.data.kinds import Level

_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?")
_TRUTHS = {"true": True, "false": False}


def canonical(level: Level) -> str:
    """What a level reads as, whatever its type: "1" for 1, 1.0, "1" and "1.0"; "true" for True and "True"."""
    if isinstance(level, bool):
        return str(level).lower()
    if isinstance(level, str):
        if level.lower() in _TRUTHS:
            return level.lower()
        if not _NUMBER.fullmatch(level):
            return level
        number = float(level)
        return _canonical_number(number) if "." in level or "e" in level.lower() else level
    return str(level) if isinstance(level, int) else _canonical_number(level)


def _canonical_number(number: float) -> str:
    return str(int(number)) if number.is_integer() and abs(number) < 2**53 else repr(number)


def _written(value: Level) -> set[str]:
    """The texts that a boolean or a number is written as."""
    if isinstance(value, bool):
        return {str(value), str(value).lower(), str(value).upper()}
    plain = canonical(value)
    return {plain, f"{plain}.0", str(value)} if re.fullmatch(r"-?\d+", plain) else {plain, str(value)}


class _Known:
    """Levels that values may name, each with what it stands for."""

    def __init__(self, levels: Iterable[tuple[Level, int]]) -> None:
        self._exact: dict[tuple[type, Level], int] = {}
        self._texts: dict[str, int] = {}
        self._others: dict[str, int] = {}
        self._read: dict[float, set[int]] = {}
        for level, code in levels:
            self._exact.setdefault((type(level), level), code)
            if isinstance(level, str):
                self._texts.setdefault(level, code)
                if _NUMBER.fullmatch(level):
                    self._read.setdefault(float(level), set()).add(code)
            else:
                self._others.setdefault(canonical(level), code)

    def find(self, value: Level) -> int | None:
        """What a value names, if it names one thing."""
        exact = self._exact.get((type(value), value))
        if exact is not None:
            return exact
        alike = self._others.get(canonical(value))
        if alike is not None or isinstance(value, str):
            return alike
        written = {self._texts[text] for text in _written(value) if text in self._texts}
        # A number with a fraction may have been another text once: 250.1 was "250.1" or "250.10".
        meant = written | self._read.get(value, set()) if isinstance(value, float) else written
        return written.pop() if len(written) == len(meant) == 1 else None


def as_own(level: Level, class_: str) -> Level:
    """The level in the type of a column of this class, if it can be read so."""
    text = canonical(level)
    if class_ == "integer" and re.fullmatch(r"-?\d+", text):
        return int(text)
    if class_ == "number" and not isinstance(level, bool) and _NUMBER.fullmatch(text):
        return float(text)
    if class_ == "truth" and text in _TRUTHS:
        return _TRUTHS[text]
    if class_ == "truth" and text in ("0", "1"):
        return text == "1"
    if class_ == "text":
        return level if isinstance(level, str) else text
    return level


def as_own_levels(column: str, levels: Iterable[Level], class_: str, observed: Sequence[Level] | None) -> list[Level]:
    """Declared levels in the column's own values where they read alike, else in its type.

    Raises:
        ColumnError: If two declared levels are one value of the column.
    """
    own = list(observed or ())
    known = _Known((value, rank) for rank, value in enumerate(own))
    taken: dict[Level, Level] = {}
    listed: list[Level] = []
    for level in levels:
        rank = known.find(level)
        value = as_own(level, class_) if rank is None else own[rank]
        if value in taken:
            raise ColumnError(
                f"column '{column}': the levels {taken[value]!r} and {level!r} are one value; declare it once"
            )
        taken[value] = level
        listed.append(value)
    return listed


def codes_of(values: Sequence[Level], levels: Sequence[Level], merged: dict[Level, int]) -> list[int]:
    """For each value of a column the code of the level it is, or `MISSING`.

    A value is matched exactly, and if that fails by what it reads as, but a text never with another text. `merged` has
    the codes of values that share a level with others.
    """
    known = _Known([*merged.items(), *((level, code) for code, level in enumerate(levels))])
    return [MISSING if code is None else code for code in map(known.find, values)]


def merge_rarest(
    values: Sequence[Level], counts: Sequence[float], most: int, other: str
) -> tuple[list[Level], list[Level]]:
    """The levels that remain when the rarest become one, and the values that were merged.

    Among equally rare values the later one is merged first, so the result does not depend on the order of rows.
    """
    if len(values) <= most:
        return list(values), []
    by_count = sorted(range(len(values)), key=lambda i: (-counts[i], i))
    kept = set(by_count[: most - 1])
    remaining = [value for i, value in enumerate(values) if i in kept]
    name = other
    while any(canonical(value) == name for value in remaining):
        name += " (merged)"
    return [*remaining, name], [value for i, value in enumerate(values) if i not in kept]
