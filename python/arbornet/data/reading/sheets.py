"""Where the table of a workbook is: on which sheet, in which row its names.

As in text files, rows before the table (titles, notes) hold fewer cells than its rows, and there is no header where
numbers stand above numbers. A sheet that holds a table has two rows and two columns at least.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from arbornet.data.reading.dialect import MOST_BEFORE, is_header

MOST_ROWS = 400
Rows = Sequence[Sequence[str | None]]


@dataclass(frozen=True)
class Place:
    """Where a table begins on its sheet."""

    n_before: int = 0
    """Rows before it."""
    n_titles: int = 0
    """Those among them from the first that holds something."""
    has_header: bool = True


def sheet_of(names: Sequence[str], rows: Callable[[str], Rows]) -> str:
    """The first sheet that holds a table.

    Args:
        names: The sheets.
        rows: The first rows of a sheet, as texts.
    """
    for width in (2, 1):
        for name in names:
            head = [row for row in rows(name) if any(row)]
            if len(head) >= 2 and max(map(len, head)) >= width:
                return name
    return names[0]


def place_of(rows: Rows) -> Place:
    """Where the table begins, by the first rows of its sheet."""
    filled = [sum(cell is not None and bool(cell.strip()) for cell in row) for row in rows]
    usual = median([n for n in filled if n > 0] or [0])
    at = 0
    while at < min(len(rows) - 1, MOST_BEFORE) and _is_before(rows[at], filled[at], usual):
        at += 1
    if at == min(len(rows) - 1, MOST_BEFORE) and at > 0:
        at = 0  # there is nothing but titles
    first, *rest = [[cell or "" for cell in row] for row in rows[at:]] or [[]]
    empty = next((i for i, n in enumerate(filled) if n > 0), 0)
    return Place(at, max(at - empty, 0), is_header(first, [row for row in rest if any(row)]))


def _is_before(row: Sequence[str | None], n: int, usual: float) -> bool:
    """Whether a row is empty, or a title: few cells, from the first column on, unless there are many columns."""
    return usual > 1 and (n == 0 or (n <= max(1, usual / 2) and (usual >= 4 or bool((row[0] or "").strip()))))
