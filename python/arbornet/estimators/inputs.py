"""The input of scikit-learn estimators as columns by name: frames of any kind keep their columns, arrays get names.

The columns of an array are called x0, x1, ...; those of floats are continuous whatever they hold, those of whole
numbers, booleans and texts are read like a frame's. Importing this module imports scikit-learn.
"""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from arbornet._core import ArbornetError, ParameterError
from arbornet.data.column import Column
from arbornet.data.frames import column_names, tabled
from arbornet.data.kinds import Continuous
from arbornet.data.schema import Schema, infer_schema
from arbornet.estimators.sk import (
    check_classification_targets,
    check_consistent_length,
    check_feature_names,
    check_n_features,
    column_or_1d,
    validate_data,
)
from arbornet.given import ColumnLike, FrameLike
from arbornet.text.notices import LeftOutWarning

Columns = dict[str, Any]


def columns_of(estimator: Any, given: FrameLike, reset: bool) -> tuple[Columns, bool]:
    """The columns of X by name, and whether X is a frame; what is known of its columns is kept in the estimator.

    Raises:
        ValueError: If X is not a table, or its columns are not those of `fit`.
    """
    X: Any = given.collect() if isinstance(given, pl.LazyFrame) else given
    if hasattr(X, "tocsr"):  # a sparse matrix, which may be a dict too, is refused like any
        return _columns_of_array(estimator, X, reset), False
    if isinstance(X, Mapping):
        X = tabled(X)
    if not hasattr(X, "columns") and hasattr(X, "__arrow_c_stream__") and not hasattr(X, "dtype"):
        X = pl.DataFrame(X)
    if not hasattr(X, "columns") or hasattr(X, "sparse"):
        return _columns_of_array(estimator, X, reset), False
    check_feature_names(estimator, X, reset=reset)
    check_n_features(estimator, X, reset=reset)
    if X.shape[0] == 0:
        raise ValueError(f"Found array with 0 sample(s) (shape={X.shape}) while a minimum of 1 is required.")
    if hasattr(X, "iloc"):
        return {name: X.iloc[:, i] for i, name in enumerate(column_names(X.columns))}, True
    frame = X if isinstance(X, pl.DataFrame) else pl.DataFrame(X)
    return {name: frame[name] for name in frame.columns}, True


def _columns_of_array(estimator: Any, X: Any, reset: bool) -> Columns:
    array = validate_data(estimator, X, reset=reset, dtype=None, ensure_all_finite=False)
    if array.dtype.kind == "f" or (array.dtype.kind == "O" and _holds_numbers(array)):
        array = array.astype(np.float64)
    if array.dtype.kind == "c":
        raise ValueError("Complex data not supported")
    if array.dtype.kind == "f" and np.isinf(array).any():
        raise ValueError("Input X contains infinity or a value too large for dtype('float64').")
    if array.dtype.kind == "O":
        _refuse_objects(array)
    if array.dtype.kind in "USO":
        return {f"x{i}": [_plain(value) for value in array[:, i].tolist()] for i in range(array.shape[1])}
    return {f"x{i}": array[:, i] for i in range(array.shape[1])}


def _holds_numbers(array: NDArray[Any]) -> bool:
    numbers = (int, float, np.integer, np.floating)
    return all(value is None or (isinstance(value, numbers) and not isinstance(value, bool)) for value in array.flat)


def _refuse_objects(array: NDArray[Any]) -> None:
    for value in array.flat:
        if not (value is None or isinstance(value, str | bool | int | float | np.generic)):
            raise TypeError(f"argument must be a string or a number, not {type(value).__name__!r}")


def _plain(value: Any) -> Any:
    return None if value is None or value != value else value


def weights_of(sample_weight: Any, n_rows: int) -> NDArray[np.float64] | None:
    """The weight of every row, if they are given.

    Raises:
        ValueError: If there is not one number for each row, from 0 up and some above.
    """
    if sample_weight is None:
        return None
    try:
        weights = np.array(sample_weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"sample_weight: give a number for each row ({error})") from None
    if weights.shape != (n_rows,):
        raise ValueError(f"sample_weight has the shape {weights.shape}; give one number for each of {n_rows:,} rows")
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(bad):
        raise ValueError(f"sample_weight is {weights[bad[0]]} in row {bad[0]}; weights are finite numbers from 0 up")
    if not (weights > 0).any():
        raise ValueError("sample_weight is zero in every row; some row needs a weight above 0")
    return weights


def n_rows_of(frame: Any) -> int:
    """The number of rows of a frame, or of a dict of its columns."""
    return len(next(iter(frame.values()))) if isinstance(frame, dict) else int(frame.shape[0])


def rows_taken(columns: Columns, rows: NDArray[np.intp]) -> Columns:
    """Some rows of columns."""

    def taken(column: Any) -> Any:
        if isinstance(column, list):
            return [column[row] for row in rows]
        return column.iloc[rows] if hasattr(column, "iloc") else column[rows]

    return {name: taken(column) for name, column in columns.items()}


def schema_of(columns: Columns, is_frame: bool, given: Schema | None = None) -> Schema:
    """The types of columns: as given, or inferred from a frame; the floats of an array are continuous.

    A schema may have more columns than these: that of a whole table, with its label, will do.

    Columns without information (constant, without values, or numbering the rows) are left out without a warning.
    """
    if not isinstance(given, Schema | None):
        raise ParameterError(f"schema={given!r}: give what infer_schema returns, or nothing")
    if given is not None:
        return Schema(tuple(column for column in given.columns if column.name in columns))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LeftOutWarning)
        if is_frame:
            return infer_schema(columns)
        floats = [name for name, column in columns.items() if getattr(column, "dtype", None) == np.float64]
        made = {name: Column(name, Continuous(), "number", "a column of an array") for name in floats}
        others = {name: column for name, column in columns.items() if name not in made}
        inferred = {column.name: column for column in infer_schema(others).columns} if others else {}
    return Schema(tuple({**made, **inferred}[name] for name in columns))


def numbers_of(columns: Columns, column: Column) -> NDArray[np.float64]:
    """The values of a continuous column as numbers in its units (days for dates), NaN where there is none."""
    plain = dataclasses.replace(column, kind=Continuous(), scale=(0.0, 1.0), cuts=None, left_out=None)
    values = Schema((plain,)).encode({column.name: columns[column.name]}).column(0)
    if values is None:
        raise ArbornetError(f"there is no column '{column.name}'")
    return values


def labels_of(estimator: Any, y: ColumnLike | None, n_rows: int) -> tuple[NDArray[Any], NDArray[np.uint32], str]:
    """The distinct labels in order, the code of every row's label, and what the labels are called.

    Raises:
        ValueError: If there is not one label per row, or they are numbers with a fraction.
    """
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None.")
    name = getattr(y, "name", None)
    if isinstance(y, pl.DataFrame) and y.width == 1:
        y = y.to_series()
    if isinstance(y, pl.Series):
        name, y = y.name, np.array(y.to_list(), dtype=None if y.null_count() == 0 else object)
    labels = column_or_1d(y, warn=True)
    check_consistent_length(labels, np.empty(n_rows))
    missing = [row for row, value in enumerate(labels.tolist()) if value is None or value != value]
    if missing:
        raise ValueError(f"Input y contains NaN: row {missing[0]} has no label; drop it first.")
    check_classification_targets(labels)
    try:
        classes, codes = np.unique(labels, return_inverse=True)
    except TypeError as error:
        raise ValueError(f"y mixes labels that have no common order: {error}") from None
    return classes, codes.astype(np.uint32), name if isinstance(name, str) and name else "class"
