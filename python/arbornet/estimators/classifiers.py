"""Bayesian network classifiers for scikit-learn: naive Bayes, and naive Bayes augmented by a tree (TAN).

The class is a parent of every attribute. A TAN's attributes form the best tree beside it under any local score
(Friedman, Geiger and Goldszmidt 1997; Carvalho 2009); naive Bayes has no other arc. A prediction is exact: missing
values are marginalised, and so are levels that `fit` did not see.
"""

from __future__ import annotations

import warnings
from contextlib import nullcontext
from typing import Any, ClassVar, Literal, Self

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from arbornet._core import ArbornetError, ParameterError
from arbornet.data.column import Column
from arbornet.data.incomplete import Incomplete
from arbornet.data.kinds import Binned, Categorical, Continuous
from arbornet.data.schema import Schema
from arbornet.data.table import Table
from arbornet.estimators.discretise import class_cuts
from arbornet.estimators.inputs import Columns, columns_of, labels_of, n_rows_of, rows_taken, schema_of, weights_of
from arbornet.estimators.sk import ClassifierMixin, Estimator, check_is_fitted
from arbornet.network import BayesNet
from arbornet.network.available import fit_available
from arbornet.network.smoothing import models_of, smoothed_fit
from arbornet.scores import LogLikelihood
from arbornet.scores.tables import Tabular
from arbornet.search.trees import tan
from arbornet.text.notices import ArbornetWarning, of_parts

Missing = Literal["available", "drop", "level"]
Bins = Literal["fayyad_irani"] | int | Binned


class _Classifier(ClassifierMixin, Estimator):  # type: ignore[misc]
    """What the two have in common: everything but the arcs between attributes."""

    needs_complete_rows: ClassVar[bool] = False

    network_: BayesNet
    local_score: Any
    smoothing: float | None
    bins: Bins
    schema: Schema | None
    missing: Missing
    n_jobs: int | None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learns from rows and their labels; labels may be of any type that can be sorted.

        `sample_weight` says how often each row counts. Scores take any weights, `bins="fayyad_irani"` whole ones.
        """
        columns, is_frame = columns_of(self, X, reset=True)
        n_rows = n_rows_of(columns)
        self.classes_, codes, name = labels_of(self, y, n_rows)
        weights = weights_of(sample_weight, n_rows)
        if weights is not None and not weights.all():  # rows of weight 0 are no rows, and their label may be no class
            rows = np.flatnonzero(weights)
            columns, weights = rows_taken(columns, rows), weights[rows]
            kept, of_rows = np.unique(codes[rows], return_inverse=True)
            self.classes_, codes = self.classes_[kept], of_rows.astype(np.uint32)
        score = LogLikelihood() if self.local_score is None else self.local_score
        schema = schema_of(columns, is_frame, self.schema)
        schema = self._cut(columns, schema, codes, weights) if isinstance(score, Tabular) else schema
        self.class_name_ = _free_name(name, columns)
        self.network_ = self._learned(columns, schema, codes, score, weights)
        self.graph_ = self.network_.graph
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of every class in every row, one column per label in the order of `classes_`."""
        check_is_fitted(self)
        columns, _ = columns_of(self, X, reset=False)
        known = {name: column for name, column in columns.items() if name in self.network_.names}
        n_rows = len(next(iter(columns.values())))
        if not known:
            return np.repeat(self._shares(), n_rows, axis=0)
        found = self.network_.predict_proba(
            known, self.class_name_, unseen="missing", output="polars", n_jobs=self._threads()
        )
        probabilities: NDArray[np.float64] = np.column_stack([series.to_numpy() for series in found.get_columns()])
        impossible = np.isnan(probabilities).any(axis=1)
        probabilities[impossible] = self._shares()
        return probabilities

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable label of every row; ties go to the first of `classes_`."""
        check_is_fitted(self)
        best: NDArray[Any] = self.classes_[np.argmax(self.predict_proba(X), axis=1)]
        return best

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """The logarithms of `predict_proba`."""
        with np.errstate(divide="ignore"):
            logs: NDArray[np.float64] = np.log(self.predict_proba(X))
        return logs

    def _arcs(self, table: Table, score: Any) -> nx.DiGraph[str]:
        """The graph; the class is a parent of all."""
        raise NotImplementedError

    def _shares(self) -> NDArray[np.float64]:
        shares = self.network_.query(self.class_name_)["probability"].to_numpy()
        return np.asarray(shares, dtype=np.float64).reshape(1, -1)

    def _cut(
        self, columns: Columns, schema: Schema, codes: NDArray[np.uint32], weights: NDArray[np.float64] | None
    ) -> Schema:
        """The schema with bins for the columns of numbers, which a score of levels needs."""
        numbers = Schema(tuple(column for column in schema.used if isinstance(column.kind, Continuous)))
        if self.bins == "fayyad_irani":
            cuts = class_cuts(columns, numbers, codes, len(self.classes_), self._threads(), weights)
            return schema.with_types({name: Binned(cuts=of) for name, of in cuts.items()})
        if isinstance(self.bins, str):
            raise ParameterError(f"bins={self.bins!r}: give 'fayyad_irani', a number of bins or an.Binned(...)")
        kind = self.bins if isinstance(self.bins, Binned) else Binned(self.bins)
        return schema.with_types(dict.fromkeys(numbers.names, kind))

    def _learned(
        self,
        columns: Columns,
        schema: Schema,
        codes: NDArray[np.uint32],
        score: Any,
        weights: NDArray[np.float64] | None,
    ) -> BayesNet:
        if self.missing not in ("available", "drop", "level"):
            raise ParameterError(f"missing={self.missing!r}: choose 'available', 'drop' or 'level'")
        levels = _levels(self.classes_)
        class_ = "text" if isinstance(levels[0], str) else "integer"
        label = Column(self.class_name_, Categorical(levels), class_, "the class")
        columns = {**columns, self.class_name_: [levels[code] for code in codes.tolist()]}
        schema, threads = Schema((*schema.columns, label)), self._threads()
        try:
            with of_parts() if self.missing == "available" else nullcontext():
                policy: Literal["level", "drop"] = "level" if self.missing == "level" else "drop"
                table = Table(columns, schema, policy, n_jobs=threads, weights=weights)
        except ArbornetError:
            # With no complete row there is no table; any other error is raised again below.
            if self.missing == "available":
                return self._learned_with_gaps(columns, schema, score, weights)
            raise
        if self.missing == "available" and table.dropped:
            return self._learned_with_gaps(columns, schema, score, weights)
        return smoothed_fit(table, self._arcs(table, score), score, self.smoothing, threads)

    def _learned_with_gaps(
        self, columns: Columns, schema: Schema, score: Any, weights: NDArray[np.float64] | None
    ) -> BayesNet:
        gaps = Incomplete(columns, schema, n_jobs=self._threads(), weights=weights)
        names = gaps.schema.names
        n_complete = int(gaps.complete().sum())
        if self.needs_complete_rows and n_complete < gaps.n_rows / 2:
            _warn(gaps, n_complete)
        graph = _naive(names, self.class_name_)
        if n_complete > 0:
            graph = self._arcs(Table.from_handle(gaps.table(gaps.complete()), gaps.schema), score)
        return fit_available(gaps, graph, lambda table: models_of(table, score, self.smoothing), self._threads())


def _warn(gaps: Incomplete, n_complete: int) -> None:
    lacks = {name: int((~known).sum()) for name, known in zip(gaps.schema.names, gaps.known, strict=True)}
    worst = max(lacks, key=lambda name: lacks[name])
    warnings.warn(
        f"the tree is learned from the {n_complete:,} complete rows of {gaps.n_rows:,} ('{worst}' is missing in "
        f"{lacks[worst]:,}); leave such columns out, or give missing='level' to make missing a level of categorical "
        "columns",
        ArbornetWarning,
        stacklevel=4,
    )


class NaiveBayes(_Classifier):
    """Naive Bayes: every attribute depends on the class alone.

    Frames keep the types of their columns; the columns of an array are called x0, x1, ..., and floats are continuous.
    Numbers are cut into bins, by default where they separate the classes best.

    Args:
        local_score: The score whose models are fitted: `LogLikelihood()` if left out. A score for mixed columns such
            as `PCART()` needs no bins.
        smoothing: Added to the count of every level. If left out: the score's own pseudo-counts (of a Dirichlet score),
            or one divided by the number of levels (maximum likelihood).
        bins: How numbers are cut for scores of levels: `"fayyad_irani"`, a number of bins of equal frequency, or
            `an.Binned(...)`.
        schema: The kinds of the attributes; inferred if left out.
        missing: Missing values in `fit`: `"available"` estimates every probability from the rows that have its values
            (and a tree from complete rows); `"drop"` leaves incomplete rows out; `"level"` makes missing a level of its
            own in categorical columns and drops rows that lack a number. In a prediction any value may be missing.
        n_jobs: Threads; None and -1 for all cores.

    Attributes:
        classes_: The labels in order.
        network_: The network; its class has the name `class_name_`.
        graph_: Its graph.
        n_features_in_: Number of columns seen in `fit`.
        feature_names_in_: Their names, if they had any.

    Example:
        >>> an.NaiveBayes().fit(X, y).predict_proba(X)
    """

    def __init__(
        self,
        local_score: Any = None,
        *,
        smoothing: float | None = None,
        bins: Bins = "fayyad_irani",
        schema: Schema | None = None,
        missing: Missing = "available",
        n_jobs: int | None = None,
    ) -> None:
        self.local_score = local_score
        self.smoothing = smoothing
        self.bins = bins
        self.schema = schema
        self.missing = missing
        self.n_jobs = n_jobs

    def _arcs(self, table: Table, score: Any) -> nx.DiGraph[str]:
        return _naive(table.names, self.class_name_)


class TANClassifier(_Classifier):
    """Tree-augmented naive Bayes: beside the class, every attribute depends on one other at most.

    The tree has the highest score of all trees: a maximum spanning tree for score-equivalent scores, a maximum
    branching for others. Otherwise as `NaiveBayes`.

    Args:
        local_score: Chooses the tree and its parameters: `LogLikelihood()` if left out, which is the TAN of Friedman,
            Geiger and Goldszmidt; any local score can be used.
        root: The attribute at the top of the tree; see `chow_liu`.
        forest: Leave out arcs between attributes that do not raise the score; the log-likelihood keeps them all.
        smoothing: As for `NaiveBayes`.
        bins: As for `NaiveBayes`.
        schema: As for `NaiveBayes`.
        missing: As for `NaiveBayes`.
        n_jobs: As for `NaiveBayes`.

    Attributes:
        classes_: The labels in order.
        network_: The network; its class has the name `class_name_`.
        graph_: Its graph.
        n_features_in_: Number of columns seen in `fit`.
        feature_names_in_: Their names, if they had any.

    Example:
        >>> an.TANClassifier(an.BDeu(1)).fit(X, y).score(X, y)
    """

    needs_complete_rows = True

    def __init__(
        self,
        local_score: Any = None,
        *,
        root: str | None = None,
        forest: bool = False,
        smoothing: float | None = None,
        bins: Bins = "fayyad_irani",
        schema: Schema | None = None,
        missing: Missing = "available",
        n_jobs: int | None = None,
    ) -> None:
        self.local_score = local_score
        self.root = root
        self.forest = forest
        self.smoothing = smoothing
        self.bins = bins
        self.schema = schema
        self.missing = missing
        self.n_jobs = n_jobs

    def _arcs(self, table: Table, score: Any) -> nx.DiGraph[str]:
        found = tan(table, self.class_name_, score, self.root, forest=self.forest, n_jobs=self._threads())
        return found.dag


def _naive(names: list[str], class_name: str) -> nx.DiGraph[str]:
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(names)
    graph.add_edges_from((class_name, name) for name in names if name != class_name)
    return graph


def _free_name(wanted: str, columns: Columns) -> str:
    """A name for the class that no attribute has."""
    name = wanted
    while name in columns:
        name += "_"
    return name


def _levels(classes: NDArray[Any]) -> tuple[Any, ...]:
    """The labels as levels of the network; as texts where they cannot be levels, as numbers where texts collide."""
    plain = [label.item() if isinstance(label, np.generic) else label for label in classes.tolist()]
    if all(isinstance(label, str) for label in plain) or all(type(label) is int for label in plain):
        return tuple(plain)
    texts = [str(label) for label in plain]
    return tuple(texts) if len(set(texts)) == len(texts) else tuple(range(len(plain)))
