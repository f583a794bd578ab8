"""Networks as users meet them: fitted, read, asked, sampled; every number against one computed by hand."""

from __future__ import annotations

import datetime as dt
import itertools
import logging
import math

import networkx as nx
import numpy as np
import polars as pl
import pytest

import arbornet as an
from arbornet.data.question import Question
from places import DATA

ASIA = DATA / "examples" / "bnlearn-asia.csv.gz"
ASIA_ARCS = ["AT", "TE", "LE", "SL", "SB", "EX", "ED", "BD"]
MIXED_ARCS = [("island", "species"), ("species", "body_mass_g"), ("species", "bill_depth_mm"), ("sex", "body_mass_g")]


def discrete_frame(n: int = 3000) -> pl.DataFrame:
    rng = np.random.default_rng(1)
    cause = rng.random(n) < 0.3
    middle = np.where(rng.random(n) < 0.8, cause, ~cause)
    grade = rng.integers(0, 3, n) + middle
    return pl.DataFrame({"cause": cause, "middle": np.where(middle, "yes", "no"), "grade": grade})


@pytest.fixture(scope="module")
def net() -> an.BayesNet:
    return an.fit(an.Table(discrete_frame()), nx.DiGraph([("cause", "middle"), ("middle", "grade")]), an.BIC())


@pytest.fixture(scope="module")
def mixed() -> an.BayesNet:
    return an.fit(an.Table(an.example("penguins")), nx.DiGraph(MIXED_ARCS), an.PCART())


def joint(net: an.BayesNet) -> dict[tuple, float]:
    """Every configuration of a network of levels with its probability."""
    frame = pl.DataFrame(
        list(itertools.product(*(net.graph.nodes[name]["levels"] for name in net.names))),
        schema=net.names,
        orient="row",
    )
    return dict(zip(frame.iter_rows(), np.exp(net.log_likelihood(frame)), strict=True))


def test_the_joint_sums_to_one_and_rows_multiply_their_nodes(net):
    assert math.isclose(sum(joint(net).values()), 1.0, rel_tol=1e-12)
    frame = discrete_frame(50)
    by_node = net.log_likelihood(frame, by="node")
    assert by_node.columns == net.names
    np.testing.assert_allclose(by_node.sum_horizontal(), net.log_likelihood(frame), rtol=1e-13)


def test_a_row_has_the_density_that_one_more_row_adds_to_the_marginal_likelihood():
    """Section 2.4: the ratio of marginal likelihoods with and without the row, one factor per variable."""
    frame = an.example("penguins").drop_nulls().select("species", "body_mass_g", "bill_depth_mm")
    table = an.Table(frame, standardise=False)
    net = an.fit(table, nx.DiGraph(), an.PCART(penalised=False))
    first = frame.head(1)
    more = an.Table(pl.concat([frame, first]), schema=table.schema)
    for name in frame.columns:
        ratio = an.local_score(more, name, [], an.PCART(penalised=False)) - an.local_score(
            table, name, [], an.PCART(penalised=False)
        )
        assert math.isclose(net.log_likelihood(first, by="node")[name][0], ratio, rel_tol=1e-8)


def test_densities_are_in_the_users_units(mixed):
    """In kilograms a density is a thousand times that in grams."""
    frame = an.example("penguins").drop_nulls()
    kilograms = frame.with_columns(pl.col("body_mass_g").cast(pl.Float64) / 1000)
    types = {"body_mass_g": "continuous"}
    of = [
        an.fit(an.Table(data, schema=an.infer_schema(data).with_types(types)), nx.DiGraph(MIXED_ARCS), an.PCART())
        for data in (frame, kilograms)
    ]
    difference = of[1].log_likelihood(kilograms) - of[0].log_likelihood(frame)
    np.testing.assert_allclose(difference, math.log(1000), rtol=1e-9)


def test_a_density_integrates_to_one(mixed):
    grams = np.linspace(-60_000, 70_000, 200_001)
    frame = pl.DataFrame({"body_mass_g": grams}).with_columns(
        pl.lit("Adelie").alias("species"), pl.lit("male").alias("sex")
    )
    density = np.exp(mixed.log_likelihood(frame, by="node")["body_mass_g"].to_numpy())
    assert math.isclose(float(np.sum((density[1:] + density[:-1]) / 2 * np.diff(grams))), 1.0, rel_tol=1e-4)


def test_probabilities_are_those_of_the_joint(net):
    table = joint(net)
    frame = pl.DataFrame({"cause": [True, False, None], "grade": [3, 0, 1]})
    answer = net.predict_proba(frame, "middle")
    assert answer.columns == ["no", "yes"]
    for row, (cause, grade) in enumerate(frame.iter_rows()):
        weights = {
            level: sum(p for (c, m, g), p in table.items() if m == level and g == grade and cause in (c, None))
            for level in ("no", "yes")
        }
        assert math.isclose(answer["yes"][row], weights["yes"] / sum(weights.values()), rel_tol=1e-12)
    np.testing.assert_allclose(answer.sum_horizontal(), 1.0, rtol=1e-12)
    assert net.predict(frame, "middle").to_list() == ["yes" if p > 0.5 else "no" for p in answer["yes"]]


def test_predictions_come_in_the_users_values_and_shapes(net, mixed):
    frame = discrete_frame(20)
    grades = net.predict(frame, "grade")
    assert (grades.name, grades.dtype, len(grades)) == ("grade", pl.Int64, 20)
    assert net.predict(frame, "cause").dtype == pl.Boolean
    penguins = an.example("penguins")
    mass = mixed.predict(penguins, "body_mass_g")
    assert mass.name == "body_mass_g" and len(mass) == penguins.height
    interval = mixed.predict_interval(penguins, "body_mass_g", 0.8)
    assert interval.columns == ["lower", "upper"]
    assert (interval["lower"] < mass).all() and (mass < interval["upper"]).all()
    known = penguins["body_mass_g"]
    inside = ((interval["lower"] <= known) & (known <= interval["upper"])).drop_nulls().mean()
    assert 0.72 < inside < 0.88


def test_the_targets_own_column_is_no_evidence(net):
    frame = discrete_frame(30)
    assert net.predict_proba(frame, "grade").equals(net.predict_proba(frame.drop("grade"), "grade"))


def test_missing_values_are_summed_out(net):
    table = joint(net)
    frame = pl.DataFrame({"middle": ["yes", None], "grade": [None, 2]})
    yes = sum(p for (_, m, _), p in table.items() if m == "yes")
    two = sum(p for (_, _, g), p in table.items() if g == 2)
    np.testing.assert_allclose(net.log_likelihood(frame), np.log([yes, two]), rtol=1e-12)
    by_node = net.log_likelihood(frame, by="node")
    assert by_node["cause"].null_count() == 2 and by_node["grade"].null_count() == 2


def test_hidden_numbers_are_integrated_out_as_sampling_says(mixed):
    frame = pl.DataFrame({"bill_depth_mm": [15.0, 18.5], "sex": ["male", None]})
    exact = mixed.predict_proba(frame, "island", method="exact").to_numpy()
    sampled = mixed.predict_proba(frame, "island", method="sampling", particles=200_000).to_numpy()
    np.testing.assert_allclose(exact, sampled, atol=5e-3)


def test_observing_and_setting_differ(net):
    table = joint(net)
    of_cause = sum(p for (c, _, _), p in table.items() if c)
    seen = {m: sum(p for (c, n, _), p in table.items() if c and n == m) for m in ("no", "yes")}
    marginal = {m: sum(p for (_, n, _), p in table.items() if n == m) for m in ("no", "yes")}
    assert math.isclose(
        net.query({"cause": True}, given={"middle": "yes"}), seen["yes"] / marginal["yes"], rel_tol=1e-12
    )
    assert math.isclose(net.query({"cause": True}, do={"middle": "yes"}), of_cause, rel_tol=1e-12)
    below = net.query("grade", do={"middle": "no"})
    assert below.equals(net.query("grade", given={"middle": "no"}))


def test_a_query_lists_levels_with_probabilities(net):
    answer = net.query(["grade", "cause"], given={"middle": "yes"})
    assert answer.columns == ["grade", "cause", "probability"] and answer.height == 8
    assert math.isclose(answer["probability"].sum(), 1.0, rel_tol=1e-12)
    assert answer.equals(net.query({"grade": ..., "cause": ...}, given={"middle": "yes"}))
    either = net.query({"grade": [0, 1]}, given={"middle": "yes"})
    assert math.isclose(either, answer.filter(pl.col("grade") <= 1)["probability"].sum(), rel_tol=1e-12)


def test_levels_and_intervals_can_be_given(net, mixed):
    table = joint(net)
    told = {at: p for at, p in table.items() if at[1] == "yes" and at[2] in (1, 2)}
    of_cause = sum(p for at, p in told.items() if at[0]) / sum(told.values())
    assert math.isclose(net.query({"cause": True}, given={"middle": "yes", "grade": [2, 1]}), of_cause, rel_tol=1e-12)
    for several, one in [({"grade": {3}}, {"grade": 3}), ({"grade": net.graph.nodes["grade"]["levels"]}, None)]:
        answers = [net.query("cause", given=given)["probability"] for given in (several, one)]
        np.testing.assert_allclose(*answers, rtol=1e-12)
    assert set(net.sample(500, given={"grade": (1, 2)})["grade"]) == {1, 2}

    between = (3500, 4200)
    gentoo = mixed.query({"species": "Gentoo"}, given={"body_mass_g": between})
    whole = mixed.query({"body_mass_g": between})
    both = mixed.query({"species": "Gentoo", "body_mass_g": between})
    assert math.isclose(gentoo, both / whole, rel_tol=1e-9)
    assert mixed.query("species", given={"body_mass_g": (None, None)}).equals(mixed.query("species"))
    drawn = mixed.sample(2000, given={"body_mass_g": between})["body_mass_g"]
    assert drawn.min() >= 3500 and drawn.max() <= 4200
    inside = mixed.query("body_mass_g", given={"body_mass_g": between})["body_mass_g"]
    assert inside.min() >= 3500 and inside.max() <= 4200


def test_dates_are_asked_about_as_dates():
    days = pl.date_range(dt.date(2020, 1, 1), dt.date(2020, 12, 31), eager=True)
    warm = (days.dt.month() - 6.5).abs() < 3
    frame = pl.DataFrame({"day": days, "warm": warm})
    net = an.fit(an.Table(frame), nx.DiGraph([("day", "warm")]), an.PCART())
    summer = {"day": (dt.date(2020, 5, 1), dt.date(2020, 9, 1))}
    assert net.query({"warm": True}, given=summer) > 0.9
    assert 0.2 < net.query(summer) < 0.5
    classes = net.query(["day", "warm"], bins={"day": [dt.date(2020, 4, 1)]})
    assert classes["day"].unique(maintain_order=True).to_list() == ["before 2020-04-01", "from 2020-04-01"]


def test_a_query_about_a_number_gives_quantiles_classes_and_events(mixed):
    quantiles = mixed.query("body_mass_g", given={"species": "Gentoo"})
    assert quantiles.columns == ["quantile", "body_mass_g"] and quantiles["body_mass_g"].is_sorted()
    median = quantiles.filter(pl.col("quantile") == 0.5)["body_mass_g"][0]
    # Of numbers that are weighed to 25 g.
    ends = [mixed.query({"body_mass_g": (None, median + d)}, given={"species": "Gentoo"}) for d in (-12.5, 12.5)]
    assert median % 25 == 0 and ends[0] <= 0.5 <= ends[1]
    classes = mixed.query(["species", "body_mass_g"], bins={"body_mass_g": [4000, 5000]})
    assert classes.height == 9 and math.isclose(classes["probability"].sum(), 1.0, rel_tol=1e-12)


def test_samples_come_from_the_network(net, mixed):
    draws = net.sample(20_000, seed=3)
    assert draws.columns == net.names and draws.schema == discrete_frame(2).schema
    table = joint(net)
    counts = draws.group_by(net.names).len()
    statistic = 0.0
    for *at, n in counts.iter_rows():
        expected = 20_000 * table[tuple(at)]
        statistic += (n - expected) ** 2 / expected
    statistic += sum(20_000 * p for at, p in table.items() if at not in set(counts.select(net.names).iter_rows()))
    assert statistic < 45  # chi-square with 15 degrees of freedom exceeds 45 once in ten thousand
    assert draws.equals(net.sample(20_000, seed=3)) and not draws.equals(net.sample(20_000, seed=4))
    assert set(net.sample(50, given={"grade": 3})["grade"]) == {3}
    penguins = mixed.sample(500)
    assert penguins.columns == mixed.names and penguins.null_count().sum_horizontal()[0] == 0


def test_answers_do_not_depend_on_threads_or_on_the_neighbours_of_a_row(mixed):
    frame = an.example("penguins").drop("species")
    for method in ("exact", "sampling"):
        whole = mixed.predict_proba(frame, "species", method=method, n_jobs=1)
        assert whole.equals(mixed.predict_proba(frame, "species", method=method, n_jobs=4))
        assert whole[100:120].equals(mixed.predict_proba(frame[100:120], "species", method=method))
    assert np.array_equal(mixed.log_likelihood(frame, n_jobs=1), mixed.log_likelihood(frame, n_jobs=3))
    assert mixed.sample(3000, n_jobs=1).equals(mixed.sample(3000, n_jobs=4))


def test_sampling_states_its_standard_error(net, caplog):
    with caplog.at_level(logging.INFO, "arbornet"):
        net.predict_proba(discrete_frame(5), "middle", method="sampling", particles=50)
    assert "5 of 5 rows" in caplog.text and "standard error" in caplog.text
    assert "standard_error" in net.query("cause", given={"grade": 3}, method="sampling").columns


def test_the_graph_tells_kinds_levels_and_contributions(net):
    assert net.graph.nodes["grade"]["kind"] == "ordinal"
    assert net.graph.nodes["middle"]["levels"] == ["no", "yes"]
    table = an.Table(discrete_frame())
    lost = an.local_score(table, "middle", ["cause"], an.BIC()) - an.local_score(table, "middle", [], an.BIC())
    assert math.isclose(net.arc_score("cause", "middle"), lost, rel_tol=1e-12)
    assert net.graph.edges["cause", "middle"]["contribution"] == net.arc_score("cause", "middle")
    with pytest.raises(an.ArbornetError, match="no arc"):
        net.arc_score("middle", "cause")


def test_reading_a_network(net):
    assert net.parents("grade") == ["middle"]
    assert net.markov_blanket("cause") == ["middle"]
    assert net.markov_blanket("middle") == ["cause", "grade"]
    assert sorted(net.cpdag().edges) == sorted(
        [("cause", "middle"), ("middle", "cause"), ("middle", "grade"), ("grade", "middle")]
    )
    assert net["middle"].parents == ["cause"]
    text = net.explain("middle")
    assert "depends on cause" in text and "grade depends on it" in text and net["middle"].text() in text
    assert len(net) == 3 and "cause" in net and list(net) == ["cause", "middle", "grade"]
    assert "3 variables, 2 arcs, fitted to 3,000 rows" in repr(net)
    assert net._repr_svg_().startswith("<svg")


def test_parents_and_children_make_a_markov_blanket():
    net = an.fit(an.Table(pl.read_csv(ASIA)), nx.DiGraph([tuple(arc) for arc in ASIA_ARCS]), an.BIC())
    assert sorted(net.markov_blanket("E")) == ["B", "D", "L", "T", "X"]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda net: net.predict(discrete_frame(2), "nobody"), "no variable 'nobody'"),
        (lambda net: net.predict(pl.DataFrame({"other": [1]}), "cause"), "no column of the frame"),
        (lambda net: net.predict(pl.DataFrame({"middle": ["perhaps"]}), "cause"), "'perhaps'"),
        (lambda net: net.predict_interval(discrete_frame(2), "grade"), "has levels"),
        (lambda net: net.query("cause", given={"cause": True}), "both a target and given"),
        (lambda net: net.query("cause", given={"middle": "yes"}, do={"middle": "no"}), "in given and in do"),
        (lambda net: net.query("cause", given={"middle": None}), "not known"),
        (lambda net: net.query({"cause": True, "grade": ...}), "mix"),
        (lambda net: net.query("cause", given={"grade": []}), "no level of"),
        (lambda net: net.query("cause", given={"grade": [1, 9]}), "9"),
        (lambda net: net.query("cause", do={"grade": [1, 2]}), "set to one value"),
        (lambda net: net.query({"grade": []}), "no level of"),
        (lambda net: net.query([]), "empty"),
        (lambda net: net.log_likelihood(discrete_frame(2), by="row"), "by='row'"),
        (lambda net: net.predict(discrete_frame(2), "grade", method="magic"), "method"),
        (lambda net: net.sample(-1), "negative"),
        (lambda net: net.query("cause", seed=-1), "seed"),
        (lambda net: an.fit(an.Table(discrete_frame()), nx.DiGraph([("cause", "x")]), an.BIC()), "'x'"),
        (
            lambda net: an.fit(
                an.Table(discrete_frame()), nx.DiGraph([("cause", "middle"), ("middle", "cause")]), an.BIC()
            ),
            "cycle",
        ),
    ],
)
def test_a_mistake_is_named(net, call, words):
    with pytest.raises(an.ArbornetError, match=words):
        call(net)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((5000, 4000), "below its high end"),
        ((4000,), "an interval"),
        ([1, 2, 3], "an interval"),
        (("light", 4000), "light"),
        ({4000, 5000}, "an interval"),
    ],
)
def test_an_interval_that_is_none_is_named(mixed, given, words):
    with pytest.raises(an.ArbornetError, match=words):
        mixed.query("species", given={"body_mass_g": given})


def test_a_level_that_training_did_not_have_can_count_as_missing(net):
    frame = pl.DataFrame({"middle": ["perhaps", "yes"]})
    answer = net.predict_proba(frame, "cause", unseen="missing")
    assert answer[:1].equals(net.predict_proba(pl.DataFrame({"middle": pl.Series([None], dtype=pl.String)}), "cause"))


def test_variables_called_as_a_figure_keep_their_name():
    rng = np.random.default_rng(0)
    frame = {
        "probability": ["x", "y"] * 40,
        "standard_error": ["u", "v", "v", "u"] * 20,
        "probability_": rng.normal(size=80),
    }
    net = an.fit(
        an.Table(frame), nx.DiGraph([("probability", "standard_error"), ("standard_error", "probability_")]), an.PCART()
    )
    told = net.query(["probability", "standard_error"])
    assert told.columns == ["probability", "standard_error", "probability_"]
    assert told["probability_"].sum() == pytest.approx(1.0)
    sampled = net.query(["probability", "standard_error"], method="sampling")
    assert sampled.columns == ["probability", "standard_error", "probability_", "standard_error_"]
    assert net.query("probability_").columns == ["quantile", "probability_"]
    assert net.query("standard_error").columns == ["standard_error", "probability"]
    both = net.query(["probability", "probability_"], bins={"probability_": [0.0]})
    assert both.columns == ["probability", "probability_", "probability__"]
    with pytest.raises(an.ParameterError, match="once"):
        net.query(["probability", "probability"])


def test_advice_names_only_what_can_be_passed():
    net = an.fit(an.Table({"a": ["x", "y"] * 10, "b": ["u", "v"] * 10}), nx.DiGraph([("a", "b")]), an.BIC())
    asked = {
        "query": lambda: net.query("b", given={"a": "z"}),
        "event": lambda: net.query({"a": "z"}),
        "sample": lambda: net.sample(3, given={"a": "z"}),
        "set": lambda: net.sample(3, do={"a": "z"}),
    }
    for call in asked.values():
        with pytest.raises(an.ColumnError, match=r"not among its levels 'x', 'y'$"):
            call()
    for call in (net.log_likelihood, lambda rows, **how: net.predict(rows, "b", **how)):
        with pytest.raises(an.ColumnError, match="pass unseen='missing'"):
            call({"a": ["z"]})
        call({"a": ["z"], "b": ["u"]}, unseen="missing")
    schema = an.infer_schema({"a": ["x", "y"]}).with_types(a=an.Categorical(["x"]))
    with pytest.raises(an.ColumnError, match=r"an\.Table\(frame, schema, unseen='missing'\)"):
        an.learn({"a": ["x", "y"]}, schema=schema, verbose=False)
    assert an.Table({"a": ["x", "y"]}, schema, unseen="missing").n_rows == 1


def of_two_levels() -> an.BayesNet:
    rng = np.random.default_rng(1)
    cause = rng.choice(["rare", "usual"], 400, p=[0.1, 0.9])
    seen = np.where((cause == "rare") ^ (rng.random(400) < 0.1), "high", "low")
    frame = {"cause": cause, "seen": seen, "number": rng.normal(size=400)}
    return an.fit(an.Table(frame), nx.DiGraph([("cause", "seen")]), an.PCART())


def test_even_a_single_row_is_drawn_by_the_weights():
    net = of_two_levels()
    rare = dict(net.query("cause", given={"seen": "high"}).iter_rows())["rare"]
    drawn = [net.sample(1, seed, {"seen": "high"}, method="sampling")["cause"][0] for seed in range(200)]
    assert 0.3 < rare < 0.6 and drawn.count("rare") / 200 == pytest.approx(rare, abs=0.12)


def test_a_sampled_quantile_tells_the_standard_error_of_its_probability():
    net = of_two_levels()
    asked = Question(method="sampling", particles=400)
    answer = net.handle.predict_quantiles(asked, net.names.index("number"), [0.5])
    assert (answer.n_sampled, answer.standard_error) == (1, pytest.approx(math.sqrt(0.5 * 0.5 / 400)))
