"""Rows that are drawn keep to what was observed: its range, its days, its steps."""

from __future__ import annotations

import datetime as dt
import json

import networkx as nx
import numpy as np
import polars as pl
import pytest

import arbornet as an

N = 60


@pytest.fixture(scope="module")
def few() -> an.BayesNet:
    """Leaves of few rows, whose tails have no end: numbers with and without a step, skewed ones, dates."""
    rng = np.random.default_rng(5)
    group = rng.integers(0, 8, N)
    frame = pl.DataFrame(
        {
            "group": [f"g{g}" for g in group],
            "plot": group * 3 + rng.integers(1, 4, N),
            "height": 170 + 3.0 * group + rng.normal(size=N),
            "income": np.exp(8 + 0.4 * group + rng.normal(size=N)),
            "day": [dt.date(2021, 1, 1) + dt.timedelta(days=int(d)) for d in 10 * group + rng.integers(0, 5, N)],
        }
    )
    schema = an.infer_schema(frame).with_types(plot="continuous", income=an.Continuous(scale="log"))
    arcs = [("group", name) for name in frame.columns[1:]]
    return an.fit(an.Table(frame, schema), nx.DiGraph(arcs), an.PCART())


def outside(net: an.BayesNet, drawn: pl.DataFrame, name: str) -> int:
    low, high = net.schema[name].range_ or (0.0, 0.0)
    days = pl.col(name).cast(pl.Float64) if name != "day" else pl.col(name).cast(pl.Int32)
    return drawn.filter((days < low) | (days > high)).height


NUMBERS = ["plot", "height", "income", "day"]


@pytest.mark.parametrize("name", NUMBERS)
def test_draws_stay_within_the_observed_range_unless_you_lift_it(few: an.BayesNet, name: str) -> None:
    assert outside(few, few.sample(4000, seed=1), name) == 0
    assert outside(few, few.sample(4000, seed=1, beyond=True), name) > 0


def test_the_ends_of_the_range_gather_nothing(few: an.BayesNet) -> None:
    drawn, all_of_it = (few.sample(20_000, seed=2, beyond=lifted) for lifted in (False, True))
    low, high = few.schema["plot"].range_ or (0.0, 0.0)
    kept = all_of_it.filter(pl.col("plot").is_between(low, high))
    for end in (low, high):
        wanted = (kept["plot"] == end).mean()
        assert (drawn["plot"] == end).mean() == pytest.approx(wanted, abs=0.008)


@pytest.mark.parametrize("method", ["auto", "sampling"])
def test_what_is_given_stays_as_given_beyond_the_range(few: an.BayesNet, method: str) -> None:
    with pytest.warns(an.ArbornetWarning, match="outside of what was observed"):
        drawn = few.sample(50, given={"height": 300.0}, method=method)
    assert (drawn["height"] == 300.0).all()
    with pytest.warns(an.ArbornetWarning, match="outside of what was observed"):
        drawn = few.sample(50, given={"height": (250.0, None)}, method=method)
    assert (drawn["height"] >= 250.0).all()
    assert outside(few, drawn, "income") == 0


@pytest.mark.parametrize("method", ["auto", "sampling"])
def test_an_interval_that_reaches_beyond_the_range_is_cut_to_it(few: an.BayesNet, method: str) -> None:
    high = few.schema["plot"].range_[1]
    drawn = few.sample(300, given={"plot": (high - 3, None)}, method=method)
    assert drawn["plot"].min() >= high - 3
    assert drawn["plot"].max() == high


def test_draws_depend_on_no_number_of_threads(few: an.BayesNet) -> None:
    assert few.sample(5000, seed=3, n_jobs=1).equals(few.sample(5000, seed=3, n_jobs=4))


@pytest.mark.parametrize(
    ("unit", "seconds"), [("day", 86_400), ("hour", 3600), ("minute", 60), ("second", 1)], ids=lambda x: str(x)
)
def test_moments_are_drawn_in_the_units_of_the_observed(unit: str, seconds: int) -> None:
    start = dt.datetime(2021, 3, 1)
    moments = [start + dt.timedelta(seconds=seconds * (i * 37 % 101)) for i in range(120)]
    clock = [(dt.datetime(2021, 1, 1) + dt.timedelta(minutes=i * 7 % 1440)).time() for i in range(120)]
    frame = pl.DataFrame({"when": moments, "clock": clock, "lasts": [m - start for m in moments]})
    net = an.fit(an.Table(frame), nx.empty_graph(frame.columns, create_using=nx.DiGraph), an.PCART())
    assert net.schema["when"].step == seconds / 86_400
    drawn = net.sample(300, seed=1)
    assert all((m - start) % dt.timedelta(seconds=seconds) == dt.timedelta(0) for m in drawn["when"])
    assert all(d % dt.timedelta(seconds=seconds) == dt.timedelta(0) for d in drawn["lasts"])
    assert all(t.second == 0 and t.microsecond == 0 for t in drawn["clock"])
    # A file brings the step back.
    assert an.Schema.from_dict(json.loads(json.dumps(net.schema.to_dict()))) == net.schema


def test_moments_with_fractions_of_seconds_have_no_unit() -> None:
    frame = pl.DataFrame({"when": [dt.datetime(2021, 1, 1, 0, 0, i % 60, 1000 * i) for i in range(100)]})
    assert an.Table(frame).schema["when"].step is None
