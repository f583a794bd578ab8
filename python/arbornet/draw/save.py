"""Where a picture goes: an SVG, PNG or PDF file, a matplotlib axis, or a notebook."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from typing import Any

from arbornet.draw import mpl
from arbornet.draw.scene import Scene
from arbornet.draw.svg import svg
from arbornet.io.whole import whole, write_whole


@dataclass(frozen=True)
class Picture:
    """A picture that shows itself in a notebook; `str` of it is SVG."""

    svg: str

    def __str__(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        title = re.search("<title>(.*?)</title>", self.svg)
        return f"<Picture: {html.unescape(title[1])}>" if title else "<Picture>"

    def _repr_svg_(self) -> str:
        return self.svg


def put(scene: Scene, target: Any) -> Picture | None:
    """Writes the scene to a path, by its ending, or draws it on a matplotlib axis; without a target gives the picture.

    Raises:
        ValueError: For another ending.
        ImportError: If the format needs a package that is not installed; the message names it.
    """
    if target is None:
        return Picture(svg(scene))
    if hasattr(target, "add_patch"):
        mpl.plot(scene, target)
        return None
    if not isinstance(target, str | PathLike):
        raise ValueError(f"cannot draw to {target!r}: give a path, a matplotlib axis, or nothing")
    path = Path(target)
    ending = path.suffix.lower()
    if ending == ".svg":
        write_whole(path, svg(scene))
    elif ending == ".png" and find_spec("cairosvg"):
        import cairosvg

        write_whole(path, cairosvg.svg2png(bytestring=svg(scene, background=True).encode(), scale=2))
    elif ending in (".png", ".pdf") and find_spec("matplotlib"):
        # No date inside, so the same picture gives the same bytes.
        with whole(path) as place:
            mpl.figure(scene).savefig(
                place, metadata={"CreationDate": None} if ending == ".pdf" else {"Software": None}
            )
    elif ending in (".png", ".pdf"):
        instead = path.with_suffix(".svg").name
        raise ImportError(f"drawing {path.name!r} needs matplotlib (pip install matplotlib); {instead!r} needs nothing")
    else:
        raise ValueError(f"cannot draw to {path.name!r}: use a name ending in .svg, .png or .pdf, or a matplotlib axis")
    return None
