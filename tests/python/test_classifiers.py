"""Classifiers and the Chow-Liu density: the checks of scikit-learn, any labels, any frames, probabilities by hand."""

from __future__ import annotations

import itertools
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

import arbornet as an

SCORES = [
    an.LogLikelihood(),
    an.AIC(),
    an.BIC(),
    an.NML(),
    an.QNML(),
    an.MIT(0.99),
    an.K2(),
    an.BD(0.5),
    an.BDeu(4),
    an.PCART(max_splits=2),
    an.FullTable(max_bins=3),
]
EVERY = [an.NaiveBayes(), an.TANClassifier(), an.TANClassifier(an.K2()), an.ChowLiu(), an.FayyadIrani()]


def penguins() -> tuple[pl.DataFrame, pl.Series]:
    frame = an.example("penguins")
    return frame.drop("species"), frame["species"]


def levels(n_rows: int = 200, seed: int = 0) -> tuple[pl.DataFrame, pl.Series]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n_rows)
    a = (y + rng.integers(0, 2, n_rows)) % 3
    b = (a + (rng.random(n_rows) < 0.3)) % 2
    c = rng.integers(0, 4, n_rows)
    frame = pl.DataFrame({name: [f"{name}{value}" for value in of] for name, of in {"a": a, "b": b, "c": c}.items()})
    return frame, pl.Series("y", [f"y{value}" for value in y])


@pytest.mark.parametrize("estimator", EVERY, ids=repr)
@pytest.mark.filterwarnings("ignore")
def test_it_follows_the_conventions_of_scikit_learn(estimator: Any) -> None:
    checks = check_estimator(estimator, on_fail=None, on_skip=None)
    failed = {check["check_name"]: check["exception"] for check in checks if check["status"] == "failed"}
    assert failed == {}
    assert sum(check["status"] == "passed" for check in checks) >= 35


@pytest.mark.parametrize("score", SCORES, ids=repr)
def test_every_score_makes_a_classifier_and_a_density(score: Any) -> None:
    X, y = penguins()
    for classifier in (an.TANClassifier(score), an.NaiveBayes(score), an.TANClassifier(score, forest=True)):
        assert classifier.fit(X, y).score(X, y) > 0.95
        assert set(classifier.graph_.successors("species")) == set(X.columns)
    frame = X.select("island", "sex").with_columns(y)
    density = an.ChowLiu(score).fit(frame)
    assert np.isfinite(density.score_samples(frame)).all()
    assert density.graph_.number_of_edges() == 2


def test_probabilities_are_those_by_hand() -> None:
    X, y = levels()
    classifier = an.NaiveBayes(smoothing=0.5).fit(X, y)
    rows, labels = X.rows(), y.to_list()
    got = classifier.predict_proba(X)
    assert list(classifier.classes_) == ["y0", "y1", "y2"]
    for at in range(10):
        weights = []
        for label in classifier.classes_:
            of_label = [row for row, other in zip(rows, labels, strict=True) if other == label]
            weight = (len(of_label) + 0.5) / (len(rows) + 1.5)
            for i, value in enumerate(rows[at]):
                same = sum(row[i] == value for row in of_label)
                weight *= (same + 0.5) / (len(of_label) + 0.5 * X[:, i].n_unique())
            weights.append(weight)
        assert got[at] == pytest.approx(np.array(weights) / sum(weights), abs=1e-12)


def test_maximum_likelihood_is_smoothed_by_one_over_the_number_of_levels() -> None:
    X, y = pl.DataFrame({"a": list("uuvuvw") * 3}), ["p", "p", "p", "q", "q", "q"] * 3
    classifier = an.NaiveBayes(an.BIC()).fit(X, y)
    table = {row["a"]: row["probability"] for row in classifier.network_.query("a", given={"class": "p"}).to_dicts()}
    assert table == pytest.approx({"u": (6 + 1 / 3) / 10, "v": (3 + 1 / 3) / 10, "w": (1 / 3) / 10})
    of_its_own = an.NaiveBayes(an.BD(2)).fit(X, y)
    table = {row["a"]: row["probability"] for row in of_its_own.network_.query("a", given={"class": "p"}).to_dicts()}
    assert table == pytest.approx({"u": 8 / 15, "v": 5 / 15, "w": 2 / 15})
    with pytest.raises(an.ParameterError, match="smoothing=0"):
        an.NaiveBayes(smoothing=0).fit(X, y)
    with pytest.raises(an.ParameterError, match="models of its own"):
        an.NaiveBayes(an.PCART(), smoothing=1).fit(X, y)


def test_the_tree_of_a_tan_is_that_of_the_search() -> None:
    X, y = levels(400, 3)
    table = an.Table(X.with_columns(y))
    for score in (an.BIC(), an.K2()):
        found = an.search.tan(table, "y", score)
        classifier = an.TANClassifier(score).fit(X, y)
        assert set(classifier.graph_.edges) == set(found.dag.edges)
    assert set(an.TANClassifier(root="c").fit(X, y).graph_.predecessors("c")) == {"y"}
    assert an.TANClassifier(an.BIC(), forest=True).fit(X, y).graph_.number_of_edges() < 5


LABELS = {
    "texts": ["no", "yes"],
    "truth values": [False, True],
    "whole numbers": [-1, 7],
    "numbers": [1.0, 2.0],
    "texts of one number": ["1", "01"],
}


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
@pytest.mark.parametrize("form", [list, np.array, pl.Series, pd.Series])
def test_labels_of_any_type_come_back_as_they_were(labels: list[Any], form: Any) -> None:
    X, y = levels()
    told = [labels[label == "y1"] for label in y]
    classifier = an.TANClassifier(an.BDeu(1)).fit(X, form(told))
    assert list(classifier.classes_) == sorted(labels)
    predicted = classifier.predict(X)
    assert set(predicted.tolist()) <= set(labels)
    assert type(predicted[0].item() if hasattr(predicted[0], "item") else predicted[0]) is type(labels[0])
    assert classifier.score(X, told) > 0.7
    assert classifier.predict_proba(X).sum(axis=1) == pytest.approx(np.ones(len(y)))


def test_categories_and_enums_are_labels_too() -> None:
    X, y = levels()
    expected = an.NaiveBayes().fit(X, y).predict_proba(X)
    forms = [
        y.cast(pl.Categorical),
        y.cast(pl.Enum(["y2", "y0", "y1"])),
        y.to_pandas().astype("category"),
        pl.DataFrame({"y": y}),
        y.to_numpy(),
    ]
    for form in forms:
        classifier = an.NaiveBayes().fit(X, form)
        assert list(classifier.classes_) == ["y0", "y1", "y2"]
        assert classifier.predict_proba(X) == pytest.approx(expected)


@pytest.mark.parametrize("estimator", [an.NaiveBayes(), an.TANClassifier(an.MIT())], ids=repr)
def test_frames_of_every_kind_give_the_same(estimator: Any) -> None:
    X, y = penguins()
    expected = clone(estimator).fit(X, y).predict_proba(X)
    for frame in (X.to_pandas(), X.to_arrow(), X.lazy(), X.to_dict(as_series=False)):
        fitted = clone(estimator).fit(frame, y)
        assert fitted.predict_proba(frame) == pytest.approx(expected)
        assert fitted.n_features_in_ == X.width
    assert list(clone(estimator).fit(X, y).feature_names_in_) == X.columns
    objects = clone(estimator).fit(X.select("island", "sex").to_numpy(), y)
    assert objects.score(X.select("island", "sex").to_numpy(), y) > 0.6
    assert not hasattr(objects, "feature_names_in_")


def test_missing_values_and_unseen_levels_are_summed_out() -> None:
    X, y = levels()
    classifier = an.TANClassifier(an.BIC()).fit(X, y)
    known = X.head(5).with_columns(a=pl.lit(None, dtype=pl.String))
    unseen = X.head(5).with_columns(a=pl.lit("never seen"))
    got = classifier.predict_proba(known)
    assert classifier.predict_proba(unseen) == pytest.approx(got)
    expected = classifier.network_.predict_proba(X.head(5).drop("a"), "y").to_numpy()
    assert got == pytest.approx(expected)
    nothing = classifier.predict_proba(
        X.head(1).with_columns(pl.lit(None, dtype=pl.String).alias(c) for c in X.columns)
    )
    shares = np.array([(y == label).sum() + 1 / 3 for label in classifier.classes_]) / (len(y) + 1)
    assert nothing[0] == pytest.approx(shares)
    X, y = penguins()
    assert X.null_count().sum_horizontal().item() > 0
    assert an.NaiveBayes(missing="level").fit(X, y).score(X, y) > 0.95


def test_a_gap_costs_no_more_than_the_probabilities_that_need_it() -> None:
    X, y = levels(300, 9)
    rng = np.random.default_rng(1)
    gaps = X.with_columns(
        pl.when(pl.Series(rng.random(300) < 0.2)).then(None).otherwise(pl.col(c)).alias(c) for c in "ab"
    )
    classifier = an.TANClassifier(an.K2(), root="a").fit(gaps, y)
    frame = gaps.with_columns(y)
    (parent,) = set(classifier.graph_.predecessors("b")) - {"y"}
    family = frame.select("y", parent, "b").drop_nulls()
    same = family.filter(pl.col("y") == "y1", pl.col(parent) == f"{parent}1")
    share = ((same["b"] == "b0").sum() + 1) / (same.height + 2)
    told = classifier.network_.query({"b": "b0"}, given={"y": "y1", parent: f"{parent}1"})
    assert told == pytest.approx(share)
    assert classifier.network_.query({"y": "y1"}) == pytest.approx(((y == "y1").sum() + 1) / 303)
    complete = an.TANClassifier(an.K2(), root="a").fit(X, y)
    assert an.TANClassifier(an.K2(), root="a", missing="drop").fit(X, y).network_ == complete.network_
    assert classifier.predict_proba(X).sum(axis=1) == pytest.approx(np.ones(300))
    assert pickle.loads(pickle.dumps(classifier)).network_ == classifier.network_


def test_rows_with_gaps_only_still_make_a_classifier() -> None:
    X, y = levels(60, 2)
    half = [i % 2 == 0 for i in range(60)]
    gaps = X.select(
        pl.when(pl.Series(half)).then(None).otherwise(pl.col("a")).alias("a"),
        pl.when(pl.Series(half)).then(pl.col("b")).otherwise(None).alias("b"),
    )
    assert an.NaiveBayes().fit(gaps, y).score(gaps, y) > 0.4
    with pytest.warns(an.ArbornetWarning, match="0 complete rows of 60.*'a' is missing in 30"):
        assert set(an.TANClassifier().fit(gaps, y).graph_.edges) == {("y", "a"), ("y", "b")}
    with pytest.raises(an.ArbornetError, match="no row is complete"):
        an.NaiveBayes(missing="drop").fit(gaps, y)
    with pytest.raises(an.ColumnError, match="'z' is infinite"):
        an.NaiveBayes().fit(X.with_columns(z=pl.lit(float("inf"))), y)


def test_numbers_with_gaps_are_cut_scaled_and_modelled_from_what_is_there() -> None:
    X, y = penguins()
    for score in (an.LogLikelihood(), an.PCART(max_splits=2)):
        fitted = an.TANClassifier(score).fit(X, y)
        assert fitted.network_.origin.n_rows == 344
        assert fitted.score(X, y) > 0.97
    assert fitted.network_.schema["body_mass_g"].scale[0] == pytest.approx(X["body_mass_g"].mean())


def test_numbers_are_cut_where_they_tell_the_classes_or_as_asked() -> None:
    X, y = penguins()
    X = X.select("bill_length_mm", "body_mass_g")
    fitted = an.NaiveBayes().fit(X, y)
    assert fitted.network_.schema["bill_length_mm"].cuts == an.FayyadIrani().fit(X, y).cuts_["bill_length_mm"]
    for bins in (4, an.Binned(4)):
        assert len(an.NaiveBayes(bins=bins).fit(X, y).network_.schema["bill_length_mm"].cuts) == 3
    own = an.infer_schema(X).with_types(bill_length_mm=an.Binned(cuts=[40, 50]))
    assert an.NaiveBayes(schema=own).fit(X, y).network_.schema["bill_length_mm"].cuts == (40.0, 50.0)
    assert an.NaiveBayes(an.PCART()).fit(X, y).network_.schema["bill_length_mm"].word == "continuous"
    with pytest.raises(an.ParameterError, match="bins='mdl'"):
        an.NaiveBayes(bins="mdl").fit(X, y)


def test_it_works_in_pipelines_and_searches_and_survives_pickling() -> None:
    X, y = penguins()
    data, labels = X.to_pandas(), y.to_pandas()
    search = GridSearchCV(
        an.TANClassifier(), {"local_score": [an.LogLikelihood(), an.K2()], "smoothing": [None, 1]}, cv=3
    )
    assert search.fit(data, labels).best_score_ > 0.9
    piped = make_pipeline(an.FayyadIrani(), an.TANClassifier(an.BDeu(1)))
    assert cross_val_score(piped, data, labels, cv=3).mean() > 0.9
    fitted = an.TANClassifier().fit(X, y)
    again = pickle.loads(pickle.dumps(fitted))
    assert (again.predict_proba(X) == fitted.predict_proba(X)).all()


def test_the_class_never_shares_a_name_with_an_attribute() -> None:
    X, y = levels()
    X = X.rename({"a": "class", "b": "y"})
    assert an.NaiveBayes().fit(X, y).class_name_ == "y_"
    assert an.NaiveBayes().fit(X, y.to_list()).class_name_ == "class_"


def test_columns_that_tell_nothing_are_no_obstacle() -> None:
    y = ["p", "q"] * 10
    constant = pl.DataFrame({"k": [1] * 20})
    for estimator in (an.NaiveBayes(), an.TANClassifier()):
        assert estimator.fit(constant, y).predict_proba(constant) == pytest.approx(np.full((20, 2), 0.5))
        one = estimator.fit(pl.DataFrame({"a": list("uv") * 10}), ["only"] * 20)
        assert set(one.predict(pl.DataFrame({"a": ["u", "w"]}))) == {"only"}


def test_what_cannot_be_used_is_refused_in_a_sentence() -> None:
    X, y = levels()
    with pytest.raises(ValueError, match="row 3 has no label"):
        an.NaiveBayes().fit(X, [None if i == 3 else label for i, label in enumerate(y)])
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        an.NaiveBayes().fit(X, np.linspace(0, 1, len(y)))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        an.NaiveBayes().fit(X, y.head(10))
    fitted = an.NaiveBayes().fit(X, y)
    with pytest.raises(ValueError, match="feature names"):
        fitted.predict(X.rename({"a": "z"}))
    with pytest.raises(ValueError, match="missing='guess'"):
        an.NaiveBayes(missing="guess").fit(X, y)


def test_a_chow_liu_tree_is_a_density() -> None:
    frame, _ = levels(60, 5)
    density = an.ChowLiu().fit(frame)
    every = [frame[name].unique().sort().to_list() for name in frame.columns]
    rows = pl.DataFrame(list(itertools.product(*every)), schema=frame.columns, orient="row")
    assert np.exp(density.score_samples(rows)).sum() == pytest.approx(1)
    assert density.found_.score == an.chow_liu(an.Table(frame)).score
    assert density.sample(5, random_state=1).equals(density.sample(5, random_state=1))
    mixed = an.example("penguins")
    assert an.ChowLiu().fit(mixed).sample(3)["body_mass_g"].dtype.is_numeric()
    assert an.ChowLiu(an.BIC(), bins=4).fit(mixed).sample(3)["body_mass_g"].dtype == pl.Enum
    with pytest.raises(an.ColumnError, match=r"'bill_length_mm' is continuous.*Binned"):
        an.ChowLiu(an.BIC()).fit(mixed)


def test_of_equally_probable_labels_the_first_is_predicted() -> None:
    even = an.NaiveBayes().fit(pl.DataFrame({"x": list("uvuv")}), list("baab"))
    assert even.predict_proba(pl.DataFrame({"x": ["u"]})).tolist() == [[0.5, 0.5]]
    assert even.predict(pl.DataFrame({"x": ["u"]})).tolist() == ["a"]


def test_a_row_that_no_class_explains_is_given_the_shares_of_the_classes(tmp_path: Path) -> None:
    (tmp_path / "prior.bif").write_text("""network n {} variable x { type discrete [3] { u, v, w }; }
        variable class { type discrete [2] { a, b }; }
        probability (class) { table 0.5, 0.5; } probability (x | class) { (a) 0.5, 0.5, 0.0; (b) 0.5, 0.5, 0.0; }""")
    score = an.BDe(an.read_bif(tmp_path / "prior.bif"), 1)
    X = pl.DataFrame({"x": list("uvuv")})
    schema = an.infer_schema(X).with_types(x=an.Categorical(["u", "v", "w"]))
    classifier = an.NaiveBayes(score, schema=schema).fit(X, list("abbb"))
    shares = [1.5 / 5, 3.5 / 5]
    assert classifier.predict_proba(pl.DataFrame({"x": ["w"]}))[0] == pytest.approx(shares)
