"""A scene as SVG text: small, self-contained, readable aloud, following the reader's light or dark theme."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape

from arbornet.show.draw.scene import PAINTS, Area, Box, Curve, Group, Line, Mark, Point, Scene, Text

FONT = "system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans',Helvetica,Arial,sans-serif"
LEGIBLE = 0.85
"""Texts are 13 units high, so they have 11 pixels at this scale."""


def svg(scene: Scene, style: bool = True, background: bool = False) -> str:
    """The scene as an SVG element.

    Args:
        scene: What to draw.
        style: Whether it brings its own style sheet; a page that holds many pictures may hold the style once.
        background: Whether to paint the paper; otherwise the picture is transparent.
    """
    width, height = number(scene.width), number(scene.height)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="an-picture" role="img" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" aria-label="{text(scene.title)}">',
        f"<title>{text(scene.title)}</title>",
        f"<desc>{text(scene.description)}</desc>",
    ]
    if style:
        parts.append(f"<style>{style_sheet()}</style>")
    if background:
        parts.append(f'<rect class="an-f-paper" width="{width}" height="{height}"/>')
    parts.extend(_group(group) for group in scene.groups)
    parts.append("</svg>\n")
    return "\n".join(parts)


def style_sheet(dark: str = "@media (prefers-color-scheme:dark)") -> str:
    """The colours of all paints, the dark ones behind the given condition."""

    def rules(shade: int) -> str:
        return "".join(
            f".an-f-{name}{{fill:{both[shade]}}}.an-s-{name}{{stroke:{both[shade]}}}" for name, both in PAINTS.items()
        )

    return f".an-picture{{font-family:{FONT};fill:none}}.an-picture text{{stroke:none}}{rules(0)}{dark}{{{rules(1)}}}"


DARK_PAGES = ("[data-jp-theme-light=false]", ".vscode-dark", "html[theme=dark]")
LIGHT_PAGES = ("[data-jp-theme-light=true]", ".vscode-light", "html[theme=light]")
"""How Jupyter, Visual Studio Code and Colab mark pages of their dark and light themes."""


def for_notebook(picture: str) -> str:
    """A picture on a sheet of paper of its own, which follows the notebook's theme where that is told.

    A notebook may be light on a dark system or dark on a light one, and may show a picture as an image that cannot know
    the page around it. On its own paper it can be read on any.
    """
    head, end, rest = picture.partition("</style>")
    if 'class="an-picture"' not in head or not end:
        return picture
    themes = "".join(
        f"{page} .an-{letter}-{name}{{{what}:{both[shade]}}}"
        for shade, pages in ((0, LIGHT_PAGES), (1, DARK_PAGES))
        for page in pages
        for name, both in PAINTS.items()
        for letter, what in (("f", "fill"), ("s", "stroke"))
    )
    return f'{head}{themes}{end}<rect class="an-f-paper" width="100%" height="100%" rx="6"/>{rest}'


def in_cell(picture: str) -> str:
    """The same as HTML: as wide as the cell at the most while its labels can be read, else with a bar to scroll."""
    width = re.search(r'width="([\d.]+)"', picture)
    least = LEGIBLE * float(width[1]) if width else 0.0
    fits = f'<svg style="max-width: max(100%, {number(least)}px); height: auto" '
    return f'<div style="overflow-x: auto">{for_notebook(picture).replace("<svg ", fits, 1)}</div>'


def text(value: str) -> str:
    """Escaped for text and attributes; characters XML forbids become the replacement character."""
    allowed = (
        c if c in "\t\n\r" or " " <= c < "\ud800" or "\udfff" < c < "\ufffe" or c > "\uffff" else "�" for c in value
    )
    return escape("".join(allowed))


def number(value: float) -> str:
    """At most two decimals, none where not needed."""
    out = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if out == "-0" else out


def _points(points: Iterable[Point]) -> str:
    return " ".join(f"{number(x)},{number(y)}" for x, y in points)


def _group(group: Group) -> str:
    attributes = "".join(f' data-{key}="{text(value)}"' for key, value in group.data)
    role = f' class="an-{group.role}"' if group.role else ""
    title = f"<title>{text(group.title)}</title>" if group.title else ""
    return f"<g{role}{attributes}>{title}{''.join(map(_mark, group.marks))}</g>"


def _mark(mark: Mark) -> str:
    match mark:
        case Box():
            return _box(mark)
        case Curve():
            path = f"M{_points(mark.points[:1])}C{_points(mark.points[1:])}"
            dashes = ' stroke-dasharray="6 4"' if mark.dashed else ""
            line = f'stroke-width="{number(mark.thick)}"{dashes}{_faint(mark.opacity)}'
            return f'<path class="an-s-{mark.stroke}" d="{path}" {line}/>'
        case Area():
            return f'<polygon class="an-f-{mark.fill}" points="{_points(mark.points)}"{_faint(mark.opacity)}/>'
        case Line():
            dashes = ' stroke-dasharray="3 3"' if mark.dashed else ""
            return (
                f'<polyline class="an-s-{mark.stroke}" points="{_points(mark.points)}" '
                f'stroke-width="{number(mark.thick)}"{dashes}/>'
            )
        case Text():
            anchor = "" if mark.anchor == "start" else f' text-anchor="{mark.anchor}"'
            weight = ' font-weight="600"' if mark.bold else ""
            return (
                f'<text class="an-f-{mark.paint}" x="{number(mark.x)}" y="{number(mark.y)}" '
                f'font-size="{number(mark.size)}"{anchor}{weight}>{text(mark.text)}</text>'
            )


def _faint(opacity: float) -> str:
    return f' opacity="{number(opacity)}"' if opacity < 1 else ""


def _box(box: Box) -> str:
    classes = " ".join(name for name in (box.fill and f"an-f-{box.fill}", box.stroke and f"an-s-{box.stroke}") if name)
    line = f' stroke-width="{number(box.thick)}"' if box.stroke else ""
    if box.cut:
        return f'<polygon class="{classes}" points="{_points(cut_corners(box))}"{line}/>'
    corner = f' rx="{number(box.round)}"' if box.round else ""
    return (
        f'<rect class="{classes}" x="{number(box.x)}" y="{number(box.y)}" width="{number(box.width)}" '
        f'height="{number(box.height)}"{corner}{line}/>'
    )


def cut_corners(box: Box) -> tuple[Point, ...]:
    """The outline of a box without its corners."""
    left, top, right, bottom, cut = box.x, box.y, box.x + box.width, box.y + box.height, box.cut
    return (
        (left + cut, top),
        (right - cut, top),
        (right, top + cut),
        (right, bottom - cut),
        (right - cut, bottom),
        (left + cut, bottom),
        (left, bottom - cut),
        (left, top + cut),
    )
