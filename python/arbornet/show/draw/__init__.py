"""Pictures of networks and trees.

    parts (what is drawn) ──ranks, order, place──> layout, arrange ──network, tree──> scene ──svg, mpl──> file, notebook

`draw` and `draw_tree` are what a network's and a model's own methods call; they take the parts, or what the parts are
made of (a `networkx.DiGraph`, a nested dict; see `parts`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import networkx as nx

from arbornet.given import Target
from arbornet.show.draw.file import File
from arbornet.show.draw.network import SCREEN, Engine, network_scene
from arbornet.show.draw.parts import Arc, Graph, Leaf, Node, Split, Tree
from arbornet.show.draw.save import Picture, put
from arbornet.show.draw.spline import Spline, spline_scene
from arbornet.show.draw.svg import svg
from arbornet.show.draw.tree import tree_scene

__all__ = [
    "Arc",
    "Graph",
    "Leaf",
    "Node",
    "Picture",
    "Spline",
    "Split",
    "Tree",
    "draw",
    "draw_spline",
    "draw_tree",
    "network_svg",
    "spline_svg",
    "tree_svg",
]


def draw(
    graph: Graph | nx.DiGraph, target: Target = None, *, engine: Engine = "layered", legend: bool = True
) -> Picture | File | None:
    """Draws a network.

    Args:
        graph: The network's parts, or a graph with the attributes `parts` names.
        target: A path ending in .svg, .png or .pdf, or a matplotlib axis; None for a picture to show.
        engine: "layered" (built in) or "dot" (needs Graphviz).
        legend: Whether to explain colours and shapes.
    """
    return put(network_scene(_graph(graph), engine, legend), target)


def draw_tree(tree: Tree | Mapping[str, Any], target: Target = None) -> Picture | File | None:
    """Draws a tree with the distribution at each leaf.

    Args:
        tree: The tree's parts, or the nested dict `parts` describes.
        target: A path ending in .svg, .png or .pdf, or a matplotlib axis; None for a picture to show.
    """
    return put(tree_scene(_tree(tree)), target)


def draw_spline(spline: Spline, target: Target = None) -> Picture | File | None:
    """Draws a spline: the child against each parent.

    Args:
        spline: What is drawn.
        target: A path ending in .svg, .png or .pdf, or a matplotlib axis; None for a picture to show.
    """
    return put(spline_scene(spline), target)


def spline_svg(spline: Spline) -> str:
    """The SVG of a spline, for notebooks and pages."""
    return svg(spline_scene(spline))


def network_svg(
    graph: Graph | nx.DiGraph,
    *,
    engine: Engine = "layered",
    legend: bool = True,
    kinds: bool = True,
    room: tuple[float, float] = SCREEN,
) -> str:
    """The SVG of a network, for notebooks and pages; `kinds=False` where kinds are not known."""
    return svg(network_scene(_graph(graph), engine, legend, room, kinds=kinds))


def tree_svg(tree: Tree | Mapping[str, Any]) -> str:
    """The SVG of a tree, for notebooks (`_repr_svg_`) and pages."""
    return svg(tree_scene(_tree(tree)))


def _graph(graph: Graph | nx.DiGraph) -> Graph:
    return graph if isinstance(graph, Graph) else Graph.of(graph)


def _tree(tree: Tree | Mapping[str, Any]) -> Tree:
    return tree if isinstance(tree, Tree) else Tree.of(tree)
