"""Every search that `learn`, the shell and the docs know by name, with what it is given.

A search is a function of a file of its own. Its decorator says what it takes, and that is all that others need to know
of it: `learn(frame, search="boss")` looks it up here, scores candidates for it or hands it table and score, and passes
on the settings that it takes.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import json
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from arbornet import _core
from arbornet._core import CandidatesHandle, ParameterError, ScoreHandle, TableHandle
from arbornet.given import Progress
from arbornet.search.base import Found, with_limits
from arbornet.search.source import known as known_candidates
from arbornet.text.elsewhere import of_search
from arbornet.text.progress import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arbornet.graphs.constraints import Rules

Takes = Literal["candidates", "table", "tests"]
F = TypeVar("F", bound=Callable[..., Any])

#: What `learn` can tell a search, beside what it searches over.
SETTINGS = ("constraints", "max_parents", "time_limit", "n_jobs", "progress")


@dataclass(frozen=True)
class Search:
    """A search as those know it who call it by its name.

    Attributes:
        name: its name.
        function: what is called.
        takes: what comes first: "candidates"; or "table", and a score asked on demand; or "tests", the same of a search
            that asks the score's tests.
        settings: which of `SETTINGS` it takes, by keyword.
        told: what it is for, in a few words.
        score: makes the score that is used where none is given; without it, that of `learn`.
        best_of: among what a graph is proved best: every "network", or only every "tree".
        in_rounds: its own settings where it is one of several searches, each over other draws of missing values.
    """

    name: str
    function: Callable[..., Found]
    takes: Takes = "candidates"
    settings: tuple[str, ...] = SETTINGS
    told: str = ""
    score: Callable[[], Any] | None = None
    best_of: str = "network"
    in_rounds: Mapping[str, object] = field(default_factory=dict)

    @property
    def scores_on_demand(self) -> bool:
        """Whether it asks for the table and the score rather than for candidates."""
        return self.takes != "candidates"

    def of_a_round(self) -> Search:
        """The same search with less work, where it says how much suffices for one of several."""
        lighter = functools.partial(self.function, **self.in_rounds)
        return dataclasses.replace(self, function=lighter) if self.in_rounds else self

    def __call__(self, *given: object, **settings: object) -> Found:
        """Searches with those settings that it takes.

        Raises:
            ParameterError: If it returns something else than Found.
        """
        found = self.function(*given, **{key: value for key, value in settings.items() if key in self.settings})
        if not isinstance(found, Found):
            raise ParameterError(f"search returned a {type(found).__name__}; it must return a Found")
        return found


_SEARCHES: dict[str, Search] = {}


def registered(
    takes: Takes,
    told: str,
    *,
    settings: tuple[str, ...] = SETTINGS,
    score: Callable[[], Any] | None = None,
    best_of: str = "network",
    in_rounds: Mapping[str, object] | None = None,
) -> Callable[[F], F]:
    """Makes a function a search that is known by its name.

    Args:
        takes: what it takes first; see `Search`.
        told: what it is for, in a few words that end a sentence after its name.
        settings: which of `SETTINGS` it takes, by keyword.
        score: makes the score it has where none is given.
        best_of: among what a graph is proved best, if that is less than every network.
        in_rounds: its own settings where it is one of several searches, each over other draws of missing values.

    Example:
        >>> @an.search.registered("candidates", "takes the empty graph", settings=("constraints",))
        ... def empty(candidates, *, constraints=None):
        ...     return an.search.Found(...)
        >>> an.learn(frame, search="empty")
    """

    def known(function: F) -> F:
        if takes == "candidates":
            function = _telling(function)
        name = function.__name__
        _SEARCHES[name] = Search(name, function, takes, settings, told, score, best_of, in_rounds or {})
        return function

    return known


def _telling(function: F) -> F:
    """The same search; what it finds tells how many scores of the candidates are lower bounds."""

    first = next(iter(inspect.signature(function).parameters), "")

    @functools.wraps(function)
    def told(*given: Any, **settings: Any) -> Any:
        source = given[0] if given else settings.get(first)
        if isinstance(source, str | Path) and Path(source).suffix == ".parquet":  # other files do not know
            source = known_candidates(source)
            given, settings = ((source, *given[1:]), settings) if given else (given, {**settings, first: source})
        found = function(*given, **settings)
        return with_limits(found, source) if isinstance(found, Found) else found

    return cast(F, told)


def searches() -> dict[str, Search]:
    """All searches by name, in alphabetical order."""
    return dict(sorted(_SEARCHES.items()))


def search_of(search: str | Callable[..., Found]) -> Search:
    """The search of a name, or a callable as one.

    Raises:
        ParameterError: If there is no search of this name.
    """
    if not callable(search):
        if search not in _SEARCHES:
            known = ", ".join(map(repr, searches()))
            told = f"search={search!r}: choose one of {known}, or give a callable"
            raise ParameterError(told + of_search(str(search), searches()))
        return _SEARCHES[search]
    own = _SEARCHES.get(getattr(search, "__name__", ""))
    return own if own is not None and own.function is search else _described(search)


def _described(function: Callable[..., Found]) -> Search:
    """A user's own callable, which says what it takes by the names of its parameters."""
    parameters = inspect.signature(function).parameters
    anything = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters.values())
    settings = tuple(name for name in SETTINGS if anything or name in parameters)
    takes: Takes = "table" if {"table", "score"} <= set(parameters) else "candidates"
    return Search(getattr(function, "__name__", "search"), function, takes, settings)


def run(
    name: str,
    source: CandidatesHandle | ScoreHandle | TableHandle | Callable[[int, int, list[int]], float],
    rules: Rules,
    doing: str,
    *,
    start: Sequence[Sequence[int]] | None = None,
    time_limit: float | None = None,
    n_jobs: int = -1,
    progress: Progress = None,
    **parameters: object,
) -> _core.SearchResult:
    """Runs a search of the core.

    Args:
        name: its name in the core.
        source: the core's candidates or score, or a test of positions.
        rules: what the graph must obey.
        doing: what the bar says.
        start: the parents of the graph to start from.
        time_limit: wall seconds.
        n_jobs: threads; -1 for all cores.
        progress: True to show it: a bar on a terminal, log lines elsewhere.
        parameters: the search's own; what is None is left as the core has it.
    """
    own = {key: value for key, value in parameters.items() if value is not None}
    # NumPy's whole numbers are welcome.
    spec = json.dumps({"search": name, **own}, default=operator.index)
    with shown(doing, progress) as tell:
        return _core.search(spec, source, rules.spec(), start, time_limit, n_jobs, tell)
