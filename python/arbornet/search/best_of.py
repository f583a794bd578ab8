"""A search with random choices made several times, side by side or on the workers of a cluster; the best is kept."""

from __future__ import annotations

import dataclasses
import inspect
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from arbornet._core import ParameterError
from arbornet.given import CandidatesLike, Progress, ScoreLike, SearchLike, TableLike
from arbornet.search.base import SEEDS, Found, count, uninterrupted
from arbornet.search.registry import Search, search_of
from arbornet.search.source import known
from arbornet.system.cluster import Client
from arbornet.system.parallel import side_by_side
from arbornet.text.progress import shown


def best_of(
    search: SearchLike,
    over: TableLike | CandidatesLike,
    score: ScoreLike | None = None,
    *,
    seeds: int | Iterable[int] = 8,
    n_jobs: int = -1,
    client: Client | None = None,
    progress: Progress = None,
    **settings: object,
) -> Found:
    """The best graph of several runs of a search, each with a random seed of its own.

    The runs know nothing of each other, so they can be spread over a cluster. On one machine the restarts that `boss`
    and `hill_climb` make themselves are cheaper, as they share scores.

    Args:
        search: a search with a `seed`: "boss", "grasp", "hill_climb", "anytime", or a function of yours.
        over: what the search takes first: a Table, or candidates.
        score: the local score, for a search that takes a Table.
        seeds: how many runs, with the seeds 0, 1, 2, ...; or the seeds themselves.
        n_jobs: threads, shared among the runs; -1 for all cores.
        client: a `distributed.Client` whose workers make the runs, one a thread; `n_jobs` counts no longer then.
        progress: True to show it: a bar on a terminal, log lines elsewhere.
        **settings: what else the search takes, the same for every run; a `time_limit` is that of each run.

    Returns:
        The Found of the highest score, of equal ones that of the first seed. Its details tell how many `seeds` there
        were, which `seed` it is of, and how many runs found a graph of this score (`n_best`). The bound is the lowest
        of all. After Ctrl-C, the best of the runs that have ended.

    Raises:
        ArbornetError: what the search raises; or the cluster's scheduler is lost.
        ParameterError: if the search takes no seed, no seed is given, or one is given twice.

    Example:
        >>> an.search.best_of("boss", table, an.BIC(), seeds=20, restarts=0, client=client).score
    """
    began = time.perf_counter()
    runs = _Runs(search_of(search), over, score, settings)
    tried = _distinct(seeds)
    ended: dict[int, Found] = {}
    interrupted = False
    try:
        with shown(f"searching from {len(tried)} seeds", progress) as tell:
            for at, found in side_by_side(runs, tried, n_jobs, client):
                ended[at] = uninterrupted(found)
                if tell is not None:
                    tell(len(ended), len(tried))
    except KeyboardInterrupt:
        if not ended:
            raise
        interrupted = True
    # In the order of the seeds, whichever ended first: max takes the first of equal ones.
    best = max(sorted(ended), key=lambda at: ended[at].score)
    found = ended[best]
    told: dict[str, Any] = {
        "seeds": len(ended),
        "seed": tried[best],
        "n_best": sum(other.score == found.score for other in ended.values()),
    }
    return dataclasses.replace(
        found,
        bound=min(other.bound for other in ended.values()),
        stopped="interrupted" if interrupted else found.stopped,
        seconds=time.perf_counter() - began,
        details={**found.details, **told},
    )


@dataclass(frozen=True)
class _Runs:
    """What all runs share; sent to every worker once."""

    search: Search
    over: Any
    score: Any
    settings: Mapping[str, object]

    def __post_init__(self) -> None:
        name, function = self.search.name, self.search.function
        if "seed" not in inspect.signature(function).parameters:
            raise ParameterError(f"search={name!r} takes no seed: every run would find the same, call it once")
        if "seed" in self.settings:
            raise ParameterError("seed= is that of one run: give seeds=[...]")
        if not self.search.scores_on_demand:
            object.__setattr__(self, "over", known(self.over))

    def __call__(self, seed: int, n_threads: int) -> Found:
        given = (self.over, self.score) if self.search.scores_on_demand else (self.over,)
        threads = {"n_jobs": n_threads} if "n_jobs" in self.search.settings else {}
        return self.search.function(*given, seed=seed, **threads, **self.settings)


def _distinct(seeds: int | Iterable[int]) -> list[int]:
    if not isinstance(seeds, Iterable):
        return list(range(count("seeds", seeds, 1)))
    given = [count("seeds", seed, most=SEEDS) for seed in seeds]
    if not given or len(set(given)) < len(given):
        raise ParameterError(f"seeds={given!r}: give at least one seed, each once")
    return given
