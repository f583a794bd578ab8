"""Bayesian networks learned from mixed tables, with a small, readable model for every variable."""

from importlib import import_module
from typing import TYPE_CHECKING

from arbornet import _moved, evaluate, independence, metrics, priors, search, simulate
from arbornet._core import ArbornetError, ColumnError, FamilyError, FormatError, ParameterError, __version__
from arbornet.data.examples import example
from arbornet.data.files import read
from arbornet.data.kinds import Binned, Categorical, Continuous, Ordinal
from arbornet.data.schema import Schema, infer_schema
from arbornet.data.table import Table
from arbornet.graphs.constraints import Constraints
from arbornet.learn import learn
from arbornet.models.local import LocalModel, local_model
from arbornet.network import BayesNet
from arbornet.network.files import load, read_bif, read_net, read_network, read_xmlbif
from arbornet.network.fit import fit
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
from arbornet.scores.custom import CustomScore
from arbornet.scores.prepare import local_score
from arbornet.search.trees import chow_liu
from arbornet.step1.candidates import Candidates
from arbornet.step1.features import rank_parents
from arbornet.step1.planning import Plan, plan
from arbornet.step1.scoring import score_parents
from arbornet.text.elsewhere import OF_PACKAGE as _OF_PACKAGE
from arbornet.text.elsewhere import of_name as _of_name
from arbornet.text.notices import ArbornetWarning, LeftOutWarning, RowsDroppedWarning

if TYPE_CHECKING:
    from arbornet.estimators import ChowLiu, FayyadIrani, NaiveBayes, NetworkImputer, NetworkLearner, TANClassifier

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
    "NetworkImputer",
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

_ESTIMATORS = ("ChowLiu", "FayyadIrani", "NaiveBayes", "NetworkImputer", "NetworkLearner", "TANClassifier")

_moved.register()


def __getattr__(name: str) -> object:
    # scikit-learn is slow to import and optional, so its estimators are imported on first use.
    if name in _ESTIMATORS:
        return getattr(import_module("arbornet.estimators"), name)
    # What stood here as a module, in earlier versions, was an attribute without being imported.
    if f"arbornet.{name}" in _moved.MOVED:
        return import_module(f"arbornet.{name}")
    raise AttributeError(f"arbornet has no {name!r}{_elsewhere(name)}")


def _elsewhere(name: str) -> str:
    """What does here what a name does elsewhere, or stands in a module of ours."""
    for module in (search, evaluate, metrics, simulate, independence, priors):
        if not name.startswith("_") and name in dir(module):
            return f": it is an.{module.__name__.rpartition('.')[2]}.{name}"
    if not name.startswith("_") and name in dir(BayesNet):
        return f": it is of a network, net.{name}"
    return _of_name(name, _OF_PACKAGE, __all__)


def __dir__() -> list[str]:
    return sorted(__all__)
