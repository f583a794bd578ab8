"""How good and how certain a network is: bootstrap of arcs, cross-validation, recovery of known graphs."""

from arbornet.evaluate.arc_strength import ArcStrengths, arc_strength, averaged
from arbornet.evaluate.contests import Contests, win_tie_loss
from arbornet.evaluate.cross_validation import CrossValidation, cross_validate
from arbornet.evaluate.intersection import LearningCurves, intersection_validation
from arbornet.evaluate.methods import Method
from arbornet.evaluate.recovery import structure_recovery
from arbornet.evaluate.tuning import tuned
from arbornet.text.elsewhere import OF_PACKAGE, of_name

__all__ = [
    "ArcStrengths",
    "Contests",
    "CrossValidation",
    "LearningCurves",
    "Method",
    "arc_strength",
    "averaged",
    "cross_validate",
    "intersection_validation",
    "structure_recovery",
    "tuned",
    "win_tie_loss",
]


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> object:
    raise AttributeError(f"arbornet.evaluate has no {name!r}{of_name(name, OF_PACKAGE, __all__)}")
