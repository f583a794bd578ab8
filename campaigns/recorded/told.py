"""Values as text: the same text for the same value, with every digit of every number."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import networkx as nx
import numpy as np
import polars as pl

import arbornet as an


def text_of(value: object) -> str:
    """One text a value; dictionaries keep their order, as it is part of what a user sees."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=_plain)


def _plain(value: Any) -> object:
    """What JSON does not know."""
    if isinstance(value, an.Candidates):
        return candidates(value)
    if isinstance(value, an.search.Found):
        return found(value)
    if isinstance(value, an.BayesNet):
        return network(value)
    if isinstance(value, an.LocalModel):
        return value.to_dict()
    if isinstance(value, an.Schema):
        return unranked(value).to_dict()
    if isinstance(value, an.Table):
        return table(value)
    if isinstance(value, pl.DataFrame):
        return {"columns": [f"{name}: {kind.base_type()}" for name, kind in value.schema.items()], "rows": value.rows()}
    if isinstance(value, pl.Series):
        return {"column": f"{value.name}: {value.dtype.base_type()}", "values": value.to_list()}
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, nx.DiGraph):
        return graph(value)
    if isinstance(value, an.PCART):
        # In megabytes, as when the record was taken; the score's JSON has them still.
        own = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        if own["cuts"] == "range":
            del own["cuts"]  # As in the JSON: what says nothing new is not told.
        return own | {"memory_limit": int(value.memory_limit) >> 20}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return str(value)


def graph(dag: nx.DiGraph[str]) -> object:
    """Nodes in their order, arcs sorted."""
    return {"nodes": list(dag.nodes), "arcs": sorted(dag.edges)}


def candidates(kept: an.Candidates) -> object:
    """Everything but the seconds."""
    # What the record was taken before is told where it is not as it was then.
    left_out = ("handle", "seconds", "pruned") if kept.pruned else ("handle", "seconds")
    about = {key: value for key, value in vars(kept).items() if key not in left_out}
    return about | {"sets": {name: kept.child(name).rows() for name in kept.names}}


def found(result: Any) -> object:
    """Everything but seconds, and counters that are for people who tune a search."""
    told = {
        "arcs": sorted(result.dag.edges),
        "class": sorted(result.cpdag.edges),
        "score": result.score,
        "bound": result.bound,
        "stopped": result.stopped,
    }
    kept = ("consistent", "ambiguous", "directed")
    return told | {key: result.details[key] for key in kept if key in result.details}


def unranked(schema: an.Schema) -> an.Schema:
    """A schema without the table's own values, which it keeps of columns with bins since the record was taken."""
    return an.Schema(tuple(dataclasses.replace(column, ranked=None) for column in schema.columns))


def timeless(net: an.BayesNet) -> an.BayesNet:
    """A network without the seconds that its search took."""
    search = net.origin.search | ({"seconds": 0.0} if "seconds" in net.origin.search else {})
    return an.BayesNet(net.handle, unranked(net.schema), dataclasses.replace(net.origin, search=search))


def network(net: an.BayesNet) -> object:
    """Models, schema and origin."""
    origin = dataclasses.asdict(timeless(net).origin)
    for name in ("gaps", "weights", "replaced"):
        if not origin[name]:  # as in files
            del origin[name]
    return {"models": json.loads(net.handle.to_json()), "schema": unranked(net.schema).to_dict(), "origin": origin}


def table(of: an.Table) -> object:
    """The columns as the core holds them."""
    handle = of.handle
    columns = []
    for v, name in enumerate(handle.names):
        values = handle.reals(v) if handle.levels(v) is None else handle.codes(v)
        columns.append([name, handle.kind(v), handle.levels(v), handle.scale(v), values])
    return {"columns": columns, "schema": unranked(of.schema).to_dict()}
