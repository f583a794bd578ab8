"""The hybrid search: arcs that are there, constraints kept, and the same bytes by any number of threads."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest

import arbornet as an
from interrupting import SOON, ctrl_c


def frame(n: int = 400, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    age, dose = rng.normal(50, 10, n), rng.normal(size=n)
    effect = np.exp(((age - 50) / 10) ** 2 / 2 + dose + 0.3 * rng.normal(size=n))
    stage = np.digitize(np.log(effect) + 0.5 * rng.normal(size=n), [0.0, 1.5])
    site = rng.choice(["a", "b", "c"], n)
    return pl.DataFrame({"age": age, "dose": dose, "effect": effect, "stage": [f"s{s}" for s in stage], "site": site})


ARCS = {("age", "effect"), ("dose", "effect"), ("effect", "stage")}


@pytest.fixture(scope="module")
def table() -> an.Table:
    return an.Table(frame())


def test_arcs_are_found_directed_and_weighed(table: an.Table) -> None:
    found = an.search.hybrid(table)
    assert set(found.dag.edges) == set(found.cpdag.edges) == ARCS
    assert found.stopped == "finished" and math.isinf(found.bound)
    strengths = found.details["strengths"]
    assert set(strengths) == ARCS
    assert all(strength.directed and strength.loss > 5 for strength in strengths.values())
    score = an.BlockGaussian(3, "auto", prior=an.priors.Binomial(1))
    assert found.details["score"] == "BlockGaussian(3, 'auto', prior=Binomial(1))"
    total = sum(an.local_score(table, v, list(found.dag.predecessors(v)), score) for v in found.dag)
    assert found.score == pytest.approx(total, rel=1e-9)
    for (a, b), strength in strengths.items():
        rest = [p for p in found.dag.predecessors(b) if p != a]
        parents = list(found.dag.predecessors(b))
        lost = an.local_score(table, b, parents, score) - an.local_score(table, b, rest, score)
        assert strength.loss == pytest.approx(lost, rel=1e-9)
    assert found.details["scales"].keys() == {"age", "dose", "effect"}


def test_no_monotone_change_of_a_column_changes_the_graph(table: an.Table) -> None:
    changed = frame().with_columns(pl.col("effect").log(), pl.col("age") * 1000, pl.col("dose").exp())
    assert set(an.search.hybrid(an.Table(changed)).dag.edges) == ARCS


def test_a_chain_is_left_undirected() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=500)
    y = x + 0.5 * rng.normal(size=500)
    found = an.search.hybrid(an.Table({"x": x, "y": y, "z": np.exp(y + 0.5 * rng.normal(size=500))}))
    assert set(map(frozenset, found.dag.edges)) == {frozenset("xy"), frozenset("yz")}
    assert len(found.cpdag.edges) == 4
    assert not any(strength.directed for strength in found.details["strengths"].values())


def test_columns_that_tell_nothing_of_each_other_are_not_joined() -> None:
    rng = np.random.default_rng(4)
    found = an.search.hybrid(an.Table({"x": rng.normal(size=300), "y": rng.normal(size=300)}))
    assert found.dag.number_of_edges() == 0
    assert found.details["score"] == "BlockGaussian(1, 'auto', prior=Binomial(0.5))"


def test_dropping_arcs_turns_no_others() -> None:
    # Products of two parents are more than curves see, and a search without the arcs dropped turned 12 others.
    made = an.simulate.network(24, 5000, style="products", seed=1)
    seen = an.metrics.compare(made.dag, an.search.hybrid(an.Table(made.frame, schema=made.schema)))
    assert seen.shd <= 4


def test_graphs_of_several_searches_are_compared_by_their_classes() -> None:
    # Here lines find all but one arrow, and curves a graph whose member at hand looks better.
    made = an.simulate.network(20, 300, style="heavy-tails", seed=0)
    found = an.search.hybrid(an.Table(made.frame, schema=made.schema))
    assert found.details["score"].startswith("BlockGaussian(1")
    assert an.metrics.compare(made.dag, found).shd <= 3


def test_few_rows_take_curves_of_degree_two() -> None:
    made = an.simulate.network(20, 300, style="products", seed=0)
    found = an.search.hybrid(an.Table(made.frame, schema=made.schema))
    assert found.details["score"].startswith("BlockGaussian(2")
    assert an.metrics.compare(made.dag, found).shd <= 6


def test_where_lines_differ_from_cell_to_cell_the_conditional_gaussian_finds_the_arcs() -> None:
    dag, df, schema = an.simulate.mixed_network(20, average_degree=3, n_rows=500, seed=0)
    table = an.Table(df, schema=schema)
    found = an.search.hybrid(table)
    assert found.details["score"] == "ConditionalGaussian(discretise=True, prior=Binomial(1))"
    assert set(found.details["scales"].values()) == {"raw"}
    score = an.ConditionalGaussian(discretise=True, prior=an.priors.Binomial(1))
    total = sum(an.local_score(table, v, list(found.dag.predecessors(v)), score) for v in found.dag)
    assert found.score == pytest.approx(total, rel=1e-9)
    assert an.metrics.compare(dag, found).shd <= an.metrics.compare(dag, an.search.boss(table, score)).shd + 2


def test_constraints_are_kept(table: an.Table) -> None:
    rules = an.Constraints(
        required=[("site", "age")], forbidden=[("dose", "effect")], tiers=[["stage"], ["effect"]], max_parents=2
    )
    for score in (None, an.PCART()):
        found = an.search.hybrid(table, score, constraints=rules, interactions=True)
        edges = set(found.dag.edges)
        assert ("site", "age") in edges and ("dose", "effect") not in edges and ("effect", "stage") not in edges
        assert max(dict(found.dag.in_degree).values()) <= 2
    assert an.search.hybrid(table, max_parents=0).dag.number_of_edges() == 0


def test_threads_and_the_order_of_rows_change_nothing(table: an.Table) -> None:
    shuffled = an.Table(frame().sample(fraction=1.0, shuffle=True, seed=1))
    one = an.search.hybrid(table, n_jobs=1, interactions=True)
    for other in (an.search.hybrid(table, n_jobs=2, interactions=True), an.search.hybrid(shuffled, interactions=True)):
        assert (one.score, set(one.dag.edges)) == (other.score, set(other.dag.edges))
        assert one.details["strengths"] == other.details["strengths"]
        assert one.details["judged"] == other.details["judged"]


def test_what_only_trees_see_is_found_when_asked_for() -> None:
    rng = np.random.default_rng(5)
    n = 600
    a, b, w = rng.normal(size=(3, n))
    both = np.where((a > 0) ^ (b > 0), 1.0, -1.0) + 0.4 * rng.normal(size=n)
    wave = np.sin(6 * w) + 0.3 * rng.normal(size=n)
    group, c = rng.choice(["up", "down"], n), rng.normal(size=n)
    slope = np.where(group == "up", c, -c) + 0.4 * rng.normal(size=n)
    table = an.Table({"a": a, "b": b, "both": both, "w": w, "wave": wave, "group": group, "c": c, "slope": slope})

    def joined(found: an.search.Found) -> set[frozenset[str]]:
        return set(map(frozenset, found.dag.edges))

    more, plain = joined(an.search.hybrid(table, interactions=True)), joined(an.search.hybrid(table))
    assert frozenset(("w", "wave")) in more - plain
    for three in ({"a", "b", "both"}, {"group", "c", "slope"}):
        assert sum(pair <= three for pair in more) >= 2 > sum(pair <= three for pair in plain)


def test_learn_takes_its_arcs_and_proves_the_best_network_inside_them(table: an.Table, capsys: Any) -> None:
    net = an.learn(table, search="hybrid")
    found = an.search.hybrid(table)
    assert set(net.graph.edges) <= set(found.cpdag.edges)
    told = " ".join(capsys.readouterr().out.split())
    assert "proved: no network within the hybrid's 3 arcs with up to 3 parents each scores higher" in told
    inside = an.search.hybrid(table, an.PCART())
    assert inside.stopped == "proven" and inside.gap == 0
    total = sum(an.local_score(table, v, list(inside.dag.predecessors(v)), an.PCART()) for v in inside.dag)
    assert inside.score == pytest.approx(total, rel=1e-9)
    assert set(inside.details["unused"]) == set(found.dag.edges) - set(inside.dag.edges)


def test_a_direction_that_only_trees_prefer_stays_open() -> None:
    # Trees draw normal -> log-normal by 500 nats and more; two columns alone tell no direction.
    rng = np.random.default_rng(3)
    income = np.exp(rng.normal(size=1000))
    table = an.Table({"income": income, "test": np.log(income) + rng.normal(size=1000)})
    found = an.search.hybrid(table, an.PCART())
    assert set(found.dag.edges) == {("test", "income")}
    assert set(found.cpdag.edges) == {("test", "income"), ("income", "test")}
    net = an.learn(table, search="hybrid", verbose=False)
    assert set(net.cpdag().edges) == set(found.cpdag.edges)


def test_what_the_class_directs_stays_directed_where_trees_leave_arcs_out(table: an.Table) -> None:
    # Without its other parent the effect is in no collider: the graph of the trees alone leaves its arc open.
    found = an.search.hybrid(table, an.PCART(max_splits=1), max_parents=1)
    assert found.stopped == "proven" and found.dag.number_of_edges() == 2
    directed = {(a, b) for a, b in found.cpdag.edges if not found.cpdag.has_edge(b, a)}
    loose = an.search.hybrid(table, max_parents=1)
    assert directed == {(a, b) for a, b in found.dag.edges if not loose.cpdag.has_edge(b, a)}


def test_levels_alone_are_judged_by_counts_too() -> None:
    rng = np.random.default_rng(1)
    x = rng.integers(0, 3, 500)
    y = (x + (rng.random(500) < 0.2)) % 3
    table = an.Table({"x": x.astype(str), "y": y.astype(str), "z": rng.integers(0, 2, 500).astype(str)})
    found = an.search.hybrid(table)
    assert "QNML(prior=Binomial(1))" in found.details["judged"]
    assert set(map(frozenset, found.dag.edges)) == {frozenset("xy")}


def test_time_and_interruption_leave_a_graph() -> None:
    rng = np.random.default_rng(2)
    wide = np.cumsum(rng.normal(size=(400, 120)), axis=1)
    table = an.Table({f"x{i}": wide[:, i] for i in range(120)})
    assert an.search.hybrid(table, time_limit=0.05, restarts=1000).stopped == "time"
    with ctrl_c(0.3) as pressed:
        found = an.search.hybrid(table, restarts=1000)
    assert pressed.ago() < SOON
    assert found.stopped == "interrupted" and set(found.dag) == set(table.names)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [({"restarts": -1}, "restarts=-1"), ({"seed": 0.5}, "seed=0.5"), ({"interactions": "yes"}, "interactions='yes'")],
)
def test_parameters_outside_their_range_are_refused(table: an.Table, arguments: Any, told: str) -> None:
    with pytest.raises(an.ParameterError, match=told):
        an.search.hybrid(table, **arguments)
