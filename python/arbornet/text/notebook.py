"""How things show themselves in a notebook: tables and texts."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence

from arbornet.text.visible import visible_name


class Text(str):
    """A text of several lines that shows itself as such: in a notebook, and where Python echoes a value."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return preformatted(self)


FIGURE = re.compile(r"[-+−<]?[\d,]*\.?\d+(e[-+]?\d+)?%?( ± \S+)?|")
"""What a cell of a column of numbers holds; nothing, too."""


def preformatted(text: str) -> str:
    """A text as it stands; a notebook shows `pre` in the letters of a page unless told otherwise."""
    style = "font-family: monospace; line-height: 1.3; white-space: pre-wrap"
    return f'<pre style="{style}">{html.escape(text)}</pre>'


def table(head: Sequence[str], rows: Iterable[Sequence[object]], caption: str = "") -> str:
    """An HTML table with a line below; texts stand at the left of their columns, figures at the right."""
    body_rows = [[visible_name(cell) for cell in row] for row in rows]
    sides = ["right" if all(map(FIGURE.fullmatch, cells)) else "left" for cells in zip(*body_rows, strict=True)]
    sides = sides or ["left"] * len(head)

    def line(cells: Sequence[str], tag: str) -> str:
        parts = (
            f'<{tag} style="text-align: {side}">{html.escape(cell)}</{tag}>'
            for cell, side in zip(cells, sides, strict=True)
        )
        return f"<tr>{''.join(parts)}</tr>"

    body = "".join(line(row, "td") for row in body_rows)
    below = f"<p>{html.escape(caption)}</p>" if caption else ""
    return f"<table><thead>{line(head, 'th')}</thead><tbody>{body}</tbody></table>{below}"
