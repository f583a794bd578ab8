"""Searches for the directed acyclic graph of the highest total score."""

from arbornet.search.base import Certificate, Found, Incumbent, Stopped

__all__ = ["Certificate", "Found", "Incumbent", "Stopped"]
