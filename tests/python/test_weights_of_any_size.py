"""Weights that are no whole numbers, with every score that takes them."""

import json
import math

import networkx as nx
import numpy as np
import polars as pl
import pytest
from scipy.optimize import minimize
from scipy.special import gammaln

import arbornet as an

MIXED = [
    an.FullTable(),
    an.FullTable(max_bins=3, normalised=False),
    an.MARS(),
    an.MARS(degree=1),
    an.MARS(criterion="bic"),
    an.MixedPolynomial(),
    an.MixedPolynomial("log"),
    an.MixedPolynomial(2, published=True),
    an.LogisticRegression(),
    an.LogisticRegression(2),
    an.Multinomial(),
    an.ConditionalGaussian(discretise=True),
    an.DecisionGraph(thresholds=True),
]
OF_LEVELS = [
    an.DecisionGraph(),
    an.DecisionGraph(prior=2.0),
    an.DecisionGraph("CM", kappa=0.5),
    an.DecisionGraph(lookahead=2, restarts=2),
]


def rows(n=90, seed=0):
    """Levels, ordered levels and numbers that hang together, with whole weights in `w`."""
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 3, n)
    b = (a + (rng.random(n) < 0.3)) % 3
    x = rng.normal(size=n) + a
    y = np.round(np.abs(x) + 0.5 * rng.normal(size=n), 1)
    grade = np.clip(np.round(x + rng.normal(size=n)), 0, 3).astype(int)
    return pl.DataFrame(
        {
            "a": [f"a{i}" for i in a],
            "b": [f"b{i}" for i in b],
            "grade": grade,
            "x": x,
            "y": y,
            "w": rng.integers(1, 6, n),
        }
    )


def families(score, names):
    """Children with parents; decision graphs have no children that are numbers."""
    graphs = isinstance(score, an.DecisionGraph)
    children = [name for name in names if not graphs or name not in "xy"]
    return [(child, [p for p in others if p != child]) for child in children for others in (names[:1], names[1:4], [])]


def alike(score, tables, child, parents, frame):
    """Whether models of a family, fitted to two tables, predict alike."""
    if isinstance(score, an.DecisionGraph) and "x" in frame.columns:  # which is no child
        one, other = (an.local_model(table, child, parents, score).text() for table in tables)
        assert one == other
        return
    nets = [an.fit(table, nx.DiGraph([(p, child) for p in parents]), score) for table in tables]
    np.testing.assert_allclose(*(net.log_likelihood(frame) for net in nets), rtol=1e-7, atol=1e-9)


def parted(table, times, frame, weights):
    """The same table with every row so many times, each with its part of the weight."""
    many = np.tile(weights, times) / times
    return an.Table(pl.concat([frame] * times), schema=table.schema, weights=many)


@pytest.mark.parametrize("score", MIXED + OF_LEVELS, ids=repr)
def test_parts_of_a_row_are_worth_the_row(score):
    frame = rows().drop("w").with_columns(grade=pl.col("grade").cast(pl.String))
    frame = frame.select("a", "b", "grade") if score in OF_LEVELS else frame
    w = np.random.default_rng(1).uniform(0.05, 3, frame.height)
    table = an.Table(frame, an.infer_schema(frame).with_types(grade=an.Ordinal(["0", "1", "2", "3"])), weights=w)
    plain = an.Table(frame, table.schema)
    differs = 0
    for times in (2, 5):
        many = parted(table, times, frame, w)
        for child, parents in families(score, table.names):
            one, other = (an.local_score(of, child, parents, score) for of in (table, many))
            assert one == pytest.approx(other, rel=1e-9, abs=1e-9), (child, parents)
            differs += one != pytest.approx(an.local_score(plain, child, parents, score), rel=1e-4)
            alike(score, (table, many), child, parents, frame)
    assert differs > 3


@pytest.mark.parametrize("score", MIXED, ids=repr)
@pytest.mark.parametrize("seed", [1, 2])
def test_whole_weights_give_what_repeated_rows_give_in_scores_and_predictions(score, seed):
    frame = rows(70, seed)
    schema = an.infer_schema(frame.drop("w"))
    if isinstance(score, an.MARS):
        schema = schema.with_types(y=an.Continuous(leaf="normal"))
    weighted = an.Table(frame, schema, weights="w")
    plain = an.Table(frame.drop("w")[np.repeat(np.arange(70), frame["w"].to_numpy())], weighted.schema)
    assert weighted.handle.total_weight == plain.n_rows
    for child, parents in families(score, weighted.names):
        one, other = (an.local_score(table, child, parents, score) for table in (weighted, plain))
        assert one == pytest.approx(other, rel=1e-9, abs=1e-9), (child, parents)
        alike(score, (weighted, plain), child, parents, frame.drop("w"))


@pytest.mark.parametrize("score", MIXED, ids=repr)
def test_the_order_of_rows_changes_no_byte(score):
    frame = rows(60).with_columns(w=pl.Series(np.random.default_rng(3).uniform(0.1, 2, 60)))
    frame = pl.concat([frame, frame.head(20).with_columns(w=pl.col("w") + 0.5)])  # equal rows of other weights
    shuffled = frame.sample(fraction=1.0, shuffle=True, seed=5)
    one, other = (an.Table(part, weights="w") for part in (frame, shuffled))
    for child, parents in families(score, one.names):
        assert an.local_score(one, child, parents, score) == an.local_score(other, child, parents, score)


def test_cells_of_a_full_table_hold_sums_of_weights():
    rng = np.random.default_rng(0)
    codes, w = rng.integers(0, 3, 50), rng.uniform(0.05, 2, 50)
    table = an.Table({"x": rng.normal(size=50), "c": [f"c{i}" for i in codes]}, weights=w)
    w, z = table.handle.weights, table.handle.reals(0)
    score = an.FullTable(max_bins=2, penalised=False)
    # Two bins: the median of the weights, half a row about it.
    order = np.argsort(z)
    below = np.cumsum(w[order])
    half = w.sum() / 2
    within = [min(end, half + 0.5) - max(end - own, half - 0.5) for end, own in zip(below, w[order], strict=True)]
    cut = sum(max(0.0, part) * x for part, x in zip(within, z[order], strict=True))
    expected = 0.0
    for side in (z < cut, z >= cut):
        n = w[side].sum()
        counts = [w[side & (codes == c)].sum() for c in range(3)]
        expected += gammaln(1.5) - gammaln(n + 1.5) + sum(gammaln(m + 0.5) - gammaln(0.5) for m in counts)
    assert an.local_score(table, "c", ["x"], score) == pytest.approx(expected, rel=1e-9)
    net = an.fit(table, nx.DiGraph([("x", "c")]), score)
    low = z < cut
    share = (w[low & (codes == 1)].sum() + 0.5) / (w[low].sum() + 1.5)
    x = float(table.to_polars()["x"].to_numpy()[low].min())
    assert net.query({"c": "c1"}, given={"x": x}) == pytest.approx(share, rel=1e-9)


def test_leaves_of_a_decision_graph_hold_sums_of_weights():
    rng = np.random.default_rng(1)
    a = rng.integers(0, 4, 200)
    y = (a < 2).astype(int) ^ (rng.random(200) < 0.1)
    w = rng.uniform(0.05, 2, 200)
    table = an.Table({"a": [f"a{i}" for i in a], "y": [f"y{i}" for i in y]}, weights=w)
    w = table.handle.weights

    def leaf(side):
        counts = [w[side & (y == c)].sum() for c in (0, 1)]
        return sum(gammaln(n + 1) for n in counts) - gammaln(sum(counts) + 2)

    labels = [tuple(of) for of in np.ndindex(4, 4, 4, 4)]  # every way to put four levels into leaves
    best = max(labels, key=lambda of: sum(leaf(np.isin(a, np.flatnonzero(np.equal(of, k)))) for k in set(of)))
    expected = sum(leaf(np.isin(a, np.flatnonzero(np.equal(best, k)))) for k in set(best))
    assert an.local_score(table, "y", ["a"], an.DecisionGraph()) == pytest.approx(expected, rel=1e-9)
    found = an.search.decision_graphs(table, an.DecisionGraph())
    assert found.dag.number_of_edges() == 1
    net = an.fit(table, nx.DiGraph([("a", "y")]), an.DecisionGraph())
    own = np.isin(a, np.flatnonzero(np.equal(best, best[1])))
    n, ones = w[own].sum(), w[own & (y == 1)].sum()
    assert net.query({"y": "y1"}, given={"a": "a1"}) == pytest.approx((ones + 1) / (n + 2), rel=1e-9)


def test_a_spline_is_weighted_least_squares():
    rng = np.random.default_rng(2)
    x, w = rng.normal(size=120), rng.uniform(0.1, 3, 120)
    y = np.maximum(0, x) + 0.05 * rng.normal(size=120)
    table = an.Table({"x": x, "y": y}, weights=w)
    w, stored, z = table.handle.weights, table.handle.reals(0), table.handle.reals(1)
    score = an.MARS(degree=1)
    told = json.loads(an.fit(table, nx.DiGraph([("x", "y")]), score).handle.to_json())
    spline = next(model for model in told["models"] if model["model"] == "spline" and model["parents"])

    def column(term):
        values = np.ones_like(stored)
        for factor in term:
            kind, cut = factor["shape"], factor.get("cut", factor.get("origin"))
            difference = cut - stored if kind in ("below", "falling") else stored - cut
            values *= difference if kind in ("rising", "falling") else np.maximum(0, difference)
        return values

    design = np.column_stack([column(term) for term in spline["terms"]])
    assert design.shape[1] > 1
    best = np.linalg.lstsq(design * np.sqrt(w)[:, None], z * np.sqrt(w), rcond=None)[0]
    np.testing.assert_allclose(spline["coefficients"][0], best, rtol=1e-7, atol=1e-9)
    m, n, rss = len(best), w.sum(), (w * (z - design @ best) ** 2).sum()
    gcv = rss / n / (1 - (m + 2 * (m - 1) / 2) / n) ** 2 / ((w * z**2).sum() / n)  # of a child of deviation one
    assert an.local_score(table, "y", ["x"], score) == pytest.approx(-gcv, rel=1e-7)


def test_logistic_regression_is_of_the_weighted_likelihood():
    rng = np.random.default_rng(3)
    x, w = rng.normal(size=150), rng.uniform(0.1, 3, 150)
    y = rng.random(150) < 1 / (1 + np.exp(-2 * x))
    table = an.Table({"x": x, "y": [f"y{int(i)}" for i in y]}, weights=w)
    w = table.handle.weights

    def lost(b):
        eta = b[0] + b[1] * x
        return (w * np.logaddexp(0, np.where(y, -eta, eta))).sum()

    best = minimize(lost, [0.0, 0.0], tol=1e-12)
    expected = -best.fun - 0.5 * 2 * math.log(w.sum())
    score = an.LogisticRegression()
    assert an.local_score(table, "y", ["x"], score) == pytest.approx(expected, rel=1e-6)
    net = an.fit(table, nx.DiGraph([("x", "y")]), score)
    for at in (-1.0, 0.5):
        p = 1 / (1 + math.exp(-best.x[0] - best.x[1] * at))
        assert net.query({"y": "y1"}, given={"x": at}) == pytest.approx(p, abs=1e-4)


def test_polynomials_are_weighted_least_squares_in_every_cell():
    rng = np.random.default_rng(4)
    a, x, w = rng.integers(0, 2, 120), rng.normal(size=120), rng.uniform(0.1, 3, 120)
    y = np.where(a == 0, x**2, 1 - x) + 0.2 * rng.normal(size=120)
    table = an.Table({"a": [f"a{i}" for i in a], "x": x, "y": y}, weights=w)
    w, z = table.handle.weights, table.handle.reals(2)
    expected = 0.0
    for cell in (0, 1):
        at = a == cell
        fit = np.polyval(np.polyfit(x[at], z[at], 2, w=np.sqrt(w[at])), x[at])
        n = w[at].sum()
        expected -= n / 2 * (math.log(2 * math.pi * (w[at] * (z[at] - fit) ** 2).sum() / n) + 1)
    expected -= 0.5 * 2 * 4 * math.log(w.sum())
    score = an.MixedPolynomial(2)
    assert an.local_score(table, "y", ["a", "x"], score) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("score", [an.FullTable(), an.MARS(), an.MixedPolynomial(), an.LogisticRegression()], ids=repr)
def test_networks_of_weighted_rows_are_learned_saved_and_validated(score, tmp_path):
    frame = rows(80).with_columns(w=pl.col("w") * 0.3)
    net = an.learn(frame, score, weights="w", weights_are="survey", max_parents=2, verbose=False)
    net.save(tmp_path / "net.json")
    assert an.load(tmp_path / "net.json") == net
    assert len(net.sample(5, seed=1)) == 5
    folds = an.evaluate.cross_validate(frame, score, weights="w", folds=2, repeats=1, max_parents=1, n_jobs=1)
    assert math.isfinite(folds.summary["log_density"][0])


@pytest.mark.parametrize(
    "score",
    [an.FullTable(), an.DecisionGraph(thresholds=False), an.MARS(), an.MixedPolynomial(), an.LogisticRegression()],
    ids=repr,
)
def test_rows_with_gaps_and_weights_are_learned_from(score):
    frame = rows(120).drop("w")
    frame = frame.select("a", "b", "grade") if isinstance(score, an.DecisionGraph) else frame
    if isinstance(score, an.DecisionGraph):
        frame = frame.with_columns(grade=pl.format("g{}", "grade"))
    rng = np.random.default_rng(7)
    holes = [pl.when(pl.Series(rng.random(120) < 0.2)).then(None).otherwise(c).alias(c) for c in frame.columns]
    w = rng.uniform(0.2, 2, 120)
    net = an.learn(frame.with_columns(holes), score, weights=w, missing="learn", max_parents=1, verbose=False)
    assert net.origin.gaps["rounds"] >= 1
    assert np.isfinite(net.log_likelihood(frame.with_columns(holes))).all()
