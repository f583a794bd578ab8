"""A network with its numbers cut into classes, for formats that hold levels only."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from arbornet._core import ArbornetError, ColumnError, NetworkHandle
from arbornet.checks import whole
from arbornet.data.calendar import CLASSES, zoned
from arbornet.data.column import Column, bin_names
from arbornet.data.question import Question
from arbornet.data.units import to_stored

if TYPE_CHECKING:
    from arbornet.network import BayesNet

Bins = Mapping[str, int] | int | None
EXACTLY = Question(method="exact", particles=1)
MOST_BINS = 1000
MOST_NUMBERS = 10_000_000
"""The largest table that is made."""


def binned(net: BayesNet, bins: Bins, what: str) -> NetworkHandle:
    """The network with every number in classes of equal probability.

    A family's table is the exact joint distribution of its classes under the network, so every family agrees with the
    network; the effect of a number within its class is lost.
    """
    cuts = [_cuts(net, v, bins, what) for v in range(len(net.names))]
    everyone = range(len(net.names))
    levels = [net.handle.levels(v) or bin_names(tuple(cuts[v]), _class(net.schema[net.names[v]])) for v in everyone]
    kinds = ["ordinal" if net.handle.levels(v) is None else net.handle.kind(v) for v in everyone]
    tables = [_table(net, v, cuts) for v in everyone]
    return NetworkHandle.from_tables(net.names, kinds, levels, [net.handle.parents(v) for v in everyone], tables)


def _cuts(net: BayesNet, var: int, bins: Bins, what: str) -> list[float]:
    """Ends of the classes of a number, in the user's units; none for levels."""
    if net.handle.levels(var) is not None:
        return []
    name = net.names[var]
    k = bins.get(name) if isinstance(bins, Mapping) else bins
    if k is None:
        raise ColumnError(
            f"column '{name}' is continuous, and {what} holds levels only; give bins=5 (or bins={{{name!r}: 5}}), "
            "or save the network as JSON"
        )
    k = whole(f"bins of '{name}'", k, 2, MOST_BINS)
    probabilities = [i / k for i in range(1, k)]
    values = net.handle.predict_quantiles(Question(particles=20_000), var, probabilities).values
    return sorted(set(values[0].tolist()))


def _class(column: Column) -> str | None:
    return zoned(column.class_, column.zone) if column.class_ in CLASSES else None


def _table(net: BayesNet, var: int, cuts: list[list[float]]) -> NDArray[np.float64]:
    family = [*net.handle.parents(var), var]
    sizes = [len(net.handle.levels(v) or cuts[v] + [0.0]) for v in family]
    if math.prod(sizes) > MOST_NUMBERS:
        raise ArbornetError(
            f"the table of '{net.names[var]}' would have more than {MOST_NUMBERS:,} numbers; give fewer bins, or save "
            "the network as JSON, which keeps its models"
        )
    stored = [(v, to_stored(net.handle.scale(v), np.array(cuts[v])).tolist()) for v in family]
    try:
        answer = net.handle.joint(EXACTLY, stored)
    except ArbornetError:
        answer = net.handle.joint(Question(particles=200_000), stored)
    table = answer.values.reshape(-1, sizes[-1])
    total = table.sum(axis=1, keepdims=True)
    return np.where(total > 0, table / np.where(total > 0, total, 1.0), 1.0 / sizes[-1])
