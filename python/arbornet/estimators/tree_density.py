"""The Chow-Liu tree as a density for scikit-learn."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self, cast

from arbornet._core import ParameterError
from arbornet.data.kinds import Binned, Continuous
from arbornet.data.schema import Schema
from arbornet.data.table import Table
from arbornet.estimators.inputs import n_rows_of, schema_of, weights_of
from arbornet.estimators.learner import NetworkLearner
from arbornet.given import ColumnLike, FrameLike
from arbornet.network.smoothing import smoothed_fit
from arbornet.scores import PCART, LogLikelihood
from arbornet.scores.prepare import Score
from arbornet.search.trees import chow_liu


class ChowLiu(NetworkLearner):
    """The best tree over all columns as a density: `fit`, `score_samples`, `sample`.

    Every column depends on one other at most. Frames keep the types of their columns; the columns of an array are
    continuous and named x0, x1, ...

    Args:
        local_score: Any local score. If left out, the log-likelihood (Chow and Liu 1968) where every column has levels,
            and `PCART()`, which takes numbers as they are, where some do not.
        root: The column at the top; see `chow_liu`.
        forest: Leave out arcs that do not raise the score.
        smoothing: Added to the count of every level. If left out, the score's own pseudo-counts, and for scores of
            maximum likelihood one divided by the number of levels.
        bins: With a score of levels, how numbers are cut: a number of bins of equal frequency, or `an.Binned(...)`.
            Densities are then those of the bins, and draws are bins.
        schema: As for `learn`.
        missing: As for `Table`.
        unseen: As for `NetworkLearner`.
        n_jobs: Threads; None and -1 for all cores.

    Attributes:
        network_: The network.
        graph_: Its graph.
        found_: What `chow_liu` found.
        n_features_in_: Number of columns seen in `fit`.
        feature_names_in_: Their names, if they had any.

    Example:
        >>> tree = an.ChowLiu().fit(df)
        >>> tree.score_samples(df)
    """

    takes_target: ClassVar[bool] = False

    def __init__(
        self,
        local_score: Score | None = None,
        *,
        root: str | None = None,
        forest: bool = False,
        smoothing: float | None = None,
        bins: int | Binned | None = None,
        schema: Schema | None = None,
        missing: Literal["drop", "error", "level"] | None = None,
        unseen: Literal["error", "missing"] = "error",
        n_jobs: int | None = None,
    ) -> None:
        self.local_score = local_score
        self.root = root
        self.forest = forest
        self.smoothing = smoothing
        self.bins = bins
        self.schema = schema
        self.missing = missing
        self.unseen = unseen
        self.n_jobs = n_jobs

    def fit(self, X: FrameLike, y: ColumnLike | None = None, sample_weight: Any = None) -> Self:
        """Grows the tree of a frame or an array; `y` is not used. `sample_weight` says how often each row counts."""
        frame = self._read(X, reset=True)
        weights = weights_of(sample_weight, n_rows_of(frame)) if sample_weight is not None else None
        self.of_array_ = isinstance(frame, dict)
        inferred = schema_of(frame, not self.of_array_, self.schema)
        schema = inferred if self.schema is None else self.schema
        numbers = [column.name for column in schema.used if isinstance(column.kind, Continuous)]
        if self.bins is not None:
            if isinstance(self.bins, str):
                raise ParameterError(f"bins={self.bins!r}: give a number of bins or an.Binned(...)")
            kind = self.bins if isinstance(self.bins, Binned) else Binned(self.bins)
            schema, numbers = schema.with_types(dict.fromkeys(numbers, kind)), []
        score = self.local_score
        if score is None:
            score = PCART() if numbers else LogLikelihood()
        policy = cast('Literal["drop", "error", "level"] | None', self.missing)
        table = Table(frame, schema, policy, unseen=self.unseen, n_jobs=self._threads(), weights=weights)
        self.found_ = chow_liu(table, score, self.root, forest=self.forest, n_jobs=self._threads())
        self.network_ = smoothed_fit(table, self.found_.dag, score, self.smoothing, self._threads())
        self.graph_ = self.network_.graph
        return self
