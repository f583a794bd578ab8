"""Scores: how well a child is explained by a set of parents. Higher is better, natural logarithms.

Each score is a frozen dataclass in a file of its own, and one line here. Its numbers are computed in the core; the
dataclass holds the parameters you choose.
"""

from arbornet.scores.base import ScoreParameters
from arbornet.scores.decision_graph import DecisionGraph
from arbornet.scores.dirichlet import BD, K2, BDe, BDeu
from arbornet.scores.full_table import FullTable
from arbornet.scores.information import MIT, NML, QNML
from arbornet.scores.likelihood import AIC, BIC, LogLikelihood
from arbornet.scores.mars import MARS
from arbornet.scores.mixed import (
    BasisFunctions,
    BlockGaussian,
    ConditionalGaussian,
    DegenerateGaussian,
    LogisticRegression,
    MixedPolynomial,
    Multinomial,
)
from arbornet.scores.pcart import PCART

__all__ = [
    "AIC",
    "BD",
    "BIC",
    "K2",
    "MARS",
    "MIT",
    "NML",
    "PCART",
    "QNML",
    "BDe",
    "BDeu",
    "BasisFunctions",
    "BlockGaussian",
    "ConditionalGaussian",
    "DecisionGraph",
    "DegenerateGaussian",
    "FullTable",
    "LogLikelihood",
    "LogisticRegression",
    "MixedPolynomial",
    "Multinomial",
    "ScoreParameters",
]
