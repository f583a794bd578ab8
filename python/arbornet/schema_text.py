"""A schema for reading: a table of plain text, and the same for a notebook."""

from __future__ import annotations

import datetime
import html
from collections.abc import Sequence
from typing import TYPE_CHECKING

from arbornet import moments
from arbornet.visible import visible_name

if TYPE_CHECKING:
    from arbornet.schema import Column, Schema

HEAD = ("column", "kind", "levels or range", "missing", "why")
LIMITS = (28, 20, 40, 16, 90)


def _number(x: float) -> str:
    return f"{x:.6g}"


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
        return f"{moments.told(column.range_[0], column.class_)} to {moments.told(column.range_[1], column.class_)}"
    shown = _date if column.class_ in ("date", "datetime") else _number
    zone = " UTC" if column.zone else ""
    return f"{shown(column.range_[0])}{zone} to {shown(column.range_[1])}{zone}"


def _holds(column: Column) -> str:
    if column.levels is not None:
        return " < ".join(map(str, column.levels)) if column.word == "ordinal" else ", ".join(map(str, column.levels))
    if column.word == "categorical" and getattr(column.kind, "max_levels", None) is not None:
        return (
            f"the {getattr(column.kind, 'max_levels', 2) - 1} most frequent, {getattr(column.kind, 'other', 'other')}"
        )
    return range_text(column)


def _missing(column: Column) -> str:
    if column.missing == 0:
        return ""
    return f"{column.missing:,} ({column.missing / max(column.n_rows, 1):.1%})"


def _cells(column: Column) -> tuple[str, ...]:
    kind = str(column.kind) if column.used else "left out"
    why = column.reason if column.used else f"{column.left_out}"
    return tuple(map(visible_name, (column.name, kind, _holds(column), _missing(column), why)))


def _short(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _summary(schema: Schema) -> str:
    words = [column.word for column in schema.used]
    counts = [f"{words.count(word)} {word}" for word in ("continuous", "categorical", "ordinal") if word in words]
    left = len(schema) - len(words)
    n_rows = schema.columns[0].n_rows if schema.columns else 0
    return f"{n_rows:,} rows; " + ", ".join(counts + ([f"{left} left out"] if left else []))


def as_text(schema: Schema) -> str:
    """The schema as a table of plain text."""
    rows: list[Sequence[str]] = [HEAD]
    rows += [[_short(cell, limit) for cell, limit in zip(_cells(c), LIMITS, strict=True)] for c in schema.columns]
    widths = [max(len(row[i]) for row in rows) for i in range(len(HEAD))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    rule = "  ".join("-" * width for width in widths)
    return "\n".join([lines[0], rule, *lines[1:], _summary(schema)])


def as_html(schema: Schema) -> str:
    """The schema as an HTML table."""

    def row(cells: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    body = "".join(row([_short(cell, 200) for cell in _cells(column)], "td") for column in schema.columns)
    head = row(HEAD, "th")
    return f"<table><thead>{head}</thead><tbody>{body}</tbody></table><p>{html.escape(_summary(schema))}</p>"
