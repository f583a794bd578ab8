"""What a notebook shows: tables and pictures for results, texts as text, files that show themselves."""

import os
import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import networkx as nx
import pytest

import arbornet as an
from arbornet.search.base import Found
from arbornet.show import arrows
from arbornet.show.draw.file import File
from arbornet.show.draw.scene import PAINTS
from arbornet.show.draw.svg import for_notebook, in_cell
from arbornet.text.notebook import Text, preformatted, table


class Tags(HTMLParser):
    """The elements of a piece of HTML, and its text; every one must be closed."""

    def __init__(self, source: str):
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.text = ""
        self.feed(source)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)
        self.seen.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.seen.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def bundle(thing):
    """What IPython would show of it, by kind."""
    if hasattr(thing, "_repr_mimebundle_"):
        shown = thing._repr_mimebundle_()
        return shown[0] if isinstance(shown, tuple) else shown
    kinds = {"text/html": "_repr_html_", "image/svg+xml": "_repr_svg_"}
    shown = {kind: getattr(thing, method)() for kind, method in kinds.items() if hasattr(thing, method)}
    return {"text/plain": repr(thing), **{kind: says for kind, says in shown.items() if says is not None}}


@pytest.fixture(scope="module")
def steps():
    frame = an.example("penguins").rename({"species": "<b>species</b> & more"})
    made = an.Table(frame)
    candidates = an.score_parents(made, an.PCART(), max_parents=2)
    found = an.search.exact(candidates)
    return (
        made,
        an.plan(made, an.PCART(), max_parents=2, seconds=0.01),
        candidates,
        found,
        an.fit(made, found, an.PCART()),
    )


def test_every_result_shows_itself(steps):
    made, planned, candidates, found, net = steps
    for thing in (made, planned, candidates, found, made.schema, net, net["sex"], net.explain("sex"), net.draw()):
        shown = Tags(bundle(thing)["text/html"])
        assert "b" not in shown.seen, "a name is no markup"
        assert shown.seen
    assert "<b>species</b> & more" in Tags(candidates._repr_html_()).text
    assert bundle(net)["image/svg+xml"].startswith("<svg")


def test_candidates_show_the_best_set_of_every_variable(steps):
    candidates = steps[2]
    shown = Tags(candidates._repr_html_()).text
    for name in candidates.names:
        best = candidates.child(name).row(0)
        assert f"{len(candidates.child(name)):,}{', '.join(best[0]) or 'none'}{best[1]:.6g}" in shown


def test_found_shows_its_network_and_how_it_was_found(steps):
    found = steps[3]
    shown = Tags(found._repr_html_())
    assert shown.seen.count("g") >= found.dag.number_of_nodes() + found.dag.number_of_edges()
    assert str(found) in shown.text
    assert arrows.NOT_CAUSES in shown.text
    assert "categories" not in shown.text, "a search knows no kinds"
    assert "data-kind" not in found._repr_html_()
    wide = nx.DiGraph()
    wide.add_nodes_from(map(str, range(200)))
    assert "<svg" not in Found(wide, 0.0, 0.0, "finished", 0.0)._repr_html_()
    large = an.fit(an.Table({f"x{i}": ["a", "b", "b"] for i in range(200)}), nx.DiGraph(), an.BDeu())
    assert set(bundle(large)) == {"text/plain"}


def test_explain_prints_as_text(steps):
    told = steps[4].explain("sex")
    assert isinstance(told, str)
    assert repr(told) == str(told)
    assert told._repr_html_() == preformatted(told)
    assert Tags(told._repr_html_()).text == told
    assert "monospace" in told._repr_html_(), "a notebook shows pre in the letters of a page"
    assert repr(Text("a\nb")) == "a\nb"
    assert repr(steps[4]["sex"].text()) == str(steps[4]["sex"])


def test_what_is_written_is_a_path_that_shows_itself(steps, tmp_path):
    net = steps[4]
    page = net.report(tmp_path / "a report.html")
    assert os.fspath(page) == str(page) == str(tmp_path / "a report.html")
    assert Path(page).read_text(encoding="utf-8").startswith("<!doctype html>")
    link = bundle(page)["text/html"]
    assert 'href="' in link
    assert "a%20report.html" in link
    assert Tags(link).text == str(page)
    for drawn in (net, net["sex"]):
        picture = drawn.draw(tmp_path / "x.svg")
        assert bundle(picture)["image/svg+xml"] == for_notebook((tmp_path / "x.svg").read_text(encoding="utf-8"))
        assert "<svg" in bundle(picture)["text/html"]
    png, sizes = net.draw(tmp_path / "x.png")._repr_mimebundle_()
    assert png["image/png"].startswith(b"\x89PNG")
    drawn = ElementTree.fromstring(str(net.draw()))
    assert sizes["image/png"]["width"] == pytest.approx(float(drawn.get("width")), abs=1), "as large as the SVG"
    assert "text/html" in bundle(net.draw(tmp_path / "x.pdf"))
    assert bundle(File(tmp_path / "gone.svg")) == {"text/plain": f"<File: {tmp_path / 'gone.svg'}>"}


def test_cells_are_text():
    assert Tags(table(("<i>",), [("\x1b[31m",)], "<u>")).seen == [
        "table",
        "thead",
        "tr",
        "th",
        "tbody",
        "tr",
        "td",
        "p",
    ]


def test_texts_stand_left_and_figures_right():
    shown = table(("name", "score", "mixed"), [("a", "-1,234.5", "7"), ("b", "2e-05", "x"), ("c", "97% ± 1.2", "")])
    sides = re.findall(r'<(t[hd]) style="text-align: (\w+)"', shown)
    assert (
        sides
        == [("th", "left"), ("th", "right"), ("th", "left")] + [("td", "left"), ("td", "right"), ("td", "left")] * 3
    )
    assert table(("name",), []).count("text-align: left") == 1


@pytest.fixture(scope="module")
def results(steps):
    table_, planned, candidates, found, net = steps
    frame = an.example("penguins").drop_nulls()
    levels = frame.select("species", "island", "sex", "year")
    graphs = an.search.decision_graphs(an.Table(levels), an.DecisionGraph(), max_parents=1)
    truth = an.fit(an.Table(levels), nx.DiGraph([("species", "island")]), an.BDeu())
    two = {"trees": an.PCART(), "lone": an.evaluate.Method(an.PCART(), max_parents=0)}
    rules = an.Constraints(required=[("island", "sex")], max_parents=3)
    return {
        "table": table_,
        "schema": table_.schema,
        "column": table_.schema.columns[2],
        "dropped": table_.dropped,
        "plan": planned,
        "candidates": candidates,
        "found": found,
        "found graphs": graphs,
        "certificate": found.certificate,
        "k best": an.search.k_best(candidates, 3),
        "constraints": rules,
        "rules": rules.resolve(table_.names),
        "network": net,
        "origin": net.origin,
        "tree": net["body_mass_g"],
        "leaf": net["body_mass_g"].leaves[0],
        "text": net["body_mass_g"].text(),
        "spline": an.local_model(table_, "body_mass_g", ["flipper_length_mm"], an.MARS()),
        "picture": net.draw(),
        "query": net.query("sex", given={"island": "Dream"}),
        "score": an.PCART(max_splits=3),
        "method": two["lone"],
        "cross-validation": an.evaluate.cross_validate(levels, two, folds=2, repeats=1, search="hill_climb"),
        "learning curves": an.evaluate.structure_recovery(truth, {"a": an.BDeu(), "b": an.K2()}, (30, 60), repeats=2),
        "strengths": an.evaluate.arc_strength(levels, n_bootstrap=3, max_parents=1),
        "comparison": an.metrics.compare(net, found),
        "test": an.independence.test(table_, "sex", "island"),
        "classifier": an.NaiveBayes(),
        "learner": an.NetworkLearner(),
    }


def test_every_repr_is_short_and_says_what_it_is(results):
    for name, thing in results.items():
        says = repr(thing)
        assert " object at 0x" not in says, name
        assert "\x1b" not in says
        lines = says.splitlines()
        assert len(lines) <= 20, name
        assert len(lines) > 1 or len(says) <= 260, name


WORDS = {
    "column": "Column(bill_length_mm: continuous; 32.1 to 59.6; 2 (0.6%) missing",
    "dropped": "Dropped(11 rows dropped",
    "plan": "Plan(232 parent sets of up to 2 parents, 8 variables, ",
    "found": "Found(8 variables, ",
    "found graphs": "FoundGraphs(4 variables, ",
    "certificate": "ClusterCertificate(bound -",
    "constraints": "Constraints(required=(('island', 'sex'),), max_parents=3)",
    "rules": "Rules(8 variables; arcs: 1 required, 0 forbidden; up to 3 parents)",
    "origin": "Origin(333 rows, score pcart",
    "leaf": "<Leaf: ",
    "method": "Method(score=PCART(), max_parents=0)",
    "cross-validation": "CrossValidation(2 methods, 2 folds, best log density a row: trees, -",
    "learning curves": "LearningCurves(2 methods, 2 numbers of rows, 6 of 6 pairs of variables)",
    "comparison": "Comparison(ap=1, ar=1, f1=1, ",
}


@pytest.mark.parametrize("name", WORDS)
def test_a_repr_begins_with(results, name):
    assert repr(results[name]).startswith(WORDS[name])


def test_results_of_evaluation_are_tables(results):
    for name, cells in (
        ("k best", ["place", "1", f"{results['found'].score:.6f}"]),
        ("cross-validation", ["method", "trees", "lone"]),
        ("learning curves", ["method", "30 rows", "60 rows", "a", "b"]),
        ("comparison", ["adjacency precision", "shd"]),
        ("plan", ["by number of parents", "time", "memory"]),
    ):
        shown = Tags(results[name]._repr_html_())
        assert "table" in shown.seen, name
        for cell in cells:
            assert cell in shown.text, (name, cell)


def test_a_picture_in_a_notebook_follows_its_theme_on_paper_of_its_own(steps):
    plain = str(steps[4].draw())
    shown = for_notebook(plain)
    for page, shade in (("[data-jp-theme-light=false]", 1), ("[data-jp-theme-light=true]", 0), (".vscode-dark", 1)):
        assert f"{page} .an-f-ink{{fill:{PAINTS['ink'][shade]}}}" in shown
    root = ElementTree.fromstring(shown)
    first = next(e for e in root if e.tag.endswith(("rect", "g")))
    assert first.get("class") == "an-f-paper"
    assert first.get("width") == "100%"
    assert "an-f-paper" not in plain.partition("</style>")[2], "a picture in a file has none"
    assert for_notebook("<svg/>") == "<svg/>"
    width = float(root.get("width"))
    least = re.search(r"max-width: max\(100%, ([\d.]+)px\)", in_cell(plain))
    assert float(least[1]) == pytest.approx(0.85 * width, abs=0.01)
    assert "overflow-x: auto" in in_cell(plain)
