"""Scores for mixed tables from Python: golden numbers, their literal twins, and what a network of them answers."""

from __future__ import annotations

import json
import math
import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression

import arbornet as an
import mixed_literal as literal
from places import GOLDEN

MIXED = [
    an.ConditionalGaussian(),
    an.ConditionalGaussian(discretise=True),
    an.ConditionalGaussian(exact=True),
    an.DegenerateGaussian(),
    an.BlockGaussian(),
    an.BlockGaussian(1, "raw"),
    an.BlockGaussian(scale="auto"),
    an.BasisFunctions(),
    an.MixedPolynomial(),
    an.MixedPolynomial("log"),
    an.LogisticRegression(),
    an.Multinomial(),
]
PUBLISHED = {
    "cg": an.ConditionalGaussian(published=True),
    "cgd": an.ConditionalGaussian(discretise=True, published=True),
    "mvp1": an.MixedPolynomial(1, published=True),
    "mvplog": an.MixedPolynomial("log", published=True),
    "dg": an.DegenerateGaussian(published=True),
    "bf3": an.BasisFunctions(degree=3, published=True),
}


def made(frame: pl.DataFrame, levels: dict[str, int]) -> an.Table:
    kinds = {name: an.Categorical(list(range(k))) if k else an.Continuous() for name, k in levels.items()}
    # The golden columns are standardised already, with divisor n - 1.
    return an.Table(frame, schema=an.infer_schema(frame).with_types(kinds), standardise=False)


@cache
def golden(name: str) -> tuple[an.Table, literal.Data, dict[str, Any]]:
    document = json.loads((GOLDEN / "mixed" / f"{name}.json").read_text())
    frame = pl.read_csv(GOLDEN / "mixed" / f"{name}.csv")
    data = literal.Data([frame[c].to_numpy() for c in frame.columns], [document["levels"][c] for c in frame.columns])
    return made(frame, document["levels"]), data, document


@pytest.mark.parametrize("name", ["cg10_n200", "cg20_n1000"])
def test_scores_are_the_golden_numbers(name: str) -> None:
    table, _, document = golden(name)
    for entry in document["scores"]:
        child, parents = entry["child"], entry["parents"]
        expected = {score: entry["published"][key] for key, score in PUBLISHED.items()}
        expected |= {an.ConditionalGaussian(): entry["cg"], an.ConditionalGaussian(discretise=True): entry["cgd"]}
        for score, number in expected.items():
            got = an.local_score(table, child, parents, score)
            assert got == pytest.approx(number, rel=1e-9), (score, child, parents)


@pytest.mark.parametrize("name", ["cg10_n200", "cg20_n1000"])
def test_tests_find_the_golden_p_values(name: str) -> None:
    table, _, document = golden(name)
    for entry in document["tests"]:
        for key in ("mvp1", "mvplog", "dg"):
            found = an.independence.test(table, entry["x"], entry["y"], entry["given"], PUBLISHED[key])
            # The Java program's smallest values are one minus a cdf.
            tolerance = 1e-14 if key == "dg" else 0.0
            assert found.p_value == pytest.approx(entry[f"{key}_p"], rel=1e-9, abs=tolerance), (key, entry)


def test_defaults_are_their_definitions() -> None:
    table, data, document = golden("cg20_n1000")
    names = table.names
    compared = 0
    for entry in document["scores"]:
        child, parents = names.index(entry["child"]), [names.index(p) for p in entry["parents"]]
        got = an.local_score(table, entry["child"], entry["parents"], an.DegenerateGaussian())
        assert got == pytest.approx(literal.degenerate_gaussian(data, child, parents), rel=1e-9)
        discrete, numbers = data.split(parents)
        if data.levels[child] and numbers and min(map(len, data.cells([*discrete, child]))) >= len(numbers) + 2:
            got = an.local_score(table, entry["child"], entry["parents"], an.ConditionalGaussian(exact=True))
            assert got == pytest.approx(literal.exact_mixture(data, child, parents), rel=1e-9)
            compared += 1
        if min(map(len, data.cells(discrete))) > len(numbers) + 6:
            got = an.local_score(table, entry["child"], entry["parents"], an.MixedPolynomial(1))
            assert got == pytest.approx(literal.complete_polynomial(data, child, parents, 1), rel=1e-9)
    assert compared > 3


def test_logistic_regression_finds_the_maximum_another_program_finds() -> None:
    table, data, _ = golden("cg20_n1000")
    child, numbers = "X9", ["X3", "X5", "X16"]
    y = np.asarray(data.columns[table.names.index(child)])
    x = data.matrix([table.names.index(p) for p in numbers])
    model = LogisticRegression(C=1e12, tol=1e-12, max_iter=10_000).fit(x, y)
    expected = float(np.sum(np.log(model.predict_proba(x)[np.arange(len(y)), y])))
    df = (data.levels[table.names.index(child)] - 1) * 4
    got = an.local_score(table, child, numbers, an.LogisticRegression())
    assert got == pytest.approx(literal.bic(expected, df, data.n), abs=1e-4)


def sample(n: int = 400) -> pl.DataFrame:
    rng = np.random.default_rng(5)
    group = rng.choice(["a", "b", "c"], n)
    x = rng.normal(10, 2, n)
    y = np.where(group == "a", 3 + 2 * x, 40 - x) + rng.normal(0, 1, n)
    z = np.where(y + rng.normal(0, 3, n) > 27, "high", "low")
    return pl.DataFrame({"group": group, "x": x, "y": y, "z": z})


@pytest.mark.parametrize("score", MIXED, ids=repr)
def test_a_mixed_score_is_searched_fitted_asked_saved_and_shown(score: Any, tmp_path: Path) -> None:
    frame = sample()
    table = an.Table(frame)
    candidates = an.score_parents(table, score, max_parents=3)
    found = an.search.exact(candidates)
    assert found.stopped == "proven"
    assert an.search.hill_climb(table, score, max_parents=3).score <= found.score + 1e-9
    net = an.fit(table, found, score)
    rows = net.log_likelihood(frame)
    of_models = [
        [
            net[name].log_density(row[name], {parent: row[parent] for parent in net.parents(name)})
            for name in frame.columns
        ]
        for row in frame.rows(named=True)
    ]
    assert rows == pytest.approx(np.sum(of_models, axis=1), rel=1e-9)
    shares = net.predict_proba(frame.drop("z"), "z")
    assert np.allclose(shares.to_numpy().sum(axis=1), 1)
    # By y, which hangs together with z, seven of ten levels are told; without it every second.
    assert (net.predict(frame.drop("z"), "z") == frame["z"]).mean() > 0.7
    drawn = net.sample(400, seed=1)
    assert drawn.columns == frame.columns
    assert drawn["y"].mean() == pytest.approx(frame["y"].mean(), abs=2.0)
    assert (drawn["z"] == "high").mean() == pytest.approx((frame["z"] == "high").mean(), abs=0.1)
    net.save(tmp_path / "net.json")
    again = an.load(tmp_path / "net.json")
    assert np.array_equal(again.log_likelihood(frame), rows)
    net.report(tmp_path / "net.html")
    page = (tmp_path / "net.html").read_text(encoding="utf-8")
    told = json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])["variables"]  # type: ignore[index]
    assert {v["name"]: v["text"] for v in told} == {name: net[name].text() for name in frame.columns}
    for name in frame.columns:
        text = net[name].text()
        assert text.startswith(name) and text in net.explain(name)
        net[name].draw(tmp_path / "tree.svg")
        assert name in (tmp_path / "tree.svg").read_text(encoding="utf-8")


def test_a_fitted_regression_is_that_of_its_cells_in_the_users_units() -> None:
    frame = sample()
    model = an.local_model(an.Table(frame), "y", ["group", "x"], an.ConditionalGaussian())
    assert [leaf.n for leaf in model.leaves] == [(frame["group"] == g).sum() for g in "abc"]
    for leaf, group in zip(model.leaves, "abc", strict=True):
        own = frame.filter(pl.col("group") == group)
        slope, constant = np.polyfit(own["x"], own["y"], 1)
        assert leaf.formula is not None
        assert leaf.formula.startswith("mean = ")
        at = model.distribution({"group": group, "x": 12.5})
        assert isinstance(at, an.models.StudentT)
        assert at.location == pytest.approx(constant + 12.5 * slope, rel=1e-9)
        rest = own["y"].to_numpy() - constant - slope * own["x"].to_numpy()
        assert at.scale == pytest.approx(math.sqrt(np.sum(rest**2) / (len(own) - 2)), rel=1e-9)
    assert "group = a" in model.text()
    assert "x" in model.rules()[0]


def test_levels_are_told_apart_by_bayes_rule() -> None:
    frame = sample()
    model = an.local_model(an.Table(frame), "z", ["y"], an.ConditionalGaussian())
    logs = {}
    for level in ("high", "low"):
        own = frame.filter(pl.col("z") == level)["y"]
        mean, sd = own.mean(), own.std(ddof=0)
        logs[level] = math.log((len(own) + 1) / 402) - math.log(sd) - 0.5 * ((26.0 - mean) / sd) ** 2  # type: ignore[operator]
    shares = model.distribution({"y": 26.0})
    assert isinstance(shares, an.models.Shares)
    expected = 1 / (1 + math.exp(logs["low"] - logs["high"]))
    assert shares.probabilities["high"] == pytest.approx(expected, rel=1e-9)


def test_a_hidden_number_between_levels_is_predicted() -> None:
    frame = sample()
    table = an.Table(frame)
    import networkx as nx

    net = an.fit(table, nx.DiGraph([("group", "y"), ("x", "y"), ("y", "z")]), an.ConditionalGaussian())
    guessed = net.predict(frame.drop("y"), "y").to_numpy()
    assert np.corrcoef(guessed, frame["y"])[0, 1] > 0.9
    # With its parents hidden too, the answer is sampled: the mean of y by z.
    few = frame.head(60)
    rough = net.predict(few.select("z"), "y").to_numpy()
    assert rough[few["z"] == "high"].mean() > rough[few["z"] == "low"].mean() + 3


@pytest.mark.parametrize("score", [*MIXED, an.DegenerateGaussian(published=True)], ids=repr)
def test_tests_from_every_mixed_score_tell_what_depends(score: Any) -> None:
    table = an.Table(sample(600))
    for x, y, given in [("group", "y", ["x"]), ("y", "z", [])]:
        assert an.independence.test(table, x, y, given, score).p_value < 1e-6
    p_value, statistic, df = an.independence.test(table, "group", "x", [], score)
    assert p_value > 1e-4
    assert statistic >= -1e-9
    assert df > 0


@pytest.mark.parametrize("score", [an.BIC(), an.BDeu(10), an.K2(), an.NML(), an.QNML(), an.MIT()], ids=repr)
def test_scores_of_counts_give_the_g_test(score: Any) -> None:
    rng = np.random.default_rng(2)
    x = rng.integers(0, 3, 300)
    y = (x + rng.integers(0, 2, 300)) % 3
    found = an.independence.test(an.Table({"x": list(map(str, x)), "y": list(map(str, y))}), "x", "y", [], score)
    counts = np.histogram2d(x, y, bins=3)[0]
    expected = counts.sum(axis=1, keepdims=True) * counts.sum(axis=0) / 300
    g = 2 * np.sum(counts[counts > 0] * np.log(counts[counts > 0] / expected[counts > 0]))
    assert found.statistic == pytest.approx(g, rel=1e-9)
    assert found.df == 4


@pytest.mark.parametrize("kind", [an.PCART, an.FullTable], ids=lambda kind: kind.__name__)
def test_scores_of_trees_and_tables_test_by_the_bayes_factor_of_the_better_direction(kind: Any) -> None:
    table = an.Table(sample(300))
    scored = {
        (child, parent): an.local_score(table, child, sorted([parent, "group"]), kind(penalised=False))
        - an.local_score(table, child, ["group"], kind(penalised=False))
        for child, parent in [("x", "y"), ("y", "x")]
    }
    # The prior over parent sets is no part of a test.
    found = an.independence.test(table, "x", "y", ["group"], kind(penalised=True))
    assert found.statistic == pytest.approx(2 * max(scored.values()), rel=1e-12)
    assert found.p_value == pytest.approx(np.exp(-max(scored.values())), rel=1e-9)
    assert found.p_value < 1e-6
    assert np.isnan(found.df)
    assert an.independence.test(table, "y", "x", ["group"], kind(penalised=True))[:2] == found[:2]


@pytest.mark.parametrize("score", [an.PCART(), an.FullTable(), an.DecisionGraph()], ids=lambda s: type(s).__name__)
def test_bayes_factors_are_seldom_large_where_nothing_depends(score: Any) -> None:
    rng = np.random.default_rng(5)
    p_values = []
    for _ in range(300):
        x, y = rng.choice(list("abcd"), 80), rng.choice(list("uvw"), 80)
        p_values.append(an.independence.test(an.Table({"x": x, "y": y}), "x", "y", [], score).p_value)
    assert max(p_values) <= 1
    for alpha in (0.3, 0.1, 0.03):
        assert np.mean(np.array(p_values) <= alpha) <= alpha


def test_pc_asks_the_bayes_factors_of_trees() -> None:
    rng = np.random.default_rng(6)
    x, y = rng.choice(["no", "yes"], (2, 400))
    rare = rng.random(400) < 0.1
    both = np.where((x == y) ^ rare, "same", "other")
    # The sum of two signs depends on neither alone; the number tells it from a third.
    number = (both == "same") * 2.0 + rng.normal(size=400)
    found = an.search.pc(an.Table({"x": x, "both": both, "number": number}), an.PCART(), alpha=0.01)
    assert set(map(frozenset, found.dag.edges)) == {frozenset(("both", "number"))}


def test_pc_asks_the_tests_of_a_mixed_score() -> None:
    found = an.search.pc(an.Table(sample(600)), an.ConditionalGaussian(), alpha=0.001)
    edges = {frozenset(edge) for edge in found.dag.edges}
    # x pulls y up in one group and down in the others: alone with y it is nothing, and PC asks that first.
    assert {frozenset(("group", "y")), frozenset(("y", "z"))} <= edges
    assert frozenset(("group", "x")) not in edges


def test_what_cannot_be_tested_is_said() -> None:
    table = an.Table(sample(50))
    with pytest.raises(an.ArbornetError, match="no likelihood to test with"):
        an.independence.test(table, "x", "y", [], an.MARS())
    with pytest.raises(an.ParameterError, match="different variables"):
        an.independence.test(table, "x", "x", [])
    with pytest.raises(an.ParameterError, match="different variables"):
        an.independence.test(table, "x", "y", ["x"])
    with pytest.raises(an.ParameterError, match="list of names"):
        an.independence.test(table, "x", "y", "group")
    with pytest.raises(an.ColumnError, match="no column 'w'"):
        an.independence.test(table, "x", "w")


def test_a_shell_knows_them_by_their_short_names() -> None:
    from arbornet.cli.words import score

    assert score("cg") == an.ConditionalGaussian()
    assert score(" CGd ") == an.ConditionalGaussian(discretise=True)
    assert score("bg") == an.BlockGaussian()
    assert score("MixedPolynomial('log', prior=Binomial(1))") == an.MixedPolynomial("log", prior=an.priors.Binomial(1))


def test_parameters_outside_their_range_are_refused() -> None:
    for make in (
        lambda: an.MixedPolynomial(0),
        lambda: an.MixedPolynomial("cube"),  # type: ignore[arg-type]
        lambda: an.LogisticRegression(2.5),  # type: ignore[arg-type]
        lambda: an.BasisFunctions(degree=0),
        lambda: an.Multinomial(bins=1),
        lambda: an.BlockGaussian(0),
        lambda: an.BlockGaussian(21),
        lambda: an.BlockGaussian(scale="ranks"),  # type: ignore[arg-type]
        lambda: an.ConditionalGaussian(discretise=True, exact=True),
        lambda: an.ConditionalGaussian(published="yes"),  # type: ignore[arg-type]
        lambda: an.ConditionalGaussian(prior=3),  # type: ignore[arg-type]
    ):
        with pytest.raises(an.ParameterError):
            make()


def lognormal(n: int = 500) -> pl.DataFrame:
    rng = np.random.default_rng(3)
    cause = rng.normal(size=n)
    return pl.DataFrame({"cause": cause, "cost": np.exp(cause + 0.4 * rng.normal(size=n)), "below": -np.exp(cause)})


def test_blocks_read_a_number_by_its_order_and_answer_in_its_units() -> None:
    frame = lognormal()
    net = an.fit(an.Table(frame), an.search.boss(an.Table(frame), an.BlockGaussian()), an.BlockGaussian())
    model = an.local_model(an.Table(frame), "cost", ["cause"], an.BlockGaussian())
    at = model.distribution({"cause": 1.0})
    assert isinstance(at, an.models.StudentT)
    # The median of exp(1 + noise) is e, however skewed it is.
    assert at.location == pytest.approx(math.e, rel=0.15)
    wide, narrow = (model.distribution({"cause": x}) for x in (1.5, -1.5))
    assert isinstance(wide, an.models.StudentT) and isinstance(narrow, an.models.StudentT)
    assert wide.scale > 4 * narrow.scale
    assert "score(cost) = " in model.text() and "P2(cause)" in model.text()
    fresh = lognormal(2000).tail(1500)
    of_lines = an.fit(an.Table(frame), net.graph, an.DegenerateGaussian())
    assert net.log_likelihood(fresh).mean() > of_lines.log_likelihood(fresh).mean()


def test_logarithms_are_taken_where_they_are_and_a_warning_says_where_not() -> None:
    table = an.Table(lognormal())
    score = an.BlockGaussian(scale="log")
    with pytest.warns(an.ArbornetWarning, match="'cause', 'below' by normal scores: there are values below zero"):
        logs = an.local_score(table, "cost", ["cause"], score)
    assert logs == pytest.approx(an.local_score(table, "cost", ["cause"], an.BlockGaussian()), rel=0.1)
    with pytest.warns(an.ArbornetWarning):
        assert "ln(cost) = " in an.local_model(table, "cost", ["cause"], score).text()


@pytest.mark.parametrize("score", [an.BlockGaussian(), an.BlockGaussian(scale="auto")], ids=repr)
def test_blocks_are_searched_the_same_by_any_number_of_threads(score: Any) -> None:
    table = an.Table(sample().hstack(lognormal(400)))
    one, two = (an.search.boss(table, score, n_jobs=n) for n in (1, 2))
    assert (one.score, sorted(one.dag.edges)) == (two.score, sorted(two.dag.edges))
    assert an.search.pc(table, score, n_jobs=1).dag.edges == an.search.pc(table, score, n_jobs=2).dag.edges
    assert an.search.fges(table, score).score <= one.score + 1e-6
