"""Methods to compare: each makes a network of a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, TypeAlias

import networkx as nx

from arbornet._core import ParameterError, Step1
from arbornet.data.incomplete import Incomplete
from arbornet.data.table import Table
from arbornet.given import SearchLike
from arbornet.graphs.constraints import Constraints
from arbornet.learn import found_by, learn
from arbornet.network import BayesNet
from arbornet.network.fit import fit
from arbornet.scores.prepare import Score, prepared
from arbornet.scores.usual import USUAL
from arbornet.search.base import Found, uninterrupted
from arbornet.step1.effort import Effort
from arbornet.step1.planning import CHECKS
from arbornet.text.brief import Brief

Learner = Callable[[Table], "Found | nx.DiGraph[str] | BayesNet"]


@dataclass(frozen=True, repr=False)
class Method(Brief):
    """A score, and how the graph is searched.

    Args:
        score: The local score.
        search: As for `learn`.
        max_parents: As for `learn`.
        constraints: As for `learn`.
        time_limit: Wall seconds for each search. What is found then depends on the machine.
        learner: Instead of all of these, a function that takes a Table and returns a graph, Found or a BayesNet. A
            score beside it is what `cross_validate` fits to its graphs.
        effort: As for `learn`, for each network.

    Example:
        >>> an.evaluate.Method(an.PCART(), search="hill_climb", max_parents=2)
    """

    score: Score | None = None
    search: SearchLike = "exact"
    max_parents: int | Literal["auto"] = "auto"
    constraints: Constraints | None = None
    time_limit: float | None = None
    learner: Learner | None = None
    effort: Effort | None = None

    def refusing(self, table: Table) -> Method:
        """The same method without the arcs that the score refuses on these rows, for use on parts of them.

        A parent of too many levels is refused. A part of the rows may have just few enough, and scoring would take
        hours; and all parts have to be treated alike.
        """
        if self.learner is not None:
            return self
        chosen: dict[str, Any] = getattr(self._score, "chosen", dict)()
        plain = {f.name: f.default for f in fields(self._score) if f.name in chosen} if chosen else {}
        handle = prepared(table, self._score.replace(**plain) if plain else self._score)
        *_, refused = Step1(handle, 1).check(CHECKS, CHECKS)
        rules = Constraints() if self.constraints is None else self.constraints
        arcs = [(table.names[parents[0]], table.names[child]) for child, parents, _ in refused if parents]
        arcs = [arc for arc in arcs if arc not in rules.required]
        return replace(self, constraints=replace(rules, forbidden=(*rules.forbidden, *arcs))) if arcs else self

    def with_gaps(self, rows: Table | Incomplete, n_threads: int) -> BayesNet:
        """The network it learns of rows of which some values are missing.

        Raises:
            ParameterError: If it is a function of a Table, which has no missing values.
        """
        if self.learner is not None:
            raise ParameterError(
                f"missing='learn': the method {_name(self.learner)} is a function of a Table, whose rows are complete; "
                "give a score or a Method of a score, or missing='drop'"
            )
        return learn(
            rows,
            self._score,
            self.search,
            self.max_parents,
            self.constraints,
            time_limit=self.time_limit,
            n_jobs=n_threads,
            progress=False,
            verbose=False,
            effort=self.effort,
        )

    def graph(self, table: Table, n_threads: int) -> nx.DiGraph[str]:
        """The graph it learns."""
        made = self._learned(table, n_threads)
        return made.dag if isinstance(made, Found) else made.graph if isinstance(made, BayesNet) else made

    def network(self, table: Table, n_threads: int) -> tuple[BayesNet, Found | None]:
        """The network it learns, and what its search found."""
        made = self._learned(table, n_threads)
        if isinstance(made, BayesNet):
            return made, None
        net = fit(table, made, self._score, arc_scores=False, n_jobs=n_threads)
        return net, made if isinstance(made, Found) else None

    @property
    def _score(self) -> Any:
        return USUAL if self.score is None else self.score

    def _learned(self, table: Table, n_threads: int) -> Found | nx.DiGraph[str] | BayesNet:
        if self.learner is None:
            settings = (self.max_parents, self.constraints, self.time_limit, n_threads, False, self.effort)
            return uninterrupted(found_by(self.search, table, self._score, *settings))
        made = self.learner(table)
        if not isinstance(made, Found | nx.DiGraph | BayesNet):
            raise ParameterError(
                f"a method returned a {type(made).__name__}; it must return a graph, Found or BayesNet"
            )
        graph = made.dag if isinstance(made, Found) else made.graph if isinstance(made, BayesNet) else made
        if set(graph.nodes) != set(table.names):
            raise ParameterError(f"a method returned a graph over {len(graph)} variables; the table has {table.names}")
        return uninterrupted(made) if isinstance(made, Found) else made

    def text(self) -> str:
        """The method as text, to check whether results on disk are of the same one."""
        score = self._score
        depends: dict[str, str] = getattr(score, "chosen", dict)()
        name = score.spec() if hasattr(score, "spec") and not depends else repr(score)
        search = self.search if isinstance(self.search, str) else _name(self.search)
        learner = "" if self.learner is None else _name(self.learner)
        effort = "" if self.effort is None else f" {self.effort}"
        return f"{name} {search} {self.max_parents} {self.constraints!r} {self.time_limit} {learner}{effort}"


Methods: TypeAlias = "Score | Method | Learner | Mapping[str, Score | Method | Learner | None] | None"
"""A score, a `Method`, a function that makes a graph of a Table, or a mapping of names to any of them."""


def _name(function: Callable[..., Any]) -> str:
    return getattr(function, "__qualname__", type(function).__name__)


def as_methods(given: Methods, **settings: object) -> dict[str, Method]:
    """Methods by name: of one score, a function, a Method, or a mapping of names to any of them."""
    if isinstance(given, Mapping):
        if not given:
            raise ParameterError("methods={}: give at least one")
        return {str(name): _as_method(one, settings) for name, one in given.items()}
    method = _as_method(given, settings)
    return {repr(method._score) if method.learner is None else _name(method.learner): method}


def _as_method(given: Any, settings: dict[str, Any]) -> Method:
    if isinstance(given, Method):
        return given
    if given is None or (hasattr(given, "spec") and not isinstance(given, type)):
        return Method(given, **settings)
    if callable(given) and not isinstance(given, type):
        return Method(learner=given)
    raise ParameterError(f"method {given!r}: give a score such as an.PCART(), a Method, or a function of a Table")
