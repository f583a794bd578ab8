"""The same constraints, given to every search that takes them."""

import itertools
import re

import networkx as nx
import numpy as np
import pytest

import arbornet as an

NAMES = [f"x{i}" for i in range(6)]
ORDERED = ["exact", "anytime", "k_best", "candidates climbed"]
ON_DEMAND = ["hill_climb", "fges", "boss", "grasp", "hybrid"]
BY_TESTS = ["pc", "cpc"]
SEARCHES = [*ORDERED, *ON_DEMAND, *BY_TESTS]


@pytest.fixture(scope="module")
def table():
    """Each column copies one of those before it, most of the time."""
    rng = np.random.default_rng(7)
    columns = [rng.integers(0, 3, 600)]
    for i in range(1, len(NAMES)):
        columns.append(np.where(rng.random(600) < 0.7, columns[rng.integers(0, i)], rng.integers(0, 3, 600)))
    return an.Table({name: column.astype(str) for name, column in zip(NAMES, columns, strict=True)})


def graphs(name, table, rules):
    """All graphs that a search gives under the rules, each with the time it is allowed."""
    if name in ORDERED:
        sets = an.score_parents(table, an.BIC(), max_parents=3, constraints=rules)
        if name == "k_best":
            return [found.dag for found in an.search.k_best(sets, 20, constraints=rules, time_limit=60)]
        search = getattr(an.search, "hill_climb" if name == "candidates climbed" else name)
        return [search(sets, constraints=rules, time_limit=60).dag]
    return [getattr(an.search, name)(table, an.BIC(), constraints=rules, time_limit=60).dag]


RULES = {
    "arcs": an.Constraints(required=[("x5", "x0"), ("x0", "x3")], forbidden=[("x1", "x2"), ("x2", "x1")]),
    "a chain against the data": an.Constraints(required=list(itertools.pairwise(reversed(NAMES)))),
    "tiers": an.Constraints(tiers=[["x5", "x4"], ["x3", "x2"], ["x1"]]),
    "ends and limits": an.Constraints(roots=["x2"], leaves=["x0"], max_parents={"x5": 1, "x0": 2}),
    "allowed parents": an.Constraints(allowed_parents={"x1": ["x4"], "x2": []}, max_parents=2),
    "no arcs": an.Constraints(roots=NAMES),
}


# Rules against the data make independence tests contradict one another, of which pc and cpc warn.
@pytest.mark.filterwarnings("ignore:c?pc. the tests contradict each other")
@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("name", SEARCHES)
def test_every_search_obeys(name, rules, table):
    resolved = RULES[rules].resolve(NAMES)
    for dag in graphs(name, table, RULES[rules]):
        assert nx.is_directed_acyclic_graph(dag)
        for v in NAMES:
            parents = list(dag.predecessors(v))
            assert resolved.permits(v, parents), f"{v} has {parents}"


CLASHES = {
    "'x0' -> 'x1' is required, but it is forbidden": {"required": [("x0", "x1")], "forbidden": [("x0", "x1")]},
    "cycle": {"required": [("x0", "x1"), ("x1", "x2"), ("x2", "x0")]},
    "'x1' is a root": {"required": [("x0", "x1")], "roots": ["x1"]},
    "'x0' is a leaf": {"required": [("x0", "x1")], "leaves": ["x0"]},
    "earlier tier": {"required": [("x0", "x1")], "tiers": [["x1"], ["x0"]]},
    "max_parents": {"required": [("x0", "x2"), ("x1", "x2")], "max_parents": 1},
    "not among the variables": {"required": [("x0", "y")]},
}


@pytest.mark.parametrize("told", CLASHES)
@pytest.mark.parametrize("name", SEARCHES)
def test_every_search_explains_a_contradiction(name, told, table):
    with pytest.raises(an.ParameterError, match=re.escape(told)):
        graphs(name, table, an.Constraints(**CLASHES[told]))


@pytest.mark.parametrize("name", [*ORDERED, "chow_liu"])
def test_rules_that_came_after_scoring_are_obeyed_or_refused(name, table):
    """A required arc whose sets were never scored is told, not left out."""
    sets = an.score_parents(table, an.BIC(), max_parents=1)
    rules = an.Constraints(required=[("x0", "x5"), ("x1", "x5")])
    with pytest.raises(an.ArbornetError, match="'x5'"):
        if name == "chow_liu":
            an.chow_liu(table, an.BIC(), constraints=rules)
        elif name == "k_best":
            an.search.k_best(sets, 3, constraints=rules)
        else:
            search = getattr(an.search, "hill_climb" if name == "candidates climbed" else name)
            search(sets, constraints=rules, time_limit=60)
