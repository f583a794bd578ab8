"""`BayesNet`: a fitted network, to be read, asked, sampled and kept.

Every question goes to the core with the rows coded by the network's schema, and comes back in the user's values. What
is exact and what is sampled is decided per question (see `method`): a target whose neighbourhood is known, and any
question to a network of levels or of trees, is answered exactly where that is affordable.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import networkx as nx
import numpy as np
import polars as pl
from numpy.typing import NDArray

from arbornet import evidence
from arbornet._core import ArbornetError, ColumnError, NetworkHandle, ParameterError
from arbornet.graphs import cpdag
from arbornet.models import LocalModel
from arbornet.values import codes_to_series, numbers_to_series

if TYPE_CHECKING:
    from pathlib import Path

    from arbornet.schema import Schema

Method = Literal["auto", "exact", "sampling"]
log = logging.getLogger("arbornet")


@dataclass(frozen=True)
class Origin:
    """Where a network comes from: what it was fitted to, by which score, found by which search."""

    score: str | None = None
    """The score as JSON."""
    n_rows: int | None = None
    """Rows it was fitted to."""
    family_scores: tuple[float, ...] | None = None
    """The score of every variable given its parents."""
    contributions: tuple[tuple[float, ...], ...] | None = None
    """Per variable and parent (in column order), what the score loses without that arc."""
    search: dict[str, Any] = field(default_factory=dict)
    """Score, bound, seconds and end of the search, if there was one."""
    strengths: dict[str, dict[str, float]] = field(default_factory=dict)
    """Share of bootstrap networks with an arc, by parent and child, if it was asked for."""


class BayesNet:
    """A directed acyclic graph with a small model under every node.

    Made by `learn`, `fit`, `load` and `read_bif`. Frames of any kind go in, Polars frames come out; rows may have
    missing values and frames may lack columns: what is not known is summed or integrated out.

    Example:
        >>> net = an.learn(an.example("penguins"))
        >>> net.predict(df, "species")
    """

    def __init__(self, handle: NetworkHandle, schema: Schema, origin: Origin | None = None) -> None:
        if handle.names != schema.names:
            raise ArbornetError(
                f"the network's variables {evidence.some(handle.names)} are not those of the schema, "
                f"{evidence.some(schema.names)}"
            )
        self.handle = handle
        self.schema = schema
        self.origin = origin or Origin()

    # What it is

    @property
    def names(self) -> list[str]:
        """The variables in column order."""
        return self.schema.names

    @cached_property
    def graph(self) -> nx.DiGraph[str]:
        """The graph, a copy to keep.

        Nodes carry `kind`, `levels` and `n_parameters` (and `score`); arcs carry, where known, `contribution` (what the
        score loses without them) and `strength` (their share of bootstrap networks).
        """
        graph: nx.DiGraph[str] = nx.DiGraph()
        for v, name in enumerate(self.names):
            graph.add_node(
                name, kind=self.handle.kind(v), levels=self.handle.levels(v), n_parameters=self.handle.n_parameters(v)
            )
            if self.origin.family_scores is not None:
                graph.nodes[name]["score"] = self.origin.family_scores[v]
        for v, name in enumerate(self.names):
            for i, p in enumerate(self.handle.parents(v)):
                told: dict[str, float] = {}
                if self.origin.contributions is not None:
                    told["contribution"] = self.origin.contributions[v][i]
                strength = self.origin.strengths.get(self.names[p], {}).get(name)
                if strength is not None:
                    told["strength"] = strength
                graph.add_edge(self.names[p], name, **told)
        return graph

    def to_networkx(self) -> nx.DiGraph[str]:
        """A copy of `graph`."""
        return self.graph.copy()

    def cpdag(self) -> nx.DiGraph[str]:
        """The graph's equivalence class: an arc that may point either way is a pair of edges, one each way."""
        return cpdag(self.graph)

    def __getitem__(self, variable: str) -> LocalModel:
        """The local model of a variable: `.text()`, `.rules()`, `.leaves`, `.draw()`."""
        return LocalModel(self.handle.model(self._position(variable)))

    def explain(self, variable: str) -> str:
        """A variable in words: its kind, what it depends on and how much, what depends on it, and its model."""
        at = self._position(variable)
        levels = self.handle.levels(at)
        told = self.handle.kind(at) if levels is None else f"{self.handle.kind(at)}: {', '.join(map(str, levels))}"
        lines = [f"{variable} ({told})"]
        arcs = [(p, self.graph.edges[p, variable]) for p in self.parents(variable)]
        lines += [f"  depends on {p}{_figures(data)}" for p, data in arcs] or ["  depends on no other variable"]
        children = [self.names[v] for v in range(len(self)) if at in self.handle.parents(v)]
        lines += [f"  {c} depends on it{_figures(self.graph.edges[variable, c])}" for c in children]
        return "\n".join([*lines, "", self[variable].text()])

    def parents(self, variable: str) -> list[str]:
        """The parents of a variable in column order."""
        return [self.names[p] for p in self.handle.parents(self._position(variable))]

    def markov_blanket(self, variable: str) -> list[str]:
        """Parents, children and the children's other parents, in column order: given these, nothing else matters."""
        at = self._position(variable)
        families = [self.handle.parents(v) for v in range(len(self.names))]
        around = set(families[at])
        for v, parents in enumerate(families):
            if at in parents:
                around |= {v, *parents}
        return [self.names[v] for v in sorted(around - {at})]

    def arc_score(self, parent: str, child: str) -> float:
        """What the score loses without an arc.

        Raises:
            ArbornetError: If there is no such arc, or the network was not fitted with a score.
        """
        if not self.graph.has_edge(parent, child):
            raise ArbornetError(f"there is no arc from {parent!r} to {child!r}")
        if self.origin.contributions is None:
            raise ArbornetError("this network was not fitted to a table with a score, so its arcs have no scores")
        contribution: float = self.graph.edges[parent, child]["contribution"]
        return contribution

    def with_strengths(self, strengths: pl.DataFrame) -> BayesNet:
        """This network with the strengths of its arcs, as `evaluate.arc_strength` gives them."""
        from arbornet.evaluate import strengths_of

        return BayesNet(self.handle, self.schema, replace(self.origin, strengths=strengths_of(self, strengths)))

    # What it says of rows

    def log_likelihood(
        self,
        frame: Any,
        by: Literal["node"] | None = None,
        *,
        method: Method = "auto",
        particles: int = 2000,
        seed: int = 0,
        unseen: evidence.Unseen = "error",
        n_jobs: int = -1,
    ) -> Any:
        """Natural log density of every row in the user's units: the posterior predictive given graph and data.

        Args:
            frame: Rows; missing values, and variables without a column, are summed or integrated out.
            by: `"node"` for a frame with one column per variable, given its parents; null where one of them is missing.
            method: See `predict_proba`.
            particles: Weighted draws for a row that needs sampling.
            seed: Where the draws start.
            unseen: A level the training table did not have: `"error"`, or `"missing"` to treat it as missing.
            n_jobs: Threads, -1 for all cores.

        Returns:
            A float array with one value per row, or a frame if `by="node"`.

        Example:
            >>> improbable = df.filter(net.log_likelihood(df) < -40)
        """
        columns, n_rows = evidence.encode(self.schema, frame, unseen, n_jobs)
        if by is None:
            values, how = self.handle.log_likelihood(columns, n_rows, _how(method, particles, seed), n_jobs)
            _tell(how, n_rows, particles, "log densities have a standard error of")
            return values
        if by != "node":
            raise ParameterError(f"by={by!r}: leave it out, or ask for by='node'")
        densities = self.handle.log_densities(columns, n_rows, n_jobs)
        return pl.DataFrame(
            [pl.Series(name, column, nan_to_null=True) for name, column in zip(self.names, densities, strict=True)]
        )

    def predict_proba(
        self,
        frame: Any,
        target: str,
        *,
        method: Method = "auto",
        particles: int = 2000,
        seed: int = 0,
        unseen: evidence.Unseen = "error",
        n_jobs: int = -1,
    ) -> pl.DataFrame:
        """Probabilities of a variable's levels in every row, given whatever else the row tells.

        Args:
            frame: Rows; the target's own column is no evidence. Any values may be missing, any columns absent.
            target: A variable with levels.
            method: `"auto"`: exact where affordable, else likelihood weighting; `"exact"`: an error instead of it;
                `"sampling"`: always weighting. What was sampled is logged with its standard error.
            particles: Weighted draws for a row that needs sampling.
            seed: Where the draws start.
            unseen: A level the training table did not have: `"error"`, or `"missing"` to treat it as missing.
            n_jobs: Threads, -1 for all cores.

        Returns:
            One column per level in level order, summing to one; null where the evidence is impossible.

        Raises:
            ColumnError: If the target is continuous, or a value cannot be coded.
        """
        at = self._position(target)
        levels = self.handle.levels(at)
        if levels is None:
            raise ColumnError(f"column '{target}' is continuous and has no levels; use predict_interval or query")
        probabilities = self._probabilities(frame, at, _how(method, particles, seed), unseen, n_jobs)
        names = unique_texts(levels)
        return pl.DataFrame(
            [pl.Series(name, probabilities[:, code], nan_to_null=True) for code, name in enumerate(names)]
        )

    def predict(
        self,
        frame: Any,
        target: str,
        *,
        method: Method = "auto",
        particles: int = 2000,
        seed: int = 0,
        unseen: evidence.Unseen = "error",
        n_jobs: int = -1,
    ) -> pl.Series:
        """The most probable level of a variable, or the median of a number, in every row, given whatever else it tells.

        The parameters are those of `predict_proba`. Ties go to the earlier level.

        Returns:
            A series in the user's values, null where the evidence is impossible.
        """
        at = self._position(target)
        how_to = _how(method, particles, seed)
        column = self.schema.used[at]
        if self.handle.levels(at) is None:
            medians = self._quantiles(frame, at, (0.5,), how_to, unseen, n_jobs)[:, 0]
            return numbers_to_series(column, medians).alias(target)
        probabilities = self._probabilities(frame, at, how_to, unseen, n_jobs)
        known = ~np.isnan(probabilities[:, 0])
        best = np.argmax(np.where(known[:, None], probabilities, 0.0), axis=1).astype(np.uint32)
        return codes_to_series(column, np.where(known, best, evidence.MISSING).astype(np.uint32)).alias(target)

    def predict_interval(
        self,
        frame: Any,
        target: str,
        mass: float = 0.9,
        *,
        method: Method = "auto",
        particles: int = 2000,
        seed: int = 0,
        unseen: evidence.Unseen = "error",
        n_jobs: int = -1,
    ) -> pl.DataFrame:
        """The central interval that holds a number with a given probability, in every row.

        Args:
            frame: Rows, as for `predict_proba`.
            target: A continuous variable.
            mass: The probability inside; the rest is split evenly.
            method: As for `predict_proba`.
            particles: As for `predict_proba`.
            seed: As for `predict_proba`.
            unseen: As for `predict_proba`.
            n_jobs: As for `predict_proba`.

        Returns:
            Columns `lower` and `upper` in the user's units.
        """
        at = self._position(target)
        if self.handle.levels(at) is not None:
            raise ColumnError(f"column '{target}' has levels; predict_proba gives the probability of each")
        if not 0.0 < mass < 1.0:
            raise ParameterError(f"mass={mass}: must lie between 0 and 1")
        outside = (1.0 - mass) / 2.0
        ends = self._quantiles(frame, at, (outside, 1.0 - outside), _how(method, particles, seed), unseen, n_jobs)
        column = self.schema.used[at]
        return pl.DataFrame([numbers_to_series(column, ends[:, i]).alias(("lower", "upper")[i]) for i in (0, 1)])

    # What it says in general

    def query(
        self,
        targets: str | Iterable[str] | Mapping[str, Any],
        given: Mapping[str, Any] | None = None,
        do: Mapping[str, Any] | None = None,
        *,
        bins: Mapping[str, Sequence[float]] | None = None,
        method: Method = "auto",
        particles: int = 100_000,
        seed: int = 0,
    ) -> Any:
        """The distribution of one or several variables, or the probability of an event.

        Args:
            targets: A name or names (a dict with `...` as every value means the same) for a distribution; a dict of
                values for the probability that all of them hold: a level, a list of levels, or for a number an interval
                `(low, high)` with None for an open end.
            given: Values that were observed.
            do: Values that were set from outside: they say nothing about what would have caused them.
            bins: For each continuous variable among several targets, the ends of its classes.
            method: As for `predict_proba`.
            particles: Weighted draws, if sampling is needed.
            seed: Where they start.

        Returns:
            For levels a frame with a column per target and `probability` (and `standard_error` if sampled); for one
            number without bins a frame of `probability` and the value below which it lies; for an event a float.

        Example:
            >>> net.query("rain", given={"wet": "yes"})
            >>> net.query({"rain": "yes"}, given={"wet": "yes"}, do={"sprinkler": "on"})
        """
        from arbornet.query import query

        return query(self, targets, given, do, bins, _how(method, particles, seed))

    def sample(
        self,
        n: int,
        seed: int = 0,
        given: Mapping[str, Any] | None = None,
        do: Mapping[str, Any] | None = None,
        *,
        method: Method = "auto",
        n_jobs: int = -1,
    ) -> pl.DataFrame:
        """Draws rows from the network, the same for the same seed at any number of threads.

        Args:
            n: Number of rows.
            seed: Where the draws start.
            given: Values that were observed; rows are drawn from the distribution given them.
            do: Values that are set from outside.
            method: `"exact"` refuses to resample weighted draws where `given` has causes too many to solve exactly.
            n_jobs: Threads, -1 for all cores.

        Returns:
            All columns in the user's values.
        """
        if n < 0:
            raise ParameterError(f"n={n}: must not be negative")
        known, set_ = self._known(given, do)
        columns, how = self.handle.sample(n, known, set_, _how(method, 10_000, seed), n_jobs)
        _tell(how, n, 10_000, "shares have a standard error of")
        return pl.DataFrame([self._series(v, values) for v, values in enumerate(columns)])

    # How it is kept

    def save(self, path: str | Path) -> None:
        """Writes the network as JSON, with the schema, the models and where it comes from; `an.load` reads it back."""
        from arbornet.io.json import save

        save(self, path)

    def to_bif(self, path: str | Path | None = None, *, bins: Mapping[str, int] | int | None = None) -> str:
        """The network in the Bayesian interchange format, for other programs.

        Args:
            path: Where to write it as well.
            bins: Number of bins for continuous variables (for all, or by name); without it they are refused.

        Raises:
            ColumnError: If a variable is continuous and has no bins.
        """
        from arbornet.io.bif import to_bif

        return to_bif(self, path, bins)

    def to_dot(self, path: str | Path | None = None) -> str:
        """The graph in the language of Graphviz."""
        from arbornet.io.graphs import to_dot

        return to_dot(self.graph, path)

    def to_graphml(self, path: str | Path) -> None:
        """The graph as GraphML, with kinds, levels and figures as attributes."""
        from arbornet.io.graphs import to_graphml

        to_graphml(self.graph, path)

    def draw(self, target: Any, *, engine: Literal["layered", "dot"] = "layered", legend: bool = True) -> None:
        """Draws the graph, arcs as wide as they are strong.

        Args:
            target: A path ending in .svg, .png or .pdf, or a matplotlib axis.
            engine: `"layered"` (built in) or `"dot"` (needs Graphviz).
            legend: Whether to explain colours and shapes.
        """
        from arbornet.draw import draw

        draw(self.graph, target, engine=engine, legend=legend)

    def report(self, path: str | Path, data: Any = None, *, title: str = "") -> None:
        """Writes one HTML page with the graph, every model, the types and the search; it needs nothing else to open.

        Args:
            path: Where to.
            data: A frame with the variables, to show their values beside the models.
            title: The page's title.
        """
        from arbornet.report import write
        from arbornet.report.fitted import of_network

        write(of_network(self, data, title), path)

    def _repr_svg_(self) -> str:
        from arbornet.draw import network_svg

        return network_svg(self.graph)

    def __reduce__(self) -> tuple[Any, ...]:
        from arbornet.io.json import from_text, to_text

        return from_text, (to_text(self), "pickle")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BayesNet) and (self.handle, self.schema, self.origin) == (
            other.handle,
            other.schema,
            other.origin,
        )

    __hash__ = None  # type: ignore[assignment]

    def __len__(self) -> int:
        return len(self.names)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __iter__(self) -> Any:
        return iter(self.names)

    def __repr__(self) -> str:
        arcs = self.graph.number_of_edges()
        fitted = "" if self.origin.n_rows is None else f", fitted to {self.origin.n_rows:,} rows"
        return f"BayesNet({len(self.names)} variables, {arcs} arcs{fitted})"

    # Between here and the core

    def _position(self, name: str) -> int:
        return evidence.position(self.schema, name, "variable")

    def _known(
        self, given: Mapping[str, Any] | None, do: Mapping[str, Any] | None
    ) -> tuple[list[tuple[int, float]], list[int]]:
        both = sorted(set(given or {}) & set(do or {}))
        if both:
            raise ArbornetError(f"{both[0]!r} is in given and in do; a value is either observed or set")
        acts = evidence.single(self.schema, do, "do")
        return evidence.single(self.schema, given, "given") + acts, [var for var, _ in acts]

    def _series(self, var: int, values: NDArray[Any]) -> pl.Series:
        column = self.schema.used[var]
        of = numbers_to_series if self.handle.levels(var) is None else codes_to_series
        return of(column, values).alias(self.names[var])

    def _probabilities(
        self, frame: Any, at: int, how_to: tuple[str, int, int], unseen: evidence.Unseen, n_jobs: int
    ) -> NDArray[np.float64]:
        columns, n_rows = evidence.encode(self.schema, frame, unseen, n_jobs)
        flat, how = self.handle.predict_levels(columns, n_rows, [], at, how_to, n_jobs)
        _tell(how, n_rows, how_to[1], "probabilities have a standard error of")
        return flat.reshape(n_rows, -1)

    def _quantiles(
        self,
        frame: Any,
        at: int,
        probabilities: Sequence[float],
        how_to: tuple[str, int, int],
        unseen: evidence.Unseen,
        n_jobs: int,
    ) -> NDArray[np.float64]:
        columns, n_rows = evidence.encode(self.schema, frame, unseen, n_jobs)
        flat, how = self.handle.predict_quantiles(columns, n_rows, [], at, probabilities, how_to, n_jobs)
        _tell(how, n_rows, how_to[1], "the probabilities of the quantiles have a standard error of")
        return flat.reshape(n_rows, -1)


def _how(method: str, particles: int, seed: int) -> tuple[str, int, int]:
    if not 0 <= seed < 2**64:
        raise ParameterError(f"seed={seed}: must be a whole number from 0 to 2^64 - 1")
    if particles < 1:
        raise ParameterError(f"particles={particles}: must be at least 1")
    return method, particles, seed


def _tell(how: tuple[int, float], n_rows: int, particles: int, what: str) -> None:
    rows, error = how
    if rows:
        text = "%d of %d rows answered by likelihood weighting with %d draws each; %s up to %.2g"
        log.info(text, rows, n_rows, particles, what, error)


def _figures(data: Mapping[str, Any]) -> str:
    """An arc's figures in words."""
    told = []
    if "contribution" in data:
        told.append(f"the score loses {data['contribution']:.4g} without this arc")
    if "strength" in data:
        told.append(f"in {data['strength']:.0%} of bootstrap networks")
    return f" ({', '.join(told)})" if told else ""


def unique_texts(levels: Iterable[Any]) -> list[str]:
    """Levels as column names; where two read alike, as Python writes them."""
    listed = list(levels)
    texts = [str(level) for level in listed]
    return texts if len(set(texts)) == len(texts) else [repr(level) for level in listed]
