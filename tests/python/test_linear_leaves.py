"""Trees with lines in their leaves: the scores of `PCART(leaf="linear")` and the trees that they find."""

import math

import networkx as nx
import numpy as np
import pytest

import arbornet as an
from lines_in_leaves import LINEAR, bent, fitted


def test_the_score_of_one_leaf_is_a_multivariate_t():
    # A parent without any halving that pays: the tree is one leaf, with gamma, the choice of leaf, and Z.
    random = np.random.default_rng(1)
    x = random.normal(size=12)
    y = 2 * x + random.normal(0, 0.1, 12)
    table = an.Table({"x": x, "y": y})
    linear = an.PCART(penalised=False, max_splits=1, leaf="linear")
    z, t = (x - x.mean()) / x.std(), (y - y.mean()) / y.std()
    n, nu = len(x), 1.0
    matrix = np.eye(n) + 1.0 + np.outer(z, z)
    squares = t @ np.linalg.solve(matrix, t)
    marginal = (
        math.lgamma((nu + n) / 2)
        - math.lgamma(nu / 2)
        - n / 2 * math.log(nu * math.pi)
        - np.linalg.slogdet(matrix)[1] / 2
        - (nu + n) / 2 * math.log1p(squares / nu)
    )
    gamma = 1 / 4
    want = marginal + math.log(gamma) - math.log(2) - math.log(gamma + gamma**2)
    assert math.isclose(an.local_score(table, "y", ["x"], linear), want, rel_tol=1e-10)


def test_lines_are_found_where_they_are_and_trees_get_smaller():
    table, net = fitted(bent(), ["price", "income", "shelf"])
    _, steps = fitted(bent(), ["price", "income", "shelf"], an.PCART())
    text = net["sales"].text()
    assert text.count("sales = ") == 2
    assert len(net["sales"].leaves) < len(steps["sales"].leaves) / 2
    assert an.local_score(table, "sales", ["price", "income", "shelf"], LINEAR) > 100 + an.local_score(
        table, "sales", ["price", "income", "shelf"], an.PCART()
    )


def test_slopes_come_in_the_users_units():
    _, net = fitted(bent(2000), ["price", "income", "shelf"])
    assert len(net["sales"].leaves) == 2
    for leaf, slope in zip(net["sales"].leaves, (-0.05, -0.2), strict=True):
        price, income = leaf.slopes
        assert (price.variable, income.variable) == ("price", "income")
        assert math.isclose(price.slope, slope, rel_tol=0.1)
        assert math.isclose(income.slope, 2e-4, rel_tol=0.1)


def test_beyond_the_rows_the_line_stays_flat():
    _, net = fitted(bent(), ["price"])
    frame = bent()
    at = lambda price: net["sales"].log_density(20.0, {"price": price})  # noqa: E731
    assert at(float(max(frame["price"]))) == at(1e6)
    assert at(float(min(frame["price"]))) == at(-1e6)


def test_without_numeric_parents_and_for_levels_nothing_changes():
    table = an.Table(bent())
    for child, parents in (("sales", []), ("sales", ["shelf"]), ("shelf", ["price", "income"])):
        plain = an.local_score(table, child, parents, an.PCART())
        assert an.local_score(table, child, parents, LINEAR) == plain
    assert "leaf" not in an.PCART().document()
    assert LINEAR.document()["leaf"] == "linear"


def test_order_of_rows_and_units_change_nothing():
    # Rounded, so that many responses tie.
    frame = bent() | {"sales": np.round(bent()["sales"])}
    order = np.random.default_rng(3).permutation(400)
    mixed = {name: np.asarray(column)[order].tolist() for name, column in frame.items()}
    parents = ["price", "income", "shelf"]
    score = an.local_score(an.Table(frame), "sales", parents, LINEAR)
    assert an.local_score(an.Table(mixed), "sales", parents, LINEAR) == score
    tiny = frame | {"price": frame["price"] * 2.0**-900, "income": frame["income"] * 2.0**900}
    assert math.isclose(an.local_score(an.Table(tiny), "sales", parents, LINEAR), score, rel_tol=1e-9)


def test_parents_that_are_linear_only_divide_no_tree():
    only = an.PCART(leaf="linear", linear_only=["price", "income"])
    table, net = fitted(bent(), ["price", "income", "shelf"], only)
    text = net["sales"].text()
    assert "price >=" not in text
    assert "price <" not in text
    assert text.count("sales = ") == 2
    free = an.PCART(penalised=False, leaf="linear")
    bound = an.PCART(penalised=False, leaf="linear", linear_only=["income"])
    # A parent that no tree is split by costs its leaves the choice alone, and no gamma.
    assert an.local_score(table, "sales", ["income"], bound) > an.local_score(table, "sales", ["income"], free)
    # Trees of levels are split by it all the same.
    assert an.local_score(table, "shelf", ["price"], only) == an.local_score(table, "shelf", ["price"], an.PCART())
    with pytest.raises(an.ParameterError, match="linear_only needs leaf='linear'"):
        an.PCART(linear_only=["price"])
    with pytest.raises(an.ParameterError, match="must be a column of numbers in the table"):
        an.local_score(table, "sales", ["price"], an.PCART(leaf="linear", linear_only=["shelf"]))


def test_what_does_not_go_together_is_refused():
    with pytest.raises(an.ParameterError, match="leaf='none': choose 'normal', 'linear' or 'auto'"):
        an.PCART(leaf="none")
    with pytest.raises(an.ParameterError, match="goes neither with published=True nor with tree_prior='cell'"):
        an.PCART(leaf="linear", published=True)
    with pytest.raises(an.ParameterError, match="goes neither with published=True nor with tree_prior='cell'"):
        an.PCART(leaf="linear", tree_prior="cell")


def test_many_levels_are_grouped_by_how_they_follow_a_number():
    random = np.random.default_rng(5)
    x, zone = random.normal(size=1500), random.integers(0, 40, 1500)
    rising = np.isin(zone, random.permutation(40)[:20])
    y = np.where(rising, x, -x) + random.normal(0, 0.2, 1500)
    frame = {"x": x, "zone": [f"z{i}" for i in zone], "y": y}
    table = an.Table(frame, schema=an.infer_schema(frame).with_types(zone=an.Categorical()))
    net = an.fit(table, nx.DiGraph([("x", "y"), ("zone", "y")]), LINEAR)
    down, up = sorted(leaf.slopes[0].slope for leaf in net["y"].leaves)
    assert math.isclose(down, -1, rel_tol=0.1)
    assert math.isclose(up, 1, rel_tol=0.1)


def noisy(n, seed=7):
    random = np.random.default_rng(seed)
    return random.normal(size=n), random.normal(size=n)


def test_parents_that_repeat_each_other_share_the_slope():
    x, noise = noisy(300)
    frame = {"x": x, "twice": 2 * x, "turned": 5 - x, "sales": 3 * x + 0.1 * noise}
    _, net = fitted(frame, ["x", "twice", "turned"], an.PCART(leaf="linear", max_splits=2))
    (leaf,) = net["sales"].leaves
    by = {slope.variable: slope.slope for slope in leaf.slopes}
    # Of equal columns each has the same part, as a slope's prior is about zero.
    assert math.isclose(by["x"], 2 * by["twice"], rel_tol=1e-6)
    assert math.isclose(by["x"], -by["turned"], rel_tol=1e-6)
    assert math.isclose(by["x"] + 2 * by["twice"] - by["turned"], 3, rel_tol=0.02)


def test_more_parents_than_rows_leave_a_finite_score():
    random = np.random.default_rng(8)
    names = [f"x{i}" for i in range(8)]
    frame = {name: random.normal(size=5) for name in names} | {"sales": random.normal(size=5)}
    table, net = fitted(frame, names, an.PCART(leaf="linear", linear_only=names))
    assert math.isfinite(an.local_score(table, "sales", names, an.PCART(leaf="linear", linear_only=names)))
    assert np.isfinite(net.log_likelihood(frame)).all()


def kept(frame, constant):
    """The table with a column that would be left out."""
    with pytest.warns(an.LeftOutWarning):
        schema = an.infer_schema(frame)
    return an.Table(frame, schema=schema.with_types({constant: an.Continuous()}))


def test_a_parent_of_one_value_says_nothing():
    x, noise = noisy(200)
    frame = kept({"x": x, "one": np.full(200, 7.0), "sales": 3 * x + noise}, "one")
    only = an.PCART(leaf="linear", linear_only=["one"], penalised=False)
    table, net = fitted(frame, ["x", "one"], only)
    alone = an.local_score(table, "sales", ["x"], an.PCART(leaf="linear", penalised=False))
    assert math.isclose(an.local_score(table, "sales", ["x", "one"], only), alone, rel_tol=1e-12)
    assert "one" not in net["sales"].text().split(":", 1)[1]


def test_a_child_of_one_value_has_no_line():
    x, _ = noisy(100)
    _, net = fitted(kept({"x": x, "sales": np.full(100, 3.0)}, "sales"), ["x"])
    assert [leaf.slopes for leaf in net["sales"].leaves] == [()] * net["sales"].n_leaves
    assert np.isfinite(net.log_likelihood({"x": x, "sales": np.full(100, 3.0)})).all()


def test_values_that_tie_give_the_marginal_of_all_their_rows():
    # Whole numbers: 100 rows, few distinct pairs; the tree is a leaf, and its marginal a multivariate t of all rows.
    random = np.random.default_rng(9)
    x = random.integers(0, 3, 100).astype(float)
    y = x + random.integers(-1, 2, 100)
    t, z = (y - y.mean()) / y.std(), (x - x.mean()) / x.std()
    matrix = np.eye(100) + 1.0 + np.outer(z, z)
    marginal = (
        math.lgamma(50.5)
        - math.lgamma(0.5)
        - 50 * math.log(math.pi)
        - np.linalg.slogdet(matrix)[1] / 2
        - 50.5 * math.log1p(t @ np.linalg.solve(matrix, t))
    )
    only = an.PCART(penalised=False, leaf="linear", linear_only=["x"])
    assert math.isclose(
        an.local_score(an.Table({"x": x, "y": y}), "y", ["x"], only), marginal - math.log(2), rel_tol=1e-10
    )


@pytest.mark.parametrize("scale", [1e-285, 1e-12, 1e9, 1e285])
def test_any_scale_gives_the_same_tree_and_scores(scale):
    x, noise = noisy(150)
    frame = {"x": x, "sales": np.abs(x) + 0.2 * noise}
    scaled = {"x": frame["x"] / scale, "sales": frame["sales"] * scale}
    table, net = fitted(frame, ["x"])
    other, moved = fitted(scaled, ["x"])
    score = an.local_score(table, "sales", ["x"], LINEAR)
    assert math.isclose(an.local_score(other, "sales", ["x"], LINEAR), score, rel_tol=1e-8)
    assert [leaf.n for leaf in moved["sales"].leaves] == [leaf.n for leaf in net["sales"].leaves]
    for leaf, like in zip(moved["sales"].leaves, net["sales"].leaves, strict=True):
        assert math.isclose(leaf.slopes[0].low * scale, like.slopes[0].low, rel_tol=1e-6)
        assert math.isclose(leaf.distribution.location / scale, like.distribution.location, rel_tol=1e-6)
    # A density is per unit of the user's.
    one, two = net["sales"], moved["sales"]
    assert math.isclose(
        two.log_density(0.7 * scale, {"x": 0.5 / scale}) + math.log(scale),
        one.log_density(0.7, {"x": 0.5}),
        rel_tol=1e-6,
    )


def test_threads_change_nothing():
    frame = bent(300)
    nets = [an.learn(frame, LINEAR, max_parents=2, verbose=False, n_jobs=jobs) for jobs in (1, 2)]
    assert [nets[0][name].to_dict() for name in frame] == [nets[1][name].to_dict() for name in frame]
