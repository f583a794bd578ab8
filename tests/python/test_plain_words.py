"""What is printed says one thing in one way: counts, cuts of whole numbers, marks of thousands, names of columns."""

from __future__ import annotations

import re
from pathlib import Path

import networkx as nx
import numpy as np
import polars as pl
import pytest

import arbornet as an
from arbornet.cli import main
from arbornet.text.terminal import several

N = 400


def fitted(frame: pl.DataFrame, arcs: list[tuple[str, str]], schema: an.Schema | None = None) -> an.BayesNet:
    graph: nx.DiGraph[str] = nx.DiGraph(arcs)
    graph.add_nodes_from(frame.columns)
    return an.fit(an.Table(frame, schema), graph, an.PCART())


@pytest.fixture(scope="module")
def whole() -> tuple[pl.DataFrame, an.BayesNet]:
    rng = np.random.default_rng(3)
    q = rng.integers(0, 40, N)
    frame = pl.DataFrame({"q": q, "y": 5.0 * (q > 13) + 3.0 * (q > 29) + rng.normal(size=N)})
    return frame, fitted(frame, [("q", "y")], an.infer_schema(frame).with_types(q="continuous"))


def test_whole_numbers_are_parted_at_whole_numbers_that_part_the_same_rows(
    whole: tuple[pl.DataFrame, an.BayesNet],
) -> None:
    frame, net = whole
    text = net["y"].text()
    cuts = re.findall(r"q (?:<|>=) (\S+?):? ", text)
    assert cuts and all(cut.isdigit() for cut in cuts), text
    assert set(cuts) >= {"14", "30"}
    root = net["y"].description["root"]
    exactly = max(x for branch in root["branches"] for x in (branch.get("low"), branch.get("high")) if x is not None)
    printed = int(re.search(r"q < (\d+)", text)[1])
    assert (frame["q"] < printed).equals(frame["q"] < exactly)
    # Other texts of numbers are as they were: the child of such a tree has no words of its own.
    assert "values" not in net.graph.nodes["q"]


def test_decimal_commas_bring_no_points_between_thousands() -> None:
    rng = np.random.default_rng(3)
    age = rng.integers(20, 80, N)
    pay = (1500 + 1500 * (age > 50) + rng.integers(0, 400, N)).astype(str)
    frame = pl.DataFrame({"Alter": age + 0.5, "Lohn": [f"{x[0]}.{x[1:]},{i % 10}0 €" for i, x in enumerate(pay)]})
    net = fitted(frame, [("Alter", "Lohn")])
    assert net.schema["Lohn"].form == "1.234,5 €"
    text = net["Lohn"].text()
    assert re.search(r"Alter < 5\d\.?\d*: .*mean \d{4}(,\d)? €", text), text
    assert not re.search(r"\d\.\d{3}(,\d+)? €", text + str(net.schema).split("such as")[0])


def test_the_factor_of_next_to_no_rows_is_a_number() -> None:
    frame = pl.DataFrame({"k": ["a"] * 60 + ["b"], "x": [*np.exp(np.arange(60) / 9.0), 1e300]})
    schema = an.infer_schema(frame).with_types(x=an.Continuous(scale="log"))
    net = fitted(frame, [("k", "x")], schema)
    assert "inf" not in net["x"].text() and "factor over 1000000" in net["x"].text()


@pytest.mark.parametrize(("n", "told"), [(1, "1 arc"), (0, "0 arcs"), (2500, "2,500 arcs")])
def test_one_is_singular(n: int, told: str) -> None:
    assert several(n, "arc") == told


def test_what_learn_prints_counts_one_as_one(capsys: pytest.CaptureFixture[str]) -> None:
    frame = pl.DataFrame({"a": [i % 2 == 0 for i in range(60)], "b": [(i % 2) * 3 + i % 5 / 7 for i in range(60)]})
    net = an.learn(frame, max_parents=1)
    told = " ".join(capsys.readouterr().out.split())
    assert "parent sets of up to 1 parent," in told and ": 1 arc, score" in told
    assert repr(net) == "BayesNet(2 variables, 1 arc, fitted to 60 rows)"
    assert not re.search(r"\b1 (arcs|parents|rows|variables)\b|famil|pairs|triples|groups", told)


def test_quantiles_of_a_number_are_called_so(whole: tuple[pl.DataFrame, an.BayesNet]) -> None:
    asked = whole[1].query("y")
    assert asked.columns == ["quantile", "y"]
    assert asked["quantile"].to_list()[4] == 0.5


def test_a_report_is_a_page(whole: tuple[pl.DataFrame, an.BayesNet], tmp_path: Path) -> None:
    with pytest.raises(an.ParameterError, match=r"r\.txt: a report is a page of HTML; name it .*r\.html"):
        whole[1].report(tmp_path / "r.txt")
    assert not (tmp_path / "r.txt").exists()
    whole[1].report(tmp_path / "r.HTM")


@pytest.mark.parametrize("command", ["learn", "schema"])
def test_help_names_every_ending_that_is_read(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([command, "--help"])
    told = capsys.readouterr().out
    assert all(ending in told for ending in (".csv", ".xlsx", ".parquet", ".dta", ".sav"))
