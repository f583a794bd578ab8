"""XMLBIF and NET: what is written comes back, mistakes are named, nothing hostile is read, expanded or run."""

from __future__ import annotations

import gzip
import itertools
from collections import Counter
from pathlib import Path

import networkx as nx
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import arbornet as an
from places import NETWORKS

GARDEN = """
network n {} variable "wet, grass" { type discrete [2] { yes, "no way" }; }
variable 雨 { type discrete [3] { "a \\" quote", "<b>&amp;", "(c) % | ;" }; }
variable rain { type discrete [2] { yes, no }; }
probability ( 雨 ) { table 0.2, 0.3, 0.5; } probability ( rain ) { table 0.25, 0.75; }
probability ( "wet, grass" | rain, 雨 ) {
  (yes, "a \\" quote") 0.9, 0.1; (yes, "<b>&amp;") 0.8, 0.2; (yes, "(c) % | ;") 0.7, 0.3; default 0.4, 0.6; }
"""
XML = """<?xml version="1.0" encoding="US-ASCII"?>
<!DOCTYPE BIF [ <!ELEMENT BIF (NETWORK)*> <!ATTLIST BIF VERSION CDATA #REQUIRED> ]>
<BIF VERSION="0.3"><NETWORK><NAME>x</NAME>
<VARIABLE TYPE="nature"><NAME> rain </NAME><PROPERTY>p = 1</PROPERTY>
  <OUTCOME>yes</OUTCOME><OUTCOME>no</OUTCOME></VARIABLE>
<VARIABLE TYPE="nature"><NAME>wet</NAME><OUTCOME>a</OUTCOME><OUTCOME>b</OUTCOME><OUTCOME>c</OUTCOME></VARIABLE>
<DEFINITION><FOR>wet</FOR><GIVEN>rain</GIVEN><TABLE>0.1 0.2 0.7 <!-- yes --> 0.5 0.3 0.2</TABLE></DEFINITION>
<DEFINITION><FOR>rain</FOR><TABLE>0.2 0.8</TABLE></DEFINITION>
</NETWORK></BIF>"""
NET = """net { node_size = (50 50); % a remark
}
node rain { label = "Does it rain?"; states = ("yes" "no"); HR_Group = "0"; }
discrete node wet { states = (a b c); position = (1 2); }
potential (wet | rain) { data = ((0.1 0.2 0.7) % yes
                                 (0.5 0.3 0.2)); }
potential (rain) { data = (0.2 0.8); }
"""
FORMATS = {"xmlbif": (XML, an.read_xmlbif), "net": (NET, an.read_net)}


@pytest.fixture(scope="module")
def garden(tmp_path_factory) -> an.BayesNet:
    path = tmp_path_factory.mktemp("garden") / "garden.bif"
    path.write_text(GARDEN, encoding="utf-8")
    return an.read_bif(path)


def read(tmp_path: Path, ending: str, text: str) -> an.BayesNet:
    path = tmp_path / f"x.{ending}"
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    return an.read_network(path)


def joint(net: an.BayesNet) -> dict[tuple, float]:
    levels = [net.graph.nodes[name]["levels"] for name in net.names]
    frame = pl.DataFrame(list(itertools.product(*levels)), schema=net.names, orient="row")
    return dict(zip(frame.iter_rows(), net.log_likelihood(frame), strict=True))


@pytest.mark.parametrize("ending", FORMATS)
def test_a_file_by_hand_is_read_as_it_is_meant(ending, tmp_path):
    net = read(tmp_path, ending, FORMATS[ending][0])
    assert net.names == ["rain", "wet"] and list(net.graph.edges) == [("rain", "wet")]
    shares = net["wet"].distribution({"rain": "yes"}).probabilities
    assert shares == {"a": 0.1, "b": 0.2, "c": 0.7}
    assert net["rain"].distribution({}).probabilities == {"yes": 0.2, "no": 0.8}


@pytest.mark.parametrize("ending", [*FORMATS, "bifxml", "xml"])
def test_names_and_levels_of_any_kind_come_back(garden, ending, tmp_path):
    text = garden.to_net() if ending == "net" else garden.to_xmlbif()
    again = read(tmp_path, ending, text)
    assert again.names == garden.names
    levels = [[net.graph.nodes[name]["levels"] for name in net.names] for net in (again, garden)]
    assert levels[0] == levels[1]
    assert joint(again) == joint(garden)
    (tmp_path / f"y.{ending}.gz").write_bytes(gzip.compress(text.encode()))
    assert an.read_network(tmp_path / f"y.{ending}.gz") == again


def test_writing_to_a_path_gives_the_text_too(garden, tmp_path):
    assert garden.to_xmlbif(tmp_path / "g.xmlbif") == (tmp_path / "g.xmlbif").read_text(encoding="utf-8")
    assert garden.to_net(tmp_path / "g.net") == (tmp_path / "g.net").read_text(encoding="utf-8")


def test_blanks_and_line_breaks_in_names_come_back(tmp_path):
    frame = pl.DataFrame({" a  b ": ["x ", " x", "x\ny", "\r"] * 20, "c": [0, 1, 1, 0] * 20})
    net = an.fit(an.Table(frame), nx.DiGraph([(" a  b ", "c")]), an.BIC())
    for ending, text in {"xmlbif": net.to_xmlbif(), "net": net.to_net()}.items():
        again = read(tmp_path, ending, text)
        assert again.names == net.names
        assert again.graph.nodes[" a  b "]["levels"] == [str(of) for of in net.graph.nodes[" a  b "]["levels"]]


@pytest.mark.parametrize("name", ["asia", "alarm", "child", "insurance", "hailfinder", "win95pts"])
def test_published_networks_round_trip(name, tmp_path):
    net = an.read_network(NETWORKS / f"{name}.bif.gz")
    rows = net.sample(200, seed=1)
    for ending, text in {"xmlbif": net.to_xmlbif(), "net": net.to_net()}.items():
        again = read(tmp_path, ending, text)
        np.testing.assert_allclose(again.log_likelihood(rows), net.log_likelihood(rows), rtol=1e-12)


def test_numbers_are_binned_on_request(tmp_path):
    net = an.fit(an.Table(an.example("penguins")), nx.DiGraph([("species", "body_mass_g")]), an.PCART())
    for write, what in [(net.to_xmlbif, "XMLBIF"), (net.to_net, "NET")]:
        with pytest.raises(an.ColumnError, match=f"{what} holds levels only; give bins=5"):
            write()
    bif = net.to_bif(bins=3)
    (tmp_path / "b.bif").write_text(bif, encoding="utf-8")
    of_bif = an.read_bif(tmp_path / "b.bif").query("body_mass_g", given={"species": "Gentoo"})
    for ending, text in {"xmlbif": net.to_xmlbif(bins=3), "net": net.to_net(bins=3)}.items():
        assert read(tmp_path, ending, text).query("body_mass_g", given={"species": "Gentoo"}).equals(of_bif)


@pytest.mark.parametrize(
    ("ending", "old", "new", "words"),
    [
        ("xmlbif", "0.2 0.8", "0.2 0.9", "'rain' has a row"),
        ("xmlbif", "0.2 0.8", "0.2", "makes 2 numbers; there are 1"),
        ("xmlbif", "0.2 0.8", "-0.2 1.2", "'rain' has a row"),
        ("xmlbif", "0.2 0.8", "0.2 nan", "'rain' has a row"),
        ("xmlbif", "0.2 0.8", "0.2 x", "something else than a number"),
        ("xmlbif", "<FOR>rain", "<FOR>snow", "'snow' is defined but no variable"),
        ("xmlbif", "<FOR>rain", "<FOR>wet", "'wet' is defined twice"),
        ("xmlbif", "<GIVEN>rain", "<GIVEN>snow", "'snow', which is not a variable"),
        ("xmlbif", "<GIVEN>rain", "<GIVEN>wet", "9|itself"),
        ("xmlbif", "<OUTCOME>b", "<OUTCOME>a", "line 6: .* one of them twice"),
        ("xmlbif", "<NAME>wet", "<NAME>rain", "'wet' is defined but no variable"),
        ("xmlbif", "</NETWORK>", "", "not XML: mismatched tag"),
        ("xmlbif", "BIF", "smile", "starts with <smile>"),
        ("net", "0.2 0.8", "0.2 0.9", "'rain' has a row"),
        ("net", "potential (rain)", "potential (snow)", "line 7: 'snow' is not a node"),
        ("net", "potential (rain)", "potential (wet)", "two potentials"),
        ("net", 'states = ("yes" "no")', "states = ()", "no states"),
        ("net", "0.8);", "0.8)", "does not end"),
        ("net", '"no"', '"no', "not closed|missing|expected"),
        ("net", "discrete node", "continuous node", "networks of levels"),
        ("net", "discrete node", "discrete chance", "discrete chance"),
        ("net", "potential (rain)", "utility (rain)", "utility"),
        ("net", "(wet | rain)", "(wet | rain", "not a node"),
    ],
)
def test_a_mistake_is_named(ending, old, new, words, tmp_path):
    text, _ = FORMATS[ending]
    assert old in text
    with pytest.raises(an.FormatError, match=words) as raised:
        read(tmp_path, ending, text.replace(old, new))
    assert f"x.{ending}" in str(raised.value)


def test_a_cycle_is_refused(tmp_path):
    cycle = NET.replace("potential (rain) { data = (0.2 0.8)", "potential (rain | wet) { data = (1 0 1 0 1 0)")
    with pytest.raises(an.FormatError, match="cycle"):
        read(tmp_path, "net", cycle)


@pytest.mark.parametrize(
    "declared",
    [
        '<!ENTITY a "aaaaaaaaaa"> <!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">',
        '<!ENTITY a SYSTEM "file:///etc/passwd">',
        '<!ENTITY % a SYSTEM "http://127.0.0.1:1/x.dtd"> %a;',
        '<!NOTATION n SYSTEM "n"> <!ENTITY a SYSTEM "x" NDATA n>',
    ],
)
def test_entities_are_never_declared_expanded_or_loaded(declared, tmp_path):
    hostile = XML.replace("<!ELEMENT BIF (NETWORK)*>", declared).replace("<NAME>wet", "<NAME>&a;")
    with pytest.raises(an.FormatError, match="entity"):
        read(tmp_path, "xmlbif", hostile)


def test_a_document_type_elsewhere_is_not_fetched(tmp_path):
    outside = (
        XML[: XML.index("<!DOCTYPE")] + '<!DOCTYPE BIF SYSTEM "http://127.0.0.1:1/bif.dtd">' + XML[XML.index("<BIF") :]
    )
    assert read(tmp_path, "xmlbif", outside).names == ["rain", "wet"]
    with pytest.raises(an.FormatError):
        read(tmp_path, "xmlbif", outside.replace("<NAME>wet", "<NAME>&a;"))


def test_deep_and_large_files_are_refused_before_they_cost_anything(tmp_path):
    with pytest.raises(an.FormatError, match="nested too deeply"):
        read(tmp_path, "xmlbif", "<BIF>" + "<A>" * 100_000)
    with pytest.raises(an.FormatError):
        read(tmp_path, "net", "net { a = " + "(" * 1_000_000)
    outcomes = "".join(f"<OUTCOME>{level}</OUTCOME>" for level in range(10))
    variables = "".join(f"<VARIABLE><NAME>v{i}</NAME>{outcomes}</VARIABLE>" for i in range(40))
    given_ = "".join(f"<GIVEN>v{i}</GIVEN>" for i in range(39))
    text = f"<BIF>{variables}<DEFINITION><FOR>v39</FOR>{given_}<TABLE>0.1</TABLE></DEFINITION></BIF>"
    with pytest.raises(an.FormatError, match="configurations"):
        read(tmp_path, "xmlbif", text)


def test_an_unknown_ending_is_named(tmp_path):
    with pytest.raises(an.FormatError, match=r"\.bif, \.net"):
        an.read_network(tmp_path / "x.doc")
    with pytest.raises(FileNotFoundError):
        an.read_network(tmp_path / "x.net")


def test_characters_that_xml_cannot_hold_are_refused(tmp_path):
    net = an.fit(an.Table({"a": ["x\x01", "y"] * 9}), nx.DiGraph(), an.BIC())
    with pytest.raises(an.ArbornetError, match="XML cannot"):
        net.to_xmlbif()


@pytest.mark.parametrize("ending", FORMATS)
def test_a_changed_file_is_refused_or_is_a_network(ending, tmp_path):
    ended = Counter[str]()

    @settings(max_examples=300, deadline=None)
    @given(data=st.data())
    def change(data):
        text, _ = FORMATS[ending]
        for _ in range(data.draw(st.integers(1, 3))):
            at = data.draw(st.integers(0, len(text)))
            length = data.draw(st.just(0) | st.integers(0, 12))
            text = text[:at] + data.draw(st.sampled_from(" \n0a") | st.text(max_size=8)) + text[at + length :]
        try:
            net = read(tmp_path, ending, text)
        except an.FormatError as error:
            assert f"x.{ending}" in str(error)
            ended["refused"] += 1
            return
        ended["a network"] += 1
        rows = net.sample(3)
        assert rows.columns == net.names and np.isfinite(net.log_likelihood(rows)).all()
        shares = np.exp(list(joint(net).values()))
        assert shares.sum() == pytest.approx(1.0) and (shares >= 0).all()
        (tmp_path / "again.bif").write_text(net.to_bif(), encoding="utf-8")
        again = an.read_bif(tmp_path / "again.bif")
        assert again.names == net.names
        assert list(joint(again).values()) == pytest.approx(list(joint(net).values()))

    change()
    # A change may be no mistake, and most are: both ends are met.
    assert min(ended["refused"], ended["a network"]) >= 10, ended


def test_more_parents_than_a_numpy_array_has_axes_are_read(tmp_path):
    """Seventy parents of one level each make one configuration."""
    nodes = "".join(f'node p{i} {{ states = ("only"); }} potential (p{i}) {{ data = (1.0); }}' for i in range(70))
    given = " ".join(f"p{i}" for i in reversed(range(70)))
    child = 'node rain { states = ("yes" "no"); } node c { states = ("a" "b"); } potential (rain) { data = (0.5 0.5); }'
    table = f"potential (c | {given} rain) {{ data = (0.25 0.75 0.5 0.5); }}"
    (tmp_path / "x.net").write_text("net {}" + nodes + child + table)
    net = an.read_net(tmp_path / "x.net")
    assert len(list(net.graph.predecessors("c"))) == 71
    assert net.query({"c": "a"}, given={"rain": "yes"}) == pytest.approx(0.25)


TURNED = {
    "xmlbif": """<BIF><NETWORK>
        <VARIABLE><NAME>a</NAME><OUTCOME>0</OUTCOME><OUTCOME>1</OUTCOME></VARIABLE>
        <VARIABLE><NAME>b</NAME><OUTCOME>0</OUTCOME><OUTCOME>1</OUTCOME><OUTCOME>2</OUTCOME></VARIABLE>
        <VARIABLE><NAME>c</NAME><OUTCOME>no</OUTCOME><OUTCOME>yes</OUTCOME></VARIABLE>
        <DEFINITION><FOR>a</FOR><TABLE>0.5 0.5</TABLE></DEFINITION>
        <DEFINITION><FOR>b</FOR><TABLE>0.333 0.333 0.333</TABLE></DEFINITION>
        <DEFINITION><FOR>c</FOR><GIVEN>b</GIVEN><GIVEN>a</GIVEN>
        <TABLE>0.9 0.1 0.8 0.2 0.7 0.3 0.6 0.4 0.5 0.5 0.25 0.75</TABLE></DEFINITION></NETWORK></BIF>""",
    "net": """net {} node a { states = ("0" "1"); } node b { states = ("0" "1" "2"); } node c { states = (no yes); }
        potential (a) { data = (0.5 0.5); } potential (b) { data = (0.333 0.333 0.333); }
        potential (c | b a) { data = (0.9 0.1 0.8 0.2 0.7 0.3 0.6 0.4 0.5 0.5 0.25 0.75); }""",
}


@pytest.mark.parametrize("ending", TURNED)
def test_parents_in_another_order_than_the_variables_keep_their_rows(ending, tmp_path):
    net = read(tmp_path, ending, TURNED[ending])
    yes = [[net["c"].distribution({"a": a, "b": b}).probabilities["yes"] for a in "01"] for b in "012"]
    assert yes == [[0.1, 0.2], [0.3, 0.4], [0.5, 0.75]]


@pytest.mark.parametrize("ending", TURNED)
def test_rows_off_one_by_rounding_are_brought_to_one(ending, tmp_path):
    shares = read(tmp_path, ending, TURNED[ending])["b"].distribution({}).probabilities
    assert list(shares.values()) == pytest.approx([1 / 3] * 3, abs=1e-15)


def test_a_schema_is_made_of_names_that_are_asked_for_once():
    """Once for every variable makes n^2 texts: a file of 16,000 variables took 14 seconds."""

    class Counting:
        n_rows, asked = 0, 0

        @property
        def names(self) -> list[str]:
            self.asked += 1
            return [f"v{i}" for i in range(50)]

        def levels(self, _: int) -> list[str]:
            return ["a", "b"]

        def kind(self, _: int) -> str:
            return "categorical"

    handle = Counting()
    assert an.Table.from_handle(handle).schema.names == [f"v{i}" for i in range(50)]
    assert handle.asked == 1
