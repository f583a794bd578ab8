"""Rows with weights: whole weights give what repeated rows give, and no weight is ignored."""

import math
import pickle
import re

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import arbornet as an
from arbornet import _core, scores

CLASSES = [getattr(scores, name) for name in scores.__all__ if name != "ScoreParameters"]
OF_LEVELS = ("AIC", "BIC", "K2", "BD", "BDeu", "BDe", "NML", "QNML", "MIT", "LogLikelihood", "DecisionGraph")


def rows(n=60, seed=0):
    """Mixed columns, with whole weights in `w`."""
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 3, n)
    b = (a + (rng.random(n) < 0.3)) % 3
    x = rng.normal(size=n) + a
    y = np.round(x + rng.normal(size=n), 1)
    return pl.DataFrame(
        {
            "a": [f"a{i}" for i in a],
            "b": [f"b{i}" for i in b],
            "c": [f"c{i}" for i in rng.integers(0, 2, n)],
            "x": x,
            "y": y,
            "w": rng.integers(1, 5, n),
        }
    )


def repeated(frame):
    """The rows as often as they weigh."""
    return frame.drop("w")[np.repeat(np.arange(frame.height), frame["w"].to_numpy())]


def tables(frame, schema=None):
    """With weights, and with repeated rows."""
    return an.Table(frame, schema=schema, weights="w"), an.Table(repeated(frame), schema=schema)


def made(cls, frame):
    """A score with its defaults; BDe has none for the prior network."""
    if cls.__name__ != "BDe":
        return cls()
    levels = frame.select("a", "b", "c")
    return cls(an.fit(an.Table(levels), an.search.exact(an.score_parents(an.Table(levels), an.K2())).dag, an.K2()))


NUMBER = re.compile(r"-?\d+\.?\d*(?:e-?\d+)?")


def same_text(one, other):
    """Equal but for what rounding leaves of numbers."""
    assert NUMBER.sub("#", one.replace(" - ", " + -")) == NUMBER.sub("#", other.replace(" - ", " + -"))
    numbers = [[float(told) for told in NUMBER.findall(text)] for text in (one, other)]
    assert numbers[0] == pytest.approx(numbers[1], rel=2e-3, abs=1e-12)


def families(names):
    """Some children with some parents."""
    return [(names[0], []), (names[1], names[:1]), (names[-1], names[:2]), (names[0], names[1:3])]


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_whole_weights_give_what_repeated_rows_give(cls):
    frame = rows()
    frame = frame.select("a", "b", "c", "w") if cls.__name__ in OF_LEVELS else frame
    score = made(cls, frame)
    weighted, plain = tables(frame)
    exact = cls.__name__ in OF_LEVELS  # counts are to the bit
    for child, parents in families(weighted.names):
        one, other = (an.local_score(table, child, parents, score) for table in (weighted, plain))
        assert one == (other if exact else pytest.approx(other, rel=1e-9, abs=1e-9))
        models = [an.local_model(table, child, parents, score) for table in (weighted, plain)]
        same_text(*(model.text() for model in models))
    nets = [an.learn(table, score, max_parents=2, verbose=False) for table in (weighted, plain)]
    assert set(nets[0].graph.edges) == set(nets[1].graph.edges)
    densities = [net.log_likelihood(frame.drop("w")) for net in nets]
    np.testing.assert_allclose(densities[0], densities[1], rtol=1e-8)


@settings(deadline=None, max_examples=15)
@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.integers(0, 1), st.floats(-5, 5), st.integers(1, 6)), min_size=4, max_size=30
    ),
    st.booleans(),
)
def test_whole_weights_give_what_repeated_rows_give_for_any_rows(given_rows, ordered):
    frame = pl.DataFrame(
        given_rows, schema={"a": pl.Int64, "b": pl.Int64, "x": pl.Float64, "w": pl.Int64}, orient="row"
    )
    kind = an.Ordinal([0, 1, 2]) if ordered else an.Categorical([0, 1, 2])
    kinds = {"a": kind, "b": an.Categorical([0, 1]), "x": an.Continuous()}
    schema = an.infer_schema({"a": [0, 1, 2, 2], "b": [0, 1, 1, 0], "x": [0.5, 0.2, 0.1, 0.7]}).with_types(kinds)
    weighted, plain = tables(frame, schema)
    assert weighted.schema["x"].scale == plain.schema["x"].scale
    for score in (an.PCART(), an.PCART(tree_prior="cell")):
        for child, parents in [("a", ["b", "x"]), ("x", ["a", "b"]), ("b", ["x"]), ("x", [])]:
            one, other = (an.local_score(table, child, parents, score) for table in (weighted, plain))
            assert one == pytest.approx(other, rel=1e-9, abs=1e-9)
    levels = weighted.schema.without("x")
    weighted, plain = tables(frame, levels)
    for score in (an.BIC(), an.BDeu(), an.K2(), an.NML(), an.QNML(), an.MIT(), an.AIC()):
        for child, parents in [("a", ["b"]), ("b", []), ("b", ["a"])]:
            assert an.local_score(weighted, child, parents, score) == an.local_score(plain, child, parents, score)


def test_rows_of_weight_zero_are_absent_rows():
    frame = rows().with_columns(w=pl.Series([0, 1, 3] * 20))
    without = frame.filter(pl.col("w") > 0)
    schema = an.infer_schema(frame).without("w")
    one, other = (an.Table(part, schema, weights="w") for part in (frame, without))
    assert one.handle.names == other.handle.names
    assert _core.table_fingerprint(one.handle) == _core.table_fingerprint(other.handle)
    assert (one.n_rows, one.n_dropped, one.weights.n_weightless) == (40, 0, 20)
    assert "20 rows of weight 0 left out" in repr(one)
    ones = frame.with_columns(w=(pl.col("w") > 0).cast(pl.Int64))
    assert an.Table(ones, schema, weights="w").handle.weights is None
    assert _core.table_fingerprint(an.Table(ones, schema, weights="w").handle) == _core.table_fingerprint(
        an.Table(without, schema).handle
    )


def test_weights_of_a_survey_are_scaled_to_the_effective_size():
    frame = rows()
    w = np.random.default_rng(1).uniform(50, 900, frame.height)
    table = an.Table(frame.drop("w"), weights=w, weights_are="survey")
    effective = w.sum() ** 2 / (w**2).sum()
    assert table.handle.total_weight == pytest.approx(effective, rel=1e-12)
    assert table.weights.total == pytest.approx(w.sum(), rel=1e-12)
    assert str(table.weights) == f"weights sum to {w.sum():,.0f} (effective size {effective:.4g})"
    np.testing.assert_allclose(table.handle.weights / table.handle.weights[0], w / w[0], rtol=1e-9)
    # The unit of a survey's weights says nothing.
    other = an.Table(frame.drop("w"), weights=w / 1000, weights_are="survey")
    for child, parents in families(table.names):
        one = an.local_score(table, child, parents, an.PCART())
        assert one == pytest.approx(an.local_score(other, child, parents, an.PCART()), rel=1e-9)
    assert an.Table(frame.drop("w"), weights=[7.0] * 60, weights_are="survey").handle.weights is None


def literal(frame, w, child, parents, score):
    """BIC and BDeu of weighted counts, word by word."""
    counts = {}
    for row, weight in zip(frame.select(*parents, child).iter_rows(), w, strict=True):
        cell = counts.setdefault(row[:-1], {})
        cell[row[-1]] = cell.get(row[-1], 0.0) + weight
    r = frame[child].n_unique()
    q = math.prod(frame[p].n_unique() for p in parents)
    if score == "bic":
        fit = sum(n * math.log(n / sum(cell.values())) for cell in counts.values() for n in cell.values())
        return fit - 0.5 * math.log(sum(w)) * (r - 1) * q
    a = 1.0 / (r * q)
    return sum(
        math.lgamma(r * a) - math.lgamma(sum(cell.values()) + r * a)
        + sum(math.lgamma(n + a) - math.lgamma(a) for n in cell.values())
        for cell in counts.values()
    )  # fmt: skip


def test_scores_of_counts_take_any_weights():
    frame = rows().select("a", "b", "c")
    w = np.random.default_rng(2).uniform(0.1, 3, 60)
    table = an.Table(frame, weights=w)
    for child, parents in [("a", ["b", "c"]), ("b", []), ("c", ["a"])]:
        for score, name in ((an.BIC(), "bic"), (an.BDeu(1.0), "bdeu")):
            by_hand = literal(frame, w, child, parents, name)
            assert an.local_score(table, child, parents, score) == pytest.approx(by_hand, rel=1e-9)
    share = w[(frame["c"] == "c0").to_numpy()].sum()
    table_of = np.exp(an.fit(table, an.search.exact(an.score_parents(table, an.BIC(), 0)), an.BDeu(1.0)).log_likelihood(
        {"c": ["c0"], "a": [None], "b": [None]}))  # fmt: skip
    assert table_of[0] == pytest.approx((share + 0.5) / (w.sum() + 1.0), rel=1e-9)


def test_leaves_of_trees_take_any_weights():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, 50)
    table = an.Table({"x": rng.normal(size=50), "c": [f"c{i}" for i in codes]}, weights=rng.uniform(0.05, 2, 50))
    w, z = table.handle.weights, table.handle.reals(0)
    n, total = w.sum(), (w * z).sum()
    assert total == pytest.approx(0, abs=1e-9)
    spread = (w * z * z).sum() - total**2 / n + n / (n + 1) * (total / n) ** 2 + 1
    number = -n / 2 * math.log(math.pi) + 0.5 * math.log(1 / (n + 1)) + math.lgamma((n + 1) / 2) - math.lgamma(0.5)
    number -= (n + 1) / 2 * math.log(spread)
    assert an.local_score(table, "x", [], an.PCART()) == pytest.approx(number, rel=1e-12)
    level = math.lgamma(1.5) - math.lgamma(n + 1.5)
    level += sum(math.lgamma(w[codes == c].sum() + 0.5) - math.lgamma(0.5) for c in range(3))
    assert an.local_score(table, "c", [], an.PCART()) == pytest.approx(level, rel=1e-12)


def lines(n=80, seed=6):
    """Two numbers, one of which follows the other in each of three groups, in a table with any weights."""
    rng = np.random.default_rng(seed)
    x, group = rng.normal(size=n).round(1), rng.integers(0, 3, n)
    y = np.where(group == 0, 2 * x, np.where(group == 1, 1 - x, 0.5)) + 0.3 * rng.normal(size=n)
    return pl.DataFrame({"x": x, "y": y, "g": [f"g{i}" for i in group]}), rng


@pytest.mark.parametrize("cuts", ["range", "quantile"])
def test_whole_weights_give_what_repeated_rows_give_along_lines(cuts):
    frame, rng = lines()
    weighted, plain = tables(frame.with_columns(w=pl.Series(rng.integers(1, 5, frame.height))))
    score = an.PCART(leaf="linear", cuts=cuts)
    for child, parents in [("y", ["x"]), ("y", ["x", "g"]), ("x", ["y", "g"]), ("g", ["x", "y"]), ("y", ["g"])]:
        one, other = (an.local_score(table, child, parents, score) for table in (weighted, plain))
        assert one == pytest.approx(other, rel=1e-9)
        texts = [an.local_model(table, child, parents, score).text() for table in (weighted, plain)]
        same_text(*texts)
        assert (child, parents) != ("y", ["x", "g"]) or "give or take" in texts[0]
    new = {"x": [0.3, None], "y": [None, 0.2], "g": ["g1", "g0"]}
    nets = [an.learn(table, score, verbose=False) for table in (weighted, plain)]
    assert nets[0].graph.edges == nets[1].graph.edges
    np.testing.assert_allclose(*(net.log_likelihood(new) for net in nets), rtol=1e-8)


def test_lines_take_any_weights():
    frame, rng = lines()
    table = an.Table(frame.drop("g"), weights=rng.uniform(0.05, 2, frame.height))
    w, x, y = table.handle.weights, table.handle.reals(0), table.handle.reals(1)
    # Weighted least squares with the prior's rows: intercept 0 of weight 1, slope 0 of weight 1.
    A = np.diag([1.0, 1.0]) + np.array([[w.sum(), (w * x).sum()], [(w * x).sum(), (w * x * x).sum()]])
    c = np.array([(w * y).sum(), (w * x * y).sum()])
    n, spread = w.sum(), 1 + (w * y * y).sum() - c @ np.linalg.solve(A, c)
    line = -n / 2 * math.log(math.pi) - 0.5 * np.linalg.slogdet(A)[1] - (n + 1) / 2 * math.log(spread)
    line += math.lgamma((n + 1) / 2) - math.lgamma(0.5)
    one = an.PCART(leaf="linear", linear_only=["x"], penalised=False)  # one leaf
    # The choice between a normal and a linear leaf is paid with ln 2, and a tree of one leaf is the only one.
    assert an.local_score(table, "y", ["x"], one) == pytest.approx(line - math.log(2), rel=1e-9)
    assert an.local_score(table, "y", [], one) < line - math.log(2)


def test_the_order_of_rows_changes_no_byte_of_lines_that_weigh():
    frame, rng = lines()
    frame = frame.with_columns(w=pl.Series(rng.uniform(0.1, 2, frame.height).round(1)))
    shuffled = frame.sample(fraction=1.0, shuffle=True, seed=5)
    one, other = (an.Table(part, weights="w") for part in (frame, shuffled))
    for child, parents in [("y", ["x", "g"]), ("x", ["y"]), ("g", ["x", "y"])]:
        score = an.PCART(leaf="linear")
        assert an.local_score(one, child, parents, score) == an.local_score(other, child, parents, score)


def test_the_order_of_rows_changes_no_byte_of_what_weighs():
    frame = rows().with_columns(w=pl.Series(np.random.default_rng(3).uniform(0.1, 2, 60)))
    shuffled = frame.sample(fraction=1.0, shuffle=True, seed=5)
    one, other = (an.Table(part, weights="w") for part in (frame, shuffled))
    assert one.schema["x"].scale == other.schema["x"].scale
    for child, parents in families(one.names):
        assert an.local_score(one, child, parents, an.PCART()) == an.local_score(other, child, parents, an.PCART())


def test_what_other_programs_do_refuses_weights_that_cannot_be_repeated():
    frame = rows().with_columns(w=pl.col("w") * 0.5)
    table = an.Table(frame, weights="w")
    with pytest.raises(
        an.ParameterError, match=r"score=full_table: takes rows with weights only.*weight of row \d+ is 1.5"
    ):
        an.learn(table, an.FullTable(published=True), verbose=False)
    with pytest.raises(an.ParameterError, match=r"score=mars: .*; leave out published, compatible"):
        an.local_score(table, "x", ["a"], an.MARS(compatible="earth"))
    many = an.Table(frame.with_columns(w=pl.lit(1_000_000)), weights="w")
    with pytest.raises(an.ParameterError, match="they sum to 60000000"):
        an.local_score(many, "x", ["a"], an.FullTable(published=True))
    for score in (an.PCART(), an.FullTable(), an.MARS(), an.MixedPolynomial()):
        assert math.isfinite(an.local_score(many, "x", ["a"], score))


def test_what_only_looks_at_rows_takes_them_in_proportion_to_any_weights():
    frame = rows()
    whole = an.Table(frame, weights="w")
    repeated = an.Table(frame.select(pl.exclude("w").repeat_by("w").explode()), schema=whole.schema)
    assert an.rank_parents(whole, seed=1).equals(an.rank_parents(repeated, seed=1))
    assert an.search.hybrid(whole).dag.edges == an.search.hybrid(repeated).dag.edges
    # Of weights that are not whole, the rows that count most decide: y follows x in these, and not in the others.
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(2, 900))
    heavy = np.arange(900) % 3 == 0
    y = np.where(heavy, x + 0.3 * y, y)
    z = rng.normal(size=900) - np.where(heavy, 0.0, y)
    survey = pl.DataFrame({"x": x, "y": y, "z": z, "w": np.where(heavy, 1.37, 0.011)})
    found = an.search.hybrid(an.Table(survey, weights="w"))
    assert {frozenset(arc) for arc in found.dag.edges} == {frozenset("xy")}
    ranks = an.rank_parents(an.Table(survey, weights="w"), seed=1)
    assert ranks.filter((pl.col("child") == "y") & (pl.col("rank") == 1))["parent"].item() == "x"
    net = an.learn(an.Table(survey, weights="w"), search="hybrid", parents="forest", effort="quick", verbose=False)
    assert net.graph.has_edge("x", "y") or net.graph.has_edge("y", "x")


def weighted_gaussian(x, w, groups):
    """The log-likelihood of a Gaussian in every group of rows, less BIC's penalty; all sums weighted."""
    total = 0.0
    for group in np.unique(groups):
        at = groups == group
        n = w[at].sum()
        mean = (w[at] * x[at]).sum() / n
        total -= n / 2 * (math.log(2 * math.pi * (w[at] * (x[at] - mean) ** 2).sum() / n) + 1)
    return total - len(np.unique(groups)) * math.log(w.sum())


def test_gaussians_of_configurations_take_any_weights():
    rng = np.random.default_rng(4)
    a, w = rng.integers(0, 3, 80), rng.uniform(0.2, 3, 80)
    x = rng.normal(size=80) * (1 + a) + a
    table = an.Table({"a": [f"a{i}" for i in a], "x": x}, weights=w)
    score = an.ConditionalGaussian()
    x = table.handle.reals(1)  # scores are of stored units
    assert an.local_score(table, "x", ["a"], score) == pytest.approx(weighted_gaussian(x, w, a), rel=1e-9)
    assert an.local_score(table, "x", [], score) == pytest.approx(weighted_gaussian(x, w, 0 * a), rel=1e-9)
    for other in (an.ConditionalGaussian(exact=True), an.ConditionalGaussian(published=True)):
        assert math.isfinite(an.local_score(table, "a", ["x"], other))


@pytest.mark.parametrize("score", [an.DegenerateGaussian(), an.BasisFunctions(), an.BlockGaussian()], ids=repr)
def test_scores_of_cross_products_take_any_weights(score):
    # Half of every weight of a table that has each row twice, and a twelfth of one that has each twelve times.
    frame = rows(40)
    w = frame["w"].to_numpy() / 4
    table = an.Table(frame.drop("w"), weights=w)
    for times in (2, 12):
        many = an.Table(pl.concat([frame.drop("w")] * times), schema=table.schema, weights=np.tile(w, times) / times)
        for child, parents in families(table.names):
            one, other = (an.local_score(of, child, parents, score) for of in (table, many))
            assert one == pytest.approx(other, rel=1e-9, abs=1e-9)
            same_text(*(an.local_model(of, child, parents, score).text() for of in (table, many)))
    plain = an.Table(frame.drop("w"))
    assert an.local_score(plain, "x", ["y"], score) != pytest.approx(an.local_score(table, "x", ["y"], score), rel=1e-3)


def test_least_squares_are_weighted():
    rng = np.random.default_rng(5)
    x, w = rng.normal(size=60), rng.uniform(0.1, 4, 60)
    y = 2 * x + rng.normal(size=60)
    table = an.Table({"x": x, "y": y}, weights=w)
    slope, constant = np.polyfit(x, y, 1, w=np.sqrt(w))
    for score in (an.DegenerateGaussian(), an.BasisFunctions(degree=1), an.ConditionalGaussian()):
        net = an.fit(table, nx.DiGraph([("x", "y")]), score)
        predicted = net.predict({"x": [0.0, 1.0]}, "y")
        np.testing.assert_allclose(predicted, [constant, constant + slope], rtol=1e-6)


def test_tests_of_independence_heed_weights():
    frame = rows(80)
    weighted, plain = tables(frame)
    for score in (an.BIC(), an.ConditionalGaussian(), an.DegenerateGaussian()):
        if isinstance(score, an.BIC):
            levels = weighted.schema.without("x", "y")
            both = tables(frame, levels)
            names = ("a", "b", ["c"])
        else:
            both, names = (weighted, plain), ("x", "y", ["a"])
        one, other = (an.independence.test(table, *names, score) for table in both)
        assert one.p_value == pytest.approx(other.p_value, rel=1e-6)
        assert one.statistic == pytest.approx(other.statistic, rel=1e-6)


def test_a_custom_score_says_whether_it_heeds_weights():
    table = an.Table(rows(), weights="w")
    with pytest.raises(an.ParameterError, match="takes_weights=True"):
        an.local_score(table, "a", [], an.CustomScore(lambda *_: 1.0))
    total = an.CustomScore(lambda of, *_: float(of.handle.weights.sum()), takes_weights=True)
    assert an.local_score(table, "a", [], total) == table.handle.total_weight


@pytest.mark.parametrize(
    "bad, told", [(-1.5, "the weight -1.5"), (math.nan, "no weight"), (math.inf, "the weight inf"), (None, "no weight")]
)
def test_a_bad_weight_is_named_by_row_and_value(bad, told):
    frame = rows().with_columns(w=pl.Series([1.0, 2.0, bad, *[1.0] * 57]))
    with pytest.raises(an.ColumnError, match=f"column 'w' holds {told} in row 2"):
        an.Table(frame, weights="w")
    with pytest.raises(an.ParameterError, match=f"weights: {told} in row 2"):
        an.Table(frame.drop("w"), weights=frame["w"])


def test_weights_that_are_none_are_refused_with_the_reason():
    frame = rows()
    for weights, told in [
        ("nobody", "no such column"),
        ("a", "holds text values"),
        ([1.0, 2.0], "2 weights for 60 rows"),
        ([[1.0]] * 60, r"shape \(60, 1\)"),
        (["x"] * 60, "give the name of a column"),
        ([0.0] * 60, "in every row"),
    ]:
        with pytest.raises(an.ArbornetError, match=told):
            an.Table(frame, weights=weights)
    with pytest.raises(an.ParameterError, match="weights_are='kish'"):
        an.Table(frame, weights="w", weights_are="kish")
    with pytest.raises(an.ParameterError, match="a Table already"):
        an.learn(an.Table(frame), weights="w")


def test_the_column_of_weights_is_no_variable_and_a_schema_may_lack_it():
    frame = rows()
    inferred = an.Table(frame, weights="w")
    assert inferred.names == ["a", "b", "c", "x", "y"]
    assert inferred.schema["w"].left_out == "holds the weights of the rows"
    lacking = an.infer_schema(frame.drop("w"))
    assert an.Table(frame, lacking, weights="w").handle.total_weight == inferred.handle.total_weight
    with_it = an.infer_schema(frame)
    assert an.Table(frame, with_it, weights="w").names == inferred.names
    net = an.learn(frame, weights="w", verbose=False)
    assert net.names == inferred.names
    assert len(net.log_likelihood(frame.drop("w"))) == 60


FRAMES = {
    "polars": lambda frame: frame,
    "lazy": lambda frame: frame.lazy(),
    "pandas": lambda frame: pd.DataFrame({name: frame[name].to_list() for name in frame.columns}),
    "pyarrow": lambda frame: frame.to_arrow(),
    "dict": lambda frame: frame.to_dict(as_series=False),
}


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
def test_any_frame_may_hold_weights(make):
    frame = rows()
    expected = an.local_score(an.Table(frame, weights="w"), "x", ["a"], an.PCART())
    assert an.local_score(an.Table(make(frame), weights="w"), "x", ["a"], an.PCART()) == expected
    for array in (
        frame["w"],
        frame["w"].to_list(),
        frame["w"].to_numpy(),
        frame["w"].to_arrow(),
        pd.Series(frame["w"].to_list()),
    ):
        assert an.local_score(an.Table(make(frame.drop("w")), weights=array), "x", ["a"], an.PCART()) == expected


def test_rows_dropped_for_missing_values_take_their_weights_with_them():
    frame = rows().with_columns(x=pl.when(pl.int_range(60) % 3 == 0).then(None).otherwise(pl.col("x")))
    table = an.Table(frame, weights="w", missing="drop")
    kept = frame.drop_nulls()
    assert table.handle.weights.tolist() == kept["w"].cast(pl.Float64).to_list()
    assert (table.n_dropped, table.weights.total) == (20, kept["w"].sum())


def test_bins_and_merged_levels_heed_weights():
    frame = rows()
    schema = an.infer_schema(frame).with_types(x=an.Binned(4), a=an.Categorical(max_levels=2)).without("w")
    weighted, plain = tables(frame, schema)
    assert weighted.schema["x"].cuts == plain.schema["x"].cuts
    assert weighted.schema["x"].ranked == plain.schema["x"].ranked
    assert weighted.schema["a"].merged == plain.schema["a"].merged
    assert weighted.schema["x"].cuts != an.Table(frame.drop("w"), schema).schema["x"].cuts


def test_weights_survive_pickling_and_are_part_of_equality():
    frame = rows()
    table = an.Table(frame, weights="w", weights_are="survey")
    back = pickle.loads(pickle.dumps(table))
    assert back == table
    assert back.weights == table.weights
    assert back != an.Table(frame, weights="w")


def test_a_checkpoint_of_other_weights_is_refused(tmp_path):
    frame = rows()
    frame = frame.select("a", "b", "w")
    for _ in range(2):
        an.score_parents(an.Table(frame, weights="w"), an.BIC(), max_parents=1, checkpoint=tmp_path)
    for other in (an.Table(frame.drop("w")), an.Table(frame.with_columns(w=pl.col("w") + 1), weights="w")):
        with pytest.raises(an.ArbornetError, match="its rows have other weights"):
            an.score_parents(other, an.BIC(), max_parents=1, checkpoint=tmp_path)


def test_a_network_of_weighted_rows_is_saved_and_loaded(tmp_path):
    frame = rows().with_columns(w=pl.col("w") * 0.7)
    net = an.learn(frame, weights="w", verbose=False)
    net.save(tmp_path / "net.json")
    back = an.load(tmp_path / "net.json")
    assert back == net
    np.testing.assert_array_equal(back.log_likelihood(frame), net.log_likelihood(frame))


def test_cross_validation_learns_and_averages_with_weights():
    frame = rows()
    folds = {"folds": 3, "repeats": 1, "max_parents": 1, "n_jobs": 1}
    by_name = an.evaluate.cross_validate(frame, weights="w", **folds)
    by_table = an.evaluate.cross_validate(an.Table(frame, weights="w"), **folds)
    assert by_name.summary["log_density"][0] == pytest.approx(by_table.summary["log_density"][0], rel=1e-9)
    first = by_name.rows.filter(pl.col("fold") == 0)
    mean = np.average(first["log_density"], weights=frame["w"].to_numpy()[first["row"].to_numpy()])
    assert by_name.folds["log_density"][0] == pytest.approx(mean, rel=1e-12)
    unweighted = an.evaluate.cross_validate(frame.drop("w"), **folds)
    assert by_name.summary["log_density"][0] != unweighted.summary["log_density"][0]


def test_the_bootstrap_draws_rows_by_their_weights():
    heavy = rows().with_columns(w=pl.when(pl.int_range(60) < 3).then(40).otherwise(1))
    table = an.Table(heavy.select("a", "b", "w"), weights="w")
    from arbornet.evaluate.arc_strength import _drawn, resampled

    drawn = _drawn(table.handle.weights, "frequency", table.n_rows, np.random.default_rng(0))
    assert len(drawn) == heavy["w"].sum()
    assert (drawn < 3).mean() > 0.5
    assert resampled(table, drawn).handle.weights is None
    survey = an.Table(heavy.select("a", "b", "w"), weights="w", weights_are="survey")
    drawn = _drawn(survey.handle.weights, "survey", survey.n_rows, np.random.default_rng(0))
    taken = resampled(survey, drawn).handle.weights
    own = survey.handle.weights[drawn]
    assert taken.sum() == pytest.approx(own.sum() ** 2 / (own**2).sum(), rel=1e-9)
    strengths = an.evaluate.arc_strength(table, an.BIC(), n_bootstrap=5)
    assert strengths.height > 0


def test_learn_and_the_shell_tell_of_weights(tmp_path, capsys):
    from arbornet.cli import main

    frame = rows()
    an.learn(frame, weights="w", max_parents=1)
    out = capsys.readouterr().out
    assert "left out: w holds the weights of the rows" in out
    assert f"weights sum to {frame['w'].sum()}" in out.replace("\n  ", " ")
    frame.write_csv(tmp_path / "t.csv")
    main(
        ["learn", str(tmp_path / "t.csv"), "--weights", "w", "--weights-are", "survey", "--max-parents", "1", "--quiet"]
    )
    out = capsys.readouterr().out
    assert "effective size" in out
    main(["fit", str(tmp_path / "t.csv"), str(_saved(frame, tmp_path)), "--weights", "w"])
    assert "weights sum to" in capsys.readouterr().out
    main(["evaluate", str(tmp_path / "t.csv"), "--weights", "w", "--folds", "2", "--repeats", "1", "--quiet"])
    assert "log density of an unseen row" in capsys.readouterr().out


def _saved(frame, folder):
    path = folder / "net.json"
    an.learn(frame.drop("w"), max_parents=1, verbose=False).save(path)
    return path


def test_tables_without_weights_know_of_none():
    table = an.Table(rows().drop("w"))
    assert (table.weights, table.handle.weights, table.handle.total_weight) == (None, None, 60.0)


def labelled(n=90, seed=2):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = np.column_stack([y + rng.normal(size=n), rng.normal(size=n)])
    return X, y, rng.integers(0, 4, n)


@pytest.mark.parametrize(
    "estimator",
    [
        an.NaiveBayes(),
        an.TANClassifier(an.BDeu()),
        an.NaiveBayes(an.PCART()),
        an.NetworkLearner(max_parents=1, effort="quick"),
        an.ChowLiu(),
    ],
    ids=repr,
)
def test_sample_weight_is_as_repeated_rows(estimator):
    X, y, w = labelled()
    X, y = (np.repeat(part, 2, axis=0) for part in (X, y))
    w = np.concatenate([w, 3 - w])  # ranges and levels are those of all rows
    weighted = clone(estimator).fit(X, y, sample_weight=w)
    repeated = clone(estimator).fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    assert set(weighted.graph_.edges) == set(repeated.graph_.edges)
    for method in ("predict_proba", "score_samples"):
        if hasattr(estimator, method) and not (method == "score_samples" and isinstance(estimator, an.NaiveBayes)):
            one, other = (getattr(each, method)(X[:, :2]) for each in (weighted, repeated))
            np.testing.assert_allclose(one, other, rtol=1e-8)
    assert weighted.network_.origin.weights["total"] == w.sum()
    if not isinstance(estimator, an.ChowLiu):
        plain = weighted.score(np.repeat(X, w, axis=0), np.repeat(y, w))
        assert weighted.score(X, y, sample_weight=w) == pytest.approx(plain, rel=1e-9)


def test_bins_by_entropy_refuse_weights_that_are_not_whole():
    X, y, w = labelled()
    with pytest.raises(an.ParameterError, match=r"sample_weight: bins='fayyad_irani' takes whole weights"):
        an.NaiveBayes().fit(X, y, sample_weight=w + 0.5)
    assert an.NaiveBayes(bins=4).fit(X, y, sample_weight=w + 0.5).score(X, y) > 0.6
    assert an.NaiveBayes(an.PCART()).fit(X, y, sample_weight=w + 0.5).score(X, y) > 0.6


def test_a_bad_sample_weight_is_named():
    X, y, w = labelled()
    for bad, told in [
        (w[:5], r"shape \(5,\); give one number for each of 90"),
        (-w, "is -"),
        (0 * w, "zero in every row"),
        (["x"] * 90, "give a number for each row"),
    ]:
        for estimator in (an.NaiveBayes(), an.NetworkLearner(), an.ChowLiu(), an.NetworkImputer()):
            with pytest.raises(ValueError, match=told):
                estimator.fit(X, y, sample_weight=bad)


def test_the_report_and_files_tell_of_weights(tmp_path):
    frame = rows()
    net = an.learn(frame, weights="w", weights_are="survey", max_parents=1, verbose=False)
    w = frame["w"].to_numpy()
    effective = w.sum() ** 2 / (w**2).sum()
    assert net.origin.weights == {"are": "survey", "total": w.sum(), "effective": pytest.approx(effective)}
    net.save(tmp_path / "net.json")
    assert an.read_network(tmp_path / "net.json").origin == net.origin
    net.report(tmp_path / "net.html")
    page = (tmp_path / "net.html").read_text(encoding="utf-8")
    assert f"weights sum to {w.sum()} (effective size {effective:.4g})" in page
    assert "Weighted rows" in page
    assert an.learn(frame.drop("w"), max_parents=1, verbose=False).origin.weights == {}
