"""A tree as an outline for the page: line by line, each leaf with its chart, its answer and its rows.

An outline is as wide as the panel that holds it, so an answer is never cut off, and parts of it can be folded: then
the leaves of the part answer together. What opens folded is chosen here: the branches with the fewest rows, until
what is left fits one look.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from arbornet.show.draw.parts import Again, Leaf, Split, Tree
from arbornet.show.draw.spark import pooled, spark_axis, sparks
from arbornet.show.draw.svg import svg
from arbornet.show.draw.tree import percent, summary

AT_ONCE = 14
"""No more leaves than this are shown before something is unfolded."""
SAID, MOSTLY = 3, 0.8
"""At most so many levels are named at a leaf; fewer, if they have this share together."""


def outline(tree: Tree) -> dict[str, Any]:
    """The tree as nested dicts, ready for JSON."""
    total = sum(leaf.n for leaf in tree.leaves())

    def answer(leaf: Leaf) -> dict[str, Any]:
        chart = svg(sparks(tree, [leaf])[0], style=False)
        return {"says": _says(leaf, tree), "n": leaf.n, "share": _share(leaf.n, total), "chart": chart}

    def told(node: Split | Leaf | Again) -> dict[str, Any]:
        if isinstance(node, Again):
            return {"again": node.name}
        named = {"name": node.name} if node.name else {}
        if isinstance(node, Split):
            leaves = list(Tree(tree.child, node).leaves())
            below = [{"label": label, "to": told(sub)} for label, sub in node.branches]
            said = answer(pooled(leaves)) if leaves else {"n": 0}
            return {**named, "ask": node.variable, "leaves": len(leaves), **said, "to": below}
        return {**named, **({"formula": node.formula} if node.formula else {}), **answer(node)}

    root = told(tree.root)
    _fold(root)
    return {"root": root, "axis": svg(spark_axis(tree), style=False)}


def _share(n: float, total: float) -> str:
    return percent(n / total) if total else ""


def _says(leaf: Leaf, tree: Tree) -> str:
    """The answer: a number with its spread, or the likeliest levels."""
    if not leaf.probabilities:
        return summary(leaf, tree.child)
    shares, levels = leaf.probabilities, tree.child.levels
    shown = sorted(range(len(shares)), key=lambda i: (-shares[i], i))
    if len(levels) <= SAID:
        shown.sort()
    else:  # the likeliest, until little is left
        enough = next((k for k in range(1, SAID) if math.fsum(shares[i] for i in shown[:k]) >= MOSTLY), SAID)
        shown = shown[:enough]
    said = [f"{levels[i]}: {percent(shares[i])}" for i in shown]
    return ", ".join(said + (["…"] if len(levels) > len(shown) else []))


def _fold(root: dict[str, Any]) -> None:
    """Marks branches as folded, those with the fewest rows first, until at most `AT_ONCE` leaves stand open."""
    inner = sorted((node for node in _splits(root) if node is not root), key=lambda node: (node["n"], node["leaves"]))
    for node in inner:
        if _open(root) <= AT_ONCE:
            return
        if node["leaves"] > 1:
            node["folded"] = True


def _splits(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if "ask" in node:
        yield node
        for branch in node["to"]:
            yield from _splits(branch["to"])


def _open(node: dict[str, Any]) -> int:
    """The lines with an answer that are seen."""
    return 1 if "ask" not in node or node.get("folded") else sum(_open(branch["to"]) for branch in node["to"])
