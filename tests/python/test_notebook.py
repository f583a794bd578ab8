"""What a notebook shows: tables and pictures for results, texts as text, files that show themselves."""

import html
import os
from html.parser import HTMLParser
from pathlib import Path

import networkx as nx
import pytest

import arbornet as an
from arbornet import arrows
from arbornet.notebook import File, Text, table
from arbornet.search.base import Found


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
    for thing in (made, planned, candidates, found, made.schema, net["sex"], net.explain("sex")):
        shown = Tags(thing._repr_html_())
        assert "b" not in shown.seen, "a name is no markup"
        assert shown.seen
    assert "<b>species</b> & more" in Tags(candidates._repr_html_()).text
    assert net._repr_svg_().startswith("<svg")


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
    wide = nx.DiGraph()
    wide.add_nodes_from(map(str, range(200)))
    assert "<svg" not in Found(wide, 0.0, 0.0, "finished", 0.0)._repr_html_()


def test_explain_prints_as_text(steps):
    told = steps[4].explain("sex")
    assert isinstance(told, str)
    assert repr(told) == str(told)
    assert told._repr_html_() == f"<pre>{html.escape(told)}</pre>"
    assert repr(Text("a\nb")) == "a\nb"


def test_what_is_written_is_a_path_that_shows_itself(steps, tmp_path):
    net = steps[4]
    page = net.report(tmp_path / "a report.html")
    assert os.fspath(page) == str(page) == str(tmp_path / "a report.html")
    assert Path(page).read_text(encoding="utf-8").startswith("<!doctype html>")
    link = page._repr_mimebundle_()["text/html"]
    assert 'href="' in link
    assert "a%20report.html" in link
    assert Tags(link).text == str(page)
    for drawn in (net, net["sex"]):
        picture = drawn.draw(tmp_path / "x.svg")
        assert picture._repr_mimebundle_()["image/svg+xml"] == (tmp_path / "x.svg").read_text(encoding="utf-8")
    png = net.draw(tmp_path / "x.png")
    assert png._repr_mimebundle_()["image/png"].startswith(b"\x89PNG")
    assert "text/html" in net.draw(tmp_path / "x.pdf")._repr_mimebundle_()
    assert File(tmp_path / "gone.svg")._repr_mimebundle_() == {"text/plain": f"<File: {tmp_path / 'gone.svg'}>"}


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
