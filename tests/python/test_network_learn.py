"""The whole road in one call, arcs under resampling, and the scikit-learn estimator."""

from __future__ import annotations

import datetime as dt
import subprocess
import sys
import warnings

import networkx as nx
import numpy as np
import polars as pl
import pytest

import arbornet as an
from arbornet.evaluate.arc_strength import resampled


def frame(n: int = 400) -> pl.DataFrame:
    rng = np.random.default_rng(2)
    group = rng.integers(0, 3, n)
    size = rng.normal(group, 0.4)
    colour = np.where(rng.random(n) < np.where(size > 1, 0.9, 0.1), "red", "blue")
    return pl.DataFrame(
        {"group": [f"g{g}" for g in group], "size": size, "colour": colour, "noise": rng.normal(size=n)}
    )


def test_learning_finds_the_best_network_and_tells_its_choices(capsys):
    data = frame().with_columns(pl.when(pl.int_range(pl.len()) < 5).then(None).otherwise(pl.col("size")).alias("size"))
    net = an.learn(data, an.PCART(), max_parents=2, missing="drop")
    told = capsys.readouterr().out
    for words in (
        "continuous: size, noise",
        "categorical: group, colour",
        "5 rows dropped",
        "size: 5",
        "28 parent sets",
        "proved: no network within the parent limit scores higher",
        "PCART()",
    ):
        assert words in told
    table = an.Table(data)
    best = an.search.exact(an.score_parents(table, an.PCART(), max_parents=2))
    assert set(net.graph.edges) == set(best.dag.edges)
    assert net.origin.search["method"] == "exact" and net.origin.search["stopped"] == "proven"
    assert net.origin.search["score"] == best.score
    assert {frozenset(arc) for arc in net.graph.edges} == {frozenset(("group", "size")), frozenset(("size", "colour"))}


def test_learning_can_be_silent_constrained_and_searched_otherwise(capsys):
    rules = an.Constraints(forbidden=[("group", "size")])
    net = an.learn(frame().lazy(), an.PCART(), "hill_climb", 2, rules, verbose=False)
    assert capsys.readouterr().out == ""
    assert ("group", "size") not in net.graph.edges
    same = an.learn(an.Table(frame()), an.PCART(), an.search.hill_climb, 2, rules, verbose=False)
    assert set(same.graph.edges) == set(net.graph.edges)
    with pytest.raises(an.ParameterError, match="'exact'"):
        an.learn(frame(), an.PCART(), "magic", verbose=False)


def test_a_hostile_frame_is_learned_from_and_every_choice_told(capsys):
    n = 400
    hostile = frame(n).with_columns(
        id=pl.Series([f"u{i:04}" for i in range(n)]),
        number=pl.Series(range(n)),
        always=pl.lit("x"),
        once=pl.lit(dt.date(2020, 2, 1)),
        nothing=pl.lit(None),
        when=pl.Series([dt.date(2020, 1, 1) + dt.timedelta(days=i * 7 % 900) for i in range(n)]),
        yes=pl.Series([i % 3 == 0 for i in range(n)]),
        some=pl.Series([float(i % 50) if i % 9 else None for i in range(n)]),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", an.RowsDroppedWarning)
        net = an.learn(hostile, max_parents=1)
    told = capsys.readouterr().out
    for words in (
        "left out: id is text that differs in every row",
        "left out: number numbers the rows from 0",
        "left out: always is constant ('x')",
        "left out: once is constant (2020-02-01)",
        "left out: nothing has no value in any row",
        "45 rows with missing values kept (some: 45)",
    ):
        assert words in told, words
    assert net.names == ["group", "size", "colour", "noise", "when", "yes", "some"]
    assert net.predict(hostile.with_columns(size=pl.lit(None)), "group").equals(
        net.predict(hostile.drop("size"), "group")
    )
    assert net.predict(hostile.lazy(), "size").null_count() == 0


def test_no_rows_have_no_answers():
    net = an.learn(frame(), max_parents=1, verbose=False)
    none = frame()[:0]
    assert net.predict(none, "group").len() == net.predict(none, "size").len() == len(net.log_likelihood(none)) == 0
    assert net.predict_proba(none, "group").shape == (0, 3) and net.predict_interval(none, "size").shape == (0, 2)
    assert net.sample(0).columns == net.names


def test_arc_strengths_are_shares_of_resampled_networks():
    strengths = an.evaluate.arc_strength(frame(), an.PCART(), n_bootstrap=12, max_parents=2, seed=1)
    assert strengths.columns == ["parent", "child", "strength", "adjacency"]
    assert strengths.equals(
        an.evaluate.arc_strength(frame(), an.PCART(), n_bootstrap=12, max_parents=2, seed=1, n_jobs=1)
    )
    adjacency = {frozenset(row[:2]): row[3] for row in strengths.iter_rows()}
    assert adjacency[frozenset(("group", "size"))] == 1.0
    assert strengths["strength"].is_sorted(descending=True)
    graph = an.evaluate.averaged(strengths, 0.4)
    assert nx.is_directed_acyclic_graph(graph) and frozenset(("group", "size")) in {frozenset(e) for e in graph.edges}
    net = an.learn(frame(), an.PCART(), max_parents=2, verbose=False).with_strengths(strengths)
    for parent, child, data in net.graph.edges(data=True):
        row = strengths.filter((pl.col("parent") == parent) & (pl.col("child") == child))
        assert data["strength"] == (row["strength"][0] if row.height else 0.0)
        assert "bootstrap" in net.explain(child)


def test_resampling_takes_rows_as_they_are():
    table = an.Table(frame())
    rows = np.array([3, 3, 0])
    assert resampled(table, rows).to_polars().equals(table.to_polars()[rows.tolist()])


def test_the_estimator_follows_the_conventions_of_scikit_learn():
    from sklearn.utils.estimator_checks import check_estimator

    learner = an.NetworkLearner(an.PCART(), search="hill_climb", max_parents=1)
    failed = {
        result["check_name"]: result["exception"]
        for result in check_estimator(learner, on_fail=None, on_skip=None)
        if result["status"] == "failed"
    }
    assert failed == {}


def test_the_estimator_works_in_pipelines_and_searches():
    from sklearn.base import clone
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import FunctionTransformer

    learner = an.NetworkLearner(an.PCART(), search="hill_climb", max_parents=1, n_jobs=1)
    pipe = Pipeline([("same", FunctionTransformer()), ("network", clone(learner))]).fit(frame())
    assert pipe.score_samples(frame()).shape == (400,)
    data = frame().to_pandas()
    search = GridSearchCV(learner, {"max_parents": [0, 1]}, cv=2).fit(data)
    assert search.best_params_ == {"max_parents": 1}
    assert list(search.best_estimator_.feature_names_in_) == list(data.columns)
    assert set(search.best_estimator_.graph_) == set(data.columns)


def test_the_estimator_gives_the_kind_of_frame_asked_for():
    learner = an.NetworkLearner(an.PCART(), search="hill_climb", max_parents=1).fit(frame())
    assert isinstance(learner.sample(3, random_state=1), pl.DataFrame)
    assert type(learner.set_output(transform="pandas").sample(3)).__module__.startswith("pandas")
    array = np.random.default_rng(0).normal(size=(50, 2))
    of_array = an.NetworkLearner(an.PCART(), search="hill_climb", max_parents=1).fit(array)
    assert of_array.sample(4).shape == (4, 2)
    assert isinstance(of_array.set_output(transform="polars").sample(4), pl.DataFrame)
    assert np.isclose(of_array.score(array), of_array.score_samples(array).mean())


def test_the_kind_of_output_is_kept_by_clones_and_follows_scikit_learns_setting():
    import pandas as pd
    import sklearn
    from sklearn.base import clone

    data = frame().with_columns(grade=pl.Series(["low", "high"] * 200, dtype=pl.Enum(["low", "high"])))
    learner = an.NetworkLearner(an.PCART(), search="hill_climb", max_parents=1)
    copy = clone(learner.set_output(transform="pandas")).fit(data)
    drawn = copy.sample(5, random_state=1)
    assert isinstance(drawn, pd.DataFrame)
    assert drawn["grade"].cat.ordered and list(drawn["grade"].cat.categories) == ["low", "high"]
    plain = an.NetworkLearner(an.PCART(), search="hill_climb", max_parents=1).fit(data)
    assert plain.sample(5, random_state=1).to_dicts() == drawn.to_dict("records")
    with sklearn.config_context(transform_output="pandas"):
        assert isinstance(plain.sample(2), pd.DataFrame)
        assert isinstance(plain.set_output(transform="polars").sample(2), pl.DataFrame)
    with pytest.raises(an.ParameterError, match="choose"):
        plain.set_output(transform="arrow")


def test_scikit_learn_is_imported_only_when_asked_for():
    code = (
        "import sys, arbornet as an; m = sys.modules; print('sklearn' in m); an.NetworkLearner; print('sklearn' in m)"
    )
    ran = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["False", "True"]


@pytest.mark.parametrize("learner", [an.NetworkLearner, an.ChowLiu])
def test_an_estimator_can_be_told_what_to_do_with_new_levels(learner):
    frame = pl.DataFrame({"a": ["x", "y"] * 20, "b": ["u", "v"] * 20})
    new = pl.DataFrame({"a": ["z"], "b": ["u"]})
    with pytest.raises(an.ColumnError, match="unseen='missing'"):
        learner(an.BIC()).fit(frame).score_samples(new)
    told = learner(an.BIC(), unseen="missing").fit(frame)
    assert told.score_samples(new) == told.network_.log_likelihood(new.select("b"))
    schema = an.infer_schema(frame).with_types(a=an.Categorical(["x"]))
    assert learner(an.BIC(), schema=schema, missing="drop", unseen="missing").fit(frame).network_.origin.n_rows == 20
