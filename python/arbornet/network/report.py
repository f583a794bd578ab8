"""The report of a fitted network: what `BayesNet.report` writes."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from arbornet._core import MISSING
from arbornet.data import calendar
from arbornet.data.dropped import advice, costliest
from arbornet.data.looks.findings import marked
from arbornet.data.schema_text import range_text
from arbornet.data.units import IDENTITY, bend_of, to_original
from arbornet.data.weights import Weights
from arbornet.given import FrameLike
from arbornet.models.splines import partial_responses
from arbornet.network import evidence
from arbornet.network.lines import followed
from arbornet.show import arrows
from arbornet.show.draw.parts import Graph, Node, Tree, plain_ranges
from arbornet.show.draw.values import Bars, Histogram
from arbornet.show.report.parts import Report, Rows, Search, Variable
from arbornet.text.terminal import percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arbornet.data.column import Column
    from arbornet.network import BayesNet

MOST_GAPS = 12
"""Variables whose gaps are told in the summary."""
FEW_DROPPED = 0.01
"""Where no larger share of the rows was dropped, no column is worth leaving out for it."""
MOST_DRAWN = 60
"""A tree with more leaves is only told as text."""

#: What a search found and the network does not have, by where the origin keeps it.
LEFT_OUT = {
    "unused": "found by the search, but the fitted models do not use them",
    "lower": "found by the search, but the score is higher without them once the above are gone",
    "unsupported": "found in rows whose missing values were drawn, but the observed values do not support them",
}


def of_network(net: BayesNet, data: FrameLike | None = None, title: str = "") -> Report:
    """What a network has to report.

    Args:
        net: The network.
        data: A frame with its variables, to show their values; without it the report has no histograms.
        title: The page's title.
    """
    graph = Graph.of(net.graph)
    values = _values(net, data) if data is not None else [None] * len(net.names)
    scores = net.origin.family_scores or [None] * len(net.names)
    variables = tuple(_variable(net, *each) for each in zip(net.schema.used, graph.nodes, values, scores, strict=True))
    columns = net.schema.columns
    rows = None
    if net.origin.n_rows is not None and columns:
        lacking = [(f"no value in {c.name}", c.missing) for c in net.schema.used if c.missing]
        lacking = [("no value in any column", columns[0].n_rows - net.origin.n_rows)] if net.origin.gaps else lacking
        all_used = net.origin.n_rows >= columns[0].n_rows
        read = max(columns[0].n_rows, net.origin.n_rows)
        few = read - net.origin.n_rows <= FEW_DROPPED * read
        says = "" if few or net.origin.gaps else _advice(net, data, read)
        rows = Rows(read, net.origin.n_rows, () if all_used else tuple(lacking), says)
    notes = [("Column left out", f"{c.name} {c.left_out}") for c in columns if c.left_out]
    notes += _of_weights(net.origin.weights) + _of_gaps(net)
    notes += [("Groups in order", line) for line in _in_order(net.origin.in_order)]
    for key, why in LEFT_OUT.items():
        if arcs := net.origin.search.get(key):
            notes.append(("Arcs left out", f"{', '.join(map(str, arcs))}: {why}"))
    technical = (("Local score", _in_words(net.origin.score)),) if net.origin.score else ()
    scale = arrows.scale_of(net.origin.score) if net.origin.contributions is not None else ""
    heading = str(title or _heading(net.names))
    search = _search(net.origin.search)
    findings = [(one.told, one.mend) for one in net.schema.findings]
    for u, v, why in marked(net.schema.findings, net.graph.edges):
        findings.append((f"the arc {u} -> {v} says little, as {why}", ""))
    return Report(heading, variables, graph.arcs, rows, search, tuple(notes), technical, scale, tuple(findings))


def _heading(names: Sequence[str]) -> str:
    """A title for a table without a name: its first columns."""
    first = ", ".join(names[:3])
    return f"Bayesian network of {first}" + (f" and {len(names) - 3:,} more" if len(names) > 3 else "")


def _of_weights(weights: dict[str, Any]) -> list[tuple[str, str]]:
    """What is told of the weights of rows."""
    if not weights:
        return []
    return [("Weighted rows", str(Weights(weights["are"], weights["total"], weights["effective"])))]


def _of_gaps(net: BayesNet) -> list[tuple[str, str]]:
    """What is told of the missing values that a network was learned with, as pairs of a label and a text."""
    gaps = net.origin.gaps
    if not gaps.get("missing"):
        return []
    n = sum(gaps["missing"].values())
    ended = {"settled": "until the score settled", "interrupted": "interrupted", "time": "until the time limit"}
    how = f"{gaps['rounds']} round{'s' if gaps['rounds'] != 1 else ''} {ended.get(gaps['ended'], 'at most')}".strip()
    notes = [("Missing values", f"{n:,} in {gaps['rows']:,} rows, drawn given the rest of their row; {how}")]
    each = [f"{name}: {_share_of_gaps(net, name)}" for name in gaps["missing"]]
    more = f", and {len(each) - MOST_GAPS} more variables" if len(each) > MOST_GAPS else ""
    return [*notes, ("Missing", "; ".join(each[:MOST_GAPS]) + more)]


def _share_of_gaps(net: BayesNet, name: str) -> str:
    """How much of a variable is missing, and how much of what it would tell."""
    n, information = net.origin.gaps.get("missing", {}).get(name), net.origin.gaps.get("information", {}).get(name)
    if not n or not net.origin.n_rows:
        return ""
    of = "" if information is None else f", {percent(information)} of the information"
    return f"{percent(n / net.origin.n_rows)} of the values missing{of}"


def _in_order(families: dict[str, dict[str, tuple[int, int]]]) -> list[str]:
    """Which trees are not sure to be the best, as sentences."""
    lines = []
    for child, parents in families.items():
        each = [
            f"{parent} ({levels:,} levels{'' if groups == levels else f', merged to {groups:,}'})"
            for parent, (levels, groups) in parents.items()
        ]
        lines.append(f"the levels of {', '.join(each)} under {child}; another tree could score higher")
    return lines


def _advice(net: BayesNet, data: Any, read: int) -> str:
    """What dropped rows are owed to; with the table at hand, what leaving a column out would keep."""
    assert net.origin.n_rows is not None
    missing = [(column.name, column.missing) for column in net.schema.used if column.missing]
    best = None
    if data is not None:
        rows = evidence.encode(net.schema, data, "missing", -1)
        columns = [rows.column(v) for v in range(len(net.names))]
        lacks = {
            column.name: np.isnan(stored) if stored.dtype == np.float64 else stored == MISSING
            for column, stored in zip(net.schema.used, columns, strict=True)
            if stored is not None
        }
        # Only of the table the network was learned from.
        if rows.n_rows == read and len(lacks) == len(columns):
            complete = rows.n_rows - int(np.logical_or.reduce(list(lacks.values())).sum())
            best = costliest(lacks) if complete == net.origin.n_rows < read else None
    return advice(read, net.origin.n_rows, missing, best)


def _in_words(spec: str) -> str:
    """A score as `name (parameter value, ...)`; one that is no JSON, such as a custom score's name, as it stands."""
    try:
        return _told(json.loads(spec))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return spec


def _told(document: dict[str, Any]) -> str:
    name = str(document.pop("score"))
    parts = []
    for key, value in document.items():
        if key == "network":
            parts.append(f"prior network of {len(value['variables'])} variables")
        elif isinstance(value, dict):
            parts += [f"{inner} {_plain(v)}" for inner, v in value.get("common", value).items()]
            parts += [f"{of}: {_told({'score': '', **v})}" for of, v in value.get("per_variable", {}).items()]
        elif value is not None and key != "memory_mb":
            parts.append(f"{key} {_plain(value)}")
    told = ", ".join(parts).replace("_", " ")
    return f"{name} ({told})" if name and told else name or told


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _variable(
    net: BayesNet, column: Column, node: Node, values: Histogram | Bars | None, score: float | None
) -> Variable:
    model = net[node.name]
    told = model.description
    tree = Tree.of(told) if told and model.n_leaves <= MOST_DRAWN else None
    says = f"{model.n_leaves} {'leaf' if model.n_leaves == 1 else 'leaves'}" if told else ""
    if straight := followed(model):
        says += f", linear in {', '.join(straight)}"
    spline = None
    if model.spline is not None:
        says = f"{model.n_terms} {'term' if model.n_terms == 1 else 'terms'}"
        spline = partial_responses(model) if model.parents else None
    text = plain_ranges(model.text())
    range_ = range_text(column) if column.levels is None else ""
    gaps = _share_of_gaps(net, column.name)
    return Variable(node, column.reason, column.missing, values, says, tree, text, score, spline, range_, gaps)


def _search(told: dict[str, Any]) -> Search:
    def finite(name: str) -> float | None:
        value = told.get(name)
        return value if value is not None and math.isfinite(value) else None

    score, bound = finite("score"), finite("bound")
    gap = max(0.0, bound - score) if score is not None and bound is not None else None
    n = told.get("n_in_order", 0)
    in_order = n if type(n) is int else 0
    left_out = tuple(told.get("left_out", ()))
    return Search(
        told.get("method", ""), score, bound, gap, told.get("stopped", ""), n_in_order=in_order, left_out=left_out
    )


def _values(net: BayesNet, data: Any) -> list[Histogram | Bars | None]:
    rows = evidence.encode(net.schema, data, "missing", -1)
    return [_counted(column, rows.column(v)) for v, column in enumerate(net.schema.used)]


def _counted(column: Column, stored: Any) -> Histogram | Bars | None:
    """The values of one column, from codes or stored numbers."""
    if stored is None:
        return None
    if column.levels is None:
        if bend_of(column.scale) is not None:  # of the logarithms or normal scores
            shift, scale, *_ = column.scale or IDENTITY
            return Histogram.of(shift + scale * np.asarray(stored, dtype=float))
        # Twelve digits: standardising and back must not turn 4 into 3.9999999999999996.
        numbers = [float(f"{x:.12g}") for x in to_original(column.scale, np.asarray(stored, dtype=float))]
        return Histogram.of(numbers, calendar.zoned(column.class_, column.zone))
    counts = np.bincount(stored[stored != MISSING], minlength=len(column.levels))
    return Bars(tuple(map(str, column.levels)), tuple(int(n) for n in counts[: len(column.levels)]))
