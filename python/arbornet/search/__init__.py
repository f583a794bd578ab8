"""Searches for the directed acyclic graph of the highest total score."""

from arbornet.search.anytime import anytime
from arbornet.search.base import Certificate, Found, Incumbent, Stopped
from arbornet.search.greedy import hill_climb

__all__ = ["Certificate", "Found", "Incumbent", "Stopped", "anytime", "hill_climb"]
