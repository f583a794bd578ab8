"""Models fitted to the rows that have all values of their family."""

from __future__ import annotations

import networkx as nx
import polars as pl
import pytest

import arbornet as an
from arbornet._core import ArbornetError, NetworkHandle, ScoreHandle
from arbornet.data.incomplete import Incomplete
from arbornet.network.available import fit_available
from arbornet.scores.prepare import prepared

FRAME = pl.DataFrame(
    {
        "x": [None if row % 7 == 0 else "ab"[row % 2] for row in range(60)],
        "y": [None if row % 5 == 0 else "uvw"[row * row % 3] for row in range(60)],
        "z": [None if row % 11 == 0 else (row * 13 % 17) / 2 for row in range(60)],
    }
)
GRAPH: nx.DiGraph[str] = nx.DiGraph([("x", "y"), ("x", "z"), ("y", "z")])


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_every_family_is_fitted_to_the_rows_that_have_it_at_any_number_of_threads(n_jobs: int) -> None:
    gaps, score = Incomplete(FRAME), an.PCART()
    net = fit_available(gaps, GRAPH, lambda table: prepared(table, score), n_jobs)
    names, told = gaps.names, set()
    for name in names:
        parents = sorted(GRAPH.predecessors(name))
        rows = gaps.known_together([names.index(each) for each in (name, *parents)])
        table = an.Table.from_handle(gaps.table(rows), gaps.schema)
        assert net[name].to_dict() == an.local_model(table, name, parents, score).to_dict()
        told.add(int(rows.sum()))
    assert len(told) == 3, "each family has rows of its own"


def test_there_is_a_score_for_every_variable() -> None:
    table = an.Table(FRAME.drop_nulls())
    score = ScoreHandle(table.handle, an.PCART().spec())
    assert NetworkHandle.fit_each([score] * 3, [[], [0], []], 1).parents(1) == [0]
    for scores in ([], [score], [score] * 4):
        with pytest.raises(ArbornetError, match=f"{len(scores)} scores for"):
            NetworkHandle.fit_each(scores, [[], [], []], 1)
    with pytest.raises(ArbornetError, match="has a cycle"):
        NetworkHandle.fit_each([score] * 3, [[1], [0], []], 1)
