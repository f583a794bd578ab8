"""Bayesian networks with a small readable model under every node, learned from mixed tables."""

from arbornet import search
from arbornet._core import ArbornetError, ColumnError, FamilyError, FormatError, ParameterError, __version__
from arbornet.candidates import Candidates
from arbornet.constraints import Constraints
from arbornet.custom import CustomScore
from arbornet.examples import example
from arbornet.planning import Plan, plan
from arbornet.prepare import local_score
from arbornet.scoring import score_parents

__all__ = [
    "ArbornetError",
    "Candidates",
    "ColumnError",
    "Constraints",
    "CustomScore",
    "FamilyError",
    "FormatError",
    "ParameterError",
    "Plan",
    "__version__",
    "example",
    "local_score",
    "plan",
    "score_parents",
    "search",
]
