"""Searches for the directed acyclic graph of the highest total score."""

import warnings

from arbornet.search import branch_and_bound
from arbornet.search.anytime import anytime
from arbornet.search.base import Certificate, Found, Incumbent, Stopped
from arbornet.search.best_of import best_of
from arbornet.search.by_tests import cpc, pc
from arbornet.search.decision_graphs import FoundGraphs, decision_graphs
from arbornet.search.equivalence import boss, fges, grasp
from arbornet.search.exact import exact
from arbornet.search.greedy import hill_climb
from arbornet.search.hybrid import hybrid
from arbornet.search.k_best import KBest, k_best
from arbornet.search.registry import Search, registered, searches
from arbornet.search.trees import chow_liu, tan
from arbornet.text.elsewhere import OF_PACKAGE, of_name

__all__ = [
    "Certificate",
    "Found",
    "FoundGraphs",
    "Incumbent",
    "KBest",
    "Search",
    "Stopped",
    "anytime",
    "best_of",
    "boss",
    "chow_liu",
    "cpc",
    "decision_graphs",
    "exact",
    "fges",
    "grasp",
    "hill_climb",
    "hybrid",
    "k_best",
    "pc",
    "registered",
    "searches",
    "tan",
]


def __dir__() -> list[str]:
    return sorted({*__all__, *searches()})


def __getattr__(name: str) -> object:
    if name in ("BranchAndBound", "Cuts"):
        told = f"arbornet.search.{name} is private now: call `exact` without strategy=, the search decides by itself"
        warnings.warn(told, DeprecationWarning, stacklevel=2)
        return getattr(branch_and_bound, name)
    raise AttributeError(f"arbornet.search has no {name!r}{of_name(name, OF_PACKAGE, __dir__())}")
