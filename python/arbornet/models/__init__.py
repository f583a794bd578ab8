"""The model of a variable given its parents, in readable form: trees and tables (`local`), splines (`splines`)."""

from arbornet.models.local import Condition, Leaf, LocalModel, Shares, StudentT, local_model

__all__ = ["Condition", "Leaf", "LocalModel", "Shares", "StudentT", "local_model"]
