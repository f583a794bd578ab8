"""What crosses the border to the core, and how often: each column is asked about once."""

from __future__ import annotations

import contextlib
import dataclasses
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any, cast

import networkx as nx
import pandas as pd
import polars as pl
import pytest

import arbornet as an
from arbornet._core import RawFrame
from arbornet.data.coding import coding_of, resolve
from arbornet.data.frames import Raw, read_frame
from arbornet.data.schema import schema_of_raw


class Counting:
    """A frame of the core that counts what is asked of it."""

    def __init__(self, frame: RawFrame) -> None:
        self._frame = frame
        self.asked: Counter[str] = Counter()

    def __getattr__(self, name: str) -> Any:
        self.asked[name] += 1
        return getattr(self._frame, name)


def counting(raw: Raw) -> tuple[Raw, Counter[str]]:
    frame = Counting(raw.frame)
    return dataclasses.replace(raw, frame=cast(RawFrame, frame)), frame.asked


def test_a_column_is_profiled_once_and_names_are_asked_for_once() -> None:
    raw, asked = counting(read_frame(an.example("penguins")))
    schema = schema_of_raw(raw, find=True)
    for column in schema.used:
        coding_of(raw, resolve(raw, column, "drop"), "error")
    assert asked["profiles"] == 1
    assert asked["names"] == 1
    assert asked["levels"] == 0, "few levels are told by the profile"


def test_many_levels_are_asked_for_once() -> None:
    texts = [f"text {i // 2}" for i in range(1000)]
    raw, asked = counting(read_frame({"many": texts, "x": [i / 7 for i in range(1000)]}))
    for column in schema_of_raw(raw, find=True).used:
        coding_of(raw, resolve(raw, column, "drop"), "error")
    assert asked["levels"] == 1


FRAMES: dict[str, Any] = {
    "polars": pl.DataFrame(
        {
            "text": ["b", None, "a", "b"],
            "enum": pl.Series(["lo", "hi", None, "lo"], dtype=pl.Enum(["lo", "mid", "hi"])),
            "truth": [True, None, False, True],
            "whole": [3, -1, None, 3],
            "large": [2**60, 2**60 + 1, None, 2**60],
            "endless": [0.5, float("inf"), -0.0, float("nan")],
            "zeros": [0.0, -0.0, 1.0, None],
            "days": pl.Series([1, 2, None, 1], dtype=pl.Int32).cast(pl.Date),
        }
    ),
    "pandas": pd.DataFrame(
        {
            "grades": pd.Categorical([2, 1, None, 2], categories=[3, 2, 1], ordered=True),
            "whole": [1.0, float("nan"), 4.0, 1.0],
            "labels": pd.Categorical([0.5, 2.5, 0.5, None]),
        }
    ),
    "lists": {"text": ["x", "y", "x"], "whole": [2, 1, 2], "truth": [False, False, True]},
}


@pytest.mark.parametrize("kind", FRAMES)
def test_levels_that_a_profile_tells_are_those_that_the_core_counts(kind: str) -> None:
    raw = read_frame(FRAMES[kind])
    for column in range(len(raw.names)):
        raw.profile(column)
        told, counted = raw.levels(column), raw.frame.levels(column)
        assert [(type(value), repr(value)) for value in told[0]] == [(type(v), repr(v)) for v in counted[0]]
        assert list(told[1]) == list(counted[1]), raw.names[column]


@contextlib.contextmanager
def crossings() -> Iterator[Counter[str]]:
    """Counts the calls of the core's methods."""
    counted: Counter[str] = Counter()

    def see(_frame: Any, event: str, called: Any) -> None:
        of = getattr(called, "__self__", None)
        kind = of if isinstance(of, type) else type(of)
        if event == "c_call" and kind.__module__ == "arbornet._core":
            counted[f"{kind.__name__}.{called.__name__}"] += 1

    before = sys.getprofile()
    sys.setprofile(see)
    try:
        yield counted
    finally:
        sys.setprofile(before)


def of_columns(n: int, n_rows: int = 60) -> pl.DataFrame:
    columns: dict[str, list[Any]] = {}
    for i in range(n):
        columns[f"number {i}"] = [(7 * row * (i + 3) % 101) / 10 for row in range(n_rows)]
        columns[f"text {i}"] = ["uvw"[(row * (i + 1) + row // 7) % 3] for row in range(n_rows)]
    return pl.DataFrame(columns)


def test_how_often_a_table_asks_the_core_does_not_grow_with_its_columns() -> None:
    asked = []
    for n in (2, 20):
        frame = of_columns(n)
        with crossings() as counted:
            an.Table(frame)
        asked.append(dict(counted))
    assert asked[0] == asked[1]
    assert sum(asked[0].values()) == 3, asked[0]


def test_of_many_rows_each_column_of_numbers_is_looked_at_once_for_heaps() -> None:
    frame = of_columns(20, 300)
    with crossings() as counted:
        an.Table(frame)
    assert sum(counted.values()) == 3 + 2 * 20, counted


def test_rows_that_are_predicted_cross_the_border_once_each_way() -> None:
    frame = of_columns(3)
    net = an.fit(an.Table(frame), nx.DiGraph([("text 0", "number 1"), ("number 0", "text 1")]), an.PCART())
    once = {"RawFrame.profiles": 1, "RawFrame.rows": 1}
    with crossings() as counted:
        net.predict_proba(frame, "text 1")
    assert counted == {**once, "NetworkHandle.levels": 1, "NetworkHandle.predict_levels": 1}
    with crossings() as counted:
        net.predict_interval(frame, "number 1")
    assert counted == {**once, "NetworkHandle.levels": 1, "NetworkHandle.predict_quantiles": 1}
    with crossings() as counted:
        net.log_likelihood(frame)
    assert counted == {**once, "NetworkHandle.log_likelihood": 1}
