"""Numbers of every size: what floats do not tell apart, what lies at the ends of their range, spans of nanoseconds."""

from __future__ import annotations

import datetime as dt
import warnings
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import arbornet as an

Y = [0.5, 1.5, 2.5, 3.5] * 10


def quietly_inferred(frame: Any) -> an.Schema:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", an.LeftOutWarning)
        return an.infer_schema(frame)


#: Neighbours that are one float, and what else the column holds.
CLOSE: dict[str, Any] = {
    "2^53": [2**53 + i for i in range(40)],
    "2^60": [2**60 + i for i in range(40)],
    "-2^60": [-(2**60) - i for i in range(40)],
    "unsigned": pl.Series([2**64 - 1 - i for i in range(40)], dtype=pl.UInt64),
    "128 bits": [2**70 + i for i in range(40)],
    "256 bits": pa.array([2**200 + i for i in range(40)], pa.decimal256(70, 0)),
    "dictionary": pa.array([2**60 + i for i in range(40)]).dictionary_encode(),
    "pandas": pd.Series([2**60 + i for i in range(39)] + [None], dtype="Int64"),
}


@pytest.mark.parametrize("name", CLOSE)
def test_whole_numbers_that_floats_merge_are_left_out_and_refused_as_numbers(name: str) -> None:
    frame = {"x": CLOSE[name], "y": Y}
    with pytest.warns(an.LeftOutWarning, match=r"'x' holds -?\d+ and -?\d+, which are one number in 64 bits"):
        schema = an.infer_schema(frame)
    assert schema.names == ["y"] and schema["x"].word == "continuous"
    for kind in ("continuous", an.Binned(3)):
        with pytest.raises(an.ColumnError, match=r"'x' holds .* subtract their smallest value first, or "):
            an.Table(frame, schema=schema.with_types(x=kind))


def test_the_way_out_that_is_named_is_one() -> None:
    first = 2**60
    values = np.array([first + i % 10 for i in range(40)])
    table = an.Table({"x": values - values.min(), "y": Y})
    assert table.to_polars()["x"].to_list() == [i % 10 for i in range(40)]
    assert an.Table({"x": values, "y": Y}).schema["x"].levels == tuple(range(first, first + 10))


@pytest.mark.parametrize("value", [2**53, 2**60, -(2**60), 2**64 - 1, 2**70])
def test_one_large_value_is_a_constant_and_two_are_none(value: int) -> None:
    with pytest.warns(an.LeftOutWarning, match="'x' is constant"):
        assert not an.infer_schema({"x": [value] * 12})["x"].used
    schema = quietly_inferred({"x": [value, value + 1] * 6})
    assert "constant" not in f"{schema['x'].left_out}"


def test_large_numbers_that_spread_widely_stay_numbers() -> None:
    hashes = np.random.default_rng(1).integers(-(2**62), 2**62, 300)
    # Two events a nanosecond apart, among those of an hour.
    stamps = 1_700_000_000_000_000_000 + np.concatenate([[0, 1], np.arange(3, 301) * 12 * 10**9])
    for values in (hashes, stamps):
        schema = an.infer_schema({"x": values, "y": np.resize(Y, len(values))})
        assert schema["x"].used and schema["x"].word == "continuous"
        assert an.Table({"x": values}, schema=schema.without("y")).n_rows == len(values)


@pytest.mark.parametrize("unit", ["ns", "us"])
def test_moments_a_nanosecond_apart_are_left_out_and_refused(unit: str) -> None:
    start = np.datetime64("2024-05-06T07:08:09", unit)
    frame = {"t": start + np.arange(40).astype(f"timedelta64[{unit}]"), "y": Y}
    if unit == "us":
        assert an.Table(frame).n_rows == 40
        return
    with pytest.warns(an.LeftOutWarning, match=r"'t' holds \d+ and \d+ nanoseconds, which are one number in 64 bits"):
        schema = an.infer_schema(frame)
    with pytest.raises(an.ColumnError, match=r"'t' holds .*subtract their smallest value first"):
        an.Table(frame, schema=schema.with_types(t="continuous"))
    spans = an.Table({"t": frame["t"] - start, "y": Y})
    assert spans.to_polars()["t"].dt.total_nanoseconds().to_list() == list(range(40))


@pytest.mark.parametrize("place", [0, 1, 2])
def test_spans_of_nanoseconds_keep_their_unit(place: int, tmp_path) -> None:
    nanoseconds = np.arange(40) * 17 + 3
    columns = [
        pd.Series(pd.to_timedelta(nanoseconds, unit="ns")),
        pl.Series(nanoseconds).cast(pl.Duration("ns")),
        pa.array(nanoseconds, pa.duration("ns")),
    ]
    frame = {"d": columns[place], "y": Y}
    table = an.Table(frame)
    assert table.to_polars()["d"].dtype == pl.Duration("ns")
    assert table.to_polars()["d"].dt.total_nanoseconds().to_list() == nanoseconds.tolist()
    net = an.fit(table, nx.DiGraph([("d", "y")]), an.PCART())
    net.save(tmp_path / "net.json")
    for known in (net, an.load(tmp_path / "net.json")):
        median = known.predict(frame, "d")
        assert median.dtype == pl.Duration("ns") and 250 < median.dt.total_nanoseconds()[0] < 420
        drawn = known.sample(50)["d"].dt.total_nanoseconds()
        assert drawn.n_unique() > 20 and drawn.abs().max() < 10_000  # type: ignore[operator]
        ends = known.predict_interval(frame, "d")
        assert (ends["upper"].dt.total_nanoseconds() > ends["lower"].dt.total_nanoseconds()).all()
    in_us = an.Table({"d": [dt.timedelta(microseconds=i) for i in range(40)], "y": Y})
    assert in_us.to_polars()["d"].dtype == pl.Duration("us") and in_us.schema["d"].unit is None


@pytest.mark.parametrize("size", [1.7e308, 1e308, 1e291, 1e-291, 1e-307, 1e-310, 5e-324])
def test_numbers_at_the_ends_of_the_floating_range_are_refused_by_name(size: float) -> None:
    x = np.linspace(-1, 1, 40) * size if size > 1e-323 else np.resize([0.0, size], 40)
    frame = {"x": x, "y": Y}
    told = "numbers are taken up to 1e290; divide it" if size > 1 else "a spread below 1e-290; multiply it"
    with pytest.raises(an.ColumnError, match=f"column 'x' holds .*{told}"):
        an.Table(frame)
    for by in ("frequency", "width"):
        binned = an.Table(frame, schema=an.infer_schema(frame).with_types(x=an.Binned(2, by=by)))
        assert np.unique(binned.handle.codes(0)).tolist() == [0, 1]


@pytest.mark.parametrize("size", [1e289, 1e200, 1e160, 1e-160, 1e-289])
def test_numbers_of_any_other_size_are_learned_drawn_and_reported(size: float, tmp_path) -> None:
    shape = np.linspace(-0.9, 0.8, 40)
    frame = {"x": shape * size, "k": ["a", "b"] * 20, "y": Y}
    table = an.Table(frame)
    assert np.allclose(table.handle.reals(0), (shape - shape.mean()) / shape.std())
    for score in (an.PCART(), an.ConditionalGaussian(), an.MARS()):
        net = an.fit(table, nx.DiGraph([("k", "x"), ("x", "y")]), score)
        drawn = net.sample(500)["x"]
        assert drawn.is_finite().all() and (drawn.abs() < 50 * size).all() and drawn.n_unique() == 500
        net.report(tmp_path / "net.html", frame)
        assert (
            "NaN" not in (tmp_path / "net.html").read_text(encoding="utf-8").split('id="data"')[1].split("</script>")[0]
        )


def test_neighbouring_floats_are_learned_and_reported(tmp_path) -> None:
    for value in (2.0**60, 1.0, -3e7):
        frame = {"x": [value, float(np.nextafter(value, np.inf))] * 20, "y": [0.5, 9.5] * 20}
        net = an.fit(an.Table(frame), nx.DiGraph([("x", "y")]), an.PCART())
        net.report(tmp_path / "net.html", frame)
        assert net["x"].draw() is not None and net["y"].draw() is not None
