"""Bins of dates and times are named by dates and times, and answer to their names."""

from __future__ import annotations

import datetime as dt
import pickle

import numpy as np
import polars as pl
import pytest

import arbornet as an
from arbornet.data.column import bin_names

DAYS = [dt.date(2021, 1, 1) + dt.timedelta(days=7 * i) for i in range(60)]
FRAME = pl.DataFrame({"day": DAYS, "late": [i >= 30 for i in range(60)], "x": np.arange(60) % 7})


def binned(frame: pl.DataFrame, name: str) -> tuple[an.Schema, an.BayesNet]:
    schema = an.infer_schema(frame).with_types({name: an.Binned(3)})
    table = an.Table(frame, schema)
    return table.schema, an.learn(table, an.BDeu(), verbose=False)


def test_bins_of_dates_are_named_by_dates(tmp_path):
    schema, net = binned(FRAME.drop("x"), "day")
    names = schema["day"].levels
    assert names is not None and len(names) == 3
    first, last = (dt.date.fromisoformat(str(name).split()[-1]) for name in (names[0], names[-1]))
    assert names == (f"<= {first}", f"{first} to {last}", f"> {last}")
    below = sum(day <= first for day in DAYS)
    assert below in (19, 20, 21)
    told = net.query("day")
    assert told["day"].to_list() == list(names) and net.query("late", given={"day": names[-1]}).height == 2
    assert set(net.sample(50)["day"].unique()) <= set(names)
    assert net.predict_proba({"day": [DAYS[0], DAYS[-1]]}, "late").height == 2
    net.save(tmp_path / "net.json")
    schema.save(tmp_path / "types.json")
    assert an.load(tmp_path / "net.json") == net and an.Schema.load(tmp_path / "types.json") == schema
    assert pickle.loads(pickle.dumps(schema)) == schema


@pytest.mark.parametrize(
    ("column", "end"),
    [
        (pl.Series([dt.datetime(2021, 1, 1, 6) + dt.timedelta(hours=5 * i) for i in range(60)]), "2021-01-"),
        (pl.Series([dt.time(1 + i % 20, 30) for i in range(60)]), ":"),
    ],
)
def test_bins_of_moments_and_times_are_named_by_them(column, end):
    schema, _ = binned(FRAME.select("late").with_columns(when=column), "when")
    assert all(end in str(name) for name in schema["when"].levels or ())


def test_names_that_would_be_one_date_are_numbers():
    assert bin_names((19000.0, 19000.25), "date") == bin_names((19000.0, 19000.25))
    assert bin_names((19000.0, 19001.0), "date")[0] == "<= 2022-01-08"


def test_schemas_of_earlier_versions_keep_the_names_of_their_bins():
    schema, _ = binned(FRAME.drop("x"), "day")
    told = schema.to_dict()
    for column in told["columns"]:
        column.pop("dated", None)
    old = an.Schema.from_dict(told)["day"]
    assert old.cuts is not None and old.levels == bin_names(old.cuts)
