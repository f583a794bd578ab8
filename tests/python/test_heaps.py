"""Draws hold the numbers that many rows share, as often as the rows do."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import arbornet as an
from arbornet.data.heaps import as_heaped, heaps_of


def reported_hours(n: int = 3000, seed: int = 0) -> pl.DataFrame:
    """Hours that people round to tens, fives or not, and a score that follows the true hours."""
    rng = np.random.default_rng(seed)
    true = rng.normal(50, 12, n).clip(5, 95)
    to = rng.choice([1, 5, 10], n, p=[0.2, 0.3, 0.5])
    return pl.DataFrame({"hours": np.round(true / to) * to, "score": np.round(true + rng.normal(0, 6, n), 6)})


def share_of_tens(values: pl.Series) -> float:
    return float((values % 10 == 0).mean() or 0.0)


def test_draws_are_heaped_as_the_rows_are() -> None:
    frame = reported_hours()
    net = an.learn(frame, verbose=False)
    drawn = net.sample(3000, seed=1)
    assert share_of_tens(frame["hours"]) > 0.6
    assert share_of_tens(drawn["hours"]) == pytest.approx(share_of_tens(frame["hours"]), abs=0.05)
    plain = net.schema["hours"]
    assert plain.heap_places is not None
    assert net.schema["score"].heap_places is None, "it has no heaps"
    # What goes with it still does.
    real, ours = (float(np.corrcoef(x["hours"], x["score"])[0, 1]) for x in (frame, drawn))
    assert ours == pytest.approx(real, abs=0.05)


def test_imputed_numbers_are_heaped_too() -> None:
    frame = reported_hours()
    net = an.learn(frame, verbose=False)
    blank = frame.with_columns(hours=pl.lit(None, pl.Float64))
    assert share_of_tens(net.impute(blank, seed=3)["hours"]) == pytest.approx(share_of_tens(frame["hours"]), abs=0.1)


def test_all_digits_have_no_heaps() -> None:
    frame = reported_hours()
    schema = an.infer_schema(frame).with_types(hours=an.Continuous(step=None))
    table = an.Table(frame, schema=schema)
    assert table.schema["hours"].heap_places is None


def test_draws_given_an_interval_stay_in_it() -> None:
    net = an.learn(reported_hours(), verbose=False)
    drawn = net.sample(2000, seed=1, given={"hours": (52, 58)})["hours"]
    assert drawn.min() >= 52
    assert drawn.max() <= 58
    assert (drawn == 55).mean() > 0.3


@pytest.mark.parametrize("step", [1.0, None])
def test_the_way_keeps_the_order_and_moves_no_number_far(step: float | None) -> None:
    values = reported_hours()["hours"].to_numpy()
    column = an.Table(reported_hours()).schema["hours"]
    drawn = np.sort(np.random.default_rng(1).normal(50, 20, 5000))
    led = as_heaped(column, drawn)
    assert np.all(np.diff(led) >= 0)
    assert np.abs(led - drawn).max() < 10
    outside = (drawn < values.min() - 1) | (drawn > values.max() + 1)
    assert outside.any()
    assert np.array_equal(led[outside], drawn[outside])
    assert heaps_of(values, step, None) is not None


@pytest.mark.parametrize(
    "values",
    [
        np.random.default_rng(0).normal(size=5000),
        np.round(np.random.default_rng(0).normal(0, 100, 5000)),
        np.round(np.random.default_rng(0).exponential(30, 5000)),
        np.random.default_rng(0).poisson(4, 5000).astype(float),
        np.full(5000, 3.0),
        np.array([1.0, 2.0]),
        np.full(5000, np.nan),
        np.array([]),
    ],
)
def test_smooth_columns_have_no_heaps(values: np.ndarray) -> None:
    assert heaps_of(values, 1.0, None) is None


@pytest.mark.parametrize("values", [[1e308, 1.7e308, 1.1e308], [-1.7e308, 0.0, 1.7e308]])
def test_numbers_too_large_are_refused_without_a_warning_of_numpy(values: list[float]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(an.ColumnError, match=r"'x' holds .*1e290"):
            an.Table({"x": values * 200, "y": [float(i) for i in range(600)]})


def test_numbers_of_two_rows_are_not_led_to() -> None:
    """What one or two rows hold is nobody's to see, if there are enough others."""
    rng = np.random.default_rng(0)
    values = np.concatenate((np.repeat(np.arange(0.0, 1000.0, 100.0), 60), np.round(rng.uniform(0, 1000, 400), 2)))
    found = heaps_of(values, 0.01, None)
    assert found is not None
    places, numbers = map(np.array, found)
    flat = numbers[1::2] == numbers[::2]
    held = {float(x): int((values == x).sum()) for x in numbers[::2][flat & (np.diff(places)[::2] > 0.5)]}
    assert held
    assert min(held.values()) >= 3


def test_order_of_rows_and_whole_weights_make_no_difference() -> None:
    values = reported_hours()["hours"].to_numpy()
    rng = np.random.default_rng(4)
    assert heaps_of(rng.permutation(values), 1.0, None) == heaps_of(values, 1.0, None)
    weights = rng.integers(0, 4, len(values)).astype(float)
    repeated = np.repeat(values, weights.astype(int))
    assert heaps_of(values, 1.0, None, weights) == heaps_of(repeated, 1.0, None)


def test_heaps_are_kept_in_files(tmp_path: Path) -> None:
    net = an.learn(reported_hours(), verbose=False)
    path = tmp_path / "net.json"
    net.save(path)
    assert an.load(path).sample(100, seed=2).equals(net.sample(100, seed=2))
    told = json.loads(path.read_text())
    column = next(c for c in told["schema"]["columns"] if c["name"] == "hours")
    column["heap_numbers"] = column["heap_numbers"][:-1]
    path.write_text(json.dumps(told))
    with pytest.raises(an.FormatError, match="hours"):
        an.load(path)
