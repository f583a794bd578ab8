"""Searches for the directed acyclic graph of the highest total score."""

from arbornet.search.anytime import anytime
from arbornet.search.base import Certificate, Found, Incumbent, Stopped
from arbornet.search.branch_and_bound import BranchAndBound
from arbornet.search.by_tests import cpc, pc
from arbornet.search.cuts import Cuts
from arbornet.search.decision_graphs import FoundGraphs, decision_graphs
from arbornet.search.equivalence import boss, fges, grasp
from arbornet.search.exact import exact
from arbornet.search.greedy import hill_climb
from arbornet.search.hybrid import hybrid
from arbornet.search.k_best import KBest, k_best
from arbornet.search.registry import Search, registered, searches
from arbornet.search.trees import chow_liu, tan

__all__ = [
    "BranchAndBound",
    "Certificate",
    "Cuts",
    "Found",
    "FoundGraphs",
    "Incumbent",
    "KBest",
    "Search",
    "Stopped",
    "anytime",
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
