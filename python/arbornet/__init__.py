"""Bayesian networks with a small readable model under every node, learned from mixed tables."""

from arbornet import search
from arbornet._core import ArbornetError, ColumnError, FamilyError, FormatError, ParameterError, __version__
from arbornet.constraints import Constraints
from arbornet.examples import example

__all__ = [
    "ArbornetError",
    "ColumnError",
    "Constraints",
    "FamilyError",
    "FormatError",
    "ParameterError",
    "__version__",
    "example",
    "search",
]
