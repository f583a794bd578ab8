"""Estimators for scikit-learn: networks, classifiers, a density, a transformer.

Importing this package imports scikit-learn, which is optional and slow to import; arbornet itself does not.
"""

from arbornet.estimators.classifiers import NaiveBayes, TANClassifier
from arbornet.estimators.discretise import FayyadIrani
from arbornet.estimators.imputer import NetworkImputer
from arbornet.estimators.learner import NetworkLearner
from arbornet.estimators.tree_density import ChowLiu

__all__ = ["ChowLiu", "FayyadIrani", "NaiveBayes", "NetworkImputer", "NetworkLearner", "TANClassifier"]
