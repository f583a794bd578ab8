"""Where a picture goes: an SVG, PNG or PDF file, a matplotlib axis, or a notebook."""

from __future__ import annotations

import html
import io
import re
from dataclasses import dataclass
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, cast

from arbornet._core import ParameterError
from arbornet.given import Target
from arbornet.show.draw import mpl
from arbornet.show.draw.file import File
from arbornet.show.draw.scene import Scene
from arbornet.show.draw.svg import for_notebook, in_cell, svg
from arbornet.system.whole import write_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
        return for_notebook(self.svg)

    def _repr_html_(self) -> str:
        return in_cell(self.svg)


def put(scene: Scene, target: Target) -> Picture | File | None:
    """Writes the scene to a path, by its ending, or draws it on a matplotlib axis; without a target gives the picture.

    Raises:
        ParameterError: For another ending, or another target.
        ImportError: If the format needs a package that is not installed; the message names it.
        OSError: If the file cannot be written.
    """
    if target is None:
        return Picture(svg(scene))
    if hasattr(target, "add_patch"):
        mpl.plot(scene, cast("Axes", target))
        return None
    if not isinstance(target, str | PathLike):
        raise ParameterError(f"cannot draw to {target!r}: give a path, a matplotlib axis, or nothing")
    write_whole(Path(target), drawn(scene, check_ending(target)))
    return File(Path(target))


def check_ending(path: str | PathLike[str]) -> str:
    """The ending of a picture's name.

    Raises:
        ParameterError: If it is not that of a picture.
        ImportError: If such pictures need a package that is not installed; the message names it.
    """
    path = Path(path)
    ending = path.suffix.lower()
    if ending not in (".svg", ".png", ".pdf"):
        raise ParameterError(
            f"cannot draw to {path.name!r}: use a name ending in .svg, .png or .pdf, or a matplotlib axis"
        )
    drawable = ending == ".svg" or find_spec("matplotlib") or (ending == ".png" and find_spec("cairosvg"))
    if not drawable:
        instead = path.with_suffix(".svg").name
        raise ImportError(f"drawing {path.name!r} needs matplotlib (pip install matplotlib); {instead!r} needs nothing")
    return ending


def drawn(scene: Scene, ending: str) -> bytes:
    """The file of a picture, whole before it is written: matplotlib guesses by names, and fails badly on full disks."""
    if ending == ".svg":
        return svg(scene).encode()
    if ending == ".png" and find_spec("cairosvg"):
        import cairosvg

        png: bytes = cairosvg.svg2png(bytestring=svg(scene, background=True).encode(), scale=2)
        return png
    stream = io.BytesIO()
    # No date inside, so the same picture gives the same bytes.
    metadata = {"CreationDate": None} if ending == ".pdf" else {"Software": None}
    mpl.figure(scene).savefig(stream, format=ending[1:], metadata=metadata)
    return stream.getvalue()
