"""The picture of a spline: the child against each parent, the others held at their medians (or usual levels)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from arbornet.show.draw.axis import Axis
from arbornet.show.draw.scene import Group, Line, Mark, Scene, Text, shortened

MARGIN = 14.0
WIDTH, HEIGHT = 230.0, 150.0
LEFT, GAP = 46.0, 30.0
PER_ROW = 3
#: More levels of a child than this are too many lines.
MOST_LINES = 6
PAINTS = ("continuous-line", "categorical-line", "ordinal-line", "ink", "muted", "line")


@dataclass(frozen=True)
class Response:
    """The child against one parent.

    Attributes:
        parent: its name.
        numbers: values of a number at which the child was computed; None for levels.
        levels: the levels, otherwise.
        values: per line (one, or one per level of the child) the child's mean or share at each of them.
        class_: what the numbers stand for: "date", "datetime", "time", "duration", or nothing else.
    """

    parent: str
    numbers: tuple[float, ...] | None
    levels: tuple[str, ...]
    values: tuple[tuple[float, ...], ...]
    class_: str = ""


@dataclass(frozen=True)
class Spline:
    """What is drawn of a spline.

    Attributes:
        child: the child's name.
        lines: its levels, as far as they are drawn; none for a number.
        responses: the child against each parent.
        class_: what a child of numbers stands for, as for a response.
    """

    child: str
    lines: tuple[str, ...]
    responses: tuple[Response, ...]
    class_: str = ""


def spline_scene(spline: Spline, per_row: int = PER_ROW) -> Scene:
    """Draws partial responses side by side, so many in a row, on one scale."""
    child, lines, responses = spline.child, spline.lines, spline.responses
    every = [y for response in responses for line in response.values for y in line] or [0.0]
    low, high = (0.0, max(every)) if lines else (min(every), max(every))
    if high - low <= 1e-12 * max(abs(low), abs(high), 1e-300):
        half = abs(high) / 10 or 0.5
        low, high = low - half, high + half
    axis = Axis(low - 0.04 * (high - low), high + 0.04 * (high - low), spline.class_)
    groups: list[Group] = []
    legend = 22.0 if lines else 0.0
    x = MARGIN + LEFT
    marks: list[Mark] = []
    for i, name in enumerate(lines):
        marks += [Line(((x, MARGIN + 6), (x + 18, MARGIN + 6)), PAINTS[i % len(PAINTS)], 2)]
        marks += [Text(x + 24, MARGIN + 10, shortened(name, 90, 12), 12, "start")]
        x += 130
    if marks:
        groups.append(Group(tuple(marks), "", "legend"))
    for i, response in enumerate(responses):
        left = MARGIN + LEFT + (i % per_row) * (WIDTH + LEFT + GAP)
        top = MARGIN + legend + 24 + (i // per_row) * (HEIGHT + 62)
        groups.append(_panel(child, lines, response, axis, left, top))
    n_columns, n_rows = min(len(responses), per_row) or 1, -(-len(responses) // per_row) or 1
    width = 2 * MARGIN + n_columns * (WIDTH + LEFT + GAP)
    title = f"{child} against each parent, the others at their medians"
    described = "; ".join(group.title for group in groups if group.title)
    return Scene(width, 2 * MARGIN + legend + 24 + n_rows * (HEIGHT + 62), title, described, tuple(groups))


def _panel(child: str, lines: Sequence[str], response: Response, axis: Axis, left: float, top: float) -> Group:
    bottom = top + HEIGHT
    marks: list[Mark] = [Text(left, top - 10, shortened(response.parent, WIDTH), 13, "start", bold=True)]
    for tick, called in axis.ticks():
        y = bottom - HEIGHT * axis.share(tick)
        marks.append(Line(((left, y), (left + WIDTH, y)), "grid"))
        marks.append(Text(left - 6, y + 4, called, 11, "end", "muted"))
    marks.append(Line(((left, bottom), (left + WIDTH, bottom)), "line"))
    paint = [PAINTS[i % len(PAINTS)] for i in range(len(response.values))]
    if response.numbers is not None:
        first, last = response.numbers[0], response.numbers[-1]
        ends = (first, last) if last > first else (first - 0.5, first + 0.5)
        along = Axis(*ends, response.class_)
        for tick, called in along.ticks():
            at = left + WIDTH * along.share(tick)
            marks.append(Text(at, bottom + 16, called, 11, paint="muted"))
        for colour, values in zip(paint, response.values, strict=True):
            points = [
                (left + WIDTH * along.share(x), bottom - HEIGHT * axis.share(y))
                for x, y in zip(response.numbers, values, strict=True)
            ]
            marks.append(Line(tuple(points), colour, 2))
    else:
        step = WIDTH / max(1, len(response.levels))
        for i, level in enumerate(response.levels):
            at = left + (i + 0.5) * step
            marks.append(Text(at, bottom + 16 + 13 * (i % 2), shortened(level, 2 * step - 4, 11), 11, paint="muted"))
            for colour, values in zip(paint, response.values, strict=True):
                y = bottom - HEIGHT * axis.share(values[i])
                marks.append(Line(((at - 0.35 * step, y), (at + 0.35 * step, y)), colour, 3))
    return Group(tuple(marks), f"{child} against {response.parent}", "response")
