"""Frames that cannot be used end in a sentence that names the column, the value and the way out; odd ones just work."""

from __future__ import annotations

import datetime
import decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import arbornet as an


@pytest.mark.parametrize("frame", [{}, pl.DataFrame(), pd.DataFrame(), pa.table({})])
def test_a_frame_without_columns_is_refused(frame: Any) -> None:
    with pytest.raises(an.ArbornetError, match="no columns"):
        an.Table(frame)


WITHOUT_ROWS = [{"a": []}, pl.DataFrame(schema={"a": pl.Float64}), pa.table({"a": pa.array([], pa.string())})]


@pytest.mark.parametrize("frame", WITHOUT_ROWS)
def test_a_frame_without_rows_is_refused(frame: Any) -> None:
    with pytest.raises(an.ArbornetError, match="no rows"):
        an.Table(frame)


NO_FRAMES = [3, "patients.csv", None, [1, 2], object(), pl.Series([1]), pd.Series([1]), np.zeros(3)]


@pytest.mark.parametrize("thing", NO_FRAMES)
def test_what_is_no_frame_is_told_so(thing: Any) -> None:
    with pytest.raises(an.ArbornetError, match=r"give a"):
        an.Table(thing)


REPEATED = [
    pa.table([[0.5, 1.5], [1.5, 2.5]], names=["a", "a"]),
    pd.DataFrame([[0.5, 1.5]], columns=["a", "a"]),
    {1: [0.5], "1": [1.5]},
]


@pytest.mark.parametrize("frame", REPEATED)
def test_repeated_names_are_refused(frame: Any) -> None:
    with pytest.raises(an.ColumnError, match="appears twice"):
        an.Table(frame)


def test_tuples_and_missing_names_are_refused_with_a_way_out() -> None:
    pivoted = pd.DataFrame([[0.5, 1.5]], columns=pd.MultiIndex.from_tuples([("a", "x"), ("a", "y")]))
    with pytest.raises(an.ArbornetError, match=r"\('a', 'x'\) is a tuple.*'_'\.join"):
        an.Table(pivoted)
    with pytest.raises(an.ArbornetError, match="name is None"):
        an.Table({None: [0.5]})


def test_integer_names_become_texts() -> None:
    table = an.Table(pd.DataFrame({0: [0.5, 1.5], 1: ["a", "b"]}), standardise=False)
    assert table.names == ["0", "1"]
    assert table.schema[0].name == "0"
    assert an.Table(np.array([[0.5, 1.0], [1.5, 3.0]])).names == ["0", "1"]


@settings(max_examples=50, deadline=None)
@given(name=st.text(st.characters(codec="utf-8"), min_size=1))
def test_a_name_may_be_any_text(name: str) -> None:
    for frame in ({name: [0.5, 1.5]}, pl.DataFrame({name: [0.5, 1.5]})):
        if "\0" in name and isinstance(frame, pl.DataFrame):
            continue  # the Arrow interface ends names at NUL
        table = an.Table(frame)
        assert table.names == [name]
        assert an.Schema.from_dict(table.schema.to_dict()) == table.schema


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (["a", 1], "mixes types: 'a' of type str in row 0, 1 of type int in row 1"),
        ([None, 2.5, True], "mixes types: 2.5 of type float in row 1, True of type bool in row 2"),
        ([1, datetime.date(2020, 1, 1)], r"holds datetime.date\(2020, 1, 1\) of type date in row 1"),
        (["a", b"b"], r"holds b'b' of type bytes in row 1"),
        (["a", ["b"]], r"holds \['b'\] of type list in row 1"),
        (["a", "\ud800"], r"holds .* in row 1, which is not valid unicode"),
    ],
)
def test_a_column_of_mixed_objects_names_values_types_and_rows(values: list[Any], words: str) -> None:
    for frame in ({"col": values}, {"col": np.array(values, dtype=object)}):
        with pytest.raises(an.ColumnError, match=f"'col' {words}"):
            an.Table(frame)
    if "unicode" not in words:
        with pytest.raises(an.ColumnError, match=f"'col' {words}"):
            an.Table(pd.DataFrame({"col": pd.Series(values, dtype=object)}))


def test_objects_of_one_type_are_read() -> None:
    frame = {
        "int": [1, np.int32(2), None, 4, 4],
        "float": [0.5, decimal.Decimal("1.25"), 3, np.float32(0.5), float("nan")],
        "text": ["a", np.str_("b"), pd.NA, "a", None],
        "day": [datetime.date(1970, 1, 2), None, datetime.date(1970, 1, 3), None, datetime.date(1970, 1, 9)],
    }
    schema = an.infer_schema(frame)
    assert [column.class_ for column in schema.columns] == ["integer", "number", "text", "date"]
    assert [column.missing for column in schema.columns] == [1, 1, 2, 2]
    assert schema["day"].range_ == (1.0, 8.0)


def test_infinities_name_the_column_and_the_first_row() -> None:
    frame = {"x": [0.5, 1.5, float("inf"), float("-inf")], "y": [0.5, 1.5, 2.5, 3.5]}
    with pytest.raises(an.ColumnError, match="'x' is infinite in row 2"):
        an.Table(frame)
    table = an.Table({"x": [0.5, 1.5]})
    with pytest.raises(an.ColumnError, match="'x' is infinite in row 0"):
        table.schema.encode({"x": [float("inf")]})


def test_a_hundred_thousand_levels_are_refused_with_a_way_out() -> None:
    frame = pl.DataFrame({"zip": [f"z{i % 100_000}" for i in range(100_001)], "y": np.arange(100_001) / 2})
    with pytest.warns(an.LeftOutWarning, match="'zip' is text, 100,000 different ones in 100,001 rows"):
        schema = an.infer_schema(frame)
    with pytest.raises(an.ColumnError, match=r"'zip' has 100,000 levels.*without.*max_levels"):
        an.Table(frame, schema.with_types(zip="categorical"))
    merged = an.Table(frame, schema.with_types(zip=an.Categorical(max_levels=3)))
    assert merged.handle.levels(0) == ["z0", "z1", "other"]


def test_columns_of_unequal_length_are_refused() -> None:
    with pytest.raises(an.ColumnError, match="'b' has 1 rows where 'a' has 2"):
        an.Table({"a": [0.5, 1.5], "b": [0.5]})


def test_no_complete_row_tells_which_columns_are_to_blame() -> None:
    frame = {"a": [0.5, None, 1.5, None], "b": [None, "x", None, "y"]}
    with pytest.raises(an.ArbornetError, match=r"no row is complete: 4 rows dropped.*a: 2.*without"):
        an.Table(frame)


def test_text_in_a_column_of_numbers_is_named() -> None:
    table = an.Table({"x": [0.5, 1.5, 2.5]})
    with pytest.raises(an.ColumnError, match=r"'x' holds text that is not a number, 'abc' first in row 1, in 2 rows"):
        an.Table({"x": ["1.5", "abc", "def", None]}, table.schema)
    assert (
        an.Table({"x": ["0.5", "2.5"]}, table.schema).handle.reals(0).tolist() == table.handle.reals(0)[[0, 2]].tolist()
    )


def test_large_whole_numbers_are_told_apart_or_refused_as_levels() -> None:
    frame = {"big": [2**60 + i % 3 for i in range(30)]}
    schema = an.infer_schema(frame)
    told = "3 distinct whole numbers in 30 rows, 1152921504606846976 to 1152921504606846978 without a gap: a scale"
    assert (str(schema["big"].kind), schema["big"].reason) == ("ordinal", told)
    table = an.Table(frame, schema.with_types(big="categorical"))
    assert table.handle.levels(0) == [2**60, 2**60 + 1, 2**60 + 2]
    beyond = pl.DataFrame({"big": pl.Series([2**63 + i % 3 for i in range(30)], dtype=pl.UInt64)})
    with pytest.warns(an.LeftOutWarning, match=r"one number in 64 bits .*, or turn them into text"):
        schema = an.infer_schema(beyond)
    with pytest.raises(an.ColumnError, match=r"'big' holds whole numbers beyond 64 bits.*text"):
        an.Table(beyond, schema.with_types(big="categorical"))


def test_dates_are_no_numbers_and_have_no_levels() -> None:
    days = {"x": [datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)]}
    with pytest.raises(an.ColumnError, match="'x' holds date values where number values are expected"):
        an.Table(days, an.Table({"x": [0.5, 1.5]}).schema)
    with pytest.raises(an.ColumnError, match="'x' holds date values, which have no levels"):
        an.Table(days, an.infer_schema(days).with_types(x="categorical"))
    assert an.Table(days).to_polars()["x"].to_list() == days["x"]


def test_a_column_of_the_schema_that_the_frame_lacks_is_named() -> None:
    schema = an.infer_schema({"x": [0.5, 1.5], "y": [0.5, 2.5]})
    with pytest.raises(an.ColumnError, match="no column 'y'"):
        an.Table({"x": [0.5, 1.5]}, schema)


@pytest.mark.parametrize(("name", "value"), [("missing", "keep"), ("unseen", "ignore"), ("schema", {"x": "ordinal"})])
def test_a_parameter_out_of_range_is_named(name: str, value: Any) -> None:
    with pytest.raises(an.ParameterError, match=f"{name}="):
        an.Table({"x": [0.5, 1.5]}, **{name: value})
