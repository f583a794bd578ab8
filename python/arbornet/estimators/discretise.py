"""Numbers cut where they separate the classes best: Fayyad and Irani (1993) as a transformer for scikit-learn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from arbornet._core import MISSING, ParameterError, mdlp_cuts
from arbornet.data.column import Column
from arbornet.data.kinds import Binned, Continuous
from arbornet.data.schema import Schema
from arbornet.data.values import codes_to_series
from arbornet.estimators.inputs import columns_of, labels_of, numbers_of, schema_of
from arbornet.estimators.sk import Estimator, OneToOneFeatureMixin, TransformerMixin, check_is_fitted, output_config
from arbornet.given import ColumnLike, FrameLike

#: The most rows that are made of rows with whole weights.
MOST_REPEATED = 1_000_000
_NUMBERS = ("integer", "number", "date", "datetime", "duration", "time")


def class_cuts(
    columns: Mapping[str, Any],
    schema: Schema,
    codes: NDArray[np.uint32],
    n_classes: int,
    n_jobs: int = -1,
    weights: NDArray[np.float64] | None = None,
) -> dict[str, tuple[float, ...]]:
    """The cuts of every column of a schema, by name, that separate the classes.

    Rows are repeated as often as whole weights say: description lengths are of numbers of rows.

    Raises:
        ParameterError: If weights are not whole, or sum to more than a million.
    """
    values = [numbers_of(dict(columns), column) for column in schema.columns]
    if weights is not None and values:
        if (weights != weights.round()).any() or weights.sum() > MOST_REPEATED:
            raise ParameterError(
                "sample_weight: bins='fayyad_irani' takes whole weights that sum to a million at most; give a number "
                "of bins, which are cut by any weights, or a local_score for mixed columns such as PCART()"
            )
        rows = np.repeat(np.arange(len(weights)), weights.astype(np.intp))
        values, codes = [column[rows] for column in values], codes[rows]
    found = mdlp_cuts(values, codes, n_classes, n_jobs)
    return {column.name: tuple(cuts) for column, cuts in zip(schema.columns, found, strict=True)}


class FayyadIrani(OneToOneFeatureMixin, TransformerMixin, Estimator):  # type: ignore[misc]
    """Cuts numbers into bins by the entropy of a class; the minimum description length sets the number of bins.

    Frames keep their other columns; bins become ordered levels (a Polars Enum, a pandas ordered categorical) named like
    "<= 2.45", "2.45 to 4.75", "> 4.75". Arrays give the number of the bin. Missing values stay missing. A column
    without a useful cut has one bin, "all".

    Args:
        columns: The columns to cut; every column of numbers if left out.
        n_jobs: Threads; None and -1 for all cores.

    Attributes:
        cuts_: The cuts by column, ascending; a value equal to a cut lies below it.
        kinds_: The same as types for a schema: `schema.with_types(discretiser.kinds_)`.
        n_features_in_: Number of columns seen in `fit`.
        feature_names_in_: Their names, if they had any.

    Example:
        >>> bins = an.FayyadIrani().fit(X, y)
        >>> bins.cuts_["petal_length"]
        (2.45, 4.75)
    """

    def __init__(self, columns: Sequence[str | int] | None = None, *, n_jobs: int | None = None) -> None:
        self.columns = columns
        self.n_jobs = n_jobs

    def fit(self, X: FrameLike, y: ColumnLike | None = None) -> Self:
        """Finds the cuts of every column of numbers, given the class of each row."""
        columns, is_frame = columns_of(self, X, reset=True)
        classes, codes, _ = labels_of(self, y, _length(columns))
        chosen = self._chosen(schema_of(columns, is_frame), columns)
        schema = Schema(tuple(chosen))
        threads = self._threads()
        self.cuts_ = class_cuts(columns, schema, codes, len(classes), threads)
        self.kinds_ = {name: Binned(cuts=cuts) for name, cuts in self.cuts_.items()}
        self.schema_ = schema.with_types(dict(self.kinds_))
        return self

    def transform(self, X: FrameLike) -> Any:
        """The bins: a frame for a frame, numbers of bins for an array, or what `set_output` says."""
        check_is_fitted(self)
        columns, is_frame = columns_of(self, X, reset=False)
        wanted = output_config("transform", self)["dense"]
        if wanted == "default" and not is_frame:
            return self._numbers(columns)
        is_pandas = any(type(column).__module__.startswith("pandas") for column in columns.values())
        if wanted == "pandas" or (wanted == "default" and is_pandas):
            return self._pandas(columns, getattr(X, "index", None) if hasattr(X, "iloc") else None)
        bins = {series.name: series for series in self._series(columns)}
        return pl.DataFrame([_named(name, bins.get(name, column)) for name, column in columns.items()])

    def _chosen(self, schema: Schema, columns: Mapping[str, Any]) -> list[Column]:
        known = {column.name: column for column in schema.columns}
        if self.columns is not None:
            if isinstance(self.columns, str):
                raise ParameterError(f"columns={self.columns!r}: give a list of names, even of one")
            return [schema[name] for name in self.columns]
        declared = {name for name, column in columns.items() if _is_declared(column)}
        return [column for column in known.values() if column.class_ in _NUMBERS and column.name not in declared]

    def _codes(self, columns: Mapping[str, Any]) -> list[NDArray[np.uint32]]:
        numbers = [numbers_of(dict(columns), _plain(column)) for column in self.schema_.columns]
        cut = [np.searchsorted(self.cuts_[c.name], x) for c, x in zip(self.schema_.columns, numbers, strict=True)]
        return [np.where(np.isnan(x), MISSING, code).astype(np.uint32) for code, x in zip(cut, numbers, strict=True)]

    def _series(self, columns: Mapping[str, Any]) -> list[pl.Series]:
        coded = zip(self.schema_.columns, self._codes(columns), strict=True)
        return [codes_to_series(column, codes) for column, codes in coded]

    def _numbers(self, columns: Mapping[str, Any]) -> NDArray[Any]:
        bins = dict(zip(self.cuts_, self._codes(columns), strict=True))
        if len(bins) == len(columns):
            codes = np.column_stack([bins[name] for name in columns])
            return np.where(codes == MISSING, np.nan, codes.astype(np.float64))
        out = np.empty((_length(columns), len(columns)), dtype=object)
        for i, (name, column) in enumerate(columns.items()):
            out[:, i] = column if name not in bins else np.where(bins[name] == MISSING, np.nan, bins[name] * 1.0)
        return out

    def _pandas(self, columns: Mapping[str, Any], index: Any) -> Any:
        import pandas as pd

        bins = dict(zip(self.cuts_, self._codes(columns), strict=True))
        out: dict[str, Any] = {}
        for name, column in columns.items():
            if name in bins:
                codes = np.where(bins[name] == MISSING, -1, bins[name].astype(np.int64))
                levels = self.schema_[name].levels
                out[name] = pd.Categorical.from_codes(codes, categories=list(levels or ()), ordered=True)
            else:
                out[name] = column.to_list() if isinstance(column, pl.Series) else column
        return pd.DataFrame(out, index=index)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def _plain(column: Column) -> Column:
    """The column as one of numbers in its own units."""
    return Column(column.name, Continuous(), column.class_, column.reason, zone=column.zone, form=column.form)


def _named(name: str, column: Any) -> pl.Series:
    return column.alias(name) if isinstance(column, pl.Series) else pl.Series(name, column)


def _is_declared(column: Any) -> bool:
    """Whether a frame says of a column that it holds categories."""
    return type(getattr(column, "dtype", None)).__name__ in ("CategoricalDtype", "Categorical", "Enum")


def _length(columns: Mapping[str, Any]) -> int:
    return len(next(iter(columns.values())))
