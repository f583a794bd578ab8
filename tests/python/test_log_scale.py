"""Columns on a logarithmic scale: models are fitted to `ln(x + shift)`, everything else is in the user's units."""

from __future__ import annotations

import copy
import json
import math
import pickle
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import integrate, stats

import arbornet as an
from arbornet.data.scales import gain
from arbornet.models import LogStudentT

LOG = an.Continuous(scale="log")
RNG = np.random.default_rng(27)
N = 400
AGE = np.round(RNG.uniform(18, 80, N))
SEX = np.where(RNG.random(N) < 0.5, "f", "m")
INCOME = np.round(np.exp(9.5 + 0.02 * AGE + 0.4 * (SEX == "m") + RNG.normal(0, 0.4, N)), 2)
FRAME = pl.DataFrame({"age": AGE, "sex": SEX, "income": INCOME})


def schema_of(frame: object = FRAME, **kinds: object) -> an.Schema:
    return an.infer_schema(frame).with_types(kinds or {"income": LOG})


def learned(score: object = None, frame: pl.DataFrame = FRAME, **kinds: object) -> an.BayesNet:
    return an.learn(frame, schema=schema_of(frame, **kinds), score=score or an.PCART(), verbose=False)


NET = learned()


def given_by_user(frame: pl.DataFrame = FRAME, shift: float = 0.0) -> pl.DataFrame:
    """The same table with a column of logarithms, as a user would give it."""
    return frame.with_columns((pl.col("income") + shift).log())


@pytest.mark.parametrize("score", [an.PCART(), an.PCART(leaf="linear"), an.BIC(), an.FullTable()], ids=str)
def test_scores_are_those_of_a_column_of_logarithms(score: object) -> None:
    ours, theirs = an.Table(FRAME, schema=schema_of()), an.Table(given_by_user())
    if isinstance(score, an.BIC):
        kinds = {"age": an.Binned(4), "income": an.Binned(4)}
        ours, theirs = (
            an.Table(frame, schema=an.infer_schema(frame).with_types(kinds)) for frame in (FRAME, given_by_user())
        )
    for child, parents in (("income", ["age", "sex"]), ("age", ["income"]), ("sex", ["income", "age"]), ("income", [])):
        expected = an.local_score(theirs, child, parents, score)
        assert an.local_score(ours, child, parents, score) == pytest.approx(expected, rel=1e-12, abs=1e-9)


@pytest.mark.parametrize("leaf", ["normal", "linear"])
def test_the_network_is_that_of_a_column_of_logarithms_and_its_density_has_the_jacobian(leaf: str) -> None:
    ours = learned(an.PCART(leaf=leaf))
    theirs = an.learn(given_by_user(), score=an.PCART(leaf=leaf), verbose=False)
    assert set(ours.graph.edges) == set(theirs.graph.edges)
    jacobian = -np.log(INCOME)
    expected = theirs.log_likelihood(given_by_user()) + jacobian
    assert np.allclose(ours.log_likelihood(FRAME), expected, rtol=1e-9, atol=1e-9)
    by_node = ours.log_likelihood(FRAME, by="node")["income"].to_numpy()
    assert np.allclose(by_node, theirs.log_likelihood(given_by_user(), by="node")["income"].to_numpy() + jacobian)
    medians = theirs.predict(given_by_user().drop("income"), "income").to_numpy()
    assert np.allclose(ours.predict(FRAME.drop("income"), "income").to_numpy(), np.exp(medians))
    lower = theirs.predict_interval(given_by_user(), "income")["lower"].to_numpy()
    assert np.allclose(ours.predict_interval(FRAME, "income")["lower"].to_numpy(), np.exp(lower))


def test_a_leaf_is_a_student_t_of_the_logarithm_by_hand() -> None:
    x = np.array([1.5, 3.0, 8.0, 20.0, 110.0])
    table = an.Table({"x": x, "k": list("abaab")}, schema=schema_of({"x": x, "k": list("abaab")}, x=LOG))
    net = an.fit(table, nx.DiGraph(), an.PCART())
    leaf = net["x"].leaves[0].distribution
    assert isinstance(leaf, LogStudentT) and leaf.shift == 0
    t = np.log(x)
    # With the prior mean 0 the mean is that of the logarithms, and the median of x its exponential.
    assert leaf.location == pytest.approx(t.mean()) and leaf.median == pytest.approx(math.exp(t.mean()))
    assert leaf.mean is None and leaf.sd is None
    by_hand = stats.t(leaf.df, leaf.location, leaf.scale).logpdf(t) - t
    assert np.allclose(net.log_likelihood({"x": x}), by_hand)
    assert net["x"].log_density(8.0, {}) == pytest.approx(by_hand[2])


@pytest.mark.parametrize("zeros", [False, True])
def test_densities_integrate_to_one_in_the_users_units(zeros: bool) -> None:
    income = np.where(RNG.random(N) < 0.1, 0.0, INCOME) if zeros else INCOME
    frame = FRAME.with_columns(income=pl.Series(income))
    net = learned(frame=frame)
    shift = net.schema["income"].kind.shift
    assert shift == (income[income > 0].min() / 2 if zeros else 0.0)
    # By substitution u = ln(x + shift), so that the numbers of a heavy tail are reached.
    lowest = math.log(shift) if zeros else -40.0
    u = np.linspace(lowest, 60, 60_001)
    x = np.maximum(np.exp(u) - shift, 0 if zeros else 1e-300)
    row = {"age": 40.0, "sex": "f"}
    given = net.log_likelihood(row)
    density = np.exp(net.log_likelihood({"age": [40.0] * len(x), "sex": ["f"] * len(x), "income": x}) - given)
    above = integrate.trapezoid(density * (x + shift), u)
    # Below 0 is what draws of 0 stand for.
    zero = (np.asarray(net.sample(4_000, given=row, seed=4)["income"]) == 0).mean() if zeros else 0.0
    assert above + zero == pytest.approx(1.0, abs=0.03 if zeros else 1e-3)
    # What the probability of an interval says, the density adds up to.
    low, high = 5_000.0, 30_000.0
    inside = (x >= low) & (x <= high)
    area = integrate.trapezoid((density * (x + shift))[inside], u[inside])
    assert net.query({"income": (low, high)}, given=row) == pytest.approx(area, abs=2e-3)


def test_quantiles_are_where_the_probability_says() -> None:
    row = {"age": 33.0}
    net = learned(income=an.Continuous(scale="log", step=None))
    quantiles = net.query("income", given=row)
    for share, value in quantiles.rows():
        assert net.query({"income": (None, value)}, given=row) == pytest.approx(share, abs=1e-9)
    classes = NET.query(["income"], bins={"income": [10_000, 20_000]}, given=row)
    assert classes["probability"].sum() == pytest.approx(1.0)
    assert classes["income"].to_list()[0].startswith("<=") or "10" in classes["income"].to_list()[0]


def test_nothing_drawn_or_predicted_leaves_the_support() -> None:
    few = {"x": [0.1, 3.0, 50.0, 2000.0], "g": ["a", "b", "a", "b"]}
    net = learned(frame=pl.DataFrame(few), x=LOG)
    assert net.sample(20_000, seed=1)["x"].min() > 0
    assert net.predict_interval({"g": ["a"]}, "x", 0.9999999)["lower"][0] > 0
    few["x"][0] = 0.0
    net = learned(frame=pl.DataFrame(few), x=LOG)
    draws = net.sample(20_000, seed=1)["x"]
    assert draws.min() == 0 and draws.is_finite().all()
    assert net.predict_interval({"g": ["a"]}, "x", 0.9999999)["lower"][0] == 0


def test_evidence_interventions_and_conditions_are_in_the_users_units() -> None:
    theirs = an.learn(given_by_user(), an.PCART(), verbose=False)
    for value in (8_000.0, 60_000.0):
        ours = NET.query("sex", given={"income": value})["probability"].to_numpy()
        assert np.allclose(ours, theirs.query("sex", given={"income": math.log(value)})["probability"].to_numpy())
        ours = NET.query("age", do={"income": value})["age"].to_numpy()
        assert np.allclose(ours, theirs.query("age", do={"income": math.log(value)})["age"].to_numpy())
    ours = NET.query("sex", given={"income": (9_000, 20_000)})["probability"].to_numpy()
    logs = (math.log(9_000), math.log(20_000))
    assert np.allclose(ours, theirs.query("sex", given={"income": logs})["probability"].to_numpy())
    # All values are above 0, so an interval from there on, or from below, is open.
    ours = NET.query("sex", given={"income": (0, 20_000)})["probability"].to_numpy()
    assert np.array_equal(ours, NET.query("sex", given={"income": (None, 20_000)})["probability"].to_numpy())
    assert np.array_equal(ours, NET.query("sex", given={"income": (-5, 20_000)})["probability"].to_numpy())
    with pytest.raises(an.ParameterError, match="no value is there"):
        NET.query("sex", given={"income": (-5, 0)})


def test_an_unusual_number_is_told_in_the_users_units() -> None:
    with pytest.warns(an.ArbornetWarning, match="outside of what was observed"):
        NET.query("sex", given={"income": 1e9})


def test_thresholds_and_leaves_are_told_in_the_users_units() -> None:
    text = NET["income"].text()
    assert "median" in text and "factor" in text and "mean" not in text
    leaf = NET["income"].leaves[0]
    assert INCOME.min() < leaf.distribution.median < INCOME.max()
    assert "median" in repr(leaf) and "factor" in repr(leaf)
    net = an.fit(an.Table(FRAME, schema=schema_of()), nx.DiGraph([("income", "age")]), an.PCART())
    ends = [c.low for leaf in net["age"].leaves for c in leaf.conditions if c.low is not None]
    assert ends and all(INCOME.min() < end < INCOME.max() for end in ends)
    rows = sum(leaf.n for leaf in net["age"].leaves)
    inside = [sum(all(c.holds(x) for c in leaf.conditions) for x in INCOME) for leaf in net["age"].leaves]
    assert rows == N and inside == [leaf.n for leaf in net["age"].leaves]
    assert all("income" in rule for rule in net["age"].rules())


def test_a_line_of_logarithms_is_told_by_factors_and_doublings() -> None:
    table = an.Table(FRAME, schema=schema_of())
    linear = an.PCART(leaf="linear")
    of_age = an.local_model(table, "income", ["age", "sex"], linear).text()
    assert " * 1." in of_age and "within a factor of 1." in of_age and "per 10 of age" in of_age
    of_income = an.local_model(table, "age", ["income"], linear)
    assert "per doubling of income" in of_income.text() and "give or take" in of_income.text()
    slope = of_income.leaves[0].slopes[0]
    assert slope.log == 0.0 and INCOME.min() <= slope.low < slope.at < slope.high <= INCOME.max()
    theirs = an.local_model(an.Table(given_by_user()), "age", ["income"], linear).leaves[0].slopes[0]
    assert slope.slope == pytest.approx(theirs.slope)


@pytest.mark.parametrize("score", [an.MARS(), an.ConditionalGaussian(), an.BlockGaussian(scale="raw")], ids=str)
def test_other_models_name_the_logarithm(score: object) -> None:
    table = an.Table(FRAME, schema=schema_of())
    model = an.local_model(table, "age", ["income"], score)
    assert "ln(" in model.text()
    own = an.local_model(table, "income", ["age"], score)
    distribution = own.distribution({"age": 40.0})
    assert isinstance(distribution, LogStudentT)
    assert INCOME.min() < distribution.median < INCOME.max()


def test_networks_schemas_and_tables_come_back_from_files_and_pickles(tmp_path: Path) -> None:
    NET.save(tmp_path / "net.json")
    again = an.load(tmp_path / "net.json")
    for other in (again, pickle.loads(pickle.dumps(NET)), copy.deepcopy(NET)):
        assert other.schema["income"] == NET.schema["income"]
        assert np.array_equal(other.log_likelihood(FRAME), NET.log_likelihood(FRAME))
        assert other["income"].text() == NET["income"].text()
    table = an.Table(FRAME, schema=schema_of())
    assert pickle.loads(pickle.dumps(table)) == table
    table.schema.save(tmp_path / "schema.json")
    read = an.Schema.load(tmp_path / "schema.json")
    assert read == table.schema and an.Table(FRAME, schema=read) == table
    model = NET["income"]
    assert an.LocalModel.from_dict(model.to_dict()) == model


def test_linear_schemas_are_written_as_ever() -> None:
    told = an.Table(FRAME).schema.to_dict()
    assert told["columns"][2]["kind"] == {"is": "continuous"} and len(told["columns"][2]["scale"]) == 2
    assert repr(an.Continuous()) == "Continuous()" and str(an.Continuous()) == "continuous"


@pytest.mark.parametrize(
    "change",
    [
        {"scale": [9.0, 1.0]},
        {"scale": [9.0, 1.0, -1.0]},
        {"kind": {"is": "continuous"}},
        {"kind": {"is": "continuous", "scale": "cubic"}},
        {"kind": {"is": "continuous", "scale": "log", "shift": -2}},
    ],
)
def test_a_damaged_schema_is_refused(change: dict[str, object]) -> None:
    told = json.loads(json.dumps(an.Table(FRAME, schema=schema_of()).schema.to_dict()))
    told["columns"][2].update(change)
    with pytest.raises(an.FormatError):
        an.Schema.from_dict(told)


def test_levels_are_made_of_its_quantiles_for_formats_that_hold_no_numbers(tmp_path: Path) -> None:
    NET.to_bif(tmp_path / "net.bif", bins=4)
    read = an.read_bif(tmp_path / "net.bif")
    assert len(read.schema["income"].levels or ()) == 4
    with pytest.raises(an.ColumnError, match="is continuous"):
        NET.to_bif(tmp_path / "net.bif")


FRAMES = {
    "polars": lambda: FRAME,
    "lazy": lambda: FRAME.lazy(),
    "pandas": lambda: FRAME.to_pandas(),
    "pyarrow": lambda: FRAME.to_arrow(),
    "chunks": lambda: pl.concat([FRAME[:7], FRAME[7:]], rechunk=False),
    "dict": lambda: FRAME.to_dict(as_series=False),
    "text": lambda: FRAME.with_columns(pl.col("income").cast(pl.String)),
    "dollars": lambda: FRAME.with_columns(pl.Series("income", [f"${x:,.2f}" for x in INCOME])),
    "decimal": lambda: FRAME.with_columns(pl.col("income").cast(pl.Decimal(20, 2))),
}


@pytest.mark.parametrize("form", FRAMES)
def test_every_frame_gives_the_same_table(form: str) -> None:
    frame = FRAMES[form]()
    kinds = {"income": LOG}
    schema = an.infer_schema(frame)
    if form == "dollars":
        schema = schema.with_forms(income="$1,234.5")
    made = an.Table(frame, schema=schema.with_types(kinds))
    expected = an.Table(FRAME, schema=schema_of())
    assert np.array_equal(made.handle.reals(2), expected.handle.reals(2))
    assert made.handle.scale(2) == expected.handle.scale(2)
    if form != "dollars":  # which the network's own schema does not read
        assert np.array_equal(NET.log_likelihood(frame), NET.log_likelihood(FRAME))


def test_rows_come_back_as_they_were() -> None:
    table = an.Table(FRAME, schema=schema_of())
    assert np.allclose(table.to_polars()["income"].to_numpy(), INCOME, rtol=1e-12)
    whole = FRAME.with_columns(pl.col("income").round().cast(pl.Int64))
    kept = an.Table(whole, schema=schema_of(whole)).to_polars()["income"]
    assert kept.dtype == pl.Int64 and kept.to_list() == whole["income"].to_list()
    unit = an.Table(FRAME, schema=schema_of(), standardise=False)
    assert unit.schema["income"].scale == (0.0, 1.0, 0.0)
    assert np.allclose(unit.handle.reals(2), np.log(INCOME))


def test_zeros_shift_and_a_shift_can_be_given() -> None:
    frame = FRAME.with_columns(income=pl.Series(np.where(np.arange(N) % 9 == 0, 0.0, INCOME)))
    table = an.Table(frame, schema=schema_of(frame))
    least = frame["income"].filter(frame["income"] > 0).min()
    assert table.schema["income"].kind == an.Continuous("log", shift=least / 2)
    assert table.schema["income"].scale[2] == least / 2
    assert np.allclose(table.to_polars()["income"].to_numpy(), frame["income"].to_numpy(), rtol=1e-9, atol=1e-6)
    given = an.Table(frame, schema=schema_of(frame, income=an.Continuous("log", shift=100)))
    assert given.handle.scale(2)[2] == 100
    with pytest.raises(an.ColumnError, match="holds 0"):
        an.Table(frame, schema=schema_of(frame, income=an.Continuous("log", shift=0)))


@pytest.mark.parametrize(("value", "told"), [(-3.0, "holds -3"), (0.0, "holds 0")])
def test_new_numbers_without_a_logarithm_count_as_the_smallest_that_was_seen(value: float, told: str) -> None:
    rows = {"age": [30.0, 40.0, 50.0], "income": [value, 9_000.0, INCOME.min()]}
    seen = {**rows, "income": [INCOME.min(), 9_000.0, INCOME.min()]}
    with pytest.warns(an.ArbornetWarning, match=rf"'income' {told}.*logarithmic.*count as that.*unseen='missing'"):
        assert NET.log_likelihood(rows).tolist() == NET.log_likelihood(seen).tolist()
    with pytest.warns(an.ArbornetWarning, match="count as that"):
        assert NET.predict_proba(rows, "sex").equals(NET.predict_proba(seen, "sex"))
    with pytest.raises(an.ColumnError, match=rf"'income' {told}.*logarithmic"):  # To learn from, they are refused.
        an.Table({**rows, "sex": ["f", "m", "f"]}, schema=NET.schema)
    missing = NET.log_likelihood(rows, unseen="missing")
    assert missing[0] == pytest.approx(NET.log_likelihood({"age": 30.0}))


@pytest.mark.parametrize("value", [-3.0, 0.0])
def test_evidence_without_a_logarithm_counts_so_too_and_has_no_density(value: float) -> None:
    with pytest.warns(an.ArbornetWarning, match="count as that"):
        told = NET.query("sex", given={"income": value})
    assert told.equals(NET.query("sex", given={"income": INCOME.min()}))
    with pytest.raises(an.ColumnError, match="logarithmic"):
        NET["income"].log_density(value, {parent: FRAME[parent][0] for parent in NET.parents("income")})


def test_folds_without_zeros_score_rows_with_zeros() -> None:
    rng = np.random.default_rng(3)
    x = rng.lognormal(3, 1, 120)
    x[:2] = 0.0
    frame = pl.DataFrame({"x": x, "y": rng.normal(size=120)})
    learner = an.NetworkLearner().fit(frame[2:])
    assert learner.network_.schema["x"].kind.is_log
    with pytest.warns(an.ArbornetWarning, match="'x' holds 0"):
        assert np.isfinite(learner.score(frame))


def test_negative_numbers_in_a_table_are_refused_or_count_as_missing() -> None:
    frame = FRAME.with_columns(income=pl.Series([-1.0, *INCOME[1:]]))
    with pytest.raises(an.ColumnError, match=r"'income' holds -1.*logarithmic"):
        an.Table(frame, schema=schema_of(frame))
    table = an.Table(frame, schema=schema_of(frame), unseen="missing")
    assert table.n_rows == N - 1 and np.isfinite(table.handle.reals(2)).all()


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        (lambda: an.Continuous(scale="cubic"), "choose 'linear', 'log' or 'normal_scores'"),
        (lambda: an.Continuous(shift=1.0), "only scale='log' takes one"),
        (lambda: an.Continuous("log", shift=-1), "0 or more"),
        (lambda: an.Continuous("log", shift=math.inf), "0 or more"),
    ],
)
def test_scales_that_are_none_are_refused(kind: object, told: str) -> None:
    with pytest.raises(an.ParameterError, match=told):
        kind()  # type: ignore[operator]


def test_dates_have_no_logarithm_but_spans_of_time_do() -> None:
    days = pl.date_range(pl.date(2020, 1, 1), pl.date(2020, 12, 31), eager=True)
    spans = pl.Series(np.round(np.exp(RNG.normal(8, 1, len(days))), 3) * 1e6).cast(pl.Int64).cast(pl.Duration("us"))
    frame = pl.DataFrame({"day": days, "wait": spans})
    with pytest.raises(an.ParameterError, match="no logarithm"):
        an.infer_schema(frame).with_types(day=LOG)
    net = learned(frame=frame, wait=LOG)
    drawn = net.sample(50)["wait"]
    assert drawn.dtype == pl.Duration("us") and drawn.min().total_seconds() > 0
    assert "h" in net["wait"].text() or "min" in net["wait"].text()


@pytest.mark.parametrize("power", [-285, -30, 30, 285])
def test_any_size_of_numbers_does(power: int) -> None:
    size = 10.0**power
    frame = FRAME.with_columns(income=pl.Series(INCOME / 1e4 * size))
    net = learned(frame=frame)
    assert np.allclose(net.log_likelihood(frame), NET.log_likelihood(FRAME) - math.log(size) + math.log(1e4), atol=1e-6)
    assert np.allclose(net.predict(frame, "income").to_numpy() / size, NET.predict(FRAME, "income").to_numpy() / 1e4)
    assert net.sample(500)["income"].is_finite().all()


def test_constants_and_single_rows_do() -> None:
    for income in ([5.0], [5.0, 5.0, 5.0], [0.0, 0.0]):
        frame = pl.DataFrame({"income": income, "k": ["a", "b", "a"][: len(income)]})
        schema = an.Schema(
            tuple(
                an.data.column.Column(name, kind, class_, "told", n_rows=len(income))
                for name, kind, class_ in (("income", LOG, "number"), ("k", an.Categorical(["a", "b"]), "text"))
            )
        )
        table = an.Table(frame, schema=schema)
        net = an.fit(table, nx.DiGraph(), an.PCART())
        assert net.predict({"k": ["a"]}, "income")[0] == pytest.approx(income[0], abs=1e-12)
        assert np.isfinite(net.log_likelihood(frame)).all()


def test_gaps_are_drawn_on_the_scale_and_within_the_range() -> None:
    holes = pl.Series(np.arange(N) % 5 == 0)
    frame = FRAME.with_columns(income=pl.when(holes).then(None).otherwise(pl.col("income")))
    net = an.learn(frame, schema=schema_of(frame), missing="learn", verbose=False)
    assert net.schema["income"].kind == an.Continuous("log", shift=0.0)
    filled = net.impute(frame, seed=3)["income"].to_numpy()
    low, high = frame["income"].min() * (1 - 1e-9), frame["income"].max() * (1 + 1e-9)
    assert ((filled >= low) & (filled <= high)).all()
    assert np.array_equal(filled[~holes.to_numpy()], INCOME[~holes.to_numpy()])
    # Not far from what was there, on the scale.
    assert abs(np.log(filled[holes.to_numpy()]).mean() - np.log(INCOME[holes.to_numpy()]).mean()) < 0.2
    modes = net.impute(frame, "modes")["income"].to_numpy()
    rows = frame.filter(holes)
    assert np.allclose(modes[holes.to_numpy()], net.predict(rows, "income").to_numpy())


def test_weights_count_as_repeated_rows() -> None:
    weights = 1 + np.arange(N) % 3
    repeated = FRAME[np.repeat(np.arange(N), weights)]
    weighted = an.Table(FRAME, schema=schema_of(), weights=weights.astype(float))
    plain = an.Table(repeated, schema=schema_of())
    assert weighted.handle.scale(2) == pytest.approx(plain.handle.scale(2))
    ours, theirs = (an.local_score(table, "income", ["age"], an.PCART()) for table in (weighted, plain))
    assert ours == pytest.approx(theirs)


def test_bootstrap_rows_keep_the_scale() -> None:
    ours, theirs = (
        an.evaluate.arc_strength(table, n_bootstrap=3, seed=1, progress=False).to_dict(as_series=False)
        for table in (an.Table(FRAME, schema=schema_of()), an.Table(given_by_user()))
    )
    assert ours == theirs


def test_held_out_densities_are_comparable_with_those_of_a_linear_scale() -> None:
    zeros = FRAME.with_columns(income=pl.Series([0.0, *INCOME[1:]]))
    density = {}
    for name, frame, schema in (
        ("log", FRAME, schema_of()),
        ("linear", FRAME, an.infer_schema(FRAME)),
        ("zeros", zeros, schema_of(zeros)),
    ):
        made = an.evaluate.cross_validate(frame, folds=2, repeats=1, schema=schema, progress=False)
        assert made.summary["n_left_out"].sum() == 0
        density[name] = made.summary["log_density"][0]
    # The logarithms are normal given the parents: a linear scale loses a share of a nat, not a difference of units.
    assert 0.05 < density["log"] - density["linear"] < 1


def test_a_report_and_pictures_have_a_logarithmic_axis(tmp_path: Path) -> None:
    NET.report(tmp_path / "report.html", data=FRAME)
    text = (tmp_path / "report.html").read_text()
    assert r"\u00d7\u00f7" in text and "median" in text  # JSON within the page
    NET["income"].draw(tmp_path / "tree.svg")
    drawn = (tmp_path / "tree.svg").read_text()
    assert "×÷" in drawn and "10,000" in drawn
    linear = learned(an.PCART(leaf="linear"))
    for name in linear:
        linear[name].draw(tmp_path / f"{name}.svg")
    linear.report(tmp_path / "linear.html", data=FRAME)


def test_a_regressor_predicts_medians_in_the_users_units() -> None:
    pytest.importorskip("sklearn")
    x = FRAME.select("age", "sex").to_pandas()
    model = an.NetworkLearner(schema=schema_of()).fit(x, pd.Series(INCOME, name="income"))
    predicted = model.predict(x)
    assert predicted.min() > 0
    assert np.corrcoef(np.log(predicted), np.log(INCOME))[0, 1] > 0.5


def test_explanations_name_the_scale() -> None:
    assert "continuous (log)" in str(NET.schema)
    assert "income (continuous, logarithmic)" in str(NET.explain("income"))


def test_arrow_tables_come_in_and_go_out() -> None:
    drawn = NET.sample(10, seed=2)
    assert NET.log_likelihood(pa.table(drawn.to_dict(as_series=False))).shape == (10,)


def test_totals_of_both_scales_are_comparable_with_their_jacobians() -> None:
    log, linear = an.Table(FRAME, schema=schema_of()), an.Table(FRAME)
    t = np.log(INCOME)
    n, age = len(t), -N * math.log(AGE.std())
    assert log.log_jacobian == pytest.approx(age - n * math.log(t.std()) - t.sum())
    assert linear.log_jacobian == pytest.approx(age - n * math.log(INCOME.std()))
    # One leaf of standardised values scores the same on both: all that differs is the Jacobian.
    one_leaf = [an.local_score(table, "income", [], an.PCART()) for table in (log, linear)]
    assert one_leaf[0] == pytest.approx(one_leaf[1])
    gained = (log.log_jacobian - linear.log_jacobian) / N
    assert gained == pytest.approx(gain(INCOME))


@pytest.mark.parametrize(
    ("values", "takes"),
    [
        (INCOME, True),
        (np.exp(RNG.normal(0, 1, N)), True),
        (np.where(RNG.random(N) < 0.2, 0, np.exp(RNG.normal(3, 1, N))), True),
        (RNG.poisson(0.8, N) * RNG.integers(1, 60, N) / 2, True),
        (RNG.normal(50, 5, N), False),
        (RNG.normal(0, 5, N), False),
        (RNG.uniform(0, 1, N), False),
        (100 - np.exp(RNG.normal(0, 1, N)), False),
        (np.exp(RNG.normal(0, 1, N)) * 1e280, True),
        (np.exp(RNG.normal(0, 1, N)) * 1e-280, True),
    ],
)
def test_skewed_columns_are_taken_by_their_logarithm_if_that_is_asked_for(values: np.ndarray, takes: bool) -> None:
    frame = {"x": values, "k": SEX}
    assert str(an.infer_schema(frame)["x"].kind) == "continuous"
    chosen = an.infer_schema(frame, scales="auto")["x"]
    assert chosen.kind.is_log == takes and ("logarithm" in chosen.reason) == takes
    assert an.Table(frame, scales="auto").schema["x"].kind.is_log == takes


def test_gaps_dollars_and_weights_are_heeded_in_the_choice() -> None:
    dollars = [f"${x:,.2f}" if i % 7 else None for i, x in enumerate(np.exp(RNG.normal(8, 1, N)))]
    assert an.infer_schema({"x": dollars, "k": SEX}, scales="auto")["x"].kind.is_log
    # The skewed half weighs nothing.
    values = np.concatenate([RNG.normal(50, 5, N), np.exp(RNG.normal(6, 2, N))])
    frame = {"x": values, "k": np.concatenate([SEX, SEX])}
    weights = np.repeat([1.0, 1e-9], N)
    assert an.Table(frame, scales="auto").schema["x"].kind != an.Continuous()
    assert an.Table(frame, scales="auto", weights=weights).schema["x"].kind == an.Continuous()


def test_learn_tells_which_columns_it_takes_by_their_logarithm(capsys: pytest.CaptureFixture[str]) -> None:
    net = an.learn(FRAME)
    assert "logarithmic: income\n" in capsys.readouterr().out
    assert net.schema["income"].kind.is_log and not net.schema["age"].kind.is_log
    an.learn(FRAME, scales="linear")
    assert "logarithmic" not in capsys.readouterr().out
    with pytest.raises(an.ParameterError, match="'linear' or 'auto'"):
        an.learn(FRAME, scales="log")


def test_a_zero_in_a_row_that_is_dropped_counts_for_the_shift():
    frame = {"x": [0.0, *(float(2**i) for i in range(30))], "y": [None, *("ab" * 15)]}
    table = an.Table(frame, missing="drop", scales="auto")
    assert table.n_dropped == 1
    assert table.schema["x"].kind == an.Continuous("log", 0.5)
