"""The report of a fitted network says what the network, its schema and its data say."""

import json
import re

import polars as pl
import pytest

import arbornet as an
from arbornet.network.report import of_network
from arbornet.show.draw.values import Bars, Histogram
from browser import CHROMIUM, browser


@pytest.fixture(scope="module")
def fitted():
    frame = an.example("patients").with_columns(id=pl.int_range(600))
    with pytest.warns(an.LeftOutWarning):
        schema = an.infer_schema(frame)
    schema = schema.with_types(stage=an.Ordinal(["I", "II", "III", "IV"]), days=an.Binned(4))
    table = an.Table(frame, schema)
    found = an.search.hill_climb(an.score_parents(table, an.PCART(), max_parents=2))
    return an.fit(table, found, an.PCART()), frame, found


def test_it_tells_rows_types_models_and_search(fitted):
    net, frame, found = fitted
    report = of_network(net, frame, "Patients")
    assert report.title == "Patients"
    assert [v.node.name for v in report.variables] == net.names
    assert (report.rows.read, report.rows.used) == (600, 586)
    assert dict(report.rows.dropped) == {"no value in glucose": 7, "no value in crp": 7}
    assert report.search.score == found.score
    assert report.search.stopped == found.stopped
    assert any(label == "Column left out" and says.startswith("id ") for label, says in report.notes)
    by_name = {v.node.name: v for v in report.variables}
    assert by_name["stage"].node.levels == ("I", "II", "III", "IV")
    assert by_name["stage"].reason == "as declared"
    assert by_name["readmitted"].text == net["readmitted"].text()
    assert len(list(by_name["readmitted"].tree.leaves())) == net["readmitted"].n_leaves
    for arc in report.arcs:
        assert arc.contribution == net.arc_score(arc.parent, arc.child)


def test_its_histograms_count_the_data_in_their_own_units(fitted):
    net, frame, _ = fitted
    by_name = {v.node.name: v.values for v in of_network(net, frame).variables}
    counts = dict(frame["stage"].value_counts().iter_rows())
    assert by_name["stage"] == Bars(
        ("I", "II", "III", "IV"), tuple(counts[level] for level in ("I", "II", "III", "IV"))
    )
    assert by_name["age"] == Histogram.of(frame["age"])
    assert sum(by_name["glucose"].counts) == 593
    assert sum(by_name["days"].counts) == 600
    assert len(by_name["days"].levels) == 4


def test_values_that_are_missing_are_in_no_bar(fitted):
    net, frame, _ = fitted
    gaps = frame.with_columns(stage=pl.when(pl.int_range(600) % 3 > 0).then("stage"))
    counts = dict(gaps["stage"].drop_nulls().value_counts().iter_rows())
    by_name = {v.node.name: v.values for v in of_network(net, gaps).variables}
    levels = ("I", "II", "III", "IV")
    assert by_name["stage"] == Bars(levels, tuple(counts[level] for level in levels))


def test_without_data_there_are_no_histograms_and_with_few_columns_some(fitted):
    net, frame, _ = fitted
    assert all(v.values is None for v in of_network(net).variables)
    some = {v.node.name: v.values for v in of_network(net, frame.select("age", "sex")).variables}
    assert [name for name, values in some.items() if values] == ["age", "sex"]


def test_models_without_regions_are_told_as_text(fitted, tmp_path):
    net, frame, found = fitted
    splines = an.fit(an.Table(frame, net.schema), found, an.MARS())
    told = {}
    for name, of in (("trees", net), ("splines", splines)):
        of.report(tmp_path / f"{name}.html", frame)
        source = (tmp_path / f"{name}.html").read_text(encoding="utf-8")
        told[name] = json.loads(re.search(r'id="data">(.*?)</script>', source, re.DOTALL)[1])["variables"]
        assert {v["name"]: v["text"] for v in told[name]} == {name: of[name].text() for name in net.names}
    assert all(v["tree"] for v in told["trees"])
    assert splines["readmitted"].description is None and not any(v["tree"] for v in told["splines"])


def test_a_saved_network_gives_the_same_report(fitted, tmp_path):
    net, frame, _ = fitted
    net.save(tmp_path / "net.json")
    for source, name in ((net, "a.html"), (an.load(tmp_path / "net.json"), "b.html")):
        source.report(tmp_path / name, frame)
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


@pytest.mark.skipif(CHROMIUM is None, reason="no browser (Debian: apt install chromium)")
def test_it_opens_in_a_browser_without_a_word_on_the_console(fitted, tmp_path):
    net, frame, _ = fitted
    net.report(tmp_path / "net.html", frame)
    with browser() as page:
        page.open(tmp_path / "net.html")
        page.click('.an-node[data-name="readmitted"]')
        assert page.run("document.querySelector('article:not([hidden]) h2').textContent") == "readmitted"
        assert page.console == []
