"""How things show themselves in a notebook: tables, texts, and files that were written."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from arbornet.visible import visible_name


class Text(str):
    """A text of several lines that shows itself as such: in a notebook, and where Python echoes a value."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self)}</pre>"


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

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str | bytes]:
        """What IPython shows, by kind; a file that is gone is only named."""
        shown: dict[str, str | bytes] = {"text/plain": repr(self)}
        ending = self.path.suffix.lower()
        try:
            if ending == ".svg":
                shown["image/svg+xml"] = self.path.read_text(encoding="utf-8")
            elif ending == ".png":
                shown["image/png"] = self.path.read_bytes()
            elif self.path.exists():
                address, name = quote(self.path.as_posix()), html.escape(visible_name(self.path))
                shown["text/html"] = f'<a href="{address}" target="_blank" rel="noopener">{name}</a>'
        except OSError:
            pass
        return shown


def table(head: Sequence[str], rows: Iterable[Sequence[object]], caption: str = "") -> str:
    """An HTML table with a line below."""

    def line(cells: Sequence[object], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(visible_name(cell))}</{tag}>" for cell in cells) + "</tr>"

    body = "".join(line(row, "td") for row in rows)
    below = f"<p>{html.escape(caption)}</p>" if caption else ""
    return f"<table><thead>{line(head, 'th')}</thead><tbody>{body}</tbody></table>{below}"
