"""The classic scores: golden numbers, and what must hold for each of them whatever the data."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from functools import cache
from typing import Any

import networkx as nx
import numpy as np
import polars as pl
import pytest

import arbornet as an
from places import GOLDEN

SCORES = GOLDEN / "scores"
# bnlearn approximates the complexity above 1,000 rows or 100 levels.
TOLERANCE = {"fnml": 1e-6, "qnml": 1e-4}
NAMED = {
    "loglik": an.LogLikelihood(),
    "aic": an.AIC(),
    "bic": an.BIC(),
    "k2": an.K2(),
    "fnml": an.NML(),
    "qnml": an.QNML(),
    "bdeu_1": an.BDeu(1),
    "bdeu_4": an.BDeu(4),
    "bdeu_10": an.BDeu(10),
    "bdeu_16": an.BDeu(16),
}
EQUIVALENT = [an.LogLikelihood(), an.AIC(), an.BIC(), an.BDeu(3), an.QNML()]
OTHERS = [an.K2(), an.BD(0.5), an.NML(), an.MIT(0.95)]
PRIORS = [None, an.priors.ParentCount(), an.priors.Binomial(1.5), an.priors.EBIC(0.5), an.priors.Parameters(0.3)]


def drawn(seed: int, n_rows: int = 60, levels: tuple[int, ...] = (2, 3, 4, 2)) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    columns: dict[str, Any] = {}
    before = np.zeros(n_rows, dtype=int)
    for v, k in enumerate(levels):
        before = np.where(rng.random(n_rows) < 0.6, before % k, rng.integers(0, k, n_rows))
        columns[f"x{v}"] = [f"{value}" for value in before]
    return pl.DataFrame(columns)


def table_of(frame: pl.DataFrame, levels: tuple[int, ...] = (2, 3, 4, 2)) -> an.Table:
    declared = {f"x{v}": an.Categorical([str(i) for i in range(k)]) for v, k in enumerate(levels)}
    schema = an.infer_schema(frame)
    return an.Table(frame, schema.with_types({name: of for name, of in declared.items() if name in frame.columns}))


def total(table: an.Table, graph: nx.DiGraph[str], score: Any) -> float:
    return sum(an.local_score(table, v, list(graph.predecessors(v)), score) for v in graph)


@cache
def golden(file: str) -> Any:
    return json.loads((SCORES / file).read_text())


def test_every_node_scores_as_in_bnlearn() -> None:
    compared = 0
    for network in golden("scores.json")["networks"]:
        frame = pl.read_csv(SCORES / network["csv"], infer_schema=False)
        declared = {name: an.Categorical(levels) for name, levels in network["levels"].items()}
        table = an.Table(frame, an.infer_schema(frame).with_types(declared))
        for name, by_node in network["by_node"].items():
            for node, expected in by_node.items():
                parents = network["parents"][node]
                parents = [parents] if isinstance(parents, str) else parents
                got = an.local_score(table, node, parents, NAMED[name])
                assert got == pytest.approx(expected, rel=TOLERANCE.get(name, 1e-9)), (network["name"], name, node)
                compared += 1
    assert compared > 900


def test_mit_is_our_reading_of_the_paper() -> None:
    levels = {network["csv"]: network["levels"] for network in golden("scores.json")["networks"]}
    for case in golden("mit.json"):
        frame = pl.read_csv(SCORES / case["csv"], infer_schema=False)
        declared = {name: an.Categorical(of) for name, of in levels[case["csv"]].items()}
        table = an.Table(frame, an.infer_schema(frame).with_types(declared))
        for alpha in (0.9, 0.95, 0.99, 0.999):
            got = an.local_score(table, case["node"], case["parents"], an.MIT(alpha))
            assert got == pytest.approx(case[f"mit_{alpha}"], rel=1e-9, abs=1e-9)


def covered_reversals(graph: nx.DiGraph[str]) -> list[nx.DiGraph[str]]:
    """The graphs that mean the same and differ in one arc (Chickering 1995)."""
    out = []
    for u, v in graph.edges:
        if set(graph.predecessors(v)) - {u} == set(graph.predecessors(u)):
            other = graph.copy()
            other.remove_edge(u, v)
            other.add_edge(v, u)
            out.append(other)
    return out


def graphs() -> list[nx.DiGraph[str]]:
    """Graphs over four variables, sparse and dense, along two orders."""
    rng = np.random.default_rng(1)
    out = []
    for order in (["x0", "x1", "x2", "x3"], ["x3", "x1", "x0", "x2"]):
        for share in (0.4, 0.7, 1.0):
            graph: nx.DiGraph[str] = nx.DiGraph()
            graph.add_nodes_from(order)
            graph.add_edges_from(pair for pair in itertools.combinations(order, 2) if rng.random() < share)
            out.append(graph)
    return out


@pytest.mark.parametrize("prior", PRIORS, ids=repr)
@pytest.mark.parametrize("score", EQUIVALENT, ids=repr)
def test_graphs_that_mean_the_same_score_alike(score: Any, prior: Any) -> None:
    score = score.replace(prior=prior)
    compared = 0
    for seed in range(4):
        table = table_of(drawn(seed))
        for graph in graphs():
            for other in covered_reversals(graph):
                assert total(table, other, score) == pytest.approx(total(table, graph, score), rel=1e-9)
                compared += 1
    assert compared >= 36


@pytest.mark.parametrize("score", OTHERS, ids=repr)
def test_the_others_do_not_and_here_is_where(score: Any) -> None:
    table = table_of(drawn(0))
    pairs = [(graph, other) for graph in graphs() for other in covered_reversals(graph)]
    differences = [abs(total(table, other, score) - total(table, graph, score)) for graph, other in pairs]
    assert max(differences) > 1e-3


@pytest.mark.parametrize("score", [*EQUIVALENT, *OTHERS], ids=repr)
def test_a_family_is_scored_by_its_own_columns_alone(score: Any) -> None:
    frame = drawn(2)
    whole, part = table_of(frame), table_of(frame.select("x2", "x0"))
    expected = an.local_score(whole, "x0", ["x2"], score)
    assert an.local_score(part, "x0", ["x2"], score) == pytest.approx(expected, rel=1e-12)
    changed = frame.with_columns(x3=pl.Series(["0", "1"] * 30))
    assert an.local_score(table_of(changed), "x0", ["x2"], score) == expected


@pytest.mark.parametrize("score", [*EQUIVALENT, *OTHERS], ids=repr)
def test_names_of_levels_and_the_order_of_rows_and_parents_change_nothing(score: Any) -> None:
    frame = drawn(3)
    expected = an.local_score(table_of(frame), "x2", ["x0", "x1"], score)
    shuffled = frame.sample(fraction=1.0, shuffle=True, seed=5)
    assert an.local_score(table_of(shuffled), "x2", ["x1", "x0"], score) == expected
    renamed = frame.with_columns(
        x0=pl.col("x0").replace({"0": "1", "1": "0"}), x2=pl.col("x2").replace({"0": "3", "1": "0", "2": "1", "3": "2"})
    )
    assert an.local_score(table_of(renamed), "x2", ["x0", "x1"], score) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("parents", [[], ["x0"], ["x0", "x3"]])
def test_the_log_likelihood_is_the_highest_over_all_parameters(parents: list[str]) -> None:
    frame = drawn(4)
    best = an.local_score(table_of(frame), "x1", parents, an.LogLikelihood())
    rows = list(zip(frame["x1"], frame.select(parents).rows() if parents else [()] * 60, strict=True))
    counts, cells = Counter(rows), Counter(cell for _, cell in rows)

    def log_likelihood(theta: dict[Any, float]) -> float:
        return sum(n * np.log(theta[key]) for key, n in counts.items())

    share = {key: n / cells[key[1]] for key, n in counts.items()}
    assert log_likelihood(share) == pytest.approx(best, rel=1e-12)
    rng = np.random.default_rng(6)
    for scale in (0.01, 0.3, 3.0):
        for _ in range(30):
            weights = {key: (share[key]) * np.exp(scale * rng.normal()) for key in counts}
            sums: Counter[Any] = Counter()
            for (_, cell), weight in weights.items():
                sums[cell] += weight
            theta = {key: weight / sums[key[1]] for key, weight in weights.items()}
            assert log_likelihood(theta) <= best + 1e-9


@pytest.mark.parametrize("score", [an.K2(), an.BD(0.5), an.BDeu(3)], ids=repr)
def test_a_bayesian_score_is_the_probability_of_the_rows_one_after_the_other(score: Any) -> None:
    frame = drawn(7, n_rows=25)
    expected = 0.0
    for row in range(25):
        before = frame.head(row)
        alpha = {an.K2: 1.0, an.BD: 0.5, an.BDeu: 3 / (4 * 3)}[type(score)]
        same = before.filter(pl.col("x1") == frame["x1"][row])
        hits = same.filter(pl.col("x2") == frame["x2"][row]).height
        expected += np.log((hits + alpha) / (same.height + 4 * alpha))
    assert an.local_score(table_of(frame), "x2", ["x1"], score) == pytest.approx(expected, rel=1e-10)


def test_levels_that_are_declared_and_not_observed_count() -> None:
    frame = drawn(1, levels=(2, 3, 4, 2))
    few, many = table_of(frame), table_of(frame, levels=(2, 3, 9, 2))
    for score in (an.BIC(), an.BDeu(1), an.NML(), an.K2()):
        assert an.local_score(few, "x2", ["x0"], score) != an.local_score(many, "x2", ["x0"], score)
    for score in (an.LogLikelihood(),):
        assert an.local_score(few, "x2", ["x0"], score) == an.local_score(many, "x2", ["x0"], score)
