"""Pictures of networks and trees: what they promise to the eye, checked by arithmetic."""

import itertools
import os
import random
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import networkx as nx
import pytest

import arbornet as an
from arbornet import ArbornetError
from arbornet.show.draw import Graph, Tree, draw, draw_tree, network_svg, tree_svg
from arbornet.show.draw import order as order_module
from arbornet.show.draw.band import spread
from arbornet.show.draw.dot import dot
from arbornet.show.draw.layout import NODE_HEIGHT, layered
from arbornet.show.draw.network import network_scene
from arbornet.show.draw.order import crossings, ordered
from arbornet.show.draw.parts import Leaf, kind_name
from arbornet.show.draw.place import isotonic
from arbornet.show.draw.ranks import ranks
from arbornet.show.draw.scene import PAINTS, Text, shortened, text_width
from arbornet.show.draw.svg import for_notebook
from arbornet.show.draw.tree import tree_scene
from places import NETWORKS

HOSTILE = ["</script><b>", 'a "quoted" & name', "größe µ 尺寸", "x\x00y\ud800", "-->", " ", "n" * 300]


def random_dag(n: int, arcs: int, seed: int) -> nx.DiGraph:
    draw_from = random.Random(seed)
    graph = nx.DiGraph()
    kinds = itertools.cycle(["continuous", "categorical", "ordinal"])
    for i in range(n):
        kind = next(kinds)
        graph.add_node(f"variable {i}", kind=kind, levels=["low", "high"] if kind != "continuous" else None)
    names = list(graph)
    while graph.number_of_edges() < arcs:
        u, v = sorted(draw_from.sample(range(n), 2))
        graph.add_edge(names[u], names[v], strength=draw_from.random())
    return graph


def laid_out(graph: nx.DiGraph):
    widths = {name: text_width(name) + 28 for name in graph}
    return widths, layered(widths, list(graph.edges))


def at(piece, t):
    (a, b, c, d), s = piece, 1 - t
    return tuple(s**3 * a[i] + 3 * s * s * t * b[i] + 3 * s * t * t * c[i] + t**3 * d[i] for i in (0, 1))


def sampled(route):
    return [at(route[i : i + 4], t / 12) for i in range(0, len(route) - 1, 3) for t in range(13)]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("n", "arcs"), [(2, 1), (5, 4), (12, 20), (40, 60), (60, 100)])
def test_nodes_never_overlap_and_arcs_point_down(n, arcs, seed):
    graph = random_dag(n, arcs, seed)
    widths, layout = laid_out(graph)
    assert set(layout.centres) == set(graph)
    for a, b in itertools.combinations(graph, 2):
        (xa, ya), (xb, yb) = layout.centres[a], layout.centres[b]
        apart = abs(xa - xb) - (widths[a] + widths[b]) / 2
        assert apart >= 5 or abs(ya - yb) >= NODE_HEIGHT + 5, (a, b)
    for (parent, child), route in layout.routes.items():
        heights = [y for _, y in sampled(route)]
        assert heights == sorted(heights), "a curve turned back up"
        assert layout.centres[parent][1] + NODE_HEIGHT / 2 == pytest.approx(heights[0])
        assert layout.centres[child][1] - NODE_HEIGHT / 2 == pytest.approx(heights[-1])
    for x, y in layout.centres.values():
        assert 0 <= x <= layout.width
        assert 0 <= y <= layout.height


def touched(graph: nx.DiGraph) -> set:
    """Arcs with the other nodes they run through."""
    widths, layout = laid_out(graph)
    return {
        (arc, name)
        for arc, route in layout.routes.items()
        for x, y in sampled(route)
        for name, (cx, cy) in layout.centres.items()
        if name not in arc and abs(x - cx) < widths[name] / 2 - 1 and abs(y - cy) < NODE_HEIGHT / 2 - 1
    }


@pytest.mark.parametrize("seed", range(6))
def test_arcs_hardly_ever_run_through_other_nodes(seed):
    assert len(touched(random_dag(40, 60, seed))) <= 1


@pytest.mark.parametrize("name", ["alarm", "insurance", "barley", "hepar2"])
def test_arcs_of_published_networks_run_through_no_node(name):
    assert not touched(an.read_bif(NETWORKS / f"{name}.bif.gz").graph)


@pytest.mark.parametrize("seed", range(12))
def test_the_layers_give_the_shortest_arcs_of_all_layerings(seed):
    source = random.Random(seed)
    n = 6
    edges = sorted({tuple(sorted(source.sample(range(n), 2))) for _ in range(9)})
    if not nx.is_connected(nx.Graph(edges)) or len(nx.Graph(edges)) < n:
        edges = sorted({*edges, *((i, i + 1) for i in range(n - 1))})

    def length(rank):
        return sum(rank[v] - rank[u] for u, v in edges)

    rank = ranks(n, edges)
    assert all(rank[u] < rank[v] for u, v in edges)
    valid = (r for r in itertools.product(range(n), repeat=n) if all(r[u] < r[v] for u, v in edges))
    assert length(rank) == min(map(length, valid))


def test_a_layer_too_wide_is_folded():
    star = [(0, i) for i in range(1, 31)]
    rank = ranks(31, star, most=10)
    assert max(rank.count(r) for r in rank) == 10
    assert all(rank[u] < rank[v] for u, v in star)


@pytest.mark.parametrize("seed", range(10))
def test_crossings_are_counted_right_and_never_increase(seed):
    source = random.Random(seed)
    layers = [list(range(6)), list(range(6, 13))]
    edges = sorted({(source.choice(layers[0]), source.choice(layers[1])) for _ in range(14)})
    below = [[v for u, v in edges if u == w] for w in range(13)]

    def by_pairs(rows):
        place = {v: i for row in rows for i, v in enumerate(row)}
        pairs = itertools.combinations([(place[u], place[v]) for u, v in edges], 2)
        return sum((a - c) * (b - d) < 0 for (a, b), (c, d) in pairs)

    assert crossings(layers, below) == by_pairs(layers)
    assert by_pairs(ordered(layers, edges)) <= by_pairs(layers)


def test_trees_are_drawn_without_crossings():
    tree = nx.balanced_tree(3, 3, create_using=nx.DiGraph)
    layers = [[v for v, d in nx.shortest_path_length(tree, 0).items() if d == depth] for depth in range(4)]
    random.Random(0).shuffle(layers[3])
    below = [list(tree.successors(v)) for v in range(len(tree))]
    assert crossings(layers, below) > 0
    assert crossings(order_module.ordered(layers, list(tree.edges)), below) == 0


def test_isotonic_is_the_nearest_ascending_sequence():
    assert isotonic([1, 2, 3], [1, 1, 1]) == [1, 2, 3]
    assert isotonic([3, 1], [1, 3]) == [1.5, 1.5]
    source = random.Random(1)
    wishes, weights = [source.random() for _ in range(7)], [source.random() + 0.1 for _ in range(7)]

    def cost(z):
        return sum(w * (a - b) ** 2 for a, b, w in zip(wishes, z, weights, strict=True))

    best = isotonic(wishes, weights)
    assert best == sorted(best)
    for _ in range(300):
        assert cost(best) <= cost(sorted(b + source.gauss(0, 0.05) for b in best)) + 1e-12


def test_a_cycle_is_refused_by_name():
    with pytest.raises(ValueError, match=r"cycle \(a → b\)"):
        Graph.of(nx.DiGraph([("a", "b"), ("b", "a")]))
    with pytest.raises(ValueError, match="not one of continuous"):
        kind_name("blob")


def test_the_svg_is_well_formed_whatever_the_names():
    graph = nx.DiGraph()
    for name in HOSTILE:
        graph.add_node(name, kind="categorical", levels=HOSTILE)
    graph.add_edges_from(itertools.pairwise(HOSTILE), strength=0.5)
    root = ET.fromstring(network_svg(graph))
    nodes = [g for g in root.iter("{http://www.w3.org/2000/svg}g") if g.get("class") == "an-node"]
    assert [g.get("data-name") for g in nodes][:3] == HOSTILE[:3]
    assert not [element for element in root.iter() if element.tag.endswith("script")]
    assert root.get("role") == "img"
    assert root.find("{http://www.w3.org/2000/svg}title").text == "Bayesian network of 7 variables and 6 arcs"


def test_names_too_long_are_shortened_but_kept_in_the_title():
    assert shortened("short", 100) == "short"
    cut = shortened("a rather long name of a laboratory value, second visit", 120)
    assert text_width(cut) <= 120
    assert cut.startswith("a rather")
    assert cut.endswith("visit")
    graph = nx.DiGraph()
    graph.add_node("n" * 300)
    assert "n" * 300 in network_svg(graph)


def test_stronger_arcs_are_wider():
    graph = nx.DiGraph()
    graph.add_edge("a", "b", strength=0.1)
    graph.add_edge("a", "c", strength=0.9)
    widths = {
        dict(group.data)["child"]: group.marks[0].thick
        for group in network_scene(Graph.of(graph)).groups
        if group.role == "arc"
    }
    assert widths["b"] < widths["c"]


def luminance(colour):
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in
              (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))]  # fmt: skip
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("shade", [0, 1], ids=["light", "dark"])
def test_colours_keep_their_contrast(shade):
    def contrast(a, b):
        high, low = sorted((luminance(PAINTS[a][shade]), luminance(PAINTS[b][shade])), reverse=True)
        return (high + 0.05) / (low + 0.05)

    for kind in ("paper", "continuous", "categorical", "ordinal"):
        assert contrast("ink", kind) >= 7
    for line in ("line", "continuous-line", "categorical-line", "ordinal-line"):
        assert contrast(line, "paper") >= 3
    assert contrast("muted", "paper") >= 4.5


LEVELS = {
    "child": "readmitted",
    "kind": "categorical",
    "levels": ["no", "yes"],
    "root": {
        "variable": "days",
        "branches": [
            {"label": "< 10.5", "node": {"n": 300, "probabilities": [0.9, 0.1]}},
            {"label": "≥ 10.5", "node": {"n": 100, "probabilities": [0.4, 0.6]}},
        ],
    },
}
NUMBERS = {
    "child": "systolic",
    "kind": "continuous",
    "root": {
        "variable": "age",
        "branches": [
            {"label": "< 60", "node": {"n": 30, "location": 118.0, "scale": 9.0, "df": 31}},
            {"label": "≥ 60", "node": {"n": 20, "location": 132.5, "scale": 9.0, "df": 2.5}},
        ],
    },
}


def test_a_tree_says_its_leaves_aloud():
    root = ET.fromstring(tree_svg(LEVELS))
    description = root.find("{http://www.w3.org/2000/svg}desc").text
    assert description == "days < 10.5: no 90%, 300 rows (75%); days ≥ 10.5: yes 60%, 100 rows (25%)"
    assert "systolic" in tree_svg(NUMBERS)
    assert "132 ± 11" in tree_svg(NUMBERS)


def test_cuts_of_one_number_are_drawn_as_one_question():
    def cut(at, below, above):
        branches = [{"label": f"< {at}", "node": below}, {"label": f">= {at}", "node": above}]
        return {"variable": "age", "branches": branches}

    leaves = [{"n": n, "probabilities": [1.0]} for n in range(5)]
    stage = [{"label": "= I", "node": leaves[3]}, {"label": "in {II, III}", "node": leaves[4]}]
    root = cut(60, cut(40, leaves[0], leaves[1]), cut(80, leaves[2], {"variable": "stage", "branches": stage}))
    tree = Tree.of({"child": "x", "kind": "categorical", "levels": ["a"], "root": root})
    assert [label for label, _ in tree.root.branches] == ["< 40", "40 to 60", "60 to 80", "≥ 80"]
    assert [label for label, _ in tree.root.branches[3][1].branches] == ["I", "in {II, III}"]
    assert [leaf.n for leaf in tree.leaves()] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("tree", [LEVELS, NUMBERS, {**LEVELS, "root": {"n": 0, "probabilities": [0.5, 0.5]}},
                                  {**NUMBERS, "root": {"n": 1, "location": 0.0, "scale": 0.0}}])  # fmt: skip
def test_trees_stay_inside_their_picture(tree):
    scene = tree_scene(Tree.of(tree))
    for group in scene.groups:
        for mark in group.marks:
            for x, y in getattr(mark, "points", None) or [(mark.x, mark.y)]:
                assert -1 <= x <= scene.width + 1
                assert -1 <= y <= scene.height + 1


def test_the_spread_of_a_leaf_is_its_68_percent_interval():
    from scipy import stats

    for df in (1.5, 2, 3, 5, 10, 30):
        exact = stats.t.ppf(stats.norm.cdf(1), df)
        assert spread(Leaf(1, (), 0.0, 2.0, df)) == pytest.approx(2 * exact, rel=0.01)


@pytest.mark.parametrize("ending", ["svg", "png", "pdf"])
def test_pictures_are_written_in_three_formats(tmp_path, ending):
    start = {"svg": b"<svg", "png": b"\x89PNG", "pdf": b"%PDF"}[ending]
    for path, make in ((tmp_path / f"net.{ending}", draw), (tmp_path / f"tree.{ending}", draw_tree)):
        make(random_dag(5, 5, 0) if make is draw else NUMBERS, path)
        assert path.read_bytes().startswith(start)
        first = path.read_bytes()
        make(random_dag(5, 5, 0) if make is draw else NUMBERS, path)
        assert path.read_bytes() == first


def test_without_a_target_a_picture_shows_itself(tmp_path):
    net = an.learn(an.example("penguins"), max_parents=1, verbose=False)
    for drawn in (net, net["species"]):
        picture = drawn.draw()
        drawn.draw(tmp_path / "x.svg")
        assert str(picture) == (tmp_path / "x.svg").read_text(encoding="utf-8")
        assert picture._repr_svg_() == for_notebook(str(picture))
    assert repr(net.draw()).startswith("<Picture: Bayesian network of 8 variables")


def test_a_tick_without_room_stays_without_its_number():
    def numbers(chart):
        axis = tree_scene(Tree.of(NUMBERS), chart).groups[-1]
        return sorted((m.x, m.text, text_width(m.text, m.size)) for m in axis.marks if isinstance(m, Text))

    wide, narrow = numbers(190.0), numbers(60.0)
    assert 0 < len(narrow) < len(wide)
    for (x, _, width), (next_x, _, next_width) in itertools.pairwise(narrow):
        assert x + width / 2 < next_x - next_width / 2


def test_an_unknown_ending_is_refused_with_the_way_out(tmp_path):
    with pytest.raises(ValueError, match=r"\.svg, \.png or \.pdf"):
        draw(nx.DiGraph([("a", "b")]), tmp_path / "net.bmp")
    with pytest.raises(ValueError, match="neither"):
        draw(nx.DiGraph([("a", "b")]), tmp_path / "net.svg", engine="neato")


def test_a_matplotlib_axis_takes_a_picture():
    from matplotlib.figure import Figure

    axis = Figure().add_subplot()
    draw(random_dag(12, 15, 1), axis)
    draw_tree(LEVELS, axis)
    assert {text.get_text() for text in axis.texts} >= {"variable 3", "readmitted"}


def test_without_matplotlib_the_message_names_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr("arbornet.show.draw.save.find_spec", lambda _: None)
    with pytest.raises(ImportError, match=r"pip install matplotlib.*'net\.svg' needs nothing"):
        draw(nx.DiGraph([("a", "b")]), tmp_path / "net.png")


#: Answers as `dot -Tplain` does: inches from the lower left corner, nodes in a row from left to right, arcs as curves.
DOT = """#!{python}
import re, sys
assert sys.argv[1:] == ["-Tplain"]
asked = sys.stdin.read()
nodes = re.findall(r"^(\\d+) \\[width=([\\d.]+)\\]$", asked, re.M)
print(f"graph 1 {{2 * len(nodes)}} 3")
for i, width in nodes:
    print(f'node {{i}} {{2 * int(i) + 1}} {{3 - 0.25 * int(i)}} {{width}} 0.5 "" solid box black lightgrey')
for u, v in re.findall(r"^(\\d+) -> (\\d+)$", asked, re.M):
    (a, b), (c, d) = ((2 * int(i) + 1, 3 - 0.25 * int(i)) for i in (u, v))
    print(f"edge {{u}} {{v}} 4 {{a}} {{b}} {{a}} {{d}} {{c}} {{b}} {{c}} {{d}} solid black")
print("stop")
"""


def program(folder: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """Makes a program the only `dot` there is."""
    (folder / "dot").write_text(text.format(python=sys.executable), encoding="utf-8")
    (folder / "dot").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))


def test_graphviz_places_nodes_and_arcs_when_asked_for(tmp_path, monkeypatch):
    program(tmp_path, monkeypatch, DOT)
    layout = dot({"a": 72.0, 'b "c"': 36.0}, [("a", 'b "c"')])
    assert (layout.width, layout.height) == (4 * 72, 3 * 72)
    # Heights count from the top here.
    assert layout.centres == {"a": (72, 0), 'b "c"': (3 * 72, 18)}
    assert layout.routes == {("a", 'b "c"'): ((72, 0), (72, 18), (3 * 72, 0), (3 * 72, 18))}
    graph = random_dag(12, 20, 2)
    drawn = network_svg(graph, engine="dot")
    assert len(re.findall('class="an-node"', drawn)) == 12 and len(re.findall('class="an-arc"', drawn)) == 20
    assert drawn != network_svg(graph)


def test_graphviz_is_missed_by_name_and_its_failure_is_told(tmp_path, monkeypatch):
    graph = random_dag(12, 20, 2)
    program(tmp_path, monkeypatch, "#!{python}\nimport sys; sys.exit('out of ink')")
    with pytest.raises(ArbornetError, match="dot failed: out of ink"):
        network_svg(graph, engine="dot")
    (tmp_path / "dot").unlink()
    with pytest.raises(ArbornetError, match="needs Graphviz' `dot` on the PATH"):
        network_svg(graph, engine="dot")


@pytest.mark.skipif(shutil.which("dot") is None, reason="no Graphviz on the PATH (Debian: apt install graphviz)")
def test_graphviz_itself_answers_so():
    graph = random_dag(12, 20, 2)
    layout = dot(dict.fromkeys(graph, 72.0), list(graph.edges))
    assert set(layout.centres) == set(graph) and set(layout.routes) == set(graph.edges)
    assert all(layout.centres[u][1] < layout.centres[v][1] for u, v in graph.edges)


def test_the_same_bytes_at_any_hash_seed():
    code = (
        "import networkx as nx, hashlib; from arbornet.show.draw import network_svg;"
        "g = nx.gnp_random_graph(40, .08, seed=3, directed=True);"
        "g = nx.DiGraph([(f'v{u}', f'v{v}') for u, v in g.edges if u < v]);"
        "print(hashlib.sha256(network_svg(g).encode()).hexdigest())"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("0", "1", "77")
    }
    assert len(seen) == 1
