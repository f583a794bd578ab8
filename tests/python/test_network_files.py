"""Networks as files: what is saved comes back, what is damaged is refused, nothing is executed."""

from __future__ import annotations

import dataclasses
import gzip
import json
import pickle
from collections import Counter

import networkx as nx
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import arbornet as an
from arbornet.cli import out
from arbornet.cli.show import as_dict
from arbornet.io.json import finite, to_text
from arbornet.network.net import from_text
from places import NETWORKS

ARCS = [("island", "species"), ("species", "body_mass_g"), ("body_mass_g", "bill_depth_mm"), ("sex", "body_mass_g")]

BIF = """network "garden" { property author nobody; }
variable "wet, grass" { type discrete [ 2 ] { yes, "no way" }; }
variable 雨 { type discrete[2] { yes, no }; }
probability ( 雨 ) { table 0.2, 0.8; }
probability ( "wet, grass" | 雨 ) { (yes) 0.9, 0.1; (no) 0.25 0.75; }
"""


@pytest.fixture(scope="module")
def net() -> an.BayesNet:
    return an.fit(an.Table(an.example("penguins")), nx.DiGraph(ARCS), an.PCART())


@pytest.fixture
def garden(tmp_path) -> an.BayesNet:
    (tmp_path / "garden.bif").write_text(BIF, encoding="utf-8")
    return an.read_bif(tmp_path / "garden.bif")


def test_saved_loaded_and_pickled_networks_give_the_same_bytes(net, tmp_path):
    net.save(tmp_path / "net.json")
    loaded = an.load(tmp_path / "net.json")
    frame = an.example("penguins")
    for other in (loaded, pickle.loads(pickle.dumps(net))):
        assert other == net
        assert other.log_likelihood(frame).tobytes() == net.log_likelihood(frame).tobytes()
        assert other.predict_proba(frame, "species").equals(net.predict_proba(frame, "species"))
        assert other.predict(frame, "body_mass_g").equals(net.predict(frame, "body_mass_g"))
        assert other.sample(100, seed=5).equals(net.sample(100, seed=5))
        assert dict(other.graph.edges) == dict(net.graph.edges)
    loaded.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "net.json").read_bytes()


def edited(net: an.BayesNet, *path: object, to: object = None, drop: bool = False) -> str:
    told = json.loads(to_text(net))
    at = told
    for key in path[:-1]:
        at = at[key]
    if drop:
        del at[path[-1]]
    else:
        at[path[-1]] = to
    return json.dumps(told)


def test_a_newer_file_says_so(net):
    with pytest.raises(an.FormatError, match=r"version 2 .* update it"):
        from_text(edited(net, "version", to=2), "net.json")


def test_damaged_files_are_refused_with_their_name(net):
    damaged = [
        "",
        "[]",
        "{}",
        "[" * 100_000,
        to_text(net)[:-20],
        to_text(net).replace('"arbornet network"', '"a network"'),
        edited(net, "version", to="1"),
        edited(net, "network", drop=True),
        edited(net, "schema", drop=True),
        edited(net, "schema", to=[]),
        edited(net, "network", "models", to=[]),
        edited(net, "network", "models", 0, to={"model": "other"}),
        edited(net, "network", "variables", 0, "name", to="else"),
        edited(net, "schema", "columns", 0, "name", to="else"),
        edited(net, "origin", to=3),
        edited(net, "origin", "contributions", to=[[1.0]]),
        edited(net, "origin", "family_scores", to=["x"]),
    ]
    for text in damaged:
        with pytest.raises(an.FormatError, match=r"^net\.json"):
            from_text(text, "net.json")


def paths(value: object, path: tuple = ()) -> list[tuple]:
    if isinstance(value, dict):
        return [path, *(p for key, of in value.items() for p in paths(of, (*path, key)))]
    if isinstance(value, list):
        return [path, *(p for key, of in enumerate(value) for p in paths(of, (*path, key)))]
    return [path]


def test_a_changed_value_is_refused_or_still_predicts(net):
    """Whatever stands in a file: either it is refused, or the network answers, or says which column it cannot read."""
    every = [path for path in paths(json.loads(to_text(net))) if path]
    frame = pl.DataFrame({"species": ["Adelie", None], "body_mass_g": [4000.0, None], "sex": [None, None]})
    odd = st.one_of(
        st.none(), st.booleans(), st.integers(-5, 2**65), st.floats(), st.text(max_size=3), st.just([]), st.just({})
    )
    ended = Counter[str]()

    @settings(max_examples=300, deadline=None)
    @given(path=st.sampled_from(every), value=odd)
    def change(path, value):
        try:
            other = from_text(edited(net, *path, to=value), "net.json")
        except an.FormatError as error:
            assert str(error).startswith("net.json")
            ended["refused"] += 1
            return
        try:
            densities = other.log_likelihood(frame)
            shares = other.predict_proba(frame, "island")
        except an.ArbornetError as error:
            assert str(error)
            ended["another table's"] += 1
            return
        ended["a network"] += 1
        assert not np.isnan(densities).any()
        assert shares.to_numpy().sum(axis=1) == pytest.approx(1.0)
        assert other.sample(5).columns == other.names and other.explain("species")

    change()
    assert min(ended["refused"], ended["a network"]) >= 20, ended


def test_a_changed_bif_is_refused_or_is_a_network(tmp_path):
    path = tmp_path / "x.bif"
    ended = Counter[str]()

    @settings(max_examples=300, deadline=None)
    @given(
        at=st.integers(0, len(BIF) - 1),
        length=st.just(0) | st.integers(0, 12),
        text=st.sampled_from(" \n0a") | st.text(max_size=8),
    )
    def change(at, length, text):
        path.write_text(BIF[:at] + text + BIF[at + length :], encoding="utf-8", errors="surrogatepass")
        try:
            net = an.read_bif(path)
        except an.FormatError as error:
            assert "x.bif" in str(error)
            ended["refused"] += 1
            return
        ended["a network"] += 1
        drawn = net.sample(3)
        assert drawn.columns == net.names and np.isfinite(net.log_likelihood(drawn)).all()
        again = path.with_name("again.bif")
        net.to_bif(again)
        assert an.read_bif(again) == net

    change()
    assert min(ended["refused"], ended["a network"]) >= 10, ended


def test_bif_names_with_commas_spaces_and_unicode_survive(garden, tmp_path):
    assert garden.names == ["wet, grass", "雨"]
    text = garden.to_bif(tmp_path / "again.bif")
    assert (tmp_path / "again.bif").read_text(encoding="utf-8") == text
    again = an.read_bif(tmp_path / "again.bif")
    assert again == garden
    (tmp_path / "again.bif.gz").write_bytes(gzip.compress(text.encode()))
    assert an.read_bif(tmp_path / "again.bif.gz") == garden
    wet = garden.query({"雨": "yes"}, given={"wet, grass": "yes"})
    assert abs(wet - 0.2 * 0.9 / (0.2 * 0.9 + 0.8 * 0.25)) < 1e-12


def test_a_bif_mistake_names_file_and_line(tmp_path):
    (tmp_path / "x.bif").write_text(BIF.replace("table 0.2", "table 0.5"), encoding="utf-8")
    with pytest.raises(an.FormatError, match=r"x\.bif, line 4: probabilities of '雨' sum to 1\.3"):
        an.read_bif(tmp_path / "x.bif")
    (tmp_path / "x.bif").write_bytes(b"\xff\xfa")
    with pytest.raises(an.FormatError, match="not a readable text"):
        an.read_bif(tmp_path / "x.bif")


def test_numbers_need_bins_to_become_bif(net, tmp_path):
    with pytest.raises(an.ColumnError, match="bins=5"):
        net.to_bif()
    net.to_bif(tmp_path / "net.bif", bins=4)
    binned = an.read_bif(tmp_path / "net.bif")
    assert set(binned.graph.edges) == set(net.graph.edges)
    mass = binned.query("body_mass_g")
    np.testing.assert_allclose(mass["probability"], 0.25, atol=1e-6)
    for island in ("Biscoe", "Dream", "Torgersen"):
        given = {"island": island}
        np.testing.assert_allclose(
            binned.query("species", given=given)["probability"], net.query("species", given=given)["probability"]
        )


@pytest.mark.parametrize("name", sorted(p.name for p in NETWORKS.glob("*.bif.gz")))
def test_every_published_network_loads_and_round_trips(name, tmp_path):
    net = an.read_bif(NETWORKS / name)
    net.to_bif(tmp_path / "x.bif")
    assert an.read_bif(tmp_path / "x.bif").handle == net.handle
    assert np.isfinite(net.log_likelihood(net.sample(5))).all()


def test_graphs_for_other_programs(net, tmp_path):
    dot = net.to_dot(tmp_path / "net.dot")
    assert '"species" -> "body_mass_g" [label="contribution=' in dot
    net.to_graphml(tmp_path / "net.graphml")
    back = nx.read_graphml(tmp_path / "net.graphml")
    assert set(back.edges) == set(net.graph.edges)
    assert back.nodes["species"]["kind"] == "categorical"
    assert net.to_networkx() is not net.graph and set(net.to_networkx().edges) == set(net.graph.edges)


def told_origin(net: an.BayesNet, **entries: object) -> an.BayesNet:
    """The network with another origin."""
    return an.BayesNet(net.handle, net.schema, dataclasses.replace(net.origin, **entries))


@pytest.mark.parametrize("odd", [float("nan"), float("inf"), float("-inf")])
def test_figures_that_are_no_numbers_come_back(net, tmp_path, odd):
    n = len(net.names)
    strange = told_origin(
        net,
        family_scores=(odd,) * n,
        contributions=tuple((odd,) * len(net.parents(name)) for name in net.names),
        search={"method": "mine", "score": odd, "bound": odd, "stopped": "time", "seconds": odd, "more": [1]},
    )
    strange.save(tmp_path / "net.json")
    json.loads((tmp_path / "net.json").read_text(encoding="utf-8"), parse_constant=pytest.fail)
    for again in (an.load(tmp_path / "net.json"), pickle.loads(pickle.dumps(strange))):
        assert again == strange
    assert strange != net


def test_a_strength_that_is_not_known_comes_back(net, tmp_path):
    strange = told_origin(net, strengths={"island": {"species": float("nan")}, "species": {"body_mass_g": 0.5}})
    strange.save(tmp_path / "net.json")
    again = an.load(tmp_path / "net.json")
    assert again == strange and "nan" not in str(again.draw()) + again.explain("island") + again.explain("species")
    again.report(tmp_path / "net.html")


def test_a_damaged_origin_is_refused_with_its_entry(net):
    strong = told_origin(net, strengths={"island": {"species": 0.5}})
    for path, value in [
        (("score",), 3),
        (("n_rows",), -1),
        (("n_rows",), True),
        (("n_rows",), 2**70),
        (("family_scores",), [1.0]),
        (("family_scores", 0), "1.0"),
        (("family_scores", 0), True),
        (("family_scores", 0), 10**400),
        (("contributions",), {}),
        (("contributions", 0), [[]]),
        (("search",), []),
        (("search", "stopped"), {}),
        (("search", "method"), 1),
        (("search", "score"), "high"),
        (("search", "bound"), []),
        (("search", "seconds"), True),
        (("strengths",), []),
        (("directed",), {}),
        (("directed",), [["island"]]),
        (("directed",), [["body_mass_g", "nowhere"]]),
        (("strengths", "island"), 1),
        (("strengths", "island", "species"), 2.0),
        (("strengths", "island", "species"), "x"),
        (("strengths", "nowhere"), {"species": 0.5}),
    ]:
        entry = path[0]
        with pytest.raises(an.FormatError, match=rf"^net\.json: .*origin\.{entry}"):
            from_text(edited(strong, "origin", *path, to=value), "net.json")


ODD = [
    None,
    True,
    -1,
    2**65,
    1e308,
    float("nan"),
    float("inf"),
    "",
    "\x1b[31m",
    [],
    {},
    [[1.0]],
    '{"score":"x","a":{"common":3}}',
]


def test_whatever_loads_is_told_drawn_and_reported(net, tmp_path):
    """A changed value in the record of where a network comes from, or in its schema, is refused or harmless."""
    strong = told_origin(
        net, strengths={"island": {"species": 0.5}}, search={"score": 1.0, "bound": 2.0, "stopped": "time"}
    )
    told = json.loads(to_text(strong))
    loaded = 0
    for part in ("origin", "schema"):
        every = [path for path in paths(told[part]) if path]
        for i, path in enumerate(every[:: max(1, len(every) // 60)]):
            for value in ODD[i % 3 :: 3]:
                try:
                    other = from_text(edited(strong, part, *path, to=value), "net.json")
                except an.FormatError:
                    continue
                loaded += 1
                other.report(tmp_path / "net.html")
                assert str(other.draw()) and other.to_dot() and repr(other) and str(other.schema)
                out.as_json(finite(as_dict(other)))
                other.save(tmp_path / "net.json")
                assert an.load(tmp_path / "net.json") == other
    assert loaded > 20


@pytest.mark.parametrize("where", ["name", "level"])
def test_graphml_with_what_xml_cannot_hold_is_refused(where, tmp_path):
    name, level = ("a\x07", "x") if where == "name" else ("a", "x\x1b")
    table = an.Table({name: [level, "y"] * 5, "b": ["u", "v"] * 5})
    net = an.learn(table, an.BIC(), verbose=False)
    (tmp_path / "net.graphml").write_text("precious")
    with pytest.raises(an.ArbornetError, match="a character that XML cannot"):
        net.to_graphml(tmp_path / "net.graphml")
    assert (tmp_path / "net.graphml").read_text() == "precious"
