import itertools
import lzma
import math
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import arbornet as an
from arbornet import _core
from interrupting import SOON, ctrl_c
from places import INSTANCES

OPTIMA = {
    "asia.num.jkl": -22466.39654649,
    "child5000.num.jkl": -71542.801,
    "autos_bic.jkl": -1585.75974095,
    "insurance1000_bic.jkl": -14350.47136143,
    "steel_bic.jkl.xz": -18805.53237,
    "wdbc_bic.jkl": -6602.11809,
    "soybean_bic.jkl": -3122.06379938,
    "alarm1000_bic.jkl": -11783.05241228,
    "carpo100_bic.jkl": -2000.21316531,
}


def load(name):
    path = INSTANCES / name
    text = lzma.decompress(path.read_bytes()).decode() if name.endswith(".xz") else path.read_text()
    return _core.CandidatesHandle.from_jkl(text, name)


def random_candidates(n, per_child, seed=0):
    rng = np.random.default_rng(seed)
    children = []
    for v in range(n):
        sets = {(): -30.0}
        for _ in range(per_child):
            parents = rng.choice(n, size=rng.integers(1, 4), replace=False)
            sets[tuple(sorted(int(p) for p in parents if p != v))] = float(rng.normal(-10, 5))
        children.append([(score, list(parents)) for parents, score in sets.items()])
    return _core.CandidatesHandle.from_lists([f"v{i}" for i in range(n)], children)


def rescored(handle, dag):
    position = {name: i for i, name in enumerate(handle.names)}
    total = 0.0
    for v, name in enumerate(handle.names):
        scores, offsets, members = handle.child(v)
        parents = sorted(position[p] for p in dag.predecessors(name))
        sets = [members[a:b].tolist() for a, b in itertools.pairwise(offsets)]
        total += scores[sets.index(parents)]
    return total


@pytest.mark.parametrize("name", OPTIMA)
def test_instances_reach_their_optimum_and_never_exceed_it(name):
    handle = load(name)
    found = an.search.anytime(handle, rounds=800 if name in ("autos_bic.jkl", "soybean_bic.jkl") else 150)
    assert nx.is_directed_acyclic_graph(found.dag)
    assert found.score == pytest.approx(rescored(handle, found.dag), abs=1e-9)
    assert found.score == pytest.approx(OPTIMA[name], abs=1e-3 if "xz" in name or "wdbc" in name else 1e-6)
    assert found.bound >= OPTIMA[name] - 1e-3
    assert found.gap <= 0.03 * abs(OPTIMA[name])


def test_threads_and_hash_seeds_change_nothing():
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import test_anytime as t, arbornet as an; "
        "f = an.search.anytime(t.random_candidates(50, 60), rounds=40, seed=7, n_jobs=int(sys.argv[2])); "
        "print(repr(f.score), list(f.dag.edges))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code, str(Path(__file__).parent), jobs],
            capture_output=True,
            text=True,
            check=True,
            env=os.environ | {"PYTHONHASHSEED": seed},
        ).stdout
        for seed, jobs in (("1", "1"), ("2", "2"), ("3", "-1"))
    }
    assert len(outputs) == 1
    assert "v0" in outputs.pop()


def test_incumbents_improve_and_lie_below_the_bound():
    found = an.search.anytime(random_candidates(60, 100), rounds=50)
    scores = [i.score for i in found.incumbents]
    assert scores == sorted(scores)
    assert scores[-1] == found.score
    assert all(i.bound >= i.score for i in found.incumbents)
    assert found.gap >= 0
    assert found.stopped == "finished"


def test_the_bound_comes_with_its_evidence():
    handle = random_candidates(40, 60)
    for arguments in ({"rounds": 3}, {"rounds": 3, "max_parents": 1}, {"time_limit": 0.05}):
        found = an.search.anytime(handle, **arguments)
        assert found.certificate.check(handle)
        assert found.certificate.bound == found.bound > found.score
    narrow = an.search.anytime(handle, rounds=3, max_parents=1).certificate
    assert not replace(narrow, constraints=None).check(handle)


def test_a_small_problem_is_proved():
    found = an.search.anytime(random_candidates(9, 40))
    assert (found.stopped, found.gap) == ("proven", 0.0)


def test_constraints_are_obeyed_and_the_impossible_is_explained():
    handle = random_candidates(30, 100)
    constraints = an.Constraints(forbidden=[("v1", "v0")], roots=["v3"], tiers=[["v5"], ["v6"]])
    found = an.search.anytime(handle, rounds=20, constraints=constraints, max_parents=2)
    assert not found.dag.has_edge("v1", "v0")
    assert not found.dag.has_edge("v6", "v5")
    assert found.dag.in_degree("v3") == 0
    assert max(d for _, d in found.dag.in_degree()) <= 2
    with pytest.raises(an.ArbornetError, match="'v0'"):
        an.search.anytime(handle, constraints=an.Constraints(required=[(f"v{i}", "v0") for i in range(1, 8)]))


def test_time_is_kept_and_interrupting_returns_the_incumbent():
    handle = random_candidates(300, 300)
    found = an.search.anytime(handle, time_limit=0.3)
    assert found.stopped == "time"
    assert found.seconds < 1.3
    with ctrl_c(0.4) as pressed:
        found = an.search.anytime(handle, time_limit=60)
        assert pressed.ago() < SOON
    assert found.stopped == "interrupted"
    assert found.score == pytest.approx(rescored(handle, found.dag), abs=1e-9)


def test_time_is_kept_with_a_thousand_variables():
    handle = random_candidates(1200, 60)
    found = an.search.anytime(handle, time_limit=2.0)
    assert found.seconds < 5.0  # three more than the limit, for a busy machine
    assert found.bound >= found.score
    assert found.certificate.check(handle)


def test_wrong_parameters_are_refused():
    for wrong in ({"window": 21}, {"chains": 0}, {"rounds": 0}, {"time_limit": -1.0}, {"max_parents": -1}):
        with pytest.raises(an.ParameterError, match=next(iter(wrong))):
            an.search.anytime(random_candidates(3, 3), **wrong)
    with pytest.raises(an.ParameterError, match="candidates"):
        an.search.anytime({"a": 1})


@pytest.mark.parametrize("power", [-80, -40, 40, 80])
def test_scores_of_any_size_are_searched_alike(power):
    plain = random_candidates(12, 30)
    lists = []
    for v in range(len(plain.names)):
        scores, offsets, members = plain.child(v)
        sets = [members[a:b].tolist() for a, b in itertools.pairwise(offsets)]
        lists.append([(math.ldexp(float(score), power), own) for score, own in zip(scores, sets, strict=True)])
    scaled = _core.CandidatesHandle.from_lists(plain.names, lists)
    found, expected = an.search.anytime(scaled, rounds=30), an.search.anytime(plain, rounds=30)
    assert math.ldexp(found.score, -power) == pytest.approx(expected.score, rel=1e-12)
