"""How things show themselves in a notebook: tables, texts, and files that were written."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

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
PRINTED_DPI, SCREEN_DPI = 192, 96


def preformatted(text: str) -> str:
    """A text as it stands; a notebook shows `pre` in the letters of a page unless told otherwise."""
    style = "font-family: monospace; line-height: 1.3; white-space: pre-wrap"
    return f'<pre style="{style}">{html.escape(text)}</pre>'


@dataclass(frozen=True)
class File:
    """A file that was written: a path (`open`, `Path` and `os` take it) that shows what it holds.

    In a notebook a picture shows itself, a page is a link.
    """

    path: Path

    def __fspath__(self) -> str:
        return str(self.path)

    def __str__(self) -> str:
        return str(self.path)

    def __repr__(self) -> str:
        return f"<File: {self.path}>"

    def _repr_mimebundle_(
        self, include: object = None, exclude: object = None
    ) -> tuple[dict[str, str | bytes], dict[str, dict[str, int]]]:
        """What IPython shows, by kind, and how large; a file that is gone is only named."""
        from arbornet.show.draw.svg import for_notebook, in_cell

        shown: dict[str, str | bytes] = {"text/plain": repr(self)}
        sizes: dict[str, dict[str, int]] = {}
        ending = self.path.suffix.lower()
        try:
            if ending == ".svg":
                drawn = self.path.read_text(encoding="utf-8")
                shown["image/svg+xml"], shown["text/html"] = for_notebook(drawn), in_cell(drawn)
            elif ending == ".png":
                picture = shown["image/png"] = self.path.read_bytes()
                # Two dots of the file a pixel: sharp, and as large as the SVG.
                wide, high = (int.from_bytes(picture[at : at + 4], "big") for at in (16, 20))
                sizes["image/png"] = {
                    "width": wide * SCREEN_DPI // PRINTED_DPI,
                    "height": high * SCREEN_DPI // PRINTED_DPI,
                }
            elif self.path.exists():
                address, name = quote(self.path.as_posix()), html.escape(visible_name(self.path))
                shown["text/html"] = f'<a href="{address}" target="_blank" rel="noopener">{name}</a>'
        except OSError:
            pass
        return shown, sizes


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
