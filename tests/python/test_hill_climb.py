import itertools
import os
import subprocess
import sys
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import arbornet as an
from arbornet import _core
from arbornet.graphs import cpdag
from interrupting import SOON, ctrl_c
from places import INSTANCES


class Bic:
    def spec(self) -> str:
        return '{"score":"likelihood","penalty":"bic"}'


def table(n_vars=8, n_rows=500, seed=0):
    rng = np.random.default_rng(seed)
    columns = [rng.integers(0, 2, n_rows).astype(np.uint32)]
    for v in range(1, n_vars):
        copied = columns[rng.integers(0, v)]
        columns.append(np.where(rng.random(n_rows) < 0.7, copied, rng.integers(0, 2, n_rows)).astype(np.uint32))
    names = [f"x{v}" for v in range(n_vars)]
    return _core.TableHandle.from_columns(names, ["categorical"] * n_vars, [["no", "yes"]] * n_vars, columns)


def rescored(handle, dag):
    score = _core.ScoreHandle(handle, Bic().spec())
    position = {name: i for i, name in enumerate(handle.names)}
    return sum(score.score(position[v], sorted(position[p] for p in dag.predecessors(v))) for v in handle.names)


def test_the_score_is_that_of_the_graph_and_no_single_arc_improves_it():
    handle = table()
    found = an.search.hill_climb(handle, Bic())
    assert nx.is_directed_acyclic_graph(found.dag)
    assert found.stopped == "finished"
    assert found.score == pytest.approx(rescored(handle, found.dag), abs=1e-9)
    for a, b in itertools.permutations(handle.names, 2):
        changes = (
            [[("remove", a, b)], [("remove", a, b), ("add", b, a)]] if found.dag.has_edge(a, b) else [[("add", a, b)]]
        )
        for change in changes:
            other = found.dag.copy()
            for what, parent, child in change:
                (other.add_edge if what == "add" else other.remove_edge)(parent, child)
            if nx.is_directed_acyclic_graph(other):
                assert rescored(handle, other) <= found.score + 1e-8


@pytest.mark.parametrize("n_jobs", [2, 4, -1])
def test_the_number_of_threads_changes_nothing(n_jobs):
    handle = table(12, seed=3)
    one = an.search.hill_climb(handle, Bic(), restarts=5, n_jobs=1)
    many = an.search.hill_climb(handle, Bic(), restarts=5, n_jobs=n_jobs)
    assert (sorted(one.dag.edges), one.score) == (sorted(many.dag.edges), many.score)


def test_the_hash_seed_changes_nothing():
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import test_hill_climb as t, arbornet as an; "
        "f = an.search.hill_climb(t.table(10, seed=5), t.Bic(), restarts=3); print(repr(f.score), sorted(f.dag.edges))"
    )
    run = [
        subprocess.run(
            [sys.executable, "-c", code, str(Path(__file__).parent)],
            capture_output=True,
            text=True,
            check=True,
            env=os.environ | {"PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    ]
    assert run[0] == run[1]
    assert "x0" in run[0]


def test_constraints_are_obeyed():
    handle = table(8, seed=1)
    constraints = an.Constraints(required=[("x7", "x0")], forbidden=[("x0", "x1"), ("x1", "x0")], roots=["x3"])
    found = an.search.hill_climb(handle, Bic(), constraints=constraints, max_parents=1, restarts=5)
    assert found.dag.has_edge("x7", "x0")
    assert not found.dag.has_edge("x0", "x1")
    assert not found.dag.has_edge("x1", "x0")
    assert found.dag.in_degree("x3") == 0
    assert max(d for _, d in found.dag.in_degree()) <= 1


def test_a_start_that_breaks_the_constraints_or_has_other_variables_is_refused():
    handle = table(4)
    start = nx.DiGraph([("x0", "x1"), ("x1", "x2"), ("x2", "x3")])
    with pytest.raises(an.ArbornetError, match="start"):
        an.search.hill_climb(handle, Bic(), start=start, constraints=an.Constraints(roots=["x1"]))
    with pytest.raises(an.ParameterError, match="x3"):
        an.search.hill_climb(handle, Bic(), start=nx.DiGraph([("x0", "x1"), ("x1", "x2")]))
    assert an.search.hill_climb(handle, Bic(), start=start).score >= rescored(handle, start)


def test_what_cannot_be_climbed_is_refused_with_the_way_out():
    with pytest.raises(an.ParameterError, match="BDeu"):
        an.search.hill_climb(table(3))
    with pytest.raises(an.ParameterError, match="Table"):
        an.search.hill_climb([[1, 2]], Bic())
    with pytest.raises(an.ParameterError, match="time_limit"):
        an.search.hill_climb(table(3), Bic(), time_limit=-1)


def test_over_candidates_a_thousand_restarts_reach_the_known_optimum():
    handle = _core.CandidatesHandle.from_jkl((INSTANCES / "alarm1000_bic.jkl").read_text(), "alarm")
    found = an.search.hill_climb(handle, restarts=1000, perturb=10)
    assert found.bound >= -11783.05241228 >= found.score - 1e-6
    assert found.score == pytest.approx(-11783.05241228, abs=1e-6)


def test_interrupting_returns_the_incumbent_within_a_second():
    handle = table(20, 2000)
    with ctrl_c(0.3) as pressed:
        found = an.search.hill_climb(handle, Bic(), restarts=10**9)
        assert pressed.ago() < SOON
    assert found.stopped == "interrupted"
    assert found.score == pytest.approx(rescored(handle, found.dag))


def test_time_is_kept():
    found = an.search.hill_climb(table(20, 2000), Bic(), restarts=10**9, time_limit=0.2)
    assert found.stopped == "time"
    assert found.seconds < 1.2


def test_cpdag_keeps_names_and_shows_reversible_arcs_both_ways():
    dag = nx.DiGraph([("läuft", "b 1"), ("c", "b 1"), ("b 1", "d"), ("e", "f")])
    expected = {("läuft", "b 1"), ("c", "b 1"), ("b 1", "d"), ("e", "f"), ("f", "e")}
    assert set(cpdag(dag).edges) == expected
    assert list(cpdag(dag).nodes) == list(dag.nodes)
    with pytest.raises(an.ArbornetError, match="cycle"):
        cpdag(nx.DiGraph([("a", "b"), ("b", "a")]))
