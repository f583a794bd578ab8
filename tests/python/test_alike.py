"""Results are equal if they say the same, and what pickles says the same again."""

from __future__ import annotations

import dataclasses
import pickle

import networkx as nx
import numpy as np
import polars as pl
import pytest

import arbornet as an
from arbornet.alike import alike

LEVELS = {"a": ["x", "y"] * 30, "b": ["u", "v", "v"] * 20, "c": ["p"] * 20 + ["q"] * 40}


def results() -> dict[str, object]:
    """One of every sort of result."""
    frame = an.example("penguins").drop_nulls()
    table, levels = an.Table(frame), an.Table(LEVELS)
    candidates = an.score_parents(table, an.PCART(), 1)
    best = an.search.exact(candidates)
    true = nx.DiGraph([("a", "b"), ("b", "c")])
    return {
        "Table": table,
        "Schema": table.schema,
        "Dropped": table.dropped,
        "Candidates": candidates,
        "Plan": an.plan(table, an.PCART(), 1),
        "exact": best,
        "k best": an.search.k_best(candidates, 3),
        "anytime": an.search.anytime(candidates, time_limit=1),
        "hill climbing": an.search.hill_climb(candidates),
        "fges": an.search.fges(table, an.ConditionalGaussian()),
        "pc, without a score": an.search.pc(levels, an.BIC()),
        "trees": an.chow_liu(levels, an.BIC()),
        "decision graphs": an.search.decision_graphs(levels),
        "network": an.fit(table, best, an.PCART()),
        "comparison with shares of nothing": an.metrics.compare(true, nx.DiGraph(nx.create_empty_copy(true))),
        "cross-validation": an.evaluate.cross_validate(frame, an.PCART(), folds=2, repeats=1, max_parents=1),
        "strengths": an.evaluate.arc_strength(levels, an.BIC(), n_bootstrap=2),
        "simulated": an.simulate.mixed_network(4, n_rows=20),
        "simulated, with styles": an.simulate.network(4, n_rows=20),
        "Constraints": an.Constraints(required=[("a", "b")]),
        "score": an.PCART(per_variable={"a": {"nu": 2}}),
    }


def test_what_is_pickled_is_equal_to_what_it_was():
    for name, result in results().items():
        again = pickle.loads(pickle.dumps(result))
        same = again.equals(result) if isinstance(result, pl.DataFrame) else again == result
        assert same is True, name
        if not isinstance(result, pl.DataFrame):
            assert (again != result) is False, name


def test_what_was_found_differs_where_anything_does():
    found = an.search.exact(an.score_parents(an.Table(LEVELS), an.BIC(), 1))
    assert found == dataclasses.replace(found)
    assert found != "found"
    other = found.dag.copy()
    other.add_edge("a", "new")
    for change in ({"dag": other}, {"score": found.score - 1}, {"stopped": "time"}, {"details": {"more": 1}}):
        assert found != dataclasses.replace(found, **change)
    with pytest.raises(TypeError, match="unhashable"):
        hash(found)


def test_tables_are_equal_by_their_rows():
    table = an.Table(LEVELS)
    assert table == an.Table(pl.DataFrame(LEVELS)) and hash(table) == hash(an.Table(LEVELS))
    assert table != an.Table({**LEVELS, "c": ["p"] * 21 + ["q"] * 39})
    assert table != LEVELS


def test_alike_looks_at_everything():
    nan = float("nan")
    one, two = nx.DiGraph(), nx.DiGraph()
    one.add_edge("a", "b", strength=nan)
    two.add_edge("a", "b", strength=nan)
    assert alike(one, two) and not alike(one, two.reverse()) and not alike(one, nx.Graph(two))
    assert alike({"a": [nan, (1.0, None)]}, {"a": [nan, (1.0, None)]}) and not alike([1, 2], (1, 2))
    assert not alike({"a": 1}, {"b": 1}) and not alike([1], [1, 2]) and not alike(nan, 1.0)
    assert alike(np.array([1.0, nan]), np.array([1.0, nan])) and not alike(np.array([1.0]), np.array([1]))
    assert alike(np.array(["a"]), np.array(["a"])) and not alike(np.array([1, 2]), np.array([1]))
    frame = pl.DataFrame({"a": [1.0, nan, None]})
    assert alike(frame, frame.clone()) and not alike(frame, frame.rename({"a": "b"}))
