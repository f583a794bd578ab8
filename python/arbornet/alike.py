"""Whether two results are equal: graphs by their arcs, frames and arrays by their values, NaN equal to NaN."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import networkx as nx
import numpy as np
import polars as pl


class ByContent:
    """A dataclass that is equal to another if all their fields are, whatever they hold; it has no hash."""

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        names = [own.name for own in dataclasses.fields(self)]  # type: ignore[arg-type]
        return all(alike(getattr(self, name), getattr(other, name)) for name in names)

    __hash__ = None  # type: ignore[assignment]


def alike(one: object, other: object) -> bool:
    """Whether two values are equal. Nodes, edges and keys may be in any order."""
    if one is other:
        return True
    if isinstance(one, nx.Graph) and isinstance(other, nx.Graph):
        return (
            one.is_directed() is other.is_directed()
            and alike(dict(one.nodes), dict(other.nodes))
            and alike(dict(one.edges), dict(other.edges))
        )
    if isinstance(one, pl.DataFrame) and isinstance(other, pl.DataFrame):
        return one.schema == other.schema and one.equals(other)
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=one.dtype.kind in "fc")
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(alike(value, other[key]) for key, value in one.items())
    if isinstance(one, list | tuple) and type(one) is type(other):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, float) and isinstance(other, float) and one != one:
        return other != other
    return bool(one == other)
