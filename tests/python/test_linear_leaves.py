"""Trees with lines in their leaves: `PCART(leaf="linear")` through learning, texts, files and predictions."""

import math

import networkx as nx
import numpy as np
import pytest

import arbornet as an

LINEAR = an.PCART(leaf="linear")


def bent(n=400, seed=0):
    """A line that changes its slope with a level, and numbers in units of their own."""
    random = np.random.default_rng(seed)
    price, income = random.uniform(80, 120, n), random.normal(3e4, 8e3, n)
    shelf = random.choice(["good", "bad"], n)
    sales = np.where(shelf == "good", 30 - 0.2 * price, 10 - 0.05 * price) + 2e-4 * income + random.normal(0, 0.3, n)
    return {"price": price, "income": income, "shelf": shelf.tolist(), "sales": sales}


def fitted(frame, parents, score=LINEAR):
    table = an.Table(frame)
    return table, an.fit(table, nx.DiGraph([(parent, "sales") for parent in parents]), score)


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
    assert text.count("mean = ") == 2
    assert len(net["sales"].leaves) < len(steps["sales"].leaves) / 2
    assert an.local_score(table, "sales", ["price", "income", "shelf"], LINEAR) > 100 + an.local_score(
        table, "sales", ["price", "income", "shelf"], an.PCART()
    )


def test_a_line_is_said_in_the_users_units():
    _, net = fitted(bent(2000), ["price", "income", "shelf"])
    formulas = [leaf.formula for leaf in net["sales"].leaves]
    assert len(formulas) == 2
    for formula in formulas:
        assert formula is not None
        slope = float(formula.split(" price")[0].split()[-1])
        assert math.isclose(slope, 0.2, rel_tol=0.1) or math.isclose(slope, 0.05, rel_tol=0.3)
        assert math.isclose(float(formula.split(" income")[0].split()[-1]), 2e-4, rel_tol=0.1)


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


def test_a_network_is_saved_read_and_predicts_the_same(tmp_path):
    table, net = fitted(bent(), ["price", "income", "shelf"])
    net.save(tmp_path / "net.json")
    again = an.load(tmp_path / "net.json")
    assert again["sales"].text() == net["sales"].text()
    rows = {name: column for name, column in bent(50, seed=4).items() if name != "sales"}
    assert np.array_equal(net.predict(rows, "sales"), again.predict(rows, "sales"))
    assert table.n_rows == 400


def test_predictions_cover_what_they_say():
    # Many rows, as the prior of the noise (a row of variance 1 in stored units) widens what few predict.
    _, net = fitted(bent(4000), ["price", "income", "shelf"])
    new = bent(1000, seed=9)
    given = {name: column for name, column in new.items() if name != "sales"}
    interval = net.predict_interval(given, "sales", mass=0.9)
    low, high = np.asarray(interval["lower"]), np.asarray(interval["upper"])
    inside = float(np.mean((new["sales"] >= low) & (new["sales"] <= high)))
    assert 0.86 < inside < 0.94


def test_parents_that_are_linear_only_divide_no_tree():
    only = an.PCART(leaf="linear", linear_only=["price", "income"])
    table, net = fitted(bent(), ["price", "income", "shelf"], only)
    text = net["sales"].text()
    assert "price >=" not in text
    assert "price <" not in text
    assert text.count("mean = ") == 2
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
    with pytest.raises(an.ParameterError, match="leaf='none': choose 'normal' or 'linear'"):
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
    slopes = sorted(leaf.formula.split("mean = ")[1].split(" ", 1)[1][:2] for leaf in net["y"].leaves)
    assert slopes == ["+ ", "- "]


def test_a_blank_parent_is_marginalised_and_rows_are_drawn_along_the_lines():
    _, net = fitted(bent(2000), ["price", "income", "shelf"])
    rows = net.sample(4000, seed=1)
    good = np.asarray(rows["shelf"]) == "good"
    price, income, sales = (np.asarray(rows[name], dtype=float)[good] for name in ("price", "income", "sales"))
    ones = np.ones(len(price))
    # Where the drawn parents lie among those seen; beyond them the line is flat.
    seen = (price > 80) & (price < 120) & (np.abs(income - 3e4) < 2e4)
    design = np.column_stack([ones, price, income])[seen]
    slopes, *_ = np.linalg.lstsq(design, sales[seen], rcond=None)
    assert math.isclose(slopes[1], -0.2, rel_tol=0.1)
    assert math.isclose(slopes[2], 2e-4, rel_tol=0.1)
    known = {"shelf": ["good", "good"], "price": [90.0, 110.0]}
    medians = np.asarray(net.predict(known, "sales", particles=4000))
    assert math.isclose(medians[0], 30 - 0.2 * 90 + 6, abs_tol=0.7)
    assert math.isclose(medians[1], 30 - 0.2 * 110 + 6, abs_tol=0.7)
