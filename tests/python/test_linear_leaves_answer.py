"""Networks with lines in their leaves answer: predictions, densities, queries, draws, files, estimators."""

import json
import math
import pickle
from io import BytesIO

import networkx as nx
import numpy as np
import polars as pl
import pytest
from scipy import stats
from sklearn.base import clone

import arbornet as an
from arbornet.estimators import NetworkLearner
from lines_in_leaves import LINEAR, bent, fitted

ALL = ["price", "income", "shelf"]


@pytest.fixture(scope="module")
def net():
    return fitted(bent(2000), ALL)[1]


def without(frame, *names):
    return {name: column for name, column in frame.items() if name not in names}


def t_of(net, given):
    of = net["sales"].distribution(given)
    return stats.t(of.df, of.location, of.scale)


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


def test_quantiles_and_intervals_are_those_of_the_students_t_about_the_line(net):
    given = {"price": 93.0, "income": 2.5e4, "shelf": "good"}
    t = t_of(net, given)
    assert math.isclose(t.mean(), 30 - 0.2 * 93 + 2e-4 * 2.5e4, abs_tol=0.1)
    rows = {name: [value] for name, value in given.items()}
    assert math.isclose(net.predict(rows, "sales")[0], t.median(), rel_tol=1e-9)
    for mass in (0.5, 0.9, 0.999):
        interval = net.predict_interval(rows, "sales", mass=mass)
        assert math.isclose(interval["lower"][0], t.ppf((1 - mass) / 2), rel_tol=1e-8)
        assert math.isclose(interval["upper"][0], t.ppf((1 + mass) / 2), rel_tol=1e-8)


def test_densities_integrate_to_one_in_the_users_units(net):
    # Also beyond the prices seen.
    for price in (60.0, 81.0, 100.0, 300.0):
        given = {"price": price, "income": 3e4, "shelf": "bad"}
        t = t_of(net, given)
        grid = np.linspace(t.ppf(1e-9), t.ppf(1 - 1e-9), 4001)
        densities = np.exp([net["sales"].log_density(y, given) for y in grid])
        assert math.isclose(np.trapezoid(densities, grid), 1, rel_tol=1e-6)


def test_a_rows_density_is_the_product_over_its_variables(net):
    rows = bent(20, seed=3)
    by_node = net.log_likelihood(rows, by="node")
    assert np.allclose(net.log_likelihood(rows), by_node.to_numpy().sum(axis=1), rtol=1e-12)
    given = {name: rows[name][0] for name in ALL}
    assert math.isclose(by_node["sales"][0], net["sales"].log_density(rows["sales"][0], given), rel_tol=1e-12)


def test_with_a_blank_parent_the_density_is_the_integral_over_it(net):
    price = net["price"].distribution({})
    income, sales = 3.1e4, 16.0
    grid = stats.t(price.df, price.location, price.scale)
    at = grid.ppf((np.arange(4000) + 0.5) / 4000)
    given = lambda x: {"price": float(x), "income": income, "shelf": "good"}  # noqa: E731
    density = np.mean([math.exp(net["sales"].log_density(sales, given(x))) for x in at])
    rest = net["income"].log_density(income, {}) + net["shelf"].log_density("good", {})
    row = {"price": [None], "income": [income], "shelf": ["good"], "sales": [sales]}
    assert math.isclose(net.log_likelihood(row, particles=200_000)[0], math.log(density) + rest, abs_tol=0.02)


def test_a_query_with_blanks_is_bayes_rule_over_them(net):
    # Two hidden numbers: sampled, so compare with many draws of our own.
    random = np.random.default_rng(5)
    draw = lambda name: stats.t(  # noqa: E731
        net[name].distribution({}).df, net[name].distribution({}).location, net[name].distribution({}).scale
    ).rvs(4000, random_state=random)
    price, income = draw("price"), draw("income")
    evidence = {
        shelf: np.mean(
            [
                math.exp(net["sales"].log_density(14.0, dict(zip(ALL, (p, i, shelf), strict=True))))
                for p, i in zip(price, income, strict=True)
            ]
        )
        * math.exp(net["shelf"].log_density(shelf, {}))
        for shelf in ("good", "bad")
    }
    want = evidence["good"] / sum(evidence.values())
    got = net.query({"shelf": "good"}, given={"sales": 14.0})
    assert 0.2 < want < 0.9
    assert math.isclose(got, want, abs_tol=0.04)


def test_an_intervention_on_a_parent_moves_the_child_along_the_line(net):
    low = net.query({"sales": (None, 14.0)}, do={"price": 85.0, "shelf": "good"})
    high = net.query({"sales": (None, 14.0)}, do={"price": 115.0, "shelf": "good"})
    income = net["income"].distribution({})
    draws = stats.t(income.df, income.location, income.scale).ppf((np.arange(2000) + 0.5) / 2000)
    for price, got in ((85.0, low), (115.0, high)):
        want = np.mean([t_of(net, {"price": price, "income": x, "shelf": "good"}).cdf(14.0) for x in draws])
        assert math.isclose(got, want, abs_tol=0.01)
    assert low < high


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


def test_an_intervention_on_a_parent_is_drawn_too(net):
    rows = net.sample(3000, seed=2, do={"price": 110.0, "shelf": "good"})
    assert set(rows["price"]) == {110.0}
    t = t_of(net, {"price": 110.0, "income": 3e4, "shelf": "good"})
    assert math.isclose(float(np.median(rows["sales"].to_numpy())), t.median(), abs_tol=0.15)


def test_it_pickles_and_is_the_same_as_nested_dicts(net):
    again = pickle.loads(pickle.dumps(net))
    assert again == net
    rows = bent(30, seed=6)
    assert np.array_equal(again.log_likelihood(rows), net.log_likelihood(rows))
    model = an.LocalModel.from_dict(json.loads(json.dumps(net["sales"].to_dict())))
    assert model == net["sales"]
    assert model.text() == net["sales"].text()


@pytest.mark.parametrize(
    ("part", "value"),
    [("factor", [0.0, 1.0, 1.0]), ("slopes", [1.0]), ("scale", -1.0), ("centre", [1e200, 0.0]), ("df", 0.0)],
)
def test_a_file_with_a_line_that_is_none_is_refused(net, part, value):
    document = net["sales"].to_dict()
    line = next(node["line"] for node in document["model"]["nodes"] if "line" in node)
    assert part in line
    line[part] = value
    with pytest.raises(an.FormatError, match="has a line that does not fit its parents"):
        an.LocalModel.from_dict(document)


def test_estimators_take_linear_leaves():
    frame = bent(400)
    given, sales = pl.DataFrame(without(frame, "sales")), np.asarray(frame["sales"])
    learner = clone(NetworkLearner(LINEAR, max_parents=3)).fit(given, sales)
    held_out = bent(300, seed=11)
    new, true = pl.DataFrame(without(held_out, "sales")), np.asarray(held_out["sales"])
    linear = learner.score(new, true)
    normal = NetworkLearner(an.PCART(), max_parents=3).fit(given, sales).score(new, true)
    assert linear > 0.97 > normal
    stored = BytesIO()
    pickle.dump(learner, stored)
    assert np.array_equal(pickle.loads(stored.getvalue()).predict(new), learner.predict(new))


def test_a_line_below_a_hidden_number_says_when_no_exact_answer_is_to_be_had():
    x = np.random.default_rng(1).normal(size=(300, 2))
    frame = {"a": x[:, 0], "b": x[:, 1], "y": x[:, 0] + x[:, 1]}
    net = an.fit(an.Table(frame), nx.DiGraph([("a", "y"), ("b", "y")]), LINEAR)
    with pytest.raises(an.ArbornetError, match="is hidden and a model below it has no thresholds"):
        net.query({"a": (None, 0.0)}, given={"y": 1.0}, method="exact")
    sampled = net.query({"a": (None, 0.0)}, given={"y": 1.0}, method="sampling", particles=20_000)
    # a given a + b = 1 is normal about 1/2 with variance 1/2.
    assert math.isclose(sampled, stats.norm.cdf(-0.5 / math.sqrt(0.5)), abs_tol=0.06)
