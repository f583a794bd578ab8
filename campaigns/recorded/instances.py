"""Instances of the search for graphs: candidate scores of others, with every search that takes candidates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import arbornet as an
from recorded.book import Book
from recorded.tables import DATA

#: More sets than this: only the exact search and hill climbing.
MANY_SETS = 10_000
#: More variables than this are not ranked: the k best are found one after the other.
MOST_RANKED = 20
QUICK = ("instances/asia.num", "instances/wine.BIC.3")


def names() -> list[str]:
    """All instances, as `instances/name`."""
    found = {path.name.removesuffix(".xz").removesuffix(".jkl") for path in (DATA / "instances").glob("*.jkl*")}
    return sorted(f"instances/{name}" for name in found)


def record(name: str, n_jobs: int) -> Book:
    """Everything of one instance."""
    book = Book()
    file = next(DATA.glob(f"{name}.jkl*"))
    kept = an.Candidates.load(file)
    book.put("candidates/read", lambda: kept)
    for what, make in _searches(kept, n_jobs).items():
        book.put(f"graphs/{what}", make)
    return book


def _searches(kept: an.Candidates, n_jobs: int) -> dict[str, Callable[[], object]]:
    made: dict[str, Callable[[], object]] = {
        "exact": lambda: _proved(kept, n_jobs),
        "hill climbing": lambda: an.search.hill_climb(kept, restarts=3, seed=1, n_jobs=n_jobs),
    }
    if kept.n_kept <= MANY_SETS:
        made["anytime"] = lambda: an.search.anytime(kept, rounds=2, chains=2, window=8, n_jobs=n_jobs)
        made["best forest"] = lambda: an.search.chow_liu(kept, n_jobs=n_jobs)
        rules: Any = an.Constraints(max_parents=2, leaves=[kept.names[0]])
        made["under constraints"] = lambda: an.search.hill_climb(kept, constraints=rules, n_jobs=n_jobs)
    if len(kept.names) <= MOST_RANKED:
        made["k best"] = lambda: list(an.search.k_best(kept, 10, n_jobs=n_jobs))
    return made


def _proved(kept: an.Candidates, n_jobs: int) -> object:
    """The best graph, and whether the evidence for the root's bound holds."""
    found = an.search.exact(kept, n_jobs=n_jobs)
    return [found, found.certificate is not None and found.certificate.check(kept)]
