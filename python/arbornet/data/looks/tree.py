"""The tree for columns that no rule decides: at most eighty leaves, from the marks of a column, stored in `tree.json`.

It was learned from 7,936 columns of public files that people labelled (`benches/python/kinds.py --learn` writes it;
`docs/kinds.md` prints it with its figures). It decides what a column looks like, never its type.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

Node = Mapping[str, Any]


@cache
def tree() -> Node:
    """The tree: `{"mark", "at", "below", "above"}` down to `{"is"}`."""
    read: Node = json.loads(files("arbornet.data.looks").joinpath("tree.json").read_text(encoding="utf-8"))
    return read


def decided(marks: Mapping[str, float], node: Node | None = None) -> tuple[str, list[str]]:
    """What the tree says of a column, and the marks it looked at on the path to that leaf, in order."""
    node, asked = tree() if node is None else node, []
    while "is" not in node:
        asked.append(str(node["mark"]))
        node = node["below"] if marks[node["mark"]] < node["at"] else node["above"]
    return str(node["is"]), asked


def is_plausible(said: str, marks: Mapping[str, float]) -> bool:
    """Whether what the tree says is plausible: an identifier has mostly distinct values, or a name that says so."""
    return said != "identifier" or marks["distinct per value"] >= 0.5 or marks["name says id"] == 1.0


def question(node: Node, is_below: bool) -> str:
    """One split with its side in words: `words >= 4.5`, `name says id`."""
    mark, at = node["mark"], node["at"]
    if mark in YES_NO:
        return f"not {mark}" if is_below else str(mark)
    return f"{mark} {'<' if is_below else '>='} {at:.4g}"


YES_NO = frozenset(
    f"name says {word}"
    for word in ["id", "code", "date", "year", "label", "figure", "place", "text", "named", "link", "money", "many"]
) | {"name has digits", "name mixes letters and digits", "numbers", "fractions", "dates", "one width"}


def as_text(node: Node | None = None, indent: str = "") -> list[str]:
    """The tree in lines, for a page."""
    node = tree() if node is None else node
    if "is" in node:
        return [f"{indent}{node['is']} ({node['right']} of {node['of']})"]
    lines = []
    for is_below, below in ((True, node["below"]), (False, node["above"])):
        inner = as_text(below, indent + "  ")
        head = f"{indent}{question(node, is_below)}"
        lines += [f"{head}: {inner[0].strip()}"] if len(inner) == 1 else [head, *inner]
    return lines


def n_leaves(node: Node | None = None) -> int:
    """How many leaves a tree has."""
    node = tree() if node is None else node
    return 1 if "is" in node else n_leaves(node["below"]) + n_leaves(node["above"])
