"""Frames in: whatever the kind, the chunks and the encoding, the table is the same."""

from __future__ import annotations

import datetime
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import arbornet as an
from frame_kinds import Columns, every_kind, fingerprint, type_of

# NumPy itself cuts texts at a final NUL.
TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=16)
VALUES: dict[type, st.SearchStrategy[Any]] = {
    str: TEXT | st.sampled_from(["a", "b", "a long level that fits no view"]),
    int: st.integers(-3, 3),
    float: st.floats(-1e6, 1e6, width=32) | st.sampled_from([0.0, -0.0, 0.1]),
    bool: st.booleans(),
}


@st.composite
def tables(draw: st.DrawFn) -> Columns:
    n_rows = draw(st.integers(1, 20))
    columns: Columns = {}
    for i in range(draw(st.integers(1, 4))):
        values = VALUES[draw(st.sampled_from([str, int, float, bool]))]
        gaps = draw(st.booleans())
        column = draw(st.lists(values | st.none() if gaps else values, min_size=n_rows, max_size=n_rows))
        columns[f"c{i}"] = column
    columns["row"] = [0.5] * n_rows
    return columns


def declared(columns: Columns) -> an.Schema:
    """Every column named, so that none is left out; whole numbers by turns as numbers, grades and labels."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", an.LeftOutWarning)
        schema = an.infer_schema(columns)
    words = ["continuous", "ordinal", "categorical"]
    kinds = {
        name: {str: "categorical", bool: "categorical", float: "continuous"}.get(type_of(values), words[i % 3])
        for i, (name, values) in enumerate(columns.items())
        if any(value is not None for value in values)
    }
    return schema.with_types(kinds)


@settings(max_examples=30, deadline=None)
@given(columns=tables(), cuts=st.lists(st.integers(0, 40), max_size=4), data=st.data())
def test_every_kind_of_frame_gives_the_same_table(columns: Columns, cuts: list[int], data: st.DataObject) -> None:
    schema = declared(columns)
    assume(
        any(all(column[i] is not None for column in map(columns.get, schema.names)) for i in range(len(columns["row"])))
    )
    expected = an.Table(columns, schema, "drop")
    for name, frame in every_kind(columns, lambda types: data.draw(st.sampled_from(types)), cuts):
        table = an.Table(frame, schema, "drop")
        assert fingerprint(table) == fingerprint(expected), name
        assert table.dropped == expected.dropped, name


@settings(max_examples=20, deadline=None)
@given(columns=tables(), cuts=st.lists(st.integers(0, 40), max_size=4))
def test_every_kind_of_frame_gives_the_same_schema(columns: Columns, cuts: list[int]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", an.LeftOutWarning)
        expected = an.infer_schema(columns)
        for name, frame in every_kind(columns, lambda types: types[0], cuts):
            schema = an.infer_schema(frame)
            for column in expected.columns:
                other = schema[column.name]
                if all(value is None for value in columns[column.name]):
                    assert not other.used, name  # nothing says what the type of no value is
                    continue
                if "differs in every row" in (column.left_out or "") and "frame declares" in other.reason:
                    continue  # what is declared to be levels is no identifier
                assert (other.word, other.left_out, other.missing) == (column.word, column.left_out, column.missing), (
                    name
                )
                if column.used:
                    assert other.levels == column.levels, name


@settings(max_examples=30, deadline=None)
@given(columns=tables())
def test_a_table_gives_back_the_users_values(columns: Columns) -> None:
    schema = declared(columns)
    rows = [i for i in range(len(columns["row"])) if all(columns[name][i] is not None for name in schema.names)]
    assume(rows)
    back = an.Table(columns, schema, "drop").to_polars()
    for name in schema.names:
        wanted = [columns[name][i] for i in rows]
        if type_of(wanted) is float:
            assert back[name].to_list() == pytest.approx(wanted, rel=1e-9, abs=1e-6)
        else:
            assert back[name].to_list() == wanted


@settings(max_examples=30, deadline=None)
@given(columns=tables(), order=st.randoms(use_true_random=False))
def test_coding_new_rows_by_a_tables_schema_gives_the_tables_codes(columns: Columns, order: Any) -> None:
    schema = declared(columns)
    rows = [i for i in range(len(columns["row"])) if all(columns[name][i] is not None for name in schema.names)]
    assume(rows)
    table = an.Table(columns, schema, "drop")
    coded = table.schema.encode(columns)
    assert coded.n_rows == len(columns["row"])
    for var, name in enumerate(table.names):
        cells = coded.column(var)
        stored = table.handle.reals(var) if table.handle.levels(var) is None else table.handle.codes(var)
        assert cells is not None
        assert cells[rows].tolist() == stored.tolist(), name
        gaps = [i for i, value in enumerate(columns[name]) if value is None]
        assert all(cells[i] != cells[i] or cells[i] == 2**32 - 1 for i in gaps), name


def test_rows_may_lack_whole_columns() -> None:
    table = an.Table({"x": [0.5, 1.5, 4.0], "g": ["a", "b", "a"]})
    rows = table.schema.encode({"g": ["b", None]})
    assert rows.column(0) is None
    codes = rows.column(1)
    assert codes is not None and codes.tolist() == [1, 2**32 - 1]


def test_an_unseen_level_in_new_rows_is_an_error_or_missing() -> None:
    table = an.Table({"g": ["a", "b", "a"]})
    with pytest.raises(an.ColumnError, match="'g' holds 'z' in 1 row"):
        table.schema.encode({"g": ["z"]})
    codes = table.schema.encode({"g": ["z", "b"]}, unseen="missing").column(0)
    assert codes is not None and codes.tolist() == [2**32 - 1, 1]


def test_new_data_use_the_remembered_map() -> None:
    table = an.Table({"x": [0.0, 2.0, 4.0, 6.0]})
    again = an.Table({"x": [3.0, 100.0]}, table.schema)
    assert again.handle.scale(0) == table.handle.scale(0)
    assert again.handle.reals(0)[0] == 0.0


def test_the_ordered_bit_makes_an_ordinal() -> None:
    import pandas as pd

    ordered = pd.Categorical(["lo", "hi", "lo"], categories=["lo", "mid", "hi"], ordered=True)
    of_ints = pd.Categorical([3, 1, 3], categories=[3, 2, 1], ordered=True)
    frame = pd.DataFrame({"a": ordered, "b": of_ints})
    for kind in (frame, pa.Table.from_pandas(frame)):
        table = an.Table(kind)
        assert [table.handle.kind(var) for var in (0, 1)] == ["ordinal", "ordinal"]
        assert [table.handle.levels(var) for var in (0, 1)] == [["lo", "mid", "hi"], [3, 2, 1]]
        assert table.handle.codes(1).tolist() == [0, 2, 0]
    enum = pl.DataFrame({"a": pl.Series(["lo", "hi"], dtype=pl.Enum(["lo", "mid", "hi"]))})
    assert an.Table(enum).handle.levels(0) == ["lo", "mid", "hi"]


def test_integers_that_pandas_made_floats_are_integers_again() -> None:
    import pandas as pd

    frame = pd.DataFrame({"grade": [1, 2, None, 3] * 6})
    assert frame["grade"].dtype == "float64"
    column = an.infer_schema(frame)["grade"]
    assert (column.word, column.levels) == ("ordinal", (1, 2, 3))
    table = an.Table(frame)
    assert table.handle.levels(0) == [1, 2, 3]
    assert table.to_polars()["grade"].dtype == pl.Int64


def test_missing_values_are_dropped_refused_or_a_level() -> None:
    frame = {"x": [0.5, float("nan"), 1.5, 2.5], "g": ["a", "b", None, "b"]}
    table = an.Table(frame)
    assert (table.n_rows, table.n_dropped, table.dropped.by_column) == (2, 2, {"x": 1, "g": 1})
    assert "2 rows dropped" in repr(table) and "x: 1" in repr(table)
    with pytest.raises(an.ColumnError, match=r"'x' is missing in 1 of 4 rows.*missing='drop'"):
        an.Table(frame, missing="error")
    level = an.Table(frame, missing="level")
    assert (level.handle.levels(1), level.handle.codes(1).tolist()) == (["a", "b", "missing"], [0, 2, 1])
    assert level.to_polars()["g"].to_list() == ["a", None, "b"]
    codes = level.schema.encode({"g": [None, "b"]}).column(1)
    assert codes is not None and codes.tolist() == [2, 1]


def test_columns_are_standardised_with_the_population_deviation() -> None:
    table = an.Table({"x": [1.0, 3.0], "c": [1.5, 2.5]}, standardise=True)
    assert table.handle.reals(0).tolist() == [-1.0, 1.0]
    assert table.handle.scale(0) == (2.0, 1.0)
    plain = an.Table({"x": [1.0, 3.0]}, standardise=False)
    assert plain.handle.reals(0).tolist() == [1.0, 3.0]


def test_tables_pickle() -> None:
    import pickle

    table = an.Table({"x": [0.5, None, 1.5], "g": ["a", "b", "b"]})
    again = pickle.loads(pickle.dumps(table))
    assert fingerprint(again) == fingerprint(table)
    assert (again.schema, again.dropped) == (table.schema, table.dropped)


def test_polars_columns_of_python_objects_are_read_as_lists_are() -> None:
    day = datetime.date(2024, 5, 1)
    columns: Columns = {
        "number": [1.5, None, 2.5, 4.0] * 5,
        "text": ["a", "b", None, "a"] * 5,
        "day": [day, day + datetime.timedelta(3), day, None] * 5,
        "plain": [1, 2, 3, 4] * 5,
    }
    objects = pl.DataFrame(
        {
            name: pl.Series(name, values, dtype=None if name == "plain" else pl.Object)
            for name, values in columns.items()
        }
    )
    expected = an.Table(columns, missing="level")
    for frame in (objects, objects.lazy(), objects.to_dict(), pl.concat([objects.head(3), objects.tail(17)])):
        table = an.Table(frame, missing="level")
        assert table.schema == expected.schema
        assert table.to_polars().equals(expected.to_polars())
    mixed = objects.with_columns(pl.Series("text", [1, "b"] * 10, dtype=pl.Object))
    with pytest.raises(an.ColumnError, match="'text'"):
        an.Table(mixed)


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        ("patients.csv", r"'patients.csv' is a path; give a frame: an.read\('patients.csv'\)"),
        (Path("a") / "b.parquet", r"is a path; give a frame: an.read\("),
        ([{"x": 1}, {"x": 2}], r"give a frame: polars.DataFrame\(rows\)"),
        ([1, 2], "cannot read an object of type list"),
    ],
)
def test_what_is_no_frame_is_refused_with_the_way_to_one(frame, words):
    with pytest.raises(an.ArbornetError, match=words):
        an.learn(frame)


def test_a_column_without_a_name_and_a_level_without_a_text_keep_their_names() -> None:
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"": rng.normal(size=60), "b": rng.choice(["", "x", "y"], 60)})
    table = an.Table(frame)
    net = an.learn(table, an.PCART(), max_parents=1, verbose=False)
    assert table.to_polars().columns == net.sample(3).columns == net.impute(frame).columns == ["", "b"]
    assert net.log_likelihood(frame, by="node").columns == ["", "b"]
    assert net.predict_proba(frame, "b").columns == ["", "x", "y"]
    assert "" in net.query("").columns
