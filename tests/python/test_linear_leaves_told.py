"""Lines in the leaves of trees, as words and as pictures."""

import datetime as dt
import math
import re
from xml.etree import ElementTree

import networkx as nx
import numpy as np
import pytest

import arbornet as an
from arbornet.show.draw.parts import Along, Leaf, Tree
from arbornet.show.draw.spark import pooled
from lines_in_leaves import LINEAR, bent, fitted

SALES = re.compile(
    r"sales = ([\d.]+) ([+-]) ([\d.]+) per 10 of price, give or take ([\d.]+) "
    r"\(([\d.]+) at ([\d.]+); flat beyond 24 to 191\)"
)


@pytest.fixture(scope="module")
def shop():
    random = np.random.default_rng(0)
    price = np.clip(np.round(random.normal(116, 23, 800)), 24, 191)
    price[:2] = 24, 191
    return {"price": price, "sales": 7.1 - 0.054 * (price - 116) + random.normal(0, 1.2, 800)}


def test_a_line_is_one_short_sentence_that_is_true(shop):
    _, net = fitted(shop, ["price"])
    said = SALES.fullmatch(net["sales"].leaves[0].formula or "")
    assert said is not None, net["sales"].leaves[0].formula
    constant, sign, slope, spread, again, at = said.groups()
    assert (constant, sign) == (again, "-")
    assert net["sales"].text() == f"sales given price: n=800  {said[0]}"
    assert net["sales"].rules() == [f"{said[0]}  (n=800)"]
    # What is said is what is predicted.
    of = net["sales"].distribution({"price": float(at)})
    assert math.isclose(float(constant), of.location, abs_tol=0.05)
    assert math.isclose(float(spread), of.sd, abs_tol=0.05)
    up = net["sales"].distribution({"price": float(at) + 10}).location
    assert math.isclose(-float(slope), up - of.location, abs_tol=0.005)
    for end, beyond in ((24, 0), (191, 1000)):
        assert net["sales"].distribution({"price": end}) == net["sales"].distribution({"price": beyond})


def test_a_leafs_distribution_is_that_at_the_values_it_names(shop):
    _, net = fitted(shop, ["price"])
    (leaf,) = net["sales"].leaves
    (slope,) = leaf.slopes
    assert (slope.low, slope.high) == (24, 191)
    assert slope.at == round(slope.at)
    assert leaf.distribution == net["sales"].distribution({"price": slope.at})
    assert leaf.formula in repr(leaf)


def test_several_slopes_stand_one_after_the_other():
    _, net = fitted(bent(2000), ["price", "income", "shelf"])
    text = net["sales"].text()
    number = r"[\d.]+"
    line = (
        rf"sales = {number} - {number} per 10 of price \+ {number} per 1000 of income, give or take {number} "
        rf"\({number} at price {number}, income {number}; "
        rf"flat beyond price {number} to {number}, income {number} to {number}\)"
    )
    assert len(re.findall(rf"shelf = (?:good|bad): n=\d+  {line}", text)) == 2, text


def test_dates_are_told_as_dates():
    random = np.random.default_rng(2)
    day = random.integers(0, 3650, 500)
    frame = {
        "day": [dt.date(2010, 1, 1) + dt.timedelta(days=int(d)) for d in day],
        "sales": day / 365.25 + random.normal(0, 0.3, 500),
    }
    _, net = fitted(frame, ["day"])
    formula = net["sales"].leaves[0].formula
    said = re.fullmatch(
        r"sales = [\d.]+ \+ ([\d.]+) per year of day, give or take [\d.]+ "
        r"\([\d.]+ at 201\d-\d\d-\d\d; flat beyond 2010-01-\d\d to 2019-12-\d\d\)",
        formula,
    )
    assert said is not None, formula
    assert math.isclose(float(said[1]), 1, abs_tol=0.02)


def test_a_date_that_follows_a_number_is_told_in_days():
    random = np.random.default_rng(3)
    x = random.uniform(0, 100, 500)
    days = [dt.date(2020, 1, 1) + dt.timedelta(days=int(d)) for d in 200 + 3 * x + random.normal(0, 9, 500)]
    _, net = fitted({"x": x, "sales": days}, ["x"])
    formula = net["sales"].leaves[0].formula
    told = r"sales = 2020-\d\d-\d\d \+ \d\d(\.\d)? days per 10 of x, give or take [\d.]+ days "
    assert re.match(told, formula), formula


def drawn(net, path):
    net["sales"].draw(path)
    return "\n".join(ElementTree.parse(path).getroot().itertext())


def test_a_leafs_chart_is_its_line_with_a_band(tmp_path, shop):
    _, net = fitted(shop, ["price"])
    text = drawn(net, tmp_path / "line.svg")
    assert "↑ price" in text
    assert "give or take" in text
    # The line goes from the lower right to the upper left, as sales fall; its ends are the ends of the prices.
    leaf = next(Tree.of(net["sales"].description).leaves())
    first, last = leaf.along.points[0], leaf.along.points[-1]
    assert (first[0], last[0]) == (24, 191)
    assert first[1] > last[1]
    for x, location, scale in leaf.along.points:
        of = net["sales"].distribution({"price": x})
        assert math.isclose(of.location, location, rel_tol=1e-9)
        assert math.isclose(of.scale, scale, rel_tol=1e-9)


def test_lines_and_curves_of_a_tree_stand_on_one_axis(tmp_path):
    random = np.random.default_rng(4)
    x, kind = random.uniform(0, 10, 600), random.choice(["flat", "steep"], 600)
    frame = {"x": x, "kind": kind.tolist(), "sales": np.where(kind == "steep", 5 * x, 20.0) + random.normal(0, 1, 600)}
    _, net = fitted(frame, ["x", "kind"])
    leaves = list(Tree.of(net["sales"].description).leaves())
    assert sorted(leaf.along is not None for leaf in leaves) == [False, True]
    reach = next(leaf.reach for leaf in leaves if leaf.along)
    assert reach[0] < 0 < 49 < reach[1]
    text = drawn(net, tmp_path / "both.svg")
    assert text.count("↑ x") == 1


def test_the_report_has_the_line_of_each_leaf(tmp_path):
    frame = bent(400)
    net = an.learn(frame, LINEAR, max_parents=3, verbose=False)
    net.report(tmp_path / "net.html", frame)
    page = (tmp_path / "net.html").read_text().replace("\\u2191", "↑")
    for leaf in net["sales"].leaves:
        assert leaf.formula in page
    assert page.count("↑ price") + page.count("↑ income") >= len(net["sales"].leaves)


def test_leaves_together_are_as_wide_as_their_rows():
    steep = Leaf(100, (), 5.0, 0.1, 100, along=Along("x", ((0, 0, 0.1), (10, 10, 0.1)), 5.2, 3.0))
    together = pooled([steep, Leaf(100, (), 5.2, 3.0, None)])
    assert math.isclose(together.location, 5.2)
    assert math.isclose(together.scale, 3.0)


def test_units_written_with_a_sign_are_told_with_it():
    random = np.random.default_rng(6)
    price = np.round(random.uniform(100, 2000, 400))
    frame = {"price": [f"${p:,.0f}" for p in price], "sales": 0.01 * price + random.normal(0, 1, 400)}
    _, net = fitted(frame, ["price"])
    assert " per $100 of price, give or take " in net["sales"].leaves[0].formula


def arcs(frame, pairs):
    graph = nx.DiGraph()
    graph.add_nodes_from(frame)
    graph.add_edges_from(pairs)
    return graph


def test_a_printed_network_says_which_numbers_are_linear_in_what(tmp_path):
    random = np.random.default_rng(3)
    age, sex = random.uniform(20, 60, 600).round(), random.choice(["f", "m"], 600)
    income = np.exp(8 + 0.04 * age + 0.2 * random.normal(size=600)).round()
    income[random.random(600) < 0.25] = 0
    frame = {"age": age, "sex": sex.tolist(), "income": income}
    schema = an.infer_schema(frame).with_types(income=an.Continuous(scale="log", point=0))
    net = an.fit(an.Table(frame, schema), arcs(frame, [("age", "income"), ("sex", "income")]), LINEAR)
    share = round(100 * (income == 0).mean())
    assert str(net).split("\n") == [repr(net), f"income: logarithmic, {share}% 0; linear in age"]
    net.report(tmp_path / "net.html", frame)
    assert "linear in age" in (tmp_path / "net.html").read_text()
    # Where no leaf is linear nothing is said.
    plain = an.fit(an.Table(frame, schema), arcs(frame, [("sex", "income")]), LINEAR)
    assert str(plain) == repr(plain)


def test_of_many_linear_numbers_the_first_are_told():
    random = np.random.default_rng(5)
    x = random.normal(size=100)
    frame = {"x": x} | {f"y{i}": x + 0.1 * random.normal(size=100) for i in range(15)}
    net = an.fit(an.Table(frame), arcs(frame, [("x", f"y{i}") for i in range(15)]), LINEAR)
    told = str(net).split("\n")
    assert told[1] == "y0: linear in x" and told[-1] == "and 3 more numbers with lines in their leaves"
    assert len(told) == 14
