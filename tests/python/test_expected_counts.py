"""Structural EM with exact expectations: what theory says of it holds of scores, searches and networks together."""

from __future__ import annotations

import itertools
import math

import numpy as np
import polars as pl
import pytest

import arbornet as an
from arbornet._core import NetworkHandle

LEVELS = {"a": ["x", "y"], "b": ["x", "y", "z"], "c": ["x", "y"], "d": ["x", "y"]}


def rows(seed, n=120, share=0.3):
    """Rows of four variables of which each but the first depends on others, a share of the cells blank."""
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 2, n)
    b = np.where(rng.random(n) < 0.7, a, rng.integers(0, 3, n))
    c = np.where(rng.random(n) < 0.8, (b > 0).astype(int), rng.integers(0, 2, n))
    d = np.where(rng.random(n) < 0.8, a ^ c, rng.integers(0, 2, n))
    codes = dict(zip(LEVELS, (a, b, c, d), strict=True))
    return pl.DataFrame(
        [
            pl.Series(
                name, [None if gone else LEVELS[name][k] for k, gone in zip(code, rng.random(n) < share, strict=True)]
            )
            for name, code in codes.items()
        ]
    )


def completed(frame, net):
    """Every completion of every row, how probable it is given what the row has, and the log likelihood of that."""
    made, weights, likelihood = [], [], 0.0
    for row in frame.iter_rows():
        choices = [LEVELS[name] if value is None else [value] for name, value in zip(LEVELS, row, strict=True)]
        every = list(itertools.product(*choices))
        shares = np.exp(net.log_likelihood(pl.DataFrame(every, schema=list(LEVELS), orient="row")))
        made += every
        weights += list(shares / shares.sum())
        likelihood += math.log(shares.sum())
    return pl.DataFrame(made, schema=list(LEVELS), orient="row"), np.array(weights), likelihood


def most_likely(frame, weights, net):
    """The network's graph with the shares of weighted rows."""
    names = list(LEVELS)
    codes = np.column_stack([[LEVELS[name].index(value) for value in frame[name]] for name in names])
    parents, tables = [net.handle.parents(v) for v in range(len(names))], []
    for v, of in enumerate(parents):
        size = len(LEVELS[names[v]])
        table = []
        for at in itertools.product(*(range(len(LEVELS[names[p]])) for p in of)):
            here = (codes[:, of] == list(at)).all(axis=1)
            counts = np.bincount(codes[here, v], weights[here], minlength=size)
            table.append(counts / counts.sum() if counts.sum() > 0 else np.full(size, 1 / size))
        tables.append(np.array(table))
    words = ["categorical"] * len(names)
    net.handle = NetworkHandle.from_tables(names, words, list(LEVELS.values()), parents, tables)
    return net


def penalty(net, n):
    size = {name: len(levels) for name, levels in LEVELS.items()}
    of = [(size[v] - 1) * math.prod(size[p] for p in net.graph.predecessors(v)) for v in LEVELS]
    return 0.5 * math.log(n) * sum(of)


@pytest.mark.parametrize("seed", range(4))
def test_the_penalised_likelihood_of_what_is_observed_never_falls(seed):
    # Friedman 1998: with expected counts, shares as parameters and the best graph by likelihood less penalty.
    frame = rows(seed)
    schema = an.infer_schema(frame.drop_nulls()).with_types({name: an.Categorical(of) for name, of in LEVELS.items()})
    uniform = pl.DataFrame(list(itertools.product(*LEVELS.values())), schema=list(LEVELS), orient="row")
    net = an.learn(uniform, an.BIC(), schema=schema, verbose=False)
    assert net.graph.number_of_edges() == 0
    before, graphs = -math.inf, []
    for _ in range(8):
        whole, weights, likelihood = completed(frame, net)
        assert float(np.sum(net.log_likelihood(frame))) == pytest.approx(likelihood, rel=1e-9)
        table = an.Table(whole, schema, weights=weights)
        assert table.handle.total_weight == pytest.approx(len(frame), rel=1e-9)
        found = an.search.exact(an.score_parents(table, an.BIC()))
        net = most_likely(whole, weights, an.fit(table, found, an.BIC()))
        now = float(np.sum(net.log_likelihood(frame))) - penalty(net, len(frame))
        assert now >= before - 1e-8, (before, now)
        before = now
        graphs.append(sorted(net.graph.edges))
    assert len(graphs[-1]) >= 2
