"""What is drawn into gaps is learned from: it has to be a value that the column could hold."""

from __future__ import annotations

import datetime
from typing import Any

import networkx as nx
import numpy as np
import polars as pl
import pytest

import arbornet as an
from arbornet.data.incomplete import Incomplete, rows_of
from arbornet.data.support import drawn_range, drawn_steps
from arbornet.gaps.draws import Completion

N = 400
MONDAY = datetime.datetime(2024, 3, 4)


def columns() -> dict[str, Any]:
    """Numbers that follow one another, each with its own step."""
    rng = np.random.default_rng(3)
    size = rng.normal(size=N)
    rating = np.clip(np.round(4 + 1.5 * size + rng.normal(size=N)), 1, 7).astype(int)
    rain = np.where(rating < 4, 0.0, np.round(np.abs(rng.normal(3, 1, N)), 1))
    hours = np.round(100 + 20 * size + rng.normal(size=N)).astype(int)
    return {
        "rating": rating,
        "visits": rng.poisson(np.exp(0.4 * rating)),
        "price": np.round(np.exp(1 + 0.5 * size + 0.3 * rng.normal(size=N)), 2),
        "rain": rain,
        "day": [(MONDAY + datetime.timedelta(days=int(each))).date() for each in hours],
        "moment": [MONDAY + datetime.timedelta(hours=int(each)) for each in hours],
        "weight": size + 0.1 * rng.normal(size=N),
        "often": np.where(rain > 2, "yes", "no"),
    }


FRAME = pl.DataFrame(columns())
KINDS = {
    "visits": an.Continuous(leaf="counts"),
    "price": an.Continuous(scale="log"),
    "rain": an.Continuous(point=0.0),
    "rating": "continuous",
}
TABLE = an.Table(FRAME, an.infer_schema(FRAME).with_types(KINDS))


def with_gaps(seed: int = 0) -> tuple[Incomplete, dict[str, np.ndarray[Any, Any]]]:
    """The rows with a quarter of the cells blank, and where they are."""
    rng = np.random.default_rng(seed)
    gone = {name: rng.random(N) < 0.25 for name in FRAME.columns}
    blank = [pl.when(pl.Series(gone[name])).then(None).otherwise(pl.col(name)).alias(name) for name in FRAME.columns]
    frame = FRAME.with_columns(blank)
    return rows_of(frame, TABLE.schema), gone


def network(leaf: Any) -> an.BayesNet:
    return an.fit(TABLE, nx.DiGraph(ARCS), an.PCART(leaf=leaf))


#: Numbers above trees that cut them in their own places, and numbers above lines.
ARCS = [
    ("rating", "rain"), ("rating", "visits"), ("price", "rating"), ("rain", "often"), ("price", "weight"),
    ("moment", "day"), ("moment", "weight"), ("visits", "often"),
]  # fmt: skip


@pytest.mark.parametrize("leaf", ["normal", "linear"])
def test_what_is_drawn_is_stored_as_an_observed_value_of_the_column_would_be(leaf: Any) -> None:
    gaps, gone = with_gaps()
    net = network(leaf)
    completion = Completion(gaps, 1)
    drawn = completion.drawn(net.handle, 3)
    assert (completion.n_chained > 0) == (leaf == "linear"), "lines are drawn along by a chain"
    for copy in drawn:
        for name in set(FRAME.columns) - {"weight", "often"}:
            # To the bit: a value beside the one that rows hold would be a value of its own.
            v = gaps.names.index(name)
            column = gaps.schema.used[v]
            steps = drawn_steps(column)
            assert steps is not None, name
            of, per, first, last = steps
            whole = np.arange(round(first * per / of), round(last * per / of) + 1) * of / per
            shift, scale, *log = column.scale
            stored = ((np.log(whole + log[0]) if log else whole) - shift) / scale
            blank = copy[v][gone[name][completion.rows]]
            assert len(blank) > 50 and np.isin(blank, stored).all(), name
            assert len(np.unique(blank)) > 2, name


def test_draws_of_steps_are_the_same_bytes_at_any_number_of_threads() -> None:
    gaps, _ = with_gaps()
    net = network("linear")
    one, three = (Completion(gaps, n_jobs).drawn(net.handle, 2) for n_jobs in (1, 3))
    assert all((a[v] == b[v]).all() for a, b in zip(one, three, strict=True) for v in a)


def test_the_steps_of_draws_are_those_of_the_column() -> None:
    schema = TABLE.schema
    told = {name: drawn_steps(schema[name]) for name in FRAME.columns}
    assert told["rating"] == (1.0, 1.0, 1.0, 7.0)
    assert told["rain"][:3] == (1.0, 10.0, 0.0) and told["price"][:2] == (1.0, 100.0)
    assert told["moment"][:2] == (1.0, 24.0), "an hour of a day"
    assert told["day"][:2] == (1.0, 1.0) and told["weight"] is None and told["often"] is None
    low, high = drawn_range(schema["rating"])
    shift, scale = schema["rating"].scale
    assert (shift + scale * low, shift + scale * high) == pytest.approx((0.5, 7.5))
    for column, steps in zip(schema.used, map(told.get, schema.names), strict=True):
        assert steps is None or steps[2:] == pytest.approx(column.range_), column.name
