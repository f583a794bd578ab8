"""The parts of scikit-learn that the estimators are made of, in one place: it is optional, and slow to import."""

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, DensityMixin, OneToOneFeatureMixin, TransformerMixin
    from sklearn.utils import check_random_state
    from sklearn.utils._set_output import _get_output_config as output_config
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
    "BaseEstimator",
    "ClassifierMixin",
    "DensityMixin",
    "OneToOneFeatureMixin",
    "TransformerMixin",
    "check_classification_targets",
    "check_consistent_length",
    "check_feature_names",
    "check_is_fitted",
    "check_n_features",
    "check_random_state",
    "column_or_1d",
    "output_config",
    "validate_data",
]
