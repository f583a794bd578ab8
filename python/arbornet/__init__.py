"""Bayesian networks with a small readable model under every node, learned from mixed tables."""

from arbornet import search
from arbornet._core import ArbornetError, ColumnError, FamilyError, FormatError, ParameterError, __version__
from arbornet.candidates import Candidates
from arbornet.constraints import Constraints
from arbornet.custom import CustomScore
from arbornet.examples import example
from arbornet.models import LocalModel, local_model
from arbornet.planning import Plan, plan
from arbornet.prepare import local_score
from arbornet.scores import AIC, BIC, PCART, FullTable, LogLikelihood
from arbornet.scoring import score_parents

__all__ = [
    "AIC",
    "BIC",
    "PCART",
    "ArbornetError",
    "Candidates",
    "ColumnError",
    "Constraints",
    "CustomScore",
    "FamilyError",
    "FormatError",
    "FullTable",
    "LocalModel",
    "LogLikelihood",
    "ParameterError",
    "Plan",
    "__version__",
    "example",
    "local_model",
    "local_score",
    "plan",
    "score_parents",
    "search",
]
