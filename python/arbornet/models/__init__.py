"""The model of a variable given its parents, in readable form: `local`, with `leaves` and `splines`."""

from arbornet.models.leaves import (
    Condition,
    Counts,
    Histogram,
    Leaf,
    LogStudentT,
    PointMass,
    ScoredStudentT,
    Shares,
    Slope,
    StudentT,
)
from arbornet.models.local import LocalModel, local_model

__all__ = [
    "Condition",
    "Counts",
    "Histogram",
    "Leaf",
    "LocalModel",
    "LogStudentT",
    "PointMass",
    "ScoredStudentT",
    "Shares",
    "Slope",
    "StudentT",
    "local_model",
]
