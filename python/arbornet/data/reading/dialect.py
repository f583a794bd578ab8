"""How a file of text holds a table: the mark between fields, lines before the header, whether there is a header.

The first lines are parsed with each of four separators. The right one gives every line as many fields as the header;
where several do, the one with more fields. Lines with fewer fields before the table (titles, notes, comments that begin
with `#`) are skipped. There is no header where the first line holds numbers above numbers.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile

SEPARATORS = (",", ";", "\t", "|")
NAMES = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
MOST_LINES = 400
MOST_BEFORE = 30
"""Lines before the table, at most."""
MOST_NOTES = 20
"""So many lines below the table may be notes."""
AGREE = 0.9
"""The share of lines that have as many fields as the header."""
_NUMBER = re.compile(r"\s*[-+]?(\d+\.?\d*|\.\d+|\d+,\d+)([eE][-+]?\d+)?\s*")
_SAID = re.compile(r"sep=(.)\r?\n")
_MISSING = ("", "NA", "NaN", "?", "null", "NULL", "N/A")


@dataclass(frozen=True)
class Dialect:
    """How a file of text holds a table."""

    separator: str = ","
    skipped: int = 0
    """Lines before the table."""
    has_header: bool = True
    """Whether the first line of the table holds the names of its columns."""
    names: tuple[str, ...] | None = None
    """The names, if they are known."""
    has_ends: bool = False
    """Whether every line but the header ends with a separator."""


@dataclass(frozen=True)
class _Parsed:
    """The first lines by one separator."""

    separator: str
    records: list[list[str]]
    lines: list[int]
    """How many lines lie before each record."""
    width: int
    """The most frequent number of fields."""

    def start(self) -> int:
        """The first record of the table: as wide as most, and with more than a title in it."""
        least = 2 if self.width > 2 else 1
        near = (i for i, each in enumerate(self.records) if len(each) == self.width and _filled(each) >= least)
        first = next(near, 0)
        return first if self.lines[first] <= MOST_BEFORE else 0

    def begins(self) -> bool:
        """Whether the first record is of the table."""
        return self.start() == 0 and len(self.records[0]) == self.width

    def share(self) -> float:
        """The share of records, from the header on and up to the last such one, that are as wide as most."""
        rest = self.records[self.start() :]
        below = next((n for n, each in enumerate(reversed(rest)) if len(each) == self.width), 0)
        rest = rest[: len(rest) - below] if below <= MOST_NOTES else rest
        return sum(len(each) == self.width for each in rest) / max(len(rest), 1)


def dialect_of(text: str, is_whole: bool, usual: str = ",", separator: str | None = None) -> Dialect:
    """How a file's beginning says that it holds a table.

    Args:
        text: The file, or its beginning.
        is_whole: Whether this is the whole file.
        usual: The separator that the ending of its name promises.
        separator: The separator, if it is known.
    """
    lines = [line + "\n" for line in text.split("\n")]
    if not is_whole or len(lines) > MOST_LINES:
        lines = lines[: min(MOST_LINES, len(lines) - 1)]  # the last may be cut
    if separator is None and (told := _SAID.fullmatch(lines[0] if lines else "")):  # a line of Excel's
        rest = dialect_of("".join(lines[1:]), True, usual, told[1])
        return replace(rest, skipped=rest.skipped + 1)
    comments = list(takewhile(lambda line: line.startswith("#"), lines))
    order = [usual, *(each for each in SEPARATORS if each != usual)] if separator is None else [separator]
    parsed = [_parsed(lines[len(comments) :], each) for each in order]
    wide = [each for each in parsed if each.width > 1]
    if not wide:
        first = _parsed(lines, order[0]).records[:1]
        return Dialect(order[0], names=tuple(first[0]) if first else None)
    best = max(wide, key=lambda one: (one.share() >= AGREE and one.begins(), one.share() >= AGREE, one.width))
    if comments and len(named := _parsed(comments[-1:], best.separator).records[0]) == best.width:
        return Dialect(best.separator, len(comments) - 1, names=tuple(named))
    found = _of_records(best)
    return Dialect(best.separator, found.skipped + len(comments), found.has_header, found.names, found.has_ends)


def _of_records(best: _Parsed) -> Dialect:
    first, rest = best.records[0], best.records[1:]
    if len(first) == best.width - 1 and len(first) > 1 and best.start() == 1:
        if not any(each[-1].strip() for each in rest if len(each) == best.width):
            return Dialect(names=tuple(first), has_ends=True)
        if not is_header(rest[0], rest[1:]):  # as R writes the names of rows: without a name of their own
            return Dialect(skipped=best.lines[1], has_header=False, names=("", *first))
    start = best.start() if best.share() >= AGREE else 0
    header, rest = best.records[start], best.records[start + 1 :]
    has_header = is_header(header, rest)
    return Dialect(skipped=best.lines[start], has_header=has_header, names=tuple(header) if has_header else None)


def _parsed(lines: Sequence[str], separator: str) -> _Parsed:
    """Lines as records; empty lines are none."""
    records, before, last = [], [], 0
    reader = csv.reader(lines, delimiter=separator)
    try:
        for record in reader:
            if record:
                records.append(record)
                before.append(last)
            last = reader.line_num
    except csv.Error:  # a field of more than a hundred thousand letters: a quote that does not end
        pass
    counted = Counter(map(len, records))
    return _Parsed(separator, records, before, max(counted, key=lambda width: (counted[width], width), default=0))


def _filled(record: Sequence[str]) -> int:
    return sum(bool(each.strip()) for each in record)


def is_number(text: str) -> bool:
    """Whether a field holds a number, with a point or a comma."""
    return _NUMBER.fullmatch(text) is not None


def is_header(first: Sequence[str], rest: Sequence[Sequence[str]]) -> bool:
    """Whether the first record holds names: not if it has numbers above numbers, and no word above numbers.

    Years and whole numbers that count up are names too, as of wide tables.
    """
    numeric = [i for i, each in enumerate(first) if is_number(each)]
    rows = [row for row in rest if len(row) == len(first)][:100]
    if not numeric or not rows:
        return True
    below = [i for i in range(len(first)) if _are_numbers([row[i] for row in rows])]
    if any(i not in numeric and first[i].strip() not in _MISSING for i in below):
        return True
    above = [i for i in numeric if i in below]
    return len(above) < 2 or _counts_up([first[i] for i in above])


def _are_numbers(fields: Sequence[str]) -> bool:
    known = [each for each in fields if each.strip() not in _MISSING]
    return bool(known) and all(map(is_number, known))


def _counts_up(texts: Sequence[str]) -> bool:
    """Whether texts are whole numbers in steps of one, or years, each larger than the last."""
    if not all(re.fullmatch(r"\d{1,9}", text.strip()) for text in texts):
        return False
    numbers = [int(text) for text in texts]
    steps = {b - a for a, b in pairwise(numbers)}
    are_years = all(1800 <= number <= 2100 for number in numbers) and all(step > 0 for step in steps)
    return are_years or (steps == {1} and numbers[0] in (0, 1))
