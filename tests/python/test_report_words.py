"""What the report says: outlines of trees, ranges, the amber box, titles, technical details."""

import json
import re

import numpy as np
import polars as pl
import pytest

import arbornet as an
from arbornet.data.dropped import advice, costliest
from arbornet.network.report import of_network
from arbornet.show import arrows
from arbornet.show.draw.parts import Leaf, Tree, plain_ranges, whole_range
from arbornet.show.draw.spark import pooled
from arbornet.show.report import Report, page
from arbornet.show.report.outline import AT_ONCE, outline
from made_reports import made_report


def data_of(report: Report):
    return json.loads(re.search(r'id="data">(.*?)</script>', page(report), re.DOTALL)[1])


def leaf(n, x=0.0):
    return {"n": n, "location": x, "scale": 1.0, "df": 5.0}


def cut(variable, below, at, above):
    return {
        "variable": variable,
        "branches": [{"label": f"< {at}", "node": below}, {"label": f">= {at}", "node": above}],
    }


def comb(depth, variable=0):
    """A tree of depth + 1 leaves, the deeper the fewer rows."""
    if depth == 0:
        return leaf(1)
    return cut(f"x{variable}", leaf(100 * depth), 5, comb(depth - 1, variable + 1))


def inner(node):
    """All questions of an outline."""
    return [node, *(each for branch in node["to"] for each in inner(branch["to"]))] if "ask" in node else []


def told(node, folded=False):
    """All leaves of an outline with whether they are seen."""
    if "ask" not in node:
        return [] if "again" in node else [not folded]
    return [seen for branch in node["to"] for seen in told(branch["to"], folded or node.get("folded", False))]


def test_an_outline_has_every_leaf_and_opens_with_few_of_them():
    tree = Tree.of({"child": "y", "kind": "continuous", "root": comb(32)})
    root = outline(tree)["root"]
    seen = told(root)
    assert len(seen) == 33
    assert root["leaves"] == 33
    assert 0 < sum(seen) < AT_ONCE
    assert "folded" not in root
    assert all(seen[:5]), "what is folded has the fewest rows"


def test_a_small_tree_opens_whole():
    root = outline(Tree.of({"child": "y", "kind": "continuous", "root": comb(6)}))["root"]
    assert all(told(root))
    assert (root["ask"], root["n"], root["share"]) == ("x0", 2101, "100%")
    first = root["to"][0]
    assert (first["label"], first["to"]["says"], first["to"]["share"]) == ("< 5", "0.0 ± 1.1", "29%")
    assert first["to"]["chart"].startswith("<svg")


def test_a_folded_branch_answers_for_all_its_leaves():
    shares = pooled([Leaf(30, (0.2, 0.8)), Leaf(10, (0.6, 0.4))])
    assert shares.n == 40
    assert shares.probabilities == pytest.approx((0.3, 0.7))
    source = np.random.default_rng(0)
    drawn = np.concatenate([source.normal(10, 2, 30_000), source.normal(20, 3, 10_000)])
    mixed = pooled([Leaf(30, (), 10.0, 2.0), Leaf(10, (), 20.0, 3.0)])
    assert (mixed.location, mixed.scale) == pytest.approx((drawn.mean(), drawn.std()), rel=0.01)
    root = outline(Tree.of({"child": "y", "kind": "continuous", "root": comb(32)}))["root"]
    folded = next(node for node in inner(root) if node.get("folded"))
    assert folded["says"]
    assert folded["chart"].startswith("<svg")


def test_an_outline_names_the_likeliest_levels():
    root = {"n": 10, "probabilities": [0.1, 0.2, 0.25, 0.45]}
    tree = Tree.of({"child": "y", "kind": "categorical", "levels": ["a", "b", "c", "d"], "root": root})
    assert outline(tree)["root"]["says"] == "d: 45%, c: 25%, b: 20%, …"
    sure = {**root, "probabilities": [0.05, 0.85, 0.05, 0.05]}
    tree = Tree.of({"child": "y", "kind": "categorical", "levels": ["a", "b", "c", "d"], "root": sure})
    assert outline(tree)["root"]["says"] == "b: 85%, …"
    two = {"child": "y", "kind": "categorical", "levels": ["no", "yes"], "root": {"n": 3, "probabilities": [0.2, 0.8]}}
    assert outline(Tree.of(two))["root"]["says"] == "no: 20%, yes: 80%"


def test_whole_numbers_in_a_row_are_a_range():
    assert whole_range([2, 3, 4, 5]) == "2 to 5"
    assert whole_range([2, 3]) is None
    assert whole_range([2, 3, 5]) is None
    assert whole_range(["2", "3", "4"]) is None
    assert whole_range([False, True, 2]) is None
    assert plain_ranges("├─ a in {2, 3, 4, 5}: n=3") == "├─ a is 2 to 5: n=3"
    assert plain_ranges("a not in {-1, 0, 1} and b in {2, 4, 6}") == "a is not -1 to 1 and b in {2, 4, 6}"
    assert plain_ranges("within {1, 2, 3}") == "within {1, 2, 3}"


def test_branches_of_levels_are_told_in_words():
    def branch(label, levels):
        return {"label": label, "levels": levels, "node": {"n": 1, "probabilities": [1.0]}}

    branches = [branch("in {2, 3, 4, 5}", [2, 3, 4, 5]), branch("in {a, b}", ["a", "b"]), branch("= x", ["x"]),
                branch("!= 1", [2, 3, 4])]  # fmt: skip
    root = {"variable": "v", "branches": branches}
    tree = Tree.of({"child": "y", "kind": "categorical", "levels": ["z"], "root": root})
    assert [label for label, _ in tree.root.branches] == ["2 to 5", "a or b", "x", "2 to 4"]


def test_the_column_that_costs_most_rows_is_named_with_what_is_kept_without_it():
    rows = np.arange(602)
    lacks = {"bleed": rows >= 27, "age": (rows < 2), "sex": rows < 0}
    assert costliest(lacks) == (("bleed",), 600)
    assert (
        advice(602, 25, [("bleed", 575), ("age", 2)], costliest(lacks))
        == "25 of 602 rows used: 'bleed' is 96% missing; leaving it out keeps 600."
    )
    # Two columns that lack the same rows: neither helps alone.
    lacks = {"a": rows < 300, "b": rows < 290}
    assert costliest(lacks) == (("a", "b"), 602)
    assert advice(602, 302, [("a", 300), ("b", 290)], costliest(lacks)) == (
        "302 of 602 rows used: 'a' is 50% missing and 'b' is 48% missing; leaving them out keeps 602."
    )
    # Columns that lack the same rows go together, however many; what keeps no more rows is not advised.
    same = dict.fromkeys("abcde", rows < 301)
    assert costliest(same | {"f": rows < 2}) == (("a", "b", "c", "d", "e"), 600)
    assert advice(602, 301, [(name, 301) for name in "abcde"], costliest(same)) == (
        "301 of 602 rows used: 'a', 'b' and 3 more columns are up to 50% missing; leaving them out keeps 602."
    )
    scattered = {str(k): (rows % 8 == k) for k in range(8)}
    overlapping = {str(k): (rows % 8 != k) for k in range(8)}
    assert costliest(scattered)[1] > 0
    assert costliest(overlapping) == ((), 0)
    assert costliest({"a": rows < 0}) == ((), 602)
    assert advice(602, 302, [("a", 300)], None) == "302 of 602 rows used: 'a' is 50% missing."


@pytest.fixture(scope="module")
def sparse():
    frame = an.example("patients").with_columns(lab=pl.when(pl.int_range(600) % 10 == 0).then(pl.int_range(600) * 0.37))
    table = an.Table(frame, missing="drop")
    found = an.search.hill_climb(an.score_parents(table, an.PCART(), max_parents=1))
    return an.fit(table, found, an.PCART()), frame


def test_the_report_of_a_table_with_blanks_warns(sparse):
    net, frame = sparse
    used = net.origin.n_rows
    kept = frame.drop("lab").drop_nulls().height
    says = of_network(net, frame).rows.advice
    assert says == f"{used} of 600 rows used: 'lab' is 90% missing; leaving it out keeps {kept}."
    # Without the table, or with another, only what the schema knows.
    assert of_network(net).rows.advice == f"{used} of 600 rows used: 'lab' is 90% missing."
    assert of_network(net, frame.head(300)).rows.advice == f"{used} of 600 rows used: 'lab' is 90% missing."
    data = data_of(of_network(net, frame))
    assert data["advice"] == says
    whole = an.learn(frame.drop("lab").drop_nulls(), max_parents=1, verbose=False)
    assert data_of(of_network(whole, frame))["advice"] == ""


def test_numbers_have_ranges_and_titles_come_from_the_table(sparse):
    net, frame = sparse
    report = of_network(net, frame)
    ranges = {v.node.name: v.range_ for v in report.variables}
    low, high = frame["age"].min(), frame["age"].max()
    assert ranges["age"] == f"{low:.6g} to {high:.6g}"
    assert ranges["sex"] == ""
    assert report.title == f"Bayesian network of {', '.join(net.names[:3])} and {len(net.names) - 3} more"
    assert of_network(net, frame, "Patients").title == "Patients"


def test_parameters_stand_under_technical_details(sparse):
    net, frame = sparse
    data = data_of(of_network(net, frame))
    plain, technical = dict(data["facts"]), dict(data["technical"])
    assert {"Score", "Local score", "Method", "Time", "Upper bound"}.isdisjoint(plain)
    assert technical["Local score"].startswith("pcart (max splits 5")
    assert "Score" in technical
    assert plain["Search"].startswith("The search")
    assert data["scale"] == arrows.SCALE


def test_arcs_carry_words_and_whether_they_are_oriented(sparse):
    net, frame = sparse
    data = data_of(of_network(net, frame))
    free = net.cpdag()
    names = [v["name"] for v in data["variables"]]
    assert data["arcs"]
    for arc in data["arcs"]:
        parent, child = names[arc["parent"]], names[arc["child"]]
        assert arc["word"] == arrows.strength(net.arc_score(parent, child))
        assert arc["either"] == free.has_edge(child, parent)


def test_the_page_says_that_arrows_are_not_causes():
    source = page(made_report(5))
    assert arrows.NOT_CAUSES in source
    assert arrows.DASHED in source
    chain = made_report(2, chain=True)
    assert arrows.DASHED not in page(chain)


def test_where_few_rows_are_dropped_no_column_is_said_to_be_worth_leaving_out():
    frame = an.example("patients").with_columns(
        a=pl.when(pl.int_range(600) == 5).then(None).otherwise(pl.int_range(600) % 7),
        b=pl.when(pl.int_range(600) == 7).then(None).otherwise(pl.int_range(600) % 5),
    )
    frame = frame.select("age", "sex", "a", "b")
    net = an.learn(frame, an.PCART(), max_parents=1, verbose=False)
    assert net.origin.n_rows == 598 and of_network(net, frame).rows.advice == ""
