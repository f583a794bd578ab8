"""Dates and times are told as dates and times, wherever a model speaks."""

from __future__ import annotations

import datetime as dt
import pickle
import re
from itertools import pairwise

import networkx as nx
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import arbornet as an
from arbornet.data.calendar import threshold, told
from arbornet.show.draw.axis import Axis, measured, number

DAYS = pl.date_range(dt.date(2020, 1, 1), dt.date(2020, 12, 31), eager=True)
FRAME = pl.DataFrame(
    {
        "day": DAYS,
        "warm": (DAYS.dt.month() - 6.5).abs() < 3,
        "at": DAYS.cast(pl.Datetime("us")) + pl.Series([dt.timedelta(hours=i % 24) for i in range(366)]),
        "took": [dt.timedelta(hours=i % 50 + 40 * (3 < i % 12 < 9)) for i in range(366)],
    }
)


@pytest.fixture(scope="module")
def net() -> an.BayesNet:
    return an.fit(an.Table(FRAME), nx.DiGraph([("day", "warm"), ("day", "at"), ("warm", "took")]), an.PCART())


def test_thresholds_are_dates_that_part_the_rows_as_the_model_does(net):
    for leaf in net["warm"].leaves:
        (condition,) = leaf.conditions
        low = "0000" if "<" in condition.text else condition.text.split("[")[-1].split(">= ")[-1][:10]
        high = "9999" if ">=" in condition.text else condition.text[-11:].strip(" )")
        assert (
            FRAME.filter(pl.col("day").cast(pl.String).is_between(pl.lit(low), pl.lit(high), "left")).height == leaf.n
        )
    assert "day < 2020-" in net["warm"].text() and "184" not in net["warm"].text()
    assert any(" in [2020-0" in rule for rule in net["warm"].rules())
    assert "mean 2020-07-01  sd 106 days" in net.explain("day")
    assert "00:00" not in net["at"].text()
    assert "mean 1." in net["took"].text() and " days  sd 1" in net["took"].text()


def test_trees_and_histograms_of_dates_have_dates_on_them(net, tmp_path):
    assert net["warm"].description["root"]["branches"][0]["label"].startswith("< 2020-")
    for name in ("warm", "at", "took", "day"):
        net[name].draw(tmp_path / f"{name}.svg")
    assert "2020-0" in (tmp_path / "warm.svg").read_text(encoding="utf-8")
    assert "Jul 2020" in (tmp_path / "at.svg").read_text(encoding="utf-8")
    net.report(tmp_path / "r.html", data=FRAME)
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "values from 2020-01-01 to " in page and "Jul 2020" in page
    assert net.graph.nodes["day"]["values"] == "date" and "values" not in net.graph.nodes["warm"]


def test_a_model_with_dates_is_the_same_after_pickling(net):
    again = pickle.loads(pickle.dumps(net["warm"]))
    assert again == net["warm"] and again.text() == net["warm"].text()
    table = an.Table(FRAME)
    assert an.local_model(table, "warm", ["day"], an.PCART()).text() == net["warm"].text()


@pytest.mark.parametrize("other", ["birth day", "day of birth", "a and day", "if day", "day < 9"])
def test_only_the_variable_meant_is_turned_into_dates(other):
    """Names that hold the date's name, and blanks, are names of plain numbers all the same."""
    days = [dt.date(2020, 1, 1) + dt.timedelta(days=i // 4) for i in range(400)]
    number = [float(i % 4 * 10 + i % 3) for i in range(400)]
    dear = ["yes" if (i // 4 > 50) == (x > 19) else "no" for i, x in enumerate(number)]
    frame = pl.DataFrame({"day": days, other: number, "dear": dear})
    model = an.fit(an.Table(frame), nx.DiGraph([("day", "dear"), (other, "dear")]), an.PCART())["dear"]
    told = model.text().splitlines()
    of_other = [line for line in told if f"─ {other} " in line]
    of_day = [line for line in told if "─ day " in line and line not in of_other]
    assert {line.split(f"─ {other} ")[1].split(":")[0] for line in of_other} == {"< 16", ">= 16"}
    assert len(of_day) >= 2 and all(re.search(r"─ day (<|>=) 2020-0\d-\d\d(:|$)", line) for line in of_day)
    for rule in model.rules():
        assert f"{other} < 16" in rule or f"{other} >= 16" in rule
        assert re.search(r"\bday (<|>=) 2020-0\d-\d\d( and| then)", rule)


def test_a_level_that_reads_like_a_condition_keeps_its_words():
    level = "a and day < 18300"
    days = [dt.date(2020, 1, 1) + dt.timedelta(days=i // 4) for i in range(400)]
    kind = [level if i % 2 else "b" for i in range(400)]
    dear = ["yes" if (i // 4 > 50) == bool(i % 2) else "no" for i in range(400)]
    frame = pl.DataFrame({"day": days, "kind": kind, "dear": dear})
    model = an.fit(an.Table(frame), nx.DiGraph([("day", "dear"), ("kind", "dear")]), an.PCART())["dear"]
    assert f"─ kind = {level}" in model.text()
    assert any(f"kind = {level} " in rule for rule in model.rules())
    assert "day < 2020-" in model.text()


def test_numbers_become_dates():
    assert told(0.0, "date") == "1970-01-01" and threshold(18353.25, "date") == "2020-04-02"
    assert told(18353.5, "datetime") == "2020-04-01 12:00" and told(3661.0, "time") == "01:01:01"
    assert told(7200.0, "duration") == "2 h" and told(259200.0, "duration") == "3 days"
    assert told(1e12, "date") == "1e+12"


@given(st.floats(-600_000, 2_000_000), st.floats(2.0, 900_000))
def test_a_calendar_has_a_few_ticks_within_its_ends(low, span):
    axis = Axis(low, low + span, "date")
    ticks = [at for at, _ in axis.ticks()]
    assert ticks == sorted(set(ticks)) and all(low <= at <= low + span for at in ticks)
    assert len(ticks) <= 6
    assert len({label for _, label in axis.ticks()}) == len(ticks)


@given(st.floats(-1e6, 1e6), st.floats(1e-2, 1e9))
def test_an_axis_of_numbers_has_even_ticks(low, span):
    ticks = [at for at, _ in Axis(low, low + span).ticks()]
    gaps = [b - a for a, b in pairwise(ticks)]
    assert len(ticks) <= 5 and all(abs(gap - gaps[0]) < 1e-6 * span for gap in gaps)


def test_numbers_are_as_precise_as_their_spread():
    assert measured(9.045, 1.6) == "9.0 ± 1.6"
    assert measured(17922.4, 866.0) == "17,920 ± 870"
    assert measured(0.012345, 0.00035) == "0.01235 ± 0.00035"
    assert measured(5.0, 0.0) == "5 ± 0"
    assert (number(16000.0), number(0.5), number(-3.0), number(0.0), number(3e9)) == (
        "16,000",
        "0.5",
        "-3",
        "0",
        "3e+09",
    )


START = dt.datetime(2021, 3, 27, 20, 30)


@pytest.mark.parametrize(
    ("zone", "name"),
    [
        ("Europe/Berlin", "Europe/Berlin"),
        ("UTC", "UTC"),
        (dt.UTC, "UTC"),
        (dt.timezone(dt.timedelta(hours=-5, minutes=-30)), "-05:30"),
        ("dateutil/Asia/Tokyo", "Asia/Tokyo"),
        (None, None),
    ],
)
def test_time_zones_are_kept_however_moments_come(zone, name):
    moments = pd.date_range(START, periods=24, freq="h", tz=zone)
    columns = [moments, pd.Series(moments), moments.array, pd.Series(moments).astype("category"), list(moments)]
    columns += [pd.Series(moments.as_unit(unit)) for unit in ("s", "ms", "us", "ns")]
    instants = moments.tz_convert("UTC").tz_localize(None) if zone else moments
    for column in columns:
        frame = {"t": column, "y": [0.5, 1.5] * 12}
        table = an.Table(frame)
        known = table.schema["t"].zone
        # Lists become Polars's, which knows offsets as UTC.
        assert known == name or (isinstance(column, list) and known == "UTC")
        given_back = table.to_polars()["t"]
        assert (given_back.dtype.time_zone is None) == (zone is None)
        plain = given_back.dt.convert_time_zone("UTC").dt.replace_time_zone(None) if zone else given_back
        assert plain.to_list() == instants.to_pydatetime().tolist()
        assert table.schema.encode(frame).column(0).tolist() == table.handle.reals(0).tolist()


def test_moments_of_a_zone_are_told_in_utc_and_say_so(tmp_path):
    moments = pd.date_range(START, periods=48, freq="h", tz="Europe/Berlin")
    frame = pd.DataFrame({"t": moments, "y": [0.5 + i / 100 + 9 * (i >= 24) for i in range(48)]})
    schema = an.infer_schema(frame)
    assert "2021-03-27 19:30:00 UTC" in str(schema)
    with pytest.warns(an.LeftOutWarning, match=r"'t' is constant \(2021-03-27 19:30 UTC\)"):
        an.infer_schema(frame.assign(t=moments[0]))
    table = an.Table(frame, schema=schema)
    net = an.fit(table, nx.DiGraph([("t", "y")]), an.PCART())
    assert "t < 2021-03-28 19:00 UTC" in net["y"].text()
    assert all("UTC" in rule for rule in net["y"].rules())
    assert "2021-03-28 19:00 UTC" in net["y"].draw().svg
    spline = an.fit(table, nx.DiGraph([("t", "y")]), an.MARS())["y"]
    assert "UTC" in spline.text() and spline.draw() is not None
    net.report(tmp_path / "net.html", frame)
    assert "UTC" in (tmp_path / "net.html").read_text(encoding="utf-8")
    naive = an.fit(an.Table(frame.assign(t=moments.tz_convert(None))), nx.DiGraph([("t", "y")]), an.PCART())
    assert "t < 2021-03-28 19:00" in naive["y"].text()
    assert "UTC" not in naive["y"].text()
