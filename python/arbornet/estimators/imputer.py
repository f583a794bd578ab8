"""Missing values filled in by a network, as a transformer for scikit-learn."""

from __future__ import annotations

import warnings
from typing import Any, Literal, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from arbornet.data.incomplete import rows_of
from arbornet.data.schema import Schema
from arbornet.estimators.inputs import columns_of, n_rows_of, schema_of, weights_of
from arbornet.estimators.sk import (
    Estimator,
    OneToOneFeatureMixin,
    TransformerMixin,
    check_is_fitted,
    check_random_state,
    output_config,
)
from arbornet.given import ColumnLike, FrameLike, SearchLike
from arbornet.graphs.constraints import Constraints
from arbornet.learn import learn
from arbornet.network.imputation import How
from arbornet.step1.effort import Effort


class NetworkImputer(OneToOneFeatureMixin, TransformerMixin, Estimator):  # type: ignore[misc]
    """Learns a network of rows with missing values, and fills these in given the rest of their rows.

    Frames keep the types of their columns, and get levels and dates back as they were; of arrays, floats are continuous
    and other columns are read like a frame's. Columns without information (constant, or numbering the rows) are left as
    they are.

    Args:
        local_score: The local score; that of `learn` if left out.
        how: `"modes"`: the most probable level, or the median of a number, the same whatever rows stand beside it;
            `"means"`: the same with the mean, which has the smallest squared error; `"draw"`: a draw, which keeps the
            spread of the column.
        search: As for `learn`.
        max_parents: As for `learn`.
        constraints: As for `learn`.
        schema: As for `learn`.
        unseen: A level that `fit` did not see: `"error"`, or `"missing"` to fill it in too.
        random_state: Seed of the draws.
        n_jobs: Threads; None and -1 for all cores.
        effort: As for `learn`.

    Attributes:
        network_: The network.
        n_features_in_: Number of columns seen in `fit`.
        feature_names_in_: Their names, if they had any.

    Example:
        >>> make_pipeline(an.NetworkImputer(), HistGradientBoostingClassifier()).fit(X, y)
    """

    def __init__(
        self,
        local_score: Any = None,
        *,
        how: How = "modes",
        search: SearchLike = "exact",
        max_parents: int | Literal["auto"] = "auto",
        constraints: Constraints | None = None,
        schema: Schema | None = None,
        unseen: Literal["error", "missing"] = "error",
        random_state: Any = None,
        n_jobs: int | None = None,
        effort: Effort | None = None,
    ) -> None:
        self.local_score = local_score
        self.how = how
        self.search = search
        self.max_parents = max_parents
        self.constraints = constraints
        self.schema = schema
        self.unseen = unseen
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.effort = effort

    def fit(self, X: FrameLike, y: ColumnLike | None = None, sample_weight: Any = None) -> Self:
        """Learns the network of all columns; `y` is not used. `sample_weight` says how often each row counts."""
        columns, is_frame = columns_of(self, X, reset=True)
        weights = weights_of(sample_weight, n_rows_of(columns))
        schema = schema_of(columns, is_frame, self.schema)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what is left out stays as it is, which is said above
            rows = rows_of(columns, schema, "learn", self.unseen, n_jobs=self._threads(), weights=weights)
        self.network_ = learn(
            rows,
            self.local_score,
            self.search,
            self.max_parents,
            self.constraints,
            n_jobs=self._threads(),
            verbose=False,
            effort=self.effort,
        )
        return self

    def transform(self, X: FrameLike) -> Any:
        """The rows with their missing values filled in: a frame for a frame, an array for an array."""
        check_is_fitted(self)
        columns, is_frame = columns_of(self, X, reset=False)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1)) if self.random_state is not None else 0
        wanted = output_config("transform", self)["dense"]
        if not is_frame:
            filled = self._filled({name: _series(name, column) for name, column in columns.items()}, seed, "polars")
            return _array(filled)
        return self._filled(X if not isinstance(X, pl.LazyFrame) else X.collect(), seed, wanted)

    def _filled(self, frame: Any, seed: int, wanted: str) -> Any:
        output: Any = wanted if wanted in ("pandas", "polars") else None
        return self.network_.impute(
            frame, self.how, seed=seed, unseen=self.unseen, output=output, n_jobs=self._threads()
        )


def _series(name: str, column: Any) -> pl.Series:
    return pl.Series(name, column, nan_to_null=True)


def _array(frame: pl.DataFrame) -> NDArray[Any]:
    if all(series.dtype.is_numeric() for series in frame):
        array: NDArray[Any] = frame.cast(pl.Float64).to_numpy()
        return array
    return np.array([series.to_list() for series in frame], dtype=object).T
