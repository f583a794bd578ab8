"""What arcs say: words for strengths, dashes where the direction is open, and that they are no causes."""

import math
import xml.etree.ElementTree as ET

import networkx as nx
import pytest

import arbornet as an
from arbornet.scores.prepare import prepared
from arbornet.show import arrows
from arbornet.show.draw import Graph, network_svg
from arbornet.show.draw.parts import Arc


@pytest.mark.parametrize(
    ("lost", "word"),
    [(-1.0, "none"), (0.0, "none"), (0.9, "weak"), (1.0, "moderate"), (2.9, "moderate"), (3.0, "strong"),
     (4.9, "strong"), (5.0, "decisive"), (14.92, "decisive"), (math.inf, "decisive"), (math.nan, "")],
)  # fmt: skip
def test_the_words_are_kass_and_rafterys_by_twice_the_log_bayes_factor(lost, word):
    assert arrows.strength(lost) == word


def test_the_scale_says_whether_a_score_is_a_log_probability():
    table = an.Table({"x": [0.1, 0.7, 0.4, 0.3] * 9, "s": ["a", "b", "b", "a"] * 9, "t": ["a", "b", "a", "a"] * 9})
    levels = an.Table({"s": ["a", "b", "b", "a"] * 9, "t": ["a", "b", "a", "a"] * 9})
    said = {
        name: arrows.scale_of(prepared(of, score).spec)
        for name, of, score in [
            ("pcart", table, an.PCART()),
            ("k2", levels, an.K2()),
            ("bdeu", levels, an.BDeu()),
            ("bic", levels, an.BIC()),
            ("gaussian", table, an.DegenerateGaussian()),
            ("blocks", table, an.BlockGaussian()),
            ("aic", levels, an.AIC()),
            ("mit", levels, an.MIT()),
        ]
    }
    assert {name for name, text in said.items() if text == arrows.SCALE} == {"pcart", "k2", "bdeu"}
    assert {name for name, text in said.items() if "hold roughly" in text} == {"bic", "gaussian", "blocks"}
    assert {name for name, text in said.items() if "not a log probability" in text} == {"aic", "mit"}
    assert all(text.startswith(arrows.SCALE) for text in (*said.values(), arrows.scale_of("my score")))


def test_arcs_that_independence_does_not_orient_are_drawn_another_way():
    graph = nx.DiGraph([("a", "b"), ("b", "c"), ("x", "z"), ("y", "z"), ("z", "w")])
    parts = Graph.of(graph)
    assert {(arc.parent, arc.child) for arc in parts.arcs if arc.either_way} == {("a", "b"), ("b", "c")}
    root = ET.fromstring(network_svg(graph))
    groups = [g for g in root.iter("{http://www.w3.org/2000/svg}g") if g.get("class") == "an-arc"]
    for group in groups:
        free = group.get("data-either-way") == "yes"
        path = next(mark for mark in group if mark.tag.endswith("path"))
        assert (path.get("stroke-dasharray") is not None) == free
        assert any(mark.tag.endswith("polygon") for mark in group) != free, "an open head, or a full one"
        assert (arrows.EITHER_WAY in group[0].text) == free
    assert sum(g.get("data-either-way") == "yes" for g in groups) == 2


def test_every_picture_with_arcs_says_that_arrows_are_not_causes():
    said = network_svg(nx.DiGraph([("a", "b")]))
    assert "Arrows are not causes" in said
    assert f">{arrows.EITHER_WAY}<" in said
    collider = network_svg(nx.DiGraph([("a", "c"), ("b", "c")]))
    assert f">{arrows.EITHER_WAY}<" not in collider
    bare = nx.DiGraph()
    bare.add_node("alone")
    assert "causes" not in network_svg(bare)


def test_matplotlib_dashes_the_same_arcs():
    from matplotlib.figure import Figure

    from arbornet.show.draw import draw

    axis = Figure().add_subplot()
    draw(nx.DiGraph([("a", "b")]), axis)
    assert any(patch.get_linestyle() not in ("-", "solid") for patch in axis.patches)


def test_an_arc_says_word_number_and_direction():
    says = Arc("a", "b", 0.87, 14.92, True).description
    assert says == (
        "a → b, strength: decisive (removing this arc lowers the log score by 14.92), in 87% of resampled networks, "
        "may point either way"
    )


def test_explain_says_strengths_in_words_and_that_arrows_are_no_causes():
    net = an.learn(an.example("penguins"), max_parents=1, verbose=False)
    parent, child = next(iter(net.graph.edges))
    told = net.explain(child)
    lost = net.arc_score(parent, child)
    assert f"depends on {parent} (removing this arc lowers the log score by {lost:.4g}: decisive)" in told
    assert arrows.NOT_CAUSES in told
    # One parent at most: no collider, so no arc of it is oriented.
    assert f"Independence alone does not orient the arcs with {parent}" in told
    alone = an.fit(an.Table(an.example("penguins")), nx.DiGraph(), an.PCART())
    assert "causes" not in alone.explain("species")


def fork() -> an.Table:
    """A column that two others depend on: whichever way, no collider."""
    rows = [(x, y, z) for x, mostly in (("a", "aaab"), ("b", "bbba")) for y in mostly for z in mostly] * 10
    return an.Table(dict(zip("xyz", map(list, zip(*rows, strict=True)), strict=True)))


def test_an_arc_that_a_constraint_directs_is_no_longer_open_in_a_network_and_in_its_file(tmp_path):
    table = fork()
    open_ = an.search.boss(table, an.BIC())
    known = an.search.boss(table, an.BIC(), constraints=an.Constraints(tiers=[["x"], ["y", "z"]]))
    assert open_.dag.number_of_edges() == known.dag.number_of_edges() == 2
    free, fixed = an.fit(table, open_, an.BIC()), an.fit(table, known, an.BIC())
    assert all(arc.either_way for arc in Graph.of(free.graph).arcs)
    from_x = [arc for arc in Graph.of(fixed.graph).arcs if arc.parent == "x"]
    assert from_x and not any(arc.either_way for arc in from_x)
    assert {(a, b) for a, b in fixed.cpdag().edges if not fixed.cpdag().has_edge(b, a)} >= {
        (arc.parent, arc.child) for arc in from_x
    }
    assert "does not orient" in free.explain("x") and "does not orient" not in fixed.explain("x")
    # Only where the search knows more than the graph does is anything written.
    written = tmp_path / "net.json"
    free.save(written)
    assert "directed" not in written.read_text(encoding="utf-8")
    fixed.save(written)
    assert '"directed"' in written.read_text(encoding="utf-8")
    again = an.load(written)
    assert again.origin == fixed.origin and set(again.cpdag().edges) == set(fixed.cpdag().edges)


def test_what_a_search_found_is_drawn_with_the_directions_of_its_class():
    table = fork()
    known = an.search.boss(table, an.BIC(), constraints=an.Constraints(tiers=[["x"], ["y"], ["z"]]))
    assert 'data-either-way="yes"' not in known._repr_html_()
    assert 'data-either-way="yes"' in an.search.boss(table, an.BIC())._repr_html_()
