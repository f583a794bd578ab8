"""Searches for the directed acyclic graph of the highest total score."""

from arbornet.search.anytime import anytime
from arbornet.search.base import Certificate, Found, Incumbent, Stopped
from arbornet.search.greedy import hill_climb
from arbornet.search.k_best import KBest, k_best

__all__ = ["Certificate", "Found", "Incumbent", "KBest", "Stopped", "anytime", "hill_climb", "k_best"]
