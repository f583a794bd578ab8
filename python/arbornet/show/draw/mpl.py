"""A scene on a matplotlib axis, for PDF, PNG and composed figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arbornet.show.draw.scene import PAINTS, Area, Box, Curve, Line, Mark, Scene, Text
from arbornet.show.draw.svg import cut_corners

if TYPE_CHECKING:
    from matplotlib.axes import Axes


POINT = 0.75  # of a pixel, at 96 pixels an inch


def plot(scene: Scene, axis: Axes) -> None:
    """Draws the scene on the axis, pixels becoming data units; the axis keeps its size."""
    axis.set_xlim(0, scene.width)
    axis.set_ylim(scene.height, 0)
    axis.set_aspect("equal")
    axis.set_axis_off()
    # Lines and texts shrink with the picture, as in the SVG.
    figure: Any = axis.figure
    box = axis.get_position()
    inches = figure.get_size_inches()
    pixels = min(inches[0] * box.width * 96 / scene.width, inches[1] * box.height * 96 / scene.height)
    for group in scene.groups:
        for mark in group.marks:
            _add(mark, axis, pixels * POINT)


def figure(scene: Scene) -> Any:
    """A figure as large as the scene."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    drawn = Figure(figsize=(scene.width / 96, scene.height / 96), dpi=192)
    FigureCanvasAgg(drawn)
    plot(scene, drawn.add_axes((0, 0, 1, 1)))
    return drawn


def _add(mark: Mark, axis: Any, unit: float) -> None:
    from matplotlib.patches import FancyBboxPatch, PathPatch, Polygon, Rectangle
    from matplotlib.path import Path

    def paint(name: str | None) -> str:
        return PAINTS[name][0] if name else "none"

    match mark:
        case Box():
            style: dict[str, Any] = {
                "facecolor": paint(mark.fill),
                "edgecolor": paint(mark.stroke),
                "linewidth": mark.thick * unit if mark.stroke else 0,
            }
            if mark.cut:
                axis.add_patch(Polygon(cut_corners(mark), **style))
            elif mark.round:
                boxstyle = f"round,pad=0,rounding_size={min(mark.round, mark.width / 2, mark.height / 2)}"
                axis.add_patch(FancyBboxPatch((mark.x, mark.y), mark.width, mark.height, boxstyle=boxstyle, **style))
            else:
                axis.add_patch(Rectangle((mark.x, mark.y), mark.width, mark.height, **style))
        case Curve():
            codes = [Path.MOVETO] + [Path.CURVE4] * (len(mark.points) - 1)
            path = Path(mark.points, codes)
            axis.add_patch(
                PathPatch(
                    path,
                    fill=False,
                    edgecolor=paint(mark.stroke),
                    linewidth=mark.thick * unit,
                    alpha=mark.opacity,
                    linestyle=(0, (6 / mark.thick, 4 / mark.thick)) if mark.dashed else "-",
                    capstyle="butt",
                )
            )
        case Area():
            axis.add_patch(Polygon(mark.points, facecolor=paint(mark.fill), edgecolor="none", alpha=mark.opacity))
        case Line():
            axis.plot(
                [x for x, _ in mark.points],
                [y for _, y in mark.points],
                color=paint(mark.stroke),
                linewidth=mark.thick * unit,
                linestyle=(0, (3, 3)) if mark.dashed else "-",
                scalex=False,
                scaley=False,
            )
        case Text():
            axis.text(
                mark.x,
                mark.y,
                mark.text,
                fontsize=mark.size * unit * 0.93,
                ha={"start": "left", "middle": "center", "end": "right"}[mark.anchor],
                va="baseline",
                color=paint(mark.paint),
                weight="bold" if mark.bold else "normal",
                parse_math=False,
            )
