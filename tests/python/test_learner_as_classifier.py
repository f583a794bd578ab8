"""A NetworkLearner whose target has levels is a classifier: probabilities, metrics of scikit-learn, mixed arrays."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import arbornet as an

PENGUINS = an.example("penguins").to_pandas()
X, Y = PENGUINS.drop(columns=["species", "flipper_length_mm", "bill_length_mm"]), PENGUINS["species"]
FOLDS = StratifiedKFold(3, shuffle=True, random_state=0)


def learner() -> an.NetworkLearner:
    return an.NetworkLearner(max_parents=2, effort="quick")


def test_probabilities_are_those_of_the_network() -> None:
    fitted = learner().fit(X, Y)
    told = fitted.predict_proba(X)
    assert fitted.classes_.tolist() == ["Adelie", "Chinstrap", "Gentoo"]
    assert told == pytest.approx(fitted.network_.predict_proba(X, "species").to_numpy())
    assert (fitted.classes_[told.argmax(axis=1)] == fitted.predict(X)).all()
    again = pickle.loads(pickle.dumps(fitted))
    assert (again.predict_proba(X) == told).all() and not hasattr(clone(fitted), "classes_")


def test_classes_are_sorted_as_metrics_expect_them_whatever_the_order_of_the_levels() -> None:
    size = pd.cut(PENGUINS["body_mass_g"].fillna(4000), [0, 3600, 4600, 9999], labels=["small", "medium", "big"])
    given = PENGUINS[["bill_length_mm", "flipper_length_mm", "sex"]]
    fitted = learner().fit(given, size.rename("size"))
    assert fitted.network_.schema["size"].levels == ("small", "medium", "big")
    assert fitted.classes_.tolist() == ["big", "medium", "small"]
    area = roc_auc_score(size.astype(str), fitted.predict_proba(given), multi_class="ovr")
    assert area > 0.85 and area == pytest.approx(
        np.mean(
            [roc_auc_score(size == level, fitted.predict_proba(given)[:, i]) for i, level in enumerate(fitted.classes_)]
        )
    )


def test_metrics_of_probabilities_cross_validation_and_calibration_take_it() -> None:
    scores = cross_validate(learner(), X, Y, cv=FOLDS, scoring=["roc_auc_ovr", "neg_log_loss"], error_score="raise")
    assert scores["test_roc_auc_ovr"].min() > 0.8 and scores["test_neg_log_loss"].min() > -0.6
    assert cross_val_predict(learner(), X, Y, cv=FOLDS, method="predict_proba").shape == (344, 3)
    assert CalibratedClassifierCV(learner(), cv=FOLDS).fit(X, Y).predict_proba(X).shape == (344, 3)
    truth = (Y == "Gentoo").to_numpy()
    assert (
        cross_validate(learner(), X, truth, cv=FOLDS, scoring="roc_auc", error_score="raise")["test_score"].min() > 0.9
    )


def test_what_it_is_follows_from_its_target() -> None:
    assert not is_classifier(learner()) and not is_regressor(learner())
    assert is_classifier(learner().fit(X, Y))
    number = learner().fit(X.drop(columns="body_mass_g"), X["body_mass_g"])
    assert is_regressor(number) and not hasattr(number, "predict_proba") and not hasattr(number, "classes_")
    density = learner().fit(X)
    assert not is_classifier(density) and not is_regressor(density) and not hasattr(density, "predict_proba")
    assert not hasattr(an.ChowLiu(), "predict_proba")
    assert not hasattr(density.fit(X, Y).fit(X), "classes_")


def test_an_array_of_texts_and_numbers_is_read_like_a_frame() -> None:
    mixed = make_column_transformer(
        (StandardScaler(), make_column_selector(dtype_include="number")),
        ("passthrough", make_column_selector(dtype_exclude="number")),
    )
    fitted = make_pipeline(mixed, learner()).fit(X, Y)
    kinds = {column.name: column.word for column in fitted[-1].network_.schema.columns}
    assert kinds == {f"x{i}": "continuous" for i in range(3)} | {
        "x3": "categorical", "x4": "categorical", "species": "categorical",
    }  # fmt: skip
    assert fitted.score(X, Y) > 0.8 and fitted.predict_proba(X).shape == (344, 3)
    assert learner().fit(X.to_numpy()).network_.schema["x0"].word == "categorical"
