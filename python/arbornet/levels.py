"""Levels as people write them: 1, 1.0 and "1" may mean the same, and it is the column that says which it is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from arbornet._core import ColumnError
from arbornet.kinds import Level

MISSING = 2**32 - 1
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
    own = {canonical(value): value for value in observed or ()}
    exact = set(observed or ())
    taken: dict[Level, Level] = {}
    listed: list[Level] = []
    for level in levels:
        if isinstance(level, str) and level in exact:
            value: Level = level
        else:
            value = own.get(canonical(level), as_own(level, class_))
        if value in taken:
            raise ColumnError(
                f"column '{column}': the levels {taken[value]!r} and {level!r} are one value; declare it once"
            )
        taken[value] = level
        listed.append(value)
    return listed


def codes_of(values: Sequence[Level], levels: Sequence[Level], merged: dict[Level, int]) -> list[int]:
    """For each value of a column the code of the level it is, or `MISSING`.

    A value is matched as it stands, and if that fails by what it reads as. `merged` has the codes of values that share
    a level with others.
    """
    exact: dict[tuple[type, Level], int] = {}
    alike: dict[str, int] = {}
    for code, level in enumerate(levels):
        exact.setdefault((type(level), level), code)
        alike.setdefault(canonical(level), code)
    for value, shared in merged.items():
        exact[(type(value), value)] = shared
        alike[canonical(value)] = shared
    found: list[int] = []
    for value in values:
        as_it_stands = exact.get((type(value), value))
        found.append(alike.get(canonical(value), MISSING) if as_it_stands is None else as_it_stands)
    return found


def merge_rarest(
    values: Sequence[Level], counts: Sequence[int], most: int, other: str
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
