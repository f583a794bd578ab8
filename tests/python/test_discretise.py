"""Fayyad and Irani's bins: against R's discretization package, through frames of every kind, and in schemas."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline

import arbornet as an
from places import GOLDEN


@pytest.mark.parametrize(("name", "target"), [("iris", "Species"), ("diabetes", "diabetes")])
def test_cuts_are_those_of_r(name: str, target: str) -> None:
    frame = pl.read_csv(GOLDEN / "mdlp" / f"mdlp_{name}.csv")
    expected = json.loads((GOLDEN / "mdlp" / "mdlp.json").read_text())["cuts"][name]
    bins = an.FayyadIrani().fit(frame.drop(target), frame[target])
    assert set(bins.cuts_) == set(expected)
    for column, cuts in expected.items():
        assert bins.cuts_[column] == pytest.approx(tuple(cuts), abs=1e-9), column
    of_array = an.FayyadIrani().fit(frame.drop(target).to_numpy(), frame[target])
    assert list(of_array.cuts_.values()) == list(bins.cuts_.values())


def mixed() -> tuple[pl.DataFrame, list[str]]:
    x = [float(i) for i in range(40)]
    y = ["low" if i < 25 else "high" for i in range(40)]
    frame = pl.DataFrame(
        {
            "x": [None if i == 3 else value for i, value in enumerate(x)],
            "day": [datetime.date(2026, 1, 1) + datetime.timedelta(i) for i in range(40)],
            "group": list("uv") * 20,
            "noise": [(i * 7) % 5 for i in range(40)],
            "grade": pl.Series([1, 2] * 20).cast(pl.String).cast(pl.Enum(["1", "2"])),
        }
    )
    return frame, y


def test_polars_in_polars_out_with_ordered_levels() -> None:
    frame, y = mixed()
    bins = an.FayyadIrani().fit(frame, y)
    out = bins.transform(frame)
    assert isinstance(out, pl.DataFrame) and out.columns == frame.columns
    assert out["x"].dtype == pl.Enum(["<= 24.5", "> 24.5"])
    assert out["x"].null_count() == 1 and out["x"][24] == "<= 24.5" and out["x"][25] == "> 24.5"
    assert out["noise"].unique().to_list() == ["all"]
    assert out.select("group", "grade").equals(frame.select("group", "grade"))
    assert out["day"].n_unique() == 2
    assert list(bins.get_feature_names_out()) == frame.columns
    assert set(bins.cuts_) == {"x", "day", "noise"}


def test_pandas_in_pandas_out_with_its_index() -> None:
    frame, y = mixed()
    data = frame.drop("day").to_pandas().set_index(pd.Index(range(100, 140)))
    out = an.FayyadIrani().fit_transform(data, y)
    assert isinstance(out, pd.DataFrame) and list(out.index) == list(range(100, 140))
    assert out["x"].cat.ordered and list(out["x"].cat.categories) == ["<= 24.5", "> 24.5"]
    assert out["x"].isna().sum() == 1
    assert list(out["group"]) == list(data["group"])


def test_arrays_give_numbers_of_bins_unless_a_frame_is_asked_for() -> None:
    array = np.column_stack([np.arange(40.0), np.arange(40.0) % 3])
    array[5, 0] = np.nan
    y = np.arange(40) >= 25
    bins = an.FayyadIrani().fit(array, y)
    out = bins.transform(array)
    assert np.isnan(out[5, 0]) and out[24, 0] == 0 and out[25, 0] == 1 and set(out[:, 1]) == {0.0}
    as_polars = an.FayyadIrani().set_output(transform="polars").fit(array, y).transform(array)
    assert as_polars["x0"].dtype == pl.Enum(["<= 24.5", "> 24.5"])
    as_pandas = an.FayyadIrani().set_output(transform="pandas").fit(array, y).transform(array)
    assert as_pandas["x0"].cat.ordered
    frame, labels = mixed()
    assert isinstance(an.FayyadIrani().set_output(transform="pandas").fit_transform(frame, labels), pd.DataFrame)
    assert isinstance(
        an.FayyadIrani().set_output(transform="polars").fit_transform(frame.to_pandas(), labels), pl.DataFrame
    )


def test_it_cuts_the_columns_asked_for_and_works_in_pipelines() -> None:
    frame, y = mixed()
    bins = an.FayyadIrani(columns=["x"]).fit(frame, y)
    assert set(bins.cuts_) == {"x"} and bins.transform(frame)["noise"].dtype == pl.Int64
    with pytest.raises(an.ParameterError, match="columns='x': give a list"):
        an.FayyadIrani(columns="x").fit(frame, y)
    with pytest.raises(an.ColumnError, match="no column 'z'"):
        an.FayyadIrani(columns=["z"]).fit(frame, y)
    data = frame.drop("day").to_pandas()
    pipe = make_pipeline(an.FayyadIrani(), an.NaiveBayes()).fit(data, y)
    assert pipe.score(data, y) == 1
    chosen = ColumnTransformer([("bins", an.FayyadIrani(), ["x", "noise"])], remainder="drop")
    assert chosen.set_output(transform="pandas").fit_transform(data, y).shape == (40, 2)


def test_new_values_fall_into_the_outer_bins() -> None:
    frame, y = mixed()
    bins = an.FayyadIrani(columns=["x"]).fit(frame, y)
    far = bins.transform(frame.head(2).with_columns(x=pl.Series([-1e9, 1e9])))
    assert far["x"].to_list() == ["<= 24.5", "> 24.5"]


def test_cuts_go_into_a_schema_which_keeps_them(tmp_path: Path) -> None:
    frame, y = mixed()
    frame = frame.drop("day").with_columns(y=pl.Series(y))
    bins = an.FayyadIrani().fit(frame.drop("y"), frame["y"])
    schema = an.infer_schema(frame).with_types(bins.kinds_)
    schema.save(tmp_path / "schema.json")
    assert an.Schema.load(tmp_path / "schema.json") == schema
    table = an.Table(frame, schema)
    assert table.schema["x"].levels == ("<= 24.5", "> 24.5") and table.schema["noise"].levels == ("all",)
    net = an.learn(table, an.BIC(), verbose=False)
    assert net.predict(pl.DataFrame({"x": [3.0, 33.0]}), "y").to_list() == ["low", "high"]
    net.save(tmp_path / "net.json")
    assert an.load(tmp_path / "net.json").predict(pl.DataFrame({"x": [33.0]}), "y").to_list() == ["high"]


@pytest.mark.parametrize("cuts", [[1, 1], [2, 1], [float("nan")], "ab", [float("inf")]])
def test_cuts_that_do_not_ascend_are_refused(cuts: Any) -> None:
    with pytest.raises(an.ParameterError, match="cuts="):
        an.Binned(cuts=cuts)


def test_the_shell_takes_cuts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from arbornet.cli import main

    frame, _ = mixed()
    frame.drop("day").write_csv(tmp_path / "x.csv")
    main(["score", str(tmp_path / "x.csv"), "--set", "x=binned:10.5,20", "--score", "BIC", "--child", "x"])
    schema = an.infer_schema(frame).with_types(x=an.Binned(cuts=[10.5, 20]))
    expected = an.local_score(an.Table(frame.drop("day"), schema.without("day")), "x", [], an.BIC())
    assert float(capsys.readouterr().out) == pytest.approx(expected)
    assert main(["score", str(tmp_path / "x.csv"), "--set", "x=binned:20,10"]) == 1
    assert "each above the one before" in capsys.readouterr().err


def test_classes_are_needed() -> None:
    with pytest.raises(ValueError, match="requires y to be passed"):
        an.FayyadIrani().fit(mixed()[0])


def test_a_value_on_a_cut_falls_into_the_bin_below() -> None:
    frame, y = mixed()
    bins = an.FayyadIrani(columns=["x"]).fit(frame, y)
    at = bins.transform(frame.head(3).with_columns(x=pl.Series([24.5, 24.500001, 24.4])))
    assert at["x"].to_list() == ["<= 24.5", "> 24.5", "<= 24.5"]
