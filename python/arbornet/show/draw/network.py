"""The picture of a network: shapes and colours by kind, arcs as wide as they are strong, a legend."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Literal

from arbornet._core import ParameterError
from arbornet.show import arrows
from arbornet.show.draw.arrange import arranged
from arbornet.show.draw.dot import dot
from arbornet.show.draw.layout import NODE_HEIGHT
from arbornet.show.draw.parts import KINDS, Arc, Graph, KindName, Node
from arbornet.show.draw.scene import Area, Box, Curve, Group, Line, Mark, Point, Scene, Text, shortened, text_width
from arbornet.text.terminal import several

Engine = Literal["layered", "dot"]
MARGIN = 16.0
ARROW = 8.0
LONGEST_NAME = 190.0
SCREEN = (1100.0, 760.0)
"""The canvas of a picture that stands alone."""
NOTEBOOK = (860.0, 620.0)
"""The same in a notebook's cell."""
MOST_DRAWN = 150
"""Beyond so many nodes a picture takes seconds, and nobody can read it in a cell."""


def network_scene(
    graph: Graph,
    engine: Engine = "layered",
    legend: bool = True,
    room: tuple[float, float] = SCREEN,
    most: int | None = None,
    kinds: bool = True,
) -> Scene:
    """Draws a network.

    Args:
        graph: The parts.
        engine: The built-in layered layout, or Graphviz' dot where it is installed.
        legend: Whether to explain the shapes, the arcs and what arrows do not say.
        room: The canvas in pixels that the built-in layout is to fit.
        most: No layer of it holds more nodes than this.
        kinds: Whether shapes and colours tell the kinds, and the legend explains them; false where they are not known.
    """
    if engine not in ("layered", "dot"):
        raise ParameterError(f"engine {engine!r} is neither 'layered' nor 'dot'")
    labels = {node.name: shortened(node.name, LONGEST_NAME) for node in graph.nodes}
    widths = {name: max(56.0, text_width(label) + 28) for name, label in labels.items()}
    pairs = [(arc.parent, arc.child) for arc in graph.arcs]
    layout = arranged(widths, pairs, room, most) if engine == "layered" else dot(widths, pairs)
    key = _legend(graph, layout.height + 2 * MARGIN + 8, kinds) if legend else ()
    key_texts = [mark for group in key for mark in group.marks if isinstance(mark, Text)]
    key_width = max((mark.x + text_width(mark.text, mark.size) for mark in key_texts), default=0.0)
    left = MARGIN + max(0.0, (key_width - layout.width - MARGIN) / 2)
    width = max(layout.width + 2 * MARGIN, key_width + MARGIN)
    height = layout.height + 2 * MARGIN + (30.0 if key else 0.0) + (20.0 if key and graph.arcs else 0.0)

    def moved(point: Point) -> Point:
        return point[0] + left, point[1] + MARGIN

    arcs = tuple(_arc(arc, tuple(map(moved, layout.routes[arc.parent, arc.child]))) for arc in graph.arcs)
    nodes = tuple(
        _node(n, labels[n.name], moved(layout.centres[n.name]), widths[n.name], graph, kinds) for n in graph.nodes
    )
    title = f"Bayesian network of {several(len(nodes), 'variable')} and {several(len(arcs), 'arc')}"
    description = "; ".join(arc.description for arc in graph.arcs) or "no arcs"
    return Scene(width, height, title, description, (*arcs, *nodes, *key))


def shape(kind: KindName, centre: Point, width: float, height: float) -> Box:
    """The outline of a kind: numbers are pills, categories round boxes, ordered levels boxes with cut corners."""
    return Box(
        centre[0] - width / 2,
        centre[1] - height / 2,
        width,
        height,
        kind,
        f"{kind}-line",
        round={"continuous": height / 2, "categorical": 5.0, "ordinal": 0.0}[kind],
        cut=min(8.0, height / 3) if kind == "ordinal" else 0.0,
    )


def _node(node: Node, label: str, centre: Point, width: float, graph: Graph, kinds: bool) -> Group:
    parents = ", ".join(arc.parent for arc in graph.arcs if arc.child == node.name)
    title = (f"{node.name} ({node.description})" if kinds else node.name) + (
        f"; depends on {parents}" if parents else ""
    )
    outline = shape(node.kind, centre, width, NODE_HEIGHT)
    if not kinds:
        outline = replace(outline, fill="paper", stroke="line", round=5.0, cut=0.0)
    marks = (outline, Text(centre[0], centre[1] + 4.5, label))
    return Group(marks, title, "node", (("name", node.name), *((("kind", node.kind),) if kinds else ())))


def _arc(arc: Arc, route: tuple[Point, ...]) -> Group:
    known = arc.strength is not None and not math.isnan(arc.strength)
    strength = min(max(arc.strength or 0.0, 0.0), 1.0) if known else 0.35
    thick = 0.8 + 2.4 * strength
    opacity = 0.5 + 0.45 * strength if known else 0.9
    tip = route[-1]
    behind = next((p for p in reversed(route[:-1]) if p != tip), (tip[0], tip[1] - 1))
    length = math.dist(tip, behind)
    along = ((tip[0] - behind[0]) / length, (tip[1] - behind[1]) / length)
    size = ARROW + thick
    base = (tip[0] - along[0] * size, tip[1] - along[1] * size)
    half = size * 0.42
    head = (
        tip,
        (base[0] - along[1] * half, base[1] + along[0] * half),
        (base[0] + along[1] * half, base[1] - along[0] * half),
    )
    data = (("parent", arc.parent), ("child", arc.child), *((("either-way", "yes"),) if arc.either_way else ()))
    if arc.either_way:  # an open head on a dashed line: a direction, but not a firm one
        marks: tuple[Mark, ...] = (
            Curve((*route[:-1], tip), "line", thick, opacity, dashed=True),
            Line((head[1], tip, head[2]), "line", max(1.2, thick)),
        )
    else:
        stop = (tip[0] - along[0] * size * 0.7, tip[1] - along[1] * size * 0.7)
        marks = (Curve((*route[:-1], stop), "line", thick, opacity), Area(head, "line", opacity))
    return Group(marks, arc.description, "arc", data)


def _legend(graph: Graph, y: float, kinds: bool) -> tuple[Group, ...]:
    groups = []
    x = MARGIN
    used = [kind for kind in KINDS if kinds and any(node.kind == kind for node in graph.nodes)]
    says = {"continuous": "number", "categorical": "categories", "ordinal": "ordered levels"}
    for kind in used:
        label = says[kind]
        groups.append(
            Group((shape(kind, (x + 13, y), 26, 16), Text(x + 33, y + 4, label, 12, "start", "muted")), label, "key")
        )
        x += 33 + text_width(label, 12) + 22
    if any(arc.strength is not None for arc in graph.arcs):
        for strength, label in ((0.2, "weak arc"), (1.0, "strong arc")):
            mark = _arc(Arc("", "", strength), ((x, y), (x + 9, y), (x + 18, y), (x + 30, y)))
            groups.append(Group((*mark.marks, Text(x + 37, y + 4, label, 12, "start", "muted")), label, "key"))
            x += 37 + text_width(label, 12) + 22
    if any(arc.either_way for arc in graph.arcs):
        mark = _arc(Arc("", "", either_way=True), ((x, y), (x + 9, y), (x + 18, y), (x + 30, y)))
        groups.append(Group((*mark.marks, Text(x + 37, y + 4, arrows.EITHER_WAY, 12, "start", "muted")), "", "key"))
    if graph.arcs:
        groups.append(Group((Text(MARGIN, y + 26, arrows.NOT_CAUSES, 12, "start", "muted"),), "", "key"))
    return tuple(groups)
