"""What old files hold and what each is asked; for `make.py`, which writes them, and for the test that reads them."""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
import polars as pl

import arbornet as an

N_ROWS = 120


def frame() -> pl.DataFrame:
    """Numbers, levels, an order and dates, from no file and no random numbers."""
    rows = range(N_ROWS)
    age = [20 + (37 * i * i + 11 * i) % 61 for i in rows]
    stage = [["I", "II", "III"][(a // 21 + (i % 7 == 0)) % 3] for i, a in enumerate(age)]
    weight = [50.5 + 0.4 * a + (13 * i % 17) for i, a in enumerate(age)]
    sex = ["f" if (i * 5) % 3 else "m" for i in rows]
    joined = [dt.date(2020, 1, 1) + dt.timedelta(days=9 * a + (i * 7) % 50) for i, a in enumerate(age)]
    back = ["yes" if (a > 55) != (i % 9 == 0) else "no" for i, a in enumerate(age)]
    return pl.DataFrame(
        {"age": age, "stage": stage, "weight": weight, "sex": sex, "joined": joined, "back": back},
        schema_overrides={"age": pl.Float64},
    )


def schema() -> an.Schema:
    return an.infer_schema(frame()).with_types(stage=an.Ordinal(["I", "II", "III"]))


def table() -> an.Table:
    return an.Table(frame(), schema=schema())


def levels() -> an.Table:
    binned = schema().with_types(age=an.Binned(3), weight=an.Binned(3), joined=an.Binned(2))
    # Bins of dates were named by the numbers behind them; a schema of then keeps these names.
    columns = tuple(dataclasses.replace(column, dated=False) for column in binned.columns)
    return an.Table(frame(), schema=dataclasses.replace(binned, columns=columns))


def graph() -> nx.DiGraph[str]:
    """The graph under all networks."""
    return nx.DiGraph([("age", "stage"), ("sex", "stage"), ("age", "weight"), ("age", "joined"), ("stage", "back")])


def scores() -> dict[str, Any]:
    """Every score and every prior over parent sets."""
    own = {
        "AIC": an.AIC(),
        "BD": an.BD(0.25, prior=an.priors.Uniform()),
        "BIC": an.BIC(prior=an.priors.EBIC(0.5)),
        "BDe": an.BDe(an.fit(levels(), graph(), an.K2()), 2.0),
        "BDeu": an.BDeu(10, prior=an.priors.Binomial(2)),
        "K2": an.K2(prior=an.priors.ParentCount()),
        "LogLikelihood": an.LogLikelihood(prior=an.priors.Parameters(0.5)),
        "MIT": an.MIT(),
        "NML": an.NML(),
        "QNML": an.QNML(),
        "DecisionGraph": an.DecisionGraph("CB", prior=3.0, kappa=0.5),
    }
    return mixed() | own | {"CustomScore": an.CustomScore(max, "the largest")}


def mixed() -> dict[str, Any]:
    """Scores whose models take numbers and levels."""
    return {
        "BasisFunctions": an.BasisFunctions(2),
        "ConditionalGaussian": an.ConditionalGaussian(discretise=True),
        "DegenerateGaussian": an.DegenerateGaussian(),
        "FullTable": an.FullTable(max_bins=4),
        "LogisticRegression": an.LogisticRegression(),
        "MARS": an.MARS(2, criterion="bic"),
        "MixedPolynomial": an.MixedPolynomial(2),
        "Multinomial": an.Multinomial(4),
        "PCART": an.PCART(max_splits=3, per_variable={"age": {"nu": 2.0}}),
    }


def networks() -> dict[str, an.BayesNet]:
    """A network of every kind of local model."""
    made = {name: an.fit(table(), graph(), score) for name, score in mixed().items()}
    return made | {name: an.fit(levels(), graph(), scores()[name]) for name in ("BDeu", "DecisionGraph")}


def constraints() -> an.Constraints:
    return an.Constraints(
        required=[("age", "weight")],
        forbidden=[("back", "age")],
        tiers=[["age", "sex"], ["stage", "weight"]],
        leaves=["back"],
        max_parents={"stage": 2},
        allowed_parents={"joined": ["age"]},
    )


def estimators() -> dict[str, Any]:
    """Fitted estimators; their arrays are NumPy's."""
    X, y = frame().drop("back"), frame()["back"]
    return {
        "NaiveBayes": an.NaiveBayes().fit(X, y),
        "TANClassifier": an.TANClassifier(an.K2()).fit(X, y),
        "FayyadIrani": an.FayyadIrani().fit(X, y),
        "ChowLiu": an.ChowLiu(an.PCART(), schema=an.infer_schema(X).with_types(stage="categorical")).fit(X),
        "NetworkLearner": an.NetworkLearner(an.BDeu(1), max_parents=1, schema=levels().schema).fit(frame()),
    }


def checkpointed(score: Any, checkpoint: Any) -> an.Candidates:
    """The Step 1 that left the checkpoints."""
    return an.score_parents(levels(), score, 3, n_jobs=1, checkpoint=checkpoint)


def validated(resume: Any) -> Any:
    """The cross-validation that left the journal."""
    return an.evaluate.cross_validate(
        frame(), an.BDeu(1), 4, 1, seed=3, schema=levels().schema, max_parents=1, resume=resume, n_jobs=1
    )


def curves(resume: Any) -> Any:
    """The intersection-validation that left the journal."""
    methods = {"tables": an.BDeu(1), "K2": an.K2()}
    how: Any = {"schema": levels().schema, "max_parents": 1, "resume": resume, "n_jobs": 1}
    return an.evaluate.intersection_validation(frame(), methods, (0.5,), 2, 3, **how)


def answers(kept: Any) -> Any:
    """What an object says, in JSON's types: enough to tell that all of it came back."""
    for kind, ask in _ASKED.items():
        if isinstance(kept, kind):
            return ask(kept)
    return [answers(each) for each in kept] if isinstance(kept, list | tuple) else repr(kept)


def _of_network(net: an.BayesNet) -> Any:
    # Files of other programs know bins by their names alone, so those networks are asked of their own draws.
    rows = net.sample(6, seed=1) if net.origin.n_rows is None else frame()[:6]
    told = [net.names, sorted(net.graph.edges), net.log_likelihood(rows).tolist()]
    # Schemas of then did not know steps, by which thresholds of whole numbers are written.
    columns = tuple(dataclasses.replace(column, step=None) for column in net.schema.columns)
    net = an.BayesNet(net.handle, dataclasses.replace(net.schema, columns=columns), net.origin)
    return [*told, [net[name].text() for name in net.names], net.origin.score, net.origin.family_scores]


def _of_model(model: an.LocalModel) -> Any:
    return [model.text(), model.rules(), model.n_parameters]


def _of_found(found: Any) -> Any:
    told = [sorted(found.dag.edges), sorted(found.cpdag.edges), found.score, found.stopped, len(found.incumbents)]
    return told if isinstance(found.bound, float) and np.isinf(found.bound) else [*told, found.bound]


def _of_graphs(found: Any) -> Any:
    return [*_of_found(found), answers(found.network), found.spec, answers(found.table)]


def _of_table(of: an.Table) -> Any:
    handle = of.handle
    values = [
        (handle.reals(v) if handle.levels(v) is None else handle.codes(v))[:6].tolist() for v in range(len(of.names))
    ]
    return [of.names, of.n_rows, of.n_dropped, values, _as_then(of.schema).to_dict()]


def _as_then(of: an.Schema) -> an.Schema:
    """A schema without what schemas have come to say since: what columns look like, and hints."""
    return an.Schema(
        tuple(dataclasses.replace(column, looks_like="", looks_because="", hint=None) for column in of.columns)
    )


def _of_candidates(kept: an.Candidates) -> Any:
    told = [kept.names, kept.n_kept, kept.n_sets, kept.max_parents, kept.score, kept.table, kept.constraints]
    return [*told, [kept.child(name).rows()[:3] for name in kept.names]]


def _of_estimator(fitted: Any) -> Any:
    X = frame()[:6]
    if isinstance(fitted, an.FayyadIrani):
        return [list(fitted.cuts_.items()), [str(value) for value in fitted.transform(X.drop("back"))["age"]]]
    if hasattr(fitted, "predict_proba"):
        return [[str(label) for label in fitted.classes_], fitted.predict_proba(X.drop("back")).tolist()]
    return fitted.score_samples(X if "back" in fitted.network_.names else X.drop("back")).tolist()


_ASKED: dict[Any, Callable[[Any], Any]] = {
    an.BayesNet: _of_network,
    an.LocalModel: lambda model: _of_model(an.LocalModel(model.handle)),
    an.search.FoundGraphs: _of_graphs,
    an.search.Found: _of_found,
    an.search.KBest: lambda ranked: [[_of_found(found) for found in ranked], ranked.weights],
    an.Table: _of_table,
    an.Schema: lambda of: [_as_then(of).to_dict(), str(_as_then(of))],
    an.Candidates: _of_candidates,
    an.Constraints: lambda rules: rules.resolve(frame().columns).spec(),
    an.CustomScore: lambda score: score.spec(),
    an.scores.ScoreParameters: lambda score: [repr(score)[:200], score.spec()],
    an.priors.Prior: lambda prior: prior.document(),
    an.metrics.Comparison: lambda compared: compared.to_dict(),
    an.Plan: lambda planned: [planned.n_sets],
}
for _name in ("NaiveBayes", "TANClassifier", "FayyadIrani", "ChowLiu", "NetworkLearner"):
    _ASKED[getattr(an, _name)] = _of_estimator
