"""Columns of a dict that come from pandas: arrays and indices of every type are read like a Series, or refused."""

from __future__ import annotations

import fractions
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import arbornet as an

N = 24
MOMENTS = pd.date_range("2021-01-01", periods=N, tz="Europe/Berlin")
#: Every array or index with its class.
COLUMNS: dict[str, tuple[Any, str]] = {
    "Categorical": (pd.Categorical(["a", "b"] * 12), "text"),
    "ordered": (pd.Categorical(["a", "b"] * 12, ordered=True), "text"),
    "CategoricalIndex": (pd.CategoricalIndex(["a", "b"] * 12), "text"),
    "Int64": (pd.array([1, 2, None] * 8, dtype="Int64"), "integer"),
    "Float64": (pd.array([1.5, None, 2] * 8, dtype="Float64"), "number"),
    "boolean": (pd.array([True, None, False] * 8, dtype="boolean"), "truth"),
    "string": (pd.array(["a", None, "b"] * 8, dtype="string"), "text"),
    "Sparse": (pd.arrays.SparseArray([0.0, 0.0, 1.5] * 8), "number"),
    "Sparse[int]": (pd.arrays.SparseArray([0, 0, 1] * 8), "integer"),
    "Period": (pd.period_range("2021-01", periods=N, freq="M").array, "datetime"),
    "PeriodIndex": (pd.period_range("2021-01", periods=N, freq="M"), "datetime"),
    "tz-aware index": (MOMENTS, "datetime"),
    "tz-aware array": (MOMENTS.array, "datetime"),
    "DatetimeIndex": (MOMENTS.tz_localize(None), "datetime"),
    "TimedeltaIndex": (pd.to_timedelta(range(N), unit="s"), "duration"),
    "Interval": (pd.IntervalIndex.from_breaks([0, 1, 2, 3]).repeat(8).array, "text"),
    "IntervalIndex": (pd.IntervalIndex.from_breaks([0, 1, 2, 3]).repeat(8), "text"),
    "RangeIndex": (pd.RangeIndex(5, 5 + 3 * N, 3), "integer"),
    "Index": (pd.Index(["a", "b"] * 12), "text"),
}
OTHERS = {"y": [0.5, 1.5, 2.5] * 8, "z": ["u", "v", "w"] * 8}


@pytest.mark.parametrize("name", COLUMNS)
def test_an_array_or_an_index_is_read_like_a_series(name: str) -> None:
    column, class_ = COLUMNS[name]
    schema = an.infer_schema({"x": column, **OTHERS})
    assert (schema["x"].class_, schema["x"].used) == (class_, True)
    table = an.Table({"x": column, **OTHERS}, schema=schema)
    as_series = an.Table({"x": pd.Series(column), **OTHERS}, schema=schema)
    assert table.to_polars().equals(as_series.to_polars())
    assert table.to_polars().equals(an.Table(pd.DataFrame({"x": column, **OTHERS}), schema=schema).to_polars())
    assert table.schema["x"].missing == int(pd.isna(column).sum())


class Own(pd.DataFrame):
    """A class of a user's own."""


def test_a_frame_of_a_class_made_from_pandas_is_one_of_pandas() -> None:
    frame = Own({"x": pd.Categorical(["a", "b"] * 12, categories=["a", "b", "c"], ordered=True), **OTHERS})
    assert an.infer_schema(frame)["x"].levels == ("a", "b", "c")


@pytest.mark.parametrize(
    "column",
    [
        pd.MultiIndex.from_tuples([(i, "a") for i in range(N)]),
        pd.DataFrame({"dtype": range(N)}),
        pd.NA,
        pd.Timestamp("2021"),
        pd.Interval(0, 1),
        pd.Series(["a"] * N).str,
        pd.DataFrame({"a": range(N)}).groupby("a"),
        pl.LazyFrame({"a": range(N)}),
        pl.DataFrame({"a": range(N), "b": range(N)}),
        pl.col("a"),
        pl.Int64,
        np.float64(1.0),
        np.zeros((N, 2)),
        {"a": 1},
        {1.0},
        None,
        len,
        int,
        "a" * N,
        b"a" * N,
    ],
    ids=lambda column: type(column).__name__,
)
def test_what_is_no_column_is_refused_in_a_sentence(column: Any) -> None:
    for make in (an.Table, an.infer_schema):
        with pytest.raises(an.ColumnError, match=r"^column 'x' (is|holds) .*; "):
            make({"x": column, **OTHERS})


@pytest.mark.parametrize("column", [np.ones(N, complex), [fractions.Fraction(1, 3)] * N], ids=["complex", "Fraction"])
def test_what_holds_no_single_values_is_left_out_and_said(column: Any) -> None:
    for make in (an.Table, an.infer_schema):
        with pytest.warns(an.LeftOutWarning, match=r"'x' (is|holds) .*(complex|Fraction)"):
            made = make({"x": column, **OTHERS})
        assert "x" not in made.names


@pytest.mark.parametrize("name", ["Categorical", "Int64", "boolean", "Sparse", "Period", "tz-aware index", "Interval"])
def test_dicts_of_such_columns_are_classified_and_cross_validated(name: str) -> None:
    columns = {"x": COLUMNS[name][0], **OTHERS}
    frame = pd.DataFrame(columns)
    labels = ["p", "q"] * 12
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for make in (an.NaiveBayes, an.TANClassifier):
            told = make(bins=3).fit(columns, labels).predict_proba(columns)
            assert np.array_equal(told, make(bins=3).fit(frame, labels).predict_proba(frame))
        of_dict = an.evaluate.cross_validate(columns, an.PCART(), folds=2)
        of_frame = an.evaluate.cross_validate(frame, an.PCART(), folds=2)
    assert of_dict.rows.equals(of_frame.rows)


def test_columns_of_other_lengths_are_refused_where_rows_are_taken() -> None:
    for make in (lambda x: an.NaiveBayes().fit(x, ["p", "q"]), lambda x: an.evaluate.cross_validate(x, folds=2)):
        with pytest.raises(an.ColumnError, match=r"lengths|has 3 rows where 'x' has 2"):
            make({"x": pd.array([1, 2], dtype="Int64"), "y": [1.0, 2.0, 3.0]})


def test_levels_that_a_frame_declares_without_an_order_have_a_hint_if_their_words_imply_one() -> None:
    agree = pd.Categorical(["agree", "disagree", "strongly agree", "disagree"] * 5)
    incomes = pd.Categorical(["5,200 to 10,400", "2,600 to 5,200", "Under 2,600", "2,600 to 5,200"] * 5)
    city = pd.Categorical(["Rome", "Paris", "Oslo", "Rome"] * 5)
    schema = an.infer_schema(pd.DataFrame({"agree": agree, "income": incomes, "city": city}))
    assert [column.word for column in schema.columns] == ["categorical"] * 3
    given = "if these are grades: schema.with_types(agree=an.Ordinal(['disagree', 'agree', 'strongly agree']))"
    assert schema["agree"].hint == given and "an.Ordinal(['Under 2,600'" in str(schema["income"].hint)
    assert schema["city"].hint is None
