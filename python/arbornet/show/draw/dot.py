"""A layout by Graphviz, for those who have it: `draw(..., engine="dot")`."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence

from arbornet._core import ArbornetError
from arbornet.show.draw.layout import LAYER_GAP, NODE_GAP, NODE_HEIGHT, Layout
from arbornet.show.draw.scene import Point

INCH = 72.0


def dot(widths: Mapping[str, float], arcs: Sequence[tuple[str, str]]) -> Layout:
    """Lays out an acyclic graph with Graphviz' `dot`.

    Raises:
        ArbornetError: If there is no `dot`, or it fails.
    """
    program = shutil.which("dot")
    if program is None:
        raise ArbornetError("engine 'dot' needs Graphviz' `dot` on the PATH; the built-in engine is 'layered'")
    names = list(widths)
    index = {name: i for i, name in enumerate(names)}  # names stay here, so none needs quoting
    lines = [
        f"digraph {{ nodesep={NODE_GAP / INCH} ranksep={LAYER_GAP / INCH}",
        f'node [shape=box fixedsize=true label="" height={NODE_HEIGHT / INCH}] edge [arrowhead=none]',
        *(f"{index[name]} [width={width / INCH:.4f}]" for name, width in widths.items()),
        *(f"{index[u]} -> {index[v]}" for u, v in arcs),
        "}",
    ]
    run = subprocess.run([program, "-Tplain"], input="\n".join(lines), capture_output=True, text=True, check=False)
    if run.returncode:
        raise ArbornetError(f"dot failed: {run.stderr.strip()}")
    height = 0.0
    width = 0.0
    centres: dict[str, Point] = {}
    routes: dict[tuple[str, str], tuple[Point, ...]] = {}
    for line in run.stdout.splitlines():
        kind, *words = shlex.split(line)
        if kind == "graph":
            width, height = float(words[1]) * INCH, float(words[2]) * INCH
        elif kind == "node":
            centres[names[int(words[0])]] = (float(words[1]) * INCH, height - float(words[2]) * INCH)
        elif kind == "edge":
            numbers = [float(w) * INCH for w in words[3 : 3 + 2 * int(words[2])]]
            points = tuple((x, height - y) for x, y in zip(numbers[::2], numbers[1::2], strict=True))
            routes[names[int(words[0])], names[int(words[1])]] = points
    return Layout(width, height, centres, routes)
