"""One table as every kind of frame, in every encoding: material for the tests of frames."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import arbornet as an

Columns = dict[str, list[Any]]

ARROW_TYPES: dict[type, list[pa.DataType]] = {
    str: [
        pa.string(),
        pa.large_string(),
        pa.string_view(),
        pa.dictionary(pa.int8(), pa.string()),
        pa.dictionary(pa.uint16(), pa.large_string()),
        pa.dictionary(pa.int64(), pa.string()),
    ],
    int: [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.decimal128(20, 0), pa.dictionary(pa.int32(), pa.int64())],
    float: [pa.float64(), pa.dictionary(pa.uint8(), pa.float64())],
    bool: [pa.bool_(), pa.dictionary(pa.int8(), pa.bool_())],
}


def type_of(values: list[Any]) -> type:
    return next((type(value) for value in values if value is not None), str)


def fingerprint(table: an.Table) -> tuple[Any, ...]:
    """Everything a table holds, bit for bit."""
    handle = table.handle
    columns = []
    for var, name in enumerate(handle.names):
        levels = handle.levels(var)
        values = handle.reals(var) if levels is None else handle.codes(var)
        typed = None if levels is None else [(type(level), level) for level in levels]
        columns.append((name, handle.kind(var), typed, handle.scale(var), str(values.dtype), values.tobytes()))
    return handle.n_rows, columns


def in_chunks(table: pa.Table, cuts: list[int]) -> pa.Table:
    """The same rows in chunks of their own, each a slice with an offset."""
    ends = [0, *sorted({cut % (table.num_rows + 1) for cut in cuts}), table.num_rows]
    pieces = [table.slice(low, high - low) for low, high in pairwise(ends)]
    return pa.concat_tables(pieces)


def arrow(columns: Columns, draw: Callable[[list[pa.DataType]], pa.DataType], cuts: list[int]) -> pa.Table:
    arrays = []
    for values in columns.values():
        plain = pa.array(values, type=ARROW_TYPES[type_of(values)][0] if type_of(values) is not int else pa.int64())
        wanted = draw(ARROW_TYPES[type_of(values)])
        if pa.types.is_dictionary(wanted):
            encoded = plain.dictionary_encode()
            arrays.append(encoded.cast(wanted))
        else:
            arrays.append(plain.cast(wanted))
    return in_chunks(pa.table(arrays, names=list(columns)), cuts)


def polars(columns: Columns, cuts: list[int]) -> pl.DataFrame:
    dtypes = {str: pl.String, int: pl.Int64, float: pl.Float64, bool: pl.Boolean}
    frame = pl.DataFrame({name: pl.Series(values, dtype=dtypes[type_of(values)]) for name, values in columns.items()})
    ends = [0, *sorted({cut % (frame.height + 1) for cut in cuts}), frame.height]
    pieces = [frame[low:high] for low, high in pairwise(ends)]
    return pl.concat(pieces, rechunk=False)


def pandas(columns: Columns, mode: str) -> pd.DataFrame:
    def series(values: list[Any]) -> pd.Series:
        kind = type_of(values)
        if mode == "nullable":
            return pd.Series(values, dtype={str: "string", int: "Int64", float: "Float64", bool: "boolean"}[kind])
        if mode == "object":
            return pd.Series(values, dtype=object)
        if mode == "category" and kind is str:
            return pd.Series(values, dtype="category")
        if mode == "arrow":
            return pd.Series(values, dtype=pd.ArrowDtype(pa.array(values).type))
        if kind is bool and None in values:
            return pd.Series(values, dtype="boolean")
        return pd.Series(values)

    return pd.DataFrame({name: series(values) for name, values in columns.items()})


def numpy_columns(columns: Columns) -> dict[str, Any]:
    def array(values: list[Any]) -> np.ndarray[Any, Any]:
        return np.array(values, dtype=object) if None in values else np.array(values)

    return {name: array(values) for name, values in columns.items()}


def structured(columns: Columns) -> np.ndarray[Any, Any]:
    parts = numpy_columns(columns)
    n_rows = len(next(iter(columns.values())))
    array = np.empty(n_rows, dtype=[(name, part.dtype) for name, part in parts.items()])
    for name, part in parts.items():
        array[name] = part
    return array


def every_kind(
    columns: Columns, draw: Callable[[list[pa.DataType]], pa.DataType], cuts: list[int]
) -> Iterator[tuple[str, Any]]:
    """The same table as frames of every kind, named."""
    yield "dict of lists", columns
    yield "dict of arrays", numpy_columns(columns)
    yield "structured array", structured(columns)
    yield "polars", polars(columns, cuts)
    yield "polars lazy", polars(columns, cuts).lazy()
    yield "polars categorical", polars(columns, cuts).with_columns(pl.selectors.string().cast(pl.Categorical))
    yield "dict of polars series", polars(columns, cuts).to_dict()
    for mode in ("numpy", "nullable", "object", "category", "arrow"):
        yield f"pandas {mode}", pandas(columns, mode)
    table = arrow(columns, draw, cuts)
    yield "pyarrow", table
    yield "record batch reader", table.to_reader()
    yield "record batch", table.combine_chunks().to_batches()[0]
    yield "dict of pyarrow arrays", {name: table[name] for name in table.column_names}
    with duckdb.connect() as connection:
        yield "duckdb", connection.from_arrow(arrow(columns, lambda types: types[0], cuts))
