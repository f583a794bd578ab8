"""A network as a scikit-learn estimator. Importing this module imports scikit-learn; arbornet itself does not."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any, ClassVar, Literal, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from arbornet._core import ParameterError
from arbornet.data.frames_out import to_pandas
from arbornet.data.incomplete import rows_of
from arbornet.data.schema import Schema, infer_schema
from arbornet.estimators.inputs import columns_of, n_rows_of, schema_of, weights_of
from arbornet.estimators.sk import (
    ClassifierTags,
    DensityMixin,
    Estimator,
    RegressorTags,
    available_if,
    check_feature_names,
    check_is_fitted,
    check_n_features,
    check_random_state,
    get_config,
    validate_data,
)
from arbornet.estimators.targets import (
    name_of,
    of_predictions,
    values_of,
    warn_of_new_levels,
    warn_of_revealing,
    with_target,
)
from arbornet.given import SearchLike
from arbornet.graphs.constraints import Constraints
from arbornet.learn import Missing, learn
from arbornet.step1.effort import Effort

Output = Literal["default", "polars", "pandas"]


def _may_tell_shares(learner: NetworkLearner) -> bool:
    """Whether the target has levels, or may have: it is not known before `fit`."""
    return learner.takes_target and (not hasattr(learner, "network_") or hasattr(learner, "classes_"))


def _array_of(levels: Sequence[object]) -> NDArray[Any]:
    return np.array(levels, dtype=object if isinstance(levels[0], str) else None)


def _in_order(levels: Sequence[object]) -> NDArray[np.intp]:
    """The places of sorted levels: a network keeps those of an ordered target in their own order."""
    return np.argsort(_array_of(levels), kind="stable")


class NetworkLearner(DensityMixin, Estimator):  # type: ignore[misc]
    """Learns a network with `fit`, scores rows and draws them; for Pipeline, GridSearchCV, cross_val_score and clone.

    With `fit(X, y)` the network has the target too: `predict(X)` predicts it, and `score(X, y)` is the share of correct
    predictions, or R² of a number. Of levels `predict_proba` gives the probabilities: then it is a classifier for
    scikit-learn, once it is fitted. Without `y`, the score is the mean log density of the rows.

    Frames keep the types of their columns. The columns of an array are named x0, x1, ...; they are continuous, but
    those of an array of objects, such as a ColumnTransformer makes of texts and numbers, are read like a frame's.

    Fitted, it pickles (and goes through joblib) like any estimator. Unpickling runs code: never load pickles you do not
    trust, and share `network_.save("net.json")` instead.

    Args:
        local_score: The local score; that of `learn` if left out.
        search: As for `learn`.
        max_parents: As for `learn`.
        constraints: As for `learn`.
        schema: As for `learn`.
        missing: As for `learn`.
        unseen: A level of new rows, or of a declared column, that is not known: `"error"`, or `"missing"` to treat it
            as missing.
        time_limit: As for `learn`.
        n_jobs: Threads; None and -1 for all cores.
        effort: As for `learn`.

    Attributes:
        network_: The network.
        graph_: Its graph.
        n_features_in_: Number of columns seen in `fit`.
        feature_names_in_: Their names, if they had any.
        target_: The name of the target in the network; None if there was none.
        classes_: The levels of the target, sorted, as scikit-learn's metrics expect them; only if it has some.

    Example:
        >>> learner = NetworkLearner(max_parents=2).fit(df)
        >>> learner.score_samples(df)
        >>> cross_val_score(NetworkLearner(max_parents=2), df.drop("sick"), df["sick"])
    """

    takes_target: ClassVar[bool] = True
    """Whether `fit` learns a target too."""

    def __init__(
        self,
        local_score: Any = None,
        *,
        search: SearchLike = "exact",
        max_parents: int | Literal["auto"] = "auto",
        constraints: Constraints | None = None,
        schema: Schema | None = None,
        missing: Missing | None = None,
        unseen: Literal["error", "missing"] = "error",
        time_limit: float | None = None,
        n_jobs: int | None = None,
        effort: Effort | None = None,
    ) -> None:
        self.local_score = local_score
        self.search = search
        self.max_parents = max_parents
        self.constraints = constraints
        self.schema = schema
        self.missing = missing
        self.unseen = unseen
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.effort = effort

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learns the network of a frame or an array, and of `y` if it is given, which `predict` then predicts.

        `sample_weight` says how often each row counts, as `weights` of `learn`.
        """
        frame, schema = self._read(X, reset=True), self.schema
        weights = weights_of(sample_weight, n_rows_of(frame)) if sample_weight is not None else None
        self.of_array_ = isinstance(frame, dict)
        if schema is None and isinstance(frame, dict):
            schema = schema_of(frame, is_frame=False)
        self.target_ = None if y is None else name_of(y, frame)
        if schema is None and self.target_ is None:
            schema = infer_schema(frame, scales="auto")
        if self.target_ is not None:
            frame, schema = with_target(frame, schema, y, self.target_)
        self.network_ = learn(
            rows_of(frame, schema, self.missing, self.unseen, n_jobs=self._threads(), weights=weights),
            self.local_score,
            self.search,
            self.max_parents,
            self.constraints,
            time_limit=self.time_limit,
            n_jobs=self._threads(),
            verbose=False,
            effort=self.effort,
        )
        self.graph_ = self.network_.graph
        self.__dict__.pop("classes_", None)
        if self.target_ is not None:
            warn_of_revealing(self.network_.schema, self.target_)
            levels = self.network_.schema[self.target_].levels
            if levels is not None:
                self.classes_ = _array_of(levels)[_in_order(levels)]
        return self

    def _known_target(self) -> str:
        """The target that was learned with.

        Raises:
            ParameterError: If `fit` was given none.
        """
        check_is_fitted(self)
        target = self._target()
        if target is None:
            raise ParameterError("there is no target to predict; give it to fit(X, y)")
        return target

    @available_if(attrgetter("takes_target"))  # type: ignore[untyped-decorator]
    def predict(self, X: Any) -> NDArray[Any]:
        """The target's most probable level, or the median of a number, in every row.

        Raises:
            ParameterError: If `fit` was given no target.
        """
        target = self._known_target()
        found = self.network_.predict(
            self._read(X, reset=False), target, unseen=self.unseen, output="polars", n_jobs=self._threads()
        )
        predicted: NDArray[Any] = found.to_numpy()
        return predicted

    @available_if(_may_tell_shares)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of every level of the target in every row, a column for each of `classes_`.

        Raises:
            ParameterError: If `fit` was given no target.
        """
        target = self._known_target()
        found = self.network_.predict_proba(
            self._read(X, reset=False), target, unseen=self.unseen, output="polars", n_jobs=self._threads()
        )
        shares: NDArray[np.float64] = np.column_stack([column.to_numpy() for column in found.get_columns()])
        impossible = np.isnan(shares).any(axis=1)
        if impossible.any():  # rows that the network holds for impossible tell nothing
            shares[impossible] = self.network_.query(target)["probability"].to_numpy()
        return shares[:, _in_order(self.network_.schema[target].levels or ())]

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Natural log density of every row, missing values marginalised."""
        check_is_fitted(self)
        densities: NDArray[np.float64] = self.network_.log_likelihood(
            self._read(X, reset=False), unseen=self.unseen, n_jobs=self._threads()
        )
        return densities

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Mean log density of the rows, or with `y` how well it is predicted; higher is better.

        Of levels the share that is correct, of numbers R²; with `sample_weight` each row counts as often as that says.
        """
        check_is_fitted(self)
        target = self._target()
        if y is None or target is None:
            densities = self.score_samples(X)
            return float(np.average(densities, weights=weights_of(sample_weight, len(densities))))
        levels = self.network_.schema[target].levels
        truth = values_of(y)
        if levels is not None:
            warn_of_new_levels(levels, truth, target)
        return of_predictions(self.predict(X), truth, levels is not None, weights_of(sample_weight, len(truth)))

    def sample(self, n_samples: int = 1, random_state: Any = None) -> Any:
        """Draws rows: an array if an array was fitted, else a frame (see `set_output`)."""
        check_is_fitted(self)
        seed = int(check_random_state(random_state).randint(2**31 - 1))
        draws = self.network_.sample(n_samples, seed, n_jobs=self._threads())
        own: dict[str, Output] = getattr(self, "_sklearn_output_config", {})
        output = own.get("transform") or get_config()["transform_output"]
        if output == "pandas":
            return to_pandas(draws)
        if output == "default" and self.of_array_:
            return draws.drop(self._target() or []).to_numpy()
        return draws

    def set_output(self, *, transform: Output | None = None) -> Self:
        """Whether `sample` gives Polars or pandas frames, for this estimator and its clones.

        Without it `sklearn.set_config(transform_output=...)` holds, and by default it is an array where an array was
        fitted, else a Polars frame. `score_samples` is an array in any case, as scikit-learn requires.
        """
        if transform is not None:
            if transform not in ("default", "polars", "pandas"):
                raise ParameterError(f"transform={transform!r}: choose 'default', 'polars' or 'pandas'")
            # The name that `sklearn.clone` looks for.
            self._sklearn_output_config = {"transform": transform}
        return self

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn asks of an estimator: a learner whose target is known is a classifier or a regressor."""
        tags = super().__sklearn_tags__()
        if getattr(self, "target_", None) is not None:
            if hasattr(self, "classes_"):
                tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags()
            else:
                tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags()
        return tags

    def _target(self) -> str | None:
        """The target; pickles of earlier versions have none."""
        return getattr(self, "target_", None)

    def _read(self, X: Any, reset: bool) -> Any:
        """A frame as it is, anything else as an array of numbers, a dict of its columns."""
        is_frame = hasattr(X, "columns") or hasattr(X, "collect_schema") or hasattr(X, "__arrow_c_stream__")
        if is_frame and not hasattr(X, "sparse"):
            if isinstance(X, pl.LazyFrame):
                X = X.collect()
            check_feature_names(self, X, reset=reset)
            check_n_features(self, X, reset=reset)
            return X
        if isinstance(X, np.ndarray) and X.dtype.kind in "OUS" and X.ndim == 2:
            return columns_of(self, X, reset)[0]
        array = validate_data(self, X, reset=reset, dtype=np.float64, ensure_all_finite="allow-nan")
        return {f"x{i}": array[:, i] for i in range(array.shape[1])}
