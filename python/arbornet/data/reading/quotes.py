"""Quotes that are no quotes: inches (`5'7"`), seconds (`54°12'34"N`), a word in quotes at the start (`"a" box`).

In a text file a quote opens a field only as its first letter and closes it only as its last; quotes within are doubled.
Polars refuses files that have others, or takes lines for one. Here such fields are written as they should have been.

A field that begins with a quote and does not end with one may go on behind a separator or a line break, so it stays as
it is; unless every line of the file has as many separators as the first, and no other field goes over lines: then no
quote hides a separator. A lone quote, as for "the same as above", looks as if it opened a field that begins with a
separator.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True)
class Repaired:
    """A text in which all quotes are quotes."""

    text: str
    n_fields: int = 0
    """How many fields were rewritten."""
    first: str = ""
    """The first of them."""
    needed: bool = False
    """Whether Polars would misread one of them."""


@cache
def _fields(separator: str, in_line: bool) -> re.Pattern[str]:
    mark = re.escape(separator)
    inside = rf'[^"{mark}\r\n]|""' if in_line else '[^"]|""'
    return re.compile(
        rf'(?P<start>\A|[{mark}\n])(?:(?P<good>"(?:{inside})*")(?=[{mark}\r\n]|\Z)'
        rf'|(?P<bad>[^{mark}\r\n"]*"[^{mark}\r\n]*))'
    )


def repaired(text: str, separator: str) -> Repaired:
    """The text with fields that hold quotes between quotes."""
    if '"' not in text:
        return Repaired(text)
    made, is_open = _repaired(text, separator, in_line=False)
    return _repaired(text, separator, in_line=True)[0] if is_open and _are_even(text, separator) else made


def _repaired(text: str, separator: str, in_line: bool) -> tuple[Repaired, bool]:
    """The text with fields that hold quotes between quotes; and whether a field is open, and none goes over lines."""
    told: list[str] = []
    needed = is_open = has_lines = False

    def written(found: re.Match[str]) -> str:
        nonlocal needed, is_open, has_lines
        field = found["bad"]
        if field is None:
            if "\n" in found["good"]:
                is_lone = found["good"][1] == separator == found["good"][-2]
                is_open, has_lines = is_open or is_lone, has_lines or not is_lone
            return found[0]
        is_odd = field.count('"') % 2 == 1
        if is_odd and not in_line and field.startswith('"'):
            is_open = True
            return found[0]
        told.append(field)
        needed = needed or is_odd or field.startswith('"')
        doubled = field.replace('"', '""')
        return f'{found["start"]}"{doubled}"'

    made = _fields(separator, in_line).sub(written, text)
    return Repaired(made, len(told), told[0] if told else "", needed), is_open and not has_lines


def _are_even(text: str, separator: str) -> bool:
    """Whether all lines that hold something have as many separators, and at least one."""
    counts = {line.count(separator) for line in text.split("\n") if line.strip("\r")}
    return len(counts) == 1 and 0 not in counts


def unclear(text: str, separator: str) -> tuple[int, int, str] | None:
    """The line, the place in it and the beginning of the first field that opens with a quote and does not end so."""
    for found in _fields(separator, False).finditer(text):
        if found["bad"] is not None and found["bad"].startswith('"'):
            before = text[: found.start("bad")]
            line = before.rpartition("\n")[2]
            return before.count("\n") + 1, len(_fields_of(line, separator)), found["bad"][:40]
    return None


def _fields_of(line: str, separator: str) -> list[str]:
    """The fields of a line, whose quotes are closed."""
    return next(csv.reader([line], delimiter=separator), [""]) or [""]
