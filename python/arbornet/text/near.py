"""Names that may be meant where another was written: `Age` for `age`, `agee` for `age`."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

ALIKE = 0.6
"""How alike a name must be that is offered in place of one that there is not."""


def nearest(name: str, names: Iterable[str], alike: float = ALIKE) -> str | None:
    """The name most like another, whatever its case, blanks and marks; None if none is."""
    by_plain: dict[str, str] = {}
    for known in names:
        by_plain.setdefault(_plain(known), known)
    plain = _plain(name)
    if plain in by_plain:
        return by_plain[plain]
    found = difflib.get_close_matches(plain, list(by_plain), n=1, cutoff=alike)
    return by_plain[found[0]] if found else None


def instead(name: str, names: Iterable[str]) -> str:
    """A question to add to an error: `; did you mean 'age'?`, or nothing."""
    near = nearest(name, names)
    return "" if near is None else f"; did you mean {near!r}?"


def _plain(name: str) -> str:
    return re.sub(r"[\s_.-]+", "", name.casefold()) or name
