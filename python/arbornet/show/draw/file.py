"""A file that was written, and how it shows itself in a notebook."""

from __future__ import annotations

import html
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from arbornet.show.draw.svg import for_notebook, in_cell
from arbornet.text.visible import visible_name

PRINTED_DPI, SCREEN_DPI = 192, 96


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
