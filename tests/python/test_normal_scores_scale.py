"""Columns by their normal scores: models are fitted to these, everything else is in the user's units."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path

import networkx as nx
import numpy as np
import polars as pl
import pytest
from scipy import integrate, stats

import arbornet as an
from arbornet.data.units import along_scores, unbent
from arbornet.models import PointMass, ScoredStudentT

SCORED = an.Continuous(scale="normal_scores")
RNG = np.random.default_rng(41)
N = 600
AGE = np.round(RNG.uniform(18, 80, N))
SEX = np.where(RNG.random(N) < 0.5, "f", "m")
# Heavy tails on both sides, as those of profits and losses.
PROFIT = np.round(np.sinh(-1.5 + 0.04 * AGE + 0.8 * (SEX == "m") + RNG.normal(0, 0.9, N)), 3)
FRAME = pl.DataFrame({"age": AGE, "sex": SEX, "profit": PROFIT})


def schema_of(frame: object = FRAME, **kinds: object) -> an.Schema:
    return an.infer_schema(frame).with_types(kinds or {"profit": SCORED})


def learned(score: object = None, frame: pl.DataFrame = FRAME, **kinds: object) -> an.BayesNet:
    return an.learn(frame, schema=schema_of(frame, **kinds), score=score or an.PCART(), verbose=False)


NET = learned()
KNOTS = NET.schema["profit"].scale[2]


def given_by_user(frame: pl.DataFrame = FRAME) -> pl.DataFrame:
    """The same table with a column of scores, as a user would give it."""
    return frame.with_columns(profit=pl.Series(unbent(KNOTS, frame["profit"].to_numpy())))


def test_the_scores_are_those_of_the_ranks() -> None:
    table = an.Table(FRAME, schema=schema_of(), standardise=False)
    expected = stats.norm.ppf((stats.rankdata(PROFIT) - 0.5) / N)
    assert np.abs(table.handle.reals(2) - expected).max() < 0.3  # the tails are smooth
    assert np.abs(table.handle.reals(2) - expected).mean() < 0.03
    assert table.schema["profit"].scale == (0.0, 1.0, KNOTS) and len(KNOTS) <= 33


@pytest.mark.parametrize("score", [an.PCART(), an.PCART(leaf="linear"), an.BIC(), an.FullTable()], ids=str)
def test_scores_of_families_are_those_of_a_column_of_scores(score: object) -> None:
    ours, theirs = an.Table(FRAME, schema=schema_of()), an.Table(given_by_user())
    if isinstance(score, an.BIC):
        kinds = {"age": an.Binned(4), "profit": an.Binned(4)}
        ours, theirs = (
            an.Table(frame, schema=an.infer_schema(frame).with_types(kinds)) for frame in (FRAME, given_by_user())
        )
    for child, parents in (("profit", ["age", "sex"]), ("age", ["profit"]), ("sex", ["profit", "age"]), ("profit", [])):
        expected = an.local_score(theirs, child, parents, score)
        assert an.local_score(ours, child, parents, score) == pytest.approx(expected, rel=1e-10, abs=1e-8)


@pytest.mark.parametrize("leaf", ["normal", "linear"])
def test_the_network_is_that_of_a_column_of_scores_and_its_density_has_the_jacobian(leaf: str) -> None:
    ours = learned(an.PCART(leaf=leaf))
    theirs = an.learn(given_by_user(), score=an.PCART(leaf=leaf), verbose=False)
    assert set(ours.graph.edges) == set(theirs.graph.edges)
    jacobian = -np.log(along_scores(KNOTS, unbent(KNOTS, PROFIT), "slope"))
    expected = theirs.log_likelihood(given_by_user()) + jacobian
    assert np.allclose(ours.log_likelihood(FRAME), expected, rtol=1e-8, atol=1e-8)
    of_scores = theirs.predict(given_by_user().drop("profit"), "profit").to_numpy()
    medians = along_scores(KNOTS, of_scores, "to_number")
    assert np.allclose(ours.predict(FRAME.drop("profit"), "profit").to_numpy(), medians)
    assert (
        ours.log_likelihood(FRAME).sum()
        > learned(an.PCART(leaf=leaf), profit=an.Continuous()).log_likelihood(FRAME).sum()
    )


@pytest.mark.parametrize("mass", [False, True])
def test_densities_integrate_to_one_in_the_users_units(mass: bool) -> None:
    profit = np.where(RNG.random(N) < 0.2, 0.0, PROFIT) if mass else PROFIT
    frame = FRAME.with_columns(profit=pl.Series(profit))
    table = an.Table(frame, schema=schema_of(frame, profit=an.Continuous("normal_scores", point=0.0 if mass else None)))
    net = an.fit(table, nx.DiGraph([("age", "profit"), ("sex", "profit")]), an.PCART())
    row = {"age": 40.0, "sex": "f"}
    # By substitution, so that the numbers of a heavy tail are reached.
    u = np.linspace(-18, 18, 60_001)
    x = np.sinh(u)
    density = np.exp(
        net.log_likelihood({"age": [40.0] * len(x), "sex": ["f"] * len(x), "profit": x}) - net.log_likelihood(row)
    )
    at_zero = next(iter(net["profit"].leaves)).distribution if mass else None
    assert isinstance(at_zero, PointMass) == mass
    shared = net["profit"].distribution(row).probability if mass else 0.0
    keep = x != 0.0
    area = integrate.trapezoid((density * np.cosh(u))[keep], u[keep])
    assert area + shared == pytest.approx(1.0, abs=2e-3)
    low, high = 1.0, 5.0
    inside = (x >= low) & (x <= high)
    of_interval = integrate.trapezoid((density * np.cosh(u))[inside], u[inside])
    assert net.query({"profit": (low, high)}, given=row) == pytest.approx(of_interval, abs=2e-3)


def test_a_leaf_is_a_student_t_of_the_score_by_hand() -> None:
    net = an.fit(an.Table(FRAME, schema=schema_of()), nx.DiGraph(), an.PCART())
    leaf = net["profit"].leaves[0].distribution
    assert isinstance(leaf, ScoredStudentT) and leaf.scores == KNOTS and leaf.mean is None and leaf.sd is None
    t = unbent(KNOTS, PROFIT)
    assert leaf.location == pytest.approx(t.mean())
    assert leaf.median == pytest.approx(leaf.deciles[1]) == pytest.approx(np.median(PROFIT), abs=0.1)
    assert np.mean((leaf.deciles[0] < PROFIT) & (leaf.deciles[2] > PROFIT)) == pytest.approx(0.8, abs=0.02)
    by_hand = stats.t(leaf.df, leaf.location, leaf.scale).logpdf(t) - np.log(along_scores(KNOTS, t, "slope"))
    assert np.allclose(net.log_likelihood({"profit": PROFIT}), by_hand)
    assert net["profit"].log_density(float(PROFIT[3]), {}) == pytest.approx(by_hand[3])


def test_quantiles_evidence_and_interventions_are_in_the_users_units() -> None:
    row = {"age": 33.0}
    for share, value in learned(profit=an.Continuous("normal_scores", step=None)).query("profit", given=row).rows():
        assert NET.query({"profit": (None, value)}, given=row) == pytest.approx(share, abs=1e-9)
    theirs = an.learn(given_by_user(), an.PCART(), verbose=False)
    for value in (-2.0, 7.0):
        score = float(unbent(KNOTS, np.array([value]))[0])
        ours = NET.query("sex", given={"profit": value})["probability"].to_numpy()
        assert np.allclose(ours, theirs.query("sex", given={"profit": score})["probability"].to_numpy())
        ours = NET.query("age", do={"profit": value})["age"].to_numpy()
        assert np.allclose(ours, theirs.query("age", do={"profit": score})["age"].to_numpy())
    with pytest.warns(an.ArbornetWarning, match="outside of what was observed"):
        NET.query("sex", given={"profit": 1e9})


def test_draws_have_the_shape_of_the_column_and_its_step() -> None:
    drawn = NET.sample(20_000, seed=2)["profit"].to_numpy()
    assert np.allclose(drawn, np.round(drawn, 3)) and PROFIT.min() <= drawn.min() and drawn.max() <= PROFIT.max()
    shares = [0.01, 0.1, 0.5, 0.9, 0.99]
    spread = np.quantile(PROFIT, 0.9) - np.quantile(PROFIT, 0.1)
    apart = np.abs(np.quantile(drawn, shares[1:4]) - np.quantile(PROFIT, shares[1:4]))
    assert apart.max() < 0.1 * spread
    plain = learned(profit=an.Continuous()).sample(20_000, seed=2)["profit"].to_numpy()
    of_scores, of_numbers = (stats.ks_2samp(draws, PROFIT).statistic for draws in (drawn, plain))
    assert of_scores < 0.05 < of_numbers


def test_thresholds_leaves_and_lines_are_told_in_the_users_units() -> None:
    text = NET["profit"].text()
    assert "median" in text and "80% between" in text and "mean" not in text
    assert "median" in repr(NET["profit"].leaves[0]) and "80% between" in repr(NET["profit"].leaves[0])
    net = an.fit(an.Table(FRAME, schema=schema_of()), nx.DiGraph([("profit", "age")]), an.PCART())
    leaves = net["age"].leaves
    ends = [c.low for leaf in leaves for c in leaf.conditions if c.low is not None]
    assert ends and all(PROFIT.min() < end < PROFIT.max() for end in ends)
    inside = [sum(all(c.holds(x) for c in leaf.conditions) for x in PROFIT) for leaf in leaves]
    assert inside == [leaf.n for leaf in leaves] and sum(inside) == N
    table = an.Table(FRAME, schema=schema_of())
    linear = an.PCART(leaf="linear")
    of_age = an.local_model(table, "profit", ["age"], linear)
    assert "more of age, 80% between" in of_age.text() and "give or take" not in of_age.text()
    of_profit = an.local_model(table, "age", ["profit"], linear)
    assert "for profit" in of_profit.text() and "instead of" in of_profit.text() and "give or take" in of_profit.text()
    slope = of_profit.leaves[0].slopes[0]
    assert slope.scores == KNOTS and PROFIT.min() <= slope.low < slope.at < slope.high <= PROFIT.max()
    theirs = an.local_model(an.Table(given_by_user()), "age", ["profit"], linear).leaves[0].slopes[0]
    assert slope.slope == pytest.approx(theirs.slope)


def test_what_a_line_tells_is_what_the_network_predicts() -> None:
    of_profit = an.local_model(an.Table(FRAME, schema=schema_of()), "age", ["profit"], an.PCART(leaf="linear"))
    leaf = next(leaf for leaf in of_profit.leaves if leaf.slopes)
    told = leaf.formula.split("for profit ")[1].split(", give")[0].split(" instead of ")
    there, here = map(float, told)
    difference = of_profit.distribution({"profit": there}).location - of_profit.distribution({"profit": here}).location
    sign = 1 if f"+ {leaf.formula.split(' + ')[-1].split(' for')[0]}" in leaf.formula else -1
    number = float(leaf.formula.split(" for profit")[0].split(" ")[-1])
    assert sign * number == pytest.approx(difference, rel=0.06)


@pytest.mark.parametrize("score", [an.MARS(), an.ConditionalGaussian(), an.BlockGaussian(scale="raw")], ids=str)
def test_other_models_name_the_score(score: object) -> None:
    table = an.Table(FRAME, schema=schema_of())
    model = an.local_model(table, "age", ["profit"], score)
    assert "score(profit)" in model.text()
    own = an.local_model(table, "profit", ["age"], score).distribution({"age": 40.0})
    assert isinstance(own, ScoredStudentT) and PROFIT.min() < own.median < PROFIT.max()


def test_the_terms_of_a_spline_are_those_it_predicts_by() -> None:
    model = an.local_model(an.Table(FRAME, schema=schema_of()), "age", ["profit"], an.MARS())
    for profit in (-3.0, 0.5, 8.0):
        by_terms = sum(
            term.coefficient * float(np.prod([factor.value(profit) for factor in term.factors])) for term in model.terms
        )
        assert model.distribution({"profit": profit}).location == pytest.approx(by_terms, rel=1e-6)


def test_networks_schemas_and_tables_come_back_from_files_and_pickles(tmp_path: Path) -> None:
    NET.save(tmp_path / "net.json")
    for other in (an.load(tmp_path / "net.json"), pickle.loads(pickle.dumps(NET)), copy.deepcopy(NET)):
        assert other == NET and other.schema["profit"] == NET.schema["profit"]
        assert np.array_equal(other.log_likelihood(FRAME), NET.log_likelihood(FRAME))
        assert other["profit"].text() == NET["profit"].text()
    table = an.Table(FRAME, schema=schema_of())
    assert pickle.loads(pickle.dumps(table)) == table
    table.schema.save(tmp_path / "schema.json")
    read = an.Schema.load(tmp_path / "schema.json")
    assert read == table.schema and an.Table(FRAME, schema=read) == table
    model = NET["profit"]
    assert an.LocalModel.from_dict(model.to_dict()) == model
    NET.to_bif(tmp_path / "net.bif", bins=4)
    assert len(an.read_bif(tmp_path / "net.bif").schema["profit"].levels or ()) == 4


@pytest.mark.parametrize(
    "change",
    [
        {"scale": [9.0, 1.0]},
        {"scale": [9.0, 1.0, 0.5]},
        {"scale": [9.0, 1.0, [[0.0, 1.0]]]},
        {"scale": [9.0, 1.0, [[0.0, 1.0], [1.0, 1.0]]]},
        {"scale": [9.0, 1.0, [[0.0, 1.0], [1.0, "x"]]]},
        {"kind": {"is": "continuous"}},
        {"kind": {"is": "continuous", "scale": "log"}},
    ],
)
def test_a_damaged_schema_is_refused(change: dict[str, object]) -> None:
    told = json.loads(json.dumps(an.Table(FRAME, schema=schema_of()).schema.to_dict()))
    told["columns"][2].update(change)
    with pytest.raises(an.FormatError):
        an.Schema.from_dict(told)


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        (lambda: an.Continuous("normal_scores", shift=1.0), "only scale='log' takes one"),
        (lambda: an.Continuous("normal_scores", leaf="histogram"), "goes with scale='linear'"),
        (lambda: an.Continuous("normal_scores", leaf="counts"), "goes with scale='linear'"),
        (lambda: an.Continuous("normal_scores", leaf="auto"), "leave them out"),
    ],
)
def test_what_goes_with_no_normal_scores_is_refused(kind: object, told: str) -> None:
    with pytest.raises(an.ParameterError, match=told):
        kind()  # type: ignore[operator]
    assert repr(SCORED) == "Continuous(scale='normal_scores')" and str(SCORED) == "continuous (normal scores)"


def test_dates_have_none_but_spans_of_time_do() -> None:
    days = pl.date_range(pl.date(2020, 1, 1), pl.date(2020, 12, 31), eager=True)
    spans = pl.Series(np.round(np.exp(RNG.normal(8, 1, len(days))), 3) * 1e6).cast(pl.Int64).cast(pl.Duration("us"))
    frame = pl.DataFrame({"day": days, "wait": spans})
    with pytest.raises(an.ParameterError, match="normal scores are for numbers"):
        an.infer_schema(frame).with_types(day=SCORED)
    net = learned(frame=frame, wait=SCORED)
    assert net.sample(50)["wait"].dtype == pl.Duration("us")
    assert "h" in net["wait"].text() or "min" in net["wait"].text()


@pytest.mark.parametrize("power", [-285, -30, 30, 285])
def test_any_size_of_numbers_does(power: int) -> None:
    size = 10.0**power
    frame = FRAME.with_columns(profit=pl.Series(PROFIT / 1e4 * size))
    net = learned(frame=frame)
    assert np.allclose(net.log_likelihood(frame), NET.log_likelihood(FRAME) - np.log(size) + np.log(1e4), atol=1e-6)
    assert np.allclose(net.predict(frame, "profit").to_numpy() / size, NET.predict(FRAME, "profit").to_numpy() / 1e4)
    assert net.sample(500)["profit"].is_finite().all()


@pytest.mark.parametrize("profit", [[5.0], [5.0, 5.0, 5.0], [0.0, 0.0], [1.0, 2.0], [-1e300, 1e300]])
def test_constants_and_few_rows_do(profit: list[float]) -> None:
    frame = pl.DataFrame({"profit": profit, "k": ["a", "b", "a"][: len(profit)]})
    columns = tuple(
        an.data.column.Column(name, kind, class_, "told", n_rows=len(profit))
        for name, kind, class_ in (("profit", SCORED, "number"), ("k", an.Categorical(["a", "b"]), "text"))
    )
    net = an.fit(an.Table(frame, schema=an.Schema(columns)), nx.DiGraph(), an.PCART())
    assert np.isfinite(net.log_likelihood(frame)).all()
    if len(set(profit)) == 1:
        assert net.predict({"k": ["a"]}, "profit")[0] == pytest.approx(profit[0], abs=1e-12)


def test_rows_come_back_as_they_were_and_in_any_order_give_the_same_curve() -> None:
    table = an.Table(FRAME, schema=schema_of())
    assert np.allclose(table.to_polars()["profit"].to_numpy(), PROFIT, rtol=1e-10, atol=1e-10)
    turned = an.Table(FRAME.reverse(), schema=schema_of())
    assert turned.schema["profit"].scale[2] == table.schema["profit"].scale[2]


def test_whole_weights_count_as_repeated_rows() -> None:
    weights = 1 + np.arange(N) % 3
    weighted = an.Table(FRAME, schema=schema_of(), weights=weights.astype(float))
    plain = an.Table(FRAME[np.repeat(np.arange(N), weights)], schema=schema_of())
    assert weighted.handle.scale(2)[2] == plain.handle.scale(2)[2]
    ours, theirs = (an.local_score(table, "profit", ["age"], an.PCART()) for table in (weighted, plain))
    assert ours == pytest.approx(theirs)


def test_gaps_are_drawn_on_the_scale_and_within_the_range() -> None:
    holes = np.arange(N) % 5 == 0
    frame = FRAME.with_columns(profit=pl.when(pl.Series(holes)).then(None).otherwise(pl.col("profit")))
    net = an.learn(frame, schema=schema_of(frame), missing="learn", verbose=False)
    filled = net.impute(frame, seed=3)["profit"].to_numpy()
    assert filled.min() >= frame["profit"].min() and filled.max() <= frame["profit"].max()
    assert np.array_equal(filled[~holes], PROFIT[~holes])
    assert stats.ks_2samp(filled[holes], PROFIT[holes]).pvalue > 0.01


def test_new_numbers_beyond_all_that_was_seen_have_a_density() -> None:
    rows = {"age": [30.0, 30.0], "sex": ["f", "f"], "profit": [-1e6, 1e6]}
    assert np.isfinite(NET.log_likelihood(rows)).all()


def test_the_report_and_pictures_have_the_users_numbers(tmp_path: Path) -> None:
    net = learned(an.PCART(leaf="linear"))
    NET["profit"].draw(tmp_path / "tree.svg")
    told = (tmp_path / "tree.svg").read_text(encoding="utf-8")
    assert " to " in told and "±" not in told
    net.report(tmp_path / "report.html", data=FRAME)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "by normal scores" in page
    assert "profit: normal scores" in str(net) and "by normal scores" in net.explain("profit")


def heavy_tailed(n: int = 800, seed: int = 3) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    wide = np.sinh(2.2 * (0.6 * x + 0.8 * rng.normal(size=n)))
    return pl.DataFrame({"x": x, "wide": wide, "even": x + rng.normal(size=n)})


def test_learn_takes_heavy_tails_by_normal_scores_and_says_so() -> None:
    frame = heavy_tailed()
    net = an.learn(frame, verbose=False)
    assert net.schema["wide"].kind == SCORED and "normal scores" in net.schema["wide"].reason
    assert net.schema["x"].kind == net.schema["even"].kind == an.Continuous()
    fresh = heavy_tailed(seed=4)
    linear = an.learn(frame, scales="linear", verbose=False)
    assert net.log_likelihood(fresh).mean() > linear.log_likelihood(fresh).mean() + 0.3


def test_learn_keeps_a_column_that_follows_others_to_the_digit() -> None:
    rng = np.random.default_rng(8)
    parts = np.sinh(1.5 * rng.normal(size=(800, 4)))
    frame = pl.DataFrame({f"part{i}": parts[:, i] for i in range(4)}).with_columns(
        total=pl.sum_horizontal("part0", "part1", "part2", "part3"), alone=np.sinh(1.5 * rng.normal(size=800))
    )
    schema = an.infer_schema(frame, scales="auto")
    assert schema["alone"].kind == SCORED
    # Of a sum, each follows the others.
    assert all(schema[name].kind == an.Continuous() for name in ("part0", "part1", "part2", "part3", "total"))


def test_learn_keeps_what_is_even_or_heaped_at_round_numbers() -> None:
    rng = np.random.default_rng(9)
    to = rng.choice([1, 10], 1500, p=[0.4, 0.6])
    hours = np.round(rng.normal(50, 12, 1500) / to) * to
    frame = pl.DataFrame({"age": rng.uniform(18, 80, 1500), "hours": hours, "even": rng.normal(size=1500)})
    schema = an.infer_schema(frame, scales="auto")
    assert not any(column.kind.is_scored for column in schema.used)
