import itertools
import math
import time

import networkx as nx
import pytest

import arbornet as an
from arbornet import _core
from arbornet.search.budget import Budget
from arbornet.search.k_best import Ranking
from interrupting import SOON, ctrl_c
from places import INSTANCES
from test_anytime import random_candidates, rescored


def all_graphs(handle):
    """Every acyclic choice of one set per variable, scores falling."""
    children = []
    for v in range(handle.n_vars):
        scores, offsets, members = handle.child(v)
        children.append(
            [(s, members[a:b].tolist()) for s, (a, b) in zip(scores, itertools.pairwise(offsets), strict=True)]
        )
    graphs = []
    for choice in itertools.product(*children):
        dag = nx.DiGraph()
        dag.add_nodes_from(handle.names)
        dag.add_edges_from((handle.names[p], handle.names[v]) for v, (_, set_) in enumerate(choice) for p in set_)
        if nx.is_directed_acyclic_graph(dag):
            graphs.append((float(sum(s for s, _ in choice)), frozenset(dag.edges)))
    return sorted(graphs, key=lambda graph: -graph[0])


@pytest.mark.parametrize("seed", range(4))
def test_one_after_the_other_the_graphs_are_those_of_brute_force(seed):
    handle = random_candidates(4, 7, seed)
    expected = all_graphs(handle)
    for k, margin in ((1, math.inf), (25, math.inf), (400, 6.0)):
        within = [(score, edges) for score, edges in expected if score >= expected[0][0] - margin]
        found = Ranking(handle, Budget()).run(k, margin)
        assert [g.score for g in found] == pytest.approx([score for score, _ in within[:k]])
        assert {frozenset(g.dag.edges) for g in found} == {edges for _, edges in within[:k]}
        assert found.complete == (k >= len(within))
        assert found.stopped == "proven"
        assert all(g.bound == found[0].score for g in found)


@pytest.mark.parametrize("seed", range(4))
def test_the_graphs_and_their_probabilities_are_those_of_brute_force(seed):
    handle = random_candidates(4, 7, seed)
    expected = all_graphs(handle)
    for k in (1, 7, 10_000):
        found = an.search.k_best(handle, k)
        assert [g.score for g in found] == pytest.approx([score for score, _ in expected[:k]])
        assert {frozenset(g.dag.edges) for g in found} == {edges for _, edges in expected[:k]}
        assert found.complete == (k >= len(expected))
    weights = [math.exp(score - expected[0][0]) for score, _ in expected]
    for parent, child, probability in found.arc_probabilities().iter_rows():
        share = sum(w for w, (_, edges) in zip(weights, expected, strict=True) if (parent, child) in edges) / sum(
            weights
        )
        assert probability == pytest.approx(share)


def test_a_margin_limits_the_list():
    handle = random_candidates(4, 7, 9)
    expected = [score for score, _ in all_graphs(handle)]
    found = an.search.k_best(handle, 1000, margin=6.0)
    assert len(found) == sum(score >= expected[0] - 6.0 for score in expected)
    assert found.complete
    assert not an.search.k_best(handle, 2, margin=6.0).complete


@pytest.mark.parametrize(("name", "optimum"), [("wine.BIC.3.jkl", -1258.44590861), ("child5000.num.jkl", -71542.801)])
def test_the_first_of_a_list_is_the_known_optimum(name, optimum):
    handle = _core.CandidatesHandle.from_jkl((INSTANCES / name).read_text(), name)
    found = an.search.k_best(handle, 50)
    assert found[0].score == pytest.approx(optimum, abs=1e-6)
    assert len({frozenset(g.dag.edges) for g in found}) == 50
    assert [g.score for g in found] == sorted((g.score for g in found), reverse=True)
    assert all(g.score == pytest.approx(rescored(handle, g.dag)) for g in found)
    assert sum(found.weights) == pytest.approx(1.0)


def test_constraints_hold_in_every_graph():
    handle = random_candidates(8, 30, 3)
    found = an.search.k_best(
        handle, 30, constraints=an.Constraints(forbidden=[("v1", "v0")], roots=["v2"]), max_parents=2
    )
    for graph in found:
        assert not graph.dag.has_edge("v1", "v0")
        assert graph.dag.in_degree("v2") == 0
        assert max(d for _, d in graph.dag.in_degree()) <= 2


def test_what_does_not_fit_is_found_one_after_the_other():
    handle = random_candidates(16, 40)
    together = an.search.k_best(handle, 6)
    apart = an.search.k_best(handle, 6, memory_limit="2 MB")
    assert [g.score for g in apart] == pytest.approx([g.score for g in together])
    assert [set(g.dag.edges) for g in apart] == [set(g.dag.edges) for g in together]
    many = an.search.exact(random_candidates(40, 12), k=3)
    assert [len(many), many.stopped, many.complete] == [3, "proven", False]
    assert many[0].score == an.search.exact(random_candidates(40, 12)).score > many[1].score > many[2].score


def test_a_limit_and_an_interrupt_leave_the_beginning_of_the_list():
    handle = random_candidates(40, 30)
    began = time.perf_counter()
    found = an.search.exact(handle, time_limit=1.0, k=500)
    assert time.perf_counter() - began < 5.0
    assert found.stopped == "time"
    assert 1 <= len(found) < 500
    assert not found.complete
    with ctrl_c(1.0) as pressed:
        found = an.search.k_best(handle, 500)
        assert pressed.ago() < SOON
    assert found.stopped == "interrupted"
    assert not found.complete


def test_the_key_between_two_searches_leaves_the_beginning_of_the_list(monkeypatch):
    handle = random_candidates(40, 30)
    divided = []

    def pressed(self, part, found):
        divided.append(part)
        if len(divided) == 3:
            raise KeyboardInterrupt
        yield from divide(self, part, found)

    divide = Ranking._divide
    monkeypatch.setattr(Ranking, "_divide", pressed)
    found = Ranking(handle, Budget(60.0)).run(500, math.inf)
    assert (found.stopped, len(found), found.complete) == ("interrupted", 3, False)


def test_wrong_parameters_are_refused():
    for wrong in ({"k": 0}, {"k": True}, {"margin": -1.0}, {"margin": math.nan}):
        with pytest.raises(an.ParameterError, match=next(iter(wrong))):
            an.search.k_best(random_candidates(3, 3), **({"k": 3} | wrong))
