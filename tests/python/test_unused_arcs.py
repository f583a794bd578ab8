"""`learn` leaves out arcs that a search finds, but that no fitted model uses."""

import dataclasses
import math

import networkx as nx
import numpy as np
import polars as pl
import pytest

import arbornet as an
from arbornet.network.used import found_used
from arbornet.scores.prepare import prepared
from arbornet.scores.usual import USUAL


@pytest.fixture(scope="module")
def frame():
    # Three columns: one parent of two costs ln 2 by the graph prior, both cost nothing. So {x, g} beats {x} for z.
    random = np.random.default_rng(0)
    x = random.normal(size=300)
    z = np.where(random.random(300) < 0.4, 0.0, np.exp(x + random.normal(size=300)))
    return pl.DataFrame({"x": x, "z": z, "g": random.choice(list("abc"), 300)})


def searched(frame):
    table = an.Table(frame, scales="auto")
    score = USUAL
    return table, score, an.search.exact(an.score_parents(table, score))


def test_a_tree_names_the_parents_it_does_not_use(frame):
    table, score, found = searched(frame)
    assert set(found.dag.edges) == {("x", "z"), ("g", "z")}
    model = an.fit(table, found, score)["z"]
    assert model.unused == ["g"]
    smaller = model.without_unused()
    assert (smaller.parents, smaller.unused) == (["x"], [])
    for x in (-2.0, 0.0, 0.7):
        assert smaller.log_density(1.5, {"x": x}) == model.log_density(1.5, {"x": x, "g": "a"})


def test_learn_leaves_such_arcs_out_and_says_so(frame, capsys, tmp_path):
    net = an.learn(frame)
    assert "left out: g -> z, as the fitted models do not use this arc" in " ".join(capsys.readouterr().out.split())
    assert set(net.graph.edges) == {("x", "z")}
    table, score, found = searched(frame)
    # What is left is the network of the smaller graph, to the letter; `fit` takes graphs as they are.
    small = an.fit(table, net.graph, score)
    assert [str(net[v]) for v in net.names] == [str(small[v]) for v in small.names]
    assert net.origin.family_scores == small.origin.family_scores
    assert set(an.fit(table, found, score).graph.edges) == set(found.dag.edges)
    assert math.isclose(net.origin.search["score"], sum(net.origin.family_scores))
    net.report(tmp_path / "report.html")
    assert "Arcs left out" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_arcs_that_are_required_stay(frame):
    net = an.learn(frame, constraints=an.Constraints(required=[("g", "z")]), verbose=False)
    assert ("g", "z") in net.graph.edges


def test_every_arc_that_is_left_is_used():
    for name in ("penguins", "patients"):
        net = an.learn(an.example(name), effort="quick", verbose=False)
        assert isinstance(net.graph, nx.DiGraph) and net.graph.number_of_edges() > 0
        assert not any(net[v].unused for v in net.names)


def test_an_arc_that_only_an_unused_one_directed_may_point_either_way(frame):
    net = an.learn(frame, search="boss", score=an.PCART(leaf="linear"), verbose=False)
    assert list(net.graph.edges) == [("x", "z")]
    assert set(net.cpdag().edges) == {("x", "z"), ("z", "x")}


def small(seed):
    random = np.random.default_rng(seed)
    k = random.integers(1, 4, 23)
    speed = np.exp(random.normal(5 + 0.4 * k, 0.4))
    return pl.DataFrame(
        {
            "type": random.choice(list("abcde"), 23),
            "k": k,
            "year": random.normal(1970, 8, 23),
            "speed": speed,
            "seats": speed**2 * np.exp(random.normal(0, 0.7, 23)),
        }
    )


def test_the_network_is_the_best_of_those_whose_models_use_every_parent():
    """Against all orders of the variables, with every kept family that is used."""
    for seed in range(4):
        table, score = an.Table(small(seed), scales="auto"), an.PCART(leaf="linear")
        names = table.names
        net = an.learn(table, score, effort="quick", verbose=False)
        assert "unused" in net.origin.search
        kept = an.score_parents(table, score)
        families = {
            v: [
                (s, of) for s, of in zip(frame["score"], frame["parents"], strict=True) if not idle(table, score, v, of)
            ]
            for v, frame in ((v, kept.child(v)) for v in names)
        }
        best = max(scores(names, families))
        assert net.origin.search["score"] == pytest.approx(best)
        assert all(net.arc_score(*arc) > 0 for arc in net.graph.edges)


def idle(table, score, child, parents):
    star = nx.DiGraph()
    star.add_nodes_from(table.names)
    star.add_edges_from((p, child) for p in parents)
    return an.fit(table, star, score, arc_scores=False)[child].unused


def scores(names, families):
    """Of the best graph by dynamic programming over orders."""
    best = {frozenset(): 0.0}
    for _ in names:
        longer = {}
        for placed, total in best.items():
            for v in names:
                if v not in placed:
                    own = max(s for s, of in families[v] if set(of) <= placed)
                    key = placed | {v}
                    longer[key] = max(longer.get(key, -math.inf), total + own)
        best = longer
    return best.values()


def test_a_second_search_that_is_cut_short_leaves_the_graph_that_was_proved():
    table, score = an.Table(small(2), scales="auto"), an.PCART(leaf="linear")
    candidates = an.score_parents(table, score)
    found = []

    def search(sets):
        found.append(an.search.exact(sets))
        return found[0] if len(found) == 1 else dataclasses.replace(found[-1], stopped="time")

    kept, left_out = found_used(search, candidates, prepared(table, score), frozenset())
    assert len(found) == 2
    assert (kept, left_out) == (found[0], [])
