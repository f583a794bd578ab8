"""The report page as text: self-contained, safe whatever the names, the same bytes every time."""

import base64
import dataclasses
import hashlib
import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from arbornet.show.draw.parts import Node
from arbornet.show.draw.values import Bars, Histogram, values_scene
from arbornet.show.report import Report, Rows, Search, Variable, page, write
from arbornet.show.report.page import embedded
from made_reports import made_report

HOSTILE = [
    "</script><script>alert(1)</script>",
    "<!-- <script>",
    "<img src=x onerror=alert(2)>",
    "say \"hi\" & 'bye'",
    "{{script}}",
    "größe 尺寸 \u2028 \u202e",
    "\ud800 half a character, \x00 none",
    "]]>",
]


class Parsed(HTMLParser):
    """What an HTML parser makes of a page: all elements, and the text of the scripts and styles."""

    def __init__(self, source: str):
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.inside: list[str] = []
        self.raw: list[tuple[str, str]] = []
        self.feed(source)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        self.inside.append(tag)

    def handle_endtag(self, tag):
        if tag in self.inside:
            while self.inside.pop() != tag:
                pass

    def handle_data(self, data):
        if self.inside and self.inside[-1] in ("script", "style"):
            self.raw.append((self.inside[-1], data))


def data_of(parsed: Parsed):
    return json.loads(next(text for tag, text in parsed.raw if tag == "script"))


@pytest.mark.parametrize("n", [1, 5, 60])
def test_the_page_asks_for_nothing_from_elsewhere(n):
    source = page(made_report(n))
    parsed = Parsed(source)
    for tag, attributes in parsed.elements:
        assert tag not in ("link", "img", "iframe", "object", "embed", "base", "form"), tag
        for name, value in attributes.items():
            assert name not in ("src", "srcset", "action", "style")
            assert not name.startswith("on")
            assert name != "href" or value.startswith("#")
    addresses = set(re.findall(r"https?://[^\s\"'<]+", source))
    assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/2000/svg\\"}, addresses


def test_the_policy_allows_exactly_this_style_and_this_script():
    parsed = Parsed(page(made_report(3)))
    policy = next(a["content"] for tag, a in parsed.elements if a.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'")
    style = next(text for tag, text in parsed.raw if tag == "style")
    script = [text for tag, text in parsed.raw if tag == "script"][-1]
    for kind, content in (("style", style), ("script", script)):
        checksum = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{checksum}'" in policy


def test_hostile_names_stay_names():
    report = made_report(len(HOSTILE), names=HOSTILE)
    report = Report(HOSTILE[0], report.variables, report.arcs, report.rows, report.search, ((HOSTILE[2], HOSTILE[0]),))
    plain, parsed = Parsed(page(made_report(len(HOSTILE)))), Parsed(page(report))
    assert [v["name"] for v in data_of(parsed)["variables"]] == HOSTILE
    assert data_of(parsed)["facts"][-1] == [HOSTILE[2], HOSTILE[0]]
    ours = ("script", "style", "img", "head", "body")
    count = {tag: sum(t == tag for t, _ in parsed.elements) for tag in ours}
    assert count == {tag: sum(t == tag for t, _ in plain.elements) for tag in ours}
    assert count["script"] == 2


def test_embedded_json_has_no_character_an_html_parser_minds():
    out = embedded(HOSTILE)
    assert not set("<>&") & set(out)
    assert out.isascii()
    assert json.loads(out) == HOSTILE
    with pytest.raises(ValueError, match="not JSON compliant"):
        embedded([float("nan")])


def test_the_summary_says_score_bound_and_why_it_stopped():
    facts = dict(Search("exact", -10.5, -10.25, 0.25, "time", 60.0).facts())
    assert facts["Score"] == "-10.5000"
    assert facts["Gap"] == "0.25 to the bound"
    assert facts["Stopped"].startswith("time. The search stopped at its time limit")
    assert Search().facts() == []
    assert dict(made_report(3).search.facts())["Gap"] == "none, score and bound meet"
    proved = "no network within the parent limit scores higher (proved)"
    assert f"3 variables, 3 arcs, learned from 588 of 600 rows; {proved}." in page(made_report(3))
    every = dataclasses.replace(made_report(3), rows=Rows(2600, 2600))
    assert "learned from all 2,600 rows" in page(every)


def test_what_is_unknown_is_left_out():
    bare = Report("Bare", (Variable(Node("only", "continuous")),), ())
    variable = data_of(Parsed(page(bare)))["variables"][0]
    assert variable["tree"] is variable["values"] is variable["score"] is variable["missing"] is None


def test_histograms_have_round_bins_that_hold_every_value():
    source = np.random.default_rng(0)
    cases = [source.normal(50, 15, 600), source.integers(0, 5, 100), source.exponential(1e-6, 50), [3.0], [0, 0], [],
             [1.0, np.nan], source.normal(1e9, 1, 200)]  # fmt: skip
    for values in cases:
        histogram = Histogram.of(values)
        numbers = np.asarray(values, dtype=float)
        assert sum(histogram.counts) == np.isfinite(numbers).sum()
        assert list(histogram.edges) == sorted(set(histogram.edges))
        assert len(histogram.counts) <= 41
        values_scene(Node("x", "continuous"), histogram)


def test_very_many_levels_are_counted_together():
    levels = tuple(f"level {i}" for i in range(200))
    scene = values_scene(Node("x", "categorical", levels), Bars(levels, tuple(range(200))))
    assert len(scene.groups) == 30
    assert scene.groups[-1].title == f"171 rarer levels: {sum(range(171)):,}"


def test_the_same_bytes_at_any_hash_seed(tmp_path):
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from made_reports import made_report;"
        "from arbornet.show.report import write; write(made_report(20), sys.argv[2])"
    )
    pages = set()
    for seed in ("0", "1", "77"):
        path = tmp_path / f"{seed}.html"
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        subprocess.run([sys.executable, "-c", code, str(Path(__file__).parent), str(path)], env=environment, check=True)
        pages.add(path.read_bytes())
    write(made_report(20), tmp_path / "here.html")
    assert pages == {(tmp_path / "here.html").read_bytes()}
