"""Levels that are intervals of numbers, as forms ask for ages: `18-24`, ..., `65+`; `under 5`, `5 to 9`, `10 or more`.

Their numbers order them, if no two overlap.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import pairwise

_N = r"[$€£]?\s*(\d[\d,' ]*(?:\.\d+)?k?)\s*[$€£%]?"
_FORMS = tuple(
    (re.compile(pattern, re.IGNORECASE), kind)
    for pattern, kind in (
        (rf"{_N}\s*(?:-|–|—|to|bis|\.\.)\s*{_N}", "both"),
        (rf"(?:<|<=|≤|under|below|less than|up to|at most|unter|bis)\s*{_N}", "below"),
        (rf"{_N}\s*(?:and|or) (?:less|under|below|younger|fewer)", "below"),
        (rf"(?:>|>=|≥|over|above|more than|at least|from|über|ab)\s*{_N}", "above"),
        (rf"{_N}\s*(?:\+|(?:and|or|&) (?:more|over|above|older|up)|und mehr|plus)", "above"),
        (_N, "one"),
    )
)
_UNIT = re.compile(r"\s*(?:years?|yrs?|y|months?|days?|hours?|h|km|kg|mm|cm|m|jahre?)(?: old)?\.?$", re.IGNORECASE)


def in_order(texts: Sequence[str]) -> list[str] | None:
    """Levels in the order of their numbers; None unless all are intervals, or numbers beside two, and apart."""
    found = {text: interval(text) for text in texts}
    known = {text: each for text, each in found.items() if each is not None}
    if len(texts) < 3 or len(known) < len(texts) or sum(low < high for low, high in known.values()) < 2:
        return None
    order = sorted(known, key=lambda text: known[text])
    apart = all(known[a][1] <= known[b][0] and known[a] != known[b] for a, b in pairwise(order))
    return order if apart else None


def interval(text: str) -> tuple[float, float] | None:
    """The ends of an interval that a text names; one number is one of no length."""
    plain = _UNIT.sub("", text.strip())
    for pattern, kind in _FORMS:
        match = pattern.fullmatch(plain)
        if match is not None:
            numbers = [_number(group) for group in match.groups()]
            low = -math.inf if kind == "below" else numbers[0]
            high = math.inf if kind == "above" else numbers[-1]
            return (low, high) if low <= high else None
    return None


def _number(text: str) -> float:
    plain = re.sub(r"[,' ]", "", text.lower())
    return float(plain.removesuffix("k")) * (1000 if plain.endswith("k") else 1)
