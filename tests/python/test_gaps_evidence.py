"""Values that were drawn are no evidence: arcs stay where observed values support them. The start keeps its budget."""

import networkx as nx
import numpy as np
import polars as pl
import pytest

import arbornet as an
from arbornet.data.incomplete import Incomplete
from arbornet.gaps import start
from arbornet.gaps.supported import supported
from arbornet.graphs.constraints import resolved
from arbornet.scores.prepare import prepared


def noise(seed, n=600, share=0.85):
    """Three columns that have nothing to do with one another, of which one is nearly always missing."""
    random = np.random.default_rng(seed)
    hidden = pl.Series(random.random(n) < share)
    frame = pl.DataFrame({"x": random.choice(list("abc"), n), "z": random.normal(size=n), "y": random.normal(size=n)})
    return frame.with_columns(y=pl.when(hidden).then(None).otherwise(pl.col("y")))


def learned(frame, **how):
    return an.learn(frame, effort="quick", verbose=False, missing="learn", **how)


def gains(frame, arcs, score=None):
    gaps = Incomplete(frame)
    names = gaps.names
    parents = [[names.index(p) for p, c in arcs if c == name] for name in names]
    rules = resolved(None, names)
    return names, supported(gaps, parents, score or an.PCART(), rules, 1e12, 1)


def test_a_column_that_is_nearly_always_missing_has_no_arcs_by_chance():
    for seed in range(6):
        assert list(learned(noise(seed)).graph.edges) == [], seed


def test_a_dependence_that_few_observed_values_show_stays():
    frame = noise(0).with_columns(y=pl.col("y") * 0.3 + pl.col("z"))
    net = learned(frame)
    assert net.graph.has_edge("z", "y") or net.graph.has_edge("y", "z")


def test_an_arc_scores_what_it_gains_in_rows_that_have_its_family():
    frame = noise(1).with_columns(y=pl.col("y") * 0.3 + pl.col("z"))
    names, found = gains(frame, [("z", "y")])
    observed = an.Table(frame.drop_nulls(), schema=Incomplete(frame).schema)
    scored = prepared(observed, an.PCART())
    y, z = names.index("y"), names.index("z")
    assert found.gains[y, z] == pytest.approx(scored.score(y, [z]) - scored.score(y, []))
    assert found.dropped == []


def test_a_parent_that_acts_only_beside_another_is_supported():
    random = np.random.default_rng(3)
    a, b = random.integers(0, 2, (2, 400))
    y = np.where(random.random(400) < 0.9, a ^ b, 1 - (a ^ b))
    frame = pl.DataFrame({"a": a, "b": b, "y": y}).with_columns(
        a=pl.when(pl.Series(random.random(400) < 0.3)).then(None).otherwise(pl.col("a"))
    )
    _, found = gains(frame, [("a", "y"), ("b", "y")], an.BDeu())
    assert found.dropped == []
    assert min(found.gains.values()) > 10


def test_required_arcs_stay_and_families_without_gaps_are_not_judged():
    frame = noise(2)
    net = learned(frame, constraints=an.Constraints(required=[("x", "y"), ("x", "z")]))
    assert {("x", "y"), ("x", "z")} <= set(net.graph.edges)
    _, found = gains(frame, [("x", "z")])
    assert (found.gains, found.dropped) == ({}, [])


def test_what_is_left_out_is_told_and_the_rest_is_refitted(capsys, tmp_path):
    said = False
    for seed in range(6):
        net = an.learn(noise(seed), effort="quick", missing="learn")
        printed = " ".join(capsys.readouterr().out.split())
        if "unsupported" in net.origin.search:
            said = True
            assert "as the observed values do not support" in printed
            assert all(net.handle.model(v).parents == [] for v in range(3))
            net.report(tmp_path / "net.html")
            assert "but the observed values do not support them" in (tmp_path / "net.html").read_text("utf-8")
    assert said


def test_the_start_looks_at_fewer_rows_and_parents_where_its_budget_does_not_suffice(monkeypatch):
    random = np.random.default_rng(0)
    base = random.normal(size=4000)
    frame = pl.DataFrame({f"v{i}": base + random.normal(size=4000) for i in range(6)})
    blank = random.random((6, 4000)) < 0.1
    frame = frame.with_columns(
        pl.when(pl.Series(hidden)).then(None).otherwise(pl.col(name)).alias(name)
        for name, hidden in zip(frame.columns, blank, strict=True)
    )
    gaps, rules = Incomplete(frame), resolved(None, frame.columns)
    spent = []
    real = start._scored

    def counted(gaps, score, families, alone, n_jobs):
        whole = prepared(gaps.as_if_complete(), score)
        spent.append(start._cost(gaps, whole, list(families)) if any(of for _, of in families) else 0.0)
        return real(gaps, score, families, alone, n_jobs)

    monkeypatch.setattr(start, "_scored", counted)
    all_of_it = start.available(gaps, an.PCART(), rules, 2, 1e12, 1)
    whole = sum(spent)
    for share in (0.3, 0.05, 0.001):
        spent.clear()
        found = start.available(gaps, an.PCART(), rules, 2, share * whole, 1)
        assert sum(spent) <= share * whole
        assert found.names == all_of_it.names
    assert found.n_kept < all_of_it.n_kept


def test_the_rows_that_are_looked_at_do_not_depend_on_their_order():
    frame = noise(4)
    mixed = frame.sample(fraction=1.0, shuffle=True, seed=1)
    one, other = Incomplete(frame).thinned(3), Incomplete(mixed).thinned(3)
    assert 150 < one.n_rows < 250
    for a, b in zip(one.cells, other.cells, strict=True):
        assert sorted(map(str, a.tolist())) == sorted(map(str, b.tolist()))


def test_the_class_of_a_network_without_an_arc_is_that_of_its_graph():
    net = learned(noise(5))
    assert nx.is_empty(net.cpdag())
