"""Times that end before what they wait for are told of, by the names and the values of both columns."""

from __future__ import annotations

import warnings

import numpy as np
import polars as pl
import pytest

import arbornet as an

random = np.random.default_rng(6)
N = 120
TIME = random.integers(5, 2000, N)
ENDS = random.integers(0, 2, N)


def found(**columns: object) -> list:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        frame = pl.DataFrame({"age": random.normal(60, 9, N)} | columns)
        return [one for one in an.infer_schema(frame).findings if "censored" in one.what]


@pytest.mark.parametrize(
    ("time", "end"),
    [("time", "status"), ("futime", "death"), ("survival_time", "event"), ("OS_MONTHS", "OS_STATUS"), ("stop", "cens")],
)
@pytest.mark.parametrize("values", [["0", "1"], ["alive", "Dead"], ["censored", "event"]])
def test_a_time_beside_what_ended_it_is_told_of(time, end, values) -> None:
    for ends in (ENDS, [values[i] for i in ENDS], ENDS.astype(bool)):
        (one,) = found(**{time: TIME, end: ends})
        assert one.column == time and f"until what {end!r} tells of" in one.what
        assert one.mend.startswith(f"schema.without({time!r}, {end!r}) leaves them out; or ask")


@pytest.mark.parametrize(
    "columns",
    [
        {"time": TIME, "group": ENDS},
        {"time": TIME - 600, "status": ENDS},
        {"time": TIME, "status": [("good", "bad")[i] for i in ENDS]},
        {"time": TIME % 4, "status": ENDS},
        {"protime": TIME, "status": ENDS},
        {"time": TIME, "status": random.integers(0, 9, N)},
    ],
)
def test_other_times_and_other_states_are_left_in_peace(columns) -> None:
    assert found(**columns) == []


def test_what_concerns_the_whole_table_is_told_first() -> None:
    odd = {f"x{i}": np.where(random.random(N) < 0.05, -999, random.normal(0, 1, N).round(2)) for i in range(10)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first, *others = an.infer_schema(pl.DataFrame(odd | {"time": TIME, "status": ENDS})).findings
    assert first.column == "time" and len(others) == 10
