"""A picture as plain data: boxes, curves and texts in named paints, before it becomes SVG or matplotlib.

Positions are in pixels from the top left corner, downwards. Paints are names of `PAINTS`, each with a light and a
dark colour, so a picture follows its reader's theme.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Point = tuple[float, float]
Anchor = Literal["start", "middle", "end"]

# Name: (light, dark). Texts on the fills keep a contrast above 7, strokes above 3 against the paper.
PAINTS: dict[str, tuple[str, str]] = {
    "paper": ("#ffffff", "#14181d"),
    "ink": ("#1b1f24", "#e8ecf1"),
    "muted": ("#59626d", "#a3aebb"),
    "line": ("#7b8694", "#7d899a"),
    "grid": ("#dfe3e8", "#2d343d"),
    "continuous": ("#dcebfa", "#16334f"),
    "continuous-line": ("#2f6fb0", "#6fb1f0"),
    "categorical": ("#fdecd6", "#452f11"),
    "categorical-line": ("#b1621a", "#efa85b"),
    "ordinal": ("#d9f1e2", "#123c2a"),
    "ordinal-line": ("#267a51", "#5fc995"),
}


@dataclass(frozen=True)
class Box:
    """A rectangle; `round` is the radius of its corners, `cut` the length cut off them."""

    x: float
    y: float
    width: float
    height: float
    fill: str | None = None
    stroke: str | None = None
    round: float = 0.0
    cut: float = 0.0
    thick: float = 1.5


@dataclass(frozen=True)
class Curve:
    """A chain of cubic Bezier pieces: a start, then three points a piece."""

    points: tuple[Point, ...]
    stroke: str
    thick: float = 1.5
    opacity: float = 1.0
    dashed: bool = False


@dataclass(frozen=True)
class Area:
    """A polygon."""

    points: tuple[Point, ...]
    fill: str
    opacity: float = 1.0


@dataclass(frozen=True)
class Line:
    """A chain of straight pieces."""

    points: tuple[Point, ...]
    stroke: str
    thick: float = 1.0
    dashed: bool = False


@dataclass(frozen=True)
class Text:
    """One line of text; `y` is its baseline."""

    x: float
    y: float
    text: str
    size: float = 13.0
    anchor: Anchor = "middle"
    paint: str = "ink"
    bold: bool = False


Mark = Box | Curve | Area | Line | Text


@dataclass(frozen=True)
class Group:
    """Marks that are one thing to a reader, with its name; `data` becomes data-* attributes in SVG."""

    marks: tuple[Mark, ...]
    title: str = ""
    role: str = ""
    data: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Scene:
    """A picture."""

    width: float
    height: float
    title: str
    description: str
    groups: tuple[Group, ...] = field(default_factory=tuple)


# Widths of ASCII in thousandths of the font size, from the metrics of Helvetica; other scripts count as full squares.
_NARROW = dict.fromkeys("ijl'|", 222) | dict.fromkeys(" .,:;!/\\ft[]I", 278) | dict.fromkeys('()-r`"*', 340)
_WIDE = dict.fromkeys("mM", 833) | dict.fromkeys("W", 944) | dict.fromkeys("%@w", 889) | dict.fromkeys("GOQ", 778)


def text_width(text: str, size: float = 13.0) -> float:
    """About how wide a line of text is; no font is asked, so it is the same everywhere."""

    def thousandths(character: str) -> int:
        if character in _NARROW:
            return _NARROW[character]
        if character in _WIDE:
            return _WIDE[character]
        if character.isupper():
            return 690
        return 556 if ord(character) < 0x2E80 else 1000

    return sum(map(thousandths, text)) * size * 1.1 / 1000  # some system fonts run wider than Helvetica


def shortened(text: str, width: float, size: float = 13.0) -> str:
    """The text, or as much of its start and end as fits into the width, round an ellipsis."""
    if text_width(text, size) <= width:
        return text
    for kept in range(len(text) - 1, 1, -1):
        candidate = text[: (kept + 1) // 2 + kept // 4].rstrip() + "…" + text[len(text) - (kept // 2 - kept // 4) :]
        if text_width(candidate, size) <= width:
            return candidate
    return "…"
