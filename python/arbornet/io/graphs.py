"""Graphs for other programs: Graphviz' DOT and GraphML."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any

import networkx as nx

from arbornet.io.xml import checked
from arbornet.system.whole import write_whole

SHAPES = {"continuous": "ellipse", "categorical": "box", "ordinal": "octagon"}


def to_dot(graph: nx.DiGraph[str], path: str | Path | None = None) -> str:
    """The graph in the language of Graphviz; names may hold anything."""
    lines = ["digraph {"]
    for name, data in graph.nodes(data=True):
        lines.append(f"  {_quoted(name)} [shape={SHAPES.get(data.get('kind', ''), 'box')}];")
    for parent, child, data in graph.edges(data=True):
        figures = [f"{key}={data[key]:.6g}" for key in ("strength", "contribution") if key in data]
        label = f' [label="{", ".join(figures)}"]' if figures else ""
        lines.append(f"  {_quoted(parent)} -> {_quoted(child)}{label};")
    text = "\n".join([*lines, "}"]) + "\n"
    if path is not None:
        write_whole(path, text)
    return text


def to_graphml(graph: nx.DiGraph[str], path: str | Path) -> None:
    """The graph as GraphML; levels become one text, separated by ` | `.

    Raises:
        ArbornetError: If a name or a level holds a character that XML cannot.
    """
    plain: nx.DiGraph[str] = nx.DiGraph()
    for name, data in graph.nodes(data=True):
        told = {key: _plain(value) for key, value in data.items() if value is not None}
        for text in (name, *told.values()):
            checked(str(text))
        plain.add_node(name, **told)
    plain.add_edges_from(graph.edges(data=True))
    # Not by the name of the place, which a link may lead to: networkx packs what ends in .gz.
    stream = BytesIO()
    nx.write_graphml(plain, stream)
    write_whole(path, stream.getvalue())


def _plain(value: Any) -> Any:
    return " | ".join(map(str, value)) if isinstance(value, list | tuple) else value


def _quoted(name: str) -> str:
    text = str(name).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{text}"'
