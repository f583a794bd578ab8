"""Numbers cut into bins: intervals in their own units as evidence and events, and the names of bins as values."""

from __future__ import annotations

import dataclasses
import datetime as dt
import json

import networkx as nx
import numpy as np
import polars as pl
import pytest

import arbornet as an
from arbornet.cli import main
from arbornet.network import bins

AGES = [20, 30, 38, 40, 40, 41, 50, 60, 70, 74, 75, 75, 80, 90]


def fitted(frame: pl.DataFrame, score: object = None, **kinds: object) -> an.BayesNet:
    """A network in which everything is a parent of the last column."""
    table = an.Table(frame, schema=an.infer_schema(frame).with_types(**kinds))
    *causes, last = table.names
    graph: nx.DiGraph[str] = nx.DiGraph([(cause, last) for cause in causes])
    return an.fit(table, graph, score or an.BDeu())


@pytest.fixture
def patients() -> pl.DataFrame:
    rng = np.random.default_rng(5)
    age = rng.choice(AGES, 400)
    ill = np.where(rng.random(400) < np.where((age >= 40) & (age < 75), 0.9, 0.1), "yes", "no")
    return pl.DataFrame({"age": age, "ill": ill})


@pytest.fixture
def net(patients: pl.DataFrame) -> an.BayesNet:
    return fitted(patients, age=an.Binned(cuts=[39.0, 74.0]))


def test_an_interval_that_fills_bins_is_these_bins(net: an.BayesNet) -> None:
    assert net.schema["age"].levels == ("<= 39", "39 to 74", "> 74")
    named = net.query({"ill": "yes"}, given={"age": "39 to 74"})
    assert named > 0.85
    for interval in ((40, 75), [40, 75], (np.int64(40), 74.5), ("40", "75")):
        assert net.query({"ill": "yes"}, given={"age": interval}) == pytest.approx(named, abs=1e-12)
        assert net.query({"age": interval}) == pytest.approx(net.query({"age": "39 to 74"}), abs=1e-12)
    above = net.query({"ill": "yes"}, given={"age": ["39 to 74", "> 74"]})
    assert net.query({"ill": "yes"}, given={"age": (40, None)}) == pytest.approx(above, abs=1e-12)
    assert net.query({"age": (None, float("inf"))}) == pytest.approx(1.0)
    assert net.query("ill", given={"age": (None, None)}).equals(net.query("ill"))


def test_a_bin_covered_in_part_counts_by_the_share_of_its_values(patients: pl.DataFrame, net: an.BayesNet) -> None:
    whole = {name: net.query({"age": name}) for name in net.schema["age"].levels or ()}
    held = patients.filter((pl.col("age") >= 50) & (pl.col("age") < 80))
    shares = [((held["age"] > 39) & (held["age"] <= 74)).sum(), (held["age"] > 74).sum()]
    of = [patients.filter((pl.col("age") > 39) & (pl.col("age") <= 74)).height, (patients["age"] > 74).sum()]
    joint = [whole[name] * n / m for name, n, m in zip(("39 to 74", "> 74"), shares, of, strict=True)]
    assert net.query({"age": (50, 80)}) == pytest.approx(sum(joint), abs=1e-12)
    ill = [net.query({"ill": "yes"}, given={"age": name}) for name in ("39 to 74", "> 74")]
    expected = sum(p * q for p, q in zip(joint, ill, strict=True)) / sum(joint)
    assert net.query({"ill": "yes"}, given={"age": (50, 80)}) == pytest.approx(expected, abs=1e-12)
    # The same by Bayes: the event given the other, and an event within what is known.
    by_bayes = net.query({"age": (50, 80)}, given={"ill": "yes"}) * net.query({"ill": "yes"})
    assert by_bayes == pytest.approx(expected * sum(joint), abs=1e-12)
    within = net.query({"age": (50, 80)}, given={"age": (40, 100)})
    assert within == pytest.approx(sum(joint) / net.query({"age": (40, 100)}), abs=1e-12)
    assert net.query({"age": (40, 100)}, given={"age": (50, 80)}) == pytest.approx(1.0)
    draws = net.sample(4000, seed=1, given={"age": (50, 80)})["age"].value_counts(normalize=True)
    drawn = dict(zip(draws["age"], draws["proportion"], strict=True))
    assert drawn["39 to 74"] == pytest.approx(joint[0] / sum(joint), abs=0.03)


def test_numbers_with_a_fraction_spread_between_the_values_that_were_seen() -> None:
    rng = np.random.default_rng(2)
    x = rng.exponential(10.0, 4000)
    frame = pl.DataFrame({"x": x, "y": np.where(x > 12.0, "far", "near")})
    net = fitted(frame, x=an.Binned(4))
    for low, high in ((1.0, 3.0), (0.0, 20.0), (25.0, 60.0), (5.5, 5.75)):
        share = float(((x >= low) & (x < high)).mean())
        assert net.query({"x": (low, high)}) == pytest.approx(share, abs=0.004)


@pytest.mark.parametrize(("class_", "whole"), [("integer", True), ("number", False)])
def test_a_schema_without_values_spreads_them_evenly(class_: str, whole: bool) -> None:
    column = an.infer_schema({"x": [0, 20] if whole else [0.0, 20.0]})["x"]
    column = dataclasses.replace(column, kind=an.Binned(cuts=[9.0]), cuts=(9.0,), class_=class_, range_=(0.0, 20.0))
    assert bins.shares(column, (0.0, 30.0)) == [1.0, 1.0]
    # 5, 6, 7, 8, 9 of ten whole numbers and 10, 11 of eleven; or four ninths and three elevenths of the lengths.
    found = bins.shares(column, (5.0, 12.0))
    assert found == pytest.approx([5 / 10, 2 / 11] if whole else [4 / 9, 3 / 11])
    assert bins.shares(column, (30.0, 40.0)) == [0.0, 0.0]
    assert bins.possible(column, (30.0, 40.0)) == [0.0, 1.0]
    unknown = dataclasses.replace(column, range_=None)
    assert bins.shares(unknown, (5.0, 12.0)) == [1.0, 1.0]


def test_an_interval_of_what_was_never_seen_is_the_bin_it_lies_in(net: an.BayesNet) -> None:
    assert net.query({"age": (100, 120)}) == 0.0
    beyond = net.query({"ill": "yes"}, given={"age": (100, 120)})
    assert beyond == pytest.approx(net.query({"ill": "yes"}, given={"age": "> 74"}))
    with pytest.raises(an.ParameterError, match=r"interval of 'age' is \(60, 50\)"):
        net.query("ill", given={"age": (60, 50)})


def test_dates_in_bins_take_dates() -> None:
    days = [dt.date(2020, 1, 1) + dt.timedelta(days=i) for i in range(100)]
    frame = pl.DataFrame({"day": days, "y": ["a", "b"] * 50})
    net = fitted(frame, day=an.Binned(4))
    assert net.query({"day": (dt.date(2020, 1, 11), dt.date(2020, 1, 31))}) == pytest.approx(0.2, abs=0.01)
    assert net.log_likelihood(net.sample(5)).shape == (5,)


def test_a_binned_network_takes_what_it_gives(patients: pl.DataFrame, net: an.BayesNet) -> None:
    drawn = net.sample(5)
    same = net.log_likelihood(drawn)
    as_text = drawn.with_columns(pl.col("age").cast(pl.String))
    for frame in (as_text, drawn.to_pandas(), drawn.to_arrow(), drawn.to_dict(as_series=False)):
        assert np.array_equal(net.log_likelihood(frame), same)
    table = an.Table(patients, schema=net.schema)
    assert np.array_equal(net.log_likelihood(table.to_polars()), net.log_likelihood(patients))
    again = an.Table(table.to_polars(), schema=net.schema)
    assert np.array_equal(again.handle.codes(0), table.handle.codes(0))
    # Names and numbers may stand side by side in a column of text.
    mixed = net.predict({"age": ["39 to 74", "50", "12.5", None]}, "ill").to_list()
    assert mixed[0] == mixed[1] != mixed[2]


def test_a_text_that_is_neither_a_bin_nor_a_number_is_refused_or_missing(net: an.BayesNet) -> None:
    with pytest.raises(an.ColumnError, match=r"'age' holds 'old' in 1 row .*not among its levels '<= 39'"):
        net.predict({"age": ["50", "old"]}, "ill")
    as_missing = net.predict_proba({"age": ["old"]}, "ill", unseen="missing")
    assert as_missing.equals(net.predict_proba({"age": pl.Series([None], dtype=pl.Int64)}, "ill"))


def test_the_shell_takes_numbers_intervals_and_names_of_bins(net: an.BayesNet, tmp_path, capsys) -> None:
    net.save(tmp_path / "net.json")

    def drawn(given: str) -> set[str]:
        assert main(["sample", str(tmp_path / "net.json"), "-n", "40", "--given", given, "--json"]) == 0
        return {row["age"] for row in json.loads(capsys.readouterr().out)}

    assert drawn("age=50") == drawn("age=40..70") == drawn("age=39 to 74") == {"39 to 74"}
    assert drawn("age=60..") == {"39 to 74", "> 74"}
    assert drawn("age=<= 39,> 74") == {"<= 39", "> 74"}
    assert main(["sample", str(tmp_path / "net.json"), "--given", "age=old"]) == 1
    assert "'age' is a number, not 'old'" in capsys.readouterr().err


def test_the_values_a_schema_keeps_are_of_the_table_and_survive_json(patients: pl.DataFrame, net: an.BayesNet) -> None:
    kept = net.schema["age"].ranked
    assert kept == tuple(sorted(map(float, patients["age"])))
    many = pl.DataFrame({"age": np.arange(5000.0)[::-1], "ill": ["yes", "no"] * 2500})
    ranked = fitted(many, age=an.Binned(3)).schema["age"].ranked or ()
    assert len(ranked) == 513 and (ranked[0], ranked[-1]) == (0.0, 4999.0) and list(ranked) == sorted(ranked)
    assert an.Schema.from_dict(json.loads(json.dumps(net.schema.to_dict()))) == net.schema
    assert net.schema.with_types(age=an.Binned(2))["age"].ranked is None
    for odd in ([2.0, 1.0], ["a"], 1.0):
        told = net.schema.to_dict()
        told["columns"][0]["ranked"] = odd
        with pytest.raises(an.FormatError, match="'age' has ranked="):
            an.Schema.from_dict(told)
