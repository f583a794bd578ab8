"""Why a column looks as it does where the tree decides: what the tree looked at, in words with the column's values.

A split such as `lists < 0.1396` says nothing to a reader. The same evidence in words: how many different values there
are and how often they occur, then the marks that were looked at last, each with what it is in this column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from arbornet.data.looks.marks import TEXTS
from arbornet.data.looks.seen import Seen

MOST_TOLD = 3
"""Marks told beside the counts."""


def reason(seen: Seen, marks: Mapping[str, float], asked: Iterable[str]) -> str:
    """Why a column looks as it does: "38 different texts in 240 rows, 31 of them once, no digits".

    Args:
        seen: The column.
        marks: Its marks.
        asked: The marks that the tree looked at, in order.
    """
    last = dict.fromkeys(reversed(list(asked)))
    told = dict.fromkeys(words for mark in last if (words := _told(mark, marks[mark], seen)))
    return ", ".join([*_counts(seen), *list(told)[:MOST_TOLD]])


def _counts(seen: Seen) -> list[str]:
    """How many different values there are, and how often they occur."""
    nouns = {"text": "text", "integer": "whole number", "number": "number", "truth": "truth value"}
    noun = nouns.get(seen.class_, seen.class_)
    n, rows = seen.n_distinct, f"{seen.n_values:,} row{'s' if seen.n_values != 1 else ''}"
    if n == 1:
        return [f"one {noun} in {rows}"]
    told = [f"{n:,} different {noun}s in {rows}"]
    once = round(seen.share_once * n)
    if once == n:
        return [f"{n:,} different {noun}s", "every value once"]
    return [*told, f"{once:,} of them once"] if once else told


def _told(mark: str, value: float, seen: Seen) -> str:
    """One mark in words, with its value; nothing if the counts say it, or it is only absent."""
    if mark.startswith("name says "):
        if value and not any(map(str.isalpha, seen.name)):
            return "the name has no letters"
        return f"the name {seen.name!r} says {_MEANT[mark.removeprefix('name says ')]}" if value else ""
    if mark in TEXTS and seen.class_ != "text":
        return ""
    if mark in SHARES:
        return _share(value, SHARES[mark]) if value else NONE.get(mark, "")
    return TOLD[mark](value) if mark in TOLD else ""


def _share(value: float, what: str) -> str:
    return f"all {what}" if value == 1.0 else f"{value:.0%} {what}" if value >= 0.01 else f"under 1% {what}"


def _plural(value: float, noun: str) -> str:
    return f"{value:,.3g} {noun}{'s' if value != 1 else ''}"


_MEANT = {
    "id": "identifier", "code": "code", "date": "date", "year": "year", "label": "label", "figure": "figure",
    "place": "place", "text": "text", "named": "name of something", "link": "link", "money": "money or share",
    "many": "several items",
}  # fmt: skip
"""What the words of a name stand for."""

SHARES = {
    "addresses": "of the values are web addresses",
    "lists": "of the values list items",
    "with digits": "of the values have digits",
    "with blanks": "of the values have spaces",
    "only digits": "of the values are digits only",
    "capitals": "of the values are in capitals",
    "letters and digits": "of the values mix letters and digits",
    "date-like": "of the values have the shape of dates",
    "number-like": "of the values have the shape of numbers",
    "brackets": "of the values have brackets",
    "letters only": "of the values are without digits",
    "digits share": "of the characters are digits",
    "sentences": "of the values hold sentences",
    "at signs": "of the values have an at sign",
    "years": "of the values could be years",
}
"""Marks that are shares of the distinct values (or characters)."""

NONE = {
    "with digits": "no digits",
    "with blanks": "no spaces",
    "sentences": "no sentences",
    "letters only": "all with digits",
}
"""Those whose absence says something by itself."""

TOLD: Mapping[str, Callable[[float], str]] = {
    "missing": lambda x: f"{x:.0%} of the rows missing" if x >= 0.01 else "",
    "most frequent": lambda x: f"the most frequent in {x:.0%} of the rows" if x >= 0.01 else "none frequent",
    "words": lambda x: f"{_plural(x, 'word')} on average" if x > 1 else "one word each",
    "words, most": lambda x: f"up to {_plural(x, 'word')}" if x > 1 else "one word each",
    "length": lambda x: f"{_plural(x, 'character')} on average",
    "longest": lambda x: f"up to {_plural(x, 'character')}",
    "one length": lambda x: "all of one length" if x else "of different lengths",
    "one width": lambda x: "all with as many digits" if x else "",
    "digits": lambda x: f"{_plural(x, 'digit')} on average",
    "decimals": lambda x: f"up to {_plural(x, 'decimal')}" if x else "no decimals",
    "smallest": lambda x: f"from {x:.6g}",
    "largest": lambda x: f"up to {x:.6g}",
    "steps per value": lambda x: "without gaps" if x <= 1 else f"one value in {x:.3g} whole numbers",
    "commas": lambda x: f"{_plural(x, 'comma')} each on average" if x else "",
    "bars": lambda x: f"{_plural(x, 'bar or semicolon')} each on average" if x else "",
    "written numbers": lambda x: "written as numbers" if x else "",
    "unlike words": lambda x: "of very different lengths" if x >= 1.5 else "",
}
"""Other marks, by their value. Those that the counts say already are left out."""
