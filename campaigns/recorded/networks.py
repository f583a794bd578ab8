"""Networks: the models under the best graph of every score, with what each arc is worth; estimators and evaluation."""

from __future__ import annotations

from typing import Any

import numpy as np

import arbornet as an
from recorded.book import Book
from recorded.tables import FEW_LEVELS, Form


def record(form: Form, book: Book) -> None:
    """Keeps the networks for the rooms after this one."""
    for name in form.found:
        book.put(f"networks/{form.name}/{name}", lambda name=name: _fitted(form, name))
    if form.name == "mixed":
        book.put("networks/mixed/table", lambda: form.table)
        for name, make in _estimators(form).items():
            book.put(f"networks/mixed/{name}", make)
    if form.name == "levels":
        book.put("networks/levels/table", lambda: form.table)
        for name, make in _evaluations(form).items():
            book.put(f"networks/levels/{name}", make)


def _fitted(form: Form, name: str) -> an.BayesNet:
    score = form.candidates[name][0]
    net = an.fit(form.table, form.found[name], score, n_jobs=form.n_jobs)
    form.networks[name] = net
    return net


def _estimators(form: Form) -> dict[str, Any]:
    """Classifiers of the first variable with levels, and the density for scikit-learn."""
    target = form.first("levels")
    n_jobs = form.n_jobs
    frame = form.frame
    schema = form.table.schema
    density = an.ChowLiu(an.PCART(), schema=schema, n_jobs=n_jobs)
    made: dict[str, Any] = {"ChowLiu": lambda: density.fit(frame).score_samples(frame[:50])}
    if target is None:
        return made
    X, y = frame.drop(target), frame[target]
    others = an.Schema(tuple(column for column in schema.columns if column.name != target))
    of_trees = an.TANClassifier(an.PCART(), schema=others, n_jobs=n_jobs)

    def classified(classifier: Any) -> object:
        fitted = classifier.fit(X, y)
        return [[str(label) for label in fitted.classes_], fitted.graph_, fitted.predict_proba(X[:50])]

    return made | {
        "naive Bayes": lambda: classified(an.NaiveBayes(n_jobs=n_jobs)),
        "TAN": lambda: classified(an.TANClassifier(an.K2(), n_jobs=n_jobs)),
        "TAN of trees": lambda: classified(of_trees) if y.n_unique() <= FEW_LEVELS else "too many classes",
        "Fayyad and Irani": lambda: _cut(form, X, y),
    }


def _cut(form: Form, X: Any, y: Any) -> object:
    cutter = an.FayyadIrani(n_jobs=form.n_jobs).fit(X, y)
    return [cutter.cuts_, np.asarray(cutter.transform(X[:20]).rows(), dtype=object)]


def _evaluations(form: Form) -> dict[str, Any]:
    """Parts of the rows: folds, samples, bootstrap."""
    few = form.names[:4]
    frame = form.frame.select(few)
    schema = an.Schema(tuple(column for column in form.table.schema.columns if column.name in few))
    methods = {"tables": an.BDeu(10), "trees": an.PCART()}
    how: Any = {"schema": schema, "n_jobs": form.n_jobs, "max_parents": 2}
    return {
        "cross-validation": lambda: _frames(an.evaluate.cross_validate(frame, methods, 3, 1, 7, **how)),
        "intersection": lambda: an.evaluate.intersection_validation(frame, methods, (0.5,), 2, 7, **how).distances,
        "arc strength": lambda: an.evaluate.arc_strength(frame, an.BDeu(10), n_bootstrap=4, seed=7, **how),
    }


def _frames(validated: Any) -> object:
    return [validated.summary, validated.by_variable, validated.folds]
