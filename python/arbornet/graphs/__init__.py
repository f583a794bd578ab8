"""Graphs by themselves: their equivalence classes (`equivalence`) and what you require or forbid (`constraints`)."""

from arbornet.graphs.equivalence import Pair, class_graph, cpdag, parents_of, with_directions

__all__ = ["Pair", "class_graph", "cpdag", "parents_of", "with_directions"]
