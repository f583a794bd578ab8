"""The best trees: against R bnlearn, networkx's branchings, and all trees."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import polars as pl
import pytest

import arbornet as an
from places import GOLDEN

SCORES = [
    an.LogLikelihood(),
    an.BIC(),
    an.NML(),
    an.MIT(0.99),
    an.K2(),
    an.BDeu(1),
    an.BDeu(16, prior=an.priors.ParentCount()),
    an.QNML(),
]


def golden_trees() -> list[dict[str, Any]]:
    return json.loads((GOLDEN / "scores" / "scores.json").read_text())["trees"]


def golden_table(csv: str) -> an.Table:
    document = json.loads((GOLDEN / "scores" / "scores.json").read_text())
    levels = next((net["levels"] for net in document["networks"] if net["csv"] == csv), None)
    frame = pl.read_csv(GOLDEN / "scores" / csv, infer_schema=False)
    schema = an.infer_schema(frame)
    if levels is not None:
        schema = schema.with_types({name: an.Categorical(of) for name, of in levels.items()})
    return an.Table(frame, schema.with_types(dict.fromkeys(frame.columns, "categorical")) if levels is None else schema)


@pytest.mark.parametrize("case", golden_trees(), ids=lambda case: case["name"])
def test_trees_are_those_of_bnlearn(case: dict[str, Any]) -> None:
    table = golden_table(case["csv"])
    arcs = {tuple(arc) for arc in case["arcs"]}
    if "class" not in case:
        found = an.chow_liu(table, an.LogLikelihood())
        assert {frozenset(arc) for arc in found.dag.edges} == {frozenset(arc) for arc in arcs}
        assert found.score == pytest.approx(case["score_loglik"], rel=1e-9)
        return
    root = None if case["root"] == "default" else case["root"]
    found = an.search.tan(table, case["class"], root=root)
    skeleton = {frozenset(arc) for arc in found.dag.edges}
    assert skeleton == {frozenset(arc) for arc in arcs}
    if root is not None:
        assert set(found.dag.edges) == arcs
    for score, key in [(an.LogLikelihood(), "loglik"), (an.BIC(), "bic"), (an.BDeu(1), "bdeu1")]:
        total = sum(an.local_score(table, v, list(found.dag.predecessors(v)), score) for v in found.dag)
        assert total == pytest.approx(case[key], rel=1e-9)


def made(n_vars: int, n_rows: int = 120, seed: int = 0) -> an.Table:
    rng = np.random.default_rng(seed)
    columns = {"x0": rng.integers(0, 3, n_rows)}
    for v in range(1, n_vars):
        before = columns[f"x{rng.integers(v)}"]
        noise = rng.integers(0, 2 + v % 3, n_rows)
        columns[f"x{v}"] = np.where(rng.random(n_rows) < 0.5, before, noise)
    return an.Table({name: [f"l{value}" for value in of] for name, of in columns.items()})


def weights(table: an.Table, score: Any, class_: str | None = None) -> nx.DiGraph:
    graph = nx.DiGraph()
    names = [name for name in table.names if name != class_]
    alone = [] if class_ is None else [class_]
    graph.add_nodes_from(names)
    for u, v in itertools.permutations(names, 2):
        gain = an.local_score(table, v, [*alone, u], score) - an.local_score(table, v, alone, score)
        graph.add_edge(u, v, weight=gain)
    return graph


def total(tree: nx.DiGraph) -> float:
    return sum(weight for _, _, weight in tree.edges(data="weight"))


@pytest.mark.parametrize("score", SCORES, ids=repr)
@pytest.mark.parametrize("class_", [None, "x3"])
def test_weights_of_the_tree_are_those_of_networkx(score: Any, class_: str | None) -> None:
    table = made(8, seed=3)
    graph = weights(table, score, class_)
    empty = sum(an.local_score(table, v, [] if class_ in (None, v) else [class_], score) for v in table.names)

    def grown(**options: Any) -> an.search.Found:
        if class_ is None:
            return an.chow_liu(table, score, **options)
        return an.search.tan(table, class_, score, **options)

    best = total(nx.maximum_spanning_arborescence(graph, attr="weight"))
    assert grown().score == pytest.approx(empty + best, rel=1e-9)
    assert grown(directed=True).score == pytest.approx(empty + best, rel=1e-9)
    forest = total(nx.maximum_branching(graph, attr="weight"))
    assert grown(forest=True).score == pytest.approx(empty + forest, rel=1e-9)
    rooted = graph.copy()
    rooted.remove_edges_from(list(graph.in_edges("x2")))
    below = total(nx.maximum_spanning_arborescence(rooted, attr="weight"))
    found = grown(root="x2")
    assert found.score == pytest.approx(empty + below, rel=1e-9)
    assert set(found.dag.predecessors("x2")) == ({class_} if class_ else set())
    assert found.stopped == "proven" and found.gap == 0


@pytest.mark.parametrize("score", [an.BIC(), an.K2()], ids=repr)
def test_a_tree_is_no_better_than_the_best_graph_of_one_parent(score: Any) -> None:
    table = made(7, seed=5)
    best = an.search.exact(an.score_parents(table, score, max_parents=1))
    assert an.chow_liu(table, score, forest=True).score == pytest.approx(best.score, rel=1e-12)
    assert an.chow_liu(an.score_parents(table, score, max_parents=2)).score == pytest.approx(best.score, rel=1e-12)


def test_threads_change_nothing_and_ties_go_to_the_first() -> None:
    table = made(9, seed=8)
    trees = [sorted(an.chow_liu(table, an.K2(), n_jobs=n).dag.edges) for n in (1, 2)]
    assert trees[0] == trees[1]
    same = an.Table({"a": list("uvuv") * 5, "b": list("uvuv") * 5, "c": list("uvuv") * 5})
    assert sorted(an.chow_liu(same, an.LogLikelihood()).dag.edges) == [("a", "b"), ("a", "c")]


def test_scores_for_mixed_columns_make_trees() -> None:
    frame = an.example("penguins").drop_nulls()
    found = an.chow_liu(an.Table(frame), an.PCART(max_splits=2))
    assert found.details["directed"] and found.dag.number_of_edges() == frame.width - 1
    custom = an.CustomScore(lambda table, child, parents: float(len(parents)))
    assert an.chow_liu(an.Table(frame), custom).dag.number_of_edges() == frame.width - 1


def test_constraints_are_obeyed_or_refused() -> None:
    table = made(6, seed=2)
    rules = an.Constraints(forbidden=[("x0", "x1"), ("x1", "x0")], tiers=[["x2"], ["x3", "x4"]])
    found = an.chow_liu(table, an.BIC(), constraints=rules)
    assert not {("x0", "x1"), ("x1", "x0"), ("x3", "x2"), ("x4", "x2")} & set(found.dag.edges)
    with pytest.raises(an.ParameterError, match="'x0' -> 'x1' is required, and a tree cannot guarantee"):
        an.chow_liu(table, an.BIC(), constraints=an.Constraints(required=[("x0", "x1")]))
    with pytest.raises(an.ArbornetError, match="no tree spans all variables"):
        an.chow_liu(table, an.BIC(), constraints=an.Constraints(roots=["x0", "x1"]))
    with pytest.raises(an.ParameterError, match="class 'x0' must be allowed as parent of 'x1'"):
        an.search.tan(table, "x0", constraints=an.Constraints(forbidden=[("x0", "x1")]))


def test_what_makes_no_sense_is_refused() -> None:
    table = made(4)
    with pytest.raises(an.ParameterError, match="directed=False: K2"):
        an.chow_liu(table, an.K2(), directed=False)
    with pytest.raises(an.ParameterError, match="root='x1': is the class"):
        an.search.tan(table, "x1", root="x1")
    with pytest.raises(an.ParameterError, match="a forest chooses its own roots"):
        an.chow_liu(table, an.BIC(), root="x1", forest=True)
    with pytest.raises(an.ColumnError, match="no column 'z'"):
        an.chow_liu(table, an.BIC(), root="z")
    with pytest.raises(an.ColumnError, match="FayyadIrani"):
        an.chow_liu(an.Table({"x": [0.5, 1.0, 2.5], "y": list("aba")}))


def test_learn_and_the_shell_grow_the_best_tree(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from arbornet.cli import main

    table = made(6, seed=4)
    net = an.learn(table, an.BIC(), search="chow_liu", verbose=False)
    assert net.origin.search["score"] == pytest.approx(an.chow_liu(table, an.BIC()).score)
    table.to_polars().write_csv(tmp_path / "x.csv")
    main(["learn", str(tmp_path / "x.csv"), "--score", "BIC", "--search", "chow_liu", "--json", "--quiet"])
    assert json.loads(capsys.readouterr().out)["score"] == pytest.approx(net.origin.search["score"])
    with pytest.raises(an.ParameterError, match="'hill_climb'"):
        an.learn(table, an.BIC(), search="tan", verbose=False)
