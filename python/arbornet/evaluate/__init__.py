"""How good a network is, and how sure: arcs under resampled data, densities of unseen rows, graphs recovered."""

from arbornet.evaluate.arc_strength import arc_strength, averaged

__all__ = ["arc_strength", "averaged"]
