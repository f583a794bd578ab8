"""Bayesian networks learned from mixed tables, with a small, readable model for every variable."""

from importlib import import_module
from typing import TYPE_CHECKING

from arbornet import evaluate, independence, metrics, priors, search, simulate
from arbornet._core import ArbornetError, ColumnError, FamilyError, FormatError, ParameterError, __version__
from arbornet.candidates import Candidates
from arbornet.constraints import Constraints
from arbornet.custom import CustomScore
from arbornet.examples import example
from arbornet.features import rank_parents
from arbornet.files import read
from arbornet.fit import fit
from arbornet.io.bif import read_bif
from arbornet.io.hugin import read_net
from arbornet.io.json import load
from arbornet.io.networks import read_network
from arbornet.io.xmlbif import read_xmlbif
from arbornet.kinds import Binned, Categorical, Continuous, Ordinal
from arbornet.learn import learn
from arbornet.models import LocalModel, local_model
from arbornet.network import BayesNet
from arbornet.notices import ArbornetWarning, LeftOutWarning, RowsDroppedWarning
from arbornet.planning import Plan, plan
from arbornet.prepare import local_score
from arbornet.schema import Schema, infer_schema
from arbornet.scores import (
    AIC,
    BD,
    BIC,
    K2,
    MARS,
    MIT,
    NML,
    PCART,
    QNML,
    BasisFunctions,
    BDe,
    BDeu,
    BlockGaussian,
    ConditionalGaussian,
    DecisionGraph,
    DegenerateGaussian,
    FullTable,
    LogisticRegression,
    LogLikelihood,
    MixedPolynomial,
    Multinomial,
)
from arbornet.scoring import score_parents
from arbornet.search.trees import chow_liu
from arbornet.table import Table

if TYPE_CHECKING:
    from arbornet.classifiers import NaiveBayes, TANClassifier
    from arbornet.discretise import FayyadIrani
    from arbornet.estimators import NetworkLearner
    from arbornet.tree_density import ChowLiu

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
    "ArbornetError",
    "ArbornetWarning",
    "BDe",
    "BDeu",
    "BasisFunctions",
    "BayesNet",
    "Binned",
    "BlockGaussian",
    "Candidates",
    "Categorical",
    "ChowLiu",
    "ColumnError",
    "ConditionalGaussian",
    "Constraints",
    "Continuous",
    "CustomScore",
    "DecisionGraph",
    "DegenerateGaussian",
    "FamilyError",
    "FayyadIrani",
    "FormatError",
    "FullTable",
    "LeftOutWarning",
    "LocalModel",
    "LogLikelihood",
    "LogisticRegression",
    "MixedPolynomial",
    "Multinomial",
    "NaiveBayes",
    "NetworkLearner",
    "Ordinal",
    "ParameterError",
    "Plan",
    "RowsDroppedWarning",
    "Schema",
    "TANClassifier",
    "Table",
    "__version__",
    "chow_liu",
    "evaluate",
    "example",
    "fit",
    "independence",
    "infer_schema",
    "learn",
    "load",
    "local_model",
    "local_score",
    "metrics",
    "plan",
    "priors",
    "rank_parents",
    "read",
    "read_bif",
    "read_net",
    "read_network",
    "read_xmlbif",
    "score_parents",
    "search",
    "simulate",
]


_ESTIMATORS = {
    "ChowLiu": "tree_density",
    "FayyadIrani": "discretise",
    "NaiveBayes": "classifiers",
    "NetworkLearner": "estimators",
    "TANClassifier": "classifiers",
}


def __getattr__(name: str) -> object:
    # scikit-learn is slow to import and optional, so its estimators are imported on first use.
    if name in _ESTIMATORS:
        return getattr(import_module(f"arbornet.{_ESTIMATORS[name]}"), name)
    raise AttributeError(f"module 'arbornet' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
