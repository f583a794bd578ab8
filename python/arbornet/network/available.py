"""Networks from rows with missing values: the model of each family is fitted to the rows that have all its values.

This is available-case analysis: a row is left out only of the families in which it lacks a value. The graph itself
still needs complete rows, because scores of different rows cannot be compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from arbornet._core import MISSING, ModelHandle, NetworkHandle, TableHandle
from arbornet.data.schema import Schema
from arbornet.data.table import Table
from arbornet.network import BayesNet, Origin
from arbornet.network.smoothing import models_of
from arbornet.scores.prepare import Score
from arbornet.text.notices import of_parts

if TYPE_CHECKING:
    import networkx as nx


def resolved(columns: Mapping[str, Any], schema: Schema, n_jobs: int) -> Schema:
    """The schema with each column's levels, bins and scale taken from the rows that have a value in it."""
    own = {}
    for column in schema.used:
        with of_parts():
            alone = Table({column.name: columns[column.name]}, Schema((column,)), "drop", n_jobs=n_jobs)
        own[column.name] = alone.schema.columns[0]
    return Schema(tuple(own.get(column.name, column) for column in schema.columns))


class Gaps:
    """Rows, some with missing values, coded by a schema that knows its levels."""

    def __init__(self, columns: Mapping[str, Any], schema: Schema, n_jobs: int) -> None:
        rows = schema.encode(columns, n_jobs=n_jobs)
        self.schema = schema
        self.n_rows = rows.n_rows
        self.cells: list[NDArray[Any]] = []
        self.known: list[NDArray[np.bool_]] = []
        for v in range(len(schema.names)):
            cells = rows.column(v)
            assert cells is not None, "every column is there"
            missing = np.isnan(cells) if cells.dtype == np.float64 else cells == MISSING
            self.cells.append(np.where(missing, 0, cells))
            self.known.append(~missing)

    def table(self, family: list[int]) -> TableHandle:
        """The rows that have a value in every variable of a family; other missing values hold a placeholder."""
        used = self.schema.used
        rows = np.logical_and.reduce([self.known[v] for v in family])
        return TableHandle.from_columns(
            [column.name for column in used],
            [column.word for column in used],
            [column.levels for column in used],
            [cells[rows] for cells in self.cells],
            [column.scale or (0.0, 1.0) for column in used],
        )

    def complete(self) -> NDArray[np.bool_]:
        """Which rows are complete."""
        complete: NDArray[np.bool_] = np.logical_and.reduce(self.known)
        return complete


def fit_available(gaps: Gaps, graph: nx.DiGraph[str], score: Score, smoothing: float | None) -> BayesNet:
    """A model for every variable of a graph, each from the rows that have all values it needs."""
    names = gaps.schema.names
    position = {name: v for v, name in enumerate(names)}
    parents = [sorted(position[p] for p in graph.predecessors(name)) for name in names]
    prepared: dict[bytes, Any] = {}
    models = []
    for v, of in enumerate(parents):
        rows = np.logical_and.reduce([gaps.known[u] for u in (v, *of)])
        key = rows.tobytes()
        if key not in prepared:
            prepared[key] = models_of(Table.from_handle(gaps.table([v, *of]), gaps.schema), score, smoothing)
        scored = prepared[key]
        models.append(ModelHandle.fit(scored, v, of))
    return BayesNet(NetworkHandle.from_models(models), gaps.schema, Origin(score=scored.spec, n_rows=gaps.n_rows))
