"""Searches on tables of Tetrad's simulation, whose true graphs are known, beside what Tetrad finds in them."""

import gzip
import json
from functools import cache

import networkx as nx
import polars as pl
import pytest

import arbornet as an
from places import DATA

FOLDER = DATA / "simulated"

SEEDS = (1, 2, 3)
PRIOR = an.priors.Binomial(1)


@cache
def simulated(seed):
    name = f"cg100_d2_n1000_s{seed}"
    about = json.loads((FOLDER / f"{name}.json").read_text())
    frame = pl.read_csv(gzip.decompress((FOLDER / f"{name}.csv.gz").read_bytes()))
    kinds = {v: an.Categorical(list(range(k))) if k else an.Continuous() for v, k in about["levels"].items()}
    dag = nx.DiGraph()
    dag.add_nodes_from(frame.columns)
    dag.add_edges_from(about["dag"])
    return an.Table(frame, schema=an.infer_schema(frame).with_types(kinds)), dag


def total(table, dag, score):
    return sum(an.local_score(table, v, list(dag.predecessors(v)), score) for v in dag)


@pytest.mark.parametrize(
    ("seed", "precision", "recall"), [(1, 0.958, 0.92), (2, 0.976, 0.83), (3, 0.928, 0.90)], ids=str
)
def test_boss_with_tetrads_score_finds_what_tetrads_boss_finds(seed, precision, recall):
    table, dag = simulated(seed)
    score = an.ConditionalGaussian(discretise=True, prior=PRIOR, published=True)
    found = an.metrics.compare(dag, an.search.boss(table, score))
    assert found.ap >= precision - 0.02
    assert found.ar >= recall - 0.02


def test_fges_with_tetrads_score_and_faithfulness_is_as_accurate_as_tetrads():
    score = an.ConditionalGaussian(prior=PRIOR, published=True)
    made = [(dag, an.search.fges(table, score, faithfulness=True)) for table, dag in map(simulated, SEEDS)]
    found = [an.metrics.compare(dag, learned) for dag, learned in made]
    means = [sum(getattr(f, name) for f in found) / 3 for name in ("ap", "ar", "ahp_cpdag", "ahr_cpdag")]
    assert means == pytest.approx([0.97, 0.80, 0.86, 0.84], abs=0.015)


@pytest.mark.parametrize("published", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_boss_finds_graphs_that_score_above_the_true_one_and_all_that_its_orders_allow(seed, published):
    table, dag = simulated(seed)
    score = an.ConditionalGaussian(discretise=True, prior=PRIOR, published=published)
    found = an.search.boss(table, score)
    order = list(nx.topological_sort(dag))
    backward = [(b, a) for i, a in enumerate(order) for b in order[i + 1 :]]
    in_order = an.search.boss(table, score, constraints=an.Constraints(forbidden=backward), restarts=0)
    assert found.score > total(table, dag, score)
    assert found.score > in_order.score


def test_counting_all_parameters_finds_fewer_wrong_arcs_than_the_published_form():
    complete, published = (
        [
            an.metrics.compare(
                dag, an.search.boss(table, an.ConditionalGaussian(discretise=True, prior=PRIOR, published=p))
            )
            for table, dag in map(simulated, SEEDS)
        ]
        for p in (False, True)
    )
    assert all(c.ap > p.ap for c, p in zip(complete, published, strict=True))
    assert sum(c.shd for c in complete) < sum(p.shd for p in published)
