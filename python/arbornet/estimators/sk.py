"""The parts of scikit-learn that the estimators are made of, in one place: it is optional, and slow to import."""

import inspect
from typing import Any

try:
    from sklearn import get_config
    from sklearn.base import BaseEstimator, ClassifierMixin, DensityMixin, OneToOneFeatureMixin, TransformerMixin
    from sklearn.utils import ClassifierTags, RegressorTags, check_random_state
    from sklearn.utils._set_output import _get_output_config as output_config
    from sklearn.utils.metaestimators import available_if
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import (
        _check_feature_names as check_feature_names,
    )
    from sklearn.utils.validation import (
        _check_n_features as check_n_features,
    )
    from sklearn.utils.validation import (
        check_consistent_length,
        check_is_fitted,
        column_or_1d,
        validate_data,
    )
except ImportError as error:  # pragma: no cover
    raise ImportError("arbornet's estimators need scikit-learn: pip install scikit-learn") from error

__all__ = [
    "ClassifierMixin",
    "ClassifierTags",
    "DensityMixin",
    "Estimator",
    "OneToOneFeatureMixin",
    "RegressorTags",
    "TransformerMixin",
    "available_if",
    "check_classification_targets",
    "check_consistent_length",
    "check_feature_names",
    "check_is_fitted",
    "check_n_features",
    "check_random_state",
    "column_or_1d",
    "get_config",
    "output_config",
    "validate_data",
]


class Estimator(BaseEstimator):  # type: ignore[misc]
    """An estimator of frames: with gaps, text and levels.

    Its pickles outlive new parameters: what an older one did not have takes its default.
    """

    n_jobs: int | None

    def __setstate__(self, state: dict[str, Any]) -> None:
        parameters = inspect.signature(type(self)).parameters.items()
        defaults = {name: one.default for name, one in parameters if one.default is not inspect.Parameter.empty}
        super().__setstate__({**defaults, **state})

    def _threads(self) -> int:
        """Of `n_jobs`, which is None for all cores."""
        return -1 if self.n_jobs is None else self.n_jobs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags
