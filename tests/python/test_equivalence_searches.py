"""fGES, BOSS and GRaSP through the public door; their mathematics is tested in the core."""

import itertools
import json
import os
import subprocess
import sys
import time
import zlib
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import arbornet as an
from arbornet.graphs import cpdag
from interrupting import SOON, ctrl_c

SEARCHES = ["fges", "boss", "grasp"]


def frame(n_vars=8, n_rows=2000, seed=0):
    """Binary columns of a random network."""
    rng = np.random.default_rng(seed)
    columns = {}
    for v in range(n_vars):
        parents = [f"x{p}" for p in rng.choice(v, min(v, 2), replace=False)] if v else []
        weight = rng.uniform(1, 2, len(parents)) * rng.choice([-1, 1], len(parents))
        logit = sum(w * (2 * columns[p] - 1) for w, p in zip(weight, parents, strict=True)) if parents else 0.0
        columns[f"x{v}"] = (rng.random(n_rows) < 1 / (1 + np.exp(-logit))).astype(np.int64)
    return columns


def table(n_vars=8, n_rows=2000, seed=0):
    data = frame(n_vars, n_rows, seed)
    return an.Table(data, schema=an.infer_schema(data).with_types(dict.fromkeys(data, an.Categorical([0, 1]))))


def rescored(data, dag, score):
    return sum(an.local_score(data, v, list(dag.predecessors(v)), score) for v in data.names)


@pytest.mark.parametrize("name", SEARCHES)
def test_what_is_found_is_a_graph_with_its_score_and_its_class(name):
    data = table()
    found = getattr(an.search, name)(data, an.BIC())
    assert nx.is_directed_acyclic_graph(found.dag)
    assert list(found.dag) == data.names
    assert found.stopped == "finished" and found.bound == float("inf")
    assert found.score == pytest.approx(rescored(data, found.dag, an.BIC()), abs=1e-9)
    assert set(found.cpdag.edges) == set(cpdag(found.dag).edges)
    # Greedy, all of them: close to the best, and never above it.
    best = an.search.exact(an.score_parents(data, an.BIC(), 4))
    assert best.score - 25 < found.score < best.score + 1e-6


@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.parametrize("n_jobs", [2, 3])
def test_the_number_of_threads_changes_nothing(name, n_jobs):
    data = table(12, 500, 3)
    one, many = (getattr(an.search, name)(data, an.BDeu(2.0), n_jobs=n) for n in (1, n_jobs))
    assert (list(one.dag.edges), one.score, list(one.cpdag.edges)) == (
        list(many.dag.edges),
        many.score,
        list(many.cpdag.edges),
    )


def test_the_hash_seed_changes_nothing():
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import test_equivalence_searches as t, arbornet as an; "
        "fs = [getattr(an.search, s)(t.table(9, 300, 5), an.BIC()) for s in t.SEARCHES]; "
        "print([(repr(f.score), list(f.dag.edges), list(f.cpdag.edges)) for f in fs])"
    )
    run = {
        subprocess.run(
            [sys.executable, "-c", code, str(Path(__file__).parent)],
            capture_output=True,
            text=True,
            check=True,
            env=os.environ | {"PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(run) == 1


@pytest.mark.parametrize("name", SEARCHES)
def test_required_and_forbidden_arcs_tiers_roots_and_leaves_are_obeyed(name):
    data = table(8, 800, 1)
    # x7 -> x0 is against the data's own order, and required all the same.
    rules = an.Constraints(
        required=[("x7", "x0"), ("x0", "x3")],
        forbidden=[("x1", "x2"), ("x2", "x1")],
        tiers=[["x7", "x4"], ["x0", "x5"]],
        roots=["x4"],
        leaves=["x6"],
        max_parents=3,
    )
    found = getattr(an.search, name)(data, an.BIC(), constraints=rules)
    resolved = rules.resolve(data.names)
    assert nx.is_directed_acyclic_graph(found.dag)
    for v in data.names:
        assert resolved.permits(v, found.dag.predecessors(v))
    assert found.dag.has_edge("x7", "x0") and found.dag.has_edge("x0", "x3")
    # The class is narrowed: no arc of it may point where no arc of the graph may.
    assert not found.cpdag.has_edge("x0", "x7")
    for a, b in found.cpdag.edges:
        rule = resolved.allowed[data.names.index(b)]
        assert data.names.index(a) in rule
    unconstrained = cpdag(found.dag)
    assert set(found.cpdag.edges) <= set(unconstrained.edges)


@pytest.mark.parametrize("name", SEARCHES)
def test_a_chain_of_required_arcs_neither_hangs_nor_disappears(name):
    data = table(6, 200, 2)
    chain = list(itertools.pairwise(reversed(data.names)))
    found = getattr(an.search, name)(data, an.BIC(), constraints=an.Constraints(required=chain), time_limit=30)
    assert set(chain) <= set(found.dag.edges)
    assert found.stopped == "finished"


@pytest.mark.parametrize("name", SEARCHES)
def test_contradictory_constraints_are_explained(name):
    rules = an.Constraints(required=[("x0", "x1"), ("x1", "x0")])
    with pytest.raises(an.ParameterError, match="cycle"):
        getattr(an.search, name)(table(3, 50), an.BIC(), constraints=rules)
    rules = an.Constraints(required=[("x0", "x1")], roots=["x1"])
    with pytest.raises(an.ParameterError, match="'x0' -> 'x1' is required, but 'x1' is a root"):
        getattr(an.search, name)(table(3, 50), an.BIC(), constraints=rules)


@pytest.mark.parametrize("name", SEARCHES)
def test_a_limit_on_parents_and_one_on_time_are_kept(name):
    data = table(10, 1000, 4)
    found = getattr(an.search, name)(data, an.AIC(), max_parents=1)
    assert max(dict(found.dag.in_degree).values()) <= 1
    at_once = getattr(an.search, name)(data, an.AIC(), time_limit=0)
    assert at_once.stopped == "time"
    assert at_once.score == pytest.approx(rescored(data, at_once.dag, an.AIC()), abs=1e-9)


@pytest.mark.parametrize("name", SEARCHES)
def test_ctrl_c_returns_the_best_so_far_within_a_second(name):
    data = table(14, 100, 0)

    def slow(_, child, parents):
        # Any number of parents may pay, so that no search has seen all that it wants within minutes.
        time.sleep(0.002)
        return float(zlib.crc32(repr((child, sorted(parents))).encode()) % 1000)

    score = an.CustomScore(slow, name="slow")
    with ctrl_c(0.4) as pressed:
        found = getattr(an.search, name)(data, score, n_jobs=1)
        assert pressed.ago() < SOON
    assert found.stopped == "interrupted"
    assert nx.is_directed_acyclic_graph(found.dag)


def test_a_family_that_cannot_be_scored_is_left_out():
    def picky(_, child, parents):
        if len(parents) > 1:
            raise an.FamilyError("too many")
        return -1.0 * (not parents)

    found = an.search.fges(table(4, 20), an.CustomScore(picky))
    assert max(dict(found.dag.in_degree).values()) == 1
    assert found.details["refused"] > 0


def test_wrong_settings_are_told():
    data = table(3, 50)
    with pytest.raises(an.ParameterError, match="restarts=-1"):
        an.search.boss(data, an.BIC(), restarts=-1)
    with pytest.raises(an.ParameterError, match="depth=0"):
        an.search.grasp(data, an.BIC(), depth=0)
    with pytest.raises(an.ParameterError, match="time_limit"):
        an.search.fges(data, an.BIC(), time_limit=-1)
    with pytest.raises(an.ParameterError, match="score is None"):
        an.search.fges(data, None)


def test_one_variable_and_none_that_depend():
    data = table(1, 50)
    for name in SEARCHES:
        assert list(getattr(an.search, name)(data, an.BIC()).dag.edges) == []


@pytest.mark.parametrize("search", ["boss", "fges", "grasp", an.search.boss])
def test_learn_takes_them_without_scoring_all_parent_sets(search, capsys):
    data = table(6, 500)
    net = an.learn(data, an.BIC(), search)
    assert "candidates" not in capsys.readouterr().out
    assert set(net.graph.edges) == set(
        (an.search.boss if callable(search) else getattr(an.search, search))(data, an.BIC()).dag.edges
    )
    assert net.origin.search["method"] == (search if isinstance(search, str) else "boss")


def test_the_shell_takes_them(tmp_path):
    import polars as pl

    pl.DataFrame(frame(5, 300)).write_csv(tmp_path / "t.csv")
    options = ["--search", "boss", "--score", "BIC()", "--json", "--quiet"]
    done = subprocess.run(
        [sys.executable, "-m", "arbornet.cli", "learn", tmp_path / "t.csv", *options],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["method"] == "boss"


@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_may_start_from_a_graph(name):
    data = table(8, 500, 6)
    best = an.search.boss(data, an.BIC(), restarts=5)
    again = getattr(an.search, name)(data, an.BIC(), start=best.dag)
    assert again.score >= best.score - 1e-6
    with pytest.raises(an.ArbornetError, match="starting graph breaks the constraints"):
        rules = an.Constraints(forbidden=list(best.dag.edges))
        getattr(an.search, name)(data, an.BIC(), start=best.dag, constraints=rules)
    with pytest.raises(an.ParameterError, match="start: its variables"):
        getattr(an.search, name)(data, an.BIC(), start=nx.DiGraph([("u", "v")]))


@pytest.mark.parametrize("name", ["boss", "grasp"])
def test_searches_over_orders_find_at_least_what_greedy_steps_find(name):
    for seed in range(5):
        data = table(9, 300, seed)
        greedy = an.search.fges(data, an.AIC())
        assert getattr(an.search, name)(data, an.AIC()).score >= greedy.score - 1e-6
