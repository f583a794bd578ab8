"""A schema as a table of plain text, and as HTML for a notebook."""

from __future__ import annotations

import datetime
import html
import re
import textwrap
from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

from arbornet.data import calendar
from arbornet.data.infer import HELD_AS_FLOATS
from arbornet.data.looks.numbers_in_text import form_of_text
from arbornet.text import notebook
from arbornet.text.terminal import several, shortened, width, wrapped
from arbornet.text.visible import visible_name, written

if TYPE_CHECKING:
    from arbornet.data.column import Column
    from arbornet.data.schema import Schema

GAPS = 8
HEAD = ("column", "kind", "levels or range", "missing", "why")
LIMITS = (28, 20, 40, 16, 90)
"""The widest each cell may be, in columns of the terminal."""
LEAST = ((2, 25), (4, 24), (2, 18), (4, 19), (2, 14), (3, 7), (1, 11), (0, 20), (4, 12), (0, 10), (2, 10))
"""What is narrowed on a narrow terminal, and to what width: levels and ranges first, names last."""
MOST_LINES = 4
"""Of a cell that does not fit into one."""
PLAINER = (
    (r" in [\d,]+ rows\b", ""),
    (r"whole numbers, many distinct ones", "many whole numbers"),
    (r"distinct ", ""),
    (r"numbers with a fraction", "decimal numbers"),
    (r", -?\d+ to -?\d+ without a gap: a scale", ""),
    (r", not consecutive: treated as labels", ""),
    (r"(two whole numbers), .*: labels", r"\1"),
    (r": too few rows for each to be a level", ""),
)
"""Shorter forms of reasons."""


def _number(x: float) -> str:
    return f"{x:.0f}" if 1e6 <= abs(x) < 1e15 else f"{x:.6g}"


def _date(days: float) -> str:
    try:
        moment = datetime.datetime(1970, 1, 1) + datetime.timedelta(days=days)
    except OverflowError:
        return f"day {days:g}"
    return moment.isoformat(" ", "seconds").removesuffix(" 00:00:00")


def range_text(column: Column) -> str:
    """The smallest and the largest value of a column of numbers: `0.2 to 1.4`."""
    if column.range_ is None:
        return ""
    if column.class_ in ("time", "duration"):
        return f"{calendar.told(column.range_[0], column.class_)} to {calendar.told(column.range_[1], column.class_)}"
    form = form_of_text(column.form) if column.form is not None else None
    if form is not None:
        return f"{form.said(column.range_[0])} to {form.said(column.range_[1])}"
    shown = _date if column.class_ in ("date", "datetime") else _number
    zone = " UTC" if column.zone else ""
    return f"{shown(column.range_[0])}{zone} to {shown(column.range_[1])}{zone}"


def _between(column: Column) -> str:
    return " < " if column.word == "ordinal" else ", "


def _holds(column: Column) -> str:
    if column.levels is not None:
        return _between(column).join(map(written, column.levels))
    if column.word == "categorical" and getattr(column.kind, "max_levels", None) is not None:
        return (
            f"the {getattr(column.kind, 'max_levels', 2) - 1} most frequent, {getattr(column.kind, 'other', 'other')}"
        )
    return range_text(column)


def _missing(column: Column) -> str:
    if column.missing == 0:
        return ""
    return f"{column.missing:,} ({column.missing / max(column.n_rows, 1):.1%})"


MOST_TOLD = 12


def _advice(schema: Schema) -> list[str]:
    """How to change columns that were not read as they came, then what looks wrong."""
    taken = [c for c in schema.columns if c.hint is not None and (c.form is not None or not c.used or _is_guess(c))]
    alike: dict[str, list[Column]] = {}
    for column in taken:
        alike.setdefault(_without_name(column), []).append(column)
    lines = [line for those in alike.values() for line in _hints(those)]
    out = ["to read columns differently:", *_first_few(lines)] if lines else []
    found = [visible_name(one) for one in schema.findings]
    return out + (["what looks wrong:", *_first_few(found)] if found else [])


MANY_ALIKE = 4
"""So many columns with the same hint are told of in one line: questionnaires have hundreds."""


def _without_name(column: Column) -> str:
    """A hint without the name of its column."""
    named = rf"\({re.escape(column.name)}=|(?<![^({{ ]){re.escape(repr(column.name))}(?![^:)])"
    return re.sub(named, "NAME", column.hint or "")


def _hints(those: Sequence[Column]) -> list[str]:
    """The hints of columns that have the same; of many that of the first."""
    if len(those) < MANY_ALIKE:
        return [f"{visible_name(column.name)}: {visible_name(column.hint)}" for column in those]
    first, *others = those
    return [
        f"{visible_name(first.name)} and {len(others)} more, to {visible_name(others[-1].name)}: "
        + visible_name(first.hint)
    ]


def _is_guess(column: Column) -> bool:
    """Whether the kind is a guess: you may want another, or an order."""
    if column.looks_like == "code":
        return column.word == "categorical"
    return (
        column.looks_like == "date"
        or "an.Ordinal" in (column.hint or "")
        or column.reason.endswith(("an order", HELD_AS_FLOATS))
    )


def identity(schema: Schema) -> str:
    """What distinguishes a schema from others, a line for each column: its name, its type, its levels or range."""
    return "\n".join("\t".join(_cells(column)[:3]) for column in schema.columns)


def _first_few(lines: list[str]) -> list[str]:
    more = [f"  ... and {len(lines) - MOST_TOLD} more"] if len(lines) > MOST_TOLD else []
    return [f"  {each}" for each in lines[:MOST_TOLD]] + more


def _cells(column: Column) -> tuple[str, ...]:
    kind = str(column.kind) if column.used else "left out"
    why = column.reason if column.used else f"{column.left_out}"
    return tuple(map(visible_name, (column.name, kind, _holds(column), _missing(column), why)))


def _summary(schema: Schema) -> str:
    words = [column.word for column in schema.used]
    counts = [f"{words.count(word)} {word}" for word in ("continuous", "categorical", "ordinal") if word in words]
    left = len(schema) - len(words)
    n_rows = schema.columns[0].n_rows if schema.columns else 0
    return f"{several(n_rows, 'row')}; " + ", ".join(counts + ([f"{left} left out"] if left else []))


def as_text(schema: Schema, said: Callable[[str], str] = str) -> str:
    """The schema as a table of plain text that fits the terminal.

    Args:
        schema: The schema.
        said: Rewrites a reason, as for options of the shell.
    """
    most = width()
    rows = [[*_cells(c)[:-1], said(_cells(c)[-1])] for c in schema.columns]
    if sum(_widths(rows)) + GAPS > most:
        rows = [[*row[:-1], _plainer(row[-1])] for row in rows]
    widths = _widths(rows)
    for i, least in LEAST:
        over = sum(widths) + GAPS - most
        widths[i] -= max(0, min(over, widths[i] - least))
    heads = [_broken(head, wide) for head, wide in zip(HEAD, widths, strict=True)]
    table = [*map(list, zip_longest(*heads, fillvalue="")), ["-" * wide for wide in widths]]
    for row, column in zip(rows, schema.columns, strict=True):
        cells = [_broken(cell, wide) for cell, wide in zip(row, widths, strict=True)]
        if column.levels is not None:  # those that do not fit in a line say little
            cells[2] = [shortened(row[2], widths[2], _between(column))]
        table += map(list, zip_longest(*cells, fillvalue=""))
    lines = ["  ".join(cell.ljust(wide) for cell, wide in zip(row, widths, strict=True)).rstrip() for row in table]
    return "\n".join([*lines, wrapped(_summary(schema)), *map(said, _advice(schema))])


def _broken(cell: str, wide: int) -> list[str]:
    """The lines of a cell, broken at words, and within those that are too long."""
    lines = textwrap.wrap(cell, wide, break_on_hyphens=False) or [""]
    return (
        [*lines[: MOST_LINES - 1], shortened(" ".join(lines[MOST_LINES - 1 :]), wide)]
        if len(lines) > MOST_LINES
        else lines
    )


def _widths(rows: Sequence[Sequence[str]]) -> list[int]:
    """The width of each column of the table, at most its limit."""
    widest = [max(map(len, cells)) for cells in zip(HEAD, *rows, strict=True)]
    return list(map(min, widest, LIMITS))


def _plainer(reason: str) -> str:
    """A reason without what other columns and the last line of the table say already."""
    for pattern, plainer in PLAINER:
        reason = re.sub(pattern, plainer, reason)
    return reason


def as_html(schema: Schema) -> str:
    """The schema as an HTML table."""
    known = any(column.looks_like for column in schema.columns)

    def cells(head: Sequence[str], looks_like: str) -> list[str]:
        """With what the column looks like next to its kind, if known."""
        return [*head[:2], *([looks_like] if known else []), *head[2:]]

    rows = (cells([shortened(cell, 200) for cell in _cells(c)], c.looks_like) for c in schema.columns)
    advice = html.escape("\n".join(_advice(schema)))
    table = notebook.table(cells(HEAD, "looks like"), rows, _summary(schema))
    return table + (f"<pre>{advice}</pre>" if advice else "")


def column_text(column: Column) -> str:
    """One column in a line: its name, kind, levels or range, and why."""
    name, kind, holds, missing, why = (
        shortened(cell, limit) for cell, limit in zip(_cells(column), LIMITS, strict=True)
    )
    lacks = f"{missing} missing" if missing else ""
    return f"{name}: {'; '.join(part for part in (kind, holds, lacks, why) if part)}"
