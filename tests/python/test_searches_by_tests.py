"""PC and conservative PC through the public door; their mathematics is tested in the core."""

import math
import time

import networkx as nx
import numpy as np
import pytest

import arbornet as an
from arbornet.graphs import cpdag
from arbornet.text.notices import ArbornetWarning
from interrupting import SOON, ctrl_c

SEARCHES = ["pc", "cpc"]


def table(names):
    """Any table with these columns: the tests asked here are of graphs."""
    return an.Table({name: [0.0, 1.0, 2.0, 3.5] for name in names})


def oracle(dag):
    """The d-separations of a graph, by networkx."""
    return lambda x, y, given: float(nx.is_d_separator(dag, {x}, {y}, set(given)))


def random_dag(n, rng):
    names = [f"v{i}" for i in rng.permutation(n)]
    dag = nx.DiGraph()
    dag.add_nodes_from(sorted(names))
    dag.add_edges_from((names[i], names[j]) for j in range(n) for i in range(j) if rng.random() < 2.5 / n)
    return dag


@pytest.mark.parametrize("name", SEARCHES)
def test_on_the_d_separations_of_random_graphs_the_true_class_is_found(name):
    rng = np.random.default_rng(0)
    for _ in range(15):
        dag = random_dag(int(rng.integers(4, 10)), rng)
        found = getattr(an.search, name)(table(dag), oracle(dag))
        assert set(found.cpdag.edges) == set(cpdag(dag).edges)
        assert an.metrics.shd(dag, found) == 0
        assert nx.is_directed_acyclic_graph(found.dag) and list(found.dag) == list(dag)
        assert set(cpdag(found.dag).edges) == set(found.cpdag.edges)
        assert found.details["consistent"] and not found.details["ambiguous"]
        assert math.isnan(found.score) and found.stopped == "finished"


@pytest.mark.parametrize("name", SEARCHES)
def test_constraints_direct_and_are_obeyed(name):
    dag = nx.DiGraph([("a", "b"), ("b", "c"), ("c", "d")])
    rules = an.Constraints(tiers=[["b"], ["a", "c", "d"]])
    found = getattr(an.search, name)(table("abcd"), oracle(dag), constraints=rules)
    assert set(found.cpdag.edges) == set(found.dag.edges) == {("b", "a"), ("b", "c"), ("c", "d")}
    # A required arc stays, whatever the tests say; a forbidden pair is never joined.
    rules = an.Constraints(required=[("a", "d")], forbidden=[("b", "c"), ("c", "b")])
    found = getattr(an.search, name)(table("abcd"), oracle(dag), constraints=rules)
    assert found.dag.has_edge("a", "d")
    assert not found.dag.has_edge("b", "c") and not found.dag.has_edge("c", "b")
    with pytest.raises(an.ParameterError, match="contradict"):
        rules = an.Constraints(required=[("a", "b")], forbidden=[("a", "b")])
        getattr(an.search, name)(table("abcd"), oracle(dag), constraints=rules)


@pytest.mark.parametrize("name", SEARCHES)
def test_a_limit_on_parents_gives_up_the_weakest_adjacency(name):
    strength = {"a": 0.001, "b": 0.0, "c": 0.0005}

    def test(x, y, given):
        other = x if y == "z" else y
        return strength[other] if "z" in (x, y) else 0.5 if "z" not in given else 0.0

    found = getattr(an.search, name)(table("abcz"), test, max_parents=2)
    assert set(found.dag.predecessors("z")) == {"b", "c"}
    assert found.details["trimmed"] == 1


def test_tests_that_contradict_each_other_are_reported():
    # a - b - c - d - a without chords, and nothing said of colliders: no graph is of that class.
    def test(x, y, given):
        return 0.5 if {x, y} in ({"a", "c"}, {"b", "d"}) and len(given) == 2 else 0.0

    with pytest.warns(ArbornetWarning, match="contradict each other"):
        found = an.search.pc(table("abcd"), test)
    assert not found.details["consistent"]
    assert nx.is_directed_acyclic_graph(found.dag)
    assert {frozenset(e) for e in found.dag.edges} == {frozenset(e) for e in ("ab", "bc", "cd", "da")}


@pytest.mark.parametrize("name", SEARCHES)
def test_threads_change_nothing_and_interruption_returns_what_is_known(name):
    rng = np.random.default_rng(3)
    dag = random_dag(10, rng)
    one, two = (getattr(an.search, name)(table(dag), oracle(dag), n_jobs=n) for n in (1, 2))
    assert (list(one.dag.edges), one.details) == (list(two.dag.edges), two.details)
    at_once = getattr(an.search, name)(table(dag), oracle(dag), time_limit=0)
    assert at_once.stopped == "time" and not at_once.dag.edges

    def slow(x, y, given):
        time.sleep(0.01)
        return 0.0

    data = table(dag)
    with ctrl_c(0.3) as pressed:
        stopped = getattr(an.search, name)(data, slow, n_jobs=1)
        assert pressed.ago() < SOON
    assert stopped.stopped == "interrupted"


def test_an_exception_of_a_test_and_wrong_settings_are_told():
    def broken(x, y, given):
        raise RuntimeError("no such test")

    with pytest.raises(an.ArbornetError, match="no such test") as raised:
        an.search.pc(table("abc"), broken)
    assert isinstance(raised.value.__cause__, RuntimeError)
    with pytest.raises(an.ParameterError, match="from 0 to 1"):
        an.search.pc(table("abc"), lambda x, y, given: 2.0)
    with pytest.raises(an.ParameterError, match="alpha=0"):
        an.search.pc(table("abc"), broken, alpha=0)
    with pytest.raises(an.ParameterError, match="max_given=-1"):
        an.search.cpc(table("abc"), broken, max_given=-1)


def test_scores_are_asked_for_their_tests():
    made = an.simulate.mixed_network(12, 1.5, 2000, seed=5)
    data = an.Table(made.frame, schema=made.schema)
    for name in SEARCHES:
        found = getattr(an.search, name)(data, alpha=0.001, max_given=2)
        assert an.metrics.compare(made.dag, found).ap > 0.8
        again = getattr(an.search, name)(data, an.ConditionalGaussian(), alpha=0.001, max_given=2, n_jobs=1)
        assert list(again.cpdag.edges) == list(found.cpdag.edges)
        score = an.ConditionalGaussian()
        own = sum(an.local_score(data, v, list(found.dag.predecessors(v)), score) for v in data.names)
        assert found.score == pytest.approx(own, abs=1e-6)
