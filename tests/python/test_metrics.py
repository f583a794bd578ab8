"""Figures worked out by hand, and the distance against the core's own."""

import math

import networkx as nx
import numpy as np
import pytest

import arbornet as an
from arbornet.graphs import cpdag

# a -> c <- b, c -> d, and d - e - f where e, f may point either way in the class only if d had no parents.
TRUE = nx.DiGraph([("a", "c"), ("b", "c"), ("c", "d"), ("e", "f")])


def test_the_true_graph_against_itself_is_perfect():
    seen = an.metrics.compare(TRUE, TRUE)
    assert (seen.ap, seen.ar, seen.f1, seen.shd) == (1, 1, 1, 0)
    assert (seen.ahp_cpdag, seen.ahr_cpdag) == (1, 1)
    # e - f has no arrowhead in the class: 3 of the 4 arrowheads of the graph can be learned.
    assert (seen.ahp, seen.ahr) == (1, 3 / 4)


def test_a_worked_example():
    # Learned: the collider at c, c -> d missing, f - e as a link, and a false arc b - f that makes no collider.
    learned = nx.DiGraph([("a", "c"), ("b", "c"), ("e", "f"), ("f", "e"), ("b", "f"), ("f", "b")])
    seen = an.metrics.compare(TRUE, learned)
    assert seen.ap == 3 / 4
    assert seen.ar == 3 / 4
    assert seen.f1 == 3 / 4
    assert seen.ahp == seen.ahp_cpdag == 2 / 2
    # Found adjacencies: a-c, b-c, e-f. The graph has an arrowhead in each, its class in two.
    assert seen.ahr == 2 / 3
    assert seen.ahr_cpdag == 2 / 2
    # c-d is missing, b-f is extra; e-f is a link in both classes.
    assert seen.shd == 2


def test_a_turned_arrowhead_counts_against_precision_and_recall():
    true, learned = nx.DiGraph([("a", "c"), ("b", "c")]), nx.DiGraph([("a", "b"), ("c", "b")])
    seen = an.metrics.compare(true, learned)
    # Adjacencies a-c, b-c against a-b, b-c; arrowheads at c, c against b, b.
    assert (seen.ap, seen.ar) == (1 / 2, 1 / 2)
    assert (seen.ahp, seen.ahr) == (0, 0)
    assert seen.shd == 3


def test_graphs_of_one_class_are_no_distance_apart():
    chain, other = nx.DiGraph([("a", "b"), ("b", "c")]), nx.DiGraph([("c", "b"), ("b", "a")])
    assert an.metrics.shd(chain, other) == 0
    assert an.metrics.shd(chain, nx.DiGraph([("a", "b"), ("c", "b")])) == 2
    assert an.metrics.compare(chain, other).shd == 0


def test_shares_of_nothing_are_not_numbers():
    empty = nx.DiGraph()
    empty.add_nodes_from("abc")
    seen = an.metrics.compare(TRUE, empty)
    assert math.isnan(seen.ap) and math.isnan(seen.ahp) and math.isnan(seen.ahr)
    assert seen.ar == 0 and seen.f1 == 0 and seen.shd == 4
    assert math.isnan(an.metrics.compare(empty, empty).f1)
    assert an.metrics.shd(empty, empty) == 0


def test_networks_searches_classes_and_skeletons_may_be_compared():
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 500)
    frame = {"a": a, "b": np.where(rng.random(500) < 0.9, a, 1 - a)}
    table = an.Table(frame, schema=an.infer_schema(frame).with_types(a="categorical", b="categorical"))
    found = an.search.fges(table, an.BIC())
    net = an.fit(table, found.dag, an.BIC())
    true = nx.DiGraph([("a", "b")])
    for learned in (found, net, net.graph, net.cpdag(), nx.Graph([("a", "b")])):
        assert an.metrics.compare(true, learned).shd == 0
        assert an.metrics.compare(learned, true).ap == 1
    assert list(an.metrics.compare(true, found).to_dict()) == [
        "ap",
        "ar",
        "f1",
        "ahp",
        "ahr",
        "ahp_cpdag",
        "ahr_cpdag",
        "shd",
    ]


def test_what_is_no_graph_is_refused_by_name():
    with pytest.raises(an.ParameterError, match="learned is a list"):
        an.metrics.compare(TRUE, [("a", "b")])
    with pytest.raises(an.ParameterError, match="true has a cycle"):
        an.metrics.compare(nx.DiGraph([("a", "b"), ("b", "c"), ("c", "a")]), TRUE)
    with pytest.raises(an.ParameterError, match="no variable in common"):
        an.metrics.shd(nx.DiGraph([("u", "v")]), TRUE)
    with pytest.raises(an.ParameterError, match="to itself"):
        an.metrics.shd(nx.DiGraph([("a", "a")]), TRUE)


def random_dag(n, rng):
    order = rng.permutation(n)
    arcs = [(order[i], order[j]) for j in range(n) for i in range(j) if rng.random() < 0.3]
    out = nx.DiGraph()
    out.add_nodes_from(range(n))
    out.add_edges_from((f"x{a}", f"x{b}") for a, b in arcs)
    out.remove_nodes_from(range(n))
    return out


def mark(graph, a, b):
    return graph.has_edge(a, b), graph.has_edge(b, a)


def adjacent(graph, a, b):
    return any(mark(graph, a, b))


def test_figures_agree_with_their_definitions_pair_by_pair():
    rng = np.random.default_rng(1)
    for _ in range(50):
        true, learned = random_dag(7, rng), random_dag(7, rng)
        assert true.edges and learned.edges
        p, q = cpdag(true), cpdag(learned)
        names = sorted(set(p) | set(q))
        pairs = [(a, b) for a in names for b in names if a < b]
        seen = an.metrics.compare(true, learned)
        assert seen.shd == sum(mark(p, a, b) != mark(q, a, b) for a, b in pairs)
        both = sum(adjacent(p, a, b) and adjacent(q, a, b) for a, b in pairs)
        assert seen.ap == both / len(learned.edges)
        assert seen.ar == both / len(true.edges)
        heads = [(a, b) for a in names for b in names if mark(q, a, b) == (True, False)]
        if heads:
            assert seen.ahp == sum(true.has_edge(a, b) for a, b in heads) / len(heads)
            assert seen.ahp_cpdag == sum(mark(p, a, b) == (True, False) for a, b in heads) / len(heads)
        could = [(a, b) for a, b in true.edges if adjacent(q, a, b)]
        if could:
            assert seen.ahr == sum((a, b) in heads for a, b in could) / len(could)
